//! Several hosts at once: one that is slow, silent or gone holds up no other.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/fleet.rs"]
mod fleet;
#[path = "support/going.rs"]
mod going;
#[path = "support/methods.rs"]
mod methods;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/tree.rs"]
mod tree;
#[path = "support/world.rs"]
mod world;

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::thread;

use events::{Recording, text};
use fleet::Fleet;
use going::Going;
use methods::{BESIDE, COPY, HEAD, step};
use rustix::process::Signal;
use serde_json::Value;

fn start(fleet: &Fleet, record: &str, arguments: &[&str]) -> Going {
    let arguments = fleet.world.arguments(record, arguments);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Going::start(fleet.world.command(&arguments))
}

/// A method that waits at `run` in the middle.
fn waiting(fleet: &Fleet, name: &str, run: &str) {
    let wait = step("hold", "protect", &format!("echo held; {run}"));
    fleet
        .world
        .method(name, &[HEAD, &wait, COPY, BESIDE].concat());
}

/// Run → its host, as the plan has it.
fn hosts_of(recording: &Recording) -> BTreeMap<String, String> {
    let plan = &recording.0[0]["plan"];
    let all = |list: &'static str| plan[list].as_array().unwrap().iter();
    let host: BTreeMap<&str, &str> = all("bindings")
        .map(|binding| (text(binding, "id"), text(&binding["roles"], "source")))
        .collect();
    all("runs")
        .map(|run| {
            (
                text(run, "run").to_owned(),
                host[text(run, "binding")].to_owned(),
            )
        })
        .collect()
}

/// How the runs of a host ended.
fn ends(recording: &Recording, host: &str) -> Vec<String> {
    let hosts = hosts_of(recording);
    recording
        .state("run", "ended")
        .filter(|event| hosts[text(event, "run")] == host)
        .map(|event| text(event, "end").to_owned())
        .collect()
}

/// Waits until the step `hold` of so many runs goes on: until each has said so.
fn until_held(going: &mut Going, runs: usize) {
    for _ in 0..runs {
        going.until(|event| event["ev"] == "log" && event["text"] == "held\n");
    }
}

#[test]
fn three_hosts_and_this_machine_go_on_at_the_same_time() {
    let Some(fleet) = Fleet::new(&["one", "two", "three"]) else {
        return;
    };
    fs::create_dir(fleet.world.path("meet")).unwrap();
    // Each repetition waits for the same one on all four: one after another, it would fail.
    let meet = format!(
        "cd '{}' && : >{{{{ rep }}}}-{{{{ run }}}} && i=0 && while [ $(ls | grep -c ^{{{{ rep }}}}-) -lt 4 ]; do i=$((i + 1)); [ $i -lt 1200 ] || exit 1; sleep 0.05; done",
        fleet.world.text("meet")
    );
    waiting(&fleet, "meet", &meet);
    let (ended, recording) = fleet.world.session(
        "a.jsonl",
        &[
            "--host", "one", "--host", "two", "--host", "three", "--host", "local", "--method",
            "meet", "--reps", "2",
        ],
    );
    ended.assert_good();
    assert!(
        ended.err.contains("8 of 8 runs done and verified"),
        "{}",
        ended.err
    );
    let mut order = recording
        .of("run")
        .filter(|event| event["state"] != "queued");
    let first: Vec<&str> = order
        .by_ref()
        .take(4)
        .map(|event| text(event, "state"))
        .collect();
    assert_eq!(first, ["started"; 4], "one ended before all had begun");
    for host in ["one", "two", "three", "local"] {
        assert_eq!(ends(&recording, host), ["ok", "ok"], "{host}");
    }
    fleet.assert_empty();
}

#[test]
fn a_run_on_two_hosts_has_both_for_itself() {
    let Some(fleet) = Fleet::new(&["one", "two"]) else {
        return;
    };
    let there =
        step("there", "account", "sleep 0.3").replace("[[step]]\n", "[[step]]\non = \"target\"\n");
    let head = HEAD.replace("[\"source\"]", "[\"source\", \"target\"]");
    fleet
        .world
        .method("pair", &[&head, COPY, &there, BESIDE].concat());
    let (ended, recording) = fleet.world.session(
        "a.jsonl",
        &[
            "--host",
            "one",
            "--host",
            "two",
            "--role",
            "target=two",
            "--method",
            "files-cp",
            "--method",
            "pair",
            "--reps",
            "1",
        ],
    );
    ended.assert_good();
    let plan = &recording.0[0]["plan"];
    let there = recording
        .state("step", "planned")
        .filter(|step| step["name"] == "there");
    assert_eq!(there.filter(|step| step["host"] == "two").count(), 2);
    for host in ["one", "two"] {
        let bindings = plan["bindings"].as_array().unwrap().iter();
        let needs = |binding: &&Value| {
            binding["roles"]
                .as_object()
                .unwrap()
                .values()
                .any(|on| on == host)
        };
        let ids: Vec<&Value> = bindings
            .filter(needs)
            .map(|binding| &binding["id"])
            .collect();
        let runs = plan["runs"].as_array().unwrap().iter();
        let runs = runs.filter(|run| ids.contains(&&run["binding"]));
        let expected: Vec<&str> = runs.flat_map(|run| [text(run, "run"); 2]).collect();
        assert!(expected.len() >= 4, "{host}");
        // Begin and end of each, one after another, in the order of the plan.
        let told = recording
            .of("run")
            .filter(|event| event["state"] != "queued");
        let told: Vec<&str> = told
            .map(|event| text(event, "run"))
            .filter(|run| expected.contains(run))
            .collect();
        assert_eq!(told, expected, "{host}");
    }
    fleet.assert_empty();
}

