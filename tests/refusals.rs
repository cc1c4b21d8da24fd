//! What the built-in methods refuse, by their own shell text: run here with programs that answer in
//! place of `zfs` and `btrfs`, since no real ones can be had in all of these states.
#![cfg(test)]

#[path = "support/bound.rs"]
mod bounds;
#[path = "support/missing.rs"]
mod missing;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use bounds::bound;
use comeback::engine::{checks, preview};

/// The shell text of a step.
fn text_of(method: &str, step: &str) -> String {
    let steps = preview(&bound(method, None, &[])).unwrap();
    let step = steps.into_iter().find(|planned| planned.name == step);
    step.unwrap().command
}

/// Programs in a folder that come before those of the host.
struct Programs(tempfile::TempDir);

impl Programs {
    /// A program that answers by what it is called with: patterns, and what is run then. The first one that fits
    /// counts; what fits none fails. It knows the variables of the text that calls it.
    fn new(name: &str, answers: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cases = answers.iter();
        let cases = cases.map(|(pattern, answer)| format!("  {pattern}) {answer} ;;"));
        let cases = cases.collect::<Vec<_>>().join("\n");
        let file = folder.path().join(name);
        let text = format!("#!/bin/sh\ncase \"$*\" in\n{cases}\n  *) exit 1 ;;\nesac\n");
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        Self(folder)
    }

    fn run(&self, text: &str) -> Output {
        let path = std::env::var("PATH").unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("set -a\n{text}")]);
        shell.env("PATH", format!("{}:{path}", self.0.path().display()));
        shell.output().unwrap()
    }
}

/// It ends well without a complaint, or with one sentence that says so.
fn assert_says(ran: &Output, expected: Result<&str, &str>, what: &str) {
    let (out, err) = (
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr),
    );
    match expected {
        Ok(says) => {
            assert!(ran.status.success() && err.is_empty(), "{what}: {ran:?}");
            assert!(out.contains(says), "{what}: {out}");
        }
        Err(says) => {
            assert_eq!(ran.status.code(), Some(1), "{what}: {ran:?}");
            assert!(err.contains(says), "{what}: {err}");
            assert_eq!(err.lines().count(), 1, "{what}: {err}");
        }
    }
}

/// A copy that an increment fits to.
const ZFS: [(&str, &str); 9] = [
    ("*receive_resume_token*", "echo -"),
    ("*' guid '*", "echo 4711"),
    ("list*", "echo \"$copy@$name\""),
    ("*' written '*", "echo 0"),
    ("*' mounted '*", "echo yes"),
    ("*' readonly '*", "echo on"),
    ("'send -n '*", "printf 'size\\t1000\\n'"),
    ("*' available '*-target*", "echo 5000"),
    ("*' available '*", "echo 10"),
];

#[test]
fn an_increment_of_zfs_is_refused_where_it_would_not_fit() {
    let text = text_of("zfs-send", "ready for the increment");
    // Of another host what is there is asked before.
    let there = text_of("zfs-replicate", "ready for the increment");
    let there = there.replace("‹common›", "4711").replace("‹more›", "1000");
    let there = format!("name=s1\n{there}");
    let cases: [(&str, &str, Result<&str, &str>); 11] = [
        (
            "never",
            "",
            Ok("nothing changed since; 1000 bytes by the estimate, 5000 free"),
        ),
        ("*' guid '*-target/data", "exit 1", Err("is not there")),
        ("*receive_resume_token*", "echo 1-abc", Err("half received")),
        ("*' guid '*-target/data@*", "exit 1", Err("send it in full")),
        (
            "*' guid '*-target/data@*",
            "echo 4712",
            Err("bear one name and are not the same"),
        ),
        (
            "list*",
            "echo \"$copy@$name\"; echo \"$copy@later\"",
            Err("has a later snapshot"),
        ),
        ("*' written '*", "echo 14336", Err("was changed since")),
        ("*' readonly '*", "echo off", Err("is mounted writable")),
        (
            "'send -n '*",
            "exit 1",
            Err("the size of the increment is not known"),
        ),
        (
            "*' available '*",
            "echo 999",
            Err("no room for the increment: 1000 bytes"),
        ),
        (
            "*' available '*",
            "exit 1",
            Err("no room for the increment"),
        ),
    ];
    for (pattern, answer, says) in cases {
        let zfs = Programs::new("zfs", &[&[(pattern, answer)][..], &ZFS].concat());
        assert_says(&zfs.run(&text), says, &format!("{pattern}: {answer}"));
        let is_of_both_sides = pattern.contains("guid") || pattern.contains("send");
        if !is_of_both_sides {
            assert_says(
                &zfs.run(&there),
                says,
                &format!("there, {pattern}: {answer}"),
            );
        }
    }
    let other = [("*' guid '*-target/data@s1", "echo 4712")];
    let zfs = Programs::new("zfs", &[&other[..], &ZFS].concat());
    assert_says(&zfs.run(&there), Err("send it in full"), "another guid");
    // What is not mounted is changed by nobody.
    let away = [("*' mounted '*", "echo no"), ("*' readonly '*", "echo off")];
    let zfs = Programs::new("zfs", &[&away[..], &ZFS].concat());
    assert_says(&zfs.run(&text), Ok("nothing changed since"), "not mounted");
}

