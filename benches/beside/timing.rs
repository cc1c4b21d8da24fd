//! What a clock adds to a command that takes a second: the time that is reported for `sleep 1`,
//! less that second.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use crate::figures::{Row, Table};
use crate::lab::{Lab, run};

pub fn measure(lab: &Lab, quick: bool) -> Result<Vec<Table>> {
    let rounds = if quick { 2 } else { 15 };
    let mut local = Row::new("hyperfine -N");
    let mut remote = Row::new("hyperfine -N, ssh with ControlMaster");
    for _ in 0..rounds {
        local.values.push(added(lab, "sleep 1")?);
        let over_ssh = format!("{} sleep 1", lab.ssh_words());
        remote.values.push(added(lab, &over_ssh)?);
    }
    Ok(vec![
        Table {
            title: "`sleep 1` here: reported less 1 s, ms".into(),
            rows: vec![local],
        },
        Table {
            title: "`sleep 1` over SSH: reported less 1 s, ms".into(),
            rows: vec![remote],
        },
    ])
}

/// What hyperfine reports for one run of a command, less a second, in milliseconds.
fn added(lab: &Lab, command: &str) -> Result<f64> {
    let answer = lab.folder().join("hyperfine.json");
    run(Command::new("hyperfine")
        .args(["-N", "--runs", "1", "--style", "none", "--export-json"])
        .arg(&answer)
        .arg(command))?;
    let answer: serde_json::Value = serde_json::from_str(&fs::read_to_string(&answer)?)?;
    let seconds = answer
        .pointer("/results/0/times/0")
        .and_then(serde_json::Value::as_f64)
        .context("hyperfine gave no time")?;
    Ok((seconds - 1.0) * 1e3)
}
