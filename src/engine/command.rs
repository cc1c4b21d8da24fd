//! A supervised command, followed: its output told, understood, and its end awaited.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant as Tick, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::event::{StepId, Stream};
use crate::host::supervisor::{
    Heard, Job, Launch, Outcome, RESTARTED, StopProof, Stopper, Supervisor,
};
use crate::host::{HostError, SharedHost, ask};
use crate::progress::Reader;

use super::away::Away;
use super::control::Control;
use super::hearing::Hearing;
use super::shell::text_of;
use super::teller::Teller;

/// How long output may wait to be told.
const BATCH: Duration = Duration::from_millis(16);
/// How often a silent tool's target is looked at.
const LOOK: Duration = Duration::from_secs(2);
/// How long a stopped group may take before it is killed.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// How a command is followed.
pub(super) struct Following {
    pub teller: Teller,
    pub step: StepId,
    /// The host that it runs on.
    pub host: String,
    /// How long that may be away before it counts as gone.
    pub gone_after: Duration,
    pub control: Control,
    /// Secrets that its output must not tell.
    pub secrets: Vec<Vec<u8>>,
    /// The session's begin.
    pub began: Instant,
    pub reader: Option<Box<dyn Reader>>,
    /// Bytes that it is expected to move.
    pub expect: Option<u64>,
    /// Looks at the target of a silent tool.
    pub watch: Option<(SharedHost, String)>,
    /// Interrupt it after so many bytes.
    pub until: Option<u64>,
    /// What it is a part of, where it is a side of a stream.
    pub part_of: Option<PartOf>,
    /// How it is ended.
    pub ending: Ending,
}

/// How a command is ended that is to end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Ending {
    /// TERM to all of its processes, then KILL.
    #[default]
    Kill,
    /// TERM to the first one, which ends what it began: a task of Proxmox is never killed.
    Task,
}

impl Ending {
    async fn end(self, stopper: Stopper) -> StopProof {
        match self {
            Self::Kill => stopper.stop(PATIENCE).await,
            Self::Task => stopper.ask_to_end(PATIENCE).await,
        }
    }
}

/// What the sides of a stream share.
#[derive(Clone, Default)]
pub(super) struct PartOf {
    /// Ends this side.
    pub halt: CancellationToken,
    /// Where the next byte of each of the step's streams goes: all sides write one log.
    pub log: Arc<Mutex<[u64; 2]>>,
    /// Takes the beginning of what this side prints, where that is no output but a talk.
    pub talk: Option<Arc<watch::Sender<Vec<u8>>>>,
}

impl PartOf {
    /// Tells what a side has printed at the place that comes next in the step's log.
    pub fn place(&self, stream: Stream, bytes: u64, tell: impl FnOnce(u64)) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let [out, err] = &mut *log;
        let next = match stream {
            Stream::Out => out,
            Stream::Err => err,
        };
        tell(*next);
        *next += bytes;
    }

    async fn halted(part_of: Option<&Self>) {
        match part_of {
            Some(part_of) => part_of.halt.cancelled().await,
            None => std::future::pending().await,
        }
    }
}

/// What a command came to.
#[derive(Debug)]
pub(super) struct Followed {
    pub outcome: Outcome,
    /// Standard output, as far as it is kept.
    pub out: Vec<u8>,
    /// Values that its output gave.
    pub values: BTreeMap<&'static str, String>,
    /// Figures that it printed: name, value, unit, resolution.
    pub figures: Vec<(&'static str, f64, &'static str, f64)>,
    /// Marks: name, seconds, resolution.
    pub marks: Vec<(&'static str, f64, f64)>,
    pub cause: Option<String>,
    /// The operator stopped it.
    pub stopped: bool,
    /// It was interrupted as the method says.
    pub interrupted: bool,
    /// Its host is gone, and why: nobody knows what became of the command.
    pub gone: Option<String>,
    /// It was ended with the stream that it was a side of.
    pub halted: bool,
    /// Seconds since the session's begin.
    pub here: (f64, f64),
}

impl Followed {
    /// Whether all of its statuses are known, and each is 0 or one of `ok`.
    pub fn ended_well(&self, ok: &[i32]) -> bool {
        let status = &self.outcome.status;
        !status.is_empty() && status.iter().all(|code| *code == 0 || ok.contains(code))
    }
}

/// How often, and how long apart, a command is begun anew that never was.
pub(super) const TRIES: u32 = 8;
const APART: Duration = Duration::from_millis(200);

impl Followed {
    /// Of a command of which nothing is known, at so many seconds since the session's begin.
    pub fn nothing(at: f64) -> Self {
        Self {
            outcome: Outcome {
                status: Vec::new(),
                stamps: None,
                resolution: 0.0,
                begun: true,
                lost: true,
                restarted: false,
                survivors: 0,
            },
            out: Vec::new(),
            values: BTreeMap::new(),
            figures: Vec::new(),
            marks: Vec::new(),
            cause: None,
            stopped: false,
            interrupted: false,
            gone: None,
            halted: false,
            here: (at, at),
        }
    }
}

/// Hears of each try to begin a command.
pub(super) trait Begun {
    /// It may have begun, and is ended by this.
    fn tell(&self, stopper: Stopper);
    /// Whether it is not to be begun any more.
    fn is_over(&self) -> bool;
}

/// Nobody does: the command is waited for.
impl Begun for () {
    fn tell(&self, _stopper: Stopper) {}

