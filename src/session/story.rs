//! Sessions made up for tests, event by event.
//!
//! ```text
//! let mut story = Story::new();
//! let vzdump = story.binding("pve-vzdump", "pve1");
//! let run = story.run(&vzdump, "full");
//! story.seconds(&run, "restore", Clock::Task, 1.0, 57.0);
//! story.proved(&run, true);
//! story.done(&run, EndState::Ok);
//! let session = story.session();
//! ```

mod everything;

use std::collections::BTreeMap;

use crate::event::{
    Binding, BindingId, Bytes, Clock, DiskFact, End, EndState, Event, FORMAT, Facts, Header,
    Labels, Level, LogChunk, Nanos, Note, Order, Origin, Phase, Place, Placement, Plan,
    PlannedCommand, PlannedRun, Proof, Published, RunChange, RunId, RunState, Sample, Space,
    StepChange, StepEnd, StepId, StepState, Stream, Subject, What,
};

use super::Session;
pub(crate) use everything::everything;

/// Builds a recording's events; time goes on by 10 ms an event.
pub(crate) struct Story {
    pub header: Header,
    /// What happened after the header.
    pub told: Vec<What>,
    runs: u32,
    steps: u32,
}

impl Story {
    pub fn new() -> Self {
        Self {
            header: Header {
                format: FORMAT.to_owned(),
                program: "comeback 0.1.0".to_owned(),
                origin: Origin::Captured,
                started: chrono::DateTime::from_timestamp(1_780_000_000, 0).unwrap(),
                session: "cb-0a1b2c3d".into(),
                plan: Plan {
                    reps: 3,
                    order: Order::Interleaved,
                    ..Plan::default()
                },
                facts: BTreeMap::new(),
                masked: Vec::new(),
            },
            told: Vec::new(),
            runs: 0,
            steps: 0,
        }
    }

    /// A method bound to a host, with facts and a placement on one disk.
    pub fn binding(&mut self, method: &str, host: &str) -> BindingId {
        let id = BindingId(format!("b{}", self.header.plan.bindings.len() + 1));
        self.header
            .facts
            .entry(host.to_owned())
            .or_insert_with(|| facts(host));
        let place = Place {
            host: host.to_owned(),
            filesystem: "ext4".to_owned(),
            source: "/dev/sda1".to_owned(),
            at: "/srv".to_owned(),
            disks: vec!["sda".to_owned()],
            free: Bytes(40 << 30),
        };
        self.header.plan.bindings.push(Binding {
            id: id.clone(),
            method: method.to_owned(),
            title: format!("{method}, as a test"),
            roles: BTreeMap::from([("source".to_owned(), host.to_owned())]),
            subject: Subject {
                kind: "dir".to_owned(),
                id: "/srv/data".to_owned(),
                ..Subject::default()
            },
            placement: Some(Placement {
                original: place.clone(),
                copy: place,
            }),
            ..Binding::default()
        });
        id
    }

    /// The binding, to change it before the story is told.
    pub fn bound(&mut self, id: &BindingId) -> &mut Binding {
        self.header
            .plan
            .bindings
            .iter_mut()
            .find(|binding| binding.id == *id)
            .unwrap()
    }

    /// Plans and starts the next run of a binding.
    pub fn run(&mut self, binding: &BindingId, series: &str) -> RunId {
        self.labelled(binding, series, &[])
    }

    /// The same with labels.
    pub fn labelled(
        &mut self,
        binding: &BindingId,
        series: &str,
        labels: &[(&str, &str)],
    ) -> RunId {
        self.runs += 1;
        let run = RunId(format!("r{}", self.runs));
        let before = self.header.plan.runs.iter();
        let rep = before.filter(|run| run.binding == *binding).count() as u32 + 1;
        self.header.plan.runs.push(PlannedRun {
            run: run.clone(),
            binding: binding.clone(),
            rep,
            beside: None,
        });
        self.tell(What::Run(RunChange {
            run: run.clone(),
            state: RunState::Started {
                binding: binding.clone(),
                rep,
                order: self.runs,
                series: series.to_owned(),
                labels: labels_of(labels),
            },
        }));
        run
    }

    /// A time of the run's own series, which it takes from its last start.
    pub fn seconds(&mut self, run: &RunId, name: &str, clock: Clock, resolution: f64, value: f64) {
        let series = self.series(run);
        self.sample(run, &series, name, value, "s", &[]);
        if let Some(What::Sample(sample)) = self.told.last_mut() {
            sample.clock = Some(clock);
            sample.resolution = resolution;
        }
    }

    /// Any figure of any series.
    pub fn sample(
        &mut self,
        run: &RunId,
        series: &str,
        name: &str,
        value: f64,
        unit: &str,
        labels: &[(&str, &str)],
    ) {
        self.tell(What::Sample(Sample {
            run: run.clone(),
            step: None,
            name: name.to_owned(),
            series: series.to_owned(),
            value,
            unit: unit.to_owned(),
            clock: (unit == "s").then_some(Clock::Host),
            resolution: 0.0,
            labels: labels_of(labels),
        }));
    }

    /// What was told last.
    pub fn last(&mut self) -> Option<&mut What> {
        self.told.last_mut()
    }

    /// Stored bytes, settled.
    pub fn stored(&mut self, run: &RunId, name: &str, bytes: u64) {
        let series = self.series(run);
        self.tell(What::Space(Space {
            run: run.clone(),
            step: "s0".into(),
            name: name.to_owned(),
            series,
            logical: None,
            stored: Some(Bytes(bytes)),
            held: None,
            settled: true,
            why: None,
        }));
    }

