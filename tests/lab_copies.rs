//! A file by NFS, with a real server and a real mount: one machine of the lab is both.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/figures.rs"]
mod figures;
#[path = "support/going.rs"]
mod going;
#[path = "support/lease.rs"]
mod lease;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/sandboxed.rs"]
mod sandboxed;
#[path = "support/vm.rs"]
mod vm;
#[path = "support/world.rs"]
mod world;

use figures::values;
use sandboxed::{Sandboxed, assert_all_undone};
use serde_json::json;

/// Nobody waits for clients of an earlier server, of which there was none.
const SERVER: &str = "modprobe nfsd; mount -t nfsd nfsd /proc/fs/nfsd; rpc.mountd -N 3; rpc.nfsd -N 3 2; \
     echo Y >/proc/fs/nfsd/v4_end_grace";
/// An export of somebody's, with a file in it.
const THEIRS: &str = "mkdir /root/theirs; echo kept >/root/theirs/file; \
     exportfs -o rw,no_root_squash,no_subtree_check,fsid=7 127.0.0.1:/root/theirs";

const THEIR_EXPORT: &str = "export=127.0.0.1:/root/theirs";

#[test]
fn a_file_goes_into_an_export_and_comes_back() {
    let Some(mut lab) = Sandboxed::new() else {
        return;
    };
    let small =
        "--role target=lab --method copy-nfs --set size=64KiB --set files=1 --format json --reps";
    let small: Vec<_> = small.split(' ').collect();
    lab.vm.sh(&format!("{SERVER}; {THEIRS}"));
    lab.begin_here();
    let exports = lab.vm.sh("exportfs");
    // A folder of the source's own that it exports itself may be in the subject.
    let (refused, _) = lab.run(
        "inside.jsonl",
        &[
            &small[..],
            &["1", "--subject", "dir:/root/theirs", "--set", THEIR_EXPORT],
        ]
        .concat(),
    );
    assert_eq!(refused.code, 4, "{}", refused.err);
    let words = "stands in the subject /root/theirs, which is only read";
    assert!(refused.err.contains(words), "{}", refused.err);
    // The article's row three times, what it does not have once.
    for (reps, form, set, server) in [
        ("3", "form=file", "export=", "exported for the run"),
        ("1", "form=tree", THEIR_EXPORT, "127.0.0.1:/root/theirs"),
    ] {
        let sets = [reps, "--set", set, "--set", form];
        let record = format!("{form}.jsonl");
        let (run, recording) = lab.run(&record, &[&small[..], &sets].concat());
        run.assert_good();
        let report = run.json();
        let row = &report["rows"][0];
        assert_eq!(row["verified"]["matched"].to_string(), reps, "{row}");
        assert_eq!(row["labels"]["server"], server, "{row}");
        // Where the disk of a folder of ours is, is known.
        let disk = json!("vda");
        let known = if set == "export=" {
            &disk
        } else {
            &json!(null)
        };
        assert_eq!(row["placement"]["copy"], *known, "{row}");
        let all = |list, name, unit| {
            let all = values(&report, "full", list, name, unit);
            assert_eq!(all.len().to_string(), reps, "{name} in {unit}: {report}");
            all.into_iter()
        };
        let copy = match form {
            "form=file" => "copy logical",
            _ => "copy of the files logical",
        };
        for name in ["backup", "restore"] {
            let moved = all("times", name, "s").zip(all("space", name, "B/s"));
            for ((time, rate), bytes) in moved.zip(all("space", copy, "B")) {
                let moved = time * rate;
                assert!((moved - bytes).abs() < 0.001 * bytes, "{name}: {report}");
            }
        }
        assert_all_undone(&recording);
        lab.assert_nothing_left();
        assert_eq!(lab.vm.sh("exportfs"), exports);
    }
}
