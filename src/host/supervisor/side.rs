//! A step whose input or output goes through here: one side of a stream.

use std::sync::Arc;

use tokio::io::AsyncWrite;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

use super::control::Over;
use super::frame::Frame;
use super::job::{Job, input_of};
use super::place::{At, Inner, Told};
use super::wire::Line;
use super::{Launch, PATIENCE, RESTARTED};
use crate::host::sh::{
    COMMON, CONTROL, ENTER, MEMBERS, SENDERS, STAGE, STREAM, WHOLE, with_environment,
};
use crate::host::{Channel, Exit, HostError, Said};

/// Parts of a stream that wait to be taken: with what the connection itself holds (see
/// [`Channel::output`]) the bound of what a stream takes in memory.
const QUEUE: usize = 4;

/// What of a step goes through here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// What it reads.
    pub reads: bool,
    /// What it writes.
    pub writes: bool,
}

/// A side of a stream that was begun.
pub struct Side {
    /// Its command, followed as any other.
    pub job: Job,
    /// What it reads. The end of this is no end to the command: see [`Whole`].
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    /// What it writes.
    pub output: mpsc::Receiver<Part>,
    /// How it stands with its connection.
    pub link: watch::Receiver<Link>,
    /// Lets it see the end.
    pub whole: Whole,
}

/// A part of what a side writes. Where no [`Part::End`] has come, something is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Bytes.
    Bytes(Vec<u8>),
    /// Its command has ended, and this was all.
    End,
}

/// How it stands with the connection of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// It is there.
    Open,
    /// What was sent, up to its end, has all arrived.
    Fed,
    /// The step is over, and its channel with it.
    Over,
    /// It is gone.
    Lost,
}

/// Tells a side that its input has arrived as a whole. Before that the command sees no end of
/// it, so that what a broken connection left never looks complete.
#[derive(Clone)]
pub struct Whole(At);

impl Whole {
    /// Says so.
    ///
    /// # Errors
    /// Where the host cannot be reached, or its state folder not be written.
    pub async fn tell(&self) -> Result<(), HostError> {
        let script = self.0.vars.script(&[COMMON, WHOLE]);
        let said = self.0.ask(&script, PATIENCE).await?;
        let told = |line: &Line| matches!(line, Line::Other(word, _) if word == "whole");
        if said.lines.iter().any(told) {
            Ok(())
        } else {
            Err(self.0.inner.refused(format!(
                "that a stream has arrived could not be noted in the state folder: {}",
                said.rest
            )))
        }
    }
}

/// Begins a side.
pub(super) async fn begin(
    inner: &Arc<Inner>,
    step: &str,
    command: &str,
    launch: Launch,
    ends: Ends,
) -> Result<Side, HostError> {
    let inner = &inner.beside();
    let at = inner.at(step)?;
    stage(&at, step, command, &launch, true).await?;
    let mark = rand::random::<u128>();
    let (head, tail) = (
        format!("comeback:head:{mark:032x}"),
        format!("comeback:tail:{mark:032x}"),
    );
    let caps = launch.caps;
    let flag = |set: bool| if set { "yes" } else { "" };
    let vars = || {
        at.vars
            .clone()
            .set("sh", &inner.shell)?
            .set("clock", &inner.clock().source.to_string())?
            .set("head", &head)?
            .set("tail", &tail)?
            .set("reads", flag(ends.reads))?
            .set("writes", flag(ends.writes))?
            .set("direct", "")
    };
    let script = vars()
        .map_err(|error| inner.refused(error.to_string()))?
        .number("keep", caps.head)
        .number("limit", caps.file.max(caps.head))
        .script(&[COMMON, MEMBERS, CONTROL, STREAM]);
    let asked = Instant::now();
    let Channel { stdin, output } = inner.host.exec(&script).await?;
    let (parts, taken) = mpsc::channel(QUEUE);
    let (lines, heard) = mpsc::channel(QUEUE);
    let (tell_link, link) = watch::channel(Link::Open);
    let split = Split {
        frame: Frame::new(&head, &tail),
        fed: format!("{} fed\n", at.mark).into_bytes(),
        said: Vec::new(),
        parts,
        lines: Some(lines),
        link: tell_link,
    };
    tokio::spawn(split.run(output));
    let channel = Channel {
        stdin: Box::new(tokio::io::sink()),
        output: heard,
    };
    let mut control = at.listen(channel, asked);
    match timeout(PATIENCE, control.line()).await {
        Ok(Ok(Line::Started)) => Ok(Side {
            whole: Whole(at.clone()),
            job: Job::new(at, caps, Some(control), false),
            input: stdin,
            output: taken,
            link,
        }),
        Ok(Ok(Line::Refused(why))) => Err(inner.refused(format!("step {step}: {why}"))),
        Ok(Ok(Line::Restarted)) => Err(inner.refused(RESTARTED)),
        Ok(Err(over @ Over::Exit(Exit::Code(_), _))) => {
            Err(inner.refused(format!("step {step} could not be begun: {over}")))
        }
        Ok(Err(over)) => Err(down(inner, &over.to_string())),
        Ok(Ok(_)) | Err(_) => Err(down(inner, "the host did not say that it began a stream")),
    }
}

