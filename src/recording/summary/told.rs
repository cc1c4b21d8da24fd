//! A summary that is being made, event by event.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::Arc;

use super::super::lines::{Line, Lines};
use super::super::{MOST_HEADER, MOST_LINE};
use super::{BoundSummary, CopyBytes, HostSummary, RunSummary, Summary};
use crate::event::{
    BindingId, Bytes, Event, Facts, Header, Labels, Leave, LeaveId, LeaveKind, LeaveState, Nanos,
    RunChange, RunId, RunState, What, parse_later_line, parse_line,
};
use crate::session::{RunStage, bytes_can_be, sample_can_be};

/// Events that a summary is made of; all others are passed over unread.
const TELLING: [&str; 7] = ["host", "run", "sample", "space", "proof", "leave", "end"];

/// A summary that is being made.
pub(super) struct Told<'a> {
    pub summary: &'a mut Summary,
    bounds: BTreeMap<BindingId, Arc<BoundSummary>>,
    index: BTreeMap<RunId, usize>,
    started: BTreeMap<RunId, Nanos>,
    /// Leftovers that are not taken away.
    out: BTreeSet<LeaveId>,
    /// Names of each run's copies.
    copies: BTreeMap<RunId, Vec<String>>,
    /// Bytes that were read of something, by run and name: logical, stored.
    read: BTreeMap<(RunId, String), CopyBytes>,
}

impl<'a> Told<'a> {
    pub fn new(summary: &'a mut Summary, header: &Header) -> Self {
        summary.started = Some(header.started);
        summary.program.clone_from(&header.program);
        summary.origin = Some(header.origin);
        let mut told = Self {
            summary,
            bounds: BTreeMap::new(),
            index: BTreeMap::new(),
            started: BTreeMap::new(),
            out: BTreeSet::new(),
            copies: BTreeMap::new(),
            read: BTreeMap::new(),
        };
        for (name, facts) in &header.facts {
            told.host(name, Some(facts));
        }
        for binding in &header.plan.bindings {
            for host in binding.roles.values() {
                told.host(host, None);
            }
            if !told.summary.methods.contains(&binding.method) {
                told.summary.methods.push(binding.method.clone());
            }
            let bound = BoundSummary {
                binding: binding.id.clone(),
                method: binding.method.clone(),
                host: binding.host().to_owned(),
                roles: binding.roles.clone(),
                subject: binding.subject.clone(),
                settings: binding.settings.clone(),
                labels: binding.labels.clone(),
            };
            told.bounds.insert(binding.id.clone(), Arc::new(bound));
        }
        for planned in &header.plan.runs {
            told.run(&planned.run, Some(&planned.binding)).rep = planned.rep;
        }
        told
    }