#[test]
fn two_names_of_one_machine_take_turns() {
    let Some(mut fleet) = Fleet::new(&["one"]) else {
        return;
    };
    let (port, user) = (
        fleet.sshd("one").port(),
        fleet.sshd("one").user().to_owned(),
    );
    let (key, known) = (fleet.sshd("one").key(), fleet.sshd("one").known_hosts());
    fs::create_dir(fleet.world.path("state-alias")).unwrap();
    fleet.world.configure("alias", "state-alias");
    let lines = format!(
        "User {user}\n  IdentityFile {}\n  IdentitiesOnly yes\n  UserKnownHostsFile {}",
        key.display(),
        known.display()
    );
    fleet.add("alias", port, &lines);
    let (ended, recording) = fleet.world.session(
        "a.jsonl",
        &[
            "--host", "one", "--host", "alias", "--method", "files-cp", "--reps", "1",
        ],
    );
    ended.assert_good();
    let order = recording
        .of("run")
        .filter(|event| event["state"] != "queued");
    let states: Vec<&str> = order.map(|event| text(event, "state")).collect();
    assert_eq!(states, ["started", "ended"].repeat(2));
    fleet.assert_empty();
}

#[test]
fn a_host_that_is_gone_for_good_ends_alone_and_recover_finds_what_it_left() {
    let Some(mut fleet) = Fleet::new(&["one", "two"]) else {
        return;
    };
    fleet.set("one", "gone_after = \"2s\"");
    let go = fleet.world.text("go");
    waiting(
        &fleet,
        "hold",
        &format!("while [ ! -e '{go}' ]; do sleep 0.05; done"),
    );
    let hosts = ["--host", "one", "--host", "two", "--host", "local"];
    let run = [&hosts[..], &["--method", "hold", "--reps", "2"]].concat();
    let mut going = start(&fleet, "a.jsonl", &run);
    until_held(&mut going, 3);
    let Fleet {
        world, hosts: all, ..
    } = &mut fleet;
    let one = &mut all.iter_mut().find(|(name, _)| name == "one").unwrap().1;
    one.shut(|| {
        fs::write(&go, "").unwrap();
        let ended = going.wait();
        assert_eq!(ended.code, 3, "{}", ended.err);
        let heard = &going.heard;
        assert_eq!(ends(heard, "one"), ["lost"]);
        assert_eq!(ends(heard, "two"), ["ok", "ok"]);
        assert_eq!(ends(heard, "local"), ["ok", "ok"]);
        let down = heard.state("host", "down").next().unwrap();
        assert_eq!(
            (text(down, "host"), text(down, "phase")),
            ("one", "connect")
        );
        let reason = text(heard.of("end").last().unwrap(), "reason");
        for says in [
            "4 of 6 runs done and verified",
            "; one: run ",
            " lost: hold: its host is gone: not reached again within 2s",
            "; 1 run was not started",
        ] {
            assert!(reason.contains(says), "{says:?}: {reason}");
        }
        assert!(ended.err.contains("one: box is kept"), "{}", ended.err);
        // The other is looked at all the same.
        let found = world.run(&["recover", "--host", "one", "--host", "two"]);
        assert_eq!(found.code, 3, "{}", found.err);
        assert_eq!(found.out, "two: nothing is left\n");
        assert!(
            found.err.starts_with("comeback: one: connect: "),
            "{}",
            found.err
        );
    });
    assert_eq!(world::entries(&fleet.world.path("state-two")), [""; 0]);
    let session = going.session();
    going::wait_until("nobody keeps the session", || {
        let found = fleet.world.run(&["recover", "--host", "one"]);
        found.assert_good();
        assert!(found.out.contains(&session), "{}", found.out);
        !found.out.contains("goes on")
    });
    let removed = fleet.world.run(&["recover", "--host", "one", "--remove"]);
    removed.assert_good();
    assert!(removed.out.contains("removed  box"), "{}", removed.out);
    fleet.assert_empty();
}

