//! Pipes that go directly from one host to the other.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/pair.rs"]
mod pair;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/world.rs"]
mod world;

use events::text;
use going::{Going, wait_until};
use pair::{Pair, method};
use rustix::process::Signal;

const ENDLESS: &str = "exec cat /dev/zero";
const DIRECT: &str = "via = \"direct\"\n";

fn arguments(method: &str) -> [&str; 8] {
    [
        "--host",
        "lab",
        "--role",
        "target=vault",
        "--method",
        method,
        "--reps",
        "1",
    ]
}

fn start(pair: &Pair, record: &str, method: &str) -> Going {
    let arguments = pair.world.arguments(record, &arguments(method));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Going::start(pair.world.command(&arguments))
}

/// Waits until something has arrived.
fn until_arriving(going: &mut Going, pair: &Pair) {
    going.until_started("send");
    wait_until("something arrives", || {
        let all = world::entries(&pair.world.sandbox());
        all.iter().any(|name| {
            let file = pair.world.sandbox().join(name);
            name.ends_with("-part") && file.metadata().is_ok_and(|file| file.len() > 100_000)
        })
    });
}

#[test]
fn a_tree_goes_there_and_back() {
    let Some(pair) = Pair::new() else { return };
    let mut all: Vec<&str> = arguments("files-stream").into();
    all.extend(["--set", "via=direct", "--format", "json"]);
    // Without a key nothing begins, and it is said what to do.
    let (refused, _) = pair.world.session("refused.jsonl", &all);
    refused.assert_refused(4, &["lab cannot log into vault by itself", "via = here"]);
    pair.world.assert_empty();

    pair.acquaint();
    let (run, recording) = pair.world.session("r.jsonl", &all);
    run.assert_good();
    assert_eq!(run.json()["rows"][0]["verified"]["matched"], 1);
    let sent = recording.end_of("backup");
    assert_eq!(sent["status"], serde_json::json!([0, 0, 0]));
    assert_eq!(sent["sides"][0]["status"], serde_json::json!([0, 0]));
    assert_eq!(sent["sides"][1]["host"], "vault");
    assert!(
        recording
            .of("sample")
            .all(|sample| sample["name"] != "through"),
        "nobody counted"
    );
    assert_eq!(processes::left_of(&recording.session()), [""; 0]);
    pair.world.assert_empty();
    // The commands are shown before.
    all.push("--dry-run");
    let shown = pair
        .world
        .run(&[&["run", "--sandbox", &pair.world.text("sandbox")], &all[..]].concat());
    assert!(
        shown.out.contains("BatchMode=yes") || shown.err.contains("BatchMode=yes"),
        "{}{}",
        shown.out,
        shown.err
    );
}

#[test]
fn the_cause_is_of_the_side_that_failed() {
    let Some(pair) = Pair::new() else { return };
    pair.acquaint();
    for (name, from, to, cause) in [
        (
            "sender",
            "head -c 3000000 /dev/zero; echo 'disk on fire' >&2; exit 7",
            "cat >{part}; touch {part}.whole",
            "lab: disk on fire",
        ),
        (
            "receiver",
            ENDLESS,
            "head -c 2000000 >{part}; echo 'no room' >&2; exit 9",
            "vault: no room (status [9])",
        ),
    ] {
        let text_of = method(from, to, "").replace("figures =", &format!("{DIRECT}figures ="));
        pair.world.method(name, &text_of);
        let (run, recording) = pair
            .world
            .session(&format!("{name}.jsonl"), &arguments(name));
        assert_eq!(run.code, 1, "{}", run.err);
        let end = recording.end_of("send");
        assert_eq!(end["end"], "failed");
        assert!(text(end, "cause").contains(cause), "{end}");
        let (_, state, _) = recording.leaves().pop().unwrap();
        assert_eq!(state, "undone");
        wait_until("nothing runs", || {
            processes::of_session(&recording.session()).is_empty()
        });
        pair.world.assert_empty();
    }
}

#[test]
fn a_cut_between_them_and_a_stop_leave_nothing() {
    let Some(pair) = Pair::new() else { return };
    pair.acquaint();
    let text_of = method(ENDLESS, "cat >{part}; touch {part}.whole", "");
    pair.world.method(
        "endless",
        &text_of.replace("figures =", &format!("{DIRECT}figures =")),
    );
    for stop in [false, true] {
        let mut going = start(&pair, &format!("{stop}.jsonl"), "endless");
        until_arriving(&mut going, &pair);
        let session = going.session();
        if stop {
            going.signal(Signal::TERM);
        } else {
            // The `ssh` between the two, and nothing of ours.
            for line in processes::of_session(&session) {
                if line.contains("ssh -F") {
                    let pid: i32 = line.split(' ').next().unwrap().parse().unwrap();
                    let pid = rustix::process::Pid::from_raw(pid).unwrap();
                    rustix::process::kill_process(pid, Signal::KILL).unwrap();
                }
            }
        }
        let ended = going.wait();
        let end = going.heard.end_of("send");
        if stop {
            assert_eq!(ended.code, 130, "{}", ended.err);
            assert_eq!(end["end"], "stopped");
        } else {
            assert_eq!(ended.code, 1, "{}", ended.err);
            assert_eq!(end["end"], "failed", "{end}");
        }
        wait_until("nothing runs", || {
            processes::of_session(&session).is_empty()
        });
        pair.world.assert_empty();
    }
}

