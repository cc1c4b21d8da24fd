//! One row: a group's runs in one series.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::columns::{ByRun, columns, values};
use super::groups::{self, Group, Once};
use super::{Outcome, Row};
use crate::event::{EndState, Facts, Labels, Phase, Proof, Published, RunId};
use crate::session::{RunStage, RunView, Session, bytes_can_be, sample_can_be};

/// What a row needs of a session, by run.
struct Known<'a> {
    session: &'a Session,
    values: ByRun<'a>,
    /// The final proofs: that the subject came back.
    proofs: BTreeMap<&'a RunId, Vec<&'a Proof>>,
    /// Bytes that were read as `subject`.
    subject: BTreeMap<&'a RunId, u64>,
}

impl<'a> Known<'a> {
    fn of(session: &'a Session) -> Self {
        let mut proofs: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for proof in session.proofs.iter().filter(|proof| proof.of == "restored") {
            proofs.entry(&proof.run).or_default().push(proof);
        }
        let samples = session.samples.iter();
        let measured = samples
            .filter(|one| one.name == "subject" && one.unit == "B" && sample_can_be(one))
            .map(|one| (&one.run, one.value as u64));
        let spaces = session.spaces.iter().filter(|one| one.name == "subject");
        let read = spaces.filter_map(|one| {
            let bytes = one
                .logical
                .or(one.stored)
                .filter(|one| bytes_can_be(*one))?;
            Some((&one.run, bytes.0))
        });
        Self {
            session,
            values: values(session),
            proofs,
            subject: measured.chain(read).collect(),
        }
    }

    fn proofs(&self, run: &RunId) -> &[&'a Proof] {
        self.proofs.get(run).map_or(&[], Vec::as_slice)
    }
}

/// All rows of a session, without remarks.
pub(super) fn all(session: &Session) -> Vec<Row> {
    let known = Known::of(session);
    let groups = groups::of(session);
    let differences = Group::differences(&groups);
    let mut rows = Vec::new();
    let mut printed: HashMap<&str, Vec<&Published>> = HashMap::new();
    for figure in &session.published {
        printed
            .entry(figure.binding.as_str())
            .or_default()
            .push(figure);
    }
    for (group, settings) in groups.iter().zip(differences) {
        let mine = group.ids.iter().filter_map(|id| printed.get(id)).flatten();
        let mut names = Vec::new();
        let mut published: HashMap<&str, Vec<&Published>> = HashMap::new();
        for figure in mine {
            names.push(figure.series.as_str());
            published.entry(&figure.series).or_default().push(figure);
        }
        let expects = group.expects(&known);
        for (series, runs) in group.series(&known.values, &names) {
            let published = published.remove(series).unwrap_or_default();
            rows.push(Row {
                settings: settings.clone(),
                ..row(&known, group, expects, series, &runs, &published)
            });
        }
    }
    rows
}

impl Group<'_> {
    /// Whether its method makes a final proof.
    fn expects(&self, known: &Known<'_>) -> bool {
        let planned = self.binding.is_some_and(|binding| {
            let mut steps = binding.steps.iter();
            steps.any(|step| step.phase == Phase::Verify)
        });
        let mut runs = self.runs.iter();
        planned || runs.any(|run| !known.proofs(&run.run).is_empty())
    }
}

fn row(
    known: &Known<'_>,
    group: &Group<'_>,
    expects: bool,
    series: &str,
    runs: &[&RunView],
    published: &[&Published],
) -> Row {
    let session = known.session;
    let (labels, mixed) = labels(group, runs);
    let mut row = Row {
        session: session
            .header
            .as_ref()
            .map(|header| header.session.to_string())
            .unwrap_or_default(),
        method: group.ids.first().copied().unwrap_or_default().to_owned(),
        series: series.to_owned(),
        binding: group.ids.first().copied().unwrap_or_default().to_owned(),
        labels,
        mixed,
        runs: runs.iter().map(|run| run.run.clone()).collect(),
        states: runs.iter().filter_map(|run| ended(run)).collect(),
        ..Row::default()
    };
    if let Some(binding) = group.binding {
        binding.host().clone_into(&mut row.host);
        row.method.clone_from(&binding.method);
        row.subject = binding.subject.clone();
        row.placement.clone_from(&binding.placement);
        row.machine = session
            .hosts
            .get(binding.host())
            .and_then(|host| host.facts.as_ref())
            .map(machine)
            .unwrap_or_default();
        row.machines = session.machines(binding);
    }
    prove(&mut row, known, expects, runs);
    (row.times, row.space) = columns(series, runs, &row.outcomes, &known.values, published);
    row.subject_bytes = subject_bytes(known, runs);
    row
}

