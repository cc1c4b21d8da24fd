//! The terminal: taken once, given back once, whatever happens.

use std::io::{self, IsTerminal, Stdout, Write};
use std::mem::ManuallyDrop;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

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

/// Whether the terminal is ours now; held while anything is written to it, so that nothing comes
/// after it was given back. Nobody panics who holds it.
static OURS: Mutex<bool> = Mutex::new(false);
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
    #[error("the dashboard needs a terminal, to draw on and to read keys from")]
    NoTerminal,
    /// There is one, but it says that it cannot move its cursor.
    #[error(
        "TERM is \"dumb\": a terminal of that name cannot draw the dashboard; set TERM to what yours is, such as xterm-256color"
    )]
    Dumb,
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
///
/// # Errors
/// [`TuiError::NoTerminal`], [`TuiError::Dumb`].
pub fn available() -> Result<(), TuiError> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(TuiError::NoTerminal);
    }
    if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        return Err(TuiError::Dumb);
    }
    Ok(())
}

/// The terminal, ours until this is dropped.
pub struct Terminal {
    /// Never dropped: on a terminal that is gone its drop would print to it, and so panic.
    screen: ManuallyDrop<ratatui::Terminal<CrosstermBackend<Ours<Stdout>>>>,
    keys: mpsc::Sender<Input>,
    input: Option<mpsc::Receiver<Input>>,
    reader: Option<UnixStream>,
}

impl Terminal {
    /// Takes the terminal: alternate screen, raw mode, bracketed paste.
    ///
    /// # Errors
    /// [`TuiError::NoTerminal`], [`TuiError::Dumb`], or what the terminal says.
    pub fn open(has_color: bool) -> Result<Self, TuiError> {
        available()?;
        if has_color {
            // The theme has decided; crossterm would look at NO_COLOR again.
            style::force_color_output(true);
        }
        install_hook();
        PANICKED.store(false, Ordering::SeqCst);
        take()?;
        let (keys, input) = mpsc::channel(KEYS);
        let made = ratatui::Terminal::new(CrosstermBackend::new(Ours::new(&OURS, io::stdout())))
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
        if !*lock(&OURS) {
            return Ok(());
        }
        let backend = self.screen.backend_mut();
        backend.write_all(clipboard::sequence(text).as_bytes())?;
        Write::flush(backend)?;
        clipboard::tell_tmux(text.to_owned());
        Ok(())
    }

    fn mouse(&mut self, on: bool) -> io::Result<()> {
        if MOUSE.swap(on, Ordering::SeqCst) != on {
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

/// What is written to the terminal: kept until it is flushed, and then written only where the
/// terminal is ours. So no frame is half-way through while another thread gives the terminal back.
struct Ours<W> {
    is_ours: &'static Mutex<bool>,
    kept: Vec<u8>,
    to: W,
}

impl<W> Ours<W> {
    fn new(is_ours: &'static Mutex<bool>, to: W) -> Self {
        Self {
            is_ours,
            kept: Vec::with_capacity(64 * 1024),
            to,
        }
    }
}

impl<W: Write> Write for Ours<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.kept.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        let is_ours = lock(self.is_ours);
        let done = if *is_ours {
            self.to.write_all(&self.kept).and_then(|()| self.to.flush())
        } else {
            Ok(())
        };
        self.kept.clear();
        done
    }
}

fn lock(is_ours: &Mutex<bool>) -> MutexGuard<'_, bool> {
    is_ours.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the terminal; may be done again after the shell has had it. Not after a panic: the
/// dashboard is over then.
fn take() -> io::Result<()> {
    let mut is_ours = lock(&OURS);
    if PANICKED.load(Ordering::SeqCst) {
        return Ok(());
    }
    *is_ours = true;
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
        leave(&mut is_ours);
    }
    taken
}

/// Gives the terminal back, once: a second time would put the prompt over what was said since.
fn give_back() {
    let mut is_ours = lock(&OURS);
    if *is_ours {
        leave(&mut is_ours);
    }
}

fn leave(is_ours: &mut bool) {
    *is_ours = false;
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
            let mut is_ours = lock(&OURS);
            if *is_ours {
                // Before anybody else can have the lock: nobody takes the terminal again.
                PANICKED.store(true, Ordering::SeqCst);
                leave(&mut is_ours);
                PANIC.notify_one();
            }
            drop(is_ours);
            before(info);
        }));
    });
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier};
    use std::thread;

    use super::*;

    /// What a terminal is told, in order, a byte at a time; it stops in the middle of the first
    /// frame until it may go on.
    #[derive(Clone, Default)]
    struct Slow {
        told: Arc<Mutex<Vec<u8>>>,
        gate: Option<Arc<Barrier>>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let (first, _) = bytes.split_at(bytes.len().min(1));
            if let Some(gate) = self.gate.take() {
                gate.wait();
                gate.wait();
            }
            self.told.lock().unwrap().extend_from_slice(first);
            Ok(first.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A frame that is being written while another thread gives the terminal back is written to
    /// its end first; one that comes later is not written at all.
    #[test]
    fn no_frame_reaches_a_terminal_that_was_given_back() {
        static IS_OURS: Mutex<bool> = Mutex::new(true);
        let gate = Arc::new(Barrier::new(2));
        let slow = Slow {
            gate: Some(Arc::clone(&gate)),
            ..Slow::default()
        };
        let told = Arc::clone(&slow.told);
        let mut ours = Ours::new(&IS_OURS, slow);
        let drawing = thread::spawn(move || {
            ours.write_all(b"frame").unwrap();
            ours.flush().unwrap();
            ours
        });
        gate.wait();
        assert!(IS_OURS.try_lock().is_err(), "held while a frame is written");
        let gives_back = Arc::clone(&told);
        let giving = thread::spawn(move || {
            let mut is_ours = lock(&IS_OURS);
            *is_ours = false;
            gives_back.lock().unwrap().extend_from_slice(b"|back");
        });
        gate.wait();
        let mut ours = drawing.join().unwrap();
        giving.join().unwrap();
        ours.write_all(b"late").unwrap();
        ours.flush().unwrap();
        assert_eq!(*told.lock().unwrap(), b"frame|back");
        *lock(&IS_OURS) = true;
        ours.write_all(b"|next").unwrap();
        ours.flush().unwrap();
        assert_eq!(*told.lock().unwrap(), b"frame|back|next");
    }
}
