//! The loop: waits, takes all that is ready, draws once.

use std::collections::VecDeque;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};

use crate::event::Nanos;
use crate::session::Session;

use super::counted::{self, Counted};
use super::given::{Channels, Feed, Start};
use super::input::Input;
use super::message::{Effect, Ended, Message, ReplayState};
use super::model::{Model, Screen, is_active};
use super::signals::{Heard, Signals};
use super::terminal::{Terminal, TuiError};
use super::theme::Shelf;
use super::update;

/// At most 30 frames a second.
const FRAME: Duration = Duration::from_millis(33);
/// After a key the next frame comes sooner: whoever types waits for none.
const KEY_FRAME: Duration = Duration::from_millis(8);
/// How often clocks on the screen go on while something runs.
const TICK: Duration = Duration::from_secs(1);
/// At most so many messages are taken before a frame, so that a flood of them delays none.
const BATCH: usize = 256;
/// How long it may take until a stop that was asked for has happened.
const STOPPING: Duration = Duration::from_secs(1);
/// How long the last effects may take to be taken.
const PARTING: Duration = Duration::from_secs(2);

/// What is drawn on. The terminal, or a buffer in tests.
pub(super) trait Canvas {
    /// Columns and rows.
    fn size(&self) -> io::Result<(u16, u16)>;
    /// Where keys come from; asked for once.
    fn input(&mut self) -> mpsc::Receiver<Input>;
    /// Draws.
    fn draw(&mut self, model: &Model, session: &Mutex<Session>) -> io::Result<()>;
    /// Forgets what was drawn: somebody else has had the terminal.
    fn redraw(&mut self) -> io::Result<()>;
    /// Gives the terminal back and asks to be stopped; that happens soon, not at once.
    fn suspend(&mut self) -> io::Result<()>;
    /// Takes the terminal again.
    fn resume(&mut self) -> io::Result<()>;
    /// Gives a text to the clipboard.
    fn copy(&mut self, text: &str) -> io::Result<()>;
    /// Takes the mouse, or leaves it to the terminal.
    fn mouse(&mut self, on: bool) -> io::Result<()>;
    /// Returns when a part of the program has panicked.
    async fn panicked(&self);
}

/// Shows the dashboard until the operator leaves it, the program is asked to end or the terminal
/// is gone. The terminal is given back before this returns.
///
/// # Errors
/// [`TuiError`]: the terminal cannot be used, a part of the program panicked, or nobody takes the
/// effects any more.
pub async fn run(
    terminal: Terminal,
    feed: Feed,
    start: Start,
    channels: Channels,
) -> Result<Ended, TuiError> {
    let signals = Signals::new()?;
    match drive(terminal, Some(signals), feed, start, channels).await {
        // Wherever it is noticed first that there is no terminal any more.
        Err(TuiError::Terminal(why)) if is_gone(&why) => Ok(Ended::HungUp),
        ended => ended,
    }
}

async fn replay_moves(
    replay: &mut Option<watch::Receiver<Option<ReplayState>>>,
) -> Option<ReplayState> {
    if let Some(state) = replay
        && state.changed().await.is_ok()
    {
        return state.borrow_and_update().clone();
    }
    // No replay, or the player is gone: the last state stays.
    std::future::pending().await
}

/// The session's clock between two events.
struct Clock {
    at: Nanos,
    since: Instant,
    speed: f64,
}

impl Clock {
    fn now(&self) -> Nanos {
        let gone = self.since.elapsed().as_secs_f64() * self.speed;
        Nanos(self.at.0.saturating_add((gone * 1e9) as u64))
    }

    fn set(&mut self, at: Nanos, speed: f64) {
        *self = Self {
            at,
            since: Instant::now(),
            speed,
        };
    }
}

struct Dashboard<C> {
    canvas: C,
    model: Model,
    shelf: Shelf,
    feed: Feed,
    clock: Clock,
    /// Whether what is on the screen is old.
    dirty: bool,
    /// When the last frame was drawn.
    drawn: Instant,
    /// When the next frame may be drawn.
    frame: Instant,
    /// When clocks on the screen go on.
    tick: Instant,
    outbox: VecDeque<Effect>,
    /// Takes what another thread has counted.
    counter: mpsc::Sender<Counted>,
    is_counting: bool,
}

/// Shows it. What panics here ends the dashboard alone: who runs the session goes on, and undoes it.
pub(super) async fn drive<C: Canvas>(
    canvas: C,
    signals: Option<Signals>,
    feed: Feed,
    start: Start,
    channels: Channels,
) -> Result<Ended, TuiError> {
    let turning = AssertUnwindSafe(turn(canvas, signals, feed, start, channels));
    turning
        .catch_unwind()
        .await
        .unwrap_or(Err(TuiError::Panicked))
}

