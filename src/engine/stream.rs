//! A pipe between roles, through this machine: its sides, and the bytes that go from one to the
//! next.
//!
//! A side sees the end of its input only when the one before it has ended well and all that it
//! wrote has arrived: a stream that broke never looks like one that is whole.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant as Tick, MissedTickBehavior, interval, sleep_until, timeout};

use crate::event::{Level, Nanos, ProgressKind, StepId, What, count};
use crate::host::HostError;
use crate::host::supervisor::{Ends, Launch, Link, Part, Side, Supervisor, Whole, pipe_script};
use crate::progress::Finding;
use crate::progress::clamp::Clamp;

use super::carry::{Carried, How, carry, finish, followed};
use super::command::{Followed, Following, PATIENCE, PartOf};
use super::control::Control;
use super::piping::Segment;
use super::teller::{About, Teller};

/// How often the bytes are looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long a side may go on after the one that reads from it has ended well: what it still
/// writes (the padding of an archive) is nobody's.
const GRACE: Duration = Duration::from_secs(2);

/// What is asked of a stream.
pub(super) struct Wanted<'a> {
    pub step: &'a StepId,
    pub segments: &'a [Segment],
    pub supervisors: Vec<Arc<Supervisor>>,
    pub launch: Launch,
    /// Whether its sha256 is taken.
    pub hashed: bool,
    /// Bytes that it is expected to move.
    pub expect: Option<u64>,
    /// Interrupt it after so many bytes.
    pub until: Option<u64>,
    /// Exit codes that are not failures, beside 0.
    pub ok: &'a [i32],
    pub control: &'a Control,
    pub teller: &'a Teller,
    /// The session's begin.
    pub began: Instant,
}

/// What a stream came to.
pub(super) struct Streamed {
    /// What ran on each host, from the sender on, one for each segment. Nothing where nobody
    /// could follow it.
    pub sides: Vec<Option<Followed>>,
    /// Bytes that went into the last side; absent where nobody counted.
    pub bytes: Option<u64>,
    /// Their sha256, where it was asked for and they are whole.
    pub sha256: Option<String>,
    /// Why it is not whole.
    pub trouble: Option<Trouble>,
    /// Seconds since the session's begin.
    pub here: (f64, f64),
}

/// Why a stream is not whole: the first reason, of which others follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// This side did not end well.
    Side(usize),
    /// Something else, in one sentence.
    Between(String),
    /// It was interrupted as the method says.
    Interrupted,
}

/// What happens in a stream.
enum News {
    Ended(usize, Option<Box<Followed>>),
    /// A side's connection is gone.
    Lost(usize),
    /// Nothing more comes from a side.
    Carried(usize, Carried),
    /// The side behind this link may see its end, or why not.
    Finished(Result<(), HostError>),
}

/// A link from one side to the next.
struct Between {
    link: watch::Receiver<Link>,
    whole: Whole,
    carried: Option<Carried>,
    /// What comes is whole.
    arrived: bool,
    /// The next side may have seen its end.
    told: Arc<AtomicBool>,
}

struct Pump<'a> {
    wanted: &'a Wanted<'a>,
    news: JoinSet<News>,
    halts: Vec<PartOf>,
    /// Which sides have ended, and how each was followed.
    over: BTreeSet<usize>,
    sides: Vec<Option<Followed>>,
    between: Vec<Between>,
    /// What carries bytes: it goes when the stream is given up.
    carriers: Vec<AbortHandle>,
    bytes: Arc<AtomicU64>,
    sha256: Option<String>,
    trouble: Option<Trouble>,
    /// Until when a side may go on that nobody reads from.
    grace: Option<(usize, Tick)>,
}

