//! ZFS and Btrfs from one machine of the lab to another and back, through this machine and directly.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
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

use events::Recording;
use sandboxed::{Sandboxed, assert_all_undone};
use serde_json::json;
use vm::Vm;

const MIB: f64 = 1_048_576.0;
/// 12 files of 256 KiB, of which a change set overwrites 1, deletes 1 and creates 1.
const SMALL: &str = "--role target=second --set size=3MiB --set files=12 --format json";
/// Machines reach each other through the one that they run on. They all bear one key.
const ACQUAINTED: &str = "printf 'lab %s\\n' \"$(cut -d' ' -f1,2 /etc/ssh/ssh_host_ed25519_key.pub)\" >/root/.ssh/known_hosts && \
     printf 'Host 127.0.0.1\\n HostName 10.0.2.2\\n HostKeyAlias lab\\n' >>/root/.ssh/config";

struct Two {
    lab: Sandboxed,
    second: Vm,
    there: String,
}

impl Two {
    fn new() -> Option<Self> {
        let mut lab = Sandboxed::new()?;
        let second = Vm::start(&lab.world, "second")?;
        second.sh("mkdir -p /root/box");
        for vm in [&lab.vm, &second] {
            vm.sh(ACQUAINTED);
        }
        lab.begin_here();
        let there = second.there();
        Some(Self { lab, second, there })
    }

    /// Good, proved as often as there are rows with as many repetitions, and gone from both.
    fn run(&self, record: &str, more: &str, rows: usize, reps: usize) -> Recording {
        let more: Vec<_> = SMALL.split(' ').chain(more.split(' ')).collect();
        let (run, recording) = self.lab.run(record, &more);
        run.assert_good();
        let report = run.json();
        let all = report["rows"].as_array().unwrap();
        assert_eq!(all.len(), rows, "{report}");
        for row in all {
            assert_eq!(row["states"], json!(vec!["ok"; reps]), "{row}");
            assert_eq!(row["verified"]["matched"], reps, "{row}");
        }
        assert!(recording.of("proof").all(|proof| proof["verdict"] == true));
        assert_all_undone(&recording);
        self.lab.assert_nothing_left();
        self.second.assert_there(&self.there);
        recording
    }
}

#[test]
fn through_this_machine_three_times_the_increment_is_less_and_nothing_is_left() {
    let Some(two) = Two::new() else { return };
    let more = "--method zfs-replicate --method btrfs-replicate --reps 3 --set hashed=true --set send=compressed \
                --set zfs-replicate.recordsize=1M --set compression=zstd";
    // What is sent in part is a series of its own.
    let recording = two.run("here.jsonl", more, 4, 3);
    let through = recording.values("through");
    assert_eq!(through.len(), 12, "{through:?}");
    for both in through.chunks(2) {
        assert!(both[0] > 3.0 * MIB, "{both:?}");
        assert!(both[1] < both[0] / 2.0 && both[1] > 0.5 * MIB, "{both:?}");
    }
    assert_eq!(recording.values("full stream rate").len(), 6);
    assert_eq!(recording.values("restore").len(), 6);
}

#[test]
fn directly_it_is_sent_raw_and_comes_back() {
    let Some(two) = Two::new() else { return };
    let more = "--method zfs-replicate --reps 1 --set via=direct --set send=raw";
    let recording = two.run("direct.jsonl", more, 2, 1);
    // Nobody here counts what does not come here.
    assert!(recording.values("through").is_empty());
    for name in ["backup", "backup, incremental", "restore"] {
        assert!(recording.values(name)[0] > 0.0, "{name}");
    }
    assert!(recording.values("full stream, estimate")[0] > 3.0 * MIB);
    // A target that does not answer to that key is refused before anything is made.
    two.lab.vm.sh("rm /root/.ssh/known_hosts");
    let arguments = two.lab.arguments(
        "unknown.jsonl",
        &"--method zfs-replicate --role target=second --set via=direct"
            .split(' ')
            .collect::<Vec<_>>(),
    );
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let refused = two.lab.world.run(&arguments);
    assert_eq!(refused.code, 4, "{}", refused.err);
    assert!(refused.err.contains("second"), "{}", refused.err);
    two.second.assert_there(&two.there);
}