/// How another host begins a side that was put into its folder, and what it hears of it.
pub struct Entry {
    /// The command that begins it; its input is the stream.
    pub command: String,
    /// Lets it see the end.
    pub whole: Whole,
    mark: String,
}

impl Entry {
    /// Whether the side has said that it began, in what its command has printed.
    #[must_use]
    pub fn has_begun(&self, printed: &[u8]) -> bool {
        self.has_said(printed, "started")
    }

    /// Whether it has said that all has arrived. What it says comes back the way that the
    /// stream goes: so that was not the end of a connection.
    #[must_use]
    pub fn has_all(&self, printed: &[u8]) -> bool {
        self.has_said(printed, "fed")
    }

    fn has_said(&self, printed: &[u8], word: &str) -> bool {
        let line = self.says(word);
        let mut lines = printed.split_inclusive(|&byte| byte == b'\n');
        lines.any(|said| said == line)
    }

    /// The line by which it says a word.
    pub(crate) fn says(&self, word: &str) -> Vec<u8> {
        format!("{} {word}\n", self.mark).into_bytes()
    }
}

/// Puts a side into its folder for another host to begin.
pub(super) async fn enter(
    inner: &Arc<Inner>,
    step: &str,
    command: &str,
    launch: &Launch,
) -> Result<Entry, HostError> {
    let at = inner.at(step)?;
    // It goes on without its connection to here, as any step does.
    stage(&at, step, command, launch, false).await?;
    let refused = |error: shlex::QuoteError| inner.refused(error.to_string());
    let vars = || {
        at.vars
            .clone()
            .set("sh", &inner.shell)?
            .set("clock", &inner.clock().source.to_string())?
            .set("reads", "yes")?
            .set("writes", "")?
            .set("direct", "yes")
    };
    let text = vars()
        .map_err(refused)?
        .number("keep", launch.caps.head)
        .number("limit", launch.caps.file.max(launch.caps.head))
        .script(&[COMMON, MEMBERS, CONTROL, STREAM]);
    // The other host's login is what runs it.
    let text = with_environment(&text);
    let script = at
        .vars
        .clone()
        .number("all_bytes", text.len() as u64)
        .script(&[COMMON, ENTER]);
    let said = at.send(&script, text.as_bytes(), PATIENCE).await?;
    staged(&at, step, said)?;
    let file = format!("{}/enter", at.dir);
    let file = shlex::try_quote(&file).map_err(refused)?;
    Ok(Entry {
        command: format!("{} {file}", inner.shell),
        mark: at.mark.clone(),
        whole: Whole(at.beside()),
    })
}

