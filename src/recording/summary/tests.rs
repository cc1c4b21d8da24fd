use std::fmt::Write as _;
use std::fs;

use super::*;
use crate::event::{
    Clock, EndState, HostChange, HostState, Intended, Leave, LeaveKind, LeaveState, Space, to_line,
};
use crate::recording::{Writer, recordings};
use crate::session::story::{Story, everything};

fn write(folder: &tempfile::TempDir, name: &str, events: &[Event]) -> PathBuf {
    let path = folder.path().join(name);
    let lines: Vec<String> = events
        .iter()
        .map(|event| to_line(event).unwrap() + "\n")
        .collect();
    fs::write(&path, lines.concat()).unwrap();
    path
}

fn copy(run: &RunId, name: &str) -> What {
    What::Leave(Leave {
        leave: format!("{run}-{name}").into(),
        state: LeaveState::Intended(Intended {
            run: run.clone(),
            step: "s0".into(),
            host: "h1".into(),
            name: name.to_owned(),
            kind: LeaveKind::Copy,
            find: "ls".to_owned(),
            undo: "rm".to_owned(),
            back: None,
        }),
    })
}

fn reading(run: &RunId, name: &str, logical: u64, stored: u64) -> What {
    What::Space(Space {
        run: run.clone(),
        step: "s0".into(),
        name: name.to_owned(),
        series: "full".to_owned(),
        logical: Some(Bytes(logical)),
        stored: Some(Bytes(stored)),
        held: None,
        settled: true,
        why: None,
    })
}

#[test]
fn it_tells_what_was_run_on_what_and_what_came_out() {
    let mut story = Story::new();
    let tar = story.binding("files-tar", "nas");
    let settings = [("size".to_owned(), "1GiB".to_owned())];
    story.bound(&tar).settings = BTreeMap::from(settings);
    story.header.facts.get_mut("nas").unwrap().machine = "boot-1".to_owned();
    let run = story.labelled(&tar, "full", &[("cache", "cold")]);
    story.tell(copy(&run, "archive"));
    story.tell(reading(&run, "used before", 7, 7));
    story.tell(reading(&run, "archive", 1000, 1024));
    story.seconds(&run, "restore", Clock::Host, 0.0, 2.5);
    story.proved(&run, true);
    story.done(&run, EndState::Ok);
    let broken = story.run(&tar, "full");
    story.done(&broken, EndState::Failed);
    story.tell(What::End(End {
        exit: 1,
        reason: "1 of 2 runs done and verified; run 2 failed: disk full".to_owned(),
    }));
    let folder = tempfile::tempdir().unwrap();
    let path = write(&folder, "a.jsonl", &story.events());

    let summary = Summary::read(&path);
    assert_eq!(summary.trouble, None);
    assert_eq!(summary.size.0, fs::metadata(&path).unwrap().len());
    assert_eq!(summary.started, Some(story.header.started));
    assert_eq!(summary.program, "comeback 0.1.0");
    assert_eq!(summary.methods, ["files-tar"]);
    assert_eq!(summary.still_out, 1);
    assert_eq!(summary.hosts[0].name, "nas");
    assert_eq!(summary.hosts[0].system, "Debian GNU/Linux 13 on nas");
    assert_eq!(summary.hosts[0].machine, "boot-1");
    assert_eq!(summary.outcome(), Outcome::Failed);
    assert!(summary.result().ends_with("run 2 failed: disk full"));
    assert_eq!(summary.length, story.events().last().unwrap().t);

    let [first, second] = summary.runs.as_slice() else {
        panic!("{:?}", summary.runs);
    };
    assert_eq!(
        (first.bound.method.as_str(), first.bound.host.as_str()),
        ("files-tar", "nas")
    );
    assert_eq!(first.bound.settings["size"], "1GiB");
    assert_eq!(first.bound.subject.to_string(), "dir:/srv/data");
    assert_eq!((first.rep, first.series.as_str()), (1, "full"));
    assert_eq!(first.labels["cache"], "cold");
    // Six events of 10 ms between its start and its end.
    assert_eq!(first.seconds, Some(0.06));
    let bytes = |bytes| Some(Bytes(bytes));
    assert_eq!(
        (first.copies.logical, first.copies.stored),
        (bytes(1000), bytes(1024))
    );
    assert_eq!(first.subject_bytes, bytes(1 << 30));
    assert!(first.is_verified());
    assert_eq!(
        second.stage,
        RunStage::Ended(EndState::Failed, Some("disk full".to_owned()))
    );
    assert!(!second.is_verified() && !second.is_good());
    assert_eq!(second.copies, CopyBytes::default());
}

