//! Takes and compares manifests: in this process on this machine, by shell elsewhere.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::event::{Nanos, Progress, ProgressKind, StepId, Stream, What};
use crate::host::HostError;
use crate::host::hashing::{
    Counted, HashError, Lists, Manifest, compare_script, file_script, hash_file, hash_tree, parse,
    tree_script,
};
use crate::host::supervisor::{Heard, Launch, RESTARTED, StopProof};
use crate::method::{HashOf, HostInfo};
use crate::progress::Finding;
use crate::progress::clamp::Clamp;

use super::EngineError;
use super::away::{Away, gone};
use super::command::{PATIENCE, TRIES, again, attempt, proof_of};
use super::hashed_here;
use super::preview::Hashing;
use super::shared::Shared;
use super::shell::{script, text_of};

/// What is kept of an answer.
const KEEP: usize = 64 * 1024;
/// How often progress is told.
const LOOK: Duration = Duration::from_millis(250);
/// How many differences are named.
const MOST: usize = 5;

/// A manifest, and where its lists lie.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub digest: String,
    /// Of its files, each once.
    pub bytes: u64,
    /// How many these are.
    pub files: u64,
    /// Read there and hashed here.
    pub streamed: bool,
    of: HashOf,
    manifest: Manifest,
    host: String,
    lists: Option<Lists>,
}

/// What a comparison came to.
#[derive(Debug)]
pub(super) struct Compared {
    pub same: bool,
    pub by: String,
    pub share: String,
    pub differences: Vec<String>,
}

/// The shell text of a hash. On this machine it is done in this process, and the text says what it
/// stands for.
pub(super) fn text(path: &str, of: HashOf, info: &HostInfo) -> String {
    let script = match of {
        HashOf::Tree | HashOf::Files => {
            let folder = "‹lists›".to_owned();
            tree_script(path, &Lists { folder }, &info.facts)
        }
        HashOf::File if !hashed_here::can_hash(info) => {
            return format!("# read there and hashed here\n{}", hashed_here::text(path));
        }
        HashOf::File => file_script(path),
        HashOf::Told => return path.to_owned(),
    };
    if info.address.is_none() && info.facts.became.is_none() {
        format!("# by comeback itself; with the programs of this machine it would be\n{script}")
    } else {
        script
    }
}

/// Takes a manifest; none where the operator stopped it.
///
/// # Errors
/// Where something cannot be read, or the host is lost.
pub(super) async fn take(
    shared: &Shared,
    host: &str,
    hashing: &Hashing,
    step: &StepId,
) -> Result<Option<Kept>, EngineError> {
    let (path, tree) = (hashing.path.as_str(), hashing.of.is_folder());
    let known = shared
        .hosts
        .get(host)
        .ok_or_else(|| EngineError::Refused(format!("the host {host:?} is not connected")))?;
    let is_here = known.host.is_local() && hashing.of != HashOf::Told;
    let is_streamed = hashing.of == HashOf::File && !hashed_here::can_hash(&known.info);
    let (mut manifest, lists) = if !is_here && is_streamed {
        match hashed_here::take(shared, host, path, step).await? {
            Some(manifest) => (manifest, None),
            None => return Ok(None),
        }
    } else if is_here {
        match here(shared, path, tree, step).await {
            Some(manifest) => (manifest.map_err(|why| failed(host, &why))?, None),
            None => return Ok(None),
        }
    } else {
        // Among the steps' own folders, which go at the end of the session.
        let lists = Lists {
            folder: format!("{}/steps/{step}-lists", shared.session_dir(host)),
        };
        let script = match hashing.of {
            HashOf::Tree | HashOf::Files => tree_script(path, &lists, &known.info.facts),
            HashOf::File => file_script(path),
            HashOf::Told => path.to_owned(),
        };
        match there(shared, host, step, &script).await? {
            Some(said) => {
                let manifest = parse(&said, &known.info.facts).map_err(|why| failed(host, &why))?;
                (manifest, tree.then_some(lists))
            }
            None => return Ok(None),
        }
    };
    if hashing.of == HashOf::Files {
        manifest = manifest.of_files();
    }
    let (files, bytes) = manifest.once();
    Ok(Some(Kept {
        digest: manifest.files.clone(),
        bytes,
        files,
        streamed: !is_here && is_streamed,
        of: hashing.of,
        manifest,
        host: host.to_owned(),
        lists,
    }))
}

