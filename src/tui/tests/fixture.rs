//! Sessions, told event by event.

use std::collections::BTreeMap;

use crate::event::{
    Act, ActKind, Binding, Bytes, Clock, Destroys, EndState, Event, FORMAT, Facts, Header,
    HostChange, HostState, Intended, Labels, Leave, LeaveKind, LeaveState, Level, LogChunk, Mark,
    Nanos, Note, Order, Origin, Phase, Place, Placement, Plan, PlannedCommand, PlannedRun,
    PlannedStep, Progress, ProgressKind, Proof, RunChange, RunId, RunState, Sample, Shows, Space,
    StepChange, StepEnd, StepId, StepState, Stream, Subject, What,
};
use crate::session::Session;

/// A session that is being told.
pub(super) struct Tale {
    pub session: Session,
    /// All that was told.
    pub told: Vec<Event>,
    /// How steps that are planned from now on show that they go on.
    pub shows: Option<Shows>,
    seconds: f64,
    seq: u64,
}

/// Steps of every method here: name, phase, command, what it destroys.
const STEPS: [(&str, Phase, &str, Option<&str>); 7] = [
    (
        "backup",
        Phase::Protect,
        "vzdump 204 --mode snapshot --storage depot --compress zstd",
        None,
    ),
    (
        "archive proved",
        Phase::Account,
        "zstd -t /srv/depot/dump/vzdump-qemu-204.vma.zst",
        None,
    ),
    (
        "space",
        Phase::Account,
        "stat -c %s /srv/depot/dump/vzdump-qemu-204.vma.zst",
        None,
    ),
    (
        "destroy the guest",
        Phase::Damage,
        "qm destroy 204",
        Some("vm:204"),
    ),
    (
        "restore",
        Phase::Restore,
        "qmrestore /srv/depot/dump/vzdump-qemu-204.vma.zst 204",
        None,
    ),
    ("first answer", Phase::Ready, "wait for port 22", None),
    ("sha256", Phase::Verify, "sha256sum /srv/payload", None),
];

pub(super) const METHODS: [&str; 3] = ["guest-snapshot", "guest-archive", "guest-store"];

fn place(disk: &str, at: &str) -> Place {
    Place {
        host: "hv1".into(),
        filesystem: "ext4".into(),
        source: "/dev/mapper/data".into(),
        at: at.into(),
        disks: vec![disk.into()],
        free: Bytes(41 << 30),
    }
}

fn binding(at: usize) -> Binding {
    Binding {
        id: format!("b{at}").as_str().into(),
        method: METHODS[at].into(),
        title: "a method of a test".into(),
        family: "proxmox".into(),
        roles: BTreeMap::from([("source".into(), "hv1".into())]),
        subject: Subject {
            kind: "vm".into(),
            id: "204".into(),
            own: false,
            marked: true,
        },
        placement: Some(Placement {
            original: place("nvme0n1", "/dev/pve/data"),
            copy: place(if at == 2 { "sdb" } else { "nvme0n1" }, "/srv/depot"),
        }),
        steps: STEPS
            .iter()
            .map(|(name, phase, command, destroys)| PlannedStep {
                name: (*name).into(),
                phase: *phase,
                host: "hv1".into(),
                timed: true,
                destroys: destroys.map(|what| Destroys {
                    what: what.into(),
                    relies_on: Some("archive".into()),
                    unproved: false,
                }),
                command: (*command).into(),
            })
            .collect(),
        ..Binding::default()
    }
}

impl Tale {
    /// A header with three methods × three, interleaved; two hosts up, one on its way.
    pub fn new() -> Self {
        Self::with((0..3).map(binding).collect(), &["hv1", "store"])
    }

    /// The same methods on each of these hosts, all up: runs 1 to 9 are the first host's, and so on.
    pub fn on(hosts: &[&str]) -> Self {
        let mut all = Vec::new();
        for (at, host) in hosts.iter().enumerate() {
            for method in 0..3 {
                let mut binding = binding(method);
                binding.id = format!("b{}", at * 3 + method).as_str().into();
                binding.roles = BTreeMap::from([("source".into(), (*host).into())]);
                all.push(binding);
            }
        }
        Self::with(all, hosts)
    }