    /// Reads to the end, as long as that is wanted; says whether it was.
    pub fn rest(
        &mut self,
        file: impl Read,
        later: bool,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<bool, String> {
        let mut lines = Lines::new(file);
        let parse = if later { parse_later_line } else { parse_line };
        let mut most = MOST_HEADER;
        loop {
            if !is_wanted() {
                return Ok(false);
            }
            let line = lines.next(most).map_err(|why| why.to_string())?;
            let at = lines.number;
            most = MOST_LINE;
            match line {
                Line::End => return Ok(true),
                Line::TooLong => return Err(format!("line {at} is too long")),
                Line::Whole | Line::Last => {}
            }
            let glance = glance(&lines.bytes);
            if let Some((t, name)) = glance
                && !TELLING.contains(&name)
            {
                self.summary.length = self.summary.length.max(t);
                continue;
            }
            let event = std::str::from_utf8(&lines.bytes)
                .map_err(|why| why.to_string())
                .and_then(|text| parse(text).map_err(|why| why.to_string()));
            match event {
                Ok(event) => self.event(event),
                // The end of the file tells that it was cut.
                Err(_) if line == Line::Last => return Ok(true),
                Err(why) => return Err(format!("line {at} is broken: {why}")),
            }
        }
    }

    fn event(&mut self, event: Event) {
        self.summary.length = self.summary.length.max(event.t);
        match event.what {
            What::Host(change) => self.host(&change.host, change.facts.as_ref()),
            What::Run(change) => self.change(event.t, change),
            What::Leave(leave) => self.leave(leave),
            What::Space(space) => {
                let read = self.read.entry((space.run, space.name)).or_default();
                let can_be = |bytes: &Bytes| bytes_can_be(*bytes);
                read.logical = space.logical.filter(can_be).or(read.logical);
                read.stored = space.stored.filter(can_be).or(read.stored);
            }
            // A figure that the tool told of its archive; what was read on the host goes before.
            What::Sample(sample)
                if sample.unit == "B" && sample.value >= 0.0 && sample_can_be(&sample) =>
            {
                let read = self.read.entry((sample.run, sample.name)).or_default();
                read.stored = read.stored.or(Some(Bytes(sample.value as u64)));
            }
            What::Proof(proof) if proof.of == "restored" => {
                let run = self.run(&proof.run, None);
                run.subject_bytes = proof.bytes.or(run.subject_bytes);
                if proof.verdict {
                    run.proved += 1;
                } else {
                    run.disproved += 1;
                }
            }
            What::End(end) => self.summary.end = Some(end),
            _ => {}
        }
    }

    fn leave(&mut self, leave: Leave) {
        if leave.state == LeaveState::Undone {
            self.out.remove(&leave.leave);
            return;
        }
        self.out.insert(leave.leave);
        if let LeaveState::Intended(intended) = leave.state
            && intended.kind == LeaveKind::Copy
        {
            let names = self.copies.entry(intended.run).or_default();
            if !names.contains(&intended.name) {
                names.push(intended.name);
            }
        }
    }

    fn change(&mut self, t: Nanos, change: RunChange) {
        match change.state {
            RunState::Queued => {
                self.run(&change.run, None);
            }
            RunState::Started {
                binding,
                rep,
                series,
                labels,
                ..
            } => {
                let run = self.run(&change.run, Some(&binding));
                run.rep = rep;
                run.series = series;
                run.labels = labels;
                if run.stage == RunStage::Queued {
                    run.stage = RunStage::Running;
                }
                self.started.insert(change.run, t);
            }
            RunState::Ended { end, cause } => {
                let started = self.started.get(&change.run).copied();
                let run = self.run(&change.run, None);
                run.stage = RunStage::Ended(end, cause);
                run.seconds = started.map(|started| t.since(started).as_secs_f64());
            }
        }
    }

    fn run(&mut self, id: &RunId, binding: Option<&BindingId>) -> &mut RunSummary {
        let runs = &mut self.summary.runs;
        let at = *self.index.entry(id.clone()).or_insert_with(|| {
            runs.push(RunSummary {
                run: id.clone(),
                bound: Arc::default(),
                rep: 0,
                series: String::new(),
                labels: Labels::new(),
                stage: RunStage::Queued,
                seconds: None,
                copies: CopyBytes::default(),
                subject_bytes: None,
                proved: 0,
                disproved: 0,
            });
            runs.len() - 1
        });
        #[expect(
            clippy::indexing_slicing,
            reason = "the index is of this list, which only grows"
        )]
        let run = &mut runs[at];
        if let Some(bound) = binding.and_then(|binding| self.bounds.get(binding)) {
            run.bound = Arc::clone(bound);
        }
        run
    }

    fn host(&mut self, name: &str, facts: Option<&Facts>) {
        let hosts = &mut self.summary.hosts;
        if !hosts.iter().any(|host| host.name == name) {
            hosts.push(HostSummary {
                name: name.to_owned(),
                ..HostSummary::default()
            });
        }
        let known = hosts.iter_mut().find(|host| host.name == name);
        if let (Some(host), Some(facts)) = (known, facts) {
            host.system.clone_from(&facts.system);
            host.machine.clone_from(&facts.machine);
        }
    }

    pub fn finish(self) {
        self.summary.still_out = self.out.len();
        for run in &mut self.summary.runs {
            let names = self.copies.get(&run.run);
            for name in names.into_iter().flatten() {
                let Some(read) = self.read.get(&(run.run.clone(), name.clone())) else {
                    continue;
                };
                run.copies.logical = sum(run.copies.logical, read.logical);
                run.copies.stored = sum(run.copies.stored, read.stored);
            }
        }
    }
}

fn sum(one: Option<Bytes>, other: Option<Bytes>) -> Option<Bytes> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Bytes(one.0.saturating_add(other.0))),
        (one, other) => one.or(other),
    }
}

/// Time and name of the event in a line that begins as this program writes it. Of any other line
/// nothing is said: it has to be read.
pub(in crate::recording) fn glance(line: &[u8]) -> Option<(Nanos, &str)> {
    let rest = line.strip_prefix(b"{\"seq\":")?;
    let (_, rest) = number(rest)?;
    let rest = rest.strip_prefix(b",\"t\":")?;
    let (t, rest) = number(rest)?;
    let rest = rest.strip_prefix(b",\"ev\":\"")?;
    let end = memchr::memchr(b'"', rest.get(..rest.len().min(32))?)?;
    Some((Nanos(t), std::str::from_utf8(rest.get(..end)?).ok()?))
}

fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at_checked(digits)?;
    let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((number, rest))
}
