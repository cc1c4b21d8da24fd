//! Copies that move from host to host, by the tools and servers that people use: there, proved, and back; each way three times, here or
//! by a server that is named.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/figures.rs"]
mod figures;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/pair.rs"]
mod pair;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/world.rs"]
mod world;

use std::process::Command;

use events::Recording;
use figures::{assert_no_secret, assert_rates, values};
use missing::have_tool;
use pair::Pair;
use serde_json::Value;

/// Repetitions of a method from `lab` to `vault`, all of them proved, with nothing left.
fn moved(pair: &Pair, method: &str, reps: usize, more: &[&str]) -> (Value, Recording) {
    let last = more.last().map_or("", |set| *set).replace('=', "-");
    let record = format!("{method}-{last}.jsonl");
    let times = reps.to_string();
    let mut all = vec!["--host", "lab", "--method", method, "--reps", &times];
    all.extend(["--role", "target=vault", "--format", "json"]);
    all.extend(more);
    let (run, recording) = pair.world.session(&record, &all);
    run.assert_good();
    let report = run.json();
    for row in report["rows"].as_array().unwrap() {
        assert_eq!(row["states"], serde_json::json!(vec!["ok"; reps]), "{row}");
        assert_eq!(row["verified"]["matched"], reps, "{row}");
    }
    assert_eq!(processes::left_of(&recording.session()), [""; 0]);
    pair.world.assert_empty();
    (report, recording)
}

/// A named tree with names that shells, URLs and servers take for something else, file by file from `lab` to `vault`: its names and
/// contents are proved, and it is only read.
fn moved_tree(pair: &Pair, method: &str, more: &[&str]) {
    let tree = pair.world.path("tree");
    let odd = [
        "a b/{c}[d]#1/q\"uo%41te$(id)",
        "cgi-bin/run",
        "-rf",
        "-",
        "uml\u{e4}ut ?*",
        "empty",
    ];
    for name in odd {
        let file = tree.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let size = if name == "empty" { 0 } else { 9_000 };
        std::fs::write(file, vec![b'#'; size]).unwrap();
    }
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(tree.join("cgi-bin/run"), mode).unwrap();
    let subject = format!("lab/dir:{}", tree.display());
    let all = ["--host", "lab", "--role", "target=vault", "--method"];
    let own = [method, "--subject", &subject, "--set", "form=tree"];
    let all = [&all[..], &own, &["--reps", "1"], more].concat();
    let record = format!("{method}-tree-{}.jsonl", more.len());
    let (run, recording) = pair.world.session(&record, &all);
    run.assert_good();
    let proofs: Vec<&Value> = recording.of("proof").collect();
    assert_eq!(proofs.len(), 2, "{proofs:?}");
    for proof in proofs {
        assert_eq!(proof["verdict"], true, "{proof}");
        let share = proof["share"].as_str().unwrap();
        assert!(
            share.starts_with("names and contents: 6 files, "),
            "{share}"
        );
    }
    assert_eq!(processes::left_of(&recording.session()), [""; 0]);
    pair.world.assert_empty();
}

/// The same with scratch folders in one whose name a shell and a server's settings could take for more.
fn moved_in_odd_folder(pair: &Pair, method: &str, more: &[&str]) {
    let sandbox = pair.world.path("it's #1 {of} $(id)");
    std::fs::create_dir_all(&sandbox).unwrap();
    let sandbox = sandbox.display().to_string();
    let all = ["run", "--host", "lab", "--role", "target=vault", "--method"];
    let rest = ["--sandbox", &sandbox, "--reps", "1"];
    let run = [&all[..], &[method], &rest, &world::SMALL, more].concat();
    pair.world.run(&run).assert_good();
    let left = std::fs::read_dir(&sandbox).unwrap().count();
    assert_eq!(left, 0, "{method}");
}

#[test]
fn ssh_moves_a_file_there_and_back() {
    let Some(pair) = Pair::new() else { return };
    // Without a key nothing is moved, and it is said what is missing.
    let (refused, _) = pair.world.session(
        "refused.jsonl",
        &[
            "--host",
            "lab",
            "--role",
            "target=vault",
            "--method",
            "copy-scp",
            "--reps",
            "1",
        ],
    );
    assert_eq!(refused.code, 4, "{}", refused.err);
    assert!(refused.err.contains("cannot log into"), "{}", refused.err);
    pair.world.assert_empty();

    pair.acquaint();
    for method in ["copy-scp", "copy-sftp"] {
        let (report, _) = moved(&pair, method, 3, &[]);
        assert_rates(&report, &["backup", "restore"]);
        moved_tree(&pair, method, &[]);
        moved_in_odd_folder(&pair, method, &[]);
    }
}

