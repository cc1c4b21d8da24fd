//! Keys and clicks, read on a thread of their own.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crossterm::event::{self, Event, KeyEvent, MouseEvent};
use rustix::event::{PollFd, PollFlags, poll};
use tokio::sync::mpsc;

/// How long crossterm looks for more: it does not look at all where it may not wait. (Its other way
/// to wait, without `use-dev-tty`, forgets a key that comes with a new size until the next one.)
const MOMENT: Duration = Duration::from_millis(1);

/// What the terminal says.
#[derive(Debug, Clone)]
pub(super) enum Input {
    /// A key.
    Key(KeyEvent),
    /// A click, or a turn of the wheel.
    Mouse(MouseEvent),
    /// Pasted text.
    Paste(String),
    /// There is no terminal any more.
    Closed,
}

/// Reads keys until what it gives is dropped.
///
/// The thread looks at the terminal itself before it lets crossterm read: crossterm reads on for
/// ever when a terminal is gone, and it waits inside a sequence of which only a part has come.
/// Neither may happen on a thread that others need.
pub(super) fn read_keys(keys: mpsc::Sender<Input>) -> io::Result<UnixStream> {
    let (stop, stopped) = UnixStream::pair()?;
    std::thread::Builder::new()
        .name("keys".to_owned())
        .spawn(move || {
            if forward(&keys, &stopped).is_break() {
                // The loop may be gone already.
                let _ = keys.blocking_send(Input::Closed);
            }
        })?;
    Ok(stop)
}

/// Breaks where the terminal is gone; goes on where nobody wants keys any more.
fn forward(keys: &mpsc::Sender<Input>, stopped: &UnixStream) -> std::ops::ControlFlow<()> {
    use std::ops::ControlFlow::{Break, Continue};

    let stdin = io::stdin();
    loop {
        let mut both = [
            PollFd::new(&stdin, PollFlags::IN),
            PollFd::new(stopped, PollFlags::IN),
        ];
        match poll(&mut both, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return Break(()),
        }
        let [terminal, stop] = both.map(|fd| fd.revents());
        if !stop.is_empty() {
            return Continue(());
        }
        if terminal.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return Break(());
        }
        while let Ok(true) = event::poll(MOMENT) {
            let input = match event::read() {
                Ok(Event::Key(key)) => Input::Key(key),
                Ok(Event::Mouse(mouse)) => Input::Mouse(mouse),
                Ok(Event::Paste(text)) => Input::Paste(text),
                // A new size is told by its signal.
                Ok(_) => continue,
                Err(_) => return Break(()),
            };
            if keys.blocking_send(input).is_err() {
                return Continue(());
            }
        }
    }
}
