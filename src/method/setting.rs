//! Settings: what an operator may choose, of which kind.

use std::collections::BTreeMap;
use std::fmt;

use minijinja::Value;
use serde::Deserialize;

/// A setting as a method file declares it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Declared {
    default: toml::Value,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    one_of: Vec<String>,
    help: String,
}

/// A setting.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Declared")]
pub struct Setting {
    /// What kind of value it takes.
    pub kind: Kind,
    /// Value where the operator says nothing.
    pub default: SettingValue,
    /// In one line.
    pub help: String,
}

/// What kind of value a setting takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Any text without NUL bytes.
    Text,
    /// A number.
    Number,
    /// How many of something: a whole number from 1 on.
    Count,
    /// A size: `512MiB`.
    Bytes,
    /// A duration: `2s`, `5min`.
    Duration,
    /// `true` or `false`.
    Flag,
    /// One of these.
    Choice(Vec<String>),
    /// Numbers: `1,10,100`.
    List,
}

/// A setting's value.
#[derive(Debug, Clone, PartialEq)]
pub enum SettingValue {
    /// Text or a choice.
    Text(String),
    /// A number.
    Number(f64),
    /// Bytes.
    Bytes(u64),
    /// Seconds.
    Duration(f64),
    /// A flag.
    Flag(bool),
    /// Numbers.
    List(Vec<f64>),
}

impl Kind {
    /// Reads what an operator typed.
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(&self, text: &str) -> Result<SettingValue, String> {
        match self {
            Self::Text if text.contains('\0') => Err("expected text without NUL bytes".to_owned()),
            Self::Text => Ok(SettingValue::Text(text.to_owned())),
            Self::Number => number(text).map(SettingValue::Number),
            Self::Count => text
                .parse::<u32>()
                .ok()
                .filter(|count| *count > 0)
                .map(|count| SettingValue::Number(f64::from(count)))
                .ok_or_else(|| format!("expected a whole number from 1 on, not {text:?}")),
            Self::Bytes => match text.parse::<bytesize::ByteSize>() {
                // As far as its parser counts.
                Ok(size) if size.as_u64() == u64::MAX => {
                    Err(format!("expected a size below 16 EiB, not {text:?}"))
                }
                Ok(size) => Ok(SettingValue::Bytes(size.as_u64())),
                Err(_why) => Err(format!("expected a size such as 512MiB, not {text:?}")),
            },
            Self::Duration => humantime::parse_duration(text)
                .map(|length| SettingValue::Duration(length.as_secs_f64()))
                .map_err(|_why| format!("expected a duration such as 2s or 5min, not {text:?}")),
            Self::Flag => match text {
                "true" | "yes" | "on" => Ok(SettingValue::Flag(true)),
                "false" | "no" | "off" => Ok(SettingValue::Flag(false)),
                _ => Err(format!("expected true or false, not {text:?}")),
            },
            Self::Choice(all) if all.iter().any(|one| one == text) => {
                Ok(SettingValue::Text(text.to_owned()))
            }
            Self::Choice(all) => Err(format!("expected one of {}, not {text:?}", all.join(", "))),
            Self::List => list(text).map(SettingValue::List),
        }
    }
}

/// `1,10,100`, also as a method file has it: `[1, 10, 100]`.
fn list(text: &str) -> Result<Vec<f64>, String> {
    let text = text.trim();
    let inner = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let text = inner.unwrap_or(text).trim();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    text.split(',').map(|item| number(item.trim())).collect()
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("text"),
            Self::Number => f.write_str("number"),
            Self::Count => f.write_str("whole number from 1 on"),
            Self::Bytes => f.write_str("bytes"),
            Self::Duration => f.write_str("duration"),
            Self::Flag => f.write_str("true or false"),
            Self::Choice(all) => f.write_str(&all.join(" | ")),
            Self::List => f.write_str("numbers, comma between"),
        }
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|value| value.is_finite())
        .ok_or_else(|| format!("expected a number, not {text:?}"))
}

