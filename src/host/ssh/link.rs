//! The bytes under a connection: a TCP connection of this machine's, or one that a jump host
//! makes.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use russh::ChannelStream;
use russh::client::Msg;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_io_timeout::TimeoutStream;
use tokio_util::either::Either;
use tokio_util::sync::{CancellationToken, DropGuard, WaitForCancellationFutureOwned};

use super::text::plain;

/// Bytes that nobody takes for so long end the connection, as unanswered keepalives do: while
/// russh writes, it has no turn to send those.
pub(super) const UNTAKEN: Duration = Duration::from_secs(45);
/// So many bytes from the start are kept.
const GREETING: usize = 512;

/// Where the bytes go.
pub(super) type Stream = Either<TcpStream, ChannelStream<Msg>>;

/// A stream that ends with its [`Grip`]. russh goes on by itself for as long as its stream
/// does: with a server that falls silent in the middle of the key exchange, for ever.
pub(super) struct Link {
    stream: Pin<Box<TimeoutStream<Stream>>>,
    over: Pin<Box<WaitForCancellationFutureOwned>>,
    seen: Arc<Mutex<Seen>>,
}

/// What the other end did.
#[derive(Debug, Default)]
struct Seen {
    greeting: Vec<u8>,
    closed: bool,
}

/// Ends the stream when it is dropped, and knows what came over it.
pub(super) struct Grip {
    seen: Arc<Mutex<Seen>>,
    _over: DropGuard,
}

impl Link {
    pub(super) fn new(stream: Stream) -> (Self, Grip) {
        let mut stream = Box::pin(TimeoutStream::new(stream));
        stream.as_mut().set_write_timeout_pinned(Some(UNTAKEN));
        let over = CancellationToken::new();
        let seen = Arc::default();
        let link = Self {
            stream,
            over: Box::pin(over.clone().cancelled_owned()),
            seen: Arc::clone(&seen),
        };
        let grip = Grip {
            seen,
            _over: over.drop_guard(),
        };
        (link, grip)
    }

    fn check(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        match self.over.as_mut().poll(cx) {
            Poll::Ready(()) => Err(io::ErrorKind::ConnectionAborted.into()),
            Poll::Pending => Ok(()),
        }
    }
}

impl Grip {
    /// The server closed the connection without a word, or before SSH began because it has too
    /// many: what a server does that is asked too often.
    pub(super) fn was_turned_away(&self) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let begins = |with: &[u8]| seen.greeting.starts_with(with);
        seen.closed
            && (seen.greeting.is_empty() || begins(b"SSH-") || begins(b"Exceeded MaxStartups"))
    }

    /// What the server said instead of a banner.
    pub(super) fn greeting(&self) -> Option<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let said = plain(&String::from_utf8_lossy(&seen.greeting));
        (!said.is_empty() && !said.contains("SSH-")).then_some(said)
    }
}

impl AsyncRead for Link {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(cx)?;
        let before = buf.filled().len();
        let read = std::task::ready!(self.stream.as_mut().poll_read(cx, buf));
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let new = buf.filled().get(before..).unwrap_or_default();
        seen.closed |= read.is_err() || new.is_empty() && buf.remaining() > 0;
        let room = GREETING.saturating_sub(seen.greeting.len());
        seen.greeting.extend(new.iter().take(room));
        Poll::Ready(read)
    }
}

impl AsyncWrite for Link {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(cx)?;
        self.stream.as_mut().poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check(cx)?;
        self.stream.as_mut().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(cx)
    }
}
