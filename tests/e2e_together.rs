//! Two methods at once: each alone and both together, over real bytes.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/methods.rs"]
mod methods;
#[path = "support/pair.rs"]
mod pair;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/world.rs"]
mod world;

use std::collections::BTreeSet;

use events::Recording;
use going::Going;
use methods::{BESIDE, COPY, HEAD, step};
use pair::Pair;
use rustix::process::Signal;
use serde_json::Value;
use world::World;

fn report(world: &World, record: &str) -> Value {
    let record = world.text(record);
    let ended = world.run(&["report", &record, "--format", "json"]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    serde_json::from_str(&ended.out).unwrap()
}

/// Runs that are beside others: id and end.
fn beside(recording: &Recording) -> Vec<(String, String)> {
    let started = recording.state("run", "started");
    let started = started.filter(|run| run["labels"]["together"].is_string());
    // Both begin at the same moment: either may be the first to be told.
    let mut all: Vec<_> = started
        .map(|run| {
            let mut ends = recording.state("run", "ended");
            let end = ends.find(|end| end["run"] == run["run"]).unwrap();
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            (text(&run["run"]), text(&end["end"]))
        })
        .collect();
    all.sort();
    all
}

#[test]
fn each_runs_alone_and_both_at_once_three_times() {
    let world = World::new();
    let (run, recording) = world.session("r.jsonl", &["--together", "files-cp,files-tar"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(recording.ends(), ["ok"; 12]);
    world.assert_empty();
    let header = &recording.0[0]["plan"];
    assert_eq!(
        header["together"]["pairs"],
        serde_json::json!([["b1", "b2"]])
    );
    assert_eq!(header["runs"][2]["beside"], "r4");

    // Each has a scratch folder of its own, and both begin to protect before either has done.
    let boxes: BTreeSet<_> = recording
        .state("leave", "intended")
        .filter(|leave| leave["kind"] == "sandbox")
        .map(|leave| leave["find"].to_string())
        .collect();
    assert_eq!(boxes.len(), 12, "{boxes:?}");

    let report = report(&world, "r.jsonl");
    let rows = report["rows"].as_array().unwrap();
    let series: Vec<_> = rows
        .iter()
        .map(|row| row["series"].as_str().unwrap())
        .collect();
    assert_eq!(
        series,
        [
            "full",
            "full beside files-tar",
            "full",
            "full beside files-cp"
        ]
    );
    for row in rows {
        assert_eq!(row["verified"]["matched"], 3, "{row}");
        assert_eq!(row["times"][0]["values"].as_array().unwrap().len(), 3);
    }
    let pair = &report["at_once"][0];
    assert_eq!(pair["first"], "waits");
    assert_eq!(pair["sides"].as_array().unwrap().len(), 4);
    for side in pair["sides"].as_array().unwrap() {
        assert_eq!(side["n"], 3);
        assert!(side["overlap"]["low"].as_f64().unwrap() > 0.0, "{side}");
    }
    let verdicts = report["verdicts"].as_array().unwrap();
    let apart = verdicts.iter().filter(|one| {
        let says = one["says"].as_str().unwrap();
        says.starts_with("not comparable: one ran")
    });
    assert_eq!(apart.count(), 10, "{verdicts:#?}");

    let record = world.text("r.jsonl");
    let projected = world.run(&[
        "project",
        &record,
        "--disk",
        "1GB",
        "--disk",
        "1GB",
        "--pipeline",
        "files-cp,files-tar",
    ]);
    assert!(
        projected.out.contains("beside the other"),
        "{}",
        projected.out
    );
}

/// A method that does this, too, when it runs for the second time: beside the other one.
fn beside_does(world: &World, name: &str, what: &str) {
    let mark = world.text(&format!("{name} ran"));
    let run = format!("if [ -e '{mark}' ]; then {what}; fi; : > '{mark}'");
    let wait = step(&format!("{name} waits"), "protect", &run);
    let wait = wait.replace("\nrun ", "\nclock = \"host\"\nrun ");
    world.method(name, &[HEAD, &wait, COPY, BESIDE].concat());
}

#[test]
fn a_stop_ends_both_and_leaves_nothing() {
    let world = World::new();
    beside_does(&world, "one", "sleep 300");
    beside_does(&world, "two", "sleep 300");
    let arguments = world.arguments("r.jsonl", &["--together", "one,two", "--reps", "1"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut going = Going::start(world.command(&arguments));
    let mut begun = 0;
    while begun < 2 {
        let event = going.until(|event| event["ev"] == "run" && event["state"] == "started");
        begun += usize::from(event["labels"]["together"].is_string());
    }
    let mut waits = 0;
    while waits < 2 {
        let event = going.until(|event| event["ev"] == "step" && event["state"] == "planned");
        waits += usize::from(
            event["name"]
                .as_str()
                .is_some_and(|name| name.ends_with(" waits")),
        );
    }
    going.signal(Signal::TERM);
    let ended = going.wait();
    assert_eq!(ended.code, 130, "{}", ended.err);
    let expected = [("r3", "stopped"), ("r4", "stopped")];
    assert_eq!(
        beside(&going.heard),
        expected.map(|(run, end)| (run.to_owned(), end.to_owned()))
    );
    let left = processes::left_of(&going.session());
    assert!(left.is_empty(), "{left:?}");
    world.assert_empty();
}

#[test]
fn where_one_fails_the_other_is_followed_to_its_proof() {
    let world = World::new();
    beside_does(&world, "fails", "echo the disk is gone >&2; exit 3");
    beside_does(&world, "goes-on", "sleep 1");
    let (run, recording) =
        world.session("r.jsonl", &["--together", "fails,goes-on", "--reps", "2"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.contains("the disk is gone"), "{}", run.err);
    assert!(run.err.contains("4 runs were not started"), "{}", run.err);
    let expected = [("r3", "failed"), ("r4", "ok")];
    assert_eq!(
        beside(&recording),
        expected.map(|(run, end)| (run.to_owned(), end.to_owned()))
    );
    let proved = recording
        .of("proof")
        .filter(|proof| proof["run"] == "r4" && proof["of"] == "restored");
    let verdicts: Vec<_> = proved.map(|proof| proof["verdict"].clone()).collect();
    assert_eq!(verdicts, [true]);
    world.assert_empty();
}

/// The host that the one copies to is gone for good: the other does not need it.
#[test]
fn where_one_loses_its_host_the_other_is_followed_to_its_proof() {
    let Some(mut pair) = Pair::new() else { return };
    pair.set("vault", "gone_after = \"1s\"");
    let mark = pair.world.text("away ran");
    let run = format!("if [ -e '{mark}' ]; then sleep 300; fi; : > '{mark}'");
    let far = step("away waits", "protect", &run) + "on = \"target\"\nclock = \"host\"\n";
    let head = HEAD.replace(r#"["source"]"#, r#"["source", "target"]"#);
    let world = &pair.world;
    world.method("away", &[&head, &far, COPY, BESIDE].concat());
    beside_does(world, "here", "sleep 2");
    let all = ["--host", "lab", "--role", "target=vault", "--reps", "1"];
    let all = [&all[..], &["--together", "away,here"]].concat();
    let all = world.arguments("r.jsonl", &all);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let mut going = Going::start(world.command(&all));
    going.until(|event| event["ev"] == "run" && event["labels"]["together"].is_string());
    going.until_started("away waits");
    pair.vault.kill();
    let ended = going.wait();
    assert_eq!(ended.code, 3, "{}", ended.err);
    assert!(ended.err.contains("vault: "), "{}", ended.err);
    let ends = beside(&going.heard);
    assert_eq!(ends[1], ("r4".to_owned(), "ok".to_owned()), "{ends:?}");
    assert_ne!(ends[0].1, "ok", "{ends:?}");
    let proved = |proof: &Value| proof["run"] == "r4" && proof["of"] == "restored";
    let mut proofs = going.heard.of("proof").filter(|proof| proved(proof));
    assert_eq!(proofs.next().unwrap()["verdict"], true);
    drop(proofs);
    // What the lost host still has goes when it is there again.
    pair.vault.restart();
    let recover = ["recover", "--host", "lab", "--host", "vault", "--remove"];
    pair.world.run(&recover).assert_good();
    let left = processes::left_of(&going.session());
    assert!(left.is_empty(), "{left:?}");
    pair.world.assert_empty();
}

#[test]
fn the_one_that_is_done_first_is_started_again_where_that_is_wanted() {
    let world = World::new();
    // Until the other one's scratch folder is there a second time.
    let until = format!(
        "until ls -d '{}'/comeback-*-r5; do sleep 0.1; done",
        world.sandbox().display()
    );
    beside_does(&world, "slow", &until);
    let (run, recording) = world.session(
        "r.jsonl",
        &["--together", "slow,files-cp", "--restart", "--reps", "1"],
    );
    assert_eq!(run.code, 0, "{}", run.err);
    let said: Vec<&str> = run.out.split_whitespace().collect();
    let said = said.join(" ");
    assert!(
        said.contains("is started again as long as the other goes on"),
        "{said}"
    );
    let again: Vec<_> = recording
        .state("run", "started")
        .filter(|run| run["labels"]["restarted"] == "yes")
        .collect();
    assert!(!again.is_empty());
    assert!(again.iter().all(|run| run["binding"] == "b2"));
    let report = report(&world, "r.jsonl");
    assert_eq!(
        report["at_once"][0]["restarted"],
        serde_json::json!([0, again.len()])
    );
    // What is a load has no row, and no part in one.
    let runs: Vec<_> = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["reps"].clone())
        .collect();
    assert_eq!(runs, [1, 1, 1, 1]);
    world.assert_empty();
}

#[test]
fn what_cannot_run_at_once_is_told_before_anything_is_made() {
    let world = World::new();
    let says = |arguments: &[&str], code: i32, text: &str| {
        let (run, recording) = world.session("r.jsonl", arguments);
        assert_eq!(run.code, code, "{}", run.err);
        assert!(run.err.contains(text), "{}", run.err);
        assert!(recording.0.is_empty());
    };
    says(
        &["--together", "files-cp,files-cp"],
        2,
        "two different methods",
    );
    says(&["--together", "files-cp"], 2, "expected two methods");
    says(&["--together", "files-cp,nothing"], 2, "nothing");
    says(
        &["--method", "files-cp", "--restart"],
        2,
        "say which, --together",
    );
    let dry = world.run(&[
        "run",
        "--together",
        "files-cp,files-tar",
        "--reps",
        "2",
        "--dry-run",
    ]);
    let order = "# order: files-cp · files-tar · files-cp + files-tar · files-tar · files-cp + files-tar · files-cp";
    assert!(dry.out.contains(order), "{}", dry.out);
    assert!(
        dry.out
            .contains("# at once: files-cp and files-tar, 2 ×; the one that is done first waits"),
        "{}",
        dry.out
    );
}