/// Runs it to its end.
///
/// # Errors
/// Where a side could not be begun; then none is left.
pub(super) async fn run(
    wanted: Wanted<'_>,
    following: impl Fn(usize) -> Following,
) -> Result<Streamed, HostError> {
    let now = || wanted.began.elapsed().as_secs_f64();
    let sides = begin(&wanted).await?;
    // The sender was the last to be begun.
    let begin = now();
    let mut pump = Pump::new(&wanted);
    // The last side writes nowhere; its channel is kept.
    let _kept = pump.connect(sides, following);
    pump.watch().await;
    Ok(Streamed {
        sides: pump.sides,
        bytes: Some(pump.bytes.load(Ordering::Relaxed)),
        sha256: pump.sha256,
        trouble: pump.trouble,
        here: (begin, now()),
    })
}

/// Begins all sides, the last one first: nothing is sent where nobody takes it.
async fn begin(wanted: &Wanted<'_>) -> Result<Vec<Side>, HostError> {
    let last = wanted.segments.len().saturating_sub(1);
    let name = |at: usize| format!("{}-{}", wanted.step, at + 1);
    let mut sides = Vec::new();
    let all = wanted.segments.iter().zip(&wanted.supervisors).enumerate();
    for (at, (segment, supervisor)) in all.collect::<Vec<_>>().into_iter().rev() {
        let text = match &segment.members[..] {
            [one] => one.clone(),
            many => pipe_script(many),
        };
        let ends = Ends {
            reads: at > 0,
            writes: at < last,
        };
        let launch = Launch {
            stdin: wanted.launch.stdin.clone().filter(|_| at == 0),
            ..wanted.launch.clone()
        };
        match supervisor.side(&name(at), &text, launch, ends).await {
            Ok(side) => sides.push(side),
            Err(why) => {
                // It may have been begun all the same.
                if let Ok(stopper) = supervisor.stopper(&name(at)) {
                    stopper.stop(PATIENCE).await;
                }
                let stoppers: Vec<_> = sides.iter().map(|side| side.job.stopper()).collect();
                drop(sides);
                for stopper in stoppers {
                    stopper.stop(PATIENCE).await;
                }
                return Err(why);
            }
        }
    }
    sides.reverse();
    Ok(sides)
}

impl<'a> Pump<'a> {
    fn new(wanted: &'a Wanted<'a>) -> Self {
        let log = PartOf::default().log;
        let halts = wanted.segments.iter().map(|_| PartOf {
            log: Arc::clone(&log),
            ..PartOf::default()
        });
        Self {
            wanted,
            news: JoinSet::new(),
            halts: halts.collect(),
            over: BTreeSet::new(),
            sides: wanted.segments.iter().map(|_| None).collect(),
            between: Vec::new(),
            carriers: Vec::new(),
            bytes: Arc::default(),
            sha256: None,
            trouble: None,
            grace: None,
        }
    }

    /// Follows all sides, and carries what each writes to the next. Gives the output of the
    /// last one.
    fn connect(
        &mut self,
        sides: Vec<Side>,
        following: impl Fn(usize) -> Following,
    ) -> Option<mpsc::Receiver<Part>> {
        let links = sides.len().saturating_sub(1);
        let mut from: Option<mpsc::Receiver<Part>> = None;
        for (at, side) in sides.into_iter().enumerate() {
            let part_of = self.halts.get(at).cloned();
            let follows = Following {
                part_of,
                ..following(at)
            };
            let job = side.job;
            self.news
                .spawn(async move { News::Ended(at, followed(job, follows).await.map(Box::new)) });
            let mut link = side.link.clone();
            self.news.spawn(async move {
                match link.wait_for(|link| *link != Link::Open).await.as_deref() {
                    Ok(Link::Lost) | Err(_) => News::Lost(at),
                    Ok(_) => News::Finished(Ok(())),
                }
            });
            if let Some(from) = from.replace(side.output) {
                // The last link counts: what the target was given.
                let bytes = (at == links).then(|| Arc::clone(&self.bytes));
                let hash = (at == links && self.wanted.hashed).then(Sha256::new);
                let until = self.wanted.until.filter(|_| at == links);
                let carried = carry(from, side.input, bytes, hash, until);
                let carrier = self
                    .news
                    .spawn(async move { News::Carried(at - 1, carried.await) });
                self.carriers.push(carrier);
                self.between.push(Between {
                    link: side.link,
                    whole: side.whole,
                    carried: None,
                    arrived: false,
                    told: Arc::default(),
                });
            }
        }
        from
    }