#[test]
fn a_host_that_says_nothing_is_told_and_the_others_run() {
    let Some(mut fleet) = Fleet::new(&["one"]) else {
        return;
    };
    // The system takes connections for it, and nobody ever says a word.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    fleet.add("silent", silent.local_addr().unwrap().port(), "User nobody");
    let hosts = ["--host", "silent", "--host", "one", "--method", "files-cp"];
    // Each waits for it, so all at once.
    let (run, check, dry) = thread::scope(|scope| {
        let world = &fleet.world;
        let dry = scope.spawn(|| world.run(&[&["run", "--dry-run"], &hosts[..]].concat()));
        let check = scope.spawn(|| world.run(&[&["check"], &hosts[..]].concat()));
        let run = world.session("a.jsonl", &[&hosts[..], &["--reps", "1"]].concat());
        (run, check.join().unwrap(), dry.join().unwrap())
    });
    let (ended, recording) = run;
    assert_eq!(ended.code, 3, "{}", ended.err);
    assert!(ended.err.starts_with("comeback: silent: "), "{}", ended.err);
    assert_eq!(ends(&recording, "one"), ["ok"]);
    let down = recording.state("host", "down").next().unwrap();
    assert_eq!(text(down, "host"), "silent");
    assert!(!text(down, "reason").is_empty() && !text(down, "phase").is_empty());
    for looked in [&check, &dry] {
        assert_eq!(looked.code, 3, "{}", looked.err);
        assert!(
            looked.out.contains("files-cp on one: can run"),
            "{}",
            looked.out
        );
        assert!(
            looked.out.contains("files-cp on silent: cannot run"),
            "{}",
            looked.out
        );
    }
    assert!(check.out.contains("one\n  system"), "{}", check.out);
    assert!(check.out.contains("silent\n  down "), "{}", check.out);
    fleet.assert_empty();
}

#[test]
fn a_subject_in_use_refuses_the_runs_of_its_host_alone() {
    let Some(fleet) = Fleet::new(&["one", "two"]) else {
        return;
    };
    let (go, world) = (fleet.world.text("go"), &fleet.world);
    tree::plant(&world.path("data"));
    tree::plant(&world.path("other"));
    waiting(
        &fleet,
        "hold",
        &format!("while [ ! -e '{go}' ]; do sleep 0.05; done"),
    );
    let data = format!("dir:{}", world.text("data"));
    let hold = ["--method", "hold", "--subject", &data, "--reps", "1"];
    let mut holder = start(&fleet, "holder.jsonl", &hold);
    until_held(&mut holder, 1);
    let (one, two) = (
        format!("one/{data}"),
        format!("two/dir:{}", world.text("other")),
    );
    let (ended, recording) = world.session(
        "a.jsonl",
        &[
            "--host",
            "one",
            "--host",
            "two",
            "--method",
            "files-cp",
            "--reps",
            "1",
            "--subject",
            &one,
            "--subject",
            &two,
        ],
    );
    assert_eq!(ended.code, 4, "{}", ended.err);
    assert_eq!(ends(&recording, "one"), ["failed"]);
    assert_eq!(ends(&recording, "two"), ["ok"]);
    let refused = recording.state("lock", "refused").next().unwrap();
    assert_eq!(text(refused, "host"), "one");
    let cause = recording
        .state("run", "ended")
        .find_map(|event| event["cause"].as_str());
    assert!(cause.unwrap().contains("is in use by"), "{cause:?}");
    assert_eq!(recording.state("host", "down").count(), 0);
    fs::write(&go, "").unwrap();
    assert_eq!(holder.wait().code, 0);
    fleet.assert_empty();
}

#[test]
fn a_stop_in_the_middle_takes_everything_away_on_all_hosts() {
    let Some(fleet) = Fleet::new(&["one", "two"]) else {
        return;
    };
    waiting(&fleet, "hold", "sleep 1000");
    let run = [
        "--host", "one", "--host", "two", "--host", "local", "--method", "hold", "--reps", "2",
    ];
    let mut going = start(&fleet, "a.jsonl", &run);
    until_held(&mut going, 3);
    going.signal(Signal::INT);
    let ended = going.wait();
    assert_eq!(ended.code, 130, "{}", ended.err);
    assert_eq!(going.heard.ends(), ["stopped"; 3]);
    let reason = text(going.heard.of("end").last().unwrap(), "reason");
    assert_eq!(reason, "stopped after 0 of 6 runs");
    fleet.assert_empty();
}
