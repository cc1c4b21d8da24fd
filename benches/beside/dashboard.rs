//! The dashboard in a pseudo-terminal: until its first frame, from a key to its frame under a flood
//! of lines, and when nothing happens.

use std::fs;
use std::io::{BufWriter, Write, stdout};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use portable_pty::CommandBuilder;

use crate::figures::{Row, Table};
use crate::lab::Lab;
use crate::program::PATH;
use crate::shown::Shown;

/// The argument with which this program prints lines at a pace instead of measuring.
pub const FLOOD: &str = "--flood";
/// Lines a second.
const PACE: u64 = 100_000;
/// How often the flood prints.
const BEAT: Duration = Duration::from_millis(10);
/// How long a program has to be quiet to be taken for settled.
const QUIET: Duration = Duration::from_secs(2);

pub fn measure(lab: &Lab, quick: bool) -> Result<Vec<Table>> {
    let home = lab.folder().join("dashboard");
    fs::create_dir_all(home.join(".config/comeback/methods"))?;
    let seconds = if quick { 5 } else { 30 };
    let exe = std::env::current_exe()?;
    let run = format!("{} {FLOOD} {seconds}", exe.display());
    let method = crate::session::method(&[&run]);
    fs::write(home.join(".config/comeback/methods/a-flood.toml"), method)?;
    let desk = Desk { home };
    let mut tables = desk.start(if quick { 3 } else { 31 })?;
    tables.push(desk.keys()?);
    tables.push(desk.idle(if quick { 3 } else { 20 })?);
    Ok(tables)
}

struct Desk {
    home: PathBuf,
}

impl Desk {
    fn comeback(&self) -> CommandBuilder {
        let mut command = CommandBuilder::new(PATH);
        command.env("HOME", &self.home);
        for name in [
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "XDG_STATE_HOME",
            "NO_COLOR",
        ] {
            command.env_remove(name);
        }
        command.cwd(&self.home);
        command
    }

    /// Of programs that are found; the first row is ours.
    fn start(&self, rounds: usize) -> Result<Vec<Table>> {
        let peers = [
            ("trippy", "trip", Some("127.0.0.1")),
            ("bottom", "btm", None),
        ];
        let mut first = vec![Row::new("comeback")];
        let mut commands = vec![self.comeback()];
        for (name, program, arg) in peers {
            if std::process::Command::new(program)
                .arg("--version")
                .output()
                .is_ok()
            {
                let mut command = CommandBuilder::new(program);
                command.args(arg);
                command.env("HOME", &self.home);
                first.push(Row::new(name));
                commands.push(command);
            }
        }
        let mut memory = first.clone();
        for _ in 0..rounds {
            for (at, command) in commands.iter().enumerate() {
                let shown = Shown::start(command.clone())?;
                let drawn = shown.until("a first frame", |text| !text.trim().is_empty())?;
                thread::sleep(Duration::from_secs(1));
                let values = [(drawn - shown.began).as_secs_f64() * 1e3, shown.memory()?];
                for (rows, value) in [&mut first, &mut memory].into_iter().zip(values) {
                    rows.get_mut(at).context("no row")?.values.push(value);
                }
            }
        }
        Ok(vec![
            Table::new("From the start to the first frame at 80×24: ms", first),
            Table::new(
                "Resident memory a second after the first frame: MiB",
                memory,
            ),
        ])
    }

    fn keys(&self) -> Result<Table> {
        let shown = Shown::start(self.comeback())?;
        shown.until("the method", |text| text.contains("a-flood"))?;
        shown.press(" --")?;
        shown.until("one run", |text| text.contains("1 run"))?;
        shown.press("\r")?;
        let begin = shown.until("lines", |text| text.contains("INFO: "))?;
        let before = shown.bytes();
        let mut key = Row::new("? until the help stands there, and Esc until not");
        let is_over = |text: &str| text.contains("over: ");
        let is_help = |text: &str| text.contains("╭ Keys");
        let mut pause = 40;
        let over = loop {
            for (typed, wanted) in [("?", true), ("\u{1b}", false)] {
                thread::sleep(Duration::from_millis(pause));
                // Never in step with frames.
                pause = 40 + (pause * 7 + 13) % 60;
                let pressed = Instant::now();
                shown.press(typed)?;
                let drawn = shown.until("help", |text| is_help(text) == wanted)?;
                key.values.push((drawn - pressed).as_secs_f64() * 1e3);
            }
            if let Some(over) = shown.since(is_over) {
                break over;
            }
        };
        let seconds = (over - begin).as_secs_f64();
        let mut sorted = key.values.clone();
        sorted.sort_by(f64::total_cmp);
        let mut slow = Row::new("the same, 99th percentile");
        slow.values.extend(sorted.get(sorted.len() * 99 / 100));
        let mut bytes = Row::new("bytes a second to the terminal");
        bytes.values.push((shown.bytes() - before) as f64 / seconds);
        Ok(Table {
            title: format!("From a key to its frame at 80×24, under {PACE} lines a second: ms"),
            rows: vec![key, slow],
            beside: vec![bytes],
        })
    }

    fn idle(&self, seconds: u64) -> Result<Table> {
        let shown = Shown::start(self.comeback())?;
        shown.until("the method", |text| text.contains("a-flood"))?;
        shown.until_quiet(QUIET)?;
        let (bytes, worked) = (shown.bytes(), shown.worked()?);
        thread::sleep(Duration::from_secs(seconds));
        let row = |name, value| Row {
            name,
            values: vec![value],
        };
        Ok(Table {
            title: format!("{seconds} seconds in which nothing happens, no run"),
            rows: Vec::new(),
            beside: vec![
                row("bytes to the terminal", (shown.bytes() - bytes) as f64),
                row(
                    "of a processor, %",
                    (shown.worked()? - worked) / seconds as f64 * 100.0,
                ),
                row("resident memory, MiB", shown.memory()?),
            ],
        })
    }
}

/// Prints lines for so many seconds.
pub fn flood(seconds: &str) -> Result<()> {
    let seconds: u64 = seconds.parse()?;
    let mut out = BufWriter::new(stdout().lock());
    let begin = Instant::now();
    let all = seconds * PACE;
    let mut line = 0;
    while line < all {
        let due = (begin.elapsed().as_secs_f64() * PACE as f64) as u64;
        for line in line..due.min(all) {
            writeln!(
                out,
                "INFO: {:3}% ({line:7} of {all} blocks) in {:4}s, read: 412.6 MiB/s, write: 398.1 MiB/s, zero: 12",
                line * 100 / all,
                line / PACE
            )?;
        }
        line = due.min(all);
        out.flush()?;
        thread::sleep(BEAT);
    }
    Ok(())
}
