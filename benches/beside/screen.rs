//! A dashboard that is drawn into memory, 30 times a second, while a session goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use chrono::{Offset, Utc};
use comeback::tui::{Message, Model, Theme, update, view};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use crate::watched::Watched;

const SIZE: (u16, u16) = (120, 40);
const FRAME: Duration = Duration::from_millis(33);

/// A screen that somebody looks at.
pub struct Screen {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Result<f64>>,
}

impl Screen {
    /// Shows what goes on.
    pub fn show(watched: &Arc<Watched>) -> Result<Self> {
        let theme = Theme::load("default", &[])?;
        let over = Arc::new(AtomicBool::new(false));
        let (ended, watched) = (Arc::clone(&over), Arc::clone(watched));
        let thread = thread::spawn(move || draw(theme, &watched, &ended));
        Ok(Self { over, thread })
    }

    /// Ends it; gives how many frames a second were drawn.
    pub fn close(self) -> Result<f64> {
        self.over.store(true, Ordering::Relaxed);
        self.thread
            .join()
            .map_err(|_panic| anyhow!("drawing panicked"))?
    }
}

fn draw(theme: Theme, watched: &Watched, over: &AtomicBool) -> Result<f64> {
    let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1))?;
    let mut model = Model::new(theme, SIZE, Utc.fix());
    update(&mut model, &watched.session(), Message::Began);
    let mut frames = 0_u32;
    let begin = Instant::now();
    let mut next = begin;
    while !over.load(Ordering::Relaxed) {
        terminal.draw(|frame| {
            let session = watched.session();
            let now = session.now;
            update(&mut model, &session, Message::Changed(now));
            view(&model, &session, frame);
        })?;
        frames += 1;
        next += FRAME;
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    Ok(f64::from(frames) / begin.elapsed().as_secs_f64())
}