#[test]
fn an_increment_of_btrfs_is_refused_where_it_would_not_fit() {
    let text = text_of("btrfs-send", "ready for the increment");
    let there = tempfile::tempdir().unwrap();
    let copy = text.split("copy='").nth(1).unwrap();
    let copy = copy.split('\'').next().unwrap();
    let here = there.path().display().to_string();
    let placed = text.replace(&format!("'{copy}'"), &here);
    assert_ne!(text, placed);
    let fits = [
        ("property*", "echo ro=true"),
        (
            "'subvolume show '*",
            "printf '\\tUUID: \\t\\tab-1\\n\\tReceived UUID: \\tab-1\\n\\tGeneration: \\t\\t7\\n'",
        ),
        (
            "*find-new*' 8'",
            "echo 'inode 257 file offset 0 len 1000 disk start 0 offset 0 gen 9 flags NONE f'",
        ),
        (
            "*usage*",
            "printf '    Free (estimated):\\t\\t 5000\\t(min: 1)\\n'",
        ),
    ];
    let other =
        "printf '\\tUUID: \\t\\tab-1\\n\\tReceived UUID: \\tab-2\\n\\tGeneration: \\t\\t7\\n'";
    let never = "printf '\\tUUID: \\t\\tab-1\\n\\tReceived UUID: \\t-\\n\\tGeneration: \\t\\t7\\n'";
    let small = "printf '    Free (estimated):\\t\\t 1000\\t(min: 1)\\n'";
    let cases: [(&str, &str, Result<&str, &str>); 7] = [
        ("never", "", Ok("common snapshot ab-1 on both sides")),
        ("property*", "echo ro=false", Err("was made writable")),
        (
            "'subvolume show '*",
            other,
            Err("was received from ab-2, and"),
        ),
        ("'subvolume show '*", never, Err("was received from -, and")),
        (
            "'subvolume show '*",
            "exit 1",
            Err("was received from nothing"),
        ),
        (
            "*find-new*",
            "exit 1",
            Err("the size of the increment is not known"),
        ),
        (
            "*usage*",
            small,
            Err("no room for the increment: 1000 bytes"),
        ),
    ];
    for (pattern, answer, says) in cases {
        let btrfs = Programs::new("btrfs", &[&[(pattern, answer)][..], &fits].concat());
        assert_says(&btrfs.run(&placed), says, &format!("{pattern}: {answer}"));
    }
    // The copy itself is gone.
    let btrfs = Programs::new("btrfs", &fits);
    assert_says(&btrfs.run(&text), Err("send it in full"), "no copy");
}

/// What a rollback destroys is looked at right before, and is what it was said to be.
#[test]
fn a_rollback_takes_nothing_but_what_is_of_this_run() {
    let steps = preview(&bound("zfs-experiment", None, &[])).unwrap();
    let at = |name: &str| steps.iter().position(|step| step.name == name).unwrap();
    assert_eq!(at("what the rollback takes") + 1, at("rollback"));
    let destroys = steps[at("rollback")].destroys.as_ref().unwrap();
    assert!(destroys.what.ends_with("data@s2"), "{destroys:?}");
    let text = &steps[at("what the rollback takes")].command;
    for (later, says) in [
        ("p/data@s2\\t1\\t2\\n", Ok("goes: p/data@s2")),
        ("", Err("there is no snapshot after s1")),
        (
            "p/data@s2\\t1\\t2\\np/data@hourly\\t0\\t2\\np/data#mark\\t-\\t-\\n",
            Err("not of this run: p/data@hourly p/data#mark;"),
        ),
    ] {
        let answer = format!("printf 'p/data@old\\t0\\t1\\np/data@s1\\t0\\t1\\n{later}'");
        let zfs = Programs::new("zfs", &[("list*", &answer)]);
        assert_says(&zfs.run(text), says, later);
    }
    let zfs = Programs::new("zfs", &[("list*", "echo the pool is gone >&2; exit 1")]);
    assert_says(&zfs.run(text), Err("the pool is gone"), "no answer");
}

