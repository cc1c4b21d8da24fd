//! What is known of a tree: its digests, and the lists that they are of.

use std::collections::{BTreeSet, HashMap};

use sha2::{Digest, Sha256};

use super::lines::hex;

/// What is compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Digests {
    /// Of the contents of all regular files, with their paths.
    pub files: String,
    /// Of type, mode, owner, links, path and link target of every entry.
    pub full: String,
    /// Of all extended attributes; absent where they could not be read.
    pub xattrs: Option<String>,
    /// Bytes of the regular files.
    pub bytes: u64,
    /// How many regular files.
    pub count: u64,
    /// What hashed.
    pub tool: String,
}

impl Digests {
    /// Reads what [`hash_script`](super::hash_script) printed. Absent where it is not whole.
    #[must_use]
    pub fn parse(said: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(said).ok()?;
        let mut fields: HashMap<&str, &str> = text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .collect();
        let mut take = |name| fields.remove(name);
        let xattrs = match take("xattrs")? {
            "no" => None,
            digest => Some(sha256(digest)?),
        };
        Some(Self {
            files: sha256(take("files")?)?,
            full: sha256(take("full")?)?,
            xattrs,
            bytes: take("bytes")?.parse().ok()?,
            count: take("count")?.parse().ok()?,
            tool: take("tool")?
                .chars()
                .filter(|c| !c.is_control())
                .take(100)
                .collect(),
        })
    }

    /// Whether the contents of all files are the same, under the same paths.
    #[must_use]
    pub fn same_content(&self, other: &Self) -> bool {
        self.files == other.files
    }

    /// Whether everything else is the same, too. Extended attributes are compared where both
    /// sides could read them.
    #[must_use]
    pub fn same_metadata(&self, other: &Self) -> bool {
        self.full == other.full
            && match (&self.xattrs, &other.xattrs) {
                (Some(here), Some(there)) => here == there,
                _ => true,
            }
    }
}

/// One file's or device's hash.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileDigest {
    /// In hexadecimal digits.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
}

impl FileDigest {
    /// Reads what [`hash_file_script`](super::hash_file_script) printed. Absent where it is not
    /// whole.
    #[must_use]
    pub fn parse(said: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(said).ok()?;
        let field = |name| {
            text.lines()
                .filter_map(|line| line.split_once(' '))
                .find_map(|(word, rest)| (word == name).then_some(rest))
        };
        Some(Self {
            sha256: sha256(field("sha256")?)?,
            bytes: field("bytes")?.parse().ok()?,
        })
    }
}

fn sha256(text: &str) -> Option<String> {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (text.len() == 64 && text.bytes().all(digit)).then(|| text.to_owned())
}

/// A tree's digests, with what they are of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// What is compared.
    pub digests: Digests,
    lists: Lists,
}

/// The three lists of a manifest, each sorted, a line an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Lists {
    files: Vec<u8>,
    full: Vec<u8>,
    xattrs: Vec<u8>,
}

impl Lists {
    pub(super) fn new(mut files: Vec<Vec<u8>>, full: Vec<Vec<u8>>, xattrs: Vec<Vec<u8>>) -> Self {
        files.sort_unstable_by(|a, b| path_of_file(a).cmp(path_of_file(b)));
        Self {
            files: join(files),
            full: join(sorted(full)),
            xattrs: join(sorted(xattrs)),
        }
    }
}

fn sorted(mut lines: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    lines.sort_unstable();
    lines
}

fn join(lines: Vec<Vec<u8>>) -> Vec<u8> {
    let mut all = Vec::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for line in lines {
        all.extend(line);
        all.push(b'\n');
    }
    all
}

/// A difference between two trees, by path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// The content of a file.
    Content(String),
    /// Mode, owner, type, links or target.
    Metadata(String),
    /// It is not there any more.
    Missing(String),
    /// It was not there before.
    New(String),
    /// An extended attribute.
    Xattrs(String),
}

impl std::fmt::Display for Difference {
    /// As [`compare_script`](super::compare_script) prints it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Content(path) => write!(f, "content {path}"),
            Self::Metadata(path) => write!(f, "metadata {path}"),
            Self::Missing(path) => write!(f, "missing {path}"),
            Self::New(path) => write!(f, "new {path}"),
            Self::Xattrs(path) => write!(f, "xattrs {path}"),
        }
    }
}