    /// Three methods a host, three times each.
    fn with(bindings: Vec<Binding>, hosts: &[&str]) -> Self {
        let planned = |at: usize| {
            let (host, rep, turn) = (at / 9, at / 3 % 3 + 1, at % 3);
            let binding = format!("b{}", host * 3 + (turn + rep - 1) % 3);
            PlannedRun {
                run: format!("r{}", at + 1).as_str().into(),
                binding: binding.as_str().into(),
                rep: rep as u32,
                beside: None,
            }
        };
        let runs = (0..bindings.len() * 3).map(planned).collect();
        let facts = |host: &str| Facts {
            system: match host {
                "store" => "Debian GNU/Linux 13 (trixie)".into(),
                _ => "PVE 9.0.3".into(),
            },
            ..Facts::default()
        };
        let header = Header {
            format: FORMAT.into(),
            program: "comeback 0.1.0".into(),
            origin: Origin::Captured,
            started: chrono::DateTime::from_timestamp(1_790_000_000, 0).unwrap(),
            session: "cb-51f0c0de".into(),
            plan: Plan {
                bindings,
                reps: 3,
                order: Order::Interleaved,
                runs,
                ..Plan::default()
            },
            facts: hosts
                .iter()
                .map(|host| ((*host).into(), facts(host)))
                .collect(),
            masked: Vec::new(),
        };
        let mut tale = Self {
            session: Session::default(),
            told: Vec::new(),
            shows: None,
            seconds: 0.0,
            seq: 0,
        };
        tale.tell(What::Header(Box::new(header)));
        for host in hosts {
            tale.host(host, HostState::Up, None);
        }
        tale
    }

    pub fn tell(&mut self, what: What) -> &mut Self {
        let event = Event {
            seq: self.seq,
            t: Nanos((self.seconds * 1e9) as u64),
            what,
        };
        self.seq += 1;
        self.session.apply(&event);
        self.told.push(event);
        self
    }

    /// Time goes on.
    pub fn wait(&mut self, seconds: f64) -> &mut Self {
        self.seconds += seconds;
        self
    }

    pub fn now(&self) -> Nanos {
        Nanos((self.seconds * 1e9) as u64)
    }

    pub fn host(&mut self, host: &str, state: HostState, reason: Option<&str>) -> &mut Self {
        self.tell(What::Host(Box::new(HostChange {
            host: host.into(),
            state,
            phase: None,
            reason: reason.map(Into::into),
            facts: None,
        })))
    }

    pub fn note(&mut self, level: Level, text: &str) -> &mut Self {
        self.tell(What::Note(Note {
            level,
            text: text.into(),
            host: Some("hv1".into()),
            run: None,
            step: None,
        }))
    }

    pub fn act(&mut self, act: ActKind) -> &mut Self {
        self.tell(What::Act(Act {
            act,
            text: String::new(),
        }))
    }

    /// Starts run `at` of the plan, from 1.
    pub fn start(&mut self, at: usize) -> RunId {
        let run = RunId(format!("r{at}"));
        let planned = self.session.header.as_ref().unwrap().plan.runs[at - 1].clone();
        self.tell(What::Run(RunChange {
            run: run.clone(),
            state: RunState::Started {
                binding: planned.binding,
                rep: planned.rep,
                order: at as u32,
                series: "full".into(),
                labels: Labels::new(),
            },
        }));
        run
    }

    pub fn end(&mut self, run: &RunId, end: EndState, cause: Option<&str>) -> &mut Self {
        let state = RunState::Ended {
            end,
            cause: cause.map(Into::into),
        };
        self.tell(What::Run(RunChange {
            run: run.clone(),
            state,
        }))
    }

    /// Starts step `at` of a run, from 0.
    pub fn step(&mut self, run: &RunId, at: usize) -> StepId {
        let (name, phase, command, destroys) = STEPS[at];
        let step = StepId(format!("{run}.{at}"));
        let binding = self.session.run_view(run).map(|run| &run.binding);
        let binding = binding.and_then(|id| self.session.binding(id));
        let planned = PlannedCommand {
            run: run.clone(),
            name: name.into(),
            phase,
            host: binding.map_or("hv1", Binding::host).into(),
            action: "run".into(),
            command: command.into(),
            timed: true,
            destroys: destroys.map(|what| Destroys {
                what: what.into(),
                relies_on: None,
                unproved: false,
            }),
            background: false,
            shows: self.shows,
            labels: Labels::new(),
        };
        self.change(&step, StepState::Planned(planned));
        self.change(&step, StepState::Started);
        step
    }

