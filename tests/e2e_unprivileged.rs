//! Without root: the file methods work, and what needs root says so.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/world.rs"]
mod world;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::Command;

use missing::{have_root, have_tool};
use world::{Ended, World, ended, entries};

/// The user that owns nothing.
const NOBODY: u32 = 65534;

struct Plain(World);

impl Plain {
    /// A home, a sandbox and a copy of the program that nobody may use.
    fn new() -> Option<Self> {
        if !(have_root() && have_tool("setpriv")) {
            return None;
        }
        let world = World::new();
        for name in [
            "",
            "home",
            "home/.config",
            "home/.config/comeback",
            "sandbox",
        ] {
            chown(world.path(name), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        // The usual state folder of a user.
        fs::remove_file(world.path("home/.config/comeback/config.toml")).unwrap();
        let program = world.path("comeback");
        fs::hard_link(env!("CARGO_BIN_EXE_comeback"), &program)
            .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_comeback"), &program).map(|_| ()))
            .unwrap();
        Some(Self(world))
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        let id = NOBODY.to_string();
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"])
            .arg(self.0.path("comeback"))
            .args(arguments)
            .current_dir(self.0.path(""))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.0.path("home"));
        ended(&command.output().unwrap())
    }

    fn session(&self, arguments: &[&str]) -> Ended {
        let arguments = self.0.arguments("r.jsonl", arguments);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let _ = fs::remove_file(self.0.path("r.jsonl"));
        self.run(&arguments)
    }
}

#[test]
fn file_methods_need_no_root() {
    let Some(plain) = Plain::new() else { return };
    for method in ["files-cp", "files-tar", "files-rsync"] {
        if method == "files-rsync" && !have_tool("rsync") {
            continue;
        }
        let run = plain.session(&["--method", method, "--reps", "1"]);
        assert_eq!(run.code, 0, "{method}: {}", run.err);
        assert_eq!(entries(&plain.0.sandbox()), [""; 0]);
        assert_eq!(
            entries(&plain.0.path("home/.local/state/comeback")),
            [""; 0]
        );
    }
    assert_eq!(
        plain.run(&["recover"]).assert_good().out,
        "local: nothing is left\n"
    );
}

#[test]
fn what_needs_root_says_so() {
    let Some(plain) = Plain::new() else { return };
    let run = plain.session(&["--method", "btrfs-snapshot"]);
    run.assert_refused(4, &["btrfs-snapshot", "root"]);
    let run = plain.session(&["--method", "files-cp", "--set", "cache=drop"]);
    run.assert_refused(4, &["files-cp", "root"]);
    let check = plain.run(&["check"]);
    for words in [
        "btrfs-snapshot on local: cannot run",
        "files-cp on local: can run",
    ] {
        assert!(
            check.assert_good().out.contains(words),
            "{words}: {}",
            check.out
        );
    }
}

#[test]
fn a_subject_that_may_not_be_read_is_refused_or_fails_before_it_counts_as_protected() {
    let Some(plain) = Plain::new() else { return };
    let closed = plain.0.path("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    let subject = format!("dir:{}", closed.display());
    let run = plain.session(&["--method", "files-tar", "--subject", &subject]);
    run.assert_refused(4, &["closed", "read"]);
    // One file in it that only root may read.
    let open = plain.0.path("open");
    fs::create_dir(&open).unwrap();
    fs::write(open.join("all"), "all").unwrap();
    fs::write(open.join("root's"), "root's").unwrap();
    fs::set_permissions(open.join("root's"), fs::Permissions::from_mode(0o600)).unwrap();
    let subject = format!("dir:{}", open.display());
    for method in ["files-cp", "files-tar"] {
        let run = plain.session(&["--method", method, "--subject", &subject, "--reps", "1"]);
        assert_ne!(run.code, 0, "{method}");
        assert!(run.err.contains("root's"), "{method}: {}", run.err);
        assert_eq!(entries(&plain.0.sandbox()), [""; 0], "{method}");
    }
}

#[test]
fn folders_that_may_not_be_written_are_named() {
    let Some(plain) = Plain::new() else { return };
    let closed = plain.0.path("closed");
    fs::create_dir(&closed).unwrap();
    let closed = closed.display().to_string();
    let run = plain.run(&[
        "run",
        "--record",
        "r.jsonl",
        "--sandbox",
        &closed,
        "--method",
        "files-cp",
    ]);
    run.assert_refused(4, &["local", &closed, "--sandbox"]);
    let config = plain.0.path("home/.config/comeback/config.toml");
    fs::write(
        &config,
        format!("[host.local]\nstate = \"{closed}/state\"\n"),
    )
    .unwrap();
    let run = plain.session(&["--method", "files-cp"]);
    assert!(matches!(run.code, 3 | 4), "{}: {}", run.code, run.err);
    for word in ["local", "state", &closed] {
        assert!(
            run.err.lines().next().unwrap().contains(word),
            "{word}: {}",
            run.err
        );
    }
    assert_eq!(entries(&plain.0.sandbox()), [""; 0]);
    fs::remove_file(&config).unwrap();
    // The place of a recording, too.
    let record = format!("{closed}/r.jsonl");
    let run = plain.run(&["run", "--method", "files-cp", "--record", &record]);
    run.assert_refused(2, &[&record, "--record"]);
}

#[test]
fn another_users_lock_is_seen() {
    let Some(plain) = Plain::new() else { return };
    let data = plain.0.path("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("file"), "x").unwrap();
    // Root holds the subject: its lock is what a session of it would leave while it goes on.
    let what = format!("dir:{}", data.display());
    plain.0.configure("local", "state");
    let hold = plain.0.path("home/.config/comeback/methods/hold.toml");
    let text = include_str!("../methods/files-cp.toml").replacen(
        "cp -a{%",
        "touch {{ box }}/held; while [ ! -e {{ subject ~ '.go' }} ]; do sleep 0.05; done; cp -a{%",
        1,
    );
    fs::write(&hold, text).unwrap();
    let arguments = plain.0.arguments(
        "root.jsonl",
        &["--method", "hold", "--subject", &what, "--reps", "1"],
    );
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut child = plain.0.command(&arguments).spawn().unwrap();
    let until = std::time::Instant::now() + std::time::Duration::from_mins(1);
    let recording = loop {
        let recording = events::Recording::read(&plain.0.path("root.jsonl"));
        if recording.state("lock", "taken").count() > 0 {
            break recording;
        }
        assert!(std::time::Instant::now() < until, "no lock is taken");
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    fs::remove_file(plain.0.path("home/.config/comeback/config.toml")).unwrap();
    let run = plain.session(&["--method", "files-cp", "--subject", &what, "--reps", "1"]);
    fs::write(plain.0.path("data.go"), "").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(run.code, 4, "{}", run.err);
    for word in [&recording.session(), "since", "root"] {
        assert!(run.err.contains(word), "{word}: {}", run.err);
    }
}
