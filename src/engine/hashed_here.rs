//! The sha256 of a file on a host that has nothing to make one with: it is read there, and hashed here.

use sha2::{Digest, Sha256};

use crate::event::{Nanos, ProgressKind, StepId, What};
use crate::host::hashing::{Manifest, hex};
use crate::host::{Exit, Said};
use crate::method::HostInfo;
use crate::progress::Finding;
use crate::progress::clamp::Clamp;

use super::EngineError;
use super::shared::Shared;
use super::shell::{quote, text_of};

/// What can make a sha256.
const HASHERS: [&str; 4] = ["sha256sum", "openssl", "python3", "python"];
/// What is kept of a complaint.
const KEEP: usize = 4096;

/// Whether a host has a program that hashes.
pub(super) fn can_hash(info: &HostInfo) -> bool {
    HASHERS
        .iter()
        .any(|tool| info.facts.tools.contains_key(*tool))
}

/// Shell text that prints a file's size, and then the file.
pub(super) fn text(path: &str) -> String {
    let path = quote(path);
    format!("set -e; n=$(stat -c %s -- {path}); echo \"$n\"; cat -- {path}")
}

/// Reads a file through its connection; none where the operator stopped it. It ends with its connection: what was read
/// until then says nothing.
///
/// # Errors
/// Where it cannot be read, or the host is lost.
pub(super) async fn take(
    shared: &Shared,
    host: &str,
    path: &str,
    step: &StepId,
) -> Result<Option<Manifest>, EngineError> {
    let known = shared
        .hosts
        .get(host)
        .ok_or_else(|| EngineError::Refused(format!("the host {host:?} is not connected")))?;
    let failed = |why: String| EngineError::Script {
        host: host.to_owned(),
        what: format!("read {path} to hash it here"),
        why,
    };
    let mut channel = known.host.exec(&text(path)).await?;
    let (mut head, mut complaint) = (Vec::new(), Vec::new());
    let mut total: Option<u64> = None;
    let (mut hash, mut done) = (Sha256::new(), 0_u64);
    let mut clamp = Clamp::new(step.clone());
    let exit = loop {
        let said = tokio::select! {
            said = channel.output.recv() => said,
            () = shared.control.stopped() => return Ok(None),
        };
        match said {
            Some(Said::Out(bytes)) => {
                let mut bytes = bytes.as_slice();
                if total.is_none() {
                    let line = bytes.iter().position(|byte| *byte == b'\n');
                    let (first, rest) = bytes.split_at(line.unwrap_or(bytes.len()));
                    head.extend_from_slice(first);
                    let Some(rest) = rest.get(1..).filter(|_| line.is_some()) else {
                        continue;
                    };
                    let said = text_of(&head);
                    let size = said.trim().parse();
                    total =
                        Some(size.map_err(|_| failed(format!("its size was told as {said:?}")))?);
                    bytes = rest;
                }
                hash.update(bytes);
                done += bytes.len() as u64;
                let finding = Finding::Progress {
                    kind: ProgressKind::Exact,
                    done: Some(done),
                    total,
                    percent: None,
                };
                let now = u64::try_from(shared.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
                if let Some(progress) = clamp.take(Nanos(now), &finding) {
                    shared.teller.tell(What::Progress(progress));
                }
            }
            Some(Said::Err(bytes)) => {
                let room = KEEP.saturating_sub(complaint.len());
                complaint.extend(bytes.into_iter().take(room));
            }
            Some(Said::Exit(exit)) => break Some(exit),
            None => break None,
        }
    };
    match exit {
        Some(Exit::Code(0)) if total == Some(done) => Ok(Some(Manifest {
            files: hex(&hash.finalize()),
            bytes: done,
            count: 1,
            made_by: "streamed here".to_owned(),
            ..Manifest::default()
        })),
        Some(Exit::Code(0)) => Err(failed(format!(
            "{done} bytes came, of {}: it changes while it is read",
            total.unwrap_or(0)
        ))),
        Some(_) => {
            let said = text_of(&complaint);
            let why = said.lines().map(str::trim).rfind(|line| !line.is_empty());
            Err(failed(why.unwrap_or("it says no reason").to_owned()))
        }
        None => Err(failed("the connection was lost".to_owned())),
    }
}
