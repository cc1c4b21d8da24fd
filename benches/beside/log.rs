//! How fast a flood of lines comes over SSH.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::figures::{Row, Table};
use crate::lab::Lab;

pub fn measure(lab: &Lab, quick: bool) -> Result<Vec<Table>> {
    let rounds = if quick { 2 } else { 7 };
    let lines: u64 = if quick { 20_000 } else { 1_000_000 };
    let source = lab.folder().join("flood");
    let bytes = write_lines(&source, lines)?;
    let mut peer = Row::new("ssh with ControlMaster, into a file");
    for _ in 0..rounds {
        let sink = lab.folder().join("flood.got");
        let begin = Instant::now();
        let status = lab
            .ssh()
            .arg(format!("cat {}", source.display()))
            .stdout(File::create(&sink)?)
            .status()?;
        let seconds = begin.elapsed().as_secs_f64();
        ensure!(status.success(), "ssh: {status}");
        ensure!(
            fs::metadata(&sink)?.len() == bytes,
            "ssh did not bring every byte"
        );
        peer.values.push(lines as f64 / seconds / 1e3);
    }
    Ok(vec![Table {
        title: format!("{lines} lines, {bytes} bytes over SSH: thousand lines a second"),
        rows: vec![peer],
    }])
}

/// Lines as a backup prints them; gives how many bytes they are.
fn write_lines(path: &std::path::Path, lines: u64) -> Result<u64> {
    let mut file = BufWriter::new(File::create(path)?);
    for line in 0..lines {
        let percent = line * 100 / lines;
        writeln!(
            file,
            "INFO: {percent:3}% ({line} of {lines} blocks) in {}s, read: 412.6 MiB/s",
            line / 997
        )?;
    }
    file.into_inner()?.sync_all()?;
    Ok(fs::metadata(path)?.len())
}
