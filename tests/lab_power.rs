//! The lab's machine loses its power in the middle: a session says so, and recovery takes all away.
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

use std::time::Duration;

use events::Recording;
use going::Going;
use rustix::process::Signal;
use sandboxed::Sandboxed;

/// The longest wait for an event of a machine that is emulated.
const PATIENCE: Duration = Duration::from_mins(5);
const SMALL: &str = "--reps 1 --set size=3MiB --set files=12 --method";

fn start(lab: &Sandboxed, record: &str, method: &str, steps: &[&str]) -> Going {
    let more: Vec<_> = SMALL.split(' ').chain(method.split(' ')).collect();
    let arguments = lab.arguments(record, &more);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut going = Going::start(lab.world.command(&arguments));
    going.patience = PATIENCE;
    for step in steps {
        going.until_started(step);
    }
    going
}

#[test]
fn who_is_there_is_told_and_what_others_left_is_found_in_the_journal() {
    let Some(mut lab) = Sandboxed::new() else {
        return;
    };
    lab.vm.sh(
        "zpool create -o cachefile=none tank /dev/vdb && zfs create -o compression=off tank/web && \
         dd if=/dev/urandom of=/tank/web/a bs=1M count=1 2>/dev/null && zpool sync",
    );
    lab.begin_here();
    let theirs = "zfs list -H -o name -t all -r tank; sha256sum /tank/web/a";
    let was = lab.vm.sh(theirs);

    // Sessions whose program is killed: in pools of their own, beside a named dataset, in a thin pool.
    let killed = [
        ("zfs", "zfs-send", "backup"),
        (
            "named",
            "zfs-send --subject dataset:tank/web",
            "full copy proved",
        ),
        ("lvm", "lvm-thin-snapshot", "change set"),
    ];
    for (record, method, step) in killed {
        let mut going = start(&lab, &format!("{record}.jsonl"), method, &[step]);
        if record == "named" {
            // By its mount point it is the same subject.
            let folder = "--method files-cp --reps 1 --subject dir:/tank/web";
            let (run, _) = lab.run("other.jsonl", &folder.split(' ').collect::<Vec<_>>());
            run.assert_refused(4, &["dir:/tank/web is in use by", &going.session()]);
        }
        going.signal(Signal::KILL);
        going.wait();
    }

    // And one whose program goes on.
    let mut going = start(&lab, "lives.jsonl", "btrfs-send", &["change set"]);
    lab.vm.reset();
    let ended = going.wait();
    assert_eq!(ended.code, 3, "{}", ended.err);
    let said = "it has restarted since the session began: what was mounted, attached or running there is gone";
    assert!(ended.err.contains(said), "{}", ended.err);
    assert_eq!(going.heard.exit(), Some(3));
    // What a restart takes is not said to be kept; what it leaves is.
    for (name, kept) in [("mount", false), ("loop", false), ("box", true)] {
        let says = ended.err.contains(&format!("{name} is kept"));
        assert_eq!(says, kept, "{name}: {}", ended.err);
    }
    let recording = Recording::read(&lab.world.path("lives.jsonl"));
    for (name, state, _) in recording.leaves() {
        let expected = match name.as_str() {
            "box" | "full copy" => "kept",
            _ => "undone",
        };
        assert_eq!(state, expected, "{name}");
    }

    // What was in its memory is gone, what was on its disks is not; and all of it is named.
    lab.vm.sh("zpool import -o cachefile=none tank");
    let left = lab.vm.there();
    assert!(!left.contains("/dev/loop"), "{left}");
    let named = lab.world.run(&["recover", "--host", "lab"]);
    named.assert_good();
    assert!(named.out.contains(&going.session()), "{}", named.out);
    assert_eq!(lab.vm.there(), left);
    lab.recover();
    assert_eq!(lab.vm.sh(theirs), was);
}