    /// Good iterations of one step.
    pub fn iterations(&mut self, run: &RunId, count: usize) {
        let like = self.session.run_view(run).unwrap().steps[0].planned.clone();
        for i in 1..=count {
            let step = StepId(format!("{run}.i{i}"));
            let planned = PlannedCommand {
                name: "rewrite".into(),
                labels: Labels::from([("i".into(), i.to_string())]),
                ..like.clone()
            };
            self.change(&step, StepState::Planned(planned));
            self.change(&step, StepState::Started);
            self.wait(3.0);
            self.done(&step, EndState::Ok, 3.0 + i as f64 / 10.0, 0.01, None);
        }
    }

    fn change(&mut self, step: &StepId, state: StepState) {
        self.tell(What::Step(Box::new(StepChange {
            step: step.clone(),
            state,
        })));
    }

    pub fn done(
        &mut self,
        step: &StepId,
        end: EndState,
        seconds: f64,
        resolution: f64,
        cause: Option<&str>,
    ) {
        self.change(
            step,
            StepState::Ended(StepEnd {
                end,
                status: vec![if end.is_good() { 0 } else { 255 }],
                seconds: Some(seconds),
                clock: Some(if resolution >= 1.0 {
                    Clock::Task
                } else {
                    Clock::Host
                }),
                resolution,
                sides: Vec::new(),
                host: None,
                here: None,
                cause: cause.map(Into::into),
            }),
        );
    }

    pub fn print(&mut self, step: &StepId, stream: Stream, text: &str) -> &mut Self {
        self.tell(What::Log(LogChunk {
            step: step.clone(),
            stream,
            offset: 0,
            text: Some(text.into()),
            base64: None,
        }))
    }

    pub fn progress(&mut self, step: &StepId, kind: ProgressKind, done: u64, total: Option<u64>) {
        let percent = total.map(|total| done as f64 / total as f64 * 100.0);
        self.tell(What::Progress(Progress {
            step: step.clone(),
            kind,
            percent,
            done: Some(Bytes(done)),
            total: total.map(Bytes),
            says: None,
        }));
    }

    pub fn sample(&mut self, run: &RunId, name: &str, value: f64, unit: &str, resolution: f64) {
        let clock = (unit == "s").then_some(if resolution >= 1.0 {
            Clock::Task
        } else {
            Clock::Host
        });
        self.tell(What::Sample(Sample {
            run: run.clone(),
            step: Some(StepId(format!("{run}.0"))),
            name: name.into(),
            series: "full".into(),
            value,
            unit: unit.into(),
            clock,
            resolution,
            labels: Labels::new(),
        }));
    }

    pub fn space(&mut self, step: &StepId, run: &RunId, name: &str, stored: u64) {
        self.tell(What::Space(Space {
            run: run.clone(),
            step: step.clone(),
            name: name.into(),
            series: "full".into(),
            logical: Some(Bytes(16 << 30)),
            stored: Some(Bytes(stored)),
            held: None,
            settled: true,
            why: None,
        }));
    }

    pub fn proof(&mut self, step: &StepId, run: &RunId, of: &str, by: &str, verdict: bool) {
        self.tell(What::Proof(Proof {
            run: run.clone(),
            step: step.clone(),
            of: of.into(),
            by: by.into(),
            series: None,
            verdict,
            expected: None,
            got: None,
            bytes: Some(Bytes(8 << 30)),
            share: "8 of 16 GiB".into(),
            differences: Vec::new(),
        }));
    }

    pub fn leave(&mut self, step: &StepId, run: &RunId, name: &str) {
        let leave = format!("{run}.{name}");
        self.tell(What::Leave(Leave {
            leave: leave.as_str().into(),
            state: LeaveState::Intended(Intended {
                run: run.clone(),
                step: step.clone(),
                host: "hv1".into(),
                name: name.into(),
                kind: LeaveKind::Copy,
                find: "true".into(),
                undo: "true".into(),
                back: None,
            }),
        }));
        let found = "depot:vzdump-qemu-204.vma.zst".to_owned();
        self.tell(What::Leave(Leave {
            leave: leave.as_str().into(),
            state: LeaveState::Found { found },
        }));
    }

    pub fn undo(&mut self, run: &RunId, name: &str) {
        self.tell(What::Leave(Leave {
            leave: format!("{run}.{name}").as_str().into(),
            state: LeaveState::Undone,
        }));
    }

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