fn ended(run: &RunView) -> Option<EndState> {
    match run.state {
        RunStage::Ended(end, _) => Some(end),
        RunStage::Queued | RunStage::Running => None,
    }
}

fn machine(facts: &Facts) -> String {
    format!(
        "{}, {}, {}, {} CPUs, {}",
        facts.system, facts.kernel, facts.cpu, facts.cpus, facts.memory
    )
}

// Labels that all runs share, and those that they do not.
fn labels(group: &Group<'_>, runs: &[&RunView]) -> (Labels, BTreeMap<String, Vec<String>>) {
    let common = group.binding.map(|binding| &binding.labels);
    let of_run: Vec<Labels> = runs
        .iter()
        .map(|run| {
            let mut all = common.cloned().unwrap_or_default();
            all.extend(run.labels.clone());
            all
        })
        .collect();
    let mut shared = Labels::new();
    let mut mixed = BTreeMap::new();
    let keys: BTreeSet<&String> = of_run.iter().flat_map(BTreeMap::keys).collect();
    for key in keys {
        let values: Vec<String> = of_run
            .iter()
            .map(|labels| labels.get(key).cloned().unwrap_or_default())
            .collect();
        match values.first() {
            Some(first) if values.iter().all(|value| value == first) => {
                shared.insert(key.clone(), first.clone());
            }
            _ => {
                mixed.insert(key.clone(), values);
            }
        }
    }
    (shared, mixed)
}

// The final proofs: that the subject came back. A run that ended without one counts as one
// that should have had it, where the method proves at all.
fn prove(row: &mut Row, known: &Known<'_>, expected: bool, runs: &[&RunView]) {
    let mut shares = Once::default();
    let mut by = Once::default();
    let mut elsewhere = Once::default();
    let mut whole = Vec::new();
    for run in runs {
        let (mut held, mut all_held) = (None, None);
        for proof in known.proofs(&run.run) {
            let and = |held: Option<bool>| Some(held.unwrap_or(true) && proof.verdict);
            all_held = and(all_held);
            match proof.series.as_deref() {
                Some(other) if other != row.series => {
                    elsewhere.add(other);
                    continue;
                }
                _ => held = and(held),
            }
            for (all, one) in [(&mut shares, &proof.share), (&mut by, &proof.by)] {
                if !one.is_empty() {
                    all.add(one);
                }
            }
        }
        row.proofs.push(held);
        whole.push(all_held);
    }
    if row.proofs.iter().all(Option::is_none) {
        row.restored_of = elsewhere.all.into_iter().map(str::to_owned).collect();
    }
    if expected && row.restored_of.is_empty() {
        let results = runs.iter().zip(&row.proofs);
        row.of = results
            .filter(|(run, proof)| proof.is_some() || ended(run).is_some())
            .count();
    }
    // A value counts where its run was proved, whatever it brought back.
    let results = runs.iter().zip(&whole);
    row.outcomes = results
        .map(|(run, proof)| match ended(run) {
            None => Outcome::GoesOn,
            Some(end) if end.is_good() && expected && *proof != Some(true) => Outcome::Unverified,
            Some(end) => Outcome::Ended(end),
        })
        .collect();
    row.matched = row
        .proofs
        .iter()
        .filter(|held| **held == Some(true))
        .count();
    row.share = shares.all.join("; ");
    row.by = by.all.join("; ");
}

// How big the subject was: what was read as `subject`, else what the final proofs compared.
fn subject_bytes(known: &Known<'_>, runs: &[&RunView]) -> Vec<u64> {
    let of_run = |run: &&RunView| {
        let read = known.subject.get(&run.run).copied();
        let proofs = known.proofs(&run.run).iter();
        read.or_else(|| {
            proofs
                .filter_map(|proof| proof.bytes)
                .filter(|bytes| bytes_can_be(*bytes))
                .map(|bytes| bytes.0)
                .max()
        })
    };
    let mut all: Vec<u64> = runs.iter().filter_map(of_run).collect();
    all.sort_unstable();
    all.dedup();
    all
}
