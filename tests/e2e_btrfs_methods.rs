//! Methods on real Btrfs file systems: laws that hold whatever the machine, not bytes.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/methods.rs"]
mod methods;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/sabotage.rs"]
mod sabotage;
#[path = "support/world.rs"]
mod world;

use std::process::Command;

use missing::{have_root, have_tool};
use sabotage::sabotaged;
use world::World;

const MIB: f64 = 1_048_576.0;
/// Sizes that take seconds: 32 files of 1 MiB, of which a change set overwrites 3, deletes 1 and
/// creates 1.
const SMALL: [&str; 16] = [
    "--method",
    "btrfs-experiment",
    "--set",
    "size=32MiB",
    "--set",
    "files=32",
    "--set",
    "load_size=16MiB",
    "--set",
    "load_seconds=6",
    "--set",
    "load_before=0.5",
    "--set",
    "load_pause=0.2",
    "--set",
    "idle_pause=0.2",
];

fn can() -> bool {
    have_root()
        && ["mkfs.btrfs", "losetup", "fio", "pv"]
            .into_iter()
            .all(have_tool)
}

#[test]
fn three_times_every_tree_is_proved_every_figure_obeys_its_law_and_nothing_is_left() {
    if !can() {
        return;
    }
    let world = World::new();
    let mut arguments = SMALL.to_vec();
    arguments.extend(["--reps", "3", "--format", "json"]);
    let (run, recording) = world.session("r.jsonl", &arguments);
    run.assert_good();
    let row = &run.json()["rows"][0];
    assert_eq!(row["states"], serde_json::json!(["ok", "ok", "ok"]));
    assert_eq!(
        (&row["verified"]["matched"], &row["verified"]["of"]),
        (&3.into(), &3.into())
    );
    // All values stand beside their median.
    let times = row["times"].as_array().unwrap();
    for (name, count) in [
        ("snapshot, idle", 9),
        ("delete, idle", 9),
        ("snapshot, under load", 9),
        ("delete, after the load", 9),
        ("latency p99", 3),
        ("full replication", 3),
        ("incremental replication", 3),
        ("rollback", 3),
        ("space back", 3),
        ("snapshot's space back", 3),
    ] {
        let all = recording.values(name);
        assert_eq!(all.len(), count, "{name}");
        assert!(all.iter().all(|value| *value > 0.0), "{name}: {all:?}");
        let told = times.iter().find(|time| time["name"] == name).unwrap();
        assert_eq!(told["values"].as_array().unwrap().len(), count, "{told}");
        assert!(told["median"].as_f64().unwrap() > 0.0, "{told}");
    }
    let all = |name: &str| {
        let all = recording.values(name);
        assert_eq!(all.len(), 3, "{name}");
        all
    };
    assert!(all("bandwidth").iter().all(|rate| *rate > 0.0));
    // Four files of 1 MiB were replaced or deleted: held are these, and some metadata.
    for held in all("held by the first snapshot") {
        assert!((4.0 * MIB..6.0 * MIB).contains(&held), "{held}");
    }
    for change in all("change set without a snapshot") {
        assert!(change.abs() < 2.0 * MIB, "{change}");
    }
    for (full, part) in all("full stream").iter().zip(all("incremental stream")) {
        assert!(*full > 48.0 * MIB && part < full / 4.0, "{full} {part}");
    }
    let proofs: Vec<_> = recording.of("proof").collect();
    for proofs in proofs.chunks(4) {
        let of: Vec<_> = proofs
            .iter()
            .map(|proof| proof["of"].as_str().unwrap())
            .collect();
        assert_eq!(of, ["s1", "copy of s1", "copy of s2", "restored"]);
    }
    assert_eq!(proofs.len(), 12);
    assert!(proofs.iter().all(|proof| proof["verdict"] == true));
    // The load was seen while it went on.
    assert!(
        recording
            .of("progress")
            .any(|event| event["says"].is_string())
    );
    assert!(
        recording
            .of("pool")
            .any(|pool| pool["pool"] == "source, Btrfs")
    );
    world.assert_empty();
    let loops = Command::new("losetup").arg("--list").output().unwrap();
    let sandbox = world.sandbox().display().to_string();
    assert!(!String::from_utf8_lossy(&loops.stdout).contains(&sandbox));
}

