//! An operator's directory is only read, whatever its names are and however a run ends.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/methods.rs"]
mod methods;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/tree.rs"]
mod tree;
#[path = "support/world.rs"]
mod world;

use std::fs;

use going::Going;
use methods::{BESIDE, COPY, DESTROY, HEAD, step};
use rustix::process::Signal;
use world::{World, entries};

/// A world with a tree that careless programs stumble over, at a path that they stumble over.
fn planted() -> (World, std::path::PathBuf) {
    let world = World::new();
    let root = world.path("-it's $(a) \"path\"\nof: two lines");
    tree::plant(&root);
    (world, root)
}

fn subject(root: &std::path::Path) -> String {
    format!("dir:{}", root.display())
}

#[test]
fn every_method_protects_and_restores_odd_names_beside_the_subject() {
    let (world, root) = planted();
    let before = tree::look(&root);
    for method in ["files-cp", "files-tar", "files-rsync"] {
        let record = format!("{method}.jsonl");
        let arguments = [
            "--method",
            method,
            "--subject",
            &subject(&root),
            "--reps",
            "2",
        ];
        let (run, recording) = world.session(&record, &arguments);
        run.assert_good();
        assert_eq!(recording.ends(), ["ok", "ok"], "{method}");
        assert!(
            recording.of("proof").all(|proof| proof["verdict"] == true),
            "{method}"
        );
        assert!(
            recording
                .state("step", "planned")
                .all(|step| step.get("destroys").is_none()),
            "{method}"
        );
        assert_eq!(tree::look(&root), before, "{method}");
        world.assert_empty();
    }
    assert!(!world.path("hacked").exists());
}

#[test]
fn packed_archives_of_odd_names_come_back() {
    let (world, root) = planted();
    let before = tree::look(&root);
    for compress in ["gzip", "zstd"] {
        let record = format!("{compress}.jsonl");
        let set = format!("compress={compress}");
        let arguments = [
            "--method",
            "files-tar",
            "--set",
            &set,
            "--set",
            "sparse=true",
            "--reps",
            "1",
            "--subject",
            &subject(&root),
        ];
        let (run, _) = world.session(&record, &arguments);
        run.assert_good();
        assert_eq!(tree::look(&root), before, "{compress}");
    }
    world.assert_empty();
}

/// Nothing was done to the subject: nothing has to be brought back, whatever has been made.
#[test]
fn a_failed_backup_of_what_was_only_read_keeps_nothing() {
    let (world, root) = planted();
    let before = tree::look(&root);
    let there = "[[step]]\nuse = \"there\"\n";
    let broken = step("second backup", "protect", "echo 'no space' >&2; exit 9");
    for (method, made) in [("there", there), ("copied", COPY)] {
        world.method(method, &[HEAD, made, &broken].concat());
        let record = format!("{method}.jsonl");
        let subject = subject(&root);
        let arguments = ["--method", method, "--subject", &subject, "--reps", "1"];
        let (run, recording) = world.session(&record, &arguments);
        assert_eq!(run.code, 1, "{}", run.err);
        assert!(run.err.contains("no space"), "{}", run.err);
        assert!(!run.err.contains("is kept"), "{}", run.err);
        let leaves = recording.leaves();
        assert!(leaves.iter().any(|(name, ..)| name == "copy"), "{leaves:?}");
        assert!(leaves.iter().all(|(_, state, _)| state == "undone"));
        assert_eq!(tree::look(&root), before, "{method}");
        world.assert_empty();
    }
}

#[test]
fn a_failed_backup_of_what_was_destroyed_keeps_the_copy() {
    let world = World::new();
    let broken = step("second backup", "protect", "exit 9");
    world.method("broken", &[HEAD, COPY, DESTROY, &broken].concat());
    let (run, recording) = world.session("r.jsonl", &["--method", "broken", "--reps", "1"]);
    assert_eq!(run.code, 1, "{}", run.err);
    let kept = |name: &str| {
        let all = recording.leaves();
        all.iter()
            .any(|(of, state, _)| of == name && state == "kept")
    };
    assert!(kept("copy") && kept("box"), "{}", run.err);
}

#[test]
fn a_failed_restore_keeps_the_copy_and_the_subject_is_untouched() {
    let (world, root) = planted();
    let before = tree::look(&root);
    let broken = step("restore", "restore", "echo 'no space' >&2; exit 9");
    world.method("broken", &[HEAD, COPY, &broken].concat());
    let arguments = [
        "--method",
        "broken",
        "--subject",
        &subject(&root),
        "--reps",
        "2",
    ];
    let (run, recording) = world.session("r.jsonl", &arguments);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.contains("no space"), "{}", run.err);
    assert_eq!(recording.ends(), ["failed"], "the session stops there");
    assert_eq!(tree::look(&root), before);
    // What a restore may need is kept, and it is whole.
    let kept: Vec<(String, String)> = recording
        .leaves()
        .into_iter()
        .map(|(name, state, _)| (name, state))
        .collect();
    for name in ["box", "copy"] {
        assert!(kept.contains(&(name.into(), "kept".into())), "{kept:?}");
    }
    let copy = fs::read_dir(world.sandbox())
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let copy = copy.path().join("copy");
    assert_eq!(entries(&copy), entries(&root));
    // The words at its end say where it is and what to do.
    for words in [copy.to_str().unwrap(), "comeback recover", "--remove"] {
        assert!(run.err.contains(words), "{words}: {}", run.err);
    }
    let named = world.run(&["recover", "--host", "local"]);
    named.assert_good();
    assert!(named.out.contains(copy.to_str().unwrap()), "{}", named.out);
    world
        .run(&["recover", "--host", "local", "--remove"])
        .assert_good();
    assert_eq!(tree::look(&root), before);
    world.assert_empty();
}

