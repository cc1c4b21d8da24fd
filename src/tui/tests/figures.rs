//! Sessions whose figures are looked at: many, failed, cold and warm, on pools, on two hosts.

use crate::event::{
    BindingId, Bytes, Clock, EndState, Fill, Intended, Leave, LeaveKind, LeaveState, Phase, Pool,
    RunId, Space, StepId, What,
};
use crate::session::story::Story;

/// Seconds of one run: backup, restore, first answer.
pub(super) type Times = [f64; 3];

/// A step that is done, with its time.
fn timed(story: &mut Story, run: &RunId, name: &str, phase: Phase, seconds: f64) {
    let step = story.step(run, name, phase);
    story.step_done(&step, EndState::Ok);
    let (clock, resolution) = if seconds.fract() == 0.0 {
        (Clock::Task, 1.0)
    } else {
        (Clock::Host, 1e-6)
    };
    story.seconds(run, name, clock, resolution, seconds);
    if let Some(What::Sample(sample)) = story.told.last_mut() {
        sample.step = Some(step);
    }
}

/// What one run leaves in a pool, and how full that is then.
fn pool(story: &mut Story, used: u64, meta: u64) {
    story.tell(What::Pool(Pool {
        host: "pve1".into(),
        pool: "thin pool pve/data".into(),
        data: Fill {
            used: Bytes(used << 20),
            total: Bytes(64 << 30),
        },
        metadata: Some(Fill {
            used: Bytes(meta << 20),
            total: Bytes(1 << 30),
        }),
    }));
}

fn stored(story: &mut Story, run: &RunId, name: &str, bytes: u64, held: Option<u64>) -> StepId {
    let step = story.step(run, name, Phase::Account);
    story.step_done(&step, EndState::Ok);
    story.tell(What::Space(Space {
        run: run.clone(),
        step: step.clone(),
        name: name.into(),
        series: String::new(),
        logical: Some(Bytes(16 << 30)),
        stored: Some(Bytes(bytes)),
        held: held.map(Bytes),
        settled: held.is_none(),
        why: held.map(|_| "it still moved after 30 s".into()),
    }));
    step
}

pub(super) fn good(story: &mut Story, binding: &BindingId, [backup, restore, answer]: Times) {
    let run = story.run(binding, "full");
    timed(story, &run, "backup", Phase::Protect, backup);
    stored(
        story,
        &run,
        "archive",
        9_600_000_000 + backup as u64 * 1_000_000,
        None,
    );
    timed(story, &run, "restore", Phase::Restore, restore);
    timed(story, &run, "first answer", Phase::Ready, answer);
    story.proved(&run, true);
    story.done(&run, EndState::Ok);
}

/// So many methods of a hypervisor, so many times each; each slower than the one before.
pub(super) fn ways(methods: usize, reps: usize) -> Story {
    let mut story = Story::new();
    let names = [
        "pve-snapshot",
        "pve-vzdump",
        "pve-pbs",
        "zfs-send",
        "lvm-image",
        "files-tar",
        "files-rsync",
        "guest-agent-freeze-and-copy",
    ];
    let ids: Vec<BindingId> = names
        .iter()
        .take(methods)
        .map(|method| story.binding(method, "pve1"))
        .collect();
    for rep in 0..reps {
        for (at, id) in ids.iter().enumerate() {
            let spread = (rep * 7 % 5) as f64;
            let restore = match at {
                0 => 2.0,
                1 | 2 => 57.0 + 2.0 * spread,
                _ => 30.0 * at as f64 + spread,
            };
            good(
                &mut story,
                id,
                [0.81 + 13.6 * at as f64, restore, 12.81 + spread / 10.0],
            );
        }
    }
    story.end();
    story
}

/// Two hosts with the same two methods; only one of them is fast.
pub(super) fn two_hosts() -> Story {
    let mut story = Story::new();
    let mut ids = Vec::new();
    for (host, factor) in [("hv1", 1.0), ("hv2", 3.5)] {
        for (method, seconds) in [("files-cp", 1.35), ("files-tar", 2.15)] {
            ids.push((story.binding(method, host), seconds * factor));
        }
    }
    for rep in 0..4 {
        for (id, seconds) in &ids {
            let spread = f64::from(rep) * 0.0103;
            good(&mut story, id, [seconds * 0.6, seconds + spread, 0.251]);
        }
    }
    story.end();
    story
}

/// A first copy and one of what has not changed, beside a full one.
pub(super) fn series() -> Story {
    let mut story = Story::new();
    let rsync = story.binding("files-rsync", "h1");
    let tar = story.binding("files-tar", "h1");
    for rep in 0..4 {
        let more = f64::from(rep) * 0.0131;
        let run = story.run(&rsync, "first");
        timed(&mut story, &run, "backup", Phase::Protect, 1.5463 + more);
        story.sample(&run, "first", "sent", 1_074_033_074.0, "B", &[]);
        story.sample(
            &run,
            "unchanged",
            "backup, unchanged",
            0.0757 + more / 9.0,
            "s",
            &[],
        );
        story.sample(&run, "unchanged", "sent", 9049.0, "B", &[]);
        timed(&mut story, &run, "restore", Phase::Restore, 3.343 + more);
        story.proved(&run, true);
        story.done(&run, EndState::Ok);
        good(&mut story, &tar, [1.2204 + more, 1.4646 + more, 0.0511]);
    }
    story.end();
    story
}

