//! Recordings that are larger than any that a person makes: many runs, or very many steps of one.
#![allow(dead_code, reason = "several programs use it, each in part")]

use std::collections::BTreeMap;

use comeback::event::{
    Binding, Clock, End, EndState, Event, FORMAT, Header, Labels, Nanos, Order, Origin, Phase,
    Plan, PlannedCommand, PlannedStep, Proof, RunChange, RunId, RunState, Sample, StepChange,
    StepEnd, StepId, StepState, Subject, What,
};

/// One run of so many steps, each of its own name and with a time.
pub fn steps(count: usize) -> Vec<Event> {
    let mut tale = Tale::new(1, (0..count).map(|at| format!("step {at}")), 1);
    tale.run(0, 1);
    tale.end()
}

/// So many runs of so many methods in turns, of 12 steps each.
pub fn runs(count: usize, methods: usize) -> Vec<Event> {
    let names = (0..12).map(|at| format!("step {at}"));
    let reps = count.div_ceil(methods);
    let mut tale = Tale::new(methods, names, reps);
    for at in 0..count {
        tale.run(at % methods, at / methods + 1);
    }
    tale.end()
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

struct Tale {
    told: Vec<Event>,
    steps: Vec<PlannedStep>,
    runs: usize,
    done: usize,
}

impl Tale {
    fn new(methods: usize, names: impl Iterator<Item = String>, reps: usize) -> Self {
        let steps: Vec<PlannedStep> = names
            .map(|name| PlannedStep {
                command: format!("do '{name}'"),
                name,
                phase: Phase::Restore,
                host: "h1".into(),
                timed: true,
                destroys: None,
            })
            .collect();
        let binding = |at: usize| Binding {
            id: format!("b{at}").into(),
            method: format!("method-{at}"),
            title: "made up".into(),
            family: String::new(),
            roles: BTreeMap::from([("source".into(), "h1".into())]),
            subject: Subject {
                kind: "dir".into(),
                id: "/srv/data".into(),
                ..Subject::default()
            },
            settings: Labels::new(),
            labels: Labels::new(),
            placement: None,
            steps: steps.clone(),
        };
        let header = Header {
            format: FORMAT.into(),
            program: "comeback 0.1.0".into(),
            origin: Origin::Captured,
            started: chrono::DateTime::from_timestamp(1_780_000_000, 0).unwrap_or_default(),
            session: "cb-0a1b2c3d".into(),
            plan: Plan {
                reps: number(reps),
                order: Order::Interleaved,
                bindings: (0..methods).map(binding).collect(),
                runs: Vec::new(),
                ..Plan::default()
            },
            facts: BTreeMap::new(),
            masked: Vec::new(),
        };
        let mut tale = Self {
            told: Vec::new(),
            steps,
            runs: 0,
            done: 0,
        };
        tale.tell(What::Header(Box::new(header)));
        tale
    }

    fn tell(&mut self, what: What) {
        let seq = self.told.len() as u64;
        self.told.push(Event {
            seq,
            t: Nanos(seq * 1_000_000),
            what,
        });
    }

    fn run(&mut self, method: usize, rep: usize) {
        self.runs += 1;
        let run = RunId(format!("r{}", self.runs));
        let state = RunState::Started {
            binding: format!("b{method}").into(),
            rep: number(rep),
            order: number(self.runs),
            series: "full".into(),
            labels: Labels::new(),
        };
        self.change(&run, state);
        for step in self.steps.clone() {
            self.step(&run, &step, method);
        }
        self.tell(What::Proof(Proof {
            run: run.clone(),
            step: "none".into(),
            of: "restored".into(),
            by: "sha256".into(),
            series: None,
            verdict: true,
            expected: None,
            got: None,
            bytes: None,
            share: "all".into(),
            differences: Vec::new(),
        }));
        let state = RunState::Ended {
            end: EndState::Ok,
            cause: None,
        };
        self.change(&run, state);
    }

    fn change(&mut self, run: &RunId, state: RunState) {
        let run = run.clone();
        self.tell(What::Run(RunChange { run, state }));
    }

    fn step(&mut self, run: &RunId, planned: &PlannedStep, method: usize) {
        self.done += 1;
        let id = StepId(format!("s{}", self.done));
        let seconds = 1.0 + method as f64 + (self.done % 17) as f64 / 100.0;
        let change = |state| {
            let step = id.clone();
            What::Step(Box::new(StepChange { step, state }))
        };
        self.tell(change(StepState::Planned(PlannedCommand {
            run: run.clone(),
            name: planned.name.clone(),
            phase: planned.phase,
            host: "h1".into(),
            action: "run".into(),
            command: planned.command.clone(),
            timed: true,
            destroys: None,
            background: false,
            shows: None,
            labels: Labels::new(),
        })));
        self.tell(change(StepState::Started));
        self.tell(What::Sample(Sample {
            run: run.clone(),
            step: Some(id.clone()),
            name: planned.name.clone(),
            series: String::new(),
            value: seconds,
            unit: "s".into(),
            clock: Some(Clock::Host),
            resolution: 1e-6,
            labels: Labels::new(),
        }));
        self.tell(change(StepState::Ended(StepEnd {
            end: EndState::Ok,
            status: vec![0],
            seconds: Some(seconds),
            clock: Some(Clock::Host),
            resolution: 1e-6,
            host: None,
            sides: Vec::new(),
            here: None,
            cause: None,
        })));
    }

    fn end(mut self) -> Vec<Event> {
        self.tell(What::End(End {
            exit: 0,
            reason: "done".into(),
        }));
        self.told
    }
}
