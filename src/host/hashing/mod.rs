//! What a tree is, as digests: its regular files, and everything else about it.
//!
//! The two lists are defined in `docs/manifest.md`. On this machine they are made in this process,
//! on several threads; on others by a shell script with the programs that are there.

mod shell;
mod tree;

pub use shell::{Lists, compare_script, file_script, parse, tree_script};
pub use tree::{Counted, HashError, hash_file, hash_tree, hex};

/// Digests of a tree or file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    /// sha256 of the list of regular files, in hexadecimal.
    pub files: String,
    /// sha256 of the list of types, modes, owners and links; absent for a single file.
    pub meta: Option<String>,
    /// sha256 of all extended attributes; absent where nothing can read them.
    pub xattrs: Option<String>,
    /// Bytes of all regular files, under each of their names.
    pub bytes: u64,
    /// Number of names of regular files.
    pub count: u64,
    /// What of both is counted again: further names of a file that has several (hard links).
    pub again: Again,
    /// What made it: two manifests are compared in full only where this is the same.
    pub made_by: String,
    /// Lines of the list of files, where it was made in this process.
    pub file_lines: Vec<Vec<u8>>,
    /// Records of the list of metadata, where it was made in this process.
    pub meta_lines: Vec<Vec<u8>>,
}

/// Names that are not the first one of their file, and the bytes that these count again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Again {
    /// How many.
    pub names: u64,
    /// The bytes of their files.
    pub bytes: u64,
}

impl Manifest {
    /// How many files there are, and their bytes: each once, however many names it has.
    #[must_use]
    pub fn once(&self) -> (u64, u64) {
        (
            self.count.saturating_sub(self.again.names),
            self.bytes.saturating_sub(self.again.bytes),
        )
    }

    /// Whether both are of the same tree, as far as both know.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> bool {
        self.files == other.files
            && (self.count, self.bytes) == (other.count, other.bytes)
            && (self.made_by != other.made_by
                || (self.meta == other.meta && self.xattrs == other.xattrs))
    }

    /// The same, of the files' names and contents alone: two names are two files, then.
    #[must_use]
    pub fn of_files(self) -> Self {
        Self {
            meta: None,
            xattrs: None,
            meta_lines: Vec::new(),
            again: Again::default(),
            ..self
        }
    }

    /// The first differences of two manifests that were made in this process.
    #[must_use]
    pub fn differences(&self, other: &Self, most: usize) -> Vec<String> {
        let mut all = Vec::new();
        for (before, after) in [
            (&self.file_lines, &other.file_lines),
            (&self.meta_lines, &other.meta_lines),
        ] {
            let (old, new): (std::collections::BTreeSet<_>, std::collections::BTreeSet<_>) =
                (before.iter().collect(), after.iter().collect());
            all.extend(
                old.difference(&new)
                    .map(|line| format!("was {}", shown(line))),
            );
            all.extend(
                new.difference(&old)
                    .map(|line| format!("is {}", shown(line))),
            );
        }
        if all.is_empty() && self.xattrs != other.xattrs {
            all.push("extended attributes differ".to_owned());
        }
        all.truncate(most);
        all
    }
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line)
        .chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}
