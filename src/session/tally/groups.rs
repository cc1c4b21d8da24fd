//! Which runs belong together, and which series each of them has a part in.

use std::collections::BTreeMap;

use super::columns::Value;
use crate::event::{Binding, EndState, RunId};
use crate::session::{RunStage, RunView, Session};

/// Runs of one binding; of several, where they say the same.
pub(super) struct Group<'a> {
    /// Ids of its bindings.
    pub ids: Vec<&'a str>,
    /// The first of them; absent where the header does not tell.
    pub binding: Option<&'a Binding>,
    /// Its runs that were started, in their order.
    pub runs: Vec<&'a RunView>,
}

/// All groups, in the order of the plan.
pub(super) fn of(session: &Session) -> Vec<Group<'_>> {
    let mut all: Vec<Group<'_>> = Vec::new();
    let planned = session
        .header
        .iter()
        .flat_map(|header| &header.plan.bindings);
    for binding in planned {
        let like =
            |group: &&mut Group<'_>| group.binding.is_some_and(|known| alike(known, binding));
        match all.iter_mut().find(like) {
            Some(group) => group.ids.push(binding.id.as_str()),
            None => all.push(Group {
                ids: vec![binding.id.as_str()],
                binding: Some(binding),
                runs: Vec::new(),
            }),
        }
    }
    for run in &session.runs {
        if run.state == RunStage::Queued {
            continue;
        }
        let id = run.binding.as_str();
        match all.iter_mut().find(|group| group.ids.contains(&id)) {
            Some(group) => group.runs.push(run),
            None => all.push(Group {
                ids: vec![id],
                binding: None,
                runs: vec![run],
            }),
        }
    }
    all
}

fn alike(one: &Binding, other: &Binding) -> bool {
    let same_subject = one.subject == other.subject
        // A subject that the session makes has a name of its own each time.
        || (one.subject.own && other.subject.own && one.subject.kind == other.subject.kind);
    same_subject
        && one.method == other.method
        && one.roles == other.roles
        && one.settings == other.settings
        && one.labels == other.labels
}

impl<'a> Group<'a> {
    /// What tells each group from others of the same method on the same host.
    pub fn differences(all: &[Self]) -> Vec<BTreeMap<String, String>> {
        let told: Vec<_> = all.iter().map(Self::told).collect();
        all.iter()
            .zip(&told)
            .map(|(group, mine)| {
                let others: Vec<_> = all
                    .iter()
                    .zip(&told)
                    .filter(|(other, _)| other.key() == group.key())
                    .map(|(_, told)| told)
                    .collect();
                mine.iter()
                    .filter(|(key, value)| {
                        others.iter().any(|other| other.get(*key) != Some(value))
                    })
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect()
            })
            .collect()
    }

    fn key(&self) -> Option<(&str, &str)> {
        let binding = self.binding?;
        Some((binding.host(), binding.method.as_str()))
    }

    fn told(&self) -> BTreeMap<String, String> {
        let Some(binding) = self.binding else {
            return BTreeMap::new();
        };
        let mut all = binding.settings.clone();
        all.extend(binding.labels.clone());
        all.extend(binding.roles.clone());
        if !binding.subject.own {
            all.insert("subject".to_owned(), binding.subject.to_string());
        }
        all
    }

    /// The group's series, as first seen, and the runs that have a part in each.
    ///
    /// A good run has a part in the series of its values. One that did not end well (or still
    /// goes on) also in those that it would have come to: the series that was told at its start,
    /// or those that good runs with the same start came to; and with each series those that
    /// good runs have together with it (a first and a repeated copy in one run).
    pub fn series(
        &self,
        values: &BTreeMap<&RunId, Vec<Value<'a>>>,
        published: &[&'a str],
    ) -> Vec<(&'a str, Vec<&'a RunView>)> {
        let own: Vec<Vec<&str>> = self
            .runs
            .iter()
            .map(|run| {
                let mut mine = Vec::new();
                for value in values.get(&run.run).into_iter().flatten() {
                    add(&mut mine, value.series);
                }
                mine
            })
            .collect();
        let mut all = Vec::new();
        for series in own.iter().flatten().chain(published) {
            add(&mut all, series);
        }

        let good: Vec<(&str, &[&str])> = self
            .runs
            .iter()
            .zip(&own)
            .filter(|(run, mine)| is_good(run) && !mine.is_empty())
            .map(|(run, mine)| (run.series.as_str(), mine.as_slice()))
            .collect();
        let parts: Vec<Vec<&str>> = self
            .runs
            .iter()
            .zip(&own)
            .map(|(run, mine)| {
                if is_good(run) && !mine.is_empty() {
                    mine.clone()
                } else {
                    expected(run, mine, &good, &all)
                }
            })
            .collect();
        for series in parts.iter().flatten() {
            add(&mut all, series);
        }
        all.into_iter()
            .map(|series| {
                let runs = self.runs.iter().zip(&parts);
                let with = runs.filter(|(_, part)| part.contains(&series));
                (series, with.map(|(run, _)| *run).collect())
            })
            .collect()
    }
}

fn expected<'a>(
    run: &'a RunView,
    own: &[&'a str],
    good: &[(&'a str, &[&'a str])],
    all: &[&'a str],
) -> Vec<&'a str> {
    let mut part = own.to_vec();
    let start = run.series.as_str();
    if all.contains(&start) {
        add(&mut part, start);
    } else if part.is_empty() {
        for (told, came) in good {
            if *told == start {
                came.iter().for_each(|&series| add(&mut part, series));
            }
        }
        if part.is_empty() {
            part.push(start);
        }
    } else {
        // Its own values tell.
    }
    for (_, together) in good {
        if together.iter().any(|series| part.contains(series)) {
            together.iter().for_each(|&series| add(&mut part, series));
        }
    }
    part
}

fn add<'a>(all: &mut Vec<&'a str>, one: &'a str) {
    if !all.contains(&one) {
        all.push(one);
    }
}

/// Whether a run ended well, or with warnings.
fn is_good(run: &RunView) -> bool {
    matches!(
        run.state,
        RunStage::Ended(EndState::Ok | EndState::Warnings, _)
    )
}