/// Failed, stopped, lost and unverified runs, cold and warm ones, one that goes on, a slow first
/// one, a trend, and one method with many runs.
pub(super) fn mishaps() -> Story {
    let mut story = Story::new();
    let tar = story.binding("files-tar", "h1");
    for (seconds, cache, end, proof) in [
        (9.0125, "cold", EndState::Ok, Some(true)),
        (5.1301, "warm", EndState::Ok, Some(true)),
        (5.2222, "warm", EndState::Failed, None),
        (5.1904, "warm", EndState::Warnings, Some(true)),
        (4.0703, "warm", EndState::Ok, None),
        (1.0114, "warm", EndState::Stopped, None),
        (5.1517, "warm", EndState::Lost, None),
    ] {
        let run = story.labelled(&tar, "full", &[("cache", cache), ("load", "idle")]);
        timed(&mut story, &run, "backup", Phase::Protect, seconds / 2.0);
        if end != EndState::Stopped {
            timed(&mut story, &run, "restore", Phase::Restore, seconds);
        }
        if let Some(proof) = proof {
            story.proved(&run, proof);
        }
        story.done(&run, end);
    }
    let many = story.binding("pve-vzdump", "h1");
    for rep in 0..14 {
        let run = story.labelled(&many, "full", &[("cache", "cold"), ("load", "fio")]);
        timed(
            &mut story,
            &run,
            "backup",
            Phase::Protect,
            28.0 + f64::from(rep % 3),
        );
        timed(
            &mut story,
            &run,
            "restore",
            Phase::Restore,
            57.0 + f64::from(rep * 5 % 8),
        );
        story.proved(&run, true);
        story.done(&run, EndState::Ok);
    }
    let slows = story.binding("zfs-send", "h1");
    for seconds in [0.0, 3.0, 6.0] {
        let run = story.labelled(&slows, "full", &[("cache", "cold")]);
        timed(&mut story, &run, "restore", Phase::Restore, seconds);
        story.proved(&run, true);
        story.done(&run, EndState::Ok);
    }
    let run = story.labelled(&slows, "full", &[("cache", "cold")]);
    timed(&mut story, &run, "restore", Phase::Restore, 9.0);
    story
}

/// A thin pool that fills and is emptied again, a snapshot that holds bytes, what goes over the
/// network, and what is still out.
pub(super) fn pools() -> Story {
    let mut story = Story::new();
    let ids = [
        story.binding("lvm-snapshot", "pve1"),
        story.binding("files-stream", "pve1"),
    ];
    pool(&mut story, 39_900, 30);
    let mut leaves = 0;
    for rep in 0..2 {
        for (at, id) in ids.iter().enumerate() {
            let run = story.run(id, "full");
            let step = stored(&mut story, &run, "snapshot", 9_600_000_000, Some(512 << 20));
            pool(&mut story, 40_900 + 700 * at as u64, 32);
            let kept = rep == 1 && at == 1;
            for name in ["sandbox", "copy"] {
                leaves += 1;
                leave(
                    &mut story,
                    &run,
                    &step,
                    (name, leaves),
                    kept && name == "copy",
                );
            }
            story.sample(&run, "full", "through", 16.5e9, "B", &[]);
            if let Some(What::Sample(sample)) = story.told.last_mut() {
                sample.step = Some(step);
            }
            story.sample(&run, "full", "held by the snapshot", 5.37e8, "B", &[]);
            timed(&mut story, &run, "restore", Phase::Restore, 41.0);
            story.proved(&run, true);
            story.done(&run, EndState::Ok);
            pool(&mut story, 40_100, 31);
        }
    }
    story.end();
    story
}

fn leave(story: &mut Story, run: &RunId, step: &StepId, (name, at): (&str, u32), kept: bool) {
    let intended = Intended {
        run: run.clone(),
        step: step.clone(),
        host: "pve1".into(),
        name: name.into(),
        kind: LeaveKind::Copy,
        find: "ls".into(),
        undo: "lvremove -y pve/cb-copy".into(),
        back: None,
    };
    let end = if kept {
        LeaveState::Kept {
            why: "the restore is not proved".into(),
        }
    } else {
        LeaveState::Undone
    };
    let found = LeaveState::Found {
        found: format!("pve/cb-{name}-{at}"),
    };
    for state in [LeaveState::Intended(intended), found, end] {
        story.tell(What::Leave(Leave {
            leave: format!("l{at}").as_str().into(),
            state,
        }));
    }
}
