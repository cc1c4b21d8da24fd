//! Following a step to its end, through any number of lost connections.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::backoff::Backoff;
use super::control::Control;
use super::output::{CHUNK, HELD_UP, ON_ITS_WAY, Teller, Unheard};
use super::wire::{Ended, Line};
use super::{Heard, Outcome};
use crate::event::Stream;
use crate::host::sh::{ATTACH, COMMON, CONTROL, FOLLOW, MEMBERS};
use crate::host::{Channel, HostError, Said};

/// How long a step runs before a channel is opened to follow its output; a shorter one's comes with
/// its end, and nobody reads faster. Where the way is long or the host slow, three times as long as it took
/// to begin the step.
const SHORT: Duration = Duration::from_millis(250);
/// But not longer than this.
const LONG: Duration = Duration::from_secs(1);

/// How a part of the following ended.
enum Turn {
    Ended(Ended, Option<[Vec<u8>; 2]>),
    Lost(String),
}

impl Teller {
    pub async fn run(mut self, control: Option<Control>) {
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

    /// Follows until the end is known or the connection lost.
    async fn follow(&mut self, control: &mut Control, again: bool) -> Result<Turn, Unheard> {
        let mut open_at = Instant::now();
        if !again {
            open_at += (control.asked.elapsed() * 3).clamp(SHORT, LONG);
        }
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
                    Ok(Line::Restarted) => {
                        self.back().await?;
                        return Ok(Turn::Ended(nothing(Outcome::restarted()), None));
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
