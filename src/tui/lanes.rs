//! Which run of each host is looked at: hosts work side by side, each on one run after the other.

use crate::event::Binding;
use crate::session::{HostRuns, RunView, Session};

/// A run that stands for its host.
#[derive(Debug, Clone, Copy)]
pub struct Lane<'a> {
    /// The host.
    pub host: &'a str,
    /// Its run: the one that goes on, else the last one that began, else the first to come.
    pub run: &'a RunView,
}

/// Whether a host has begun, and has still something to do.
fn has_more(host: &HostRuns) -> bool {
    !host.going.is_empty() || (host.next.is_some() && host.began.is_some() && !host.is_broken)
}

/// A lane a host, in the order of the plan; of a host on which several runs go on, one each.
#[must_use]
pub fn lanes(session: &Session) -> Vec<Lane<'_>> {
    session
        .host_runs()
        .iter()
        .flat_map(|host| of(session, host))
        .collect()
}

fn of<'a>(session: &'a Session, host: &'a HostRuns) -> impl Iterator<Item = Lane<'a>> {
    let stands = if host.going.is_empty() {
        host.last.or(host.next)
    } else {
        None
    };
    let runs = host.going.iter().copied().chain(stands);
    runs.filter_map(|at| {
        Some(Lane {
            host: &host.name,
            run: session.runs.get(at)?,
        })
    })
}

fn host<'a>(session: &'a Session, name: &str) -> Option<&'a HostRuns> {
    session.host_runs().iter().find(|host| host.name == name)
}

/// The run of a host to look at.
#[must_use]
pub fn of_host<'a>(session: &'a Session, name: &str) -> Option<&'a RunView> {
    let lane = of(session, host(session, name)?).next()?;
    Some(lane.run)
}

/// Whether a host has still something to do.
#[must_use]
pub fn is_busy(session: &Session, name: &str) -> bool {
    session.end.is_none() && host(session, name).is_some_and(has_more)
}

/// The run to look at where the operator has chosen none: on the host that began first and has
/// still something to do, so that the next run is followed there; else the one that began last.
#[must_use]
pub fn followed(session: &Session) -> Option<&RunView> {
    let busy = session.host_runs().iter().filter(|host| has_more(host));
    let first = busy
        .min_by_key(|host| host.began)
        .filter(|_| session.end.is_none());
    first
        .and_then(|host| session.runs.get(host.going.first().copied().or(host.last)?))
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
