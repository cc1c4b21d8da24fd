//! The hosts that were named, and what can be picked on them.
//!
//! Each host is connected, probed and asked what can run there by a task of its own: one that is
//! slow or silent holds up no other, and no key.

mod asked;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

use crate::engine::{Connected, FoundSubject, Hosts, subjects};
use crate::event::Binding;
use crate::host::HostError;
use crate::host::ssh::Stage;
use crate::method::{Catalogue, HostInfo, Own, SubjectKind, SubjectSpec};
use crate::recording::History;
use crate::tui::MethodOffer;

use super::offer::{self, Wishes};
use super::{CommandError, Context, connect};

/// How long a host may take to say what can run there.
const WORKING_OUT: Duration = Duration::from_secs(30);
/// So many stages of connecting may wait to be shown.
const STAGES: usize = 256;
/// How often the seconds of what is being done go on.
const TICK: Duration = Duration::from_secs(1);

/// All of them.
pub(super) struct Seats {
    context: Arc<Context>,
    catalogue: Arc<Catalogue>,
    /// In the order in which they were named, each once.
    names: Vec<String>,
    seats: BTreeMap<String, Seat>,
    wishes: Wishes,
    /// Subjects that the operator named, by host.
    named: BTreeMap<String, Vec<SubjectSpec>>,
    /// Earlier runs; absent until they have been read.
    history: Option<Arc<History>>,
    /// The last revision that was asked for, and the last one that was answered.
    revision: (u64, u64),
    tasks: JoinSet<Seen>,
    stages: (mpsc::Sender<Seen>, mpsc::Receiver<Seen>),
    /// Set where earlier runs are not to be read any more.
    enough: Arc<AtomicBool>,
}

/// A host that was named.
#[derive(Default)]
struct Seat {
    known: Option<Connected>,
    methods: Vec<(MethodOffer, Option<Binding>)>,
    subjects: Vec<FoundSubject>,
    standing: Standing,
    /// Connects it and asks what it is; a newer one replaces it.
    probe: Option<AbortHandle>,
    /// What an older probe has to say is not listened to.
    probes: u64,
    /// Nor what an older look at what can run.
    looks: u64,
    /// It was the only one that was there when what can run on it was worked out.
    alone: bool,
    /// Something was changed, and what would run is not worked out yet.
    stale: bool,
}

enum Standing {
    /// What is being done before anything can be picked, and since when.
    Busy(String, Instant),
    Up,
    Down(String),
}

impl Default for Standing {
    fn default() -> Self {
        Self::busy("connecting")
    }
}

impl Standing {
    fn busy(doing: &str) -> Self {
        Self::Busy(doing.to_owned(), Instant::now())
    }
}

/// What a task found out.
pub(super) enum Seen {
    Stage(String, u64, String),
    Probed(String, u64, Box<Result<Connected, HostError>>),
    Subjects(String, u64, Vec<FoundSubject>),
    WorkedOut(String, u64, Option<Box<Worked>>),
    /// Absent where it was not read to its end.
    History(Option<History>),
    /// A second has passed while a host is being connected.
    Tick,
    Broken(String),
}

/// What can run on a host.
pub(super) struct Worked {
    known: Connected,
    methods: Vec<(MethodOffer, Option<Binding>)>,
}

impl Seats {
    pub fn new(context: Arc<Context>, catalogue: Arc<Catalogue>, names: Vec<String>) -> Self {
        let mut once = BTreeSet::new();
        let mut seats = Self {
            context,
            catalogue,
            names: names
                .into_iter()
                .filter(|name| once.insert(name.clone()))
                .collect(),
            seats: BTreeMap::new(),
            wishes: Wishes::default(),
            named: BTreeMap::new(),
            history: None,
            revision: (0, 0),
            tasks: JoinSet::new(),
            stages: mpsc::channel(STAGES),
            enough: Arc::default(),
        };
        seats.connect();
        seats.read_history();
        seats
    }

    /// The next thing that a task found out.
    pub async fn next(&mut self) -> Seen {
        let is_busy = |seat: &Seat| matches!(seat.standing, Standing::Busy(..));
        let is_busy = self.seats.values().any(is_busy);
        loop {
            tokio::select! {
                Some(stage) = self.stages.1.recv() => return stage,
                Some(found) = self.tasks.join_next() => match found {
                    Ok(found) => return found,
                    Err(why) if why.is_panic() => return Seen::Broken(why.to_string()),
                    // A probe that a newer one replaced.
                    Err(_) => {}
                },
                () = sleep(TICK), if is_busy => return Seen::Tick,
            }
        }
    }

