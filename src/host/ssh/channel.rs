//! A command that runs on a connection: its output, its end, its input.

use std::sync::Arc;
use std::time::{Duration, Instant};

use russh::client::Msg;
use russh::{ChannelMsg, ChannelReadHalf, ChannelWriteHalf, Sig};
use tokio::io::{AsyncReadExt, DuplexStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::pool::Lease;
use super::text::plain;
use crate::host::{Channel, Exit, Said};

/// The longest wait for the server to say that the command is started.
const START: Duration = Duration::from_secs(10);
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

/// Why a command was not started.
pub(super) enum NotStarted {
    /// The server says no.
    Refused,
    /// The connection was lost, or nothing was heard; it may run all the same.
    Lost(String),
}

/// Has the channel run a command line.
///
/// # Errors
/// The server refuses, or the connection is lost.
pub(super) async fn start(
    channel: russh::Channel<Msg>,
    line: String,
    lease: Lease,
) -> Result<Channel, NotStarted> {
    let (mut read, write) = channel.split();
    let lost = |_gone| NotStarted::Lost("the connection was lost".to_owned());
    write.exec(true, line).await.map_err(lost)?;
    let early = timeout(START, started(&mut read)).await.map_err(|_late| {
        NotStarted::Lost(format!(
            "the command was not started within {} s",
            START.as_secs()
        ))
    })??;
    let (stdin, feed) = tokio::io::duplex(STDIN);
    let (output, receiver) = mpsc::channel(MESSAGES);
    let write = Arc::new(write);
    let feeder = tokio::spawn(feed_stdin(feed, Arc::clone(&write)));
    tokio::spawn(async move {
        let ended = drain(read, early, &output, lease.connection().quiet).await;
        feeder.abort();
        let closed = ended.closed || matches!(timeout(CLOSE, write.close()).await, Ok(Ok(())));
        // The next command need not wait until somebody reads how this one ended.
        if closed {
            lease.done();
        } else {
            drop(lease);
        }
        if let Some(exit) = ended.exit {
            let _ = output.send(Said::Exit(exit)).await;
        }
    });
    Ok(Channel {
        stdin: Box::new(stdin),
        output: receiver,
    })
}

/// Waits for the server's word. Output that overtakes it stands for it.
async fn started(read: &mut ChannelReadHalf) -> Result<Option<ChannelMsg>, NotStarted> {
    loop {
        match read.wait().await {
            Some(ChannelMsg::Success) => return Ok(None),
            Some(ChannelMsg::Failure) => return Err(NotStarted::Refused),
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

/// How a channel's output ended.
struct Ended {
    /// Absent where the connection was lost, or nobody listens.
    exit: Option<Exit>,
    /// The server has closed the channel, or it is gone.
    closed: bool,
}

/// Hands on all output, then tells how the command ended. End of file, status and close come
/// in any order.
async fn drain(
    mut read: ChannelReadHalf,
    mut early: Option<ChannelMsg>,
    output: &mpsc::Sender<Said>,
    quiet: Duration,
) -> Ended {
    let mut exit = None;
    let mut eof = false;
    let mut until = None;
    loop {
        let message = match early.take() {
            Some(message) => Some(message),
            None => match until {
                None => tokio::select! {
                    message = read.wait() => message,
                    () = output.closed() => return Ended { exit: None, closed: false },
                },
                Some(until) => {
                    let left = Instant::saturating_duration_since(&until, Instant::now());
                    match timeout(quiet.min(left), read.wait()).await {
                        Ok(message) => message,
                        Err(_silent) => {
                            return Ended {
                                exit,
                                closed: false,
                            };
                        }
                    }
                }
            },
        };
        let said = match message {
            Some(ChannelMsg::Data { data }) => Said::Out(data.into()),
            Some(ChannelMsg::ExtendedData { data, ext: STDERR }) => Said::Err(data.into()),
            Some(ChannelMsg::Eof) => {
                eof = true;
                continue;
            }
            Some(ChannelMsg::ExitStatus { exit_status }) => {
                exit.get_or_insert(Exit::Code(exit_status as i32));
                until.get_or_insert(Instant::now() + LEFT_BEHIND);
                continue;
            }
            Some(ChannelMsg::ExitSignal { signal_name, .. }) => {
                exit.get_or_insert(Exit::Signal(signal(&signal_name)));
                until.get_or_insert(Instant::now() + LEFT_BEHIND);
                continue;
            }
            Some(ChannelMsg::Close) => {
                let exit = Some(exit.unwrap_or(Exit::Unknown));
                return Ended { exit, closed: true };
            }
            // Lost. With the status and the end of the output nothing is missing.
            None => {
                return Ended {
                    exit: exit.filter(|_| eof),
                    closed: true,
                };
            }
            Some(_) => continue,
        };
        if output.send(said).await.is_err() {
            return Ended {
                exit: None,
                closed: false,
            };
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
async fn feed_stdin(mut from: DuplexStream, write: Arc<ChannelWriteHalf<Msg>>) {
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
