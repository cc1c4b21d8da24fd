//! Hashing a tree that is in memory: 1 GiB in files of 2 MiB.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use crate::figures::{Row, Table};
use crate::lab::{Lab, seconds};

const FILE: usize = 2 << 20;

pub fn measure(lab: &Lab, quick: bool) -> Result<Vec<Table>> {
    let (rounds, files) = if quick { (2, 16) } else { (7, 512) };
    let tree = lab.folder().join("tree");
    write_tree(&tree, files)?;
    // Once before it counts, so that every file is in memory.
    seconds(&mut xargs(&tree))?;
    let mut peer = Row::new("find | xargs -P2 sha256sum");
    for _ in 0..rounds {
        peer.values.push(seconds(&mut xargs(&tree))?);
    }
    fs::remove_dir_all(&tree)?;
    Ok(vec![Table {
        title: format!("sha256 of {files} files of 2 MiB, in memory: s"),
        rows: vec![peer],
    }])
}

/// Without `-n` one process would get all files, and the other core none.
fn xargs(tree: &Path) -> Command {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg("find . -type f -print0 | xargs -0 -n 16 -P 2 sha256sum")
        .current_dir(tree);
    command
}

/// Bytes from a fixed seed, 64 files a folder.
fn write_tree(tree: &Path, files: usize) -> Result<()> {
    let mut random = SmallRng::seed_from_u64(20);
    let mut bytes = vec![0; FILE];
    for file in 0..files {
        let folder = tree.join(format!("{:02}", file / 64));
        fs::create_dir_all(&folder)?;
        random.fill_bytes(&mut bytes);
        fs::write(folder.join(format!("{file:04}")), &bytes)?;
    }
    Ok(())
}
