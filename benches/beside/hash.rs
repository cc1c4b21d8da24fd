//! Hashing a tree that is in memory: 1 GiB in files of 2 MiB.

use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::process::Command;
use std::thread::available_parallelism;
use std::time::Instant;

use anyhow::{Result, ensure};
use comeback::host::hashing::{Counted, hash_tree};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use tokio_util::sync::CancellationToken;

use crate::figures::{Row, Table};
use crate::lab::{Lab, seconds};

const FILE: usize = 2 << 20;

/// Without `-n` one process gets all files, and the other core none. openssl is what a script of
/// comeback takes on a host that has it.
const PEERS: [(&str, &str); 3] = [
    (
        "find | xargs -P2 sha256sum",
        "find . -type f -print0 | xargs -0 -P 2 sha256sum",
    ),
    (
        "find | xargs -n16 -P2 sha256sum",
        "find . -type f -print0 | xargs -0 -n 16 -P 2 sha256sum",
    ),
    (
        "find | xargs -n16 -P2 openssl dgst -sha256",
        "find . -type f -print0 | xargs -0 -n 16 -P 2 openssl dgst -sha256 -r",
    ),
];

pub fn measure(lab: &Lab, quick: bool) -> Result<Vec<Table>> {
    let (rounds, files) = if quick { (2, 16) } else { (7, 512) };
    let tree = lab.folder().join("tree");
    write_tree(&tree, files)?;
    // Once before it counts, so that every file is in memory.
    ours(&tree, files)?;
    let mut rows = PEERS.map(|(name, _)| Row::new(name)).to_vec();
    let mut own = Row::new("comeback, a whole manifest");
    for _ in 0..rounds {
        for (row, (_, command)) in rows.iter_mut().zip(PEERS) {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(command).current_dir(&tree);
            row.values.push(seconds(&mut shell)?);
        }
        own.values.push(ours(&tree, files)?);
    }
    rows.push(own);
    fs::remove_dir_all(&tree)?;
    Ok(vec![Table::new(
        format!("sha256 of {files} files of 2 MiB, in memory: s"),
        rows,
    )])
}

fn ours(tree: &Path, files: usize) -> Result<f64> {
    let threads = available_parallelism().map_or(1, NonZero::get);
    let begin = Instant::now();
    let manifest = hash_tree(
        tree,
        threads,
        &CancellationToken::new(),
        &Counted::default(),
    )?;
    let took = begin.elapsed();
    ensure!(
        manifest.bytes == (files * FILE) as u64,
        "not every byte was hashed"
    );
    Ok(took.as_secs_f64())
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
