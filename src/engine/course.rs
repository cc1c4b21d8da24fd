//! The jobs of a session, each in its turn: every host is opened, has its runs and is closed,
//! and hosts that share no run go on at the same time.

mod again;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use tokio::task::{Id, JoinError, JoinSet};

use crate::event::{EndState, First, Plan, PlannedRun, RunChange, RunState, What};
use crate::method::Bound;

use super::closing;
use super::control::Control;
use super::ending::Ended;
use super::opening::{self, NotOpened, Opened};
use super::outcome::Outcome;
use super::pair::{Paired, Seat};
use super::queue::{Queues, Turn};
use super::run::Run;
use super::shared::Shared;
use again::{Again, Restarts};

/// What a machine is needed for.
#[derive(Debug, Clone)]
enum Job {
    Open(String),
    /// One run, or two at once.
    Run(Vec<usize>),
    Close(String),
}

impl Job {
    /// The runs of it.
    fn runs(&self) -> &[usize] {
        match self {
            Self::Run(all) => all,
            Self::Open(_) | Self::Close(_) => &[],
        }
    }
}

/// What goes on for a job.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Task {
    Open(String),
    Run(usize),
    /// A run that was started again beside another one.
    Again(Again),
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
    first: First,
    queues: Queues<Job>,
    going: JoinSet<Done>,
    turns: HashMap<Id, (Task, Arc<Turn>)>,
    /// Runs that were started again, by the one that each is beside.
    again: Restarts,
    opened: BTreeMap<String, Opened>,
    outcome: Outcome,
    /// A sentence about a run names its host.
    several: bool,
}

