//! What the pane has rows for: of the run that is looked at, then of the session.

use std::collections::BTreeSet;

use crate::event::{Bytes, Place, Placement, RunId, Sample, Space};
use crate::session::{Left, LeftState, PoolView, Session};

use super::super::super::model::Model;
use super::super::super::view::Ui;

/// A row.
pub(super) enum Item<'a> {
    Placement(Placed<'a>),
    /// How full a pool is.
    Pool(&'a PoolView),
    /// What came back of what was taken from it.
    Back(&'a PoolView),
    /// How many leftovers there are.
    StillOut(usize),
    Left(&'a Left),
    Heading(String),
    Space(&'a Space),
    /// Bytes that a tool or a pipe counted, or that are computed.
    Told(&'a Sample),
    /// The same over all runs of the session.
    Sum {
        name: &'a str,
        bytes: Bytes,
        runs: usize,
    },
    /// How many leftovers are gone.
    Undone {
        gone: usize,
        all: usize,
    },
}

/// Where original and copy of the run are.
pub(super) struct Placed<'a> {
    placement: &'a Placement,
    binding: &'a str,
}

impl Placed<'_> {
    /// Whether they share a disk: two names of one machine are one.
    pub fn same_disk(&self, ui: Ui<'_>) -> Option<bool> {
        let mut rows = ui.tally.rows.iter();
        match rows.find(|row| row.binding == self.binding) {
            Some(row) => row.same_disk(),
            None => self.placement.same_disk(),
        }
    }

    pub fn names(&self) -> (String, String) {
        let Placement { original, copy } = self.placement;
        let one_host = original.host == copy.host;
        let name = |place: &Place| {
            let carrier = if place.disks.is_empty() {
                place.at.clone()
            } else {
                place.disks.join("+")
            };
            if one_host || place.host.is_empty() {
                carrier
            } else {
                format!("{} {carrier}", place.host)
            }
        };
        (name(original), name(copy))
    }

    pub fn both(&self) -> [&Place; 2] {
        [&self.placement.original, &self.placement.copy]
    }
}

/// All rows.
pub(super) fn items<'a>(model: &Model, session: &'a Session) -> Vec<Item<'a>> {
    let mut all = Vec::new();
    let run = model.run(session);
    let binding = run.and_then(|run| session.binding(&run.binding));
    all.extend(binding.and_then(|binding| {
        Some(Item::Placement(Placed {
            placement: binding.placement.as_ref()?,
            binding: binding.id.as_str(),
        }))
    }));
    for pool in session.pools.iter() {
        all.push(Item::Pool(pool));
        // Nothing yet is no news while it was not looked at again.
        if came_back(pool).1 > Bytes(0) {
            all.push(Item::Back(pool));
        }
    }
    let out: Vec<&Left> = session.ledger.still_out().collect();
    all.push(Item::StillOut(out.len()));
    all.extend(out.into_iter().map(Item::Left));
    if let Some(run) = run {
        let mut rows: Vec<Item<'a>> = Vec::new();
        rows.extend(latest(session, &run.run).into_iter().map(Item::Space));
        let samples = session.samples.iter().filter(|one| one.run == run.run);
        rows.extend(samples.filter(|one| one.unit == "B").map(Item::Told));
        let several = session.runs.len() > 1;
        if several && !rows.is_empty() {
            let method = binding.map_or("", |binding| binding.method.as_str());
            let at = session.runs.iter().position(|one| one.run == run.run);
            let at = at.map_or(0, |at| at + 1);
            all.push(Item::Heading(format!("run {at} · {method}")));
        }
        all.extend(rows);
    }
    all.extend(of_session(session));
    all
}

/// What moved in all runs, and what was taken away.
fn of_session(session: &Session) -> Vec<Item<'_>> {
    let mut all = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    let moved = || {
        let told = session.samples.iter();
        told.filter(|one| one.unit == "B" && one.step.is_some() && one.value.is_finite())
    };
    for sample in moved() {
        if !names.contains(&sample.name.as_str()) {
            names.push(&sample.name);
        }
    }
    for name in names {
        let mine = || moved().filter(|one| one.name == name);
        let runs: BTreeSet<&RunId> = mine().map(|one| &one.run).collect();
        if runs.len() > 1 {
            let bytes = mine().map(|one| one.value.max(0.0)).sum::<f64>();
            all.push(Item::Sum {
                name,
                bytes: Bytes(bytes as u64),
                runs: runs.len(),
            });
        }
    }
    let entries = &session.ledger.entries;
    if !entries.is_empty() {
        let is_gone = |left: &&Left| left.state == LeftState::Undone;
        all.push(Item::Undone {
            gone: entries.iter().filter(is_gone).count(),
            all: entries.len(),
        });
    }
    if !all.is_empty() {
        all.insert(0, Item::Heading("all runs".to_owned()));
    }
    all
}

/// The newest figure of each name of a run.
fn latest<'a>(session: &'a Session, run: &RunId) -> Vec<&'a Space> {
    let mut latest: Vec<&Space> = Vec::new();
    for space in session.spaces.iter().filter(|space| space.run == *run) {
        match latest.iter_mut().find(|known| known.name == space.name) {
            Some(known) => *known = space,
            None => latest.push(space),
        }
    }
    latest
}

/// What was taken from a pool at most, beyond what was taken at first; what of it came back.
pub(super) fn came_back(pool: &PoolView) -> (Bytes, Bytes) {
    let most = pool.most.used.0;
    let taken = most.saturating_sub(pool.first.data.used.0);
    (
        Bytes(taken),
        Bytes(most.saturating_sub(pool.latest.data.used.0).min(taken)),
    )
}

/// Who counted the bytes of a sample.
pub(super) fn source(sample: &Sample) -> &'static str {
    match &sample.step {
        Some(_) if sample.name == "through" => "counted on the way",
        Some(_) => "told by its tool",
        None => "computed",
    }
}
