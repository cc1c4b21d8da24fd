//! What the scripts say, read: lines behind a mark, in bounded memory.

use std::collections::VecDeque;

use tokio::io::AsyncWrite;

use super::Outcome;
use crate::event::{HostStamps, Stamp};
use crate::host::facts::{ClockSource, HostClock};
use crate::host::{Channel, Exit, Said};

/// The longest line that is kept. What is longer is not ours.
const LONGEST: usize = 8 * 1024;

/// How a step ended, with the sizes of its streams.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ended {
    pub outcome: Outcome,
    /// Final size of standard output and error, in bytes.
    pub sizes: [u64; 2],
    /// Whether the host cut the stream back.
    pub cut: [bool; 2],
}

/// A line behind the mark.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    /// The command is being run.
    Started,
    /// It is over.
    Ended(Ended),
    /// So many bytes of both streams follow.
    Inline([u64; 2]),
    /// It was never begun, and never will be.
    Void,
    /// Its folder is not there any more.
    Missing,
    /// The host refused, and why.
    Refused(String),
    /// Anything else that a script says: a word and the rest.
    Other(String, String),
}

impl Line {
    pub(super) fn parse(text: &str, clock: HostClock) -> Self {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            "started" => Self::Started,
            "void" => Self::Void,
            "missing" => Self::Missing,
            "refused" => Self::Refused(plain(rest)),
            "ended" => Self::Ended(ended(rest, clock).unwrap_or_else(|| lost(""))),
            "lost" => Self::Ended(lost(rest)),
            "inline" => match pair(rest) {
                Some(sizes) => Self::Inline(sizes),
                None => Self::Other(word.to_owned(), plain(rest)),
            },
            _ => Self::Other(plain(word), plain(rest)),
        }
    }
}

/// Foreign text, fit for a message.
pub(super) fn plain(text: &str) -> String {
    let text: String = text
        .chars()
        .take(300)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    text.trim().to_owned()
}

fn pair(text: &str) -> Option<[u64; 2]> {
    let (out, err) = text.trim().split_once(' ')?;
    Some([out.parse().ok()?, err.parse().ok()?])
}

/// The end of a step of which nobody knows how it ended.
fn lost(text: &str) -> Ended {
    let mut words = text.split_ascii_whitespace();
    let mut size = || words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
    Ended {
        outcome: Outcome::lost(),
        sizes: [size(), size()],
        cut: [words.next() == Some("1"), words.next() == Some("1")],
    }
}

/// Reads the line of a status file, as `run.sh` writes it.
fn ended(text: &str, clock: HostClock) -> Option<Ended> {
    let mut words = text.split_ascii_whitespace();
    let status = words.next()?;
    let wall = [words.next()?, words.next()?];
    let uptime = [words.next()?, words.next()?];
    let sizes = [words.next()?.parse().ok()?, words.next()?.parse().ok()?];
    let cut = [words.next()? == "1", words.next()? == "1"];
    let survivors = words.next()?.parse().ok()?;
    // A status of a member that nobody knows makes the whole unknown.
    let status: Vec<i32> = status
        .split(',')
        .map(|code| code.parse().ok())
        .collect::<Option<_>>()
        .unwrap_or_default();
    Some(Ended {
        outcome: Outcome {
            status,
            stamps: stamps(wall, uptime, clock.source),
            resolution: clock.resolution,
            begun: true,
            lost: false,
            survivors,
        },
        sizes,
        cut,
    })
}

fn stamps(wall: [&str; 2], uptime: [&str; 2], source: ClockSource) -> Option<HostStamps> {
    let [start, end] = wall.map(|text| stamp(text, source));
    let (start, end) = (start?, end?);
    let [up_start, up_end] = uptime.map(|text| text.parse::<f64>().ok().filter(|s| s.is_finite()));
    let wall = end.seconds_since(start);
    // Where the host has no uptime, nothing can be said about a change of its clock.
    let uptime = match (up_start, up_end) {
        (Some(start), Some(end)) => end - start,
        _ => wall,
    };
    // The finer clock gives the end; where both disagree the clock was set, and that shows.
    let end = if source == ClockSource::Uptime && (wall - uptime).abs() <= 1.5 && uptime >= 0.0 {
        Stamp(start.0.saturating_add((uptime * 1e9) as u64))
    } else {
        end
    };
    Some(HostStamps { start, end, uptime })
}

