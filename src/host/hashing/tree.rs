//! Digests made in this process: as many threads as there are processors.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::{Again, Manifest};

/// How much is read at once: what a processor's own cache holds until it is hashed.
const BLOCK: usize = 256 << 10;

/// Why a tree has no manifest.
#[derive(Debug, thiserror::Error)]
pub enum HashError {
    /// Something in it cannot be read.
    #[error("{path}: {why}")]
    Read {
        /// Which.
        path: String,
        /// Why.
        why: io::Error,
    },
    /// It was stopped.
    #[error("stopped")]
    Stopped,
}

/// How far a manifest is: bytes that are hashed, of how many.
#[derive(Debug, Default)]
pub struct Counted {
    /// Hashed so far.
    pub done: AtomicU64,
    /// In all; 0 before it is known.
    pub total: AtomicU64,
}

struct Entry {
    path: PathBuf,
    name: Vec<u8>,
    size: u64,
}

#[derive(Default)]
struct Walk {
    files: Vec<Entry>,
    meta: Vec<Vec<u8>>,
    xattrs: Vec<Vec<u8>>,
    /// Files of several names that have been met: device and inode.
    linked: HashSet<(u64, u64)>,
    again: Again,
}

fn fail(path: &Path, why: io::Error) -> HashError {
    HashError::Read {
        path: path.display().to_string(),
        why,
    }
}

/// Bytes in hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// sha256 of one file, with its size.
///
/// # Errors
/// Where it cannot be read, or `stop` is cancelled.
pub fn hash_file(
    path: &Path,
    stop: &CancellationToken,
    counted: &Counted,
) -> Result<Manifest, HashError> {
    let mut buffer = vec![0; BLOCK];
    let size = fs::metadata(path).map_err(|why| fail(path, why))?.len();
    counted.total.store(size, Ordering::Relaxed);
    let (digest, bytes) = digest(path, &mut buffer, stop, counted)?;
    Ok(Manifest {
        files: digest,
        bytes,
        count: 1,
        made_by: "comeback".to_owned(),
        ..Manifest::default()
    })
}

fn digest(
    path: &Path,
    buffer: &mut [u8],
    stop: &CancellationToken,
    counted: &Counted,
) -> Result<(String, u64), HashError> {
    let mut file = File::open(path).map_err(|why| fail(path, why))?;
    let mut sha = Sha256::new();
    let mut bytes = 0;
    loop {
        if stop.is_cancelled() {
            return Err(HashError::Stopped);
        }
        let count = match file.read(buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
            Err(why) => return Err(fail(path, why)),
        };
        sha.update(buffer.get(..count).unwrap_or_default());
        bytes += count as u64;
        counted.done.fetch_add(count as u64, Ordering::Relaxed);
    }
    Ok((hex(&sha.finalize()), bytes))
}

/// The manifest of a tree. Links are not followed; what is neither file, folder nor link is listed,
/// and not opened.
///
/// # Errors
/// Where anything in it cannot be read, or `stop` is cancelled.
pub fn hash_tree(
    root: &Path,
    threads: usize,
    stop: &CancellationToken,
    counted: &Counted,
) -> Result<Manifest, HashError> {
    let about = fs::symlink_metadata(root).map_err(|why| fail(root, why))?;
    if !about.is_dir() {
        let why = io::Error::other("it is no folder; a link to one proves nothing about a copy");
        return Err(fail(root, why));
    }
    let mut walk = Walk::default();
    walk.folder(root, b".", stop)?;
    let total = walk.files.iter().map(|entry| entry.size).sum();
    counted.total.store(total, Ordering::Relaxed);
    let lines = hash_all(&walk.files, threads.max(1), stop, counted)?;
    let mut bytes = 0;
    let mut file_lines: Vec<(Vec<u8>, Vec<u8>)> = Vec::with_capacity(lines.len());
    for (digest, size, name) in lines {
        bytes += size;
        file_lines.push(file_line(&digest, &name));
    }
    // `sort -k2`: by the name as it is printed, then by the whole line.
    file_lines.sort();
    let file_lines: Vec<Vec<u8>> = file_lines.into_iter().map(|(_, line)| line).collect();
    walk.meta.sort();
    walk.xattrs.sort();
    Ok(Manifest {
        files: list_digest(&file_lines, b'\n'),
        meta: Some(list_digest(&walk.meta, 0)),
        xattrs: Some(list_digest(&walk.xattrs, 0)),
        bytes,
        count: file_lines.len() as u64,
        again: walk.again,
        made_by: "comeback".to_owned(),
        file_lines,
        meta_lines: walk.meta,
    })
}

fn list_digest(lines: &[Vec<u8>], end: u8) -> String {
    let mut sha = Sha256::new();
    for line in lines {
        sha.update(line);
        sha.update([end]);
    }
    hex(&sha.finalize())
}

