//! A command that runs on a connection: its output, its end, its input.

use std::sync::Arc;
use std::time::{Duration, Instant};

use russh::client::Msg;
use russh::{ChannelMsg, ChannelReadHalf, ChannelWriteHalf, Sig};
use tokio::io::{AsyncReadExt, DuplexStream};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::pool::Lease;
use super::preamble::Preamble;
use super::quote::Asked;
use super::text::plain;
use crate::host::{Channel, Exit, Said};

/// The longest wait for the server to say that the command is started.
const START: Duration = Duration::from_secs(10);
/// The longest wait for the login shell to come to the script, through its start-up files.
const BEGIN: Duration = Duration::from_mins(1);
/// The longest wait for a channel's close to be sent.
const CLOSE: Duration = Duration::from_secs(10);
/// After the status, what is left of the output is at most a window and a pipe's buffer; what
/// goes on for longer comes from something that was left behind.
const LEFT_BEHIND: Duration = Duration::from_mins(1);
/// Messages that wait for their reader, of up to 32 KiB each. With russh's own 100 that is
/// what an unread command costs: 5 MiB, and then it is held back.
const MESSAGES: usize = 64;
/// Bytes of standard input on their way.
const STDIN: usize = 64 << 10;
/// SSH's number for standard error (RFC 4254, section 5.2).
const STDERR: u32 = 1;

/// Why a script was not started.
pub(super) enum NotStarted {
    /// The server or the login shell says no.
    Refused(String),
    /// The connection was lost, or nothing was heard; it may run all the same.
    Lost(String),
}

/// Has the channel run a command line, and waits until its script has begun.
///
/// # Errors
/// The server or the login shell refuses, or the connection is lost.
pub(super) async fn start(
    channel: russh::Channel<Msg>,
    asked: Asked,
    lease: Lease,
) -> Result<Channel, NotStarted> {
    let (mut read, write) = channel.split();
    let lost = || NotStarted::Lost("the connection was lost".to_owned());
    write.exec(true, asked.line).await.map_err(|_gone| lost())?;
    let early = timeout(START, started(&mut read)).await.map_err(|_late| {
        NotStarted::Lost(format!(
            "the command was not started within {} s",
            START.as_secs()
        ))
    })??;
    let (stdin, feed) = tokio::io::duplex(STDIN);
    let (output, receiver) = mpsc::channel(MESSAGES);
    let (told, begun) = oneshot::channel();
    let write = Arc::new(write);
    let over = CancellationToken::new();
    let drain = Drain {
        read,
        output,
        begun: Some(told),
        out: Preamble::default(),
        err: Preamble::default(),
        exit: None,
        eof: false,
    };
    tokio::spawn(tell(
        drain,
        early,
        lease,
        Arc::clone(&write),
        over.clone().drop_guard(),
    ));
    match timeout(BEGIN, begun).await {
        Ok(Ok(Ok(()))) => {}
        Ok(Ok(Err(why))) => return Err(why),
        Ok(Err(_gone)) => return Err(lost()),
        Err(_late) => {
            return Err(NotStarted::Lost(format!(
                "the login shell did not come to the script within {} s; does a start-up file \
                 there wait for input, or is a forced command set (`command=` in \
                 authorized_keys, `ForceCommand`)?",
                BEGIN.as_secs()
            )));
        }
    }
    // Not before: a start-up file that reads would take some of it.
    tokio::spawn(over.run_until_cancelled_owned(feed_stdin(asked.first, feed, write)));
    Ok(Channel {
        stdin: Box::new(stdin),
        output: receiver,
    })
}

/// Tells all that the command says, and how it ended.
async fn tell(
    mut drain: Drain,
    early: Option<ChannelMsg>,
    lease: Lease,
    write: Arc<ChannelWriteHalf<Msg>>,
    over: DropGuard,
) {
    let how = drain.run(early, lease.connection().quiet).await;
    drop(over);
    let closed = how == How::Closed || matches!(timeout(CLOSE, write.close()).await, Ok(Ok(())));
    // The next command need not wait until somebody reads how this one ended.
    if closed {
        lease.done();
    } else {
        drop(lease);
    }
    drain.end(how).await;
}

/// Waits for the server's word. Output that overtakes it stands for it.
async fn started(read: &mut ChannelReadHalf) -> Result<Option<ChannelMsg>, NotStarted> {
    loop {
        match read.wait().await {
            Some(ChannelMsg::Success) => return Ok(None),
            Some(ChannelMsg::Failure) => {
                return Err(NotStarted::Refused("it refuses the request".to_owned()));
            }
            None => {
                return Err(NotStarted::Lost("the connection was lost".to_owned()));
            }
            Some(
                early @ (ChannelMsg::Data { .. }
                | ChannelMsg::ExtendedData { .. }
                | ChannelMsg::Eof
                | ChannelMsg::ExitStatus { .. }
                | ChannelMsg::ExitSignal { .. }
                | ChannelMsg::Close),
            ) => return Ok(Some(early)),
            Some(_) => {}
        }
    }
}

/// Why nothing is read from a channel any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// The server has closed it.
    Closed,
    /// The connection is gone.
    Lost,
    /// The status is known, and nothing more came for a while.
    Quiet,
    /// Nobody listens.
    Unheard,
}