impl Course {
    pub fn new(shared: Shared, bounds: Vec<Bound>, plan: Plan, outcome: Outcome) -> Self {
        let mut course = Self {
            several: shared.hosts.len() > 1,
            shared: Arc::new(shared),
            bounds: Arc::new(bounds),
            runs: plan.runs,
            first: plan.together.first,
            queues: Queues::default(),
            going: JoinSet::new(),
            turns: HashMap::new(),
            again: Restarts::default(),
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
        let at_once: Vec<_> = runs
            .chunk_by(|(one, _), (next, _)| self.partner(*one) == Some(*next))
            .collect();
        for together in at_once {
            let hosts = together.iter().flat_map(|(_, hosts)| hosts);
            let machines = shared.machines(hosts.map(String::as_str));
            let all = together.iter().map(|(at, _)| *at).collect();
            self.queues.push(Job::Run(all), machines);
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

    /// The run that goes on at the same time.
    fn partner(&self, run: usize) -> Option<usize> {
        let other = self.runs.get(run)?.beside.as_ref()?;
        self.runs.iter().position(|planned| planned.run == *other)
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
                if rest.iter().any(|job| !job.runs().is_empty()) {
                    self.outcome.stopped();
                }
            }
            let paused = *pauses.borrow_and_update();
            while let Some((job, turn)) = self.queues.next(|job| paused && !job.runs().is_empty()) {
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
        let turn = Arc::new(turn);
        let shared = Arc::clone(&self.shared);
        match job {
            Job::Open(host) => {
                let subjects = self.subjects(&host);
                let name = host.clone();
                let opening = async move {
                    let (opened, done) = opening::open(&shared, &name, &subjects).await;
                    Done::Opened(opened, done)
                };
                self.follow(Task::Open(host), turn, opening);
            }
            Job::Run(all) => {
                let mut seats = Seat::two(self.first).into_iter();
                for at in all {
                    let other = self.partner(at).and_then(|other| self.method(other));
                    let paired = other.zip(seats.next());
                    let paired = paired.map(|(other, seat)| Paired::meeting(&other, seat));
                    let part = shared.control.part();
                    let planned = self.runs.get(at).cloned();
                    self.run(
                        (at, planned),
                        at + 1,
                        (paired, part),
                        Task::Run(at),
                        Arc::clone(&turn),
                    );
                }
            }
            Job::Close(host) => {
                let (opened, name) = (self.opened.remove(&host), host.clone());
                let closing = async move {
                    if let Some(opened) = opened {
                        closing::close(&shared, &name, opened).await;
                    }
                    Done::Closed
                };
                self.follow(Task::Close(host), turn, closing);
            }
        }
    }

    fn follow(
        &mut self,
        task: Task,
        turn: Arc<Turn>,
        does: impl Future<Output = Done> + Send + 'static,
    ) {
        let handle = self.going.spawn(does);
        self.turns.insert(handle.id(), (task, turn));
    }

    fn run(
        &mut self,
        (at, planned): (usize, Option<PlannedRun>),
        order: usize,
        (paired, control): (Option<Paired>, Control),
        task: Task,
        turn: Arc<Turn>,
    ) {
        let shared = Arc::clone(&self.shared);
        let bounds = Arc::clone(&self.bounds);
        let bound = self.bound(at);
        let order = u32::try_from(order).unwrap_or(u32::MAX);
        let does = async move {
            let bound = bound.and_then(|at| bounds.get(at));
            match (bound, planned) {
                (Some(bound), Some(planned)) => {
                    let run = Run::new(&shared, bound, &planned, paired, control);
                    Done::Ran(run.conduct(order).await)
                }
                _ => Done::Ran(broken("nothing is bound to it")),
            }
        };
        self.follow(task, turn, does);
    }

    fn ended(&mut self, ended: Result<(Id, Done), JoinError>) {
        let (id, done) = match ended {
            Ok((id, done)) => (id, Ok(done)),
            Err(why) => (why.id(), Err(why.to_string())),
        };
        let Some((task, turn)) = self.turns.remove(&id) else {
            return;
        };
        match (task, done) {
            (Task::Open(host), Ok(Done::Opened(opened, done))) => {
                self.opened.insert(host.clone(), opened);
                if let Err(why) = done {
                    self.refuse(&host, &why);
                }
            }
            (Task::Open(host), Err(why)) => self.refuse(&host, &NotOpened { exit: 1, why }),
            (Task::Run(at), Ok(Done::Ran(ended))) => self.ran(at, &ended, &turn),
            (Task::Run(at), Err(why)) => {
                let ended = broken(&why);
                self.tell_end(at, ended.end, ended.cause.clone());
                self.ran(at, &ended, &turn);
            }
            (Task::Again(again), Ok(Done::Ran(ended))) => self.ran_again(again, &ended, &turn),
            (Task::Again(again), Err(why)) => self.ran_again(again, &broken(&why), &turn),
            _ => {}
        }
        // Of two at once, the last one gives it back.
        if let Some(turn) = Arc::into_inner(turn) {
            self.queues.done(turn);
        }
    }

    /// A run that did not end well ends the queues of its machines: what it kept may be needed
    /// to bring the subject back, and the next would fail alike. One that goes on beside it is
    /// followed to its end.
    fn ran(&mut self, at: usize, ended: &Ended, turn: &Arc<Turn>) {
        let name = self.name(at);
        self.outcome.ran(&name, ended);
        self.again.over(at);
        if ended.end.is_good() {
            self.start_again(at, turn);
        } else {
            self.end_queues(turn);
        }
    }

    fn end_queues(&mut self, turn: &Turn) {
        let waiting = self.queues.leave(|job, machines| {
            !job.runs().is_empty() && !machines.is_disjoint(turn.machines())
        });
        if !self.shared.control.is_stopped() {
            let runs = waiting.iter().map(|job| job.runs().len()).sum();
            self.outcome.not_started(runs);
        }
    }

    /// What a sentence calls a run.
    fn name(&self, at: usize) -> String {
        let host = self.bound(at).and_then(|at| self.bounds.get(at));
        let host = host.map_or("", |bound| bound.binding.host());
        if self.several {
            format!("{host}: run {}", at + 1)
        } else {
            format!("run {}", at + 1)
        }
    }

    fn method(&self, run: usize) -> Option<String> {
        let bound = self.bounds.get(self.bound(run)?)?;
        Some(bound.binding.method.clone())
    }

    /// Runs on a host that is not open do not begin.
    fn refuse(&mut self, host: &str, why: &NotOpened) {
        let needs: BTreeSet<usize> = (0..self.runs.len())
            .filter(|at| self.hosts(*at).contains(host))
            .collect();
        let waiting = self
            .queues
            .leave(|job, _| job.runs().iter().any(|at| needs.contains(at)));
        for at in waiting.iter().flat_map(Job::runs) {
            self.tell_end(*at, EndState::Failed, Some(why.why.clone()));
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
