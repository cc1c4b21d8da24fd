//! The jobs of a session, each in its turn: every host is opened, has its runs and is closed,
//! and hosts that share no run go on at the same time.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use tokio::task::{Id, JoinError, JoinSet};

use crate::event::{EndState, PlannedRun, RunChange, RunState, What};
use crate::method::Bound;

use super::closing;
use super::ending::Ended;
use super::opening::{self, NotOpened, Opened};
use super::outcome::Outcome;
use super::queue::{Queues, Turn};
use super::run::Run;
use super::shared::Shared;

/// What a machine is needed for.
#[derive(Debug, Clone)]
enum Job {
    Open(String),
    Run(usize),
    Close(String),
}

/// What came of a job.
enum Done {
    Opened(Opened, Result<(), NotOpened>),
    Ran(Ended),
    Closed,
}

/// All jobs of a session.
pub(super) struct Course {
    shared: Arc<Shared>,
    bounds: Arc<Vec<Bound>>,
    runs: Vec<PlannedRun>,
    queues: Queues<Job>,
    going: JoinSet<Done>,
    turns: HashMap<Id, (Job, Turn)>,
    opened: BTreeMap<String, Opened>,
    outcome: Outcome,
    /// A sentence about a run names its host.
    several: bool,
}

impl Course {
    pub fn new(
        shared: Shared,
        bounds: Vec<Bound>,
        runs: Vec<PlannedRun>,
        outcome: Outcome,
    ) -> Self {
        let mut course = Self {
            several: shared.hosts.len() > 1,
            shared: Arc::new(shared),
            bounds: Arc::new(bounds),
            runs,
            queues: Queues::default(),
            going: JoinSet::new(),
            turns: HashMap::new(),
            opened: BTreeMap::new(),
            outcome,
        };
        course.line_up();
        course
    }

    fn line_up(&mut self) {
        let runs = (0..self.runs.len()).map(|at| (at, self.hosts(at)));
        let runs: Vec<(usize, BTreeSet<String>)> = runs.collect();
        let hosts: BTreeSet<&String> = runs.iter().flat_map(|(_, hosts)| hosts).collect();
        let shared = &self.shared;
        for host in &hosts {
            let machine = [shared.machine(host)].into();
            self.queues.push(Job::Open((*host).clone()), machine);
        }
        for (at, hosts) in &runs {
            let machines = shared.machines(hosts.iter().map(String::as_str));
            self.queues.push(Job::Run(*at), machines);
        }
        for host in &hosts {
            let machine = [shared.machine(host)].into();
            self.queues.push(Job::Close((*host).clone()), machine);
        }
    }

    fn bound(&self, run: usize) -> Option<usize> {
        let planned = self.runs.get(run)?;
        let mut all = self.bounds.iter();
        all.position(|bound| bound.binding.id == planned.binding)
    }

    /// The hosts that a run needs.
    fn hosts(&self, run: usize) -> BTreeSet<String> {
        let bound = self.bound(run).and_then(|at| self.bounds.get(at));
        let infos = bound.into_iter().flat_map(|bound| bound.hosts.values());
        infos.map(|info| info.name.clone()).collect()
    }

    /// Named and marked subjects on a host; what the session makes itself bears its name.
    fn subjects(&self, host: &str) -> Vec<String> {
        let named = self.bounds.iter().map(|bound| &bound.binding);
        let here = named.filter(|binding| !binding.subject.own && binding.host() == host);
        let all: BTreeSet<String> = here.map(|binding| binding.subject.to_string()).collect();
        all.into_iter().collect()
    }

    /// Takes every job in its turn, and says what the runs came to.
    pub async fn take(mut self) -> Outcome {
        let control = self.shared.control.clone();
        let mut pauses = control.pauses();
        loop {
            let stopped = control.is_stopped();
            if stopped {
                let rest = self.queues.leave(|job, _| !matches!(job, Job::Close(_)));
                if rest.iter().any(|job| matches!(job, Job::Run(_))) {
                    self.outcome.stopped();
                }
            }
            let paused = *pauses.borrow_and_update();
            while let Some((job, turn)) =
                self.queues.next(|job| paused && matches!(job, Job::Run(_)))
            {
                self.begin(job, turn);
            }
            if self.going.is_empty() && self.queues.is_empty() {
                return self.outcome;
            }
            tokio::select! {
                Some(ended) = self.going.join_next_with_id() => self.ended(ended),
                () = control.stopped(), if !stopped => {}
                Ok(()) = pauses.changed() => {}
            }
        }
    }

