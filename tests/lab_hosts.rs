//! From one machine of the lab to another and back directly, over their own SSH.
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

use sandboxed::{Sandboxed, assert_all_undone};
use serde_json::json;
use vm::Vm;

const MIB: f64 = 1_048_576.0;
/// Machines reach each other through the one that they run on. They all bear one key.
const ACQUAINTED: &str = "printf 'lab %s\\n' \"$(cut -d' ' -f1,2 /etc/ssh/ssh_host_ed25519_key.pub)\" >/root/.ssh/known_hosts && \
     printf 'Host 127.0.0.1\\n HostName 10.0.2.2\\n HostKeyAlias lab\\n' >>/root/.ssh/config";

#[test]
fn zfs_goes_raw_to_another_host_and_comes_back() {
    let Some(mut lab) = Sandboxed::new() else {
        return;
    };
    let Some(second) = Vm::start(&lab.world, "second") else {
        return;
    };
    second.sh("mkdir -p /root/box");
    for vm in [&lab.vm, &second] {
        vm.sh(ACQUAINTED);
    }
    lab.begin_here();
    let there = second.there();
    let more = "--method zfs-replicate --role target=second --reps 1 --set size=3MiB --set files=12 --set via=direct \
                --set send=raw --format json";
    let (run, recording) = lab.run("r.jsonl", &more.split(' ').collect::<Vec<_>>());
    run.assert_good();
    let report = run.json();
    let rows = report["rows"].as_array().unwrap();
    // What is sent in part is a series of its own.
    assert_eq!(rows.len(), 2, "{report}");
    for row in rows {
        assert_eq!(row["states"], json!(["ok"]), "{row}");
        assert_eq!(row["verified"]["matched"], 1, "{row}");
    }
    assert!(recording.of("proof").all(|proof| proof["verdict"] == true));
    // Nobody here counts what does not come here.
    assert!(recording.values("through").is_empty());
    for name in ["backup", "backup, incremental", "restore"] {
        assert!(recording.values(name)[0] > 0.0, "{name}");
    }
    assert!(recording.values("full stream, estimate")[0] > 3.0 * MIB);
    assert_all_undone(&recording);
    lab.assert_nothing_left();
    second.assert_there(&there);
}
