//! How fast bytes go from one host through this machine to another.

use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use comeback::event::{Sink, SinkError, What};

use crate::figures::{Row, Table};
use crate::lab::{Lab, run, seconds};
use crate::session::{LAB, Stage, VAULT};

/// The first that comeback asks for; `ssh` is told to use it, too.
const CIPHER: &str = "aes256-gcm@openssh.com";

pub fn measure(lab: &Lab, quick: bool) -> Result<Vec<Table>> {
    let rounds = if quick { 1 } else { 5 };
    let mib: u64 = if quick { 64 } else { 1024 };
    let stage = Stage::open(lab)?;
    // Connections that are kept, as comeback keeps its own.
    for name in [LAB, VAULT] {
        let _ = lab
            .ssh_as(name)
            .args(["-O", "exit"])
            .stderr(Stdio::null())
            .status();
        run(lab.ssh_as(name).args(["-c", CIPHER, "true"]))?;
    }
    let mut rows = [
        Row::new("ssh A cmd | ssh B cmd"),
        Row::new("comeback, a pipe step"),
        Row::new("comeback, its sha256 taken"),
    ];
    for _ in 0..rounds {
        let took = [
            by_ssh(lab, mib)?,
            by_comeback(&stage, mib, false)?,
            by_comeback(&stage, mib, true)?,
        ];
        for (row, seconds) in rows.iter_mut().zip(took) {
            row.values.push(mib as f64 / seconds);
        }
    }
    Ok(vec![Table::new(
        format!("{mib} MiB from host to host, {CIPHER}: MiB a second"),
        rows,
    )])
}

fn by_ssh(lab: &Lab, mib: u64) -> Result<f64> {
    let ssh = format!("ssh -F {}", lab.config().display());
    let text = format!(
        "{ssh} {LAB} 'head -c {} /dev/zero' | {ssh} {VAULT} 'cat >/dev/null'",
        mib << 20
    );
    seconds(Command::new("sh").arg("-c").arg(text).stdin(Stdio::null()))
}

/// The seconds that a session reports for the step.
fn by_comeback(stage: &Stage, mib: u64, hashed: bool) -> Result<f64> {
    let bytes = mib << 20;
    let method = format!(
        "title = \"a stream\"\nfamily = \"bench\"\nhelp = \"\"\nsubject = \"dir\"\nown = \"may\"\n\
         roles = [\"source\", \"target\"]\nseries = \"full\"\n\
         [[step]]\nname = \"send\"\nphase = \"protect\"\nclock = \"here\"\nhashed = \"{hashed}\"\n\
         figures = [\"through\"]\n\
         pipe = [{{ run = 'head -c {bytes} /dev/zero' }}, {{ on = \"target\", run = 'cat >/dev/null' }}]\n"
    );
    let sink = Arc::new(Samples::default());
    let end = stage.conduct_between(&method, LAB, Some(VAULT), Arc::clone(&sink) as _)?;
    let samples = sink.0.lock().unwrap_or_else(PoisonError::into_inner);
    let value = |name: &str| {
        let found = samples.iter().find(|(known, _)| known == name);
        found
            .map(|(_, value)| *value)
            .with_context(|| end.reason.clone())
    };
    ensure!(
        (value("through")? - bytes as f64).abs() < 0.5,
        "not every byte went through"
    );
    value("send")
}

/// The samples that a session tells.
#[derive(Default)]
struct Samples(Mutex<Vec<(String, f64)>>);

impl Sink for Samples {
    fn tell(&self, what: What) {
        if let What::Sample(sample) = what {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((sample.name, sample.value));
        }
    }

    fn commit(&self) -> Result<(), SinkError> {
        Ok(())
    }
}