/// Name to sort by, and the line, as GNU `sha256sum` prints it: a name with a backslash, line feed
/// or carriage return is escaped, and the line begins with a backslash.
fn file_line(digest: &str, name: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut printed = Vec::with_capacity(name.len());
    for byte in name {
        match byte {
            b'\\' => printed.extend_from_slice(b"\\\\"),
            b'\n' => printed.extend_from_slice(b"\\n"),
            b'\r' => printed.extend_from_slice(b"\\r"),
            other => printed.push(*other),
        }
    }
    let mut line = Vec::with_capacity(printed.len() + 67);
    if printed != name {
        line.push(b'\\');
    }
    line.extend_from_slice(digest.as_bytes());
    line.extend_from_slice(b"  ");
    line.extend_from_slice(&printed);
    (printed, line)
}

impl Walk {
    fn folder(
        &mut self,
        path: &Path,
        name: &[u8],
        stop: &CancellationToken,
    ) -> Result<(), HashError> {
        if stop.is_cancelled() {
            return Err(HashError::Stopped);
        }
        let entries = fs::read_dir(path).map_err(|why| fail(path, why))?;
        for entry in entries {
            let entry = entry.map_err(|why| fail(path, why))?;
            let path = entry.path();
            let mut name = name.to_vec();
            name.push(b'/');
            name.extend_from_slice(entry.file_name().as_bytes());
            self.entry(&path, &name)?;
            let kind = entry.file_type().map_err(|why| fail(&path, why))?;
            if kind.is_dir() {
                self.folder(&path, &name, stop)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path, name: &[u8]) -> Result<(), HashError> {
        let about = fs::symlink_metadata(path).map_err(|why| fail(path, why))?;
        let kind = about.file_type();
        let (letter, links) = match () {
            () if kind.is_dir() => ('d', 0),
            () if kind.is_symlink() => ('l', 1),
            () if kind.is_file() => ('f', about.nlink()),
            () if kind.is_fifo() => ('p', about.nlink()),
            () if kind.is_socket() => ('s', about.nlink()),
            () if kind.is_block_device() => ('b', about.nlink()),
            () => ('c', about.nlink()),
        };
        let mode = about.mode() & 0o7777;
        let mut record =
            format!("{letter} {mode:o} {} {} {links} ", about.uid(), about.gid()).into_bytes();
        record.extend_from_slice(name);
        if kind.is_symlink() {
            let target = fs::read_link(path).map_err(|why| fail(path, why))?;
            record.extend_from_slice(b" -> ");
            record.extend_from_slice(target.as_os_str().as_bytes());
        }
        self.meta.push(record);
        self.attributes(path, name)?;
        if kind.is_file() {
            if links > 1 && !self.linked.insert((about.dev(), about.ino())) {
                self.again.names += 1;
                self.again.bytes += about.len();
            }
            self.files.push(Entry {
                path: path.to_owned(),
                name: name.to_vec(),
                size: about.len(),
            });
        }
        Ok(())
    }

    fn attributes(&mut self, path: &Path, name: &[u8]) -> Result<(), HashError> {
        let names = match xattr::list(path) {
            Ok(names) => names,
            Err(why) if why.kind() == io::ErrorKind::Unsupported => return Ok(()),
            Err(why) => return Err(fail(path, why)),
        };
        for key in names {
            let value = xattr::get(path, &key).map_err(|why| fail(path, why))?;
            let mut record = name.to_vec();
            record.push(0);
            record.extend_from_slice(key.as_bytes());
            record.push(b'=');
            record.extend_from_slice(hex(&value.unwrap_or_default()).as_bytes());
            self.xattrs.push(record);
        }
        Ok(())
    }
}

type Hashed = (String, u64, Vec<u8>);

/// Big files first, so that no thread begins one when the others are done.
fn hash_all(
    files: &[Entry],
    threads: usize,
    stop: &CancellationToken,
    counted: &Counted,
) -> Result<Vec<Hashed>, HashError> {
    let mut order: Vec<&Entry> = files.iter().collect();
    order.sort_by_key(|entry| std::cmp::Reverse(entry.size));
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<Hashed>, HashError> {
        let mut buffer = vec![0; BLOCK];
        let mut done = Vec::new();
        while let Some(entry) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (digest, size) = digest(&entry.path, &mut buffer, stop, counted)?;
            done.push((digest, size, entry.name.clone()));
        }
        Ok(done)
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut all = Vec::with_capacity(files.len());
        for worker in workers {
            if let Ok(done) = worker.join() {
                all.extend(done?);
            } else {
                let why = io::Error::other("a thread that hashes has failed");
                return Err(fail(Path::new("."), why));
            }
        }
        Ok(all)
    })
}
