//! What a frame costs: the time until its bytes are ready for the terminal, and how many they are.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use anyhow::{Context, Result};
use chrono::{Offset, Utc};
use comeback::event::{Event, LogChunk, Nanos, StepId, StepState, Stream, What};
use comeback::recording::Reader;
use comeback::session::Session;
use comeback::tui::{Message, Model, Theme, update, view};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

use crate::figures::{Row, Table};

const RECORDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/recordings/files.jsonl");
const LINES: usize = 100_000;
const SECOND: u64 = 1_000_000_000;

/// What happens between two frames.
type Change = (&'static str, fn(&mut Scene));

const CHANGES: [Change; 6] = [
    ("a second has passed", Scene::second),
    ("one line has come", |scene| scene.lines(1)),
    ("20 lines have come", |scene| scene.lines(20)),
    ("the log is scrolled by a line", |scene| {
        scene.key(KeyCode::Up);
    }),
    ("the log is scrolled by a page", |scene| {
        scene.key(KeyCode::PageUp);
    }),
    ("all of it anew", Scene::anew),
];

pub fn measure(quick: bool) -> Result<Vec<Table>> {
    let rounds = if quick { 20 } else { 500 };
    let mut tables = Vec::new();
    for size in [(80, 24), (200, 60)] {
        let mut times = CHANGES.map(|(name, _)| Row::new(name));
        let mut bytes = times.clone();
        let mut scene = Scene::of_many_lines(size)?;
        for _ in 0..rounds {
            for ((_, change), (time, written)) in
                CHANGES.iter().zip(times.iter_mut().zip(&mut bytes))
            {
                let (seconds, count) = scene.frame(*change)?;
                time.values.push(seconds * 1e3);
                written.values.push(count as f64);
            }
            scene.key(KeyCode::Char('f'));
            scene.draw()?;
        }
        let what = format!(
            "a frame at {}×{}, of a session with {LINES} lines",
            size.0, size.1
        );
        tables.push(Table::new(format!("The time of {what}: ms"), times));
        tables.push(Table::new(format!("The bytes of {what}"), bytes));
    }
    Ok(tables)
}

/// A session that goes on, and a terminal that only counts.
struct Scene {
    session: Session,
    model: Model,
    step: StepId,
    offset: u64,
    now: Nanos,
    seq: u64,
    written: Rc<Cell<u64>>,
    /// What stands on the terminal is not known any more.
    is_lost: bool,
    terminal: Terminal<CrosstermBackend<Counter>>,
}

impl Scene {
    /// A real session at the begin of its last step, which has printed a lot since.
    fn of_many_lines(size: (u16, u16)) -> Result<Self> {
        let events: Vec<Event> = Reader::open(Path::new(RECORDING))?.collect::<Result<_, _>>()?;
        let started = |event: &Event| match &event.what {
            What::Step(change) if matches!(change.state, StepState::Started) => {
                Some(change.step.clone())
            }
            _ => None,
        };
        let (at, step) = events
            .iter()
            .enumerate()
            .rev()
            .find_map(|(at, event)| started(event).map(|step| (at, step)))
            .context("no step was started")?;
        let mut session = Session::default();
        let mut now = Nanos::default();
        for event in events.iter().take(at + 1) {
            session.apply(event);
            now = event.t;
        }
        let written = Rc::new(Cell::new(0));
        let terminal = counted(size, &written)?;
        let mut scene = Self {
            session,
            model: Model::new(Theme::load("default", &[])?, size, Utc.fix()),
            step,
            offset: 0,
            now,
            seq: at as u64,
            written,
            is_lost: false,
            terminal,
        };
        scene.take(Message::Began);
        scene.lines(LINES);
        scene.draw()?;
        Ok(scene)
    }

    fn frame(&mut self, change: fn(&mut Self)) -> Result<(f64, u64)> {
        let before = self.written.get();
        let begin = Instant::now();
        change(self);
        self.draw()?;
        let seconds = begin.elapsed().as_secs_f64();
        Ok((seconds, self.written.get() - before))
    }

    fn draw(&mut self) -> Result<()> {
        if std::mem::take(&mut self.is_lost) {
            self.terminal = counted(self.model.size, &self.written)?;
        }
        let (model, session) = (&self.model, &self.session);
        self.terminal.draw(|frame| view(model, session, frame))?;
        Ok(())
    }

    fn take(&mut self, message: Message) {
        update(&mut self.model, &self.session, message);
    }

    fn second(&mut self) {
        self.now = Nanos(self.now.0 + SECOND);
        self.take(Message::Tick(self.now));
    }

    fn lines(&mut self, count: usize) {
        // In chunks, as they come.
        for first in (0..count).step_by(500) {
            let mut text = String::new();
            for line in first..count.min(first + 500) {
                let _ = writeln!(
                    text,
                    "INFO: {:3}% ({line:7} of {count} blocks) in {:4}s, read: 412.6 MiB/s, write: 398.1 MiB/s, zero: 12",
                    line * 100 / count,
                    line / 997
                );
            }
            let offset = self.offset;
            self.offset += text.len() as u64;
            let chunk = LogChunk {
                step: self.step.clone(),
                stream: Stream::Out,
                offset,
                text: Some(text),
                base64: None,
            };
            self.seq += 1;
            self.session.apply(&Event {
                seq: self.seq,
                t: self.now,
                what: What::Log(chunk),
            });
        }
        self.take(Message::Changed(self.now));
    }

    fn key(&mut self, code: KeyCode) {
        self.take(Message::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    fn anew(&mut self) {
        self.is_lost = true;
    }
}

/// A terminal that only counts.
pub struct Screen(Terminal<CrosstermBackend<Counter>>);

impl Screen {
    pub fn new(size: (u16, u16)) -> Result<Self> {
        Ok(Self(counted(size, &Rc::default())?))
    }

    pub fn draw(&mut self, draw: impl FnOnce(&mut ratatui::Frame<'_>)) -> Result<()> {
        self.0.draw(draw)?;
        Ok(())
    }
}

/// A terminal on which nothing stands.
fn counted(
    size: (u16, u16),
    written: &Rc<Cell<u64>>,
) -> Result<Terminal<CrosstermBackend<Counter>>> {
    let viewport = Viewport::Fixed(Rect::new(0, 0, size.0, size.1));
    let backend = CrosstermBackend::new(Counter(Rc::clone(written)));
    Ok(Terminal::with_options(
        backend,
        TerminalOptions { viewport },
    )?)
}

/// Counts what would go to the terminal.
struct Counter(Rc<Cell<u64>>);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.set(self.0.get() + bytes.len() as u64);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