/// Nanoseconds since 1970.
fn stamp(text: &str, source: ClockSource) -> Option<Stamp> {
    let nanos = match source {
        ClockSource::EpochRealtime => {
            let (seconds, micros) = text.split_once('.')?;
            if micros.len() != 6 {
                return None;
            }
            let micros: u64 = micros.parse().ok()?;
            let seconds: u64 = seconds.parse().ok()?;
            seconds
                .checked_mul(1_000_000)?
                .checked_add(micros)?
                .checked_mul(1000)?
        }
        ClockSource::DateNanos => text.parse().ok()?,
        ClockSource::Uptime | ClockSource::Seconds => {
            text.parse::<u64>().ok()?.checked_mul(1_000_000_000)?
        }
    };
    Some(Stamp(nanos))
}

/// A script that says lines behind a mark; whatever else it prints (a login shell's greeting)
/// is passed over.
pub(super) struct Control {
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
    pub(super) fn new(channel: Channel, mark: &str, clock: HostClock) -> Self {
        Self {
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
    use proptest::prelude::*;

    use super::*;

    fn clock(source: ClockSource) -> HostClock {
        HostClock {
            source,
            resolution: 0.01,
        }
    }

    fn of(text: &str, source: ClockSource) -> Ended {
        ended(text, clock(source)).unwrap()
    }

    #[test]
    fn a_status_line_is_read() {
        let end = of(
            "3 1700000000.250000 1700000001.500000 10.00 11.25 7 0 0 1 2",
            ClockSource::EpochRealtime,
        );
        assert_eq!(end.outcome.status, [3]);
        assert_eq!(end.sizes, [7, 0]);
        assert_eq!(end.cut, [false, true]);
        assert_eq!(end.outcome.survivors, 2);
        let stamps = end.outcome.stamps.unwrap();
        assert!((stamps.end.seconds_since(stamps.start) - 1.25).abs() < 1e-6);
        assert!((stamps.uptime - 1.25).abs() < 1e-9);
    }

    #[test]
    fn an_unknown_member_makes_the_status_unknown() {
        let line = |status| format!("{status} 1 2 - - 0 0 0 0 0");
        assert_eq!(
            of(&line("0,1"), ClockSource::Seconds).outcome.status,
            [0, 1]
        );
        assert_eq!(
            of(&line("0,?"), ClockSource::Seconds).outcome.status,
            [] as [i32; 0]
        );
        assert_eq!(
            of(&line("?"), ClockSource::Seconds).outcome.status,
            [] as [i32; 0]
        );
    }

    #[test]
    fn uptime_gives_the_finer_end_and_a_set_clock_shows() {
        let end = of("0 100 102 5.00 6.25 0 0 0 0 0", ClockSource::Uptime);
        let stamps = end.outcome.stamps.unwrap();
        assert!((stamps.end.seconds_since(stamps.start) - 1.25).abs() < 1e-6);
        let end = of("0 100 50 5.00 6.25 0 0 0 0 0", ClockSource::Uptime);
        let stamps = end.outcome.stamps.unwrap();
        assert!(stamps.end < stamps.start);
        assert!((stamps.uptime - 1.25).abs() < 1e-9);
    }

    #[test]
    fn a_clock_that_says_nonsense_gives_no_stamps() {
        assert_eq!(
            of("0 1700000000%N 1 - - 0 0 0 0 0", ClockSource::DateNanos)
                .outcome
                .stamps,
            None
        );
        assert_eq!(
            of(
                "0 99999999999999999999 1 - - 0 0 0 0 0",
                ClockSource::Seconds
            )
            .outcome
            .stamps,
            None
        );
    }

    #[test]
    fn a_broken_status_is_lost_and_never_0() {
        let Line::Ended(end) = Line::parse("ended ", HostClock::default()) else {
            panic!("not an end");
        };
        assert!(end.outcome.lost && end.outcome.status.is_empty());
    }

    proptest! {
        #[test]
        fn nothing_that_a_host_says_is_a_panic(text in "\\PC{0,200}", line in "[-0-9.?, a-z]{0,80}") {
            for source in [ClockSource::EpochRealtime, ClockSource::DateNanos, ClockSource::Uptime, ClockSource::Seconds] {
                Line::parse(&text, clock(source));
                Line::parse(&format!("ended {line}"), clock(source));
                Line::parse(&format!("inline {line}"), clock(source));
            }
        }
    }

    #[tokio::test]
    async fn noise_and_endless_lines_are_passed_over() {
        let (tx, output) = tokio::sync::mpsc::channel(64);
        let channel = Channel {
            stdin: Box::new(tokio::io::sink()),
            output,
        };
        let mut control = Control::new(channel, "mark", HostClock::default());
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