    /// The final proof of a run.
    pub fn proved(&mut self, run: &RunId, verdict: bool) {
        self.tell(What::Proof(Proof {
            run: run.clone(),
            step: "s0".into(),
            of: "restored".to_owned(),
            by: "sha256".to_owned(),
            series: None,
            verdict,
            expected: None,
            got: None,
            bytes: Some(Bytes(1 << 30)),
            share: "all of 1 GiB".to_owned(),
            differences: Vec::new(),
        }));
    }

    /// The end of a run.
    pub fn done(&mut self, run: &RunId, end: EndState) {
        self.tell(What::Run(RunChange {
            run: run.clone(),
            state: RunState::Ended {
                end,
                cause: (!end.is_good()).then(|| "disk full".to_owned()),
            },
        }));
    }

    /// A step, planned and started.
    pub fn step(&mut self, run: &RunId, name: &str, phase: Phase) -> StepId {
        self.step_for(run, name, phase, &[])
    }

    /// The same, for one item that it is repeated for.
    pub fn step_for(
        &mut self,
        run: &RunId,
        name: &str,
        phase: Phase,
        labels: &[(&str, &str)],
    ) -> StepId {
        self.steps += 1;
        let step = StepId(format!("s{}", self.steps));
        self.tell(What::Step(Box::new(StepChange {
            step: step.clone(),
            state: StepState::Planned(PlannedCommand {
                run: run.clone(),
                name: name.to_owned(),
                phase,
                host: "h1".to_owned(),
                action: "run".to_owned(),
                command: format!("{name} --all"),
                timed: true,
                destroys: None,
                background: false,
                shows: None,
                labels: labels_of(labels),
            }),
        })));
        self.tell(What::Step(Box::new(StepChange {
            step: step.clone(),
            state: StepState::Started,
        })));
        step
    }

    /// Its end.
    pub fn step_done(&mut self, step: &StepId, end: EndState) {
        self.tell(What::Step(Box::new(StepChange {
            step: step.clone(),
            state: StepState::Ended(StepEnd {
                end,
                status: vec![i32::from(!end.is_good())],
                seconds: Some(1.25),
                clock: Some(Clock::Host),
                resolution: 1e-6,
                sides: Vec::new(),
                host: None,
                here: None,
                cause: None,
            }),
        })));
    }

    /// Output of a step.
    pub fn prints(&mut self, step: &StepId, stream: Stream, text: &str) {
        self.tell(What::Log(LogChunk {
            step: step.clone(),
            stream,
            offset: 0,
            text: Some(text.to_owned()),
            base64: None,
        }));
    }

    /// A note about a run.
    pub fn note(&mut self, run: Option<&RunId>, level: Level, text: &str) {
        self.tell(What::Note(Note {
            level,
            text: text.to_owned(),
            host: None,
            run: run.cloned(),
            step: None,
        }));
    }

    /// A published figure.
    pub fn published(&mut self, binding: &BindingId, name: &str, statistic: &str, value: f64) {
        self.tell(What::Published(Published {
            binding: binding.clone(),
            name: name.to_owned(),
            series: "full".to_owned(),
            statistic: statistic.to_owned(),
            value,
            unit: "s".to_owned(),
            source: "table 2".to_owned(),
            projected: None,
        }));
    }

    /// The end of the session.
    pub fn end(&mut self) {
        self.tell(What::End(End {
            exit: 0,
            reason: "done".to_owned(),
        }));
    }

    pub fn tell(&mut self, what: What) {
        self.told.push(what);
    }

    /// Three times (or more) the same method in the same series, with one time each.
    pub fn runs_of(&mut self, method: &str, host: &str, name: &str, clock: Clock, values: &[f64]) {
        let binding = self.binding(method, host);
        for value in values {
            let run = self.run(&binding, "full");
            let resolution = if clock == Clock::Task { 1.0 } else { 0.0 };
            self.seconds(&run, name, clock, resolution, *value);
            self.proved(&run, true);
            self.done(&run, EndState::Ok);
        }
    }

    /// All events, the header first.
    pub fn events(&self) -> Vec<Event> {
        std::iter::once(What::Header(Box::new(self.header.clone())))
            .chain(self.told.iter().cloned())
            .enumerate()
            .map(|(seq, what)| Event {
                seq: seq as u64,
                t: Nanos(seq as u64 * 10_000_000),
                what,
            })
            .collect()
    }

    /// All of it, folded.
    pub fn session(&self) -> Session {
        let mut session = Session::default();
        for event in self.events() {
            session.apply(&event);
        }
        session
    }

    fn series(&self, run: &RunId) -> String {
        self.told
            .iter()
            .rev()
            .find_map(|what| match what {
                What::Run(RunChange {
                    run: started,
                    state: RunState::Started { series, .. },
                }) if started == run => Some(series.clone()),
                _ => None,
            })
            .unwrap()
    }
}

/// Labels out of pairs.
pub(crate) fn labels_of(pairs: &[(&str, &str)]) -> Labels {
    pairs
        .iter()
        .map(|&(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

fn facts(host: &str) -> Facts {
    Facts {
        system: format!("Debian GNU/Linux 13 on {host}"),
        kernel: "Linux 6.12.0".to_owned(),
        cpu: "Example CPU 3000".to_owned(),
        cpus: 8,
        memory: Bytes(16 << 30),
        clock_resolution: 1e-6,
        clock_source: "EPOCHREALTIME".to_owned(),
        tools: BTreeMap::from([("rsync".to_owned(), "rsync 3.4.1".to_owned())]),
        disks: vec![DiskFact {
            name: "sda".to_owned(),
            model: "Example Disk 1T".to_owned(),
            size: Bytes(1 << 40),
        }],
        ..Facts::default()
    }
}
