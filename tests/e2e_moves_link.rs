//! Copies between two network namespaces, over a link that takes 40 Mbit/s and no more: three ways in one session, three times each.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/figures.rs"]
mod figures;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/world.rs"]
mod world;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use figures::assert_no_secret;
use missing::{have_root, have_tool};
use serde_json::Value;
use world::World;

/// What the link takes in a second.
const LINK: f64 = 40e6 / 8.0;
/// What its bucket lets through at once.
const BURST: f64 = 65_536.0;

/// The link and its hosts; they end when the input does.
struct Link(Child);

impl Link {
    fn start(world: &World) -> Option<Self> {
        let tools = ["ip", "tc", "ssh", "ssh-keygen", "proftpd", "curl", "rsync"];
        if !have_root() || !tools.iter().all(|tool| have_tool(tool)) {
            return None;
        }
        let mut child = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/link"))
            .args([&world.text(""), "40mbit"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut said).unwrap();
        assert_eq!(said.trim(), "ready");
        Some(Self(child))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn three_ways_over_a_limited_link_say_what_it_takes() {
    let world = World::new();
    let Some(_link) = Link::start(&world) else {
        return;
    };
    for host in ["a", "b"] {
        world.configure(host, "state-lab");
    }
    let methods = ["copy-scp", "copy-ftp", "copy-rsync"];
    let mut all = vec!["--host", "a", "--role", "target=b", "--reps", "3"];
    for method in methods {
        all.extend(["--method", method]);
    }
    all.extend(["--set", "size=1MiB", "--format", "json"]);
    let (run, recording) = world.session("link.jsonl", &all);
    run.assert_good();
    world.assert_empty();
    assert_no_secret(&recording, "proftpd.conf");
    let report = run.json();
    let rows = report["rows"].as_array().unwrap();
    for method in methods {
        let row = |row: &&Value| row["method"] == method && row["series"] != "unchanged";
        let row = rows.iter().find(row).unwrap();
        assert_eq!(row["verified"]["matched"], 3, "{row}");
        for name in ["backup", "restore"] {
            let of = |list: &str, unit: &str| {
                let all = row[list].as_array().unwrap().iter();
                let mut found = all.filter(|one| one["name"] == name && one["unit"] == unit);
                let values = found
                    .next()
                    .map(|one| one["values"].as_array().unwrap().clone());
                let values = values.unwrap_or_default().into_iter();
                values.filter_map(|one| one.as_f64()).collect::<Vec<f64>>()
            };
            let (times, rates) = (of("times", "s"), of("space", "B/s"));
            assert_eq!((times.len(), rates.len()), (3, 3), "{row}");
            for (time, rate) in times.iter().zip(&rates) {
                // Nothing is faster than the link, however slow this machine is.
                assert!(
                    rate * time <= LINK * time + 2.0 * BURST,
                    "{method} {name}: {rate} in {time} s"
                );
                assert!(*rate > 1e4, "{method} {name}: {rate}");
            }
        }
    }
    // What curl claims stands beside what was measured, and is marked where it is another figure.
    let ftp = rows.iter().find(|row| row["method"] == "copy-ftp").unwrap();
    let space = ftp["space"].as_array().unwrap();
    let told = space
        .iter()
        .find(|one| one["name"] == "backup, as told")
        .unwrap();
    assert_eq!(told["values"].as_array().unwrap().len(), 3, "{ftp}");
}

/// What was captured over such a link: three of each, alone and both at once, none faster than the link; and rates for other disks.
#[test]
fn the_captured_session_is_told_and_carried_over() {
    let world = World::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/recordings/moves.jsonl");
    let report = world.run(&["report", file, "--format", "json"]);
    report.assert_good();
    let report = report.json();
    let rows = report["rows"].as_array().unwrap();
    for method in ["copy-scp", "copy-ftp", "copy-rsync"] {
        let own: Vec<&Value> = rows.iter().filter(|row| row["method"] == method).collect();
        // Alone and beside the other; rsync's first run and its unchanged one.
        assert_eq!(own.len(), 2, "{report}");
        for row in own {
            assert_eq!(row["verified"]["matched"], 3, "{row}");
            let rates = row["space"].as_array().unwrap().iter();
            for rate in rates.filter(|one| one["name"] == "backup" && one["unit"] == "B/s") {
                let values = rate["values"].as_array().unwrap();
                assert!(
                    values.iter().all(|one| one.as_f64().unwrap() < 1.01 * LINK),
                    "{rate}"
                );
            }
        }
    }
    let pipeline = [
        "project",
        file,
        "--disk",
        "50GB",
        "--pipeline",
        "copy-scp,copy-ftp",
    ];
    let told = world.run(&[&pipeline[..], &["--format", "json"]].concat());
    told.assert_good();
    let pipeline = &told.json()["pipelines"][0];
    assert!(
        pipeline["first"]["beside"]["n"].as_u64() >= Some(3),
        "{pipeline}"
    );
}