fn failed(host: &str, why: &str) -> EngineError {
    EngineError::Script {
        host: host.to_owned(),
        what: "take the sha256".to_owned(),
        why: why.to_owned(),
    }
}

async fn here(
    shared: &Shared,
    path: &str,
    tree: bool,
    step: &StepId,
) -> Option<Result<Manifest, String>> {
    let (stop, counted) = (CancellationToken::new(), Arc::new(Counted::default()));
    let (path, token, count) = (PathBuf::from(path), stop.clone(), Arc::clone(&counted));
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let work = tokio::task::spawn_blocking(move || {
        if tree {
            hash_tree(&path, threads, &token, &count)
        } else {
            hash_file(&path, &token, &count)
        }
    });
    tokio::pin!(work);
    let mut clamp = Clamp::new(step.clone());
    let mut look = tokio::time::interval(LOOK);
    let done = loop {
        tokio::select! {
            done = &mut work => break done,
            _ = look.tick() => {
                if let Some(progress) = progress(&mut clamp, shared, &counted) {
                    shared.teller.tell(What::Progress(progress));
                }
            }
            () = shared.control.stopped() => {
                stop.cancel();
                break work.await;
            }
        }
    };
    match done {
        Ok(Err(HashError::Stopped)) => None,
        Ok(done) => Some(done.map_err(|why| why.to_string())),
        Err(why) => Some(Err(why.to_string())),
    }
}

