//! A connection that breaks in the middle of a step: the step goes on, and is followed again.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/lab.rs"]
mod lab;
#[path = "support/methods.rs"]
mod methods;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/world.rs"]
mod world;

use std::thread::sleep;
use std::time::Duration;

use going::Going;
use lab::Lab;
use methods::{BACK, COPY, DESTROY, HEAD, step};

fn start(lab: &Lab, method: &str) -> Going {
    let record = format!("{method}.jsonl");
    let arguments = ["--host", "lab", "--method", method, "--reps", "1"];
    let arguments = lab.world.arguments(&record, &arguments);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Going::start(lab.world.command(&arguments))
}

/// A method with one more timed step.
fn with(lab: &Lab, name: &str, run: &str) {
    let timed = step(name, "protect", run) + "clock = \"host\"\n";
    lab.world
        .method(name, &[HEAD, &timed, COPY, DESTROY, BACK].concat());
}

fn is_log(event: &serde_json::Value) -> bool {
    event["ev"] == "log"
}

#[test]
fn the_step_goes_on_its_clock_is_right_and_no_byte_is_missing_or_twice() {
    let Some(mut lab) = Lab::new() else { return };
    with(
        &lab,
        "long",
        "date +%s.%N; seq 1 5000; sleep 4; seq 5001 10000; date +%s.%N",
    );
    let mut going = start(&lab, "long");
    going.until_started("long");
    going.until(is_log);
    // No connection for half of the time.
    lab.sshd.shut(|| sleep(Duration::from_secs(2)));
    let ended = going.wait();
    assert_eq!(ended.code, 0, "{}", ended.err);
    let log = String::from_utf8(going.heard.out_of("long")).unwrap();
    let mut lines: Vec<&str> = log.lines().collect();
    let mut stamp = || lines.pop().unwrap().parse::<f64>().unwrap();
    let (after, first) = (stamp(), log.lines().next().unwrap());
    let took = after - first.parse::<f64>().unwrap();
    let numbers: Vec<String> = (1..=10_000).map(|number: u32| number.to_string()).collect();
    assert_eq!(&lines[1..], numbers);
    let seconds = going.heard.end_of("long")["seconds"].as_f64().unwrap();
    assert!(
        seconds >= took && seconds < took + 0.2,
        "{seconds} s, and by the command's own stamps {took} s"
    );
    assert_eq!(going.heard.end_of("long")["clock"], "host");
    let said: Vec<&str> = going
        .heard
        .of("note")
        .map(|note| events::text(note, "text"))
        .collect();
    assert!(
        said.iter().any(|text| text.contains("connection was lost")),
        "{said:?}"
    );
    lab.world.assert_empty();
}

#[test]
fn a_log_that_breaks_off_again_and_again_is_whole() {
    let Some(lab) = Lab::new() else { return };
    with(
        &lab,
        "chatty",
        "i=0; while [ $i -lt 400 ]; do i=$((i + 1)); echo \"line $i of both streams\"; echo \"$i\" >&2; sleep 0.01; done",
    );
    let mut going = start(&lab, "chatty");
    going.until_started("chatty");
    for _ in 0..4 {
        going.until(is_log);
        lab.sshd.cut();
        going.until(|event| event["ev"] == "host" && event["state"] == "up");
    }
    let ended = going.wait();
    assert_eq!(ended.code, 0, "{}", ended.err);
    let expected: Vec<String> = (1..=400)
        .map(|i| format!("line {i} of both streams\n"))
        .collect();
    assert_eq!(
        String::from_utf8(going.heard.out_of("chatty")).unwrap(),
        expected.concat()
    );
    lab.world.assert_empty();
}

#[test]
fn a_connection_that_breaks_at_any_step_costs_no_run() {
    let Some(lab) = Lab::new() else { return };
    for step in [
        "scratch folder",
        "payload",
        "sha256 before",
        "backup",
        "copy",
        "copy proved",
        "delete the original",
        "restore",
        "sha256 after",
    ] {
        let record = format!("{}.jsonl", step.replace(' ', "-"));
        let arguments = ["--host", "lab", "--method", "files-cp", "--reps", "1"];
        let arguments = lab.world.arguments(&record, &arguments);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut going = Going::start(lab.world.command(&arguments));
        going.until_started(step);
        lab.sshd.cut();
        let ended = going.wait();
        assert_eq!(ended.code, 0, "{step}: {}", ended.err);
        lab.world.assert_empty();
    }
}