/// What many snapshots hold is the sum of what each holds alone, and nothing where it is not told.
#[test]
fn what_many_snapshots_hold_is_read_as_it_is_printed() {
    let text = |method: &str, step: &str| {
        let steps = preview(&bound(method, None, &[("snapshots", "10")])).unwrap();
        let step = steps.into_iter().find(|planned| planned.name == step);
        step.unwrap().command
    };
    let held = text("btrfs-experiment", "many: snapshots 10");
    let told = "printf '     Total   Exclusive  Set shared  Filename\\n 3145728      4096           -  /a\\n 3145728     12288           -  /b\\n'";
    let btrfs = Programs::new("btrfs", &[("'filesystem du '*many10-*", told)]);
    assert_says(&btrfs.run(&held), Ok("16384\n"), "du");
    let none = Programs::new("btrfs", &[]);
    assert_says(
        &none.run(&held),
        Ok("because btrfs filesystem du tells none"),
        "none",
    );

    let used = text("lvm-thin-experiment", "many: used in the pool 10");
    let used = used.lines().last().unwrap().to_owned();
    let chunk = used.replace("‹chunk›", "65536");
    let status = |mode: &str| {
        format!(
            "echo '0 1048576 thin-pool 1 11/4096 53/8192 - {mode} discard_passdown queue_if_no_space - 1024'"
        )
    };
    let pool = Programs::new("dmsetup", &[("status*", &status("rw"))]);
    assert_says(&pool.run(&chunk), Ok("3473408\n"), "chunks");
}

#[test]
fn caches_that_cannot_be_dropped_are_said_before_anything_is_made() {
    if !missing::have_root() {
        return;
    }
    for method in ["zfs-experiment", "btrfs-experiment", "lvm-thin-experiment"] {
        let looks = checks(&bound(method, None, &[])).unwrap();
        let mut looks = looks.into_iter().map(|(_, text)| text);
        let look = looks.find(|text| text.contains("drop_caches")).unwrap();
        let run = |before: &str| {
            let text = format!("{before} && exec sh -c \"$0\"");
            let mut shell = Command::new("unshare");
            shell.args(["--mount", "sh", "-ec", &text, &look]).output()
        };
        assert_says(&run("true").unwrap(), Ok(""), method);
        // As a container has it.
        let ran = run("mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys");
        assert_says(
            &ran.unwrap(),
            Err("caches of this host cannot be dropped"),
            method,
        );
    }
}

#[test]
fn each_snapshot_under_load_needs_room_for_what_the_load_writes() {
    for method in ["zfs-experiment", "btrfs-experiment", "lvm-thin-experiment"] {
        let room = |times: &str| {
            let sets = [
                ("times", times),
                ("load_size", "1MiB"),
                ("load_seconds", "9999"),
            ];
            bound(method, None, &sets).room(1 << 20).unwrap()
        };
        assert_eq!(room("101") - room("1"), 100 << 20, "{method}");
    }
}

/// A scratch folder is taken away with all that lies on its own file system: what is still mounted in it stays, and
/// so do the folders around that. By GNU's programs and by `BusyBox`'s.
#[test]
fn a_scratch_folder_in_which_something_is_mounted_is_not_taken_away_with_it() {
    if !missing::have_root() || !missing::have_tool("busybox") {
        return;
    }
    let bound = bound("btrfs-snapshot", None, &[]);
    let mut leaves = bound.steps.iter().flat_map(|step| &step.step.leaves);
    let undo = &leaves.find(|leave| leave.id == "box").unwrap().undo;
    let small = tempfile::tempdir().unwrap();
    for program in ["find", "rm", "rmdir"] {
        std::os::unix::fs::symlink("/bin/busybox", small.path().join(program)).unwrap();
    }
    let usual = std::env::var("PATH").unwrap();
    for path in [usual, small.path().display().to_string()] {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("it's a box");
        fs::create_dir_all(folder.join("a/b")).unwrap();
        fs::create_dir_all(folder.join("theirs")).unwrap();
        fs::write(folder.join("a/-rf"), "x").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.join("a/link")).unwrap();
        let found = shlex::try_quote(folder.to_str().unwrap()).unwrap();
        let undo = undo.replace("{{ found }}", &found);
        let run = || {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", &undo]).env("PATH", &path);
            shell.output().unwrap()
        };
        let mount = |program: &str, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).arg(folder.join("theirs"));
            assert!(command.status().unwrap().success());
        };
        mount("mount", &["-t", "tmpfs", "none"]);
        fs::write(folder.join("theirs/file"), "x").unwrap();
        let ran = run();
        assert!(folder.join("theirs/file").exists(), "{ran:?}");
        mount("umount", &[]);
        assert!(!ran.status.success() && !ran.stderr.is_empty(), "{ran:?}");
        assert!(!folder.join("a").exists(), "{ran:?}");
        let ran = run();
        assert!(ran.status.success() && !folder.exists(), "{ran:?}");
    }
}