    /// Ends all tasks.
    pub async fn close(&mut self) {
        self.leave_history();
        self.tasks.shutdown().await;
    }

    /// Takes what was found out; says whether the offer has to be told anew.
    pub fn hear(&mut self, seen: Seen) -> bool {
        match seen {
            Seen::Tick => {}
            Seen::Broken(_) => return false,
            Seen::Stage(host, probe, doing) => {
                let seat = self.seats.get_mut(&host);
                let Some(seat) = seat.filter(|seat| seat.probes == probe) else {
                    return false;
                };
                // A connection more, once it is known, is no news.
                if !matches!(seat.standing, Standing::Busy(..)) || seat.probe.is_none() {
                    return false;
                }
                seat.standing = Standing::busy(&doing);
            }
            Seen::Probed(host, probe, found) => {
                let seat = self.seats.get_mut(&host);
                let Some(seat) = seat.filter(|seat| seat.probes == probe) else {
                    return false;
                };
                seat.probe = None;
                match *found {
                    Ok(known) => {
                        seat.known = Some(known);
                        seat.standing = Standing::busy("looking what can run");
                        self.look_for_subjects(&host);
                        self.work_out(&host);
                        self.look_again();
                    }
                    Err(why) => {
                        *seat = Seat {
                            standing: Standing::Down(match why.phase() {
                                Some(phase) => format!("{phase}: {}", why.why()),
                                None => why.why().to_owned(),
                            }),
                            probes: seat.probes,
                            looks: seat.looks + 1,
                            ..Seat::default()
                        };
                    }
                }
            }
            Seen::Subjects(host, probe, found) => {
                let seat = self.seats.get_mut(&host);
                let Some(seat) = seat.filter(|seat| seat.probes == probe) else {
                    return false;
                };
                seat.subjects = found;
            }
            Seen::WorkedOut(host, look, worked) => {
                let seat = self.seats.get_mut(&host);
                let Some(seat) = seat.filter(|seat| seat.looks == look) else {
                    return false;
                };
                seat.stale = false;
                if let Some(worked) = worked {
                    seat.known = Some(worked.known);
                    seat.methods = worked.methods;
                    seat.standing = Standing::Up;
                } else {
                    seat.methods.clear();
                    seat.standing = Standing::Down(format!(
                        "it did not say within {} s what can run there; try again",
                        WORKING_OUT.as_secs()
                    ));
                }
                self.remember();
            }
            Seen::History(None) => return false,
            Seen::History(Some(history)) => {
                self.history = Some(Arc::new(history));
                self.remember();
            }
        }
        true
    }

    /// Probes all hosts again.
    pub fn refresh(&mut self, revision: u64) {
        self.revision.0 = revision;
        self.connect();
    }

    /// Changes a setting; back to its default where there is no value.
    pub fn set(&mut self, revision: u64, key: (String, String, String), value: Option<String>) {
        let host = key.0.clone();
        match value {
            Some(value) => self.wishes.changed.insert(key, value),
            None => self.wishes.changed.remove(&key),
        };
        self.changed(revision, &host);
    }

    /// Chooses what is protected on a host; what each method makes itself where there is none.
    pub fn protect(&mut self, revision: u64, host: &str, subject: Option<SubjectSpec>) {
        if let Some(spec) = &subject {
            let named = self.named.entry(host.to_owned()).or_default();
            if !named.contains(spec) {
                named.push(spec.clone());
            }
        }
        match subject {
            Some(subject) => self.wishes.protect.insert(host.to_owned(), subject),
            None => self.wishes.protect.remove(host),
        };
        self.changed(revision, host);
    }

    fn changed(&mut self, revision: u64, host: &str) {
        self.revision.0 = revision;
        if let Some(seat) = self.seats.get_mut(host).filter(|seat| seat.known.is_some()) {
            seat.stale = true;
            self.work_out(host);
        }
    }

