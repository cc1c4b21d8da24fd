//! The terminal: taken once, given back once, whatever happens.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::mem::ManuallyDrop;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue, style};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use rustix::process::{Signal, kill_current_process_group};
use tokio::sync::{Notify, mpsc};

use crate::session::Session;

use super::app::Canvas;
use super::clipboard;
use super::input::{Input, read_keys};
use super::model::Model;

/// Whether the terminal is ours now. Whoever turns it off gives the terminal back.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Whether the mouse is ours, too.
static MOUSE: AtomicBool = AtomicBool::new(false);
/// Something panicked while the terminal was ours.
static PANICKED: AtomicBool = AtomicBool::new(false);
static PANIC: Notify = Notify::const_new();
static HOOK: Once = Once::new();

/// Keys that nobody has taken yet; more of them wait in the terminal.
const KEYS: usize = 64;

/// Clicks and the wheel, with columns of any number. Not what the pointer passes over: nothing is
/// done with that, and each cell of it would be sent through SSH.
const MOUSE_ON: &str = "\u{1b}[?1000h\u{1b}[?1006h";
const MOUSE_OFF: &str = "\u{1b}[?1006l\u{1b}[?1000l";

/// Why the dashboard cannot be shown, or not any longer.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    /// There is no terminal.
    #[error("this is no terminal: the dashboard needs one; `comeback run` works without")]
    NoTerminal,
    /// The terminal cannot be used.
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[from] io::Error),
    /// A part of the program panicked; its message stands above.
    #[error("a part of the program failed unexpectedly; what it left is in the recording")]
    Panicked,
    /// Nobody takes what the operator wants done.
    #[error("the part of the program that runs the session has ended")]
    Deserted,
}

/// Whether there is a terminal to draw on and to read keys from.
#[must_use]
pub fn available() -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stdin().is_terminal() && io::stdout().is_terminal() && !is_dumb
}

/// The terminal, ours until this is dropped.
pub struct Terminal {
    /// Never dropped: on a terminal that is gone its drop would print to it, and so panic.
    screen: ManuallyDrop<ratatui::Terminal<CrosstermBackend<BufWriter<Stdout>>>>,
    keys: mpsc::Sender<Input>,
    input: Option<mpsc::Receiver<Input>>,
    reader: Option<UnixStream>,
}

impl Terminal {
    /// Takes the terminal: alternate screen, raw mode, bracketed paste.
    ///
    /// # Errors
    /// [`TuiError::NoTerminal`], or what the terminal says.
    pub fn open(has_color: bool) -> Result<Self, TuiError> {
        if !available() {
            return Err(TuiError::NoTerminal);
        }
        if has_color {
            // The theme has decided; crossterm would look at NO_COLOR again.
            style::force_color_output(true);
        }
        install_hook();
        PANICKED.store(false, Ordering::SeqCst);
        take()?;
        let (keys, input) = mpsc::channel(KEYS);
        let buffer = BufWriter::with_capacity(64 * 1024, io::stdout());
        let made = ratatui::Terminal::new(CrosstermBackend::new(buffer))
            .and_then(|screen| Ok((screen, read_keys(keys.clone())?)));
        match made {
            Ok((screen, reader)) => Ok(Self {
                screen: ManuallyDrop::new(screen),
                keys,
                input: Some(input),
                reader: Some(reader),
            }),
            Err(why) => {
                give_back();
                Err(why.into())
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.reader = None;
        give_back();
    }
}

impl Canvas for Terminal {
    fn size(&self) -> io::Result<(u16, u16)> {
        crossterm::terminal::size()
    }

    fn input(&mut self) -> mpsc::Receiver<Input> {
        self.input.take().unwrap_or_else(|| mpsc::channel(1).1)
    }

    fn draw(&mut self, model: &Model, session: &Mutex<Session>) -> io::Result<()> {
        if !TAKEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        queue!(self.screen.backend_mut(), BeginSynchronizedUpdate)?;
        self.screen.draw(|frame| {
            // Held while the cells are filled, not while they are sent.
            let session = session.lock().unwrap_or_else(PoisonError::into_inner);
            super::view(model, &session, frame);
        })?;
        execute!(self.screen.backend_mut(), EndSynchronizedUpdate)
    }

    fn redraw(&mut self) -> io::Result<()> {
        take()?;
        let (columns, rows) = self.size()?;
        self.screen.resize(Rect::new(0, 0, columns, rows))
    }

    fn suspend(&mut self) -> io::Result<()> {
        self.reader = None;
        give_back();
        // The whole group: a wrapper that started the program is to stop with it.
        Ok(kill_current_process_group(Signal::TSTP)?)
    }

    fn resume(&mut self) -> io::Result<()> {
        self.redraw()?;
        self.reader = Some(read_keys(self.keys.clone())?);
        Ok(())
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        if !TAKEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        let backend = self.screen.backend_mut();
        backend.write_all(clipboard::sequence(text).as_bytes())?;
        Write::flush(backend)?;
        clipboard::tell_tmux(text.to_owned());
        Ok(())
    }

    fn mouse(&mut self, on: bool) -> io::Result<()> {
        if MOUSE.swap(on, Ordering::SeqCst) != on && TAKEN.load(Ordering::SeqCst) {
            let backend = self.screen.backend_mut();
            backend.write_all(if on { MOUSE_ON } else { MOUSE_OFF }.as_bytes())?;
            Write::flush(backend)?;
        }
        Ok(())
    }

    async fn panicked(&self) {
        while !PANICKED.load(Ordering::SeqCst) {
            PANIC.notified().await;
        }
    }
}

/// Takes the terminal; may be done again after the shell has had it.
fn take() -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    let mouse = MOUSE.load(Ordering::SeqCst);
    let taken = enable_raw_mode().and_then(|()| {
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            EnableBracketedPaste,
            style::Print(if mouse { MOUSE_ON } else { "" }),
            cursor::Hide
        )
    });
    if taken.is_err() {
        give_back();
    }
    taken
}

/// Gives the terminal back, once: a second time would put the prompt over what was said since.
fn give_back() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // A terminal that is gone cannot be given back, and there is nobody to tell. The mouse is left
    // whether it was ours or not: no race about it can leave a shell that prints clicks.
    let _ = execute!(
        io::stdout(),
        style::Print(MOUSE_OFF),
        EndSynchronizedUpdate,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = disable_raw_mode();
    let _ = io::stdout().flush();
}

/// A panic anywhere gives the terminal back before its message is printed, and ends the dashboard:
/// a task that panicked would else leave it running on a terminal that is not ours any more.
fn install_hook() {
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if TAKEN.load(Ordering::SeqCst) {
                give_back();
                PANICKED.store(true, Ordering::SeqCst);
                PANIC.notify_one();
            }
            before(info);
        }));
    });
}