#[test]
fn what_a_tool_tells_of_its_archive_stands_where_nothing_was_read() {
    let mut story = Story::new();
    let vzdump = story.binding("pve-vzdump", "pve1");
    let run = story.run(&vzdump, "full");
    story.tell(copy(&run, "archive"));
    story.sample(&run, "full", "archive", 900.0, "B", &[]);
    story.sample(&run, "full", "transferred", 5.0, "B", &[]);
    let folder = tempfile::tempdir().unwrap();
    let summary = Summary::read(&write(&folder, "a.jsonl", &story.events()));
    assert_eq!(summary.runs[0].copies.stored, Some(Bytes(900)));
    assert_eq!(summary.runs[0].copies.logical, None);
    // A reading on the host goes before it, whichever came first.
    story.tell(reading(&run, "archive", 1000, 1024));
    let summary = Summary::read(&write(&folder, "a.jsonl", &story.events()));
    assert_eq!(summary.runs[0].copies.stored, Some(Bytes(1024)));
}

#[test]
fn a_host_that_could_not_be_reached_is_named() {
    let mut story = Story::new();
    story.binding("files-cp", "nas");
    story.tell(What::Host(Box::new(HostChange {
        host: "esx".to_owned(),
        state: HostState::Down,
        phase: Some("connect".to_owned()),
        reason: Some("refused".to_owned()),
        facts: None,
    })));
    let folder = tempfile::tempdir().unwrap();
    let summary = Summary::read(&write(&folder, "a.jsonl", &story.events()));
    let names: Vec<_> = summary
        .hosts
        .iter()
        .map(|host| host.name.as_str())
        .collect();
    assert_eq!(names, ["nas", "esx"]);
}

