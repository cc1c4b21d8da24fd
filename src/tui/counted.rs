//! What came out of a session, made once after each change of it, and not for every frame. That of a
//! large session takes longer than a frame: another thread makes it, and what was known before is
//! shown meanwhile.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::event::{Bytes, RunId, SessionId};
use crate::report::{Time, conditions, times};
use crate::session::{
    PipelineError, Projection, Row, Session, Stamp, Tally, Wanted, sample_can_be,
};

use super::model::Model;
use super::screens::comparing::Shown;
use super::times::labels;

/// The figures of a session that is made of more than this are made by another thread.
const LIGHT: usize = 2_000;

/// What came out of a session.
#[derive(Debug, Default)]
pub struct Counted {
    stamp: Stamp,
    of: Option<SessionId>,
    /// Its rows.
    pub tally: Tally,
    /// The times that they have.
    pub times: Vec<Time>,
    /// What each row is called beside the others.
    pub labels: Vec<String>,
    /// The conditions of all rows, where these are the same.
    pub conditions: Option<String>,
    /// Bytes that were moved in several runs.
    pub moved: Vec<Moved>,
    shown: OnceLock<Shown>,
    /// What was asked last of other disks, and the answer.
    projected: Mutex<Option<(Wanted, Projected)>>,
}

/// How long other disks take, or why that cannot be told.
pub type Projected = Arc<Result<Projection, PipelineError>>;

/// Bytes of one name over all runs of a session.
#[derive(Debug)]
pub struct Moved {
    /// Its name.
    pub name: String,
    /// All of them.
    pub bytes: Bytes,
    /// In how many runs.
    pub runs: usize,
}

impl Counted {
    /// Of a session, as it is now.
    #[must_use]
    pub fn of(session: &Session) -> Self {
        let tally = Tally::of(session);
        Self {
            stamp: session.stamp(),
            of: session.header.as_ref().map(|header| header.session.clone()),
            times: times(&tally.rows),
            labels: labels(&tally),
            conditions: shared_conditions(&tally.rows),
            moved: moved(session),
            tally,
            shown: OnceLock::new(),
            projected: Mutex::default(),
        }
    }

    /// The same, with the comparison.
    #[must_use]
    pub fn all_of(session: &Session) -> Self {
        let figures = Self::of(session);
        figures.shown(session);
        figures
    }

    /// Whether nothing has changed in a session since they were made.
    #[must_use]
    pub fn are_of(&self, session: &Session) -> bool {
        self.stamp == session.stamp()
    }

    /// How long other disks take, by these figures.
    pub(super) fn projected(&self, session: &Session, wanted: &Wanted) -> Projected {
        let mut known = self
            .projected
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((of, told)) if of == wanted => Arc::clone(told),
            _ => {
                let rows = self.tally.rows.clone();
                let told = Arc::new(Projection::of_rows(session, rows, wanted));
                *known = Some((wanted.clone(), Arc::clone(&told)));
                told
            }
        }
    }

    /// What the comparison shows.
    pub(super) fn shown(&self, session: &Session) -> &Shown {
        self.shown
            .get_or_init(|| Shown::of(session, self.tally.clone()))
    }
}

fn shared_conditions(rows: &[Row]) -> Option<String> {
    let mut all = rows.iter().map(conditions);
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// Whether the figures of a session are made between two frames.
#[must_use]
pub fn are_light(session: &Session) -> bool {
    session.weight() <= LIGHT
}

/// The figures to show of a session: those that are known, where they are of it still; else they are
/// made, where that takes no time, or the last ones stand for them.
#[must_use]
pub fn seen(model: &Model, session: &Session) -> Arc<Counted> {
    let known = &model.figures;
    let id = session.header.as_ref().map(|header| &header.session);
    if known.are_of(session) {
        Arc::clone(known)
    } else if are_light(session) {
        Arc::new(Counted::of(session))
    } else if known.of.as_ref() == id {
        Arc::clone(known)
    } else {
        Arc::default()
    }
}

/// Bytes that tools and pipes counted, by their names.
fn moved(session: &Session) -> Vec<Moved> {
    let mut names: Vec<&str> = Vec::new();
    let mut by_name: HashMap<&str, (f64, BTreeSet<&RunId>)> = HashMap::new();
    let told = session.samples.iter();
    let told = told.filter(|one| one.unit == "B" && one.step.is_some() && sample_can_be(one));
    for sample in told {
        let (bytes, runs) = by_name.entry(&sample.name).or_insert_with(|| {
            names.push(&sample.name);
            Default::default()
        });
        *bytes += sample.value.max(0.0);
        runs.insert(&sample.run);
    }
    let of_name = |name: &str| {
        let (bytes, runs) = by_name.get(name)?;
        (runs.len() > 1).then(|| Moved {
            name: name.to_owned(),
            bytes: Bytes(*bytes as u64),
            runs: runs.len(),
        })
    };
    names.into_iter().filter_map(of_name).collect()
}
