//! A step, followed from its first byte to its end through any number of lost connections.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::stop::{StopProof, Stopper};
use super::wire::{Control, Ended, Line, Over};
use super::{At, Backoff, Caps, Heard, Inner, Launch, Outcome, PATIENCE};
use crate::event::Stream;
use crate::host::sh::{ATTACH, COMMON, CONTROL, FETCH, FOLLOW, LAUNCH, MEMBERS};
use crate::host::{Channel, Exit, HostError, Said};

/// What is told at once.
const CHUNK: usize = 64 * 1024;

/// What waits to be taken: 2 MiB.
const QUEUE: usize = 32;

/// How long a step runs before a channel is opened to follow its output. A shorter one's comes
/// with its end.
const SHORT: Duration = Duration::from_millis(30);

/// How long a full queue may hold the connection up, before following is given up for a while:
/// the bytes stay on the host.
const HELD_UP: Duration = Duration::from_millis(250);

/// How long what is on its way is waited for, once a step has ended.
const ON_ITS_WAY: Duration = Duration::from_secs(1);

/// A step that was begun.
pub struct Job {
    stopper: Stopper,
    /// Until it is followed.
    driver: Option<(Driver, Option<Control>)>,
    heard: mpsc::Receiver<Heard>,
}

impl Job {
    fn new(at: At, caps: Caps, control: Option<Control>, at_join: bool) -> Self {
        let (tx, heard) = mpsc::channel(QUEUE);
        let mut job = Self {
            stopper: Stopper::new(at.clone()),
            driver: Some((Driver::new(at, caps, tx), control)),
            heard,
        };
        if !at_join {
            job.follow();
        }
        job
    }

    fn follow(&mut self) {
        if let Some((driver, control)) = self.driver.take() {
            tokio::spawn(driver.run(control));
        }
    }

    /// What is heard next; nothing after [`Heard::Ended`]. Dropping the job stops the
    /// following, not the command. Safe to cancel.
    pub async fn next(&mut self) -> Option<Heard> {
        self.follow();
        self.heard.recv().await
    }

    /// Ends the step through a channel of its own, while `next` tells the rest.
    pub async fn stop(&self, patience: Duration) -> StopProof {
        self.stopper.stop(patience).await
    }

    /// The same, to be kept elsewhere.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }
}

/// Begins a step.
pub(super) async fn launch(
    inner: Arc<Inner>,
    step: &str,
    command: &str,
    launch: Launch,
) -> Result<Job, HostError> {
    let at = inner.at(step)?;
    // A newline at the end, so that a text that ends in a comment or a here-document is whole.
    let mut input = format!("{command}\n").into_bytes();
    let command_bytes = input.len() as u64;
    if let Some(stdin) = &launch.stdin {
        input.extend_from_slice(stdin);
    }
    let at_join = launch.load || launch.at_join;
    let caps = launch.caps;
    let flag = |set: bool| if set { "yes" } else { "" };
    let vars = || {
        at.vars
            .clone()
            .set("sh", &inner.shell)?
            .set("clock", &inner.clock().source.to_string())?
            .set("load", flag(launch.load))?
            .set("detach", flag(at_join))
    };
    let script = vars()
        .map_err(|error| inner.refused(error.to_string()))?
        .number("cmd_bytes", command_bytes)
        .number("all_bytes", input.len() as u64)
        .number("keep", caps.head)
        .number("limit", caps.file.max(caps.head))
        .script(&[COMMON, MEMBERS, CONTROL, LAUNCH]);
    let mut control = at.control(&script).await?;
    let mut stdin = control.take_stdin();
    let feed = async move {
        // A shell that ended breaks this pipe; it has said why.
        let _ = stdin.write_all(&input).await;
        let _ = stdin.shutdown().await;
    };
    let first = async {
        let (line, ()) = tokio::join!(control.line(), feed);
        line
    };
    match timeout(PATIENCE, first).await {
        Ok(Ok(Line::Refused(why))) => Err(inner.refused(format!("step {step}: {why}"))),
        Ok(Ok(Line::Started)) if at_join => Ok(Job::new(at, caps, None, true)),
        Ok(Ok(Line::Started)) => Ok(Job::new(at, caps, Some(control), false)),
        // A shell that ends by itself has said that it began.
        Ok(Err(over @ Over::Exit(Exit::Code(_), _))) => {
            Err(inner.refused(format!("step {step} could not be begun: {over}")))
        }
        // Whether it was begun is found out when the host answers again.
        Ok(Ok(_) | Err(_)) | Err(_) => Ok(Job::new(at, caps, None, false)),
    }
}