    fn is_over(&self) -> bool {
        false
    }
}

/// Begins a command and follows it to its end. Where the connection broke before anything was
/// begun, nothing is lost: it is begun anew, under another name.
///
/// # Errors
/// Where nothing could be begun.
pub(super) async fn run(
    supervisor: &Supervisor,
    text: &str,
    launch: &Launch,
    following: impl Fn() -> Following,
    begun: &impl Begun,
) -> Result<Followed, HostError> {
    let mut tries = 0;
    loop {
        let follows = following();
        let (step, control) = (attempt(&follows.step, tries), follows.control.clone());
        let last = tries + 1 >= TRIES || control.is_stopped();
        let launched = tokio::select! {
            launched = supervisor.launch(&step, text, launch.clone()) => launched,
            // A login may wait for the operator, who wants to leave.
            () = async { control.stopped().await; tokio::time::sleep(PATIENCE).await } => {
                if let Ok(stopper) = supervisor.stopper(&step) {
                    stopper.stop(PATIENCE).await;
                }
                let mut nothing = Followed::nothing(follows.began.elapsed().as_secs_f64());
                nothing.stopped = true;
                return Ok(nothing);
            }
        };
        match launched {
            Ok(job) => {
                begun.tell(job.stopper());
                let followed = follow(job, follows).await;
                let over = followed.stopped || followed.gone.is_some() || begun.is_over();
                if followed.outcome.begun || over || last {
                    return Ok(followed);
                }
            }
            Err(why) if !why.is_transient() || last => return Err(why),
            Err(_) => {}
        }
        again(&mut tries).await;
    }
}

/// The name of a step's folder on the host, at this try.
pub(super) fn attempt(step: &StepId, tries: u32) -> String {
    match tries {
        0 => step.to_string(),
        more => format!("{step}-again{more}"),
    }
}

/// Waits before the next try.
pub(super) async fn again(tries: &mut u32) {
    tokio::time::sleep(APART * 2u32.pow((*tries).min(5))).await;
    *tries += 1;
}

/// Follows a command to its end.
pub(super) async fn follow(mut job: Job, follow: Following) -> Followed {
    let started = Instant::now();
    let at = follow.began.elapsed().as_secs_f64();
    let mut looks = watching(&follow);
    let mut away = Away::new(follow.gone_after);
    let control = follow.control.clone();
    let part_of = follow.part_of.clone();
    let stopper = job.stopper();
    let how = follow.ending;
    let mut hearing = Hearing::new(follow, at, started);
    let mut flush = Tick::now();
    let mut ending: Option<JoinHandle<StopProof>> = None;
    let mut proved: Option<Option<StopProof>> = None;
    let end = || Some(tokio::spawn(how.end(stopper.clone())));
    loop {
        let waits = !(hearing.out.is_empty() && hearing.err.is_empty());
        tokio::select! {
            heard = job.next() => match heard {
                Some(Heard::Ended(outcome)) => {
                    if outcome.restarted {
                        hearing.done.gone = Some(RESTARTED.to_owned());
                    }
                    hearing.done.outcome = outcome;
                    break;
                }
                Some(heard) => {
                    if !waits {
                        flush = Tick::now() + BATCH;
                    }
                    away.hear(&heard);
                    hearing.hear(heard);
                }
                None => break,
            },
            () = sleep_until(flush), if waits => hearing.flush(false),
            () = control.stopped(), if ending.is_none() => {
                hearing.done.stopped = true;
                ending = end();
            }
            () = PartOf::halted(part_of.as_ref()), if ending.is_none() => {
                hearing.done.halted = true;
                ending = end();
            }
            Some(bytes) = looks.recv() => hearing.looked(bytes),
            why = away.for_good() => {
                hearing.done.gone = Some(why);
                break;
            }
            // A host that is not reached any more is not waited for.
            proof = proof_of(&mut ending), if proved.is_none() => {
                let gone = proof.as_ref().is_some_and(|proof| proof.gone);
                hearing.done.gone = proof.as_ref().and_then(|proof| proof.unreached.clone());
                proved = Some(proof);
                if !gone {
                    break;
                }
            }
        }
        if ending.is_none()
            && hearing
                .follow
                .until
                .is_some_and(|until| hearing.moved >= until)
        {
            hearing.done.interrupted = true;
            ending = end();
        }
    }
    match (proved, ending) {
        (Some(proof), _) => hearing.proved(proof),
        // It goes on for its time, should the host come back; nobody waits for that.
        (None, Some(_)) if hearing.done.gone.is_some() => {
            hearing.proved(Some(StopProof::default()));
        }
        (None, Some(ending)) => {
            let proof = ending.await.ok();
            hearing.proved(proof);
        }
        (None, None) => {}
    }
    hearing.finish()
}

/// What came of a stop, once one was asked for.
pub(super) async fn proof_of(ending: &mut Option<JoinHandle<StopProof>>) -> Option<StopProof> {
    match ending {
        Some(ending) => ending.await.ok(),
        None => std::future::pending().await,
    }
}

/// Looks at a silent tool's target, until nobody listens any more.
fn watching(follow: &Following) -> mpsc::Receiver<u64> {
    let (tell, looks) = mpsc::channel(1);
    if let Some((host, script)) = follow.watch.clone() {
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK).await;
                let Ok(answer) = ask(host.as_ref(), &script, b"", 4096, LOOK * 5).await else {
                    continue;
                };
                if let Ok(bytes) = text_of(&answer.out).trim().parse()
                    && tell.send(bytes).await.is_err()
                {
                    return;
                }
                if tell.is_closed() {
                    return;
                }
            }
        });
    }
    looks
}
