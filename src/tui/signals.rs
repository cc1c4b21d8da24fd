//! The signals that concern a terminal program.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::message::Ended;

/// The signals that concern a terminal program.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    quit: Signal,
    resize: Signal,
    resume: Signal,
}

/// What a signal says.
pub(super) enum Heard {
    /// The program is asked to end.
    Ended(Ended),
    /// The terminal has another size.
    Resized,
    /// The program was stopped, and somebody else has had the terminal.
    Resumed,
}

impl Signals {
    pub fn new() -> io::Result<Self> {
        let resume = rustix::process::Signal::CONT.as_raw();
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
            resize: signal(SignalKind::window_change())?,
            resume: signal(SignalKind::from_raw(resume))?,
        })
    }

    /// Returns when the program goes on after a stop.
    pub async fn resumed(signals: &mut Option<Self>) {
        match signals {
            Some(signals) => {
                signals.resume.recv().await;
            }
            None => std::future::pending().await,
        }
    }

    /// The next one; none, ever, where nobody listens for signals.
    pub async fn next(signals: &mut Option<Self>) -> Heard {
        let Some(signals) = signals else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = signals.terminate.recv() => Heard::Ended(Ended::Terminated),
            _ = signals.hangup.recv() => Heard::Ended(Ended::HungUp),
            // Its default would leave the terminal as it is.
            _ = signals.quit.recv() => Heard::Ended(Ended::Terminated),
            _ = signals.interrupt.recv() => Heard::Ended(Ended::Interrupted),
            _ = signals.resize.recv() => Heard::Resized,
            _ = signals.resume.recv() => Heard::Resumed,
        }
    }
}