/// The reading end of a channel.
struct Drain {
    read: ChannelReadHalf,
    output: mpsc::Sender<Said>,
    /// Told once: the script has begun, or why it will not.
    begun: Option<oneshot::Sender<Result<(), NotStarted>>>,
    out: Preamble,
    err: Preamble,
    exit: Option<Exit>,
    eof: bool,
}

impl Drain {
    /// Hands on all output. End of file, status and close come in any order.
    async fn run(&mut self, mut early: Option<ChannelMsg>, quiet: Duration) -> How {
        let mut until = None;
        loop {
            let message = match early.take() {
                Some(message) => Some(message),
                None => match until {
                    None => tokio::select! {
                        message = self.read.wait() => message,
                        () = self.output.closed() => return How::Unheard,
                    },
                    Some(until) => {
                        let left = Instant::saturating_duration_since(&until, Instant::now());
                        match timeout(quiet.min(left), self.read.wait()).await {
                            Ok(message) => message,
                            Err(_silent) => return How::Quiet,
                        }
                    }
                },
            };
            let said = match message {
                Some(ChannelMsg::Data { data }) => Said::Out(self.out.pass(data.into())),
                Some(ChannelMsg::ExtendedData { data, ext: STDERR }) => {
                    Said::Err(self.err.pass(data.into()))
                }
                Some(ChannelMsg::Eof) => {
                    self.eof = true;
                    continue;
                }
                Some(ChannelMsg::ExitStatus { exit_status }) => {
                    self.exit.get_or_insert(Exit::Code(exit_status as i32));
                    until.get_or_insert(Instant::now() + LEFT_BEHIND);
                    continue;
                }
                Some(ChannelMsg::ExitSignal { signal_name, .. }) => {
                    self.exit.get_or_insert(Exit::Signal(signal(&signal_name)));
                    until.get_or_insert(Instant::now() + LEFT_BEHIND);
                    continue;
                }
                Some(ChannelMsg::Close) => return How::Closed,
                None => return How::Lost,
                Some(_) => continue,
            };
            if self.out.is_over()
                && let Some(begun) = self.begun.take()
            {
                // Who gave up waiting does not listen either.
                let _ = begun.send(Ok(()));
            }
            if self.out.is_endless() {
                return How::Unheard;
            }
            let said = match said {
                Said::Err(_) if self.err.is_endless() => Said::Err(self.err.give_up()),
                said => said,
            };
            if self.say(said).await.is_err() {
                return How::Unheard;
            }
        }
    }

    async fn say(&self, said: Said) -> Result<(), mpsc::error::SendError<Said>> {
        match said {
            Said::Out(bytes) | Said::Err(bytes) if bytes.is_empty() => Ok(()),
            said => self.output.send(said).await,
        }
    }

    /// Tells how it ended, or why it never began.
    async fn end(mut self, how: How) {
        if let Some(begun) = self.begun.take() {
            let _ = begun.send(Err(self.never_begun()));
            return;
        }
        let exit = match how {
            How::Closed => self.exit.take().unwrap_or(Exit::Unknown),
            // With the status and the end of the output nothing is missing.
            How::Lost if !self.eof => return,
            How::Lost | How::Quiet => match self.exit.take() {
                Some(exit) => exit,
                None => return,
            },
            How::Unheard => return,
        };
        let held = Said::Err(self.err.give_up());
        if self.say(held).await.is_ok() {
            let _ = self.output.send(Said::Exit(exit)).await;
        }
    }

    /// What the login shell did instead. Whatever its status, it is none of the script's.
    fn never_begun(&mut self) -> NotStarted {
        let endless = self.out.is_endless();
        let mut printed = self.out.give_up();
        printed.extend(self.err.give_up());
        let printed = match plain(&String::from_utf8_lossy(&printed)) {
            text if text.is_empty() => String::new(),
            text => format!("; it printed: {text}"),
        };
        match &self.exit {
            _ if endless => {
                NotStarted::Refused(format!("the login shell prints without end{printed}"))
            }
            Some(Exit::Code(status)) => NotStarted::Refused(format!(
                "the login shell ended with status {status} before the script began{printed}"
            )),
            Some(Exit::Signal(signal)) => NotStarted::Lost(format!(
                "the login shell was ended by {signal} before the script began{printed}"
            )),
            _ => NotStarted::Lost(format!("the connection was lost{printed}")),
        }
    }
}

fn signal(signal: &Sig) -> String {
    match signal {
        Sig::Custom(name) => plain(name),
        known => format!("{known:?}"),
    }
}

/// Sends standard input as the host takes it, then its end.
async fn feed_stdin(first: Vec<u8>, mut from: DuplexStream, write: Arc<ChannelWriteHalf<Msg>>) {
    if !first.is_empty() && write.data_bytes(first).await.is_err() {
        return;
    }
    loop {
        let mut chunk = Vec::with_capacity(STDIN / 2);
        match from.read_buf(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {
                if write.data_bytes(chunk).await.is_err() {
                    return;
                }
            }
        }
    }
    let _ = write.eof().await;
}
