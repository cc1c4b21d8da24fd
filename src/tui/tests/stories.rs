//! Whole sessions and runs that are told: good ones, one that restores, one that failed.

use super::fixture::Tale;
use crate::event::{
    Clock, EndState, HostState, Level, Mark, ProgressKind, RunId, StepId, Stream, What,
};

impl Tale {
    /// A whole good run: backup and restore took so many seconds.
    pub fn run(&mut self, at: usize, backup: f64, restore: f64) {
        let run = self.start(at);
        let fine = if backup < 5.0 { 0.01 } else { 1.0 };
        let step = self.until_damage(&run, backup, fine);
        let restoring = self.step(&run, 4);
        self.print(
            &restoring,
            Stream::Out,
            "progress 100% (read 17179869184 bytes)\n",
        );
        self.wait(restore);
        self.done(&restoring, EndState::Ok, restore, fine, None);
        self.sample(&run, "restore", restore, "s", fine);
        let answer = self.step(&run, 5);
        self.wait(12.0);
        self.done(&answer, EndState::Ok, 12.81, 0.01, None);
        self.sample(&run, "first answer", 12.81, "s", 0.01);
        let hash = self.step(&run, 6);
        self.wait(6.0);
        self.proof(&hash, &run, "restored", "sha256", true);
        self.done(&hash, EndState::Ok, 6.04, 0.01, None);
        self.space(&step, &run, "archive", 9_400_000_000);
        self.undo(&run, "archive");
        self.end(&run, EndState::Ok, None);
    }

    /// The first four steps of a run; gives the one that counted bytes.
    pub fn until_damage(&mut self, run: &RunId, backup: f64, fine: f64) -> StepId {
        let step = self.step(run, 0);
        self.leave(&step, run, "archive");
        self.print(
            &step,
            Stream::Out,
            "INFO: starting new backup job: vzdump 204\n",
        );
        self.wait(backup);
        self.done(&step, EndState::Ok, backup, fine, None);
        self.sample(run, "backup", backup, "s", fine);
        self.sample(run, "rate", 342_000_000.0, "B/s", 0.0);
        let proved = self.step(run, 1);
        self.wait(4.0);
        self.proof(&proved, run, "archive", "readable", true);
        self.done(&proved, EndState::Ok, 4.12, 0.01, None);
        let space = self.step(run, 2);
        self.space(&space, run, "archive", 9_400_000_000);
        self.done(&space, EndState::Ok, 0.02, 0.01, None);
        let destroy = self.step(run, 3);
        self.wait(1.0);
        self.print(
            &destroy,
            Stream::Err,
            "  Logical volume \"vm-204-disk-0\" successfully removed.\n",
        );
        self.done(&destroy, EndState::Ok, 1.2, 0.01, None);
        space
    }

    /// Four good runs; the fifth is restoring since 41 s.
    pub fn restoring(kind: ProgressKind) -> (Self, StepId) {
        let mut tale = Self::new();
        for (at, (backup, restore)) in [(0.81, 2.0), (27.0, 57.0), (40.0, 66.0), (28.0, 60.0)]
            .into_iter()
            .enumerate()
        {
            tale.run(at + 1, backup, restore);
        }
        let run = tale.start(5);
        tale.until_damage(&run, 41.0, 1.0);
        tale.host("esx", HostState::Connecting, None);
        let step = tale.step(&run, 4);
        tale.print(&step, Stream::Out, "restore vma archive: zstd -q -d -c vzdump-qemu-204.vma.zst | vma extract -v -r /var/tmp/fifo - /var/tmp/vzdumptmp204\nCFG: size: 494 name: qemu-server.conf\nDEV: dev_id=1 size: 17179869184 devname: drive-scsi0\n");
        let total = (kind != ProgressKind::Unknown).then_some(17_179_869_184);
        for second in 1..=40_u64 {
            tale.wait(1.0);
            let done = second * 318_000_000 + (second % 7) * 21_000_000;
            tale.progress(&step, kind, done, total);
            if second % 4 == 0 {
                let percent = done * 100 / 17_179_869_184;
                tale.print(
                    &step,
                    Stream::Out,
                    &format!("progress {percent}% (read {done} bytes, duration {second} sec)\n"),
                );
            }
        }
        tale.tell(What::Mark(Mark {
            step: step.clone(),
            name: "first block".into(),
            at: 1.0,
            clock: Clock::Log,
            resolution: 1.0,
        }));
        tale.wait(1.0);
        (tale, step)
    }

    /// Each host restores: after a good run of three methods the next has come so many seconds far.
    pub fn side_by_side(hosts: &[&str], seconds: u64) -> Self {
        let mut tale = Self::on(hosts);
        for at in 0..hosts.len() {
            tale.run(at * 9 + 1, 27.0, 57.0);
        }
        for at in 0..hosts.len() {
            let run = tale.start(at * 9 + 2);
            tale.until_damage(&run, 26.0, 1.0);
            let step = tale.step(&run, 4);
            tale.print(&step, Stream::Out, "restore vma archive: zstd -q -d -c\n");
        }
        for second in 1..=seconds {
            tale.wait(1.0);
            for at in 0..hosts.len() as u64 {
                let step = StepId(format!("r{}.4", at * 9 + 2));
                let done = second * (318_000_000 - at % 8 * 30_000_000);
                tale.progress(&step, ProgressKind::Exact, done, Some(17_179_869_184));
                tale.print(&step, Stream::Out, &format!("read {done} bytes\n"));
            }
        }
        tale
    }

    /// The fifth run failed while it restored.
    pub fn failed() -> Self {
        let (mut tale, step) = Self::restoring(ProgressKind::Exact);
        let cause = "lvcreate 'pve/vm-204-disk-0' error: Insufficient free space: 4096 extents needed, but only 1210 available";
        tale.print(&step, Stream::Err, &format!("{cause}\n"));
        tale.done(&step, EndState::Failed, 41.0, 1.0, Some(cause));
        let run = RunId("r5".into());
        tale.end(&run, EndState::Failed, Some(cause));
        tale.note(Level::Warning, "thin pool pve/data is 91 % full");
        tale.note(
            Level::Error,
            "the restore failed: every copy is kept, and the session stops here",
        );
        tale
    }

    /// All nine runs, well.
    pub fn finished() -> Self {
        let mut tale = Self::new();
        let runs = [
            (0.81, 2.0),
            (27.0, 57.0),
            (40.0, 66.0),
            (28.0, 60.0),
            (41.0, 58.0),
            (0.95, 2.0),
            (40.0, 59.0),
            (1.08, 2.0),
            (28.0, 66.0),
        ];
        for (at, (backup, restore)) in runs.into_iter().enumerate() {
            tale.run(at + 1, backup, restore);
        }
        tale.tell(What::End(crate::event::End {
            exit: 0,
            reason: "done, everything verified".into(),
        }));
        tale
    }
}
