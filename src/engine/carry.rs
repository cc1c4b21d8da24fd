//! A side of a stream, followed; its bytes on their way to the next, and the end of them.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures_util::FutureExt;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, watch};

use crate::host::HostError;
use crate::host::hashing::hex;
use crate::host::supervisor::{Job, Link, Part, Whole};

use super::command::{Followed, Following, PATIENCE, again, follow};

/// How often a host is asked at most.
const TRIES: u32 = 6;

pub(super) type Input = Box<dyn AsyncWrite + Send + Unpin>;

/// How a side's output ended.
pub(super) struct Carried {
    pub how: How,
    pub to: Option<Input>,
    /// Of what was handed on, where that is whole.
    pub sha256: Option<String>,
    /// Bytes that nobody took.
    pub dropped: u64,
    /// Dropping it would end the side's channel.
    _from: mpsc::Receiver<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Whole,
    Torn,
    Enough,
}

/// Follows a side to its end. Nothing where that cannot be done to the end; then its command is
/// stopped.
pub(super) async fn followed(job: Job, following: Following) -> Option<Followed> {
    let stopper = job.stopper();
    let follow = AssertUnwindSafe(follow(job, following)).catch_unwind();
    let followed = follow.await.ok();
    if followed.is_none() {
        stopper.stop(PATIENCE).await;
    }
    followed
}

/// Asks a host, and again where its connection was lost.
///
/// # Errors
/// What the last try met.
pub(super) async fn persist<T, A>(ask: impl Fn() -> A) -> Result<T, HostError>
where
    A: Future<Output = Result<T, HostError>>,
{
    let mut tries = 0;
    loop {
        match ask().await {
            Err(why) if why.is_transient() && tries + 1 < TRIES => again(&mut tries).await,
            answer => return answer,
        }
    }
}

/// Hands on all that a side writes.
pub(super) async fn carry(
    mut from: mpsc::Receiver<Part>,
    to: Input,
    bytes: Option<Arc<AtomicU64>>,
    mut hash: Option<Sha256>,
    until: Option<u64>,
) -> Carried {
    let mut to = Some(to);
    let (mut moved, mut dropped) = (0, 0);
    let mut how = How::Torn;
    while let Some(part) = from.recv().await {
        let part = match part {
            Part::Bytes(part) => part,
            Part::End => {
                how = How::Whole;
                break;
            }
        };
        let taken = match &mut to {
            Some(open) => open.write_all(&part).await.is_ok(),
            None => false,
        };
        if !taken {
            // Who reads no more has ended, and tells how.
            to = None;
            dropped += part.len() as u64;
            continue;
        }
        if let Some(hash) = &mut hash {
            hash.update(&part);
        }
        moved += part.len() as u64;
        if let Some(bytes) = &bytes {
            bytes.store(moved, Ordering::Relaxed);
        }
        if until.is_some_and(|until| moved >= until) {
            how = How::Enough;
            break;
        }
    }
    let sha256 = hash
        .filter(|_| how == How::Whole && dropped == 0)
        .map(|hash| hex(&hash.finalize()));
    Carried {
        how,
        to,
        sha256,
        dropped,
        _from: from,
    }
}

/// Ends a side's input, and lets it see that when all has arrived.
pub(super) async fn finish(
    to: Option<Input>,
    mut link: watch::Receiver<Link>,
    whole: Whole,
    told: Arc<AtomicBool>,
) -> Result<(), HostError> {
    if let Some(mut to) = to {
        let _ = to.shutdown().await;
    }
    let fed = link.wait_for(|link| *link != Link::Open).await;
    if !fed.is_ok_and(|link| *link == Link::Fed) {
        // It has ended by itself, or its connection is gone: both are told elsewhere.
        return Ok(());
    }
    told.store(true, Ordering::Relaxed);
    persist(|| whole.tell()).await
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn what_nobody_took_is_neither_counted_nor_hashed() {
        let (tell, from) = mpsc::channel(8);
        let (to, mut reader) = tokio::io::duplex(1024);
        let bytes = Arc::new(AtomicU64::new(0));
        let counted = Some(Arc::clone(&bytes));
        let carried = carry(from, Box::new(to), counted, Some(Sha256::new()), None);
        let carried = tokio::spawn(carried);
        tell.send(Part::Bytes(vec![1; 1000])).await.unwrap();
        reader.read_exact(&mut [0; 1000]).await.unwrap();
        drop(reader);
        for part in [
            Part::Bytes(vec![2; 500]),
            Part::Bytes(vec![3; 7]),
            Part::End,
        ] {
            tell.send(part).await.unwrap();
        }
        let carried = carried.await.unwrap();
        assert_eq!(carried.how, How::Whole);
        assert_eq!(
            (bytes.load(Ordering::Relaxed), carried.dropped),
            (1000, 507)
        );
        assert_eq!(carried.sha256, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_connection_is_tried_again_and_a_refusal_is_not() {
        let tried = AtomicU64::new(0);
        let down = |_| HostError::Down {
            host: "h".to_owned(),
            phase: "exec",
            why: "lost".to_owned(),
        };
        let third = || async {
            match tried.fetch_add(1, Ordering::Relaxed) {
                2 => Ok(7),
                before => Err(down(before)),
            }
        };
        assert_eq!(persist(third).await.unwrap(), 7);
        tried.store(10, Ordering::Relaxed);
        assert!(persist(third).await.unwrap_err().is_transient());
        assert_eq!(tried.load(Ordering::Relaxed), 10 + u64::from(TRIES));
        tried.store(0, Ordering::Relaxed);
        let refused = || async {
            tried.fetch_add(1, Ordering::Relaxed);
            Err::<(), _>(HostError::Refused {
                host: "h".to_owned(),
                why: "no".to_owned(),
            })
        };
        assert!(persist(refused).await.is_err());
        assert_eq!(tried.load(Ordering::Relaxed), 1);
    }
}