#[test]
fn one_that_has_no_end_was_cut_or_still_goes_on() {
    let mut story = Story::new();
    let cp = story.binding("files-cp", "nas");
    let run = story.run(&cp, "full");
    story.done(&run, EndState::Ok);
    story.run(&cp, "full");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let writer = Writer::create(&path).unwrap();
    for event in story.events() {
        writer.write(&event);
    }
    writer.commit().unwrap();
    let summary = Summary::read(&path);
    assert_eq!(summary.outcome(), Outcome::GoingOn);
    assert_eq!(summary.result(), "going on: 1 of 2 runs done");
    drop(writer);
    let summary = Summary::read(&path);
    assert_eq!(summary.outcome(), Outcome::Cut);
    assert_eq!(summary.result(), "cut: 1 of 2 runs done");
    assert_eq!(summary.runs[1].stage, RunStage::Running);

    // A last line of which only a part is there.
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str(r#"{"seq":99,"t":99,"ev":"end","ex"#);
    fs::write(&path, &text).unwrap();
    let summary = Summary::read(&path);
    assert_eq!((summary.outcome(), summary.trouble), (Outcome::Cut, None));
}

#[test]
fn a_stop_by_the_operator_is_told() {
    let mut story = Story::new();
    story.binding("files-cp", "nas");
    story.tell(What::End(End {
        exit: 130,
        reason: "stopped after 0 of 1 runs".to_owned(),
    }));
    let folder = tempfile::tempdir().unwrap();
    let summary = Summary::read(&write(&folder, "a.jsonl", &story.events()));
    assert_eq!(summary.outcome(), Outcome::Stopped);
    assert_eq!(summary.result(), "stopped after 0 of 1 runs");
}

#[test]
fn a_broken_file_gives_what_could_be_read_and_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut story = Story::new();
    let cp = story.binding("files-cp", "nas");
    let run = story.run(&cp, "full");
    story.done(&run, EndState::Ok);
    let path = write(&folder, "broken.jsonl", &story.events());
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str("{\"seq\":3,\"t\":9,\"ev\":\"run\"}\n{}\n");
    fs::write(&path, text).unwrap();
    story.header.started += chrono::Duration::seconds(60);
    story.end();
    write(&folder, "whole.jsonl", &story.events());
    fs::write(folder.path().join("none.jsonl"), "hello\n").unwrap();
    fs::write(folder.path().join("empty.jsonl"), "").unwrap();
    fs::write(folder.path().join("notes.txt"), "no recording").unwrap();
    fs::create_dir(folder.path().join("folder.jsonl")).unwrap();

    let all = recordings(folder.path()).unwrap();
    let told: BTreeMap<String, (Outcome, String)> = all
        .iter()
        .map(|one| {
            let name = one.path.file_name().unwrap().to_string_lossy().into_owned();
            (name, (one.outcome(), one.result()))
        })
        .collect();
    assert_eq!(all[0].path.file_name().unwrap(), "whole.jsonl");
    assert_eq!(all[1].path.file_name().unwrap(), "broken.jsonl");
    assert_eq!(told.len(), 4);
    assert_eq!(told["whole.jsonl"].0, Outcome::Done);
    let (outcome, result) = &told["broken.jsonl"];
    assert_eq!(*outcome, Outcome::Cut);
    assert!(
        result.starts_with("1 of 1 runs done; line 4 is broken: "),
        "{result}"
    );
    assert!(
        told["none.jsonl"].1.starts_with("no recording: "),
        "{:?}",
        told["none.jsonl"]
    );
    assert_eq!(told["empty.jsonl"].0, Outcome::Unreadable);
    assert!(
        recordings(&folder.path().join("nowhere"))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn nothing_that_tells_is_passed_over_and_nothing_else_is_read() {
    for event in everything().events() {
        let line = to_line(&event).unwrap();
        let (t, name) = glance(line.as_bytes()).unwrap();
        assert_eq!(t, event.t);
        assert!(line.contains(&format!("\"ev\":\"{name}\"")));
    }
    // Another order of fields is another program's, and has to be read.
    assert_eq!(glance(br#"{"t":1,"seq":2,"ev":"log"}"#), None);
    assert_eq!(
        glance(br#"{"seq":2,"t":1,"text":"\"ev\":\"log\"","ev":"end"}"#),
        None
    );
    let folder = tempfile::tempdir().unwrap();
    let mut story = Story::new();
    let cp = story.binding("files-cp", "nas");
    story.run(&cp, "full");
    let path = write(&folder, "a.jsonl", &story.events());
    let mut text = fs::read_to_string(&path).unwrap();
    for seq in 2..5 {
        // Broken as an event, but none that tells.
        writeln!(
            text,
            r#"{{"seq":{seq},"t":{seq}000000000,"ev":"log","text":7}}"#
        )
        .unwrap();
    }
    text.push_str("{\"ev\":\"end\",\"t\":9000000000,\"seq\":5,\"exit\":0,\"reason\":\"done\"}\n");
    fs::write(&path, text).unwrap();
    let summary = Summary::read(&path);
    assert_eq!(summary.trouble, None);
    assert_eq!(summary.length, Nanos(9_000_000_000));
    assert_eq!(summary.result(), "done");
}

#[test]
fn a_pipe_with_a_name_is_no_recording_and_nobody_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    assert!(recordings(folder.path()).unwrap().is_empty());
    assert_eq!(Summary::read(&path).result(), "it is no file");
}

#[test]
fn what_was_started_again_beside_a_run_is_none_of_its_runs() {
    let mut story = Story::new();
    let tar = story.binding("files-tar", "nas");
    let run = story.run(&tar, "full");
    story.proved(&run, true);
    story.done(&run, EndState::Ok);
    let again = story.labelled(&tar, "full", &[(RESTARTED, "yes")]);
    story.done(&again, EndState::Stopped);
    story.end();
    let folder = tempfile::tempdir().unwrap();
    let summary = Summary::read(&write(&folder, "a.jsonl", &story.events()));
    assert_eq!((summary.runs.len(), summary.outcome()), (1, Outcome::Done));
}
