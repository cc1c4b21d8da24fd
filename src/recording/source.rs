//! The bytes of a recording, to be read from anywhere in them.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// A file, or what came out of a pipe.
#[derive(Debug, Clone)]
pub(super) enum Source {
    File(Arc<File>),
    Memory(Arc<[u8]>),
}

impl Source {
    /// A file is read where it stands; what cannot be rewound is read to its end.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        if file.metadata()?.is_file() {
            return Ok(Self::File(Arc::new(file)));
        }
        let mut all = Vec::new();
        file.read_to_end(&mut all)?;
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
