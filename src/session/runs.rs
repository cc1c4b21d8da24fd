//! All runs together: which go on, which are of one binding, and how far each host is. Made once
//! after a run has changed, when somebody asks.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use rpds::RedBlackTreeSetSync;

use super::{RunStage, RunView, Session};
use crate::event::{Binding, BindingId, Nanos};

/// All runs, by their places.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// Those that go on, the one that began first in front.
    going: Vec<usize>,
    /// The one that began last.
    latest: Option<usize>,
    ended: usize,
    /// Those that were started again.
    loads: usize,
    /// Those of each binding, by repetition.
    of: HashMap<BindingId, Vec<usize>>,
    hosts: Vec<HostRuns>,
}

/// Kept until a run changes. It is no part of what a session holds.
#[derive(Default, Clone)]
pub(super) struct Known(OnceLock<Arc<Runs>>);

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}

/// What is known of a host's runs, by their places.
#[derive(Debug)]
pub struct HostRuns {
    /// The host.
    pub name: String,
    /// Runs that go on, the one that began first in front.
    pub going: Vec<usize>,
    /// The one that began last.
    pub last: Option<usize>,
    /// The first one to come.
    pub next: Option<usize>,
    /// When its first one began.
    pub began: Option<Nanos>,
    /// Whether one did not end well.
    pub is_broken: bool,
}

impl HostRuns {
    fn take(&mut self, at: usize, run: &RunView, last: Option<Nanos>) {
        match run.state {
            RunStage::Queued => self.next = self.next.or(Some(at)),
            RunStage::Running => self.going.push(at),
            RunStage::Ended(end, _) => self.is_broken |= !end.is_good() && !run.is_load(),
        }
        if let Some(started) = run.started {
            self.began = Some(self.began.map_or(started, |began| began.min(started)));
            if last.is_none_or(|last| last <= started) {
                self.last = Some(at);
            }
        }
    }
}

impl Runs {
    fn of(session: &Session) -> Self {
        let mut all = Self::default();
        let mut known: HashMap<&str, usize> = HashMap::new();
        let header = session.header.as_deref();
        let bindings = header.map_or(&[][..], |header| &header.plan.bindings);
        for binding in bindings {
            let name = binding.host();
            known.entry(name).or_insert_with(|| {
                all.hosts.push(HostRuns {
                    name: name.to_owned(),
                    going: Vec::new(),
                    last: None,
                    next: None,
                    began: None,
                    is_broken: false,
                });
                all.hosts.len() - 1
            });
        }
        let started = |at: usize| session.runs.get(at).and_then(|run| run.started);
        for (at, run) in session.runs.iter().enumerate() {
            all.loads += usize::from(run.is_load());
            match run.state {
                RunStage::Queued => {}
                RunStage::Running => all.going.push(at),
                RunStage::Ended(..) => all.ended += usize::from(!run.is_load()),
            }
            if run.started.is_some() && all.latest.and_then(started) <= run.started {
                all.latest = Some(at);
            }
            all.of.entry(run.binding.clone()).or_default().push(at);
            let host = session.binding(&run.binding).map(Binding::host);
            let host = host.and_then(|host| known.get(host));
            if let Some(host) = host.and_then(|host| all.hosts.get_mut(*host)) {
                let last = host.last.and_then(started);
                host.take(at, run, last);
            }
        }
        all.going.sort_by_key(|at| started(*at));
        for host in &mut all.hosts {
            host.going.sort_by_key(|at| started(*at));
        }
        let rep = |at: &usize| session.runs.get(*at).map(|run| run.rep);
        for runs in all.of.values_mut() {
            runs.sort_by_key(rep);
        }
        all
    }
}

impl Session {
    fn all_runs(&self) -> &Runs {
        let known = &self.known_runs.0;
        known.get_or_init(|| Arc::new(Runs::of(self)))
    }

    /// The runs that go on, the one that began first in front.
    #[must_use]
    pub fn current_runs(&self) -> Vec<&RunView> {
        let going = self.all_runs().going.iter();
        going.filter_map(|at| self.runs.get(*at)).collect()
    }

    /// The run to look at where none is chosen: of those that go on the one that began first, so
    /// that it stays the same until it ends; where none goes on, the one that began last.
    #[must_use]
    pub fn current_run(&self) -> Option<&RunView> {
        let runs = self.all_runs();
        let at = runs.going.first().copied().or(runs.latest)?;
        self.runs.get(at)
    }

    /// How many steps are over.
    #[must_use]
    pub fn ended_steps(&self) -> usize {
        self.ended_steps
    }

    /// How many runs are over and did not end well.
    #[must_use]
    pub fn bad_runs(&self) -> usize {
        let good: usize = self.good.values().map(RedBlackTreeSetSync::size).sum();
        self.ended_runs().saturating_sub(good)
    }

    /// How many runs there are to be: those that were started again are none of them.
    #[must_use]
    pub fn planned_runs(&self) -> usize {
        self.runs.len() - self.all_runs().loads
    }

    /// How many runs are over.
    #[must_use]
    pub fn ended_runs(&self) -> usize {
        self.all_runs().ended
    }

    /// The runs of a binding, by repetition.
    pub fn runs_of(&self, binding: &BindingId) -> impl Iterator<Item = &RunView> {
        let of = self.all_runs().of.get(binding).into_iter().flatten();
        of.filter_map(|at| self.runs.get(*at))
    }

    /// How far the hosts of the plan are, in its order.
    #[must_use]
    pub fn host_runs(&self) -> &[HostRuns] {
        &self.all_runs().hosts
    }
}
