//! A script that is listened to: lines behind a mark, in bounded memory.

use std::collections::VecDeque;

use tokio::io::AsyncWrite;
use tokio::time::Instant;

use super::wire::{Line, plain};
use crate::host::facts::HostClock;
use crate::host::{Channel, Exit, Said};

/// The longest line that is kept. What is longer is not ours.
const LONGEST: usize = 8 * 1024;

/// A script that says lines behind a mark; whatever else it prints (a login shell's greeting)
/// is passed over.
pub(super) struct Control {
    /// When it was asked for.
    pub(super) asked: Instant,
    channel: Channel,
    mark: String,
    clock: HostClock,
    bytes: VecDeque<u8>,
    /// Whether the line that is being read is too long.
    skipping: bool,
    /// The first that it said on standard error, for a message.
    complaint: Vec<u8>,
}

impl Control {
    pub(super) fn new(channel: Channel, asked: Instant, mark: &str, clock: HostClock) -> Self {
        Self {
            asked,
            channel,
            mark: format!("{mark} "),
            clock,
            bytes: VecDeque::new(),
            skipping: false,
            complaint: Vec::new(),
        }
    }

    /// The next line behind the mark, or how the script ended.
    pub(super) async fn line(&mut self) -> Result<Line, Over> {
        loop {
            while let Some(line) = self.take_line() {
                if let Some(rest) = line.strip_prefix(self.mark.as_str()) {
                    return Ok(Line::parse(rest, self.clock));
                }
            }
            self.more().await?;
        }
    }

    /// Exactly so many bytes; fewer where the script ends before.
    pub(super) async fn raw(&mut self, bytes: u64) -> Vec<u8> {
        while (self.bytes.len() as u64) < bytes {
            if self.more().await.is_err() {
                break;
            }
        }
        let there = self
            .bytes
            .len()
            .min(usize::try_from(bytes).unwrap_or(usize::MAX));
        self.bytes.drain(..there).collect()
    }

    fn take_line(&mut self) -> Option<String> {
        loop {
            let end = self.bytes.iter().position(|&byte| byte == b'\n');
            let Some(end) = end else {
                if self.bytes.len() > LONGEST {
                    self.bytes.clear();
                    self.skipping = true;
                }
                return None;
            };
            let line: Vec<u8> = self.bytes.drain(..=end).take(end).collect();
            if !std::mem::take(&mut self.skipping) {
                return Some(String::from_utf8_lossy(&line).into_owned());
            }
        }
    }

    async fn more(&mut self) -> Result<(), Over> {
        match self.channel.output.recv().await {
            Some(Said::Out(bytes)) => self.bytes.extend(bytes),
            Some(Said::Err(bytes)) => {
                let room = 2048_usize.saturating_sub(self.complaint.len());
                self.complaint.extend(bytes.into_iter().take(room));
            }
            Some(Said::Exit(exit)) => return Err(Over::Exit(exit, self.complaint())),
            None => return Err(Over::Lost),
        }
        Ok(())
    }

    fn complaint(&self) -> String {
        plain(&String::from_utf8_lossy(&self.complaint))
    }

    /// Takes the script's standard input, to feed it while its lines are read. Dropping it is
    /// the end of that input.
    pub(super) fn take_stdin(&mut self) -> Box<dyn AsyncWrite + Send + Unpin> {
        std::mem::replace(&mut self.channel.stdin, Box::new(tokio::io::sink()))
    }
}

/// A script says nothing more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Over {
    /// It ended, and what it complained of.
    Exit(Exit, String),
    /// The connection was lost.
    Lost,
}

impl std::fmt::Display for Over {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lost => f.write_str("the connection was lost"),
            Self::Exit(Exit::Code(code), said) => {
                write!(f, "the shell ended with status {code}")?;
                if said.is_empty() {
                    Ok(())
                } else {
                    write!(f, ": {said}")
                }
            }
            Self::Exit(Exit::Signal(signal), _) => {
                write!(f, "the shell was ended by signal {signal}")
            }
            Self::Exit(Exit::Unknown, _) => f.write_str("the shell ended with no status"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn noise_and_endless_lines_are_passed_over() {
        let (tx, output) = tokio::sync::mpsc::channel(64);
        let channel = Channel {
            stdin: Box::new(tokio::io::sink()),
            output,
        };
        let mut control = Control::new(channel, Instant::now(), "mark", HostClock::default());
        let feed = async move {
            tx.send(Said::Out(b"Welcome!\nmark star".to_vec()))
                .await
                .unwrap();
            tx.send(Said::Out(b"ted\n".to_vec())).await.unwrap();
            for _ in 0..40 {
                tx.send(Said::Out(vec![b'x'; 60_000])).await.unwrap();
            }
            tx.send(Said::Out(b"mark started\nmark inline 3 0\na\nb".to_vec()))
                .await
                .unwrap();
            tx.send(Said::Err(b"\x1b[31moh\n".to_vec())).await.unwrap();
            tx.send(Said::Exit(Exit::Code(1))).await.unwrap();
        };
        let read = async {
            assert_eq!(control.line().await, Ok(Line::Started));
            // What stands on the endless line is not ours.
            assert_eq!(control.line().await, Ok(Line::Inline([3, 0])));
            assert_eq!(control.raw(3).await, b"a\nb");
            assert_eq!(
                control.line().await,
                Err(Over::Exit(Exit::Code(1), "[31moh".into()))
            );
        };
        tokio::join!(feed, read);
    }
}