    /// Until all sides have ended.
    async fn watch(&mut self) {
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut clamp = Clamp::new(self.wanted.step.clone());
        let started = Instant::now();
        let mut stopped = false;
        while self.over.len() < self.wanted.segments.len() {
            tokio::select! {
                news = self.news.join_next() => match news {
                    Some(Ok(news)) => self.take(news),
                    // What was given up.
                    Some(Err(_)) => {}
                    None => break,
                },
                () = self.wanted.control.stopped(), if !stopped => {
                    // Each side is ended by who follows it.
                    stopped = true;
                    self.let_go();
                }
                () = over(self.grace) => self.too_long(),
                _ = look.tick() => self.progress(&mut clamp, started),
            }
        }
        if self.trouble.is_none() && !stopped {
            // What was carried may be told after both sides have told their ends.
            let _ = timeout(GRACE, self.all_carried()).await;
        }
        self.progress(&mut clamp, started);
        let well = self.trouble.is_none() && !stopped;
        if let Some(last) = clamp.end(well) {
            self.wanted.teller.tell(What::Progress(last));
        }
        self.let_go();
    }

    /// Until every link has told how its bytes ended.
    async fn all_carried(&mut self) {
        let missing = |pump: &Self| pump.between.iter().any(|link| link.carried.is_none());
        while self.trouble.is_none() && missing(self) {
            match self.news.join_next().await {
                Some(Ok(news)) => self.take(news),
                Some(Err(_)) => {}
                None => break,
            }
        }
    }

