//! The figures of the Proxmox article as a recording: made again, and reported.
#![cfg(test)]

use assert_cmd::Command;
use serde_json::Value;

#[path = "../examples/article_proxmox.rs"]
#[expect(dead_code, reason = "its command line is not used here")]
mod article;

const FIGURES: &str = include_str!("../recordings/published.json");
const RECORDING: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/recordings/article-proxmox.jsonl"
);

fn report() -> Value {
    let done = Command::cargo_bin("comeback")
        .unwrap()
        .args(["report", RECORDING, "--format", "json"])
        .assert()
        .success();
    serde_json::from_slice(&done.get_output().stdout).unwrap()
}

fn of<'a>(all: &'a Value, key: &str, name: &str) -> &'a Value {
    let found = all.as_array().unwrap().iter().find(|one| one[key] == name);
    found.unwrap_or_else(|| panic!("no {name} in {all}"))
}

#[test]
fn the_recording_is_what_the_program_makes_of_the_figures() {
    let made = article::recording(FIGURES).unwrap();
    assert_eq!(made, std::fs::read_to_string(RECORDING).unwrap());
}

#[test]
fn the_report_prints_the_table_of_the_article() {
    let report = report();
    assert_eq!(report["origin"], "published");
    for (method, time, values, median) in [
        ("pve-snapshot", "restore", [2, 2, 2], 2),
        ("pve-vzdump", "restore", [57, 60, 66], 60),
        ("pve-pbs", "restore", [66, 58, 59], 59),
        ("pve-vzdump", "backup", [27, 28, 28], 28),
        ("pve-pbs", "backup", [40, 45, 48], 45),
    ] {
        let row = of(&report["rows"], "method", method);
        let time = of(&row["times"], "name", time);
        assert_eq!(time["clock"], "task");
        assert_eq!(time["resolution"], 1);
        assert_eq!(time["values"], serde_json::json!(values), "{method}");
        assert_eq!(time["median"], median);
    }
    for (method, median) in [
        ("pve-vzdump", 9_628_654_680_u64),
        ("pve-pbs", 9_619_100_093),
    ] {
        let row = of(&report["rows"], "method", method);
        assert_eq!(of(&row["space"], "name", "archive")["median"], median);
    }
    for row in report["rows"].as_array().unwrap() {
        assert_eq!(row["verified"]["matched"], 3);
        assert_eq!(row["verified"]["of"], 3);
        assert_eq!(row["verified"]["share"], "payload, 8 of 16 GiB");
        assert_eq!(row["placement"]["same_disk"], true);
    }
    let remarks = of(&report["rows"], "method", "pve-vzdump")["remarks"].to_string();
    assert!(remarks.contains("drain and the flush"), "{remarks}");
}

#[test]
fn its_verdicts_say_no_more_than_the_figures_do() {
    let report = report();
    let verdict = |a: &str, b: &str| {
        let all = report["verdicts"].as_array().unwrap().iter();
        let mut all = all.filter(|one| one["time"] == "restore");
        let is = |one: &Value| one["a"]["method"] == a && one["b"]["method"] == b;
        all.find(|one| is(one)).unwrap().clone()
    };
    let apart = verdict("pve-snapshot", "pve-vzdump");
    assert_eq!(apart["says"], "ranges do not overlap, n = 3");
    assert_eq!((&apart["low"], &apart["high"]), (&18.into(), &67.into()));
    let apart = verdict("pve-snapshot", "pve-pbs");
    assert_eq!(apart["says"], "ranges do not overlap, n = 3");
    assert_eq!((&apart["low"], &apart["high"]), (&19.into(), &67.into()));
    let none = verdict("pve-vzdump", "pve-pbs");
    assert_eq!(none["says"], "no difference shown");
}
