//! Which runs belong together, and which series each of them has a part in.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::columns::ByRun;
use crate::event::{Binding, EndState};
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
    let mut alike = BTreeMap::new();
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    let planned = session
        .header
        .iter()
        .flat_map(|header| &header.plan.bindings);
    for binding in planned {
        let at = *alike.entry(says(binding)).or_insert(all.len());
        if at == all.len() {
            all.push(Group {
                ids: Vec::new(),
                binding: Some(binding),
                runs: Vec::new(),
            });
        }
        let id = binding.id.as_str();
        by_id.entry(id).or_insert(at);
        if let Some(group) = all.get_mut(at) {
            group.ids.push(id);
        }
    }
    for run in &session.runs {
        // What is a load is not measured.
        if run.state == RunStage::Queued || run.is_load() {
            continue;
        }
        let id = run.binding.as_str();
        let at = *by_id.entry(id).or_insert(all.len());
        if at == all.len() {
            all.push(Group {
                ids: vec![id],
                binding: None,
                runs: Vec::new(),
            });
        }
        if let Some(group) = all.get_mut(at) {
            group.runs.push(run);
        }
    }
    all
}

/// What bindings of one group say alike.
type Says<'a> = (
    (&'a str, Option<(&'a str, bool)>),
    &'a str,
    [&'a BTreeMap<String, String>; 3],
);

fn says(binding: &Binding) -> Says<'_> {
    let subject = &binding.subject;
    // A subject that the session makes has a name of its own each time.
    let named = (!subject.own).then_some((subject.id.as_str(), subject.marked));
    (
        (&subject.kind, named),
        &binding.method,
        [&binding.roles, &binding.settings, &binding.labels],
    )
}

/// Texts as first seen, each once.
#[derive(Default, Clone)]
pub(super) struct Once<'a> {
    pub all: Vec<&'a str>,
    known: HashSet<&'a str>,
}

impl<'a> Once<'a> {
    pub fn add(&mut self, one: &'a str) {
        if self.known.insert(one) {
            self.all.push(one);
        }
    }

    fn extend(&mut self, some: &[&'a str]) {
        for one in some {
            self.add(one);
        }
    }
}

impl<'a> Group<'a> {
    /// What tells each group from others of the same method on the same host.
    pub fn differences(all: &[Self]) -> Vec<BTreeMap<String, String>> {
        let told: Vec<_> = all.iter().map(Self::told).collect();
        let mut groups: HashMap<_, usize> = HashMap::new();
        let mut with: HashMap<_, usize> = HashMap::new();
        for (group, told) in all.iter().zip(&told) {
            *groups.entry(group.key()).or_default() += 1;
            for said in told {
                *with.entry((group.key(), said)).or_default() += 1;
            }
        }
        let of_group = |(group, told): (&Self, &BTreeMap<String, String>)| {
            let key = group.key();
            let is_apart = |said: &(&String, &String)| with.get(&(key, *said)) != groups.get(&key);
            let apart = told.iter().filter(is_apart);
            apart
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect()
        };
        all.iter().zip(&told).map(of_group).collect()
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
        values: &ByRun<'a>,
        published: &[&'a str],
    ) -> Vec<(&'a str, Vec<&'a RunView>)> {
        let own = |run: &RunView| values.get(&run.run).map_or(&[][..], |all| &all.series);
        let mut all = Once::default();
        for run in &self.runs {
            all.extend(own(run));
        }
        all.extend(published);
        let measured = all.clone();
        let mut known = Known::default();
        for run in &self.runs {
            if is_good(run) && !own(run).is_empty() {
                known.good(&run.series, own(run));
            }
        }
        let mut with: HashMap<&str, Vec<&RunView>> = HashMap::new();
        for run in &self.runs {
            let part = if is_good(run) && !own(run).is_empty() {
                own(run).to_vec()
            } else {
                known.expected(run, own(run), &measured)
            };
            for series in part {
                all.add(series);
                with.entry(series).or_default().push(run);
            }
        }
        let of = |series| (series, with.remove(series).unwrap_or_default());
        all.all.into_iter().map(of).collect()
    }
}

/// What good runs of a group came to.
#[derive(Default)]
struct Known<'a> {
    /// By the series that was told at the start.
    by_start: HashMap<&'a str, Once<'a>>,
    /// Sets of series that come together, and which of them each series is in.
    sets: Vec<Once<'a>>,
    set_of: HashMap<&'a str, usize>,
}

impl<'a> Known<'a> {
    fn good(&mut self, start: &'a str, came: &[&'a str]) {
        self.by_start.entry(start).or_default().extend(came);
        let known = came.iter().filter_map(|series| self.set_of.get(series));
        // The others go into the largest one.
        let size = |set: &&usize| self.sets.get(**set).map(|set| set.all.len());
        let into = known.max_by_key(size).copied().unwrap_or_else(|| {
            self.sets.push(Once::default());
            self.sets.len() - 1
        });
        for series in came {
            match self.set_of.get(series).copied() {
                Some(set) if set == into => {}
                // Two sets that this run has parts of are one.
                Some(set) => {
                    let other = self.sets.get_mut(set).map(std::mem::take);
                    for moved in other.unwrap_or_default().all {
                        self.put(moved, into);
                    }
                }
                None => self.put(series, into),
            }
        }
    }

    fn put(&mut self, series: &'a str, set: usize) {
        self.set_of.insert(series, set);
        if let Some(set) = self.sets.get_mut(set) {
            set.add(series);
        }
    }

    fn expected(&self, run: &'a RunView, own: &[&'a str], all: &Once<'a>) -> Vec<&'a str> {
        let mut part = Once::default();
        part.extend(own);
        let start = run.series.as_str();
        if all.known.contains(start) {
            part.add(start);
        } else if own.is_empty() {
            match self.by_start.get(start) {
                Some(came) => part.extend(&came.all),
                None => part.add(start),
            }
        } else {
            // Its own values tell.
        }
        let sets: BTreeSet<usize> = part
            .all
            .iter()
            .filter_map(|series| self.set_of.get(series).copied())
            .collect();
        for set in sets.into_iter().filter_map(|set| self.sets.get(set)) {
            part.extend(&set.all);
        }
        part.all
    }
}

/// Whether a run ended well, or with warnings.
fn is_good(run: &RunView) -> bool {
    matches!(
        run.state,
        RunStage::Ended(EndState::Ok | EndState::Warnings, _)
    )
}
