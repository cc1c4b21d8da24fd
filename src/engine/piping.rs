//! A pipe, filled in: on one host, or from one to the next.

use std::fmt::Write;

use crate::method::{MethodError, Pipe, UNSEEN};

use super::direct;
use super::preview::{Doing, Filling};

/// A pipe between roles: each side's output goes into the next one's input.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    /// From the sender on; at least two.
    pub segments: Vec<Segment>,
    /// Whether its sha256 is taken.
    pub hashed: bool,
    /// The `ssh` that the sender reaches the other side with; through this machine where absent.
    pub direct: Option<String>,
}

/// Commands of a pipe that stand side by side on one role.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub host: String,
    pub members: Vec<String>,
}

impl Stream {
    pub fn text(&self) -> String {
        let mut text = String::new();
        if let (Some(ssh), [from, to]) = (&self.direct, &self.segments[..]) {
            return format!(
                "# on {}:\n{} |\n{ssh} ‹the text below›\n# on {}:\n{}",
                from.host,
                from.members.join(" | "),
                to.host,
                to.members.join(" | ")
            );
        }
        for (at, segment) in self.segments.iter().enumerate() {
            let counted = if self.hashed {
                "counted, its sha256 taken"
            } else {
                "counted"
            };
            let _ = match at {
                0 => write!(text, "# on {}:", segment.host),
                _ => write!(
                    text,
                    " |\n# through this machine ({counted}), on {}:",
                    segment.host
                ),
            };
            let _ = write!(text, "\n{}", segment.members.join(" | "));
        }
        text
    }
}

impl Filling<'_> {
    /// The commands of a pipe, and how they are joined.
    pub fn pipe(&self, pipe: &Pipe) -> Result<Doing, MethodError> {
        let mut segments: Vec<(&str, Segment)> = Vec::new();
        for member in &pipe.members {
            let role = member.on.as_ref().unwrap_or(&self.step.step.on).as_str();
            let text = self.shell(&member.run)?;
            match segments.last_mut() {
                Some((last, segment)) if *last == role => segment.members.push(text),
                _ => segments.push((
                    role,
                    Segment {
                        host: self.bound.host(role).to_owned(),
                        members: vec![text],
                    },
                )),
            }
        }
        let mut segments: Vec<Segment> = segments.into_iter().map(|(_, segment)| segment).collect();
        Ok(match (segments.len(), segments.pop()) {
            (1, Some(one)) => Doing::Command(one.members),
            (_, last) => {
                segments.extend(last);
                let hashed = self.flag(pipe.hashed.as_ref())?;
                let direct = self.is_direct(pipe)?;
                let wrong = match () {
                    () if !direct => None,
                    () if segments.len() > 2 => {
                        Some("a direct pipe goes from one role to one other".to_owned())
                    }
                    () if hashed => Some(format!("hashed: {UNSEEN}")),
                    () if self.step.step.until.is_some() => Some(format!("until: {UNSEEN}")),
                    () => None,
                };
                if let Some(why) = wrong {
                    return Err(self.bound.wrong(&self.step.step, why));
                }
                let to = pipe.members.last().and_then(|last| last.on.as_ref());
                let to = self.bound.hosts.get(to.unwrap_or(&self.step.step.on));
                Doing::Stream(Stream {
                    segments,
                    hashed,
                    direct: to.filter(|_| direct).map(direct::ssh),
                })
            }
        })
    }

    /// Whether a text says `true`; an absent one does not.
    pub fn flag(&self, source: Option<&String>) -> Result<bool, MethodError> {
        let Some(source) = source else {
            return Ok(false);
        };
        match self.text(source)?.to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(self.bound.wrong(
                &self.step.step,
                format!("expected true or false, not {other:?}"),
            )),
        }
    }

    /// Whether a pipe goes directly from one role to the other.
    fn is_direct(&self, pipe: &Pipe) -> Result<bool, MethodError> {
        let Some(via) = &pipe.via else {
            return Ok(false);
        };
        match self.text(via)?.as_str() {
            "here" => Ok(false),
            "direct" => Ok(true),
            other => Err(self.bound.wrong(
                &self.step.step,
                format!("via: expected here or direct, not {other:?}"),
            )),
        }
    }
}