impl SettingValue {
    /// As templates see it: sizes in bytes, durations in seconds.
    #[must_use]
    pub fn value(&self) -> Value {
        match self {
            Self::Text(text) => Value::from(text.clone()),
            Self::Number(number) | Self::Duration(number) => whole(*number),
            Self::Bytes(bytes) => Value::from(*bytes),
            Self::Flag(flag) => Value::from(*flag),
            Self::List(all) => all.iter().map(|number| whole(*number)).collect(),
        }
    }
}

// 50 is printed as 50, not as 50.0.
fn whole(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        Value::from(number as i64)
    } else {
        Value::from(number)
    }
}

impl fmt::Display for SettingValue {
    /// As an operator would type it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => write!(f, "{number}"),
            Self::Bytes(bytes) => {
                let exact = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
                    .into_iter()
                    .find(|(unit, _)| *bytes >= *unit && bytes % unit == 0);
                match exact {
                    Some((unit, name)) => write!(f, "{}{name}", bytes / unit),
                    None => write!(f, "{bytes}B"),
                }
            }
            Self::Duration(seconds) => write!(f, "{seconds}s"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::List(all) => {
                let all: Vec<_> = all.iter().map(ToString::to_string).collect();
                f.write_str(&all.join(","))
            }
        }
    }
}

impl TryFrom<Declared> for Setting {
    type Error = String;

    fn try_from(declared: Declared) -> Result<Self, String> {
        let kind = match (&declared.kind, &declared.default) {
            (None, _) if !declared.one_of.is_empty() => Kind::Choice(declared.one_of),
            (Some(_), _) if !declared.one_of.is_empty() => {
                return Err("a setting has either one-of or kind".to_owned());
            }
            (Some(kind), _) => match kind.as_str() {
                "text" => Kind::Text,
                "number" => Kind::Number,
                "count" => Kind::Count,
                "bytes" => Kind::Bytes,
                "duration" => Kind::Duration,
                "flag" => Kind::Flag,
                "list" => Kind::List,
                other => {
                    return Err(format!(
                        "unknown kind {other:?}; expected text, number, count, bytes, duration, flag or list"
                    ));
                }
            },
            (None, toml::Value::Boolean(_)) => Kind::Flag,
            (None, toml::Value::Integer(_) | toml::Value::Float(_)) => Kind::Number,
            (None, toml::Value::Array(_)) => Kind::List,
            (None, _) => Kind::Text,
        };
        let text = match &declared.default {
            toml::Value::String(text) => text.clone(),
            toml::Value::Array(items) => items
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(","),
            other => other.to_string(),
        };
        let default = kind.parse(&text).map_err(|why| format!("default: {why}"))?;
        Ok(Self {
            kind,
            default,
            help: declared.help,
        })
    }
}

/// Values of all settings of a method: its defaults, changed by what the operator set.
///
/// # Errors
/// Names the setting and what was expected.
pub fn effective(
    declared: &BTreeMap<String, Setting>,
    set: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, SettingValue>, String> {
    let mut values = BTreeMap::new();
    for (name, setting) in declared {
        let value = match set.get(name) {
            Some(text) => setting
                .kind
                .parse(text)
                .map_err(|why| format!("setting {name}: {why}"))?,
            None => setting.default.clone(),
        };
        values.insert(name.clone(), value);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_reads_back() {
        for (kind, text) in [
            (Kind::Bytes, "512MiB"),
            (Kind::Bytes, "1000001B"),
            (Kind::Duration, "2s"),
            (Kind::Number, "2.5"),
            (Kind::Count, "256"),
            (Kind::Flag, "true"),
            (Kind::List, "1,10,100"),
            (Kind::List, ""),
            (Kind::List, "[1, 10, 100, 500]"),
        ] {
            let value = kind.parse(text).unwrap();
            assert_eq!(kind.parse(&value.to_string()).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn a_wrong_value_says_what_was_expected() {
        assert!(Kind::Bytes.parse("much").unwrap_err().contains("512MiB"));
        assert!(
            Kind::Choice(vec!["a".into()])
                .parse("b")
                .unwrap_err()
                .contains("one of a")
        );
        assert!(Kind::Number.parse("inf").is_err());
        for wrong in ["0", "-1", "1.5", "many", "", "5000000000"] {
            let why = Kind::Count.parse(wrong).unwrap_err();
            assert!(why.contains("whole number from 1 on"), "{wrong}: {why}");
        }
    }
}
