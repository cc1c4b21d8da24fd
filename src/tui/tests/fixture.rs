//! A session, told event by event.

use std::collections::BTreeMap;

use crate::event::{
    Act, ActKind, Binding, Bytes, Clock, Destroys, EndState, Event, FORMAT, Facts, Header,
    HostChange, HostState, Intended, Labels, Leave, LeaveKind, LeaveState, Level, LogChunk, Nanos,
    Note, Order, Origin, Phase, Place, Placement, Plan, PlannedCommand, PlannedRun, PlannedStep,
    Progress, ProgressKind, Proof, RunChange, RunId, RunState, Sample, Shows, Space, StepChange,
    StepEnd, StepId, StepState, Stream, Subject, What,
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
}