async fn turn<C: Canvas>(
    mut canvas: C,
    mut signals: Option<Signals>,
    feed: Feed,
    start: Start,
    mut channels: Channels,
) -> Result<Ended, TuiError> {
    let mut input = canvas.input();
    let mut replay = feed.replay.clone();
    let mut changes = feed.changes.clone();
    let (counter, mut counted) = mpsc::channel(1);
    let mut board = Dashboard::new(canvas, feed, start, counter)?;
    let (mut has_messages, mut has_changes) = (true, true);
    loop {
        if let Some(ended) = board.draw_if_due()? {
            return Ok(ended);
        }
        tokio::select! {
            biased;
            () = board.canvas.panicked() => return Err(TuiError::Panicked),
            heard = Signals::next(&mut signals) => match heard {
                Heard::Ended(ended) => board.take(Message::Ended(ended)),
                Heard::Resized => board.dirty = true,
                Heard::Resumed => {
                    board.canvas.redraw()?;
                    board.dirty = true;
                }
            },
            key = input.recv() => board.input(key),
            permit = channels.effects.reserve(), if !board.outbox.is_empty() => {
                let Ok(permit) = permit else {
                    return Err(TuiError::Deserted);
                };
                if let Some(effect) = board.outbox.pop_front() {
                    permit.send(effect);
                }
            }
            message = channels.messages.recv(), if has_messages => match message {
                Some(message) => board.take(message),
                None => has_messages = false,
            },
            state = replay_moves(&mut replay) => board.replay(state),
            change = changes.changed(), if has_changes => match change {
                Ok(()) => board.changed(),
                Err(_) => has_changes = false,
            },
            Some(figures) = counted.recv() => board.counted(figures),
            () = sleep_until(board.frame), if board.dirty => {}
            () = sleep_until(board.tick), if board.goes_on() => board.ticked(),
        }
        for _ in 0..BATCH {
            if let Ok(key) = input.try_recv() {
                board.input(Some(key));
            } else if let Ok(message) = channels.messages.try_recv() {
                board.take(message);
            } else {
                break;
            }
        }
        board.do_own()?;
        if board.is_suspending() {
            board.canvas.suspend()?;
            // Where nobody can put it back into the foreground, it is not stopped either.
            let _ = timeout(STOPPING, Signals::resumed(&mut signals)).await;
            board.canvas.resume()?;
            board.dirty = true;
        }
        if let Some(ended) = board.parting() {
            let say = async {
                for effect in board.outbox.drain(..) {
                    if channels.effects.send(effect).await.is_err() {
                        break;
                    }
                }
            };
            // Who does not listen any more is not waited for.
            let _ = timeout(PARTING, say).await;
            return Ok(ended);
        }
    }
}

impl<C: Canvas> Dashboard<C> {
    fn new(
        canvas: C,
        feed: Feed,
        start: Start,
        counter: mpsc::Sender<Counted>,
    ) -> io::Result<Self> {
        let Start {
            theme,
            shelf,
            zone,
            offer,
            keys,
            mouse,
        } = start;
        let mut model = Model::new(theme, canvas.size()?, zone);
        model.keys = keys;
        model.mouse = mouse;
        if feed.list {
            model.screen = Screen::Recordings;
        }
        let now = Instant::now();
        let mut board = Self {
            canvas,
            model,
            shelf,
            clock: Clock {
                at: Nanos::default(),
                since: now,
                speed: 0.0,
            },
            feed,
            dirty: true,
            drawn: now,
            frame: now,
            tick: now + TICK,
            outbox: VecDeque::new(),
            counter,
            is_counting: false,
        };
        board.canvas.mouse(mouse)?;
        if let Some(offer) = offer {
            board.take(Message::Offer(Box::new(offer)));
        }
        let state = board
            .feed
            .replay
            .as_ref()
            .and_then(|replay| replay.borrow().clone());
        if state.is_some() {
            board.replay(state);
        }
        board.changed();
        Ok(board)
    }

    fn take(&mut self, message: Message) {
        let effects = {
            let session = self.feed.lock();
            update(&mut self.model, &session, message)
        };
        self.outbox.extend(effects);
        self.dirty = true;
    }

