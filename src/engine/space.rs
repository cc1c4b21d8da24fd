//! Byte figures, read when they are true.

use std::time::{Duration, Instant};

use crate::event::Bytes;
use crate::host::Host;

use super::EngineError;
use super::preview::Figure;
use super::shell::script;

/// How long one reading may take.
const PATIENCE: Duration = Duration::from_mins(10);
/// Pause between two readings that must agree.
const PAUSE: Duration = Duration::from_millis(250);

/// Figures, and whether two readings agreed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub logical: Option<Bytes>,
    pub stored: Option<Bytes>,
    pub held: Option<Bytes>,
    pub settled: bool,
    pub why: Option<String>,
}

impl Reading {
    fn put(&mut self, figure: Figure, bytes: Bytes) {
        match figure {
            Figure::Logical => self.logical = Some(bytes),
            Figure::Stored => self.stored = Some(bytes),
            Figure::Held => self.held = Some(bytes),
        }
    }

    fn same_bytes(&self, other: &Self) -> bool {
        (self.logical, self.stored, self.held) == (other.logical, other.stored, other.held)
    }
}

async fn once(host: &dyn Host, reads: &[(Figure, String)]) -> Result<Reading, EngineError> {
    let mut reading = Reading::default();
    for (figure, text) in reads {
        let said = script(host, "read a byte figure", text, PATIENCE).await?;
        match said.trim().parse() {
            Ok(bytes) => reading.put(*figure, Bytes(bytes)),
            // Not available is never 0.
            Err(_) => reading.why = Some(format!("not available, because {}", why(said.trim()))),
        }
    }
    Ok(reading)
}

/// A command that has no figure may say why: `because …`.
fn why(said: &str) -> String {
    match said.strip_prefix("because ") {
        Some(why) if !why.contains('\n') => why.to_owned(),
        _ => format!("{said:?} is no number of bytes"),
    }
}

/// Settles, then reads until two readings agree or the limit (in seconds) passes.
pub(super) async fn read(
    host: &dyn Host,
    settle: Option<&str>,
    reads: &[(Figure, String)],
    limit: f64,
) -> Result<Reading, EngineError> {
    let begin = Instant::now();
    if let Some(settle) = settle {
        script(host, "settle before reading", settle, PATIENCE).await?;
    }
    let mut last = once(host, reads).await?;
    loop {
        tokio::time::sleep(PAUSE).await;
        let next = once(host, reads).await?;
        if next.same_bytes(&last) {
            return Ok(Reading {
                settled: true,
                ..next
            });
        }
        if begin.elapsed().as_secs_f64() > limit {
            let why = Some(format!("it still moved after {limit} s"));
            return Ok(Reading {
                settled: false,
                why,
                ..next
            });
        }
        last = next;
    }
}