#[test]
fn pscp_moves_a_file_there_and_back() {
    if !have_tool("pscp") || !have_tool("puttygen") {
        return;
    }
    let Some(pair) = Pair::new() else { return };
    let key = pair.world.text("key.ppk");
    let made = Command::new("puttygen")
        .arg(pair.vault.key())
        .args(["-O", "private", "-o", &key])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let host = Command::new("ssh-keygen")
        .arg("-lf")
        .arg(pair.vault.known_hosts())
        .output()
        .unwrap();
    let host = String::from_utf8(host.stdout).unwrap();
    let fingerprint = host.split_whitespace().nth(1).unwrap().to_owned();
    let check = ["check", "--host", "lab", "--role", "target=vault"];
    let refused = pair
        .world
        .run(&[&check[..], &["--method", "copy-pscp"]].concat());
    assert_eq!(refused.code, 4, "{}", refused.err);
    assert!(
        refused.out.contains("--set hostkey=SHA256:"),
        "{}",
        refused.out
    );
    let (key, fingerprint) = (format!("key={key}"), format!("hostkey={fingerprint}"));
    for (mode, reps) in [("mode=sftp", 3), ("mode=scp", 1)] {
        let sets = ["--set", &key, "--set", &fingerprint, "--set", mode];
        let (report, _) = moved(&pair, "copy-pscp", reps, &sets);
        assert_rates(&report, &["backup", "restore"]);
        if mode == "mode=sftp" {
            moved_tree(&pair, "copy-pscp", &sets);
        }
    }
}

