//! What a clock adds to a command that takes a second: the time that is reported for `sleep 1`,
//! less that second. And what is reported for `true`, which does nothing.

use std::fs;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use comeback::event::{EndState, Sink, SinkError, StepEnd, StepState, What};

use crate::figures::{Row, Table};
use crate::lab::{Lab, run};
use crate::session::{HERE, LAB, Stage, method};

pub fn measure(lab: &Lab, quick: bool) -> Result<Vec<Table>> {
    let rounds = if quick { 2 } else { 15 };
    let stage = Stage::open(lab)?;
    let mut tables = Vec::new();
    let ways = [
        ("here", HERE, String::new(), "hyperfine -N"),
        (
            "over SSH",
            LAB,
            lab.ssh_words() + " ",
            "hyperfine -N, ssh with ControlMaster",
        ),
    ];
    for (place, host, before, peer) in ways {
        let mut second = [Row::new(peer), Row::new("comeback, a step of a run")];
        let mut nothing = second.clone();
        for _ in 0..rounds {
            let [slept, done] = reported(&stage, host)?;
            let [theirs, ours] = &mut second;
            theirs
                .values
                .push((hyperfine(lab, &format!("{before}sleep 1"))? - 1.0) * 1e3);
            ours.values.push((slept - 1.0) * 1e3);
            let [theirs, ours] = &mut nothing;
            theirs
                .values
                .push(hyperfine(lab, &format!("{before}true"))? * 1e3);
            ours.values.push(done * 1e3);
        }
        tables.push(Table::new(
            format!("`sleep 1` {place}: reported less 1 s, ms"),
            second,
        ));
        tables.push(Table::new(format!("`true` {place}: reported, ms"), nothing));
    }
    Ok(tables)
}

/// Seconds that hyperfine reports for one run of a command.
fn hyperfine(lab: &Lab, command: &str) -> Result<f64> {
    let answer = lab.folder().join("hyperfine.json");
    run(Command::new("hyperfine")
        .args(["-N", "--runs", "1", "--style", "none", "--export-json"])
        .arg(&answer)
        .arg(command))?;
    let answer: serde_json::Value = serde_json::from_str(&fs::read_to_string(&answer)?)?;
    answer
        .pointer("/results/0/times/0")
        .and_then(serde_json::Value::as_f64)
        .context("hyperfine gave no time")
}

/// Seconds that comeback reports for `sleep 1` and for `true`.
fn reported(stage: &Stage, host: &str) -> Result<[f64; 2]> {
    let ends = Arc::new(Ends::default());
    let end = stage.conduct(&method(&["sleep 1", "true"]), host, Arc::clone(&ends) as _)?;
    let ends = ends.0.lock().unwrap_or_else(PoisonError::into_inner);
    ensure!(
        ends.iter().all(|step| step.end == EndState::Ok),
        "{}",
        end.reason
    );
    let seconds: Vec<f64> = ends.iter().filter_map(|step| step.seconds).collect();
    seconds
        .try_into()
        .map_err(|_| anyhow::anyhow!("not two times: {}", end.reason))
}

/// How each step ended.
#[derive(Default)]
struct Ends(Mutex<Vec<StepEnd>>);

impl Sink for Ends {
    fn tell(&self, what: What) {
        if let What::Step(change) = what
            && let StepState::Ended(end) = change.state
        {
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(end);
        }
    }

    fn commit(&self) -> Result<(), SinkError> {
        Ok(())
    }
}