/// Follows a step that was begun before.
pub(super) fn attach(inner: Arc<Inner>, step: &str, caps: Caps) -> Result<Job, HostError> {
    Ok(Job::new(inner.at(step)?, caps, None, true))
}

struct Driver {
    at: At,
    caps: Caps,
    tx: mpsc::Sender<Heard>,
    /// Of each stream, the offset of the next byte to tell.
    told: [u64; 2],
    /// Why the connection is gone, as it was told.
    down: Option<String>,
    backoff: Backoff,
}

/// Nobody listens any more.
struct Unheard;

/// How a part of the following ended.
enum Turn {
    Ended(Ended, Option<[Vec<u8>; 2]>),
    Lost(String),
}

impl Driver {
    fn new(at: At, caps: Caps, tx: mpsc::Sender<Heard>) -> Self {
        Self {
            at,
            caps,
            tx,
            told: [0; 2],
            down: None,
            backoff: Backoff::default(),
        }
    }

    async fn run(mut self, control: Option<Control>) {
        // Where nobody listens, there is nobody to tell.
        let _ = self.follow_to_the_end(control).await;
    }

    async fn follow_to_the_end(&mut self, mut control: Option<Control>) -> Result<(), Unheard> {
        let (ended, inline) = loop {
            let (mut control, again) = match control.take() {
                Some(control) => (control, false),
                None => (self.reconnect().await?, true),
            };
            match self.follow(&mut control, again).await? {
                Turn::Ended(ended, inline) => break (ended, inline),
                Turn::Lost(why) => self.lost(why).await?,
            }
        };
        let [out, err] = inline.map_or([None, None], |both| both.map(Some));
        let ([out_size, err_size], [out_cut, err_cut]) = (ended.sizes, ended.cut);
        self.complete(Stream::Out, out_size, out_cut, out).await?;
        self.complete(Stream::Err, err_size, err_cut, err).await?;
        self.tell(Heard::Ended(ended.outcome)).await
    }

    /// Attaches to the step, however long it takes.
    async fn reconnect(&mut self) -> Result<Control, Unheard> {
        let script = self.at.vars.script(&[COMMON, MEMBERS, CONTROL, ATTACH]);
        loop {
            let control = tokio::select! {
                control = self.at.control(&script) => control,
                () = self.tx.closed() => return Err(Unheard),
            };
            match control {
                Ok(control) => return Ok(control),
                Err(error) => self.lost(error.to_string()).await?,
            }
        }
    }

    /// Tells that the connection is gone, once for each reason, and waits before the next try.
    async fn lost(&mut self, why: String) -> Result<(), Unheard> {
        if self.down.as_ref() != Some(&why) {
            self.down = Some(why.clone());
            self.tell(Heard::LinkLost { why }).await?;
        }
        let wait = self.backoff.next();
        tokio::select! {
            () = sleep(wait) => Ok(()),
            () = self.tx.closed() => Err(Unheard),
        }
    }

    async fn back(&mut self) -> Result<(), Unheard> {
        self.backoff = Backoff::default();
        match self.down.take() {
            Some(_) => self.tell(Heard::LinkBack).await,
            None => Ok(()),
        }
    }

    async fn tell(&self, heard: Heard) -> Result<(), Unheard> {
        self.tx.send(heard).await.map_err(|_| Unheard)
    }