    fn begin(&mut self, job: Job, turn: Turn) {
        let shared = Arc::clone(&self.shared);
        let task = match job.clone() {
            Job::Open(host) => {
                let subjects = self.subjects(&host);
                self.going.spawn(async move {
                    let (opened, done) = opening::open(&shared, &host, &subjects).await;
                    Done::Opened(opened, done)
                })
            }
            Job::Run(at) => {
                let bounds = Arc::clone(&self.bounds);
                let (bound, planned) = (self.bound(at), self.runs.get(at).cloned());
                let order = u32::try_from(at + 1).unwrap_or(u32::MAX);
                self.going.spawn(async move {
                    let bound = bound.and_then(|at| bounds.get(at));
                    match (bound, planned) {
                        (Some(bound), Some(planned)) => {
                            Done::Ran(Run::new(&shared, bound, &planned).conduct(order).await)
                        }
                        _ => Done::Ran(broken("nothing is bound to it")),
                    }
                })
            }
            Job::Close(host) => {
                let opened = self.opened.remove(&host);
                self.going.spawn(async move {
                    if let Some(opened) = opened {
                        closing::close(&shared, &host, opened).await;
                    }
                    Done::Closed
                })
            }
        };
        self.turns.insert(task.id(), (job, turn));
    }

    fn ended(&mut self, ended: Result<(Id, Done), JoinError>) {
        let (id, done) = match ended {
            Ok((id, done)) => (id, Ok(done)),
            Err(why) => (why.id(), Err(why.to_string())),
        };
        let Some((job, turn)) = self.turns.remove(&id) else {
            return;
        };
        match (job, done) {
            (Job::Open(host), Ok(Done::Opened(opened, done))) => {
                self.opened.insert(host.clone(), opened);
                if let Err(why) = done {
                    self.refuse(&host, &why);
                }
            }
            (Job::Open(host), Err(why)) => self.refuse(&host, &NotOpened { exit: 1, why }),
            (Job::Run(at), Ok(Done::Ran(ended))) => self.ran(at, &ended, &turn),
            (Job::Run(at), Err(why)) => {
                let ended = broken(&why);
                self.tell_end(at, ended.end, ended.cause.clone());
                self.ran(at, &ended, &turn);
            }
            _ => {}
        }
        self.queues.done(turn);
    }

    /// A run that did not end well ends the queues of its machines: what it kept may be needed
    /// to bring the subject back, and the next would fail alike.
    fn ran(&mut self, at: usize, ended: &Ended, turn: &Turn) {
        let host = self.bound(at).and_then(|at| self.bounds.get(at));
        let host = host.map_or("", |bound| bound.binding.host());
        let name = if self.several {
            format!("{host}: run {}", at + 1)
        } else {
            format!("run {}", at + 1)
        };
        self.outcome.ran(&name, ended);
        if !ended.end.is_good() {
            let waiting = self.queues.leave(|job, machines| {
                matches!(job, Job::Run(_)) && !machines.is_disjoint(turn.machines())
            });
            if !self.shared.control.is_stopped() {
                self.outcome.not_started(waiting.len());
            }
        }
    }

    /// Runs on a host that is not open do not begin.
    fn refuse(&mut self, host: &str, why: &NotOpened) {
        let needs: BTreeSet<usize> = (0..self.runs.len())
            .filter(|at| self.hosts(*at).contains(host))
            .collect();
        let waiting = self
            .queues
            .leave(|job, _| matches!(job, Job::Run(at) if needs.contains(at)));
        for job in waiting {
            if let Job::Run(at) = job {
                self.tell_end(at, EndState::Failed, Some(why.why.clone()));
            }
        }
        self.outcome.trouble(why.exit, why.why.clone());
    }

    fn tell_end(&self, at: usize, end: EndState, cause: Option<String>) {
        let Some(planned) = self.runs.get(at) else {
            return;
        };
        self.shared.teller.tell(What::Run(RunChange {
            run: planned.run.clone(),
            state: RunState::Ended { end, cause },
        }));
    }
}

fn broken(why: &str) -> Ended {
    Ended {
        end: EndState::Failed,
        cause: Some(format!("comeback itself broke off: {why}")),
        proved: false,
        exit: 1,
    }
}