fn progress(clamp: &mut Clamp, shared: &Shared, counted: &Counted) -> Option<Progress> {
    let total = counted.total.load(Ordering::Relaxed);
    let finding = Finding::Progress {
        kind: ProgressKind::Exact,
        done: Some(counted.done.load(Ordering::Relaxed)),
        total: Some(total),
        percent: None,
    };
    let now = u64::try_from(shared.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    (total > 0)
        .then(|| clamp.take(Nanos(now), &finding))
        .flatten()
}

// Supervised, as every long work: a lost connection does not lose it.
async fn there(
    shared: &Shared,
    host: &str,
    step: &StepId,
    script: &str,
) -> Result<Option<String>, EngineError> {
    let mut tries = 0;
    loop {
        let name = attempt(step, tries);
        match once(shared, host, &name, script).await {
            Err(EngineError::Host(why))
                if why.is_transient() && tries < TRIES && !shared.is_gone(host) =>
            {
                again(&mut tries).await;
            }
            done => return done,
        }
    }
}

async fn once(
    shared: &Shared,
    host: &str,
    step: &str,
    script: &str,
) -> Result<Option<String>, EngineError> {
    let supervisor = shared
        .supervisors
        .get(host)
        .ok_or_else(|| EngineError::Refused(format!("the host {host:?} is not connected")))?;
    let mut work = supervisor.launch(step, script, Launch::default()).await?;
    let (mut said, mut complaint) = (Vec::new(), Vec::new());
    let mut stopped: Option<JoinHandle<StopProof>> = None;
    let mut away = Away::new(shared.gone_after(host));
    loop {
        let heard = tokio::select! {
            heard = work.next() => heard,
            () = shared.control.stopped(), if stopped.is_none() => {
                let stopper = work.stopper();
                stopped = Some(tokio::spawn(async move { stopper.stop(PATIENCE).await }));
                continue;
            }
            // A host that is not reached any more is not waited for.
            proof = proof_of(&mut stopped) => return proved(host, proof),
            why = away.for_good() => {
                let why = gone(host, why);
                shared.lost(host, &why);
                return Err(why.into());
            }
        };
        if let Some(heard) = &heard {
            away.hear(heard);
        }
        match heard {
            Some(Heard::Output { stream, bytes, .. }) => {
                let all = if stream == Stream::Out {
                    &mut said
                } else {
                    &mut complaint
                };
                let room = KEEP.saturating_sub(all.len());
                all.extend(bytes.into_iter().take(room));
            }
            Some(Heard::Ended(outcome)) if stopped.is_none() && outcome.restarted => {
                let why = gone(host, RESTARTED.to_owned());
                shared.lost(host, &why);
                return Err(why.into());
            }
            Some(Heard::Ended(outcome)) if stopped.is_none() && !outcome.begun => {
                return Err(EngineError::Host(HostError::Down {
                    host: host.to_owned(),
                    phase: "exec",
                    why: "the connection was lost before it was begun".to_owned(),
                }));
            }
            Some(Heard::Ended(outcome)) if stopped.is_none() => {
                return if outcome.status == [0] {
                    Ok(Some(text_of(&said)))
                } else {
                    let last = text_of(&complaint);
                    let why = last
                        .lines()
                        .last()
                        .unwrap_or("its status is not known")
                        .to_owned();
                    Err(failed(host, &why))
                };
            }
            Some(Heard::Ended(_)) | None => {
                let Some(stopped) = stopped else {
                    return Err(failed(host, "its status is not known"));
                };
                return proved(host, stopped.await.ok());
            }
            Some(_) => {}
        }
    }
}

fn proved(host: &str, proof: Option<StopProof>) -> Result<Option<String>, EngineError> {
    let left = match proof {
        Some(proof) if proof.gone => return Ok(None),
        Some(proof) => proof.left.join(", "),
        None => "nobody knows what is left of it".to_owned(),
    };
    Err(failed(host, &format!("stopped, but still there: {left}")))
}

/// Compares two manifests, and names the first differences.
///
/// # Errors
/// Where the host of the lists is lost.
pub(super) async fn compare(
    shared: &Shared,
    before: &Kept,
    after: &Kept,
) -> Result<Compared, EngineError> {
    let (old, new) = (&before.manifest, &after.manifest);
    let same = old.same_as(new);
    let differences = match (same, &before.lists, &after.lists) {
        (true, _, _) => Vec::new(),
        (false, Some(a), Some(b)) if before.host == after.host => {
            let known = shared.hosts.get(&after.host);
            match known {
                Some(known) => {
                    let text = compare_script(a, b, new.meta.is_some());
                    let patience = Duration::from_mins(10);
                    let said =
                        script(known.host.as_ref(), "compare the lists", &text, patience).await?;
                    said.lines().take(MOST).map(ToOwned::to_owned).collect()
                }
                None => Vec::new(),
            }
        }
        (false, _, _) => old.differences(new, MOST),
    };
    let by = if old.made_by == new.made_by && old.meta.is_some() {
        "sha256+metadata"
    } else {
        "sha256"
    };
    let whole = if after.of == HashOf::Files {
        "names and contents"
    } else {
        "whole"
    };
    Ok(Compared {
        same,
        by: by.to_owned(),
        share: format!(
            "{whole}: {}, {}{}",
            crate::event::count(after.files, "file"),
            crate::event::Bytes(after.bytes),
            if after.streamed {
                ", streamed here"
            } else {
                ""
            }
        ),
        differences,
    })
}

impl Kept {
    /// What a comparison with this one cannot see, in words.
    pub fn remark(&self) -> Option<String> {
        if self.streamed {
            return Some(format!(
                "{} has no program that makes a sha256: what is proved there is read through its connection and hashed here",
                self.host
            ));
        }
        (self.manifest.meta.is_some() && self.manifest.xattrs.is_none()).then(|| {
            format!(
                "extended attributes are not compared: {} has no getfattr",
                self.host
            )
        })
    }
}