    fn progress(&self, clamp: &mut Clamp, started: Instant) {
        let total = self.wanted.expect;
        let finding = Finding::Progress {
            kind: match total {
                Some(_) => ProgressKind::Estimated,
                None => ProgressKind::Unknown,
            },
            done: Some(self.bytes.load(Ordering::Relaxed)),
            total,
            percent: None,
        };
        let now = Nanos(u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX));
        if let Some(progress) = clamp.take(now, &finding) {
            self.wanted.teller.tell(What::Progress(progress));
        }
    }

    fn take(&mut self, news: News) {
        match news {
            News::Ended(at, followed) => self.side_ended(at, followed.map(|side| *side)),
            News::Lost(at) => self.lost(at),
            News::Carried(at, carried) => {
                if carried.sha256.is_some() {
                    self.sha256.clone_from(&carried.sha256);
                }
                if carried.dropped > 0 {
                    self.dropped(at, carried.dropped);
                }
                match carried.how {
                    How::Enough => self.fail(Trouble::Interrupted),
                    // Why, the side tells when it has ended.
                    How::Torn if !self.has_ended(at) => {}
                    How::Torn => self.torn(at),
                    How::Whole => {}
                }
                if let Some(between) = self.between.get_mut(at) {
                    between.arrived = carried.how == How::Whole;
                    between.carried = Some(carried);
                }
                self.finish(at);
            }
            News::Finished(Ok(())) => {}
            News::Finished(Err(why)) => self.fail(Trouble::Between(format!(
                "the stream arrived as a whole, but that could not be told: {why}"
            ))),
        }
    }

    /// Says that a side wrote more than the next one took.
    fn dropped(&self, at: usize, bytes: u64) {
        let host = self.host(at + 1);
        let about = About {
            host: Some(host),
            step: Some(self.wanted.step),
            ..About::default()
        };
        let sum = if self.wanted.hashed {
            ", and the stream has no sha256"
        } else {
            ""
        };
        let text = format!(
            "{} of the stream from {} not taken by {host}, which reads no more: not counted{sum}",
            count(bytes, "byte"),
            self.host(at)
        );
        self.wanted.teller.note(Level::Warning, text, about);
    }

    fn side_ended(&mut self, at: usize, followed: Option<Followed>) {
        let good = followed
            .as_ref()
            .is_some_and(|side| side.ended_well(self.wanted.ok));
        self.over.insert(at);
        if let Some(side) = self.sides.get_mut(at) {
            *side = followed;
        }
        if !good {
            return self.fail(Trouble::Side(at));
        }
        match self.between.get(at).and_then(|next| next.carried.as_ref()) {
            Some(carried) if carried.how == How::Torn => self.torn(at),
            _ => self.finish(at),
        }
        // It ended before what it reads did: the rest may be of no use, if it is little.
        let before = at.checked_sub(1).and_then(|before| {
            let told = self.between.get(before)?.told.load(Ordering::Relaxed);
            (!told && !self.has_ended(before)).then_some(before)
        });
        if let Some(before) = before {
            self.grace.get_or_insert((before, Tick::now() + GRACE));
        }
    }

    fn has_ended(&self, at: usize) -> bool {
        self.over.contains(&at)
    }

    /// Ends the input of the side behind a link, where the one before it has ended well and all
    /// that it wrote is on its way.
    fn finish(&mut self, at: usize) {
        if self.trouble.is_some() || !self.has_ended(at) {
            return;
        }
        let Some(between) = self.between.get_mut(at).filter(|between| between.arrived) else {
            return;
        };
        let Some(carried) = &mut between.carried else {
            return;
        };
        between.arrived = false;
        let (link, whole) = (between.link.clone(), between.whole.clone());
        let finished = finish(carried.to.take(), link, whole, Arc::clone(&between.told));
        let carrier = self
            .news
            .spawn(async move { News::Finished(finished.await) });
        self.carriers.push(carrier);
    }

    fn host(&self, at: usize) -> &str {
        let segment = self.wanted.segments.get(at);
        segment.map_or("a host", |segment| segment.host.as_str())
    }

    fn lost(&mut self, at: usize) {
        let carried = self.between.get(at).and_then(|next| next.carried.as_ref());
        // All that it wrote is here; how it ended is found out.
        if self.has_ended(at) || carried.is_some_and(|carried| carried.how == How::Whole) {
            return;
        }
        let text = format!(
            "the stream's connection to {} was lost after {}",
            self.host(at),
            count(self.bytes.load(Ordering::Relaxed), "byte")
        );
        self.fail(Trouble::Between(text));
    }

    fn torn(&mut self, at: usize) {
        let text = format!(
            "{}: the stream ended after {}, and not as a whole",
            self.host(at),
            count(self.bytes.load(Ordering::Relaxed), "byte")
        );
        self.fail(Trouble::Between(text));
    }

    fn too_long(&mut self) {
        let Some((before, _)) = self.grace.take() else {
            return;
        };
        if self.has_ended(before) {
            return;
        }
        let text = format!(
            "{} ended with status 0 after {}, when the stream from {} had not ended",
            self.host(before + 1),
            count(self.bytes.load(Ordering::Relaxed), "byte"),
            self.host(before)
        );
        self.fail(Trouble::Between(text));
    }

    /// Gives the stream up: every side that goes on is ended.
    fn fail(&mut self, trouble: Trouble) {
        if self.trouble.is_some() || self.wanted.control.is_stopped() {
            return;
        }
        self.trouble = Some(trouble);
        for halt in &self.halts {
            halt.halt.cancel();
        }
        self.let_go();
    }

    /// Ends what carries bytes, and the channels with it.
    fn let_go(&mut self) {
        for carrier in &self.carriers {
            carrier.abort();
        }
        for between in &mut self.between {
            between.carried = None;
        }
    }
}

/// When it is over; never, where there is none.
async fn over(grace: Option<(usize, Tick)>) {
    match grace {
        Some((_, until)) => sleep_until(until).await,
        None => std::future::pending().await,
    }
}
