//! Hashing in this process: a walk, then files on several threads.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use sha2::{Digest, Sha256};

use super::digests::{FileDigest, Lists, Manifest};
use super::lines::{field, gnu_path, hex};
use super::{HashError, Watch};

/// Bytes read at once.
const BUFFER: usize = 256 * 1024;

/// From this size on a file is begun before smaller ones, lest it be the last one alone.
const LARGE: u64 = 64 << 20;

/// A regular file of the tree.
struct Regular {
    /// Below the root, without `./`.
    path: Vec<u8>,
    size: u64,
}

/// What the walk found.
#[derive(Default)]
struct Walk {
    files: Vec<Regular>,
    full: Vec<Vec<u8>>,
    xattrs: Vec<Vec<u8>>,
}

/// The tree, open.
struct Root {
    path: PathBuf,
    fd: OwnedFd,
}

pub(super) fn hash_tree(root: &Path, threads: usize, watch: &Watch) -> Result<Manifest, HashError> {
    let fd = rustix::fs::open(
        root,
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .map_err(|error| HashError::unreadable(root, "open the folder", error))?;
    let root = Root {
        path: root.to_owned(),
        fd,
    };
    let mut walk = root.walk(watch)?;
    // Large ones first, the others as they came: neighbours on the disk.
    walk.files
        .sort_by_key(|file| std::cmp::Reverse(if file.size >= LARGE { file.size } else { 0 }));
    let (lines, bytes) = root.hash_all(&walk.files, threads.max(1), watch)?;
    Ok(Manifest::new(
        Lists::new(lines, walk.full, walk.xattrs),
        bytes,
    ))
}

pub(super) fn hash_file(path: &Path, watch: &Watch) -> Result<FileDigest, HashError> {
    let mut file =
        File::open(path).map_err(|error| HashError::unreadable(path, "open the file", error))?;
    let (sha256, bytes) = digest(&mut file, path, &mut vec![0; BUFFER], watch)?;
    Ok(FileDigest { sha256, bytes })
}

impl Root {
    /// The full path of something below, for messages and where only a path will do.
    fn full(&self, below: &[u8]) -> PathBuf {
        self.path.join(std::ffi::OsStr::from_bytes(below))
    }

    /// Opens something below without following a symbolic link anywhere on the way.
    fn open(&self, below: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            match rustix::fs::openat2(&self.fd, below, flags, Mode::empty(), resolve) {
                // An old kernel, or a sandbox that does not know the call.
                Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {}
                opened => return opened,
            }
        }
        rustix::fs::openat(&self.fd, below, flags, Mode::empty())
    }

    /// Lists everything.
    fn walk(&self, watch: &Watch) -> Result<Walk, HashError> {
        let mut walk = Walk::default();
        let top = rustix::fs::fstat(&self.fd)
            .map_err(|error| HashError::unreadable(&self.path, "look at the folder", error))?;
        self.entry(&mut walk, b"", &top, None)?;
        let mut folders: Vec<Vec<u8>> = vec![Vec::new()];
        while let Some(folder) = folders.pop() {
            let here = |what, error| HashError::unreadable(&self.full(&folder), what, error);
            let name: &[u8] = if folder.is_empty() { b"." } else { &folder };
            let fd = self
                .open(name, OFlags::DIRECTORY)
                .map_err(|error| here("open the folder", error))?;
            let entries = Dir::read_from(&fd).map_err(|error| here("read the folder", error))?;
            for entry in entries {
                if watch.cancel.is_cancelled() {
                    return Err(HashError::Stopped);
                }
                let entry = entry.map_err(|error| here("read the folder", error))?;
                let name = entry.file_name().to_bytes();
                if name == b"." || name == b".." {
                    continue;
                }
                let mut below = folder.clone();
                if !below.is_empty() {
                    below.push(b'/');
                }
                below.extend(name);
                let stat = rustix::fs::statat(&fd, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
                    .map_err(|error| {
                        HashError::unreadable(&self.full(&below), "look at it", error)
                    })?;
                self.entry(&mut walk, &below, &stat, Some(fd.as_fd()))?;
                if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                    folders.push(below);
                }
            }
        }
        Ok(walk)
    }

    /// Notes one entry. `parent` is its folder, absent for the root itself.
    fn entry(
        &self,
        walk: &mut Walk,
        below: &[u8],
        stat: &Stat,
        parent: Option<BorrowedFd<'_>>,
    ) -> Result<(), HashError> {
        let kind = FileType::from_raw_mode(stat.st_mode);
        let letter = match kind {
            FileType::RegularFile => 'f',
            FileType::Directory => 'd',
            FileType::Symlink => 'l',
            FileType::Fifo => 'p',
            FileType::Socket => 's',
            FileType::BlockDevice => 'b',
            FileType::CharacterDevice => 'c',
            FileType::Unknown => '?',
        };
        let target = match parent {
            Some(parent) if kind == FileType::Symlink => {
                let name = below
                    .rsplit(|&byte| byte == b'/')
                    .next()
                    .unwrap_or_default();
                rustix::fs::readlinkat(parent, name, Vec::new())
                    .map_err(|error| {
                        HashError::unreadable(&self.full(below), "read the link", error)
                    })?
                    .into_bytes()
            }
            _ => Vec::new(),
        };
        let shown = shown(below);
        let mut line = field(&shown).into_owned();
        // How a file system counts the links of a folder is its own affair.
        let links = if kind == FileType::Directory {
            0
        } else {
            stat.st_nlink
        };
        let mode = stat.st_mode & 0o7777;
        line.extend(
            format!(
                "\t{letter} {mode:o} {} {} {links}\t",
                stat.st_uid, stat.st_gid
            )
            .bytes(),
        );
        line.extend(field(&target).iter());
        walk.full.push(line);
        self.xattrs(walk, below, &shown)?;
        if kind == FileType::RegularFile {
            walk.files.push(Regular {
                path: below.to_vec(),
                size: u64::try_from(stat.st_size).unwrap_or(0),
            });
        }
        Ok(())
    }

    /// Notes the extended attributes of one entry; a file system that has none has none.
    fn xattrs(&self, walk: &mut Walk, below: &[u8], shown: &[u8]) -> Result<(), HashError> {
        let path = self.full(below);
        let unreadable =
            |error| HashError::unreadable(&path, "read the extended attributes", error);
        let names = match xattr::list(&path) {
            Ok(names) => names,
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => return Ok(()),
            Err(error) => return Err(unreadable(error)),
        };
        for name in names {
            // Gone between the two calls: it is not there.
            let Some(value) = xattr::get(&path, &name).map_err(unreadable)? else {
                continue;
            };
            let mut line = field(shown).into_owned();
            line.push(b'\t');
            line.extend(field(name.as_bytes()).iter());
            line.push(b'\t');
            line.extend(hex(&value).bytes());
            walk.xattrs.push(line);
        }
        Ok(())
    }

    /// Hashes all files on several threads; lines for the list, and bytes in all.
    fn hash_all(
        &self,
        files: &[Regular],
        threads: usize,
        watch: &Watch,
    ) -> Result<(Vec<Vec<u8>>, u64), HashError> {
        let next = AtomicUsize::new(0);
        let failed: Mutex<Option<HashError>> = Mutex::new(None);
        let work = || {
            let mut buffer = vec![0; BUFFER];
            let mut lines = Vec::new();
            let mut bytes = 0;
            while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                match self.hash_one(file, &mut buffer, watch) {
                    Ok((line, size)) => {
                        lines.push(line);
                        bytes += size;
                    }
                    Err(error) => {
                        // The others find nothing more to do.
                        next.store(files.len(), Ordering::Relaxed);
                        if let Ok(mut failed) = failed.lock() {
                            failed.get_or_insert(error);
                        }
                        break;
                    }
                }
            }
            (lines, bytes)
        };
        let done: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads.min(files.len().max(1)))
                .map(|_| scope.spawn(work))
                .collect();
            threads
                .into_iter()
                .map(std::thread::ScopedJoinHandle::join)
                .collect()
        });
        if let Some(error) = failed.into_inner().unwrap_or(Some(HashError::Stopped)) {
            return Err(error);
        }
        let mut all = Vec::with_capacity(files.len());
        let mut bytes = 0;
        for part in done {
            let (lines, size) = part.map_err(|_panic| HashError::Stopped)?;
            all.extend(lines);
            bytes += size;
        }
        Ok((all, bytes))
    }

    fn hash_one(
        &self,
        file: &Regular,
        buffer: &mut [u8],
        watch: &Watch,
    ) -> Result<(Vec<u8>, u64), HashError> {
        let path = self.full(&file.path);
        let unreadable = |what, error: rustix::io::Errno| HashError::unreadable(&path, what, error);
        // Should it have become a pipe meanwhile, opening it does not wait for a writer.
        let fd = self
            .open(&file.path, OFlags::NONBLOCK)
            .map_err(|error| unreadable("open the file", error))?;
        let stat = rustix::fs::fstat(&fd).map_err(|error| unreadable("look at it", error))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            let why = "it was a regular file, and is none any more";
            return Err(HashError::unreadable(&path, "read the file", why));
        }
        let (sha256, bytes) = digest(&mut File::from(fd), &path, buffer, watch)?;
        let shown = shown(&file.path);
        let (escaped, any) = gnu_path(&shown);
        let mut line = Vec::with_capacity(escaped.len() + 67);
        if any {
            line.push(b'\\');
        }
        line.extend(sha256.bytes());
        line.extend(b"  ");
        line.extend(escaped.iter());
        Ok((line, bytes))
    }
}

/// A path as `find .` shows it.
fn shown(below: &[u8]) -> Vec<u8> {
    if below.is_empty() {
        b".".to_vec()
    } else {
        [b"./", below].concat()
    }
}

/// The sha256 of what is read, and how much that was.
fn digest(
    file: &mut File,
    path: &Path,
    buffer: &mut [u8],
    watch: &Watch,
) -> Result<(String, u64), HashError> {
    let mut hasher = Sha256::new();
    let mut bytes = 0;
    loop {
        if watch.cancel.is_cancelled() {
            return Err(HashError::Stopped);
        }
        let got = match file.read(buffer) {
            Ok(0) => break,
            Ok(got) => got,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(HashError::unreadable(path, "read the file", error)),
        };
        hasher.update(buffer.get(..got).unwrap_or_default());
        bytes += got as u64;
        watch.done.fetch_add(got as u64, Ordering::Relaxed);
    }
    Ok((hex(&hasher.finalize()), bytes))
}
