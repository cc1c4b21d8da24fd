//! What a tree or a file is, as sha256: on this machine in this process, elsewhere as shell text
//! that gives the same. `docs/manifest.md` defines it.

mod digests;
mod lines;
mod script;
mod tree;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio_util::sync::CancellationToken;

pub use self::digests::{Difference, Digests, FileDigest, Manifest};
pub use self::script::{compare_script, hash_file_script, hash_script};

/// How a hashing is watched and ended, from elsewhere.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    /// Ends it.
    pub cancel: CancellationToken,
    /// Bytes hashed so far.
    pub done: Arc<AtomicU64>,
}

/// Why there is no hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HashError {
    /// Something cannot be read. It is never left out instead.
    #[error("{path}: cannot {what}: {why}")]
    Unreadable {
        /// What.
        path: Shown,
        /// What was tried.
        what: &'static str,
        /// Why not.
        why: String,
    },
    /// It was ended from elsewhere.
    #[error("the hashing was stopped")]
    Stopped,
    /// A path that no shell can take.
    #[error("{0:?} holds a NUL byte, which no path can")]
    Nul(String),
}

/// A path in a message, without control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown(pub PathBuf);

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for c in self.0.to_string_lossy().chars() {
            if c.is_control() {
                write!(f, "{}", c.escape_default())?;
            } else {
                write!(f, "{c}")?;
            }
        }
        Ok(())
    }
}

impl HashError {
    fn unreadable(path: &Path, what: &'static str, why: impl std::fmt::Display) -> Self {
        Self::Unreadable {
            path: Shown(path.to_owned()),
            what,
            why: why.to_string(),
        }
    }
}

/// Hashes the tree at `root` with so many threads. The tree is only read, and no symbolic link
/// in it is followed. Dropping the future ends the work.
///
/// # Errors
/// Where anything in it cannot be read, or the work was ended.
pub async fn hash_tree(root: PathBuf, threads: usize, watch: Watch) -> Result<Manifest, HashError> {
    blocking(watch, move |watch| tree::hash_tree(&root, threads, watch)).await
}

/// Hashes one file or device.
///
/// # Errors
/// Where it cannot be read, or the work was ended.
pub async fn hash_file(path: PathBuf, watch: Watch) -> Result<FileDigest, HashError> {
    blocking(watch, move |watch| tree::hash_file(&path, watch)).await
}

/// Runs work that blocks, and ends it when nobody waits for it any more.
async fn blocking<T: Send + 'static>(
    watch: Watch,
    work: impl FnOnce(&Watch) -> Result<T, HashError> + Send + 'static,
) -> Result<T, HashError> {
    let watch = Watch {
        cancel: watch.cancel.child_token(),
        done: watch.done,
    };
    let _end = watch.cancel.clone().drop_guard();
    tokio::task::spawn_blocking(move || work(&watch))
        .await
        .unwrap_or(Err(HashError::Stopped))
}
