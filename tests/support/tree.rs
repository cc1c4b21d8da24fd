//! Everything that can be known of a tree, to tell whether anybody touched it.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// All of one entry but its access time: reading may change that.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    inode: u64,
    mode: u32,
    owner: (u32, u32),
    links: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    attributes: Vec<(std::ffi::OsString, Vec<u8>)>,
    content: Vec<u8>,
}

/// A tree, by path.
pub type Tree = BTreeMap<PathBuf, Entry>;

/// Looks at a tree, its root included.
pub fn look(root: &Path) -> Tree {
    let mut tree = Tree::new();
    add(root, &mut tree);
    tree
}

fn add(path: &Path, tree: &mut Tree) {
    let meta = fs::symlink_metadata(path).unwrap();
    let attributes = xattr::list(path).map(|names| {
        names
            .map(|name| {
                let value = xattr::get(path, &name).unwrap().unwrap_or_default();
                (name, value)
            })
            .collect()
    });
    let content = if meta.is_file() {
        fs::read(path).unwrap()
    } else if meta.is_symlink() {
        fs::read_link(path)
            .unwrap()
            .into_os_string()
            .into_encoded_bytes()
    } else {
        Vec::new()
    };
    let entry = Entry {
        inode: meta.ino(),
        mode: meta.permissions().mode(),
        owner: (meta.uid(), meta.gid()),
        links: meta.nlink(),
        size: meta.size(),
        modified: (meta.mtime(), meta.mtime_nsec()),
        changed: (meta.ctime(), meta.ctime_nsec()),
        attributes: attributes.unwrap_or_default(),
        content,
    };
    tree.insert(path.to_owned(), entry);
    if meta.is_dir() {
        for child in fs::read_dir(path).unwrap() {
            add(&child.unwrap().path(), tree);
        }
    }
}

/// Makes a tree with names and entries that careless programs stumble over.
pub fn plant(root: &Path) {
    let file = |name: &str, content: &[u8]| fs::write(root.join(name), content).unwrap();
    fs::create_dir_all(root.join("-rf dir/inner ones")).unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    fs::create_dir(root.join("closed")).unwrap();
    file("plain", &[7; 5000]);
    file("zero", b"");
    file("it's \"quoted\"", b"quotes");
    file("$(touch hacked) `touch hacked` $HOME", b"no shell");
    file("two\nlines", b"newline");
    file("-rf dir/--checkpoint-action=exec=touch hacked", b"dash");
    file("-rf dir/inner ones/\u{fc}mlaut \u{1f600}; *", b"unicode");
    file(" leading and trailing ", b"spaces");
    file("back\\slash", b"backslash");
    let odd = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"not \xff utf-8");
    fs::write(root.join(odd), b"bytes").unwrap();
    fs::hard_link(root.join("plain"), root.join("empty.link")).unwrap();
    std::os::unix::fs::symlink("plain", root.join("link")).unwrap();
    std::os::unix::fs::symlink("/nowhere/at all", root.join("dangling")).unwrap();
    // Not every file system has them.
    let _ = xattr::set(root.join("plain"), "user.colour", b"blue\0green");
    fs::set_permissions(root.join("zero"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
    let holes = fs::File::create(root.join("holes")).unwrap();
    holes.set_len(300_000).unwrap();
}
