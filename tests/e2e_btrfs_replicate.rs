//! Btrfs from one host to another and back: two real SSH servers, file systems on loop devices.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/pair.rs"]
mod pair;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/world.rs"]
mod world;

use missing::{have_root, have_tool};
use pair::Pair;

const MIB: f64 = 1_048_576.0;

#[test]
fn it_goes_to_another_host_as_a_whole_then_in_part_and_comes_back() {
    if !(have_root() && ["mkfs.btrfs", "losetup"].into_iter().all(have_tool)) {
        return;
    }
    let Some(pair) = Pair::new() else { return };
    pair.acquaint();
    let run = |record: &str, sets: &[&str]| {
        let fixed = "--host lab --role target=vault --method btrfs-replicate --reps 1 --set size=8MiB --set files=16";
        let mut all: Vec<&str> = fixed.split(' ').collect();
        all.extend(sets.iter().flat_map(|set| ["--set", *set]));
        let (run, recording) = pair.world.session(record, &all);
        run.assert_good();
        for (name, state, _) in recording.leaves() {
            assert_eq!(state, "undone", "{name}");
        }
        let proofs: Vec<_> = recording.of("proof").collect();
        assert_eq!(proofs.len(), 3);
        assert!(proofs.iter().all(|proof| proof["verdict"] == true));
        pair.world.assert_empty();
        recording
    };
    // Through this machine it is counted and hashed.
    let here = run("here.jsonl", &["hashed=true", "snapshots=1,2"]);
    let through = here.values("through");
    assert!(through[1] < through[0] && through[1] > MIB, "{through:?}");
    assert!(through[0] > 8.0 * MIB, "{through:?}");
    assert_eq!(here.values("full stream rate").len(), 1);
    assert_eq!(here.values("many: account").len(), 2);
    // What so many snapshots hold, by Btrfs itself: of each number a series. Nothing was changed since.
    let held = here.of("space");
    let held: Vec<_> = held
        .filter(|space| space["name"] == "many: snapshots")
        .collect();
    assert_eq!(held.len(), 2);
    for space in held {
        assert!(space["held"].as_f64().unwrap() < MIB, "{space}");
        assert_eq!(space["settled"], true, "{space}");
    }
    let report = ["report", "here.jsonl", "--format", "json"];
    let report = pair.world.run(&report).json();
    let series = report["rows"][0]["space"].as_array().unwrap();
    let series = series
        .iter()
        .filter(|space| space["name"] == "many: snapshots held");
    let counts: Vec<_> = series
        .map(|space| space["labels"]["count"].clone())
        .collect();
    assert_eq!(counts, ["1", "2"], "{report}");
    // What nobody tells is not there, and it is said why.
    for name in ["full stream, estimate", "incremental stream, estimate"] {
        let mut told = here.of("space");
        let estimate = told.find(|space| space["name"] == name).unwrap();
        assert_eq!(
            estimate["why"],
            "not available, because btrfs send tells none"
        );
        assert!(estimate["logical"].is_null(), "{estimate}");
    }
    // Directly nobody counts it; the extents go as they are.
    let direct = run(
        "direct.jsonl",
        &["via=direct", "compression=zstd", "send=compressed"],
    );
    assert!(direct.values("through").is_empty());
    assert_eq!(direct.values("restore").len(), 1);
}