    fn connect(&mut self) {
        let tools = connect::tools(&self.catalogue);
        for name in &self.names {
            let seat = self.seats.entry(name.clone()).or_default();
            seat.probes += 1;
            seat.standing = Standing::busy(if name == "local" {
                "probing"
            } else {
                "connecting"
            });
            let (context, name, probe) = (Arc::clone(&self.context), name.clone(), seat.probes);
            let (tools, stages) = (tools.clone(), self.stages.0.clone());
            let stage = Stage::to({
                let name = name.clone();
                move |doing| {
                    // One that has no room is followed by the next.
                    let _ = stages.try_send(Seen::Stage(name.clone(), probe, doing.to_owned()));
                }
            });
            let task = self.tasks.spawn(async move {
                let paths = ["/var/tmp".to_owned()];
                let found = connect::probe(&context, &name, &tools, &paths, &stage).await;
                Seen::Probed(name, probe, Box::new(found))
            });
            if let Some(older) = seat.probe.replace(task) {
                older.abort();
            }
        }
    }

    /// Reads that no more: a run's figures are not to hold what it costs.
    pub fn leave_history(&self) {
        self.enough.store(true, Ordering::Relaxed);
    }

    /// Reads what earlier runs took, off the threads that answer keys.
    pub fn read_history(&mut self) {
        self.leave_history();
        self.enough = Arc::default();
        let folder = self.context.paths.recordings.clone();
        let enough = Arc::clone(&self.enough);
        self.tasks.spawn_blocking(move || {
            let is_wanted = || !enough.load(Ordering::Relaxed);
            Seen::History(History::read(&folder, is_wanted))
        });
    }

    /// What earlier runs took is told with every method that is known.
    fn remember(&mut self) {
        let Some(history) = &self.history else { return };
        let known = self.seats.values().filter_map(|seat| seat.known.as_ref());
        let infos: BTreeMap<String, HostInfo> = known
            .map(|known| (known.info.name.clone(), known.info.clone()))
            .collect();
        for seat in self.seats.values_mut() {
            for (method, binding) in &mut seat.methods {
                if let Some(binding) = binding {
                    method.past =
                        history.past(binding, |host| infos.get(host).map(|info| &info.facts));
                }
            }
        }
    }

    fn look_for_subjects(&mut self, host: &str) {
        let kinds = self.kinds();
        let Some((seat, known)) = self
            .seats
            .get(host)
            .and_then(|seat| Some((seat, seat.known.clone()?)))
        else {
            return;
        };
        let (host, probe) = (host.to_owned(), seat.probes);
        self.tasks.spawn(async move {
            let found = subjects(known.host.as_ref(), &known.info.facts, &kinds).await;
            // What cannot be listed can still be named.
            Seen::Subjects(host, probe, found.unwrap_or_default())
        });
    }

    /// The kinds of subjects that some method takes.
    fn kinds(&self) -> BTreeSet<SubjectKind> {
        let methods = self.catalogue.all().map(|(method, _)| method);
        methods
            .filter(|method| method.own != Own::Always)
            .map(|method| method.subject)
            .collect()
    }

    /// Where there is a second host now, the first one may run what needs two.
    fn look_again(&mut self) {
        if self.hosts().len() < 2 {
            return;
        }
        let alone = |(name, seat): (&String, &Seat)| seat.alone.then(|| name.clone());
        let alone: Vec<String> = self.seats.iter().filter_map(alone).collect();
        for name in alone {
            self.work_out(&name);
        }
    }

    /// Those that are there.
    pub fn hosts(&self) -> Hosts {
        let known = self.seats.iter();
        known
            .filter_map(|(name, seat)| Some((name.clone(), seat.known.clone()?)))
            .collect()
    }

    fn work_out(&mut self, host: &str) {
        let mut hosts = self.hosts();
        let Some(seat) = self.seats.get_mut(host) else {
            return;
        };
        let Some(mut known) = seat.known.clone() else {
            return;
        };
        seat.looks += 1;
        seat.alone = hosts.len() == 1;
        let (context, catalogue) = (Arc::clone(&self.context), Arc::clone(&self.catalogue));
        let (wishes, host, look) = (self.wishes.clone(), host.to_owned(), seat.looks);
        self.tasks.spawn(async move {
            let work = async {
                // Where the subject stands has not been asked yet.
                if let Some(subject) = wishes.protect.get(&host)
                    && let Ok(asked) =
                        connect::with_place(&context, &catalogue, &known, &subject.id).await
                {
                    known = asked;
                    hosts.insert(host.clone(), known.clone());
                }
                let methods = offer::methods(&context, &catalogue, &host, &hosts, &wishes).await;
                Box::new(Worked { known, methods })
            };
            let worked = timeout(WORKING_OUT, work).await.ok();
            Seen::WorkedOut(host, look, worked)
        });
    }
}

#[cfg(test)]
mod tests;