/// Status of each command of a pipe but the last, which may still run; nothing where one is
/// not known.
pub(super) async fn senders(inner: &Arc<Inner>, step: &str) -> Result<Vec<i32>, HostError> {
    let at = inner.at(step)?.beside();
    let said = at
        .ask(&at.vars.script(&[COMMON, SENDERS]), PATIENCE)
        .await?;
    let (mut all, mut whole) = (Some(Vec::new()), false);
    for line in said.lines {
        match line {
            Line::Other(word, code) if word == "sender" => {
                all = all.and_then(|mut all: Vec<i32>| {
                    all.push(code.parse().ok()?);
                    Some(all)
                });
            }
            Line::Other(word, _) if word == "senders" => whole = true,
            _ => {}
        }
    }
    Ok(all.filter(|_| whole).unwrap_or_default())
}

fn down(inner: &Inner, why: &str) -> HostError {
    HostError::Down {
        host: inner.host.name().to_owned(),
        phase: "exec",
        why: why.to_owned(),
    }
}

/// Puts the command into the step's folder: its own standard input is the stream's. `bound`
/// where it ends with the session.
async fn stage(
    at: &At,
    step: &str,
    command: &str,
    launch: &Launch,
    bound: bool,
) -> Result<(), HostError> {
    let (input, command_bytes) = input_of(command, launch);
    let told = launch.told(at.vars.clone());
    let script = told
        .map_err(|error| at.inner.refused(error.to_string()))?
        .word("load", if bound { "yes" } else { "" })
        .number("cmd_bytes", command_bytes)
        .number("all_bytes", input.len() as u64)
        .script(&[COMMON, STAGE, "say staged\n"]);
    let said = at.send(&script, &input, PATIENCE).await?;
    staged(at, step, said)
}

fn staged(at: &At, step: &str, said: Told) -> Result<(), HostError> {
    let mut staged = false;
    for line in said.lines {
        match line {
            Line::Refused(why) => return Err(at.inner.refused(format!("step {step}: {why}"))),
            Line::Restarted => return Err(at.inner.refused(RESTARTED)),
            Line::Other(word, _) if word == "staged" => staged = true,
            _ => {}
        }
    }
    if staged {
        Ok(())
    } else {
        Err(at.inner.refused(format!(
            "step {step} could not be put into the state folder: {}",
            said.rest
        )))
    }
}

/// Tells apart what one channel says: the stream, and lines about the step.
struct Split {
    frame: Frame,
    /// The line that says that all has arrived.
    fed: Vec<u8>,
    /// The end of what was said of the step, as long as that line.
    said: Vec<u8>,
    parts: mpsc::Sender<Part>,
    lines: Option<mpsc::Sender<Said>>,
    link: watch::Sender<Link>,
}

impl Split {
    async fn run(mut self, mut output: mpsc::Receiver<Said>) {
        loop {
            // Where nobody takes the stream any more, its channel goes: the other end of it,
            // and what it holds back, is free.
            let said = tokio::select! {
                said = output.recv() => said,
                () = self.parts.closed() => break,
            };
            match said {
                Some(Said::Out(bytes)) => {
                    if !self.stream(bytes).await {
                        break;
                    }
                }
                None => break,
                Some(Said::Err(bytes)) => {
                    self.look(&bytes);
                    self.line(Said::Out(bytes)).await;
                }
                Some(exit @ Said::Exit(_)) => {
                    self.line(exit).await;
                    self.link.send_replace(Link::Over);
                    return;
                }
            }
        }
        self.link.send_replace(Link::Lost);
    }

    /// Hands on what belongs to the stream, and says whether somebody takes it.
    async fn stream(&mut self, bytes: Vec<u8>) -> bool {
        let bytes = self.frame.take(bytes);
        let taken = bytes.is_empty() || self.parts.send(Part::Bytes(bytes)).await.is_ok();
        taken && (!self.frame.is_whole() || self.parts.send(Part::End).await.is_ok())
    }

    async fn line(&mut self, said: Said) {
        if let Some(lines) = &self.lines
            && lines.send(said).await.is_err()
        {
            self.lines = None;
        }
    }

    fn look(&mut self, bytes: &[u8]) {
        self.said.extend(bytes);
        let fed = self.fed.as_slice();
        if self.said.windows(fed.len()).any(|part| part == fed) {
            self.link.send_replace(Link::Fed);
        }
        let surplus = self.said.len().saturating_sub(fed.len());
        self.said.drain(..surplus);
    }
}