impl Manifest {
    pub(super) fn new(lists: Lists, bytes: u64) -> Self {
        let digest = |list: &[u8]| hex(&Sha256::digest(list));
        Self {
            digests: Digests {
                files: digest(&lists.files),
                full: digest(&lists.full),
                xattrs: Some(digest(&lists.xattrs)),
                bytes,
                count: lines(&lists.files).count() as u64,
                tool: "comeback".to_owned(),
            },
            lists,
        }
    }

    /// The first differences from `self` to a later manifest.
    #[must_use]
    pub fn differences(&self, later: &Self, limit: usize) -> Vec<Difference> {
        let mut found = BTreeSet::new();
        let [gone, new, changed] = compare(&self.lists.full, &later.lists.full, |line| {
            split_at_tab(line)
        });
        found.extend(gone.into_iter().map(|path| Difference::Missing(text(path))));
        found.extend(new.into_iter().map(|path| Difference::New(text(path))));
        found.extend(
            changed
                .into_iter()
                .map(|path| Difference::Metadata(text(path))),
        );
        let [_, _, changed] = compare(&self.lists.files, &later.lists.files, |line| {
            (path_of_file(line), hash_of_file(line))
        });
        found.extend(
            changed
                .into_iter()
                .map(|path| Difference::Content(text(path))),
        );
        let keys = compare(&self.lists.xattrs, &later.lists.xattrs, |line| {
            let value = line
                .rsplit(|&byte| byte == b'\t')
                .next()
                .unwrap_or_default();
            (line.get(..line.len() - value.len()).unwrap_or(line), value)
        });
        for key in keys.into_iter().flatten() {
            found.insert(Difference::Xattrs(text(split_at_tab(key).0)));
        }
        found.into_iter().take(limit).collect()
    }
}

fn lines(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
}

/// Keys that are gone, new and changed.
fn compare<'a>(
    before: &'a [u8],
    after: &'a [u8],
    split: impl Fn(&'a [u8]) -> (&'a [u8], &'a [u8]),
) -> [Vec<&'a [u8]>; 3] {
    let mut was: HashMap<&[u8], &[u8]> = lines(before).map(&split).collect();
    let mut new = Vec::new();
    let mut changed = Vec::new();
    for (key, value) in lines(after).map(&split) {
        match was.remove(key) {
            None => new.push(key),
            Some(old) if old != value => changed.push(key),
            Some(_) => {}
        }
    }
    [was.into_keys().collect(), new, changed]
}

fn split_at_tab(line: &[u8]) -> (&[u8], &[u8]) {
    let end = line
        .iter()
        .position(|&byte| byte == b'\t')
        .unwrap_or(line.len());
    line.split_at(end)
}

/// The path of a line of `sha256sum`: what stands behind the hash and two blanks.
fn path_of_file(line: &[u8]) -> &[u8] {
    line.get(hash_of_file(line).len() + 2..).unwrap_or_default()
}

/// The hash, with the backslash that says that the path is escaped.
fn hash_of_file(line: &[u8]) -> &[u8] {
    let end = line
        .iter()
        .position(|&byte| byte == b' ')
        .unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_script_printed_is_read_or_refused() {
        let hash = "ab".repeat(32);
        let said =
            format!("files {hash}\nfull {hash}\nxattrs no\nbytes 10\ncount 2\ntool sha256sum\n");
        let digests = Digests::parse(said.as_bytes()).unwrap();
        assert_eq!(digests.bytes, 10);
        assert_eq!(digests.xattrs, None);
        for broken in [
            said.replace("count 2", "count two"),
            said.replace(&format!("full {hash}"), "full abc"),
            said.replace("xattrs no\n", ""),
            said.replace("bytes 10\n", ""),
        ] {
            assert_eq!(Digests::parse(broken.as_bytes()), None, "{broken}");
        }
        let said = format!("sha256 {hash}\nbytes 7\ntool x\n");
        assert_eq!(FileDigest::parse(said.as_bytes()).unwrap().bytes, 7);
        assert_eq!(FileDigest::parse(b"sha256 \nbytes 7\n"), None);
    }

    #[test]
    fn attributes_that_one_side_cannot_read_are_not_compared() {
        let with = |xattrs: Option<&str>| Digests {
            xattrs: xattrs.map(str::to_owned),
            ..Digests::default()
        };
        assert!(with(Some("a")).same_metadata(&with(None)));
        assert!(!with(Some("a")).same_metadata(&with(Some("b"))));
    }

    proptest! {
        #[test]
        fn nothing_printed_is_a_panic(said in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Digests::parse(&said);
            let _ = FileDigest::parse(&said);
        }
    }
}