    /// Follows until the end is known or the connection lost.
    async fn follow(&mut self, control: &mut Control, again: bool) -> Result<Turn, Unheard> {
        let mut open_at = Instant::now() + if again { Duration::ZERO } else { SHORT };
        // Before the host has answered, there may be nothing to follow.
        let mut begun = !again;
        let mut opening: Option<BoxFuture<'static, Result<Channel, HostError>>> = None;
        let mut following: Option<Channel> = None;
        let mut retry = Backoff::default();
        loop {
            let idle = following.is_none() && opening.is_none();
            let wanted = idle && begun && self.wants_more() && self.tx.capacity() > 0;
            tokio::select! {
                line = control.line() => match line {
                    Ok(Line::Started) => {
                        begun = true;
                        self.back().await?;
                    }
                    Ok(Line::Ended(ended)) => {
                        self.back().await?;
                        let inline = inline(control, &ended).await;
                        drop(opening);
                        if let Some(channel) = following {
                            self.drain(channel, &ended).await?;
                        }
                        return Ok(Turn::Ended(ended, inline));
                    }
                    Ok(Line::Void) => {
                        self.back().await?;
                        return Ok(Turn::Ended(nothing(Outcome::void()), None));
                    }
                    Ok(Line::Missing) => {
                        self.back().await?;
                        return Ok(Turn::Ended(nothing(Outcome::lost()), None));
                    }
                    Ok(Line::Inline(_) | Line::Refused(_) | Line::Other(..)) => {}
                    Err(over) => return Ok(Turn::Lost(over.to_string())),
                },
                said = next(&mut following) => match said {
                    Some(Said::Out(bytes)) => {
                        if !self.output(Stream::Out, bytes, self.caps.head).await? {
                            following = None;
                            open_at = Instant::now() + HELD_UP;
                        }
                    }
                    Some(Said::Err(bytes)) => {
                        if !self.output(Stream::Err, bytes, self.caps.head).await? {
                            following = None;
                            open_at = Instant::now() + HELD_UP;
                        }
                    }
                    // Somebody ended it; the control says whether more is wrong.
                    Some(Said::Exit(_)) | None => {
                        following = None;
                        open_at = Instant::now() + retry.next();
                    }
                },
                () = sleep_until(open_at), if wanted => opening = Some(self.open_follow()),
                opened = opened(&mut opening) => {
                    opening = None;
                    match opened {
                        Ok(channel) => following = Some(channel),
                        Err(_) => open_at = Instant::now() + retry.next(),
                    }
                }
                // A full queue is looked at again; nothing wakes us when it has room.
                () = sleep(HELD_UP), if idle && begun && !wanted && self.wants_more() => {}
                () = self.tx.closed() => return Err(Unheard),
            }
        }
    }

    /// Whether one of the streams is not full.
    fn wants_more(&self) -> bool {
        self.told.iter().any(|&told| told < self.caps.head)
    }

