//! Events as lines of JSON, and lines as events.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Event, Nanos, What};

/// Name and major version of the format.
pub const FORMAT: &str = "comeback-recording/1";

#[derive(Serialize)]
struct Out<'a> {
    seq: u64,
    t: Nanos,
    #[serde(flatten)]
    what: &'a What,
}

#[derive(Deserialize)]
struct In {
    seq: u64,
    t: Nanos,
    #[serde(flatten)]
    what: What,
}

/// Why a line is not an event.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// Not JSON, or not an event's shape.
    #[error("{0}")]
    Broken(String),
    /// Another format, or a major version that this program does not know.
    #[error("its format is {found}, this program reads {FORMAT}")]
    Version {
        /// What the header says.
        found: String,
    },
}

/// One line, without its end.
///
/// # Errors
/// Where a figure is not a number (JSON has no infinity).
pub fn to_line(event: &Event) -> Result<String, serde_json::Error> {
    if let What::Unknown(map) = &event.what {
        let mut all = Map::new();
        all.insert("seq".into(), event.seq.into());
        all.insert("t".into(), event.t.0.into());
        all.extend(map.iter().map(|(k, v)| (k.clone(), v.clone())));
        return serde_json::to_string(&all);
    }
    serde_json::to_string(&Out {
        seq: event.seq,
        t: event.t,
        what: &event.what,
    })
}

/// Reads one line. An event that this program does not know is kept as it is.
///
/// # Errors
/// Where the line is no JSON object with `seq`, `t` and `ev`, or a known event lacks a field.
pub fn parse_line(line: &str) -> Result<Event, FormatError> {
    match serde_json::from_str::<In>(line) {
        Ok(known) => Ok(Event {
            seq: known.seq,
            t: known.t,
            what: known.what,
        }),
        Err(why) => unknown(line).ok_or_else(|| FormatError::Broken(why.to_string())),
    }
}

fn unknown(line: &str) -> Option<Event> {
    let Ok(Value::Object(mut map)) = serde_json::from_str(line) else {
        return None;
    };
    let kind = map.get("ev")?.as_str()?;
    if KNOWN.contains(&kind) {
        return None;
    }
    let seq = map.shift_remove("seq")?.as_u64()?;
    let t = Nanos(map.shift_remove("t")?.as_u64()?);
    Some(Event {
        seq,
        t,
        what: What::Unknown(map),
    })
}

const KNOWN: [&str; 19] = [
    "header",
    "host",
    "ask",
    "act",
    "lock",
    "run",
    "step",
    "log",
    "gap",
    "progress",
    "mark",
    "value",
    "sample",
    "space",
    "proof",
    "published",
    "leave",
    "note",
    "end",
];

/// Checks the format that a header names: another name or major version is refused, a
/// minor one (`comeback-recording/1.3`) is read.
///
/// # Errors
/// [`FormatError::Version`].
pub fn check_format(format: &str) -> Result<(), FormatError> {
    let known = format == FORMAT
        || format
            .strip_prefix(FORMAT)
            .is_some_and(|rest| rest.starts_with('.'));
    if known {
        Ok(())
    } else {
        Err(FormatError::Version {
            found: format.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Act, ActKind, LogChunk, RunChange, RunState, Stream};

    fn round(what: What) {
        let event = Event {
            seq: 7,
            t: Nanos(42),
            what,
        };
        let line = to_line(&event).unwrap();
        assert_eq!(parse_line(&line).unwrap(), event, "{line}");
    }

    #[test]
    fn a_line_reads_back_as_it_was() {
        round(What::Act(Act {
            act: ActKind::Stop,
            text: String::new(),
        }));
        round(What::Run(RunChange {
            run: "r1".into(),
            state: RunState::Ended {
                end: crate::event::EndState::Ok,
                cause: None,
            },
        }));
        round(What::Log(LogChunk {
            step: "s1".into(),
            stream: Stream::Out,
            offset: 3,
            text: Some("a\u{1b}[0m\n".into()),
            base64: None,
        }));
    }

    #[test]
    fn an_unknown_event_is_kept() {
        let line = r#"{"seq":3,"t":9,"ev":"weather","sky":"grey"}"#;
        let event = parse_line(line).unwrap();
        assert!(matches!(event.what, What::Unknown(_)));
        assert_eq!(to_line(&event).unwrap(), line);
    }

    #[test]
    fn a_known_event_without_its_fields_is_broken() {
        let error = parse_line(r#"{"seq":3,"t":9,"ev":"note"}"#)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("level") || error.contains("missing"),
            "{error}"
        );
    }

    #[test]
    fn another_major_version_is_refused() {
        assert!(check_format("comeback-recording/1").is_ok());
        assert!(check_format("comeback-recording/1.4").is_ok());
        assert!(check_format("comeback-recording/2").is_err());
        assert!(check_format("asciicast/2").is_err());
    }
}
