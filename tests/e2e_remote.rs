//! The same over SSH: a real server, found through the `~/.ssh/config` of the user.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/lab.rs"]
mod lab;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/tree.rs"]
mod tree;
#[path = "support/world.rs"]
mod world;

use going::{Going, wait_until};
use lab::Lab;
use rustix::process::Signal;

#[test]
fn methods_run_on_a_host_and_nothing_is_left_there() {
    let Some(lab) = Lab::new() else { return };
    let arguments = [
        "--host",
        "lab",
        "--method",
        "files-cp",
        "--method",
        "files-tar",
        "--reps",
        "3",
        "--format",
        "json",
    ];
    let (run, recording) = lab.world.session("r.jsonl", &arguments);
    run.assert_good();
    let report = run.json();
    for row in report["rows"].as_array().unwrap() {
        assert_eq!(row["host"], "lab");
        assert_eq!(row["verified"]["matched"], 3);
        assert_eq!(row["verified"]["of"], 3);
        for time in row["times"].as_array().unwrap() {
            assert_eq!(time["clock"], "host", "{time}");
        }
    }
    assert_eq!(
        lab.world
            .run(&["report", "r.jsonl", "--format", "json"])
            .out,
        run.out
    );
    assert_eq!(processes::left_of(&recording.session()), [""; 0]);
    lab.world.assert_empty();
}

#[test]
fn here_and_there_are_hosts_of_one_session() {
    let Some(lab) = Lab::new() else { return };
    let arguments = [
        "--host", "lab", "--host", "local", "--method", "files-cp", "--reps", "2",
    ];
    let (run, recording) = lab.world.session("r.jsonl", &arguments);
    run.assert_good();
    let hosts: Vec<&str> = recording
        .of("header")
        .flat_map(|header| header["facts"].as_object().unwrap().keys())
        .map(String::as_str)
        .collect();
    assert_eq!(hosts, ["lab", "local"]);
    assert_eq!(recording.ends(), ["ok"; 4]);
    lab.world.assert_empty();
}

#[test]
fn a_subject_on_a_host_is_only_read() {
    let Some(lab) = Lab::new() else { return };
    let root = lab.world.path("it's $(a) subject\nthere");
    tree::plant(&root);
    let before = tree::look(&root);
    for method in ["files-cp", "files-tar"] {
        let subject = format!("lab/dir:{}", root.display());
        let record = format!("{method}.jsonl");
        let arguments = [
            "--host",
            "lab",
            "--method",
            method,
            "--subject",
            &subject,
            "--reps",
            "1",
        ];
        lab.world.session(&record, &arguments).0.assert_good();
        assert_eq!(tree::look(&root), before, "{method}");
    }
    lab.world.assert_empty();
}

#[test]
fn a_stop_reaches_the_host() {
    let Some(lab) = Lab::new() else { return };
    for step in ["payload", "backup", "sha256 after"] {
        let record = format!("{}.jsonl", step.replace(' ', "-"));
        let arguments = ["--host", "lab", "--method", "files-cp", "--reps", "1"];
        let arguments = lab.world.arguments(&record, &arguments);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut going = Going::start(lab.world.command(&arguments));
        going.until_started(step);
        going.signal(Signal::TERM);
        let ended = going.wait();
        assert_eq!(ended.code, 130, "{step}: {}", ended.err);
        let session = going.session();
        wait_until("what the server had for it is gone", || {
            processes::of_session(&session).is_empty()
        });
        lab.world.assert_empty();
    }
}

#[test]
fn a_host_remembers_what_a_killed_session_left() {
    let Some(lab) = Lab::new() else { return };
    let arguments = ["--host", "lab", "--method", "files-tar", "--reps", "1"];
    let arguments = lab.world.arguments("r.jsonl", &arguments);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut going = Going::start(lab.world.command(&arguments));
    going.until_started("archive proved");
    going.signal(Signal::KILL);
    going.wait();
    let session = going.session();
    wait_until("nobody keeps it", || {
        processes::of_session(&session).is_empty()
    });
    // The operator's machine has lost everything.
    std::fs::remove_file(lab.world.path("r.jsonl")).unwrap();
    let named = lab.world.run(&["recover", "--host", "lab"]);
    for word in [&session, "copy.tar", "undo"] {
        assert!(
            named.assert_good().out.contains(word),
            "{word}: {}",
            named.out
        );
    }
    lab.world
        .run(&["recover", "--host", "lab", "--remove"])
        .assert_good();
    lab.world.assert_empty();
    let again = lab.world.run(&["recover", "--host", "lab", "--remove"]);
    assert_eq!(again.assert_good().out, "lab: nothing is left\n");
}