#[test]
fn rsync_moves_a_tree_and_an_unchanged_run_has_no_rate() {
    if !have_tool("rsync") {
        return;
    }
    let Some(pair) = Pair::new() else { return };
    pair.acquaint();
    for by in ["by=ssh", "by=rsyncd"] {
        let (report, recording) = moved(&pair, "copy-rsync", 3, &["--set", by]);
        let first = values(&report, "first", "space", "backup", "B/s");
        assert_eq!(first.len(), 3, "{report}");
        let unchanged = values(&report, "unchanged", "times", "backup, unchanged", "s");
        assert_eq!(unchanged.len(), 3, "{report}");
        let rows = report["rows"].to_string();
        assert!(
            !rows.contains(r#""name":"backup, unchanged","unit":"B/s""#),
            "{rows}"
        );
        let sent = values(&report, "unchanged", "space", "transferred size", "B");
        assert!(sent.iter().all(|bytes| bytes.abs() < 1.0), "{report}");
        moved_in_odd_folder(&pair, "copy-rsync", &["--set", by]);
        if by == "by=rsyncd" {
            assert_no_secret(&recording, "rsyncd.conf");
        }
    }
}

#[test]
fn servers_of_the_run_take_and_give_a_file() {
    let Some(pair) = Pair::new() else { return };
    if have_tool("proftpd") {
        let (report, recording) = moved(&pair, "copy-ftp", 3, &[]);
        assert_rates(&report, &["backup", "restore"]);
        let told = values(&report, "full", "space", "backup, as told", "B/s");
        assert_eq!(told.len(), 3, "{report}");
        assert_no_secret(&recording, "proftpd.conf");
        moved_tree(&pair, "copy-ftp", &[]);
        moved_in_odd_folder(&pair, "copy-ftp", &[]);
    }
    if have_tool("busybox") {
        let (report, recording) = moved(&pair, "copy-http", 1, &[]);
        assert_rates(&report, &["restore"]);
        assert_no_secret(&recording, "httpd.conf");
        moved_tree(&pair, "copy-http", &[]);
        moved_in_odd_folder(&pair, "copy-http", &[]);
    }
}

#[test]
fn a_file_is_copied_and_packed_on_one_host() {
    let Some(pair) = Pair::new() else { return };
    let other = pair.world.path("second");
    std::fs::create_dir(&other).unwrap();
    let to = format!("to={}", other.display());
    let record = |name: &str, more: &[&str]| {
        let mut all = vec!["--method", name, "--reps", "3", "--format", "json"];
        all.extend(more);
        let (run, _) = pair.world.session(&format!("{name}.jsonl"), &all);
        run.assert_good();
        let report = run.json();
        assert_eq!(report["rows"][0]["verified"]["matched"], 3, "{report}");
        pair.world.assert_empty();
        report
    };
    let copied = record("copy-local", &["--set", &to]);
    assert_rates(&copied, &["backup", "restore"]);
    assert_eq!(world::entries(&other), [""; 0]);
    let packed = record("copy-compress", &["--set", "by=zstd", "--set", "level=3"]);
    assert_packed(&packed, 3);
}

fn assert_packed(report: &Value, reps: usize) {
    for (name, unit) in [("restore", "B/s"), ("packed logical", "B")] {
        let all = values(report, "full", "space", name, unit);
        assert_eq!(all.len(), reps, "{name}: {report}");
    }
}

/// Where it is packed is a question of who is asked to.
#[test]
fn gzip_packs_on_either_host() {
    let Some(pair) = Pair::new() else { return };
    let all = ["--host", "lab", "--host", "vault", "--reps", "3"];
    let all = [
        &all[..],
        &["--method", "copy-compress"],
        &["--format", "json"],
    ]
    .concat();
    let (run, _) = pair.world.session("gzip.jsonl", &all);
    run.assert_good();
    let report = run.json();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{report}");
    for row in rows {
        assert_eq!(row["verified"]["matched"], 3, "{row}");
    }
    pair.world.assert_empty();
}

/// A server that is told to stop in the middle leaves neither a process nor a file.
#[test]
fn a_step_that_fails_ends_the_servers_of_its_run() {
    if !have_tool("proftpd") {
        return;
    }
    let Some(pair) = Pair::new() else { return };
    // What answers in place of curl.
    let bin = pair.world.path("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let fake = bin.join("curl");
    std::fs::write(&fake, "#!/bin/sh\necho 'curl: (9) no way in' >&2\nexit 9\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&fake, executable).unwrap();
    let (run, recording) = pair.world.session(
        "failed.jsonl",
        &[
            "--host",
            "lab",
            "--role",
            "target=vault",
            "--method",
            "copy-ftp",
            "--reps",
            "1",
        ],
    );
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.contains("no way in"), "{}", run.err);
    assert_eq!(processes::left_of(&recording.session()), [""; 0]);
}

/// A subject with a hole of 64 MiB: how much more is moved and stored, what keeps it, and how long that takes by earlier runs.
#[test]
fn holes_that_would_become_bytes_are_told_before() {
    let world = world::World::new();
    let data = world.path("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("small"), vec![7; 40_000]).unwrap();
    let hole = std::fs::File::create(data.join("disk.raw")).unwrap();
    hole.set_len(64 << 20).unwrap();
    let (subject, sandbox) = (format!("dir:{}", data.display()), world.text("sandbox"));
    let look = |method: &str, set: &str| {
        let all = ["check", "--method", method, "--subject", &subject];
        let said = world.run(&[&all[..], &["--sandbox", &sandbox, "--set", set]].concat());
        said.assert_good();
        said.out.replace('\n', " ")
    };
    let said = look("copy-local", "sync=true");
    assert!(said.contains("holds 64.04 MiB, of which"), "{said}");
    assert!(
        said.contains("64.00 MiB more to move and to store"),
        "{said}"
    );
    assert!(said.contains("copy-rsync with sparse=true"), "{said}");
    assert!(said.contains("no earlier run of copy-local"), "{said}");
    assert!(said.contains("needs 192.1"), "{said}");
    assert!(!look("files-tar", "sparse=true").contains("holes"));
    assert!(look("files-tar", "sparse=false").contains("--set sparse=true"));

    let run = [
        "run",
        "--method",
        "copy-local",
        "--reps",
        "1",
        "--sandbox",
        &sandbox,
    ];
    world.run(&[&run[..], &world::SMALL].concat()).assert_good();
    let said = look("copy-local", "sync=true");
    let told = "longer, there and back, by 1 earlier run of copy-local on these hosts";
    assert!(said.contains(told), "{said}");
}
