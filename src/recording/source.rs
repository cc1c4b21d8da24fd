//! The bytes of a recording, to be read from anywhere in them.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// The most that is taken out of a pipe, which is kept in memory.
const MOST_PIPED: u64 = 4 << 30;

/// How long somebody may take to begin to write into a pipe.
const WRITER: Timespec = Timespec {
    tv_sec: 2,
    tv_nsec: 0,
};

/// Opens a file, or a pipe that somebody writes into. What is neither has no end.
///
/// # Errors
/// Where it cannot be opened, or is something else.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = options.read(true).custom_flags(flags).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() && !kind.is_fifo() {
        return Err(io::Error::other("it is neither a file nor a pipe"));
    }
    if kind.is_fifo() {
        let mut polled = [PollFd::new(&file, PollFlags::IN)];
        if poll(&mut polled, Some(&WRITER))? == 0 {
            return Err(io::Error::other("nobody writes into this pipe"));
        }
    }
    let waits = fcntl_getfl(&file)? & !OFlags::NONBLOCK;
    fcntl_setfl(&file, waits)?;
    Ok(file)
}

/// A file, or what came out of a pipe.
#[derive(Debug, Clone)]
pub(super) enum Source {
    File(Arc<File>),
    Memory(Arc<[u8]>),
}

impl Source {
    /// A file is read where it stands; what cannot be rewound is read to its end.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = open(path)?;
        if file.metadata()?.is_file() {
            return Ok(Self::File(Arc::new(file)));
        }
        let mut all = Vec::new();
        file.take(MOST_PIPED).read_to_end(&mut all)?;
        Ok(Self::Memory(all.into()))
    }

    /// Its bytes from this one on.
    pub fn at(&self, offset: u64) -> At {
        At {
            source: self.clone(),
            offset,
        }
    }

    /// How many bytes there are now.
    pub fn size(&self) -> u64 {
        match self {
            Self::File(file) => file.metadata().map_or(0, |known| known.len()),
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }
}

/// Reads a source from a place of its own.
#[derive(Debug)]
pub(super) struct At {
    source: Source,
    offset: u64,
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &self.source {
            Source::File(file) => file.read_at(buffer, self.offset)?,
            Source::Memory(bytes) => {
                let from = usize::try_from(self.offset).unwrap_or(usize::MAX);
                let mut rest = bytes.get(from..).unwrap_or_default();
                rest.read(buffer)?
            }
        };
        self.offset += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused_and_a_pipe_without_a_writer_too() {
        let why = Source::open(Path::new("/dev/zero")).unwrap_err();
        assert!(why.to_string().contains("neither a file nor a pipe"));
        assert!(Source::open(Path::new("/")).is_err());
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let why = Source::open(&pipe).unwrap_err();
        assert!(why.to_string().contains("nobody writes"), "{why}");
    }

    #[test]
    fn what_comes_out_of_a_pipe_is_read_to_its_end() {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "sleep 0.1; printf 12345"]);
        let mut child = shell.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        let at = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&out));
        assert_eq!(Source::open(Path::new(&at)).unwrap().size(), 5);
        child.wait().unwrap();
    }
}
