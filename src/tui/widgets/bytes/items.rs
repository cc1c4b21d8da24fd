//! What the pane has rows for: of the run that is looked at, then of the session.

use std::collections::HashMap;

use crate::event::{Bytes, Labels, Place, Placement, RunId, Sample, Space};
use crate::session::{Left, PoolView, Session};

use super::super::super::counted::{Counted, Moved};
use super::super::super::model::Model;

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
    /// So many more have no row.
    More(usize),
    /// How many leftovers are gone.
    Undone {
        gone: usize,
        all: usize,
    },
}

/// Where original and copy of the run are.
pub(super) struct Placed<'a> {
    placement: &'a Placement,
    /// Whether they share a disk, where that can be told.
    pub same_disk: Option<bool>,
}

impl Placed<'_> {
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
pub(super) fn items<'a>(
    model: &Model,
    session: &'a Session,
    figures: &'a Counted,
) -> Vec<Item<'a>> {
    let mut all = Vec::new();
    let run = model.run(session);
    let binding = run.and_then(|run| session.binding(&run.binding));
    all.extend(binding.and_then(|binding| {
        let placement = binding.placement.as_ref()?;
        Some(Item::Placement(Placed {
            placement,
            same_disk: placement.same_disk(&session.machines(binding)),
        }))
    }));
    for pool in session.pools.iter() {
        all.push(Item::Pool(pool));
        // Nothing yet is no news while it was not looked at again.
        if came_back(pool).1 > Bytes(0) {
            all.push(Item::Back(pool));
        }
    }
    all.push(Item::StillOut(session.ledger.count_out()));
    all.extend(some(
        session.ledger.still_out().map(Item::Left),
        session.ledger.count_out(),
    ));
    if let Some(run) = run {
        let mut rows: Vec<Item<'a>> = Vec::new();
        rows.extend(latest(session, &run.run).into_iter().map(Item::Space));
        let told = session.bytes_of_run(&run.run);
        rows.extend(some(
            told.map(Item::Told),
            session.count_bytes_of_run(&run.run),
        ));
        let several = session.runs.len() > 1;
        if several && !rows.is_empty() {
            let method = binding.map_or("", |binding| binding.method.as_str());
            let at = session.place_of(&run.run);
            let at = at.map_or(0, |at| at + 1);
            all.push(Item::Heading(format!("run {at} · {method}")));
        }
        all.extend(rows);
    }
    all.extend(of_session(session, figures));
    all
}

/// Rows of one kind; of more only how many.
const MOST: usize = 500;

fn some<'a>(items: impl Iterator<Item = Item<'a>>, count: usize) -> impl Iterator<Item = Item<'a>> {
    let more = count.saturating_sub(MOST);
    let rest = (more > 0).then_some(Item::More(more));
    items.take(MOST).chain(rest)
}

/// What moved in all runs, and what was taken away.
fn of_session<'a>(session: &'a Session, figures: &'a Counted) -> Vec<Item<'a>> {
    let sum = |moved: &'a Moved| Item::Sum {
        name: &moved.name,
        bytes: moved.bytes,
        runs: moved.runs,
    };
    let sums = figures.moved.iter().map(sum);
    let mut all: Vec<Item<'a>> = some(sums, figures.moved.len()).collect();
    let entries = &session.ledger.entries;
    if !entries.is_empty() {
        all.push(Item::Undone {
            gone: entries.len() - session.ledger.count_out(),
            all: entries.len(),
        });
    }
    if !all.is_empty() {
        all.insert(0, Item::Heading("all runs".to_owned()));
    }
    all
}

/// The newest figure of each name of a run, and of each item that its step is repeated for.
fn latest<'a>(session: &'a Session, run: &RunId) -> Vec<&'a Space> {
    let mut latest: Vec<&Space> = Vec::new();
    let mut places: HashMap<(&str, Labels), usize> = HashMap::new();
    for space in session.spaces_of_run(run) {
        let of = (space.name.as_str(), session.labels_of(&space.step));
        let at = *places.entry(of).or_insert(latest.len());
        match latest.get_mut(at) {
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
