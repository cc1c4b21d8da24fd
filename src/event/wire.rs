//! Events as lines of JSON, and lines as events.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::ser::{Formatter, Serializer};
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
    let mut line = Vec::with_capacity(128);
    let out = Out {
        seq: event.seq,
        t: event.t,
        what: &event.what,
    };
    out.serialize(&mut Serializer::with_formatter(&mut line, NoNull))?;
    String::from_utf8(line).map_err(serde::ser::Error::custom)
}

/// Refuses `null`: what is absent is left out, so that a `null` can only be a figure that is
/// not a number, and a line with one could not be read back. And escapes what JSON lets through
/// although it acts on a terminal: whoever looks at a recording sees text.
struct NoNull;

/// DEL, the C1 control characters, line separators and the marks that reorder text.
fn acts(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl Formatter for NoNull {
    fn write_string_fragment<W: io::Write + ?Sized>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // The bytes that such characters begin with; most text has none of them.
        let bytes = fragment.as_bytes();
        if memchr::memchr3(0x7f, 0xc2, 0xe2, bytes).is_none()
            && memchr::memchr(0xd8, bytes).is_none()
        {
            return writer.write_all(bytes);
        }
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| acts(*c)) {
            let (plain, odd) = rest.split_at(at);
            write!(writer, "{plain}\\u{:04x}", u32::from(c))?;
            rest = odd.split_at(c.len_utf8()).1;
        }
        writer.write_all(rest.as_bytes())
    }

    fn write_null<W: io::Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        Err(io::Error::other("a figure is not a number"))
    }
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
        Err(why) => unknown(line, &KNOWN).ok_or_else(|| FormatError::Broken(why.to_string())),
    }
}

/// Reads one line of a recording with a later minor version: a known event that has become
/// something that this program does not know is kept as it is, too.
///
/// # Errors
/// Where the line is no JSON object with `seq`, `t` and `ev`.
pub fn parse_later_line(line: &str) -> Result<Event, FormatError> {
    parse_line(line).or_else(|why| unknown(line, &[]).ok_or(why))
}

fn unknown(line: &str, known: &[&str]) -> Option<Event> {
    let Ok(Value::Object(mut map)) = serde_json::from_str(line) else {
        return None;
    };
    let kind = map.get("ev")?.as_str()?;
    if known.contains(&kind) {
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
    if minor(format).is_some() {
        Ok(())
    } else {
        Err(FormatError::Version {
            found: format.to_owned(),
        })
    }
}

/// Whether a format that [`check_format`] takes is of a later minor version.
#[must_use]
pub fn is_later(format: &str) -> bool {
    minor(format).is_some_and(|minor| minor > 0)
}

fn minor(format: &str) -> Option<u64> {
    let rest = format.strip_prefix(FORMAT)?;
    if rest.is_empty() {
        return Some(0);
    }
    rest.strip_prefix('.')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{
        Act, ActKind, Clock, Labels, LogChunk, RunChange, RunState, Sample, Stream,
    };

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
    fn nothing_in_a_line_acts_on_a_terminal() {
        let text = "\u{1b}[2J\u{9b}5m\u{7f}\u{85}\u{ad}\u{61c}\u{202e}\u{2028}é “ok” Ω\u{2069}";
        let what = What::Act(Act {
            act: ActKind::Note,
            text: text.into(),
        });
        let line = to_line(&Event {
            seq: 0,
            t: Nanos(0),
            what: what.clone(),
        })
        .unwrap();
        assert!(
            !line.contains(|c: char| c.is_control() || acts(c)),
            "{line:?}"
        );
        assert!(line.contains("é “ok” Ω"), "{line:?}");
        round(what);
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
        assert!(check_format("comeback-recording/10").is_err());
        assert!(check_format("asciicast/2").is_err());
        assert!(is_later("comeback-recording/1.4"));
        assert!(!is_later("comeback-recording/1"));
        assert!(!is_later("comeback-recording/1.0"));
    }

    #[test]
    fn a_known_event_of_a_later_minor_version_is_kept() {
        let line = r#"{"seq":3,"t":9,"ev":"act","act":"rewind"}"#;
        assert!(parse_line(line).is_err());
        let event = parse_later_line(line).unwrap();
        assert!(matches!(event.what, What::Unknown(_)));
        assert_eq!(to_line(&event).unwrap(), line);
        assert!(parse_later_line("{}").is_err());
    }

    fn sample(value: f64) -> What {
        What::Sample(Sample {
            run: "r1".into(),
            step: None,
            name: "restore".into(),
            series: "full".into(),
            value,
            unit: "s".into(),
            clock: Some(Clock::Host),
            resolution: 1e-9,
            labels: Labels::new(),
        })
    }

    #[test]
    fn a_figure_reads_back_to_its_last_bit() {
        for value in [
            0.1 + 0.2,
            452.278_876_326_883_16,
            95.389_164_608_915_51,
            1e-9,
            1.797_693_134_862_315_7e308,
            28.0,
        ] {
            round(sample(value));
        }
    }

    #[test]
    fn a_figure_that_is_no_number_is_an_error_and_not_a_broken_line() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let event = Event {
                seq: 0,
                t: Nanos(0),
                what: sample(value),
            };
            let error = to_line(&event).unwrap_err().to_string();
            assert!(error.contains("not a number"), "{error}");
        }
    }
}
