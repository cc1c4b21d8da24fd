//! What a frame costs of sessions that are larger than any that a person makes, where nothing new came;
//! and how long their reports take.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};
use chrono::{Offset, Utc};
use comeback::event::{Event, Nanos};
use comeback::recording::Writer;
use comeback::session::Session;
use comeback::tui::{Counted, Message, Model, Theme, update, view};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::figures::{Row, Table};
use crate::frames::Screen;
use crate::lab::{Lab, seconds};
use crate::program::PATH;

#[path = "../../tests/support/huge.rs"]
mod huge;

const STEPS: usize = 50_000;
const RUNS: usize = 1_000;
const METHODS: usize = 20;

/// What is looked at.
#[derive(Clone, Copy)]
enum Look {
    Watching,
    Comparing,
    /// While it goes on: its last event has not come.
    GoingOn,
}

pub fn measure(lab: &Lab, quick: bool) -> Result<Vec<Table>> {
    let rounds = if quick { 10 } else { 300 };
    let steps = huge::steps(STEPS);
    let runs = huge::runs(RUNS, METHODS);
    let mut tables = Vec::new();
    for size in [(80, 24), (200, 60)] {
        let mut rows = Vec::new();
        for (name, events, look) in [
            ("1,000 runs in 20 series, watched", &runs, Look::Watching),
            ("… going on", &runs, Look::GoingOn),
            ("… compared", &runs, Look::Comparing),
            (
                "50,000 steps of different names, watched",
                &steps,
                Look::Watching,
            ),
            ("… going on", &steps, Look::GoingOn),
            ("… compared", &steps, Look::Comparing),
        ] {
            let mut row = Row::new(name);
            row.values = frames_of(events, look, size, rounds)?;
            rows.push(row);
        }
        let title = format!(
            "The time of a frame at {}×{} a second later, when nothing has come: ms",
            size.0, size.1
        );
        tables.push(Table::new(title, rows));
    }
    tables.push(reports(lab, &steps, if quick { 1 } else { 5 })?);
    Ok(tables)
}

fn frames_of(events: &[Event], look: Look, size: (u16, u16), rounds: usize) -> Result<Vec<f64>> {
    let mut session = Session::default();
    // Into the last step.
    let rest = if matches!(look, Look::GoingOn) { 5 } else { 0 };
    for event in events.iter().take(events.len() - rest) {
        session.apply(event);
    }
    let mut now = session.now;
    let mut model = Model::new(Theme::load("default", &[])?, size, Utc.fix());
    update(&mut model, &session, Message::Began);
    update(&mut model, &session, Message::Changed(now));
    // As the dashboard's loop does after a change.
    model.figures = Arc::new(Counted::all_of(&session));
    if matches!(look, Look::Comparing) {
        let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::NONE);
        update(&mut model, &session, Message::Key(key));
    }
    let mut screen = Screen::new(size)?;
    let mut times = Vec::new();
    for _ in 0..rounds {
        let begin = Instant::now();
        now = Nanos(now.0 + 1_000_000_000);
        update(&mut model, &session, Message::Tick(now));
        screen.draw(|frame| view(&model, &session, frame))?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}

fn reports(lab: &Lab, events: &[Event], rounds: usize) -> Result<Table> {
    let file = lab.folder().join("huge.jsonl");
    write(&file, events)?;
    let mut rows = Vec::new();
    for (name, format) in [("report", "table"), ("report --format json", "json")] {
        let mut row = Row::new(name);
        for _ in 0..rounds {
            let mut command = Command::new(PATH);
            command.args(["report", "--format", format]).arg(&file);
            row.values.push(seconds(&mut command)?);
        }
        rows.push(row);
    }
    fs::remove_file(&file)?;
    Ok(Table::new(
        format!("A report on {STEPS} steps of different names: s"),
        rows,
    ))
}

fn write(path: &Path, events: &[Event]) -> Result<()> {
    let writer = Writer::create(path)?;
    for event in events {
        writer.write(event);
    }
    ensure!(writer.commit().is_ok(), "the recording cannot be written");
    Ok(())
}