#[test]
fn a_restore_that_is_not_what_it_was_fails() {
    let (world, root) = planted();
    let before = tree::look(&root);
    let spoil = step(
        "spoil",
        "restore",
        "cp -a -- {{ box }}/copy {{ box }}/restored && printf x >>{{ box }}/restored/zero",
    );
    let verify = BESIDE.split("[[step]]").last().unwrap();
    let text = format!("{HEAD}{COPY}{spoil}\n[[step]]{verify}");
    world.method("spoiled", &text);
    let arguments = [
        "--method",
        "spoiled",
        "--subject",
        &subject(&root),
        "--reps",
        "1",
    ];
    let (run, recording) = world.session("r.jsonl", &arguments);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.contains("zero"), "the file is named: {}", run.err);
    assert!(recording.of("proof").any(|proof| proof["verdict"] == false));
    assert_eq!(tree::look(&root), before);
    world.run(&["recover", "r.jsonl", "--remove"]).assert_good();
    world.assert_empty();
}

#[test]
fn a_stopped_run_leaves_the_subject_untouched() {
    let (world, root) = planted();
    let before = tree::look(&root);
    for (signal, at) in [(Signal::INT, "backup"), (Signal::TERM, "restore")] {
        let slow = |text: &str| text.replace("cp -a", "sleep 0.2; cp -a");
        let text = [HEAD, &slow(COPY), &slow(BESIDE)].concat();
        world.method("slow", &text);
        let record = format!("{at}.jsonl");
        let arguments = world.arguments(
            &record,
            &[
                "--method",
                "slow",
                "--subject",
                &subject(&root),
                "--reps",
                "1",
            ],
        );
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut going = Going::start(world.command(&arguments));
        going.until_started(at);
        going.signal(signal);
        let ended = going.wait();
        assert_eq!(ended.code, 130, "{}", ended.err);
        assert_eq!(tree::look(&root), before, "{at}");
        let left = processes::left_of(&going.session());
        assert!(left.is_empty(), "{left:?}");
        world.run(&["recover", &record, "--remove"]).assert_good();
    }
    world.assert_empty();
}

#[test]
fn a_sandbox_in_the_subject_is_refused() {
    let (world, root) = planted();
    let before = tree::look(&root);
    let inside = root.join("empty");
    for sandbox in [&root, &inside] {
        let sandbox = sandbox.to_str().unwrap();
        let arguments = [
            "--method",
            "files-cp",
            "--subject",
            &subject(&root),
            "--sandbox",
            sandbox,
        ];
        let refused = world.run(&[&["run", "--record", "r.jsonl"], &arguments[..]].concat());
        refused.assert_refused(4, &["scratch folder", "--sandbox"]);
    }
    // Another way to the same folder. (A line end in it must not confuse the look at it.)
    std::os::unix::fs::symlink(&inside, world.path("way in")).unwrap();
    let sandbox = world.text("way in");
    let arguments = [
        "--method",
        "files-cp",
        "--subject",
        &subject(&root),
        "--sandbox",
        &sandbox,
    ];
    let refused = world.run(&[&["run", "--record", "r.jsonl"], &arguments[..]].concat());
    refused.assert_refused(4, &["scratch folder", "--sandbox"]);
    assert_eq!(tree::look(&root), before);
    assert!(!world.path("r.jsonl").exists());
}

#[test]
fn a_subject_that_is_not_there_or_no_folder_is_refused() {
    let world = World::new();
    fs::write(world.path("file"), "").unwrap();
    for name in ["absent", "file"] {
        let subject = format!("dir:{}", world.text(name));
        let (run, _) = world.session("r.jsonl", &["--method", "files-tar", "--subject", &subject]);
        run.assert_refused(4, &["local", name]);
    }
    for wrong in ["dir:relative/path", "dir:", "folder:/x", "/x"] {
        let (run, _) = world.session("r.jsonl", &["--method", "files-tar", "--subject", wrong]);
        run.assert_refused(2, &["subject"]);
    }
    world.assert_empty();
}

#[test]
fn a_link_as_subject_is_refused() {
    // `cp -a LINK` copies the link: the copy would be the original, and its proof worth nothing.
    let (world, root) = planted();
    std::os::unix::fs::symlink(&root, world.path("link")).unwrap();
    let link = subject(&world.path("link"));
    let (run, _) = world.session("r.jsonl", &["--method", "files-cp", "--subject", &link]);
    run.assert_refused(4, &["symbolic link", "link"]);
    world.assert_empty();
}

#[test]
fn a_recording_in_the_subject_is_refused() {
    let (world, root) = planted();
    let before = tree::look(&root);
    let record = root.join("r.jsonl");
    let record = record.to_str().unwrap();
    let named = subject(&root);
    let arguments = [
        "run",
        "--method",
        "files-cp",
        "--subject",
        &named,
        "--record",
        record,
    ];
    world
        .run(&arguments)
        .assert_refused(4, &["recording", "--record"]);
    assert_eq!(tree::look(&root), before);
}

#[test]
fn room_that_cannot_be_counted_is_refused() {
    let world = World::new();
    for size in ["999EiB", "15EiB", "7EiB", "1PiB"] {
        let size = format!("size={size}");
        let arguments = [
            "run", "--method", "files-cp", "--set", &size, "--record", "r.jsonl",
        ];
        let refused = world.run(&arguments);
        assert!(
            [2, 4].contains(&refused.code),
            "{size}: {} {}",
            refused.code,
            refused.err
        );
    }
}
