//! comeback beside the usual tool for the same work, alternating in the same run, so that a busy
//! machine slows both: `cargo bench [-- [--quick] NAME…]`, NAME being timing, exec, log, hash,
//! start, hosts, stream, screen, large or seek.
//!
//! Needs `sshd`, `ssh` and `hyperfine`; `trip` and `btm` (trippy, bottom) where they are to be compared. Each table says every row's n, median, least and most, and the
//! ratio of its median to the first row's.
#![expect(clippy::print_stdout, reason = "figures are what this program is for")]

mod dashboard;
mod exec;
mod figures;
mod frames;
mod hash;
mod hosts;
mod lab;
mod large;
mod log;
mod program;
mod screen;
mod seek;
mod session;
mod shown;
mod start;
mod stream;
mod timing;
mod watched;

use anyhow::{Context, Result};

use figures::Table;
use lab::Lab;

/// A name, and what it measures. Flag: only a few rounds, to see that it works.
type Measure = (&'static str, fn(&Lab, bool) -> Result<Vec<Table>>);

const ALL: [Measure; 10] = [
    ("timing", timing::measure),
    ("exec", exec::measure),
    ("log", log::measure),
    ("hash", hash::measure),
    ("start", start::measure),
    ("stream", stream::measure),
    ("hosts", hosts::measure),
    ("screen", screens),
    ("large", large::measure),
    ("seek", seek::measure),
];

fn screens(lab: &Lab, quick: bool) -> Result<Vec<Table>> {
    let mut tables = frames::measure(quick)?;
    tables.extend(dashboard::measure(lab, quick)?);
    Ok(tables)
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    if let (Some(dashboard::FLOOD), Some(seconds)) = (args.next().as_deref(), args.next()) {
        return dashboard::flood(&seconds);
    }
    let (flags, names): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|arg| arg.starts_with('-'));
    let quick = flags.iter().any(|flag| flag == "--quick");
    if let Some(name) = names
        .iter()
        .find(|name| ALL.iter().all(|(known, _)| known != name))
    {
        anyhow::bail!(
            "{name}: no such measurement; there are timing, exec, log, hash, start, hosts, stream, screen, large and seek"
        );
    }
    let lab = Lab::start().context("an sshd of our own on loopback")?;
    for (name, measure) in ALL {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            for table in measure(&lab, quick).context(name)? {
                println!("{table}");
            }
        }
    }
    Ok(())
}
