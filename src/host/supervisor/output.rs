//! Output of a step, told once, in its order and within its caps, whichever way it came.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::backoff::Backoff;
use super::place::At;
use super::wire::Ended;
use super::{Caps, Heard, PATIENCE};
use crate::event::Stream;
use crate::host::sh::{COMMON, FETCH};
use crate::host::{Channel, Said};

/// What is told at once, in bytes.
pub(super) const CHUNK: usize = 64 * 1024;

/// How long a full queue may hold the connection up, before following is given up for a while:
/// the bytes stay on the host.
pub(super) const HELD_UP: Duration = Duration::from_millis(250);

/// How long what is on its way is waited for, once a step has ended.
pub(super) const ON_ITS_WAY: Duration = Duration::from_secs(1);

/// What was told of a step, and to whom.
pub(super) struct Teller {
    pub at: At,
    pub caps: Caps,
    pub tx: mpsc::Sender<Heard>,
    /// Of each stream, the offset of the next byte to tell.
    pub told: [u64; 2],
    /// Why the connection is gone, as it was told.
    down: Option<String>,
    backoff: Backoff,
}

/// Nobody listens any more.
pub(super) struct Unheard;

impl Teller {
    pub fn new(at: At, caps: Caps, tx: mpsc::Sender<Heard>) -> Self {
        Self {
            at,
            caps,
            tx,
            told: [0; 2],
            down: None,
            backoff: Backoff::default(),
        }
    }

    /// Tells that the connection is gone, once for each reason, and waits before the next try.
    pub async fn lost(&mut self, why: String) -> Result<(), Unheard> {
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

    pub async fn back(&mut self) -> Result<(), Unheard> {
        self.backoff = Backoff::default();
        match self.down.take() {
            Some(_) => self.tell(Heard::LinkBack).await,
            None => Ok(()),
        }
    }

    pub async fn tell(&self, heard: Heard) -> Result<(), Unheard> {
        self.tx.send(heard).await.map_err(|_closed| Unheard)
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
    pub async fn output(
        &mut self,
        stream: Stream,
        bytes: Vec<u8>,
        cap: u64,
    ) -> Result<bool, Unheard> {
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
    pub async fn drain(&mut self, channel: Channel, ended: &Ended) -> Result<(), Unheard> {
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
    pub async fn complete(
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
            drop(self.tx.reserve().await.map_err(|_closed| Unheard)?);
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

fn name(stream: Stream) -> &'static str {
    match stream {
        Stream::Out => "out",
        Stream::Err => "err",
    }
}