    fn open_follow(&self) -> BoxFuture<'static, Result<Channel, HostError>> {
        let mut vars = self.at.vars.clone();
        for (name, told) in ["from_out", "from_err"].into_iter().zip(self.told) {
            if told < self.caps.head {
                vars = vars.number(name, told + 1);
            } else {
                vars = vars.word(name, "");
            }
        }
        let script = vars.script(&[COMMON, FOLLOW]);
        let inner = Arc::clone(&self.at.inner);
        async move { inner.host.exec(&script).await }.boxed()
    }

    /// Offset of the next byte of a stream.
    fn told(&mut self, stream: Stream) -> &mut u64 {
        let [out, err] = &mut self.told;
        match stream {
            Stream::Out => out,
            Stream::Err => err,
        }
    }

    /// Tells output up to offset `cap`. False where the cap is reached or the queue stayed
    /// full: what was not told stays on the host.
    async fn output(&mut self, stream: Stream, bytes: Vec<u8>, cap: u64) -> Result<bool, Unheard> {
        for chunk in bytes.chunks(CHUNK) {
            let offset = *self.told(stream);
            let room = usize::try_from(cap.saturating_sub(offset)).unwrap_or(usize::MAX);
            let chunk = chunk.get(..room).unwrap_or(chunk);
            if chunk.is_empty() {
                return Ok(false);
            }
            match timeout(HELD_UP, self.tx.reserve()).await {
                Ok(Ok(permit)) => permit.send(Heard::Output {
                    stream,
                    offset,
                    bytes: chunk.to_vec(),
                }),
                Ok(Err(_)) => return Err(Unheard),
                Err(_) => return Ok(false),
            }
            *self.told(stream) += chunk.len() as u64;
        }
        Ok(true)
    }

    /// Takes what is still on its way, so that it is not fetched again.
    async fn drain(&mut self, channel: Channel, ended: &Ended) -> Result<(), Unheard> {
        let Channel { stdin, mut output } = channel;
        drop(stdin);
        let caps = ended.sizes.map(|size| size.min(self.caps.head));
        while self.told.iter().zip(caps).any(|(&told, cap)| told < cap) {
            let Ok(Some(said)) = timeout(ON_ITS_WAY, output.recv()).await else {
                break;
            };
            let [out, err] = caps;
            match said {
                Said::Out(bytes) => self.output(Stream::Out, bytes, out).await?,
                Said::Err(bytes) => self.output(Stream::Err, bytes, err).await?,
                Said::Exit(_) => break,
            };
        }
        Ok(())
    }

    /// Tells what is missing of a stream whose size is final.
    async fn complete(
        &mut self,
        stream: Stream,
        size: u64,
        cut: bool,
        inline: Option<Vec<u8>>,
    ) -> Result<(), Unheard> {
        let head = size.min(self.caps.head);
        if let Some(bytes) = inline {
            let offset = usize::try_from(*self.told(stream)).unwrap_or(usize::MAX);
            let rest = bytes.get(offset..).unwrap_or_default().to_vec();
            self.output(stream, rest, head).await?;
        }
        self.fetch(stream, head).await?;
        let tail = size.saturating_sub(self.caps.tail).max(head);
        if tail > head || cut {
            let bytes = (!cut).then_some(tail - head);
            self.gap(stream, tail, bytes).await?;
        }
        self.fetch(stream, size).await
    }

    /// Tells that a stream is not kept up to offset `end`.
    async fn gap(&mut self, stream: Stream, end: u64, bytes: Option<u64>) -> Result<(), Unheard> {
        let offset = std::mem::replace(self.told(stream), end);
        self.tell(Heard::Gap {
            stream,
            offset,
            bytes,
        })
        .await
    }

    /// Fetches a stream by its offset up to `end`.
    async fn fetch(&mut self, stream: Stream, end: u64) -> Result<(), Unheard> {
        while *self.told(stream) < end {
            // A channel is not held open while nobody takes what comes.
            drop(self.tx.reserve().await.map_err(|_| Unheard)?);
            let from = *self.told(stream) + 1;
            let script = self
                .at
                .vars
                .clone()
                .number("from", from)
                .word("stream", name(stream))
                .script(&[COMMON, FETCH]);
            let opened = self.at.inner.host.exec(&script).await;
            let fetched = match opened {
                Ok(channel) => self.read(stream, channel, end).await?,
                Err(error) => Fetched::Lost(error.to_string()),
            };
            match fetched {
                Fetched::Some => self.back().await?,
                Fetched::Lost(why) => self.lost(why).await?,
                // The file is shorter than it was said to be: somebody took it away.
                Fetched::All => {
                    self.back().await?;
                    let missing = end.saturating_sub(*self.told(stream));
                    if missing > 0 {
                        self.gap(stream, end, Some(missing)).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads one channel up to offset `end`.
    async fn read(
        &mut self,
        stream: Stream,
        mut channel: Channel,
        end: u64,
    ) -> Result<Fetched, Unheard> {
        loop {
            let said = tokio::select! {
                said = timeout(PATIENCE, channel.output.recv()) => said,
                () = self.tx.closed() => return Err(Unheard),
            };
            match said {
                Ok(Some(Said::Out(bytes))) => {
                    if !self.output(stream, bytes, end).await? || *self.told(stream) == end {
                        return Ok(Fetched::Some);
                    }
                }
                Ok(Some(Said::Err(_))) => {}
                Ok(Some(Said::Exit(_))) => return Ok(Fetched::All),
                Ok(None) => return Ok(Fetched::Lost("the connection was lost".to_owned())),
                Err(_) => {
                    let seconds = PATIENCE.as_secs();
                    return Ok(Fetched::Lost(format!("nothing heard for {seconds} s")));
                }
            }
        }
    }
}

/// How a fetch ended.
enum Fetched {
    /// With what was wanted, or as much as was taken.
    Some,
    /// With all that there is.
    All,
    /// With the connection.
    Lost(String),
}

/// The output that comes with the end, where it is short.
async fn inline(control: &mut Control, ended: &Ended) -> Option<[Vec<u8>; 2]> {
    let read = async {
        let Ok(Line::Inline(sizes)) = control.line().await else {
            return None;
        };
        let [out, err] = sizes;
        if sizes != ended.sizes || out > CHUNK as u64 || err > CHUNK as u64 {
            return None;
        }
        Some([control.raw(out).await, control.raw(err).await])
    };
    timeout(ON_ITS_WAY * 10, read).await.ok().flatten()
}

fn nothing(outcome: Outcome) -> Ended {
    Ended {
        outcome,
        sizes: [0; 2],
        cut: [false; 2],
    }
}

fn name(stream: Stream) -> &'static str {
    match stream {
        Stream::Out => "out",
        Stream::Err => "err",
    }
}

/// What the channel says next; never, where there is none.
async fn next(channel: &mut Option<Channel>) -> Option<Said> {
    match channel {
        Some(channel) => channel.output.recv().await,
        None => std::future::pending().await,
    }
}

/// The channel, when it is open; never, where none is being opened.
async fn opened(
    opening: &mut Option<BoxFuture<'static, Result<Channel, HostError>>>,
) -> Result<Channel, HostError> {
    match opening {
        Some(opening) => opening.await,
        None => std::future::pending().await,
    }
}
