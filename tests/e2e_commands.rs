//! The commands that scripts rely on: run, report and their exit codes, on this machine.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/world.rs"]
mod world;

use std::fs;

use missing::{have_root, have_tool};
use serde_json::Value;
use world::{World, entries};

const FILES: [&str; 4] = ["--method", "files-cp", "--method", "files-tar"];

/// All rows were verified in each of three repetitions.
fn assert_three_verified(report: &Value, methods: &[&str]) {
    assert_eq!(report["format"], "comeback-report/1");
    assert_eq!(report["origin"], "captured");
    let rows = report["rows"].as_array().unwrap();
    for method in methods {
        assert!(
            rows.iter().any(|row| row["method"] == *method),
            "no row of {method}: {rows:?}"
        );
    }
    for row in rows {
        assert_eq!(row["reps"], 3, "{row}");
        assert_eq!(row["states"], serde_json::json!(["ok", "ok", "ok"]));
        assert_eq!(row["verified"]["matched"], 3, "{row}");
        assert_eq!(row["verified"]["of"], 3, "{row}");
        assert_eq!(row["verified"]["algorithm"], "sha256", "{row}");
        assert_times(row);
    }
}

/// Each figure is shown with all of its values, its median and its ends.
fn assert_times(row: &Value) {
    let times = row["times"].as_array().unwrap();
    assert!(!times.is_empty(), "{row}");
    for time in times {
        let values: Vec<f64> = time["values"]
            .as_array()
            .unwrap()
            .iter()
            .map(|value| value.as_f64().unwrap())
            .collect();
        assert_eq!(values.len(), 3, "{time}");
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        assert_eq!(time["min"].as_f64(), Some(sorted[0]), "{time}");
        assert_eq!(time["median"].as_f64(), Some(sorted[1]), "{time}");
        assert_eq!(time["max"].as_f64(), Some(sorted[2]), "{time}");
        assert!(sorted[0] > 0.0, "{time}");
        assert_eq!(time["unit"], "s");
        assert_eq!(time["clock"], "host");
        assert!(time["resolution"].as_f64().unwrap() > 0.0, "{time}");
    }
}

#[test]
fn three_file_methods_are_verified_three_times_and_reported_again_byte_for_byte() {
    if !have_tool("rsync") {
        return;
    }
    let world = World::new();
    let arguments = [
        &FILES[..],
        &["--method", "files-rsync", "--reps", "3", "--format", "json"],
    ]
    .concat();
    let (run, recording) = world.session("r.jsonl", &arguments);
    run.assert_good();
    assert_three_verified(&run.json(), &["files-cp", "files-tar", "files-rsync"]);
    assert_eq!(recording.exit(), Some(0));
    assert_eq!(recording.ends(), ["ok"; 9]);
    for format in ["json", "table", "markdown", "csv"] {
        let again = world.run(&["report", "r.jsonl", "--format", format]);
        again.assert_good();
        assert!(!again.out.is_empty());
        if format == "json" {
            assert_eq!(again.out, run.out);
        }
    }
    world.assert_empty();
    let left = processes::left_of(&recording.session());
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_default_report_is_the_table_that_report_prints() {
    let world = World::new();
    let (run, _) = world.session("r.jsonl", &["--method", "files-cp", "--reps", "1"]);
    run.assert_good();
    assert_eq!(world.run(&["report", "r.jsonl"]).out, run.out);
}

#[test]
fn without_other_words_it_runs_here_and_leaves_nothing_in_the_usual_places() {
    let world = World::new();
    fs::remove_file(world.path("home/.config/comeback/config.toml")).unwrap();
    let run = world.run(&[
        "run",
        "--method",
        "files-cp",
        "--reps",
        "1",
        "--set",
        "size=64KiB",
        "--set",
        "files=2",
        "--events",
    ]);
    run.assert_good();
    let header: Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    let session = header["session"].as_str().unwrap();
    let state = if rustix::process::geteuid().is_root() {
        "/var/lib/comeback".to_owned()
    } else {
        world.text("home/.local/state/comeback")
    };
    for folder in ["/var/tmp", "/tmp", &state] {
        let left: Vec<String> = entries(folder.as_ref())
            .into_iter()
            .filter(|name| name.contains(session))
            .collect();
        assert!(left.is_empty(), "{folder}: {left:?}");
    }
    // The recording is in the data folder, and is what was said.
    let recordings = world.path("home/.local/share/comeback/recordings");
    let names = entries(&recordings);
    assert_eq!(names.len(), 1, "{names:?}");
    assert_eq!(
        fs::read_to_string(recordings.join(&names[0])).unwrap(),
        run.out
    );
}

#[test]
fn btrfs_snapshots_leave_no_loop_device_mount_or_file() {
    if !(have_root() && have_tool("mkfs.btrfs") && have_tool("losetup")) {
        return;
    }
    let world = World::new();
    let arguments = [
        "--method",
        "btrfs-snapshot",
        "--reps",
        "3",
        "--format",
        "json",
    ];
    let (run, recording) = world.session("b.jsonl", &arguments);
    run.assert_good();
    let report = run.json();
    assert_eq!(report["rows"][0]["verified"]["matched"], 3);
    let clocks: Vec<&str> = report["rows"][0]["times"]
        .as_array()
        .unwrap()
        .iter()
        .map(|time| time["name"].as_str().unwrap())
        .collect();
    for clock in [
        "snapshot",
        "rollback",
        "delete what was changed",
        "space back",
    ] {
        assert!(clocks.contains(&clock), "{clock} is not in {clocks:?}");
    }
    world.assert_empty();
    for table in ["/proc/mounts", "/proc/partitions"] {
        let text = fs::read_to_string(table).unwrap();
        assert!(!text.contains(&recording.session()), "{table}: {text}");
    }
    let loops = std::process::Command::new("losetup")
        .arg("-a")
        .output()
        .unwrap();
    let loops = String::from_utf8_lossy(&loops.stdout).into_owned();
    assert!(!loops.contains(&recording.session()), "{loops}");
}

#[test]
fn a_dry_run_shows_the_exact_commands_and_changes_nothing() {
    let world = World::new();
    let (run, recording) = world.session("r.jsonl", &["--method", "files-tar", "--dry-run"]);
    run.assert_good();
    for part in ["DESTROYS dir:", "copy.tar", "rm -rf -- ", "mkdir -m 700"] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    assert!(recording.0.is_empty());
    world.assert_empty();
}

#[test]
fn read_only_allows_probing_alone() {
    let world = World::new();
    let (run, recording) = world.session("r.jsonl", &["--method", "files-cp", "--read-only"]);
    run.assert_refused(4, &["--read-only", "comeback check"]);
    assert!(recording.0.is_empty());
    assert!(
        !world.path("r.jsonl").exists(),
        "an empty recording is left"
    );
    world
        .run(&["check", "--method", "files-cp", "--read-only"])
        .assert_good();
    world.assert_empty();
}

#[test]
fn a_host_that_the_configuration_makes_read_only_is_not_run_on() {
    let world = World::new();
    let config = world.path("home/.config/comeback/config.toml");
    fs::write(&config, "[host.local]\nread_only = true\n").unwrap();
    let (run, _) = world.session("r.jsonl", &["--method", "files-cp"]);
    run.assert_refused(4, &["local", "read-only", "config.toml"]);
    world.assert_empty();
}
