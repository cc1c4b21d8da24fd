//! Which run of each host is looked at: hosts work side by side, each on one run after the other.

use std::collections::HashMap;

use crate::event::{Binding, BindingId, Nanos};
use crate::session::{RunStage, RunView, Session};

/// A run that stands for its host.
#[derive(Debug, Clone, Copy)]
pub struct Lane<'a> {
    /// The host.
    pub host: &'a str,
    /// Its run: the one that goes on, else the last one that began, else the first to come.
    pub run: &'a RunView,
}

/// What is known of a host's runs.
struct Host<'a> {
    name: &'a str,
    going: Vec<&'a RunView>,
    last: Option<&'a RunView>,
    next: Option<&'a RunView>,
    began: Option<Nanos>,
    is_broken: bool,
}

impl<'a> Host<'a> {
    fn new(name: &'a str) -> Self {
        Self {
            name,
            going: Vec::new(),
            last: None,
            next: None,
            began: None,
            is_broken: false,
        }
    }

    fn take(&mut self, run: &'a RunView) {
        match run.state {
            RunStage::Queued => self.next = self.next.or(Some(run)),
            RunStage::Running => self.going.push(run),
            RunStage::Ended(end, _) => self.is_broken |= !end.is_good(),
        }
        if let Some(started) = run.started {
            self.began = Some(self.began.map_or(started, |began| began.min(started)));
            if self.last.is_none_or(|last| last.started <= run.started) {
                self.last = Some(run);
            }
        }
    }

    /// Whether it has begun, and has still something to do.
    fn is_busy(&self) -> bool {
        !self.going.is_empty() || (self.next.is_some() && self.began.is_some() && !self.is_broken)
    }
}

/// The hosts of the plan, in its order.
fn hosts(session: &Session) -> Vec<Host<'_>> {
    let bindings = session
        .header
        .as_ref()
        .map_or(&[][..], |header| &header.plan.bindings);
    let mut hosts: Vec<Host<'_>> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut place = |name| {
        *known.entry(name).or_insert_with(|| {
            hosts.push(Host::new(name));
            hosts.len() - 1
        })
    };
    let places: HashMap<&BindingId, usize> = bindings
        .iter()
        .map(|binding: &Binding| (&binding.id, place(binding.host())))
        .collect();
    for run in &session.runs {
        if let Some(host) = places.get(&run.binding).and_then(|at| hosts.get_mut(*at)) {
            host.take(run);
        }
    }
    for host in &mut hosts {
        host.going.sort_by_key(|run| run.started);
    }
    hosts
}

/// A lane a host, in the order of the plan; of a host on which several runs go on, one each.
#[must_use]
pub fn lanes(session: &Session) -> Vec<Lane<'_>> {
    let mut all = Vec::new();
    for host in hosts(session) {
        let lane = |run| Lane {
            host: host.name,
            run,
        };
        if host.going.is_empty() {
            all.extend(host.last.or(host.next).map(lane));
        } else {
            all.extend(host.going.iter().copied().map(lane));
        }
    }
    all
}

/// The run of a host to look at.
#[must_use]
pub fn of_host<'a>(session: &'a Session, name: &str) -> Option<&'a RunView> {
    let all = lanes(session);
    let lane = all.iter().find(|lane| lane.host == name)?;
    Some(lane.run)
}

/// Whether a host has still something to do.
#[must_use]
pub fn is_busy(session: &Session, name: &str) -> bool {
    let all = hosts(session);
    session.end.is_none() && all.iter().any(|host| host.name == name && host.is_busy())
}

/// The run to look at where the operator has chosen none: on the host that began first and has
/// still something to do, so that the next run is followed there; else the one that began last.
#[must_use]
pub fn followed(session: &Session) -> Option<&RunView> {
    let busy = hosts(session).into_iter().filter(Host::is_busy);
    let first = busy
        .min_by_key(|host| host.began)
        .filter(|_| session.end.is_none());
    first
        .and_then(|host| host.going.first().copied().or(host.last))
        .or_else(|| session.current_run())
}

/// Where a run stands among lanes: in its own, else in that of its host.
#[must_use]
pub fn place(session: &Session, lanes: &[Lane<'_>], run: &RunView) -> usize {
    let host = session.binding(&run.binding).map(Binding::host);
    let own = lanes.iter().position(|lane| lane.run.run == run.run);
    own.or_else(|| lanes.iter().position(|lane| Some(lane.host) == host))
        .unwrap_or_default()
}
