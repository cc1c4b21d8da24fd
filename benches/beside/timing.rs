//! What a clock adds to a command that takes a second: the time that is reported for `sleep 1`,
//! less that second. And what is reported for `true`, which does nothing.

use std::fs;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use comeback::event::{EndState, Sink, SinkError, StepState, What};

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
        let mut calibrated = Row::new("comeback, the cost of a step that it tells");
        for _ in 0..rounds {
            let Reported {
                slept,
                done,
                overhead,
            } = reported(&stage, host)?;
            calibrated.values.push(overhead * 1e3);
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
        let [theirs, ours] = nothing;
        tables.push(Table::new(
            format!("`true` {place}: reported, ms"),
            [theirs, ours, calibrated],
        ));
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

/// What comeback reports, in seconds.
struct Reported {
    slept: f64,
    done: f64,
    overhead: f64,
}

fn reported(stage: &Stage, host: &str) -> Result<Reported> {
    let told = Arc::new(Told::default());
    let end = stage.conduct(
        &method(&["sleep 1", "true"]),
        host,
        Arc::clone(&told) as Arc<dyn Sink>,
    )?;
    let told = told.0.lock().unwrap_or_else(PoisonError::into_inner);
    let mut ended = Vec::new();
    let mut overhead = None;
    for what in told.iter() {
        match what {
            What::Step(change) => {
                if let StepState::Ended(end) = &change.state {
                    ensure!(end.end == EndState::Ok, "{end:?}");
                    ended.extend(end.seconds);
                }
            }
            What::Host(change) => {
                let facts = change.facts.as_ref();
                overhead = facts.and_then(|facts| facts.overhead).or(overhead);
            }
            _ => {}
        }
    }
    match (ended.as_slice(), overhead) {
        ([slept, done], Some(overhead)) => Ok(Reported {
            slept: *slept,
            done: *done,
            overhead,
        }),
        _ => anyhow::bail!("not every time was told: {}", end.reason),
    }
}

/// Keeps what it is told.
#[derive(Default)]
struct Told(Mutex<Vec<What>>);

impl Sink for Told {
    fn tell(&self, what: What) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(what);
    }

    fn commit(&self) -> Result<(), SinkError> {
        Ok(())
    }
}
