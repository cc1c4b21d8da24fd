//! Questions on the terminal, for commands without a dashboard.
//!
//! They go to `/dev/tty`, as those of ssh do, so that standard input and output stay what they
//! are. A library for passwords would block a thread until a line comes: here a question can be
//! taken back, and the terminal is put right again whatever ends the wait.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use crate::event::{Answer, Asker, Question, QuestionKind};
use crate::session::clean;

/// No line that is typed is longer, in bytes: what a terminal takes in one line.
const LONGEST: usize = 4096;
/// A name or a yes that is mistyped so often is a no.
const TRIES: u32 = 3;
/// How long one look for what is typed takes at most.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// Asks on the terminal, one question after another.
#[derive(Default)]
pub(super) struct Prompt {
    turn: Mutex<()>,
}

impl Asker for Prompt {
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        async move {
            let _turn = self.turn.lock().await;
            match Tty::open() {
                Ok(mut tty) if tty.is_ours() => {
                    ask(&mut tty, &question).await.unwrap_or(Answer::No)
                }
                // Nobody is there, or the program is in the background.
                _ => Answer::No,
            }
        }
        .boxed()
    }

    fn is_there(&self) -> bool {
        Tty::open().is_ok_and(|tty| tty.is_ours())
    }
}

async fn ask(tty: &mut Tty, question: &Question) -> io::Result<Answer> {
    tty.say(&format!("{}\n", clean(&question.title)))?;
    for line in &question.lines {
        tty.say(&format!("  {}\n", clean(line)))?;
    }
    for _ in 0..TRIES {
        match &question.kind {
            QuestionKind::YesNo { yes } => {
                tty.say(&format!("{}? Type yes, else it is no: ", clean(yes)))?;
                match tty.line().await?.as_deref().map(|line| line.trim()) {
                    None | Some("" | "n" | "no") => return Ok(Answer::No),
                    Some("yes") => return Ok(Answer::Yes),
                    Some(_) => {}
                }
            }
            QuestionKind::Name(name) => {
                tty.say("> ")?;
                match tty.line().await?.as_deref().map(String::as_str) {
                    None | Some("") => return Ok(Answer::No),
                    Some(line) if line == name => return Ok(Answer::Yes),
                    Some(_) => tty.say("That is not its name. Nothing has happened.\n")?,
                }
            }
            QuestionKind::Text => {
                tty.say("> ")?;
                return Ok(entered(tty.line().await?));
            }
            QuestionKind::Secret => {
                tty.say("> ")?;
                let hidden = Hidden::new(tty.file()?)?;
                let line = tty.line().await;
                drop(hidden);
                tty.say("\n")?;
                return Ok(entered(line?));
            }
        }
    }
    Ok(Answer::No)
}

fn entered(line: Option<Zeroizing<String>>) -> Answer {
    line.map_or(Answer::No, |line| Answer::Entered((*line).clone().into()))
}

/// The terminal that the program was started from.
struct Tty {
    file: Arc<File>,
}

impl Tty {
    /// Where there is none, nobody can be asked.
    fn open() -> io::Result<Self> {
        // Opened anew, so that not waiting for it is this file's business alone.
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open("/dev/tty", flags, Mode::empty())?;
        Ok(Self {
            file: Arc::new(File::from(file)),
        })
    }

    /// Whether this program is in its foreground: one in the background would be stopped by
    /// reading from it.
    fn is_ours(&self) -> bool {
        rustix::termios::tcgetpgrp(&self.file)
            .is_ok_and(|group| group == rustix::process::getpgrp())
    }

    /// The same terminal, for as long as its echo is off.
    fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            match (&*self.file).write(rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                // A terminal that is held (Ctrl-S) has no room; a few words can wait.
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }

    /// Waits in short pieces, so that no thread is left that takes the next line when this wait
    /// is over.
    async fn readable(&self) -> io::Result<()> {
        loop {
            let file = Arc::clone(&self.file);
            let ready = tokio::task::spawn_blocking(move || {
                let mut fds = [PollFd::new(&*file, PollFlags::IN)];
                rustix::event::poll(&mut fds, Some(&LOOK))
            });
            match ready.await.map_err(io::Error::other)? {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(why) => return Err(why.into()),
            }
        }
    }

    /// A line, without its end; nothing at the end of the input (Ctrl-D).
    async fn line(&mut self) -> io::Result<Option<Zeroizing<String>>> {
        let mut bytes = Zeroizing::new(vec![0; LONGEST]);
        let mut length = 0;
        loop {
            self.readable().await?;
            let room = bytes.get_mut(length..).unwrap_or_default();
            match (&*self.file).read(room) {
                Ok(0) => return Ok(None),
                Ok(more) => length += more,
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => continue,
                Err(why) => return Err(why),
            }
            let typed = bytes.get(..length).unwrap_or_default();
            if let Some(line) = typed.strip_suffix(b"\n") {
                let text = std::str::from_utf8(line).map_err(|_why| {
                    io::Error::new(io::ErrorKind::InvalidData, "what was typed is not UTF-8")
                })?;
                return Ok(Some(Zeroizing::new(text.to_owned())));
            }
            if length == LONGEST {
                return Err(io::Error::from(io::ErrorKind::InvalidData));
            }
        }
    }
}

/// While it lives, nothing that is typed is shown, and the program cannot be put aside, which
/// would leave the shell without an echo.
struct Hidden {
    file: File,
    before: Termios,
}

impl Hidden {
    fn new(file: File) -> io::Result<Self> {
        let before = rustix::termios::tcgetattr(&file)?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        hidden.special_codes[SpecialCodeIndex::VSUSP] = 0;
        rustix::termios::tcsetattr(&file, OptionalActions::Flush, &hidden)?;
        Ok(Self { file, before })
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _ = rustix::termios::tcsetattr(&self.file, OptionalActions::Flush, &self.before);
    }
}