#[test]
fn a_target_that_is_full_fails_the_replication_and_recover_takes_all_away() {
    if !can() {
        return;
    }
    let world = World::new();
    let run = world.run(&["methods", "show", "btrfs-experiment"]);
    run.assert_good();
    let text = include_str!("../methods/btrfs-experiment.toml");
    // A target with room for no more than half of it.
    let small = text
        .replace(
            "{{ size * 2 + load_size * 2 + 1073741824 }}",
            "{{ 126877696 }}",
        )
        .replace("limit = 97", "limit = 100")
        .replace("size=32MiB", "size=256MiB");
    // The tool has the last word here, not the look before.
    let small = small.replace(
        "use  = \"btrfs-room\"\nwith = { bytes = \"{{ need }}\"",
        "use  = \"btrfs-room\"\nwith = { bytes = \"{{ 0 }}\"",
    );
    assert_ne!(text, small);
    world.method("full-target", &small);
    let mut arguments = SMALL.to_vec();
    arguments[1] = "full-target";
    arguments[3] = "size=256MiB";
    arguments.extend(["--reps", "2"]);
    let (run, recording) = world.session("r.jsonl", &arguments);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.contains("full replication"), "{}", run.err);
    assert!(run.err.contains("No space left"), "{}", run.err);
    assert_eq!(recording.ends(), ["failed"], "the session stops there");
    // The first snapshot is a whole copy: it is kept until somebody says so.
    let kept: Vec<_> = recording.leaves();
    assert!(
        kept.iter()
            .any(|(name, state, _)| name == "s1" && state == "kept"),
        "{kept:?}"
    );
    let record = world.path("r.jsonl").display().to_string();
    let recovered = world.run(&["recover", &record, "--remove"]);
    assert_eq!(recovered.code, 0, "{}", recovered.err);
    world.assert_empty();
}

#[test]
fn what_was_sent_comes_back_from_the_copy_and_the_increment_is_a_series_of_its_own() {
    if !can() {
        return;
    }
    let world = World::new();
    let arguments = [
        "--method",
        "btrfs-send",
        "--set",
        "size=32MiB",
        "--set",
        "files=32",
        "--reps",
        "2",
    ];
    let (run, recording) = world.session("r.jsonl", &arguments);
    run.assert_good();
    let full = recording.values("full stream");
    let increments = recording.values("incremental stream");
    assert_eq!((full.len(), increments.len()), (2, 2));
    // Four files of 1 MiB were overwritten or created.
    for (full, increment) in full.iter().zip(&increments) {
        assert!((32.0 * MIB..40.0 * MIB).contains(full), "{full}");
        assert!((4.0 * MIB..6.0 * MIB).contains(increment), "{increment}");
    }
    let series = |name: &str| {
        let sample = recording.of("sample").find(|sample| sample["name"] == name);
        sample.unwrap()["series"].as_str().unwrap().to_owned()
    };
    assert_eq!(series("backup"), "full");
    assert_eq!(series("backup, incremental"), "incremental");
    let proofs: Vec<_> = recording.of("proof").collect();
    assert_eq!(proofs.len(), 6);
    assert!(proofs.iter().all(|proof| proof["verdict"] == true));
    world.assert_empty();
}

#[test]
fn what_goes_wrong_is_said_in_a_sentence_and_undone() {
    if !can() {
        return;
    }
    for (name, before, run, says) in [
        (
            "modified",
            "use  = \"btrfs-ready\"",
            "btrfs property set -f -ts {{ target }}/{{ first }} ro false",
            "was made writable",
        ),
        (
            "no-common",
            "use  = \"btrfs-ready\"",
            "btrfs subvolume delete -c {{ target }}/{{ first }}",
            "no common snapshot",
        ),
        (
            "no-size",
            "use  = \"btrfs-ready\"",
            "true",
            "the size of the increment is not known",
        ),
        (
            "full-source",
            "name     = \"change set\"",
            "dd if=/dev/zero of={{ source }}/fill bs=1M count=2000 2>/dev/null; btrfs filesystem sync {{ source }}",
            "No space left",
        ),
    ] {
        let world = World::new();
        let text = include_str!("../methods/btrfs-send.toml");
        let mut text = sabotaged(text, before, run);
        if let Some(full) = name.strip_prefix("full-") {
            let with = |image: &str| format!("pool = \"{full}\", image = \"{image}\"");
            let small = text.replacen(
                &with("{{ size * 2 + 1073741824 }}"),
                &with("{{ 268435456 }}"),
                1,
            );
            // The tool has the last word here, not the gauge.
            text = small.replace(
                &format!(
                    "use  = \"btrfs-fill\"\nwhen = \"own\"\nwith = {{ pool = \"{full}\", at = \"{{{{ box }}}}\" }}"
                ),
                "use = \"sandbox-fill\"",
            );
            assert_ne!(text, small);
        }
        world.method(name, &text);
        if name == "no-size" {
            let fragment = include_str!("../methods/fragments/btrfs-ready.toml");
            let other = fragment.replace("subvolume find-new", "subvolume find-no");
            assert_ne!(other, fragment);
            own_fragment(&world, "btrfs-ready", &other);
        }
        let more = format!("--method {name} --reps 1 --set size=8MiB --set files=16");
        let more: Vec<_> = more.split(' ').collect();
        let (run, recording) = world.session("r.jsonl", &more);
        assert_eq!(run.code, 1, "{name}: {}", run.err);
        assert!(run.err.contains(says), "{name}: {}", run.err);
        assert_eq!(recording.ends(), ["failed"], "{name}");
        let record = world.text("r.jsonl");
        let recovered = world.run(&["recover", &record, "--remove"]);
        assert_eq!(
            recovered.code, 0,
            "{name}: {}{}",
            recovered.out, recovered.err
        );
        world.assert_empty();
    }
}

