//! Bytes on their way from one side of a stream to the next, and the end of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sha2::{Digest, Sha256};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, watch};

use crate::host::HostError;
use crate::host::hashing::hex;
use crate::host::supervisor::{Link, Part, Whole};

/// How often a host is asked again to let a side see its end.
const TRIES: u32 = 6;

pub(super) type Input = Box<dyn AsyncWrite + Send + Unpin>;

/// How a side's output ended.
pub(super) struct Carried {
    pub how: How,
    pub to: Option<Input>,
    pub sha256: Option<String>,
    /// Dropping it would end the side's channel.
    _from: mpsc::Receiver<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Whole,
    Torn,
    Enough,
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
    let mut moved = 0;
    let mut how = How::Torn;
    while let Some(part) = from.recv().await {
        let part = match part {
            Part::Bytes(part) => part,
            Part::End => {
                how = How::Whole;
                break;
            }
        };
        if let Some(hash) = &mut hash {
            hash.update(&part);
        }
        // Who reads no more has ended, and tells how.
        if let Some(open) = &mut to
            && open.write_all(&part).await.is_err()
        {
            to = None;
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
        .filter(|_| how == How::Whole)
        .map(|hash| hex(&hash.finalize()));
    Carried {
        how,
        to,
        sha256,
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
    let mut tries = 0;
    loop {
        match whole.tell().await {
            Err(why) if why.is_transient() && tries + 1 < TRIES => {
                super::command::again(&mut tries).await;
            }
            done => return done,
        }
    }
}
