//! How long the program takes before it can do anything, and how big it is.

use std::fs;
use std::process::Command;

use anyhow::Result;

use crate::figures::{Row, Table};
use crate::lab::{Lab, seconds};
use crate::program::{PATH, Program};

pub fn measure(lab: &Lab, quick: bool) -> Result<Vec<Table>> {
    let rounds = if quick { 5 } else { 100 };
    let program = Program::new(lab)?;
    let mut peer = Row::new("hyperfine --version");
    let mut own = Row::new("comeback info");
    let mut methods = Row::new("comeback methods");
    for _ in 0..rounds {
        peer.values
            .push(seconds(Command::new("hyperfine").arg("--version"))? * 1e3);
        own.values
            .push(seconds(program.command().arg("info"))? * 1e3);
        methods
            .values
            .push(seconds(program.command().arg("methods"))? * 1e3);
    }
    let mut size = Row::new("size of the program, MiB");
    size.values
        .push(fs::metadata(PATH)?.len() as f64 / f64::from(1 << 20));
    Ok(vec![Table {
        title: "Start to end of a command that does next to nothing: ms".into(),
        rows: vec![peer, own, methods],
        beside: vec![size],
    }])
}
