//! Backups into a repository by the tools that people pick instead: first, unchanged, checked, and back; three times each.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/figures.rs"]
mod figures;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/world.rs"]
mod world;

use events::Recording;
use figures::{assert_no_secret, values};
use missing::have_tool;
use serde_json::{Value, json};
use world::World;

/// Three repetitions into a folder of its own: all proved, an unchanged run without a rate, the password nowhere.
fn kept(world: &World, method: &str, store: &str) -> (Value, Recording) {
    let other = world.path("second disk");
    std::fs::create_dir_all(&other).unwrap();
    let to = format!("to={}", other.display());
    let all = ["--method", method, "--reps", "3", "--format", "json"];
    let record = format!("{method}.jsonl");
    let (run, recording) = world.session(&record, &[&all[..], &["--set", &to]].concat());
    run.assert_good();
    let report = run.json();
    let rows = report["rows"].as_array().unwrap();
    for row in rows {
        assert_eq!(row["states"], json!(["ok", "ok", "ok"]), "{row}");
        assert_eq!(row["verified"]["matched"], 3, "{row}");
    }
    for (series, name) in [
        ("first", "backup"),
        ("first", "restore"),
        ("first", "check"),
    ] {
        assert_eq!(values(&report, series, "times", name, "s").len(), 3);
    }
    for name in ["backup", "restore"] {
        let times = values(&report, "first", "times", name, "s");
        let rates = values(&report, "first", "space", name, "B/s");
        let bytes = times.iter().zip(&rates).map(|(time, rate)| time * rate);
        assert!(bytes.clone().count() == 3, "{report}");
        // The tree has 256 KiB, and names and links in it.
        assert!(
            bytes
                .into_iter()
                .all(|bytes| (262_144.0..400_000.0).contains(&bytes))
        );
    }
    let unchanged = values(&report, "unchanged", "times", "backup, unchanged", "s");
    assert_eq!(unchanged.len(), 3, "{report}");
    let rows = report["rows"].to_string();
    assert!(
        !rows.contains(r#""name":"backup, unchanged","unit":"B/s""#),
        "{rows}"
    );
    // What has not changed is read, and adds next to nothing; the first time all of it is new.
    let added = |series| values(&report, series, "space", "added", "B");
    assert!(
        added("first").iter().all(|bytes| *bytes > 262_144.0),
        "{report}"
    );
    assert!(
        added("unchanged").iter().all(|bytes| *bytes < 65_536.0),
        "{report}"
    );
    let stored = values(&report, "first", "space", "repository", "B");
    assert!(stored.iter().all(|bytes| *bytes > 262_144.0), "{report}");
    for name in ["original logical", "came back logical", "came back"] {
        let bytes = values(&report, "first", "space", name, "B");
        assert!(bytes.iter().all(|bytes| *bytes > 262_143.0), "{name}");
        assert_eq!(bytes.len(), 3, "{report}");
    }
    assert_no_secret(&recording, store);
    assert_eq!(world::entries(&other), [""; 0]);
    world.assert_empty();
    (report, recording)
}

#[test]
fn restic_keeps_a_tree_and_gives_it_back() {
    if have_tool("restic") {
        kept(&World::new(), "restic", "-restic");
    }
}

#[test]
fn borg_keeps_a_tree_and_gives_it_back() {
    if have_tool("borg") {
        kept(&World::new(), "borg", "-borg");
    }
}

/// Holes are told before; they come back as holes where that is asked for, and where the tool can.
#[test]
fn holes_come_back_from_a_store_where_that_is_asked_for() {
    if !have_tool("borg") || !have_tool("restic") {
        return;
    }
    let world = World::new();
    let data = world.path("data");
    std::fs::create_dir(&data).unwrap();
    let hole = std::fs::File::create(data.join("disk.raw")).unwrap();
    hole.set_len(16 << 20).unwrap();
    let (subject, sandbox) = (format!("dir:{}", data.display()), world.text("sandbox"));
    let place = ["--subject", &subject, "--sandbox", &sandbox];
    let look = |method: &str, set: &str| {
        let all = ["check", "--method", method, "--set", set];
        world.run(&[&all[..], &place].concat()).out
    };
    for method in ["borg", "restic"] {
        assert!(look(method, "sparse=false").contains("--set sparse=true"));
        assert!(!look(method, "sparse=true").contains("bytes of its holes"));
    }
    let run = ["run", "--method", "borg", "--reps", "1", "--format", "json"];
    let ended = world.run(&[&run[..], &place, &["--set", "sparse=true"]].concat());
    ended.assert_good();
    let bytes = |name| values(&ended.json(), "first", "space", name, "B")[0];
    assert!(bytes("came back logical") > 16e6 && bytes("came back") < 1e6);
}

/// A store that was damaged is no copy: its check fails before anything is deleted, and all stays where it is, with the
/// password that it needs.
#[test]
fn a_store_that_is_damaged_is_found_before_it_is_relied_on() {
    if !have_tool("restic") {
        return;
    }
    let world = World::new();
    let text = std::fs::read_to_string("methods/restic.toml").unwrap();
    let damage = "[[step]]\nname = \"rot\"\nphase = \"account\"\nrun = '''for f in {{ repo }}/data/*/*; do chmod u+w \"$f\" && printf rot | dd of=\"$f\" conv=notrunc bs=1 seek=100 2>/dev/null; done'''\n\n[[step]]\nname   = \"check\"";
    let damaged = text.replacen("[[step]]\nname   = \"check\"", damage, 1);
    assert_ne!(damaged, text);
    world.method("rotten", &damaged);
    let (run, recording) = world.session("rotten.jsonl", &["--method", "rotten", "--reps", "1"]);
    assert_eq!(run.code, 1, "{}\n{}", run.out, run.err);
    assert!(run.err.contains("check"), "{}", run.err);
    let steps: Vec<String> = recording.of("step").map(ToString::to_string).collect();
    assert!(
        !steps
            .iter()
            .any(|step| step.contains("delete the original"))
    );
    let left = world::entries(&world.sandbox());
    assert!(
        left.iter().any(|name| name.ends_with("-restic")),
        "{left:?}"
    );
    let scratch = left.iter().find(|name| !name.ends_with("-restic")).unwrap();
    assert!(
        world.sandbox().join(scratch).join("password").is_file(),
        "{left:?}"
    );
    world.run(&["recover", "--remove"]).assert_good();
    world.assert_empty();
}
