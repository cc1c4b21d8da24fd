//! How fast a flood of lines comes from a host: recorded, folded, and on the screen meanwhile.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::figures::{Row, Table};
use crate::lab::Lab;
use crate::program::Program;
use crate::screen::Screen;
use crate::session::{HERE, LAB, Stage, method};
use crate::watched::{Came, Watched};

pub fn measure(lab: &Lab, quick: bool) -> Result<Vec<Table>> {
    let rounds = if quick { 2 } else { 7 };
    let lines: u64 = if quick { 20_000 } else { 1_000_000 };
    let stage = Stage::open(lab)?;
    let flood = Flood::write(lab.folder(), lines)?;
    let mut peer = Row::new("ssh with ControlMaster, into a file");
    let mut remote = Row::new("comeback over SSH");
    let mut here = Row::new("comeback here");
    let mut beside = [
        Row::new("log store, MiB"),
        Row::new("recording, bytes a line"),
        Row::new("frames a second"),
    ];
    let mut memory = Row::new("most memory of `comeback run`, MiB");
    let program = Program::new(lab)?;
    for _ in 0..rounds {
        peer.values.push(flood.thousands(flood.by_ssh(lab)?));
        for (host, row) in [(LAB, &mut remote), (HERE, &mut here)] {
            let came = flood.by_comeback(lab, &stage, host)?;
            row.values.push(flood.thousands(came.seconds));
            let figures = [
                came.store as f64 / f64::from(1 << 20),
                came.recording as f64 / lines as f64,
                came.frames,
            ];
            for (row, figure) in beside.iter_mut().zip(figures) {
                row.values.push(figure);
            }
            let recording = lab.folder().join("program.jsonl");
            let bytes = program.run(&flood.method(), host, &recording)?;
            memory.values.push(bytes as f64 / f64::from(1 << 20));
            fs::remove_file(recording)?;
        }
    }
    Ok(vec![Table {
        title: format!(
            "{lines} lines, {} bytes, recorded, folded and drawn: thousand lines a second",
            flood.bytes
        ),
        rows: vec![peer, remote, here],
        beside: beside.into_iter().chain([memory]).collect(),
    }])
}

/// Lines as a backup prints them, in two files: a step keeps 64 MiB of its output.
struct Flood {
    files: [String; 2],
    lines: u64,
    bytes: u64,
}

impl Flood {
    fn write(folder: &Path, lines: u64) -> Result<Self> {
        let mut bytes = 0;
        let mut files = [String::new(), String::new()];
        for (at, name) in files.iter_mut().enumerate() {
            let path = folder.join(format!("flood.{at}"));
            let mut file = BufWriter::new(File::create(&path)?);
            let half = lines / 2;
            for line in at as u64 * half..(at as u64 + 1) * half {
                let percent = line * 100 / lines;
                writeln!(
                    file,
                    "INFO: {percent:3}% ({line:7} of {lines} blocks) in {:4}s, read: 412.6 MiB/s, \
                     write: 398.1 MiB/s, zero: 12",
                    line / 997
                )?;
            }
            file.into_inner()?.sync_all()?;
            bytes += fs::metadata(&path)?.len();
            *name = path.display().to_string();
        }
        Ok(Self {
            files,
            lines,
            bytes,
        })
    }

    fn thousands(&self, seconds: f64) -> f64 {
        self.lines as f64 / seconds / 1e3
    }

    /// A method that prints all of it.
    fn method(&self) -> String {
        let commands = self.files.each_ref().map(|file| format!("cat {file}"));
        method(&commands.each_ref().map(String::as_str))
    }

    fn by_ssh(&self, lab: &Lab) -> Result<f64> {
        let sink = lab.folder().join("flood.got");
        let begin = Instant::now();
        let status = lab
            .ssh()
            .arg(format!("cat {}", self.files.join(" ")))
            .stdout(File::create(&sink)?)
            .status()?;
        let seconds = begin.elapsed().as_secs_f64();
        ensure!(status.success(), "ssh: {status}");
        let came = fs::metadata(&sink)?.len();
        ensure!(came == self.bytes, "ssh did not bring every byte");
        fs::remove_file(sink)?;
        Ok(seconds)
    }

    fn by_comeback(&self, lab: &Lab, stage: &Stage, host: &str) -> Result<Came> {
        let recording = lab.folder().join("flood.jsonl");
        let sink = Arc::new(Watched::create(&recording)?);
        let screen = Screen::show(&sink)?;
        let end = stage.conduct(&self.method(), host, Arc::clone(&sink) as _)?;
        let frames = screen.close()?;
        let sink = Arc::into_inner(sink).context("the sink is still in use")?;
        let came = sink.came(frames)?;
        ensure!(
            came.lines == self.lines,
            "{} of {} lines came: {}",
            came.lines,
            self.lines,
            end.reason
        );
        fs::remove_file(recording)?;
        Ok(came)
    }
}
