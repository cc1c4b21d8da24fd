//! The same hashing as shell text, for a machine where this process is not.

use super::HashError;
use crate::host::sh::{COMPARE, HASH, HASH_FILE, Vars};

/// Shell text that hashes the tree at `root` on a host and prints what
/// [`Digests::parse`](super::Digests::parse) reads. It keeps its lists in `keep.files`,
/// `keep.full` and `keep.xattrs` there, for [`compare_script`]; that must not be in the tree.
///
/// It ends with a status that is not 0, and a sentence on standard error, where anything in the
/// tree cannot be read.
///
/// # Errors
/// Where a path holds a NUL byte.
pub fn hash_script(root: &str, keep: &str) -> Result<String, HashError> {
    let vars = set(Vars::default(), "root", &path(root))?;
    Ok(set(vars, "keep", &path(keep))?.script(&[HASH]))
}

/// Shell text that hashes one file or device on a host and prints what
/// [`FileDigest::parse`](super::FileDigest::parse) reads.
///
/// # Errors
/// Where the path holds a NUL byte.
pub fn hash_file_script(file: &str) -> Result<String, HashError> {
    Ok(set(Vars::default(), "file", &path(file))?.script(&[HASH_FILE]))
}

/// Shell text that prints the first `limit` differences between two trees that
/// [`hash_script`] hashed there, a line each: `content`, `metadata`, `missing`, `new` or
/// `xattrs`, and a path with its escapes.
///
/// # Errors
/// Where a path holds a NUL byte.
pub fn compare_script(first: &str, second: &str, limit: u32) -> Result<String, HashError> {
    let vars = set(Vars::default(), "first", &path(first))?;
    let vars = set(vars, "second", &path(second))?;
    Ok(vars.number("limit", u64::from(limit)).script(&[COMPARE]))
}

fn set(vars: Vars, name: &str, value: &str) -> Result<Vars, HashError> {
    vars.set(name, value)
        .map_err(|_nul| HashError::Nul(value.to_owned()))
}

/// A path that no program takes for an option.
fn path(path: &str) -> String {
    if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("./{path}")
    }
}