fn direct(from: &str, to: &str) -> String {
    method(from, to, "").replace("figures =", &format!("{DIRECT}figures ="))
}

/// The login of the sender's `ssh` has a `PATH` without sbin, and its own locale.
#[test]
fn the_receiver_has_the_environment_of_every_command() {
    let Some(pair) = Pair::new() else { return };
    pair.acquaint();
    let to = "cat >{part}; chroot --version >/dev/null && echo \"<$LC_ALL>\"";
    pair.world.method("plain", &direct("echo sent", to));
    let (run, recording) = pair.world.session("r.jsonl", &arguments("plain"));
    assert_eq!(recording.end_of("send")["end"], "ok", "{}", run.err);
    let out = String::from_utf8(recording.out_of("send")).unwrap();
    assert!(out.contains("<C>"), "{out}");
    pair.world.assert_empty();
}

/// Its bytes do not go through here: it goes on as any step does.
#[test]
fn the_receiver_outlives_our_connection_to_it() {
    let Some(pair) = Pair::new() else { return };
    pair.acquaint();
    let from = "head -c 300000 /dev/zero; while [ ! -e {{ box }}-go ]; do sleep 0.1; done; rm {{ box }}-go; head -c 300000 /dev/zero";
    pair.world
        .method("held", &direct(from, "cat >{part}; wc -c <{part}"));
    let mut going = start(&pair, "r.jsonl", "held");
    until_arriving(&mut going, &pair);
    let keeper = pair
        .world
        .path(&format!("state-lab/{}-2/keeper", going.session()));
    let kept = || std::fs::read_to_string(&keeper).unwrap_or_default();
    let before = kept();
    assert!(!before.is_empty());
    pair.vault.cut_but(|command| command.contains("/enter"));
    // The session is shown there again.
    wait_until("another connection", || {
        ![&before, ""].contains(&kept().as_str())
    });
    let part = world::entries(&pair.world.sandbox());
    let part = part.iter().find(|name| name.ends_with("-part")).unwrap();
    let go = part.replace("-part", "-go");
    std::fs::write(pair.world.sandbox().join(go), "").unwrap();
    let ended = going.wait();
    assert_eq!(going.heard.end_of("send")["end"], "ok", "{}", ended.err);
    let out = String::from_utf8(going.heard.out_of("send")).unwrap();
    assert!(out.contains("600000"), "{out}");
    pair.world.assert_empty();
}

#[test]
fn what_a_killed_program_left_running_is_ended_by_recover() {
    let Some(pair) = Pair::new() else { return };
    pair.acquaint();
    pair.world
        .method("endless", &direct(ENDLESS, "cat >/dev/null"));
    let mut going = start(&pair, "r.jsonl", "endless");
    going.until_started("send");
    let session = going.session();
    let runs = |what: &str| {
        let all = processes::of_session(&session);
        all.iter().any(|line| line.contains(what))
    };
    wait_until("both sides run", || runs("-2/cmd"));
    going.signal(Signal::KILL);
    going.wait();
    wait_until("nobody keeps it", || !runs("/keeper/"));
    assert!(runs("-2/cmd"), "it went on");
    for host in ["vault", "lab"] {
        let said = pair.world.run(&["recover", "--host", host, "--remove"]);
        said.assert_good();
    }
    assert_eq!(processes::left_of(&session), [""; 0]);
    pair.world.assert_empty();
}

#[test]
fn what_cannot_go_directly_is_refused_before_anything_runs() {
    let Some(pair) = Pair::new() else { return };
    pair.acquaint();
    let until = method(ENDLESS, "cat >{part}", "until = { bytes = \"1000\" }\n");
    let until = until
        .replace("figures =", "via = \"{{ via }}\"\nfigures =")
        .replace(
            "[settings]\n",
            "[settings]\nvia = { default = \"here\", help = \"way\" }\n",
        );
    pair.world.method("until", &until);
    let all = [&arguments("until")[..], &["--set", "via=direct"]].concat();
    let (run, _) = pair.world.session("until.jsonl", &all);
    assert_ne!(run.code, 0);
    assert!(
        run.err.contains("until: the bytes of a direct pipe"),
        "{}",
        run.err
    );

    pair.set("vault", "become = \"env\"");
    pair.world
        .method("became", &direct("echo sent", "cat >{part}"));
    let (run, _) = pair.world.session("became.jsonl", &arguments("became"));
    run.assert_refused(4, &["`env` (become)", "via = here"]);
    pair.world.assert_empty();
}