/// A fragment instead of the built-in one of this name.
fn own_fragment(world: &World, name: &str, text: &str) {
    let folder = world.path("home/.config/comeback/methods/fragments");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name).with_extension("toml"), text).unwrap();
}

/// A file system of somebody's, with a subvolume in it; it goes when the test ends.
struct Theirs {
    _folder: tempfile::TempDir,
    at: std::path::PathBuf,
}

impl Theirs {
    fn new() -> Self {
        Self::sized("4G")
    }

    fn sized(size: &str) -> Self {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let at = folder.path().join("mnt");
        let theirs = Self {
            _folder: folder,
            at,
        };
        theirs.sh(&format!(
            "truncate -s {size} ../disk.img && mkfs.btrfs -q ../disk.img && mount -o loop ../disk.img . && cd \"$PWD\" && \
             btrfs subvolume create web && mkdir web/a plain && head -c 6000000 /dev/urandom >web/a/b && \
             btrfs subvolume create outer && btrfs subvolume create outer/inner && sync",
        ));
        theirs
    }

    fn sh(&self, text: &str) -> String {
        std::fs::create_dir_all(&self.at).unwrap();
        let mut shell = Command::new("sh");
        let ran = shell.args(["-ec", text]).current_dir(&self.at);
        let ran = ran.output().unwrap();
        assert!(ran.status.success(), "{text}: {ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    }

    /// All that is in it, and when it was changed.
    fn there(&self) -> String {
        let all = "find . | sort; btrfs subvolume list -a . | sed 's, gen [0-9]*,,'; find web -printf '%p %T@ %C@\\n' | sort; sha256sum web/a/b";
        self.sh(all)
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.at).status();
    }
}

#[test]
fn a_named_subvolume_is_only_read_and_comes_back_beside_it() {
    if !can() {
        return;
    }
    let theirs = Theirs::new();
    let was = theirs.there();
    let world = World::new();
    let subject = |name: &str| format!("subvolume:{}", theirs.at.join(name).display());
    let named = ["--method", "btrfs-send", "--reps", "1", "--subject"];
    let with = |subject: &str, more: &[&str]| -> Vec<String> {
        let all = named.iter().chain([&subject]).chain(more);
        all.map(ToString::to_string).collect()
    };
    let session = |record: &str, arguments: &[String]| {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        world.session(record, &arguments)
    };
    // Refused before anything begins: there is no recording.
    let refused = |record: &str, arguments: &[String]| {
        let arguments = world.arguments(
            record,
            &arguments.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        world.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let (run, recording) = session("r.jsonl", &with(&subject("web"), &[]));
    run.assert_good();
    assert!(recording.values("full stream")[0] > 6e6);
    assert_eq!(recording.values("restore").len(), 1);
    for (name, state, _) in recording.leaves() {
        assert_eq!(state, "undone", "{name}");
    }
    assert_eq!(theirs.there(), was);

    // What is no subvolume, and what stands elsewhere.
    let elsewhere = format!("beside={}", world.sandbox().display());
    for (record, name, more, says) in [
        ("plain.jsonl", "plain", vec![], "is no subvolume"),
        ("outer.jsonl", "outer", vec![], "holds subvolumes"),
        (
            "elsewhere.jsonl",
            "web",
            vec!["--set", elsewhere.as_str()],
            "not in the file system of",
        ),
    ] {
        let run = refused(record, &with(&subject(name), &more));
        assert_eq!(run.code, 4, "{}", run.err);
        assert!(run.err.contains(says), "{}", run.err);
        assert_eq!(theirs.there(), was);
    }
    world.assert_empty();
}

#[test]
fn beside_a_named_subvolume_nothing_is_open_and_the_disk_and_the_metadata_are_known() {
    if !can() {
        return;
    }
    let theirs = Theirs::new();
    theirs.sh("chmod 755 . .. && mkdir -m 700 closed && mv web closed/web");
    let was = theirs.sh("find . | sort");
    let world = World::new();
    let look = "[ \"$(stat -c %a -- {{ source }})\" = 700 ] && \
                ! setpriv --reuid 65534 --regid 65534 --clear-groups ls -- {{ source }}/{{ first }}";
    let text = include_str!("../methods/btrfs-send.toml");
    world.method("looked", &sabotaged(text, "name   = \"backup\"", look));
    let subject = format!("subvolume:{}", theirs.at.join("closed/web").display());
    let beside = format!("beside={}", theirs.at.display());
    let more = ["--reps", "1", "--subject", &subject, "--set", &beside];
    let more = [&["--method", "looked", "--format", "json"], &more[..]].concat();
    let (run, recording) = world.session("r.jsonl", &more);
    run.assert_good();
    let placement = &run.json()["rows"][0]["placement"];
    assert_eq!(placement["same_disk"], true, "{placement}");
    let theirs_is = |pool: &&serde_json::Value| {
        let name = pool["pool"].as_str().unwrap();
        name.starts_with("file system of")
    };
    let pool = recording.of("pool").find(theirs_is).unwrap();
    let (data, metadata) = (&pool["data"], &pool["metadata"]);
    assert!(data["total"].as_u64().unwrap() > 3 << 30, "{pool}");
    let of = |key: &str| metadata[key].as_u64().unwrap();
    assert!(of("used") > 0 && of("used") < of("total") / 10, "{pool}");
    assert_eq!(theirs.sh("find . | sort"), was);
    world.assert_empty();
}

#[test]
fn a_named_subvolume_needs_room_for_what_comes_back_too() {
    if !can() {
        return;
    }
    let theirs = Theirs::sized("300M");
    theirs.sh("head -c 120M /dev/urandom >web/large && sync");
    let was = theirs.there();
    let world = World::new();
    // A tree whose size cannot be told in time, and a gauge that leaves the last word to the look.
    let text = include_str!("../methods/btrfs-send.toml");
    let late = text.replace("timeout 20 du", "false du");
    assert_ne!(late, text);
    world.method("late", &late);
    let fragment = include_str!("../methods/fragments/btrfs-theirs.toml");
    own_fragment(&world, "btrfs-theirs", &fragment.replace("1GiB", "1MiB"));
    let subject = format!("subvolume:{}", theirs.at.join("web").display());
    let more = ["--method", "late", "--reps", "1", "--subject", &subject];
    let (run, recording) = world.session("r.jsonl", &more);
    assert_eq!(run.code, 1, "{}", run.err);
    let says = "no room for the copy and what comes back of it";
    assert!(run.err.contains(says), "{}", run.err);
    assert_eq!(recording.ends(), ["failed"]);
    assert_eq!(theirs.there(), was);
    world.assert_empty();
}

/// What is sent and comes back is what is allocated: once a file of several names, and no holes.
#[test]
fn holes_and_hard_links_of_a_named_subvolume_need_no_room() {
    if !can() {
        return;
    }
    let theirs = Theirs::sized("300M");
    theirs.sh("truncate -s 100M web/sparse && for i in 1 2 3 4; do ln web/a/b web/name$i; done");
    theirs.sh("head -c 6M /dev/urandom >>web/a/b && sync");
    let was = theirs.there();
    let world = World::new();
    // A gauge that leaves the last word to the looks.
    let fragment = include_str!("../methods/fragments/btrfs-theirs.toml");
    own_fragment(&world, "btrfs-theirs", &fragment.replace("1GiB", "1MiB"));
    let subject = format!("subvolume:{}", theirs.at.join("web").display());
    let more = [
        "--method",
        "btrfs-send",
        "--reps",
        "1",
        "--subject",
        &subject,
    ];
    let (run, recording) = world.session("r.jsonl", &more);
    run.assert_good();
    let value = |value: &serde_json::Value| value["value"].as_str()?.trim().parse().ok();
    let need = recording.of("value").find(|value| value["name"] == "need");
    let need: f64 = need.and_then(value).unwrap();
    let sent = recording.values("full stream")[0];
    assert!((12e6..14e6).contains(&need), "{need}");
    assert!((need * 0.95..need * 1.05).contains(&sent), "{need} {sent}");
    assert_eq!(theirs.there(), was);
    world.assert_empty();
}