    fn input(&mut self, input: Option<Input>) {
        self.frame = self.frame.min(self.drawn + KEY_FRAME);
        match input {
            Some(Input::Key(key)) => self.take(Message::Key(key)),
            Some(Input::Mouse(event)) => self.take(Message::Mouse(event)),
            Some(Input::Paste(text)) => self.take(Message::Paste(text)),
            Some(Input::Closed) | None => self.take(Message::Ended(Ended::HungUp)),
        }
    }

    fn changed(&mut self) {
        let (now, goes_on) = {
            let session = self.feed.lock();
            (session.now, is_active(&session))
        };
        if self.model.replay.is_none() {
            self.clock.set(now, if goes_on { 1.0 } else { 0.0 });
        }
        self.take(Message::Changed(self.clock.now()));
    }

    fn replay(&mut self, state: Option<ReplayState>) {
        let Some(state) = state else {
            self.take(Message::ReplayClosed);
            self.changed();
            return;
        };
        self.clock.set(state.at, state.pace);
        self.take(Message::Replay(state));
        self.take(Message::Tick(self.clock.now()));
    }

    fn goes_on(&self) -> bool {
        self.clock.speed > 0.0
    }

    fn ticked(&mut self) {
        // A replay that goes fast is not seen to jump.
        self.tick = Instant::now() + TICK.div_f64(self.clock.speed.clamp(1.0, 8.0));
        self.take(Message::Tick(self.clock.now()));
    }

    /// Has the figures made that the next frame shows; those of a large session by another thread, so
    /// that keys and signals are heard meanwhile.
    fn count(&mut self) {
        let frozen = self.model.frozen.as_ref();
        let frozen = frozen.map(|frozen| Arc::clone(&frozen.session));
        let live = self.feed.lock();
        let session = frozen.as_deref().unwrap_or(&live);
        if self.model.figures.are_of(session) || self.is_counting {
            return;
        }
        if counted::are_light(session) {
            self.model.figures = Arc::new(Counted::of(session));
            return;
        }
        let (session, counter) = (session.clone(), self.counter.clone());
        let count = move || {
            // Who has left does not listen.
            let _ = counter.blocking_send(Counted::all_of(&session));
        };
        self.is_counting = std::thread::Builder::new()
            .name("figures".to_owned())
            .spawn(count)
            .is_ok();
    }

    fn counted(&mut self, figures: Counted) {
        self.is_counting = false;
        self.model.figures = Arc::new(figures);
        self.dirty = true;
    }

    /// Draws where something has changed and the last frame is old enough.
    fn draw_if_due(&mut self) -> Result<Option<Ended>, TuiError> {
        if !self.dirty || Instant::now() < self.frame {
            return Ok(None);
        }
        let drawn = self.canvas.size().and_then(|size| {
            if size != self.model.size {
                self.take(Message::Resize(size.0, size.1));
            }
            self.count();
            self.canvas.draw(&self.model, &self.feed.session)
        });
        self.dirty = false;
        self.drawn = Instant::now();
        self.frame = self.drawn + FRAME;
        match drawn {
            Ok(()) => Ok(None),
            Err(why) if is_gone(&why) => Ok(Some(Ended::HungUp)),
            Err(why) => Err(why.into()),
        }
    }

    /// Does what the loop does itself.
    fn do_own(&mut self) -> io::Result<()> {
        for effect in std::mem::take(&mut self.outbox) {
            match effect {
                Effect::Copy(text) => self.canvas.copy(&text)?,
                Effect::Mouse(on) => self.canvas.mouse(on)?,
                Effect::Themes(wish) => {
                    let (themes, wrong) = self.shelf.all();
                    self.take(Message::Themes(wish, themes, wrong));
                }
                other => self.outbox.push_back(other),
            }
        }
        Ok(())
    }

    /// Whether the program is to go into the background.
    fn is_suspending(&mut self) -> bool {
        let before = self.outbox.len();
        self.outbox.retain(|effect| *effect != Effect::Suspend);
        self.outbox.len() < before
    }

    /// Whether the dashboard is over.
    fn parting(&self) -> Option<Ended> {
        self.outbox.iter().find_map(|effect| match effect {
            Effect::Quit(ended) => Some(*ended),
            _ => None,
        })
    }
}

/// What writing to a terminal says when it is gone.
fn is_gone(why: &io::Error) -> bool {
    use rustix::io::Errno;

    why.kind() == io::ErrorKind::BrokenPipe
        || [Errno::IO, Errno::NXIO, Errno::NOTTY, Errno::BADF]
            .iter()
            .any(|errno| why.raw_os_error() == Some(errno.raw_os_error()))
}
