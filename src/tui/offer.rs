//! What an operator can pick from, as plain data: hosts, methods, and what each would do.
//!
//! Whoever makes plans fills it; the dashboard only shows it and sends back a [`Choice`].

use crate::event::{Bytes, HostState, Order, Phase};

/// All that can be picked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Offer {
    /// Which question this answers: see [`super::Effect::Set`] and [`super::Effect::Refresh`].
    /// Nothing starts while the offer on the screen is older than what was asked last.
    pub revision: u64,
    /// Hosts, in the order in which they were named.
    pub hosts: Vec<HostOffer>,
    /// Methods, of all hosts.
    pub methods: Vec<MethodOffer>,
}

/// A host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostOffer {
    /// As the operator named it.
    pub name: String,
    /// Its connection.
    pub state: HostState,
    /// One line of facts, what is being done, or why it is down.
    pub facts: String,
    /// Whether the old, weak algorithms are allowed with it.
    pub legacy: bool,
}

/// A method on a host.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodOffer {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its family.
    pub family: String,
    /// The host it would run on.
    pub host: String,
    /// What it would protect and bring back, in words.
    pub subject: String,
    /// Whether it can run; else why not, with the package that brings a missing tool.
    pub runnable: Result<(), String>,
    /// What would run, in order.
    pub preview: Vec<PreviewLine>,
    /// What to know before it runs: same disk, sparse data, a clock of whole seconds.
    pub warnings: Vec<String>,
    /// Room it needs.
    pub room: Vec<Room>,
    /// Named subjects that it destroys; each name is asked for before the start.
    pub named: Vec<Named>,
    /// Settings, with the values they have now.
    pub settings: Vec<SettingOffer>,
}

/// A step of a preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewLine {
    /// Its phase.
    pub phase: Phase,
    /// Its name.
    pub name: String,
    /// The exact shell text, with `‹name›` for what is not known yet.
    pub command: String,
    /// What it destroys, in words.
    pub destroys: Option<String>,
}

/// Room that a method needs somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// Storage, pool or folder.
    pub at: String,
    /// Bytes needed.
    pub needs: Bytes,
    /// Bytes free; absent where that is not known.
    pub free: Option<Bytes>,
}

/// A subject that somebody named, and that a method destroys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    /// The host it is on.
    pub host: String,
    /// `KIND:ID`.
    pub what: String,
    /// Its name, which has to be typed.
    pub name: String,
}

/// A setting of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingOffer {
    /// Its name.
    pub name: String,
    /// Its value now.
    pub value: String,
    /// What it is for.
    pub help: String,
    /// What it takes.
    pub kind: SettingKind,
    /// What is wrong with its value.
    pub problem: Option<String>,
}

/// What a setting takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingKind {
    /// Any text.
    Text,
    /// A number.
    Number,
    /// Bytes, with a unit.
    Bytes,
    /// A duration, with a unit.
    Duration,
    /// `true` or `false`.
    Flag,
    /// One of these.
    Choice(Vec<String>),
}

impl SettingKind {
    /// What it takes, in words.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Bytes => "bytes, e.g. 512MiB".to_owned(),
            Self::Duration => "a duration, e.g. 90s".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Choice(values) => values.join(", "),
        }
    }

    /// The value after this one, where the values can be told.
    #[must_use]
    pub fn next(&self, value: &str) -> Option<String> {
        let after = |values: &[String]| {
            let at = values.iter().position(|known| known == value);
            let next = at.map_or(0, |at| (at + 1) % values.len().max(1));
            values.get(next).cloned()
        };
        match self {
            Self::Flag => Some(if value == "true" { "false" } else { "true" }.to_owned()),
            Self::Choice(values) => after(values),
            _ => None,
        }
    }
}

/// A method on a host, as a choice names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Picked {
    /// The host.
    pub host: String,
    /// The method's name.
    pub method: String,
}

/// What was picked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The offer that it was picked from.
    pub revision: u64,
    /// Methods, in the order of the offer.
    pub methods: Vec<Picked>,
    /// Repetitions of each, at least 1.
    pub reps: u32,
    /// How they take turns.
    pub order: Order,
    /// Named subjects whose destruction was confirmed by typing their name.
    pub destroy: Vec<Named>,
}

impl MethodOffer {
    /// As a choice names it.
    #[must_use]
    pub fn picked(&self) -> Picked {
        Picked {
            host: self.host.clone(),
            method: self.name.clone(),
        }
    }
}

impl Offer {
    /// A method that was picked.
    #[must_use]
    pub fn method(&self, picked: &Picked) -> Option<&MethodOffer> {
        self.methods
            .iter()
            .find(|method| method.host == picked.host && method.name == picked.method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_steps_through_what_its_setting_takes() {
        let modes = SettingKind::Choice(vec!["snapshot".into(), "stop".into()]);
        assert_eq!(modes.next("snapshot").as_deref(), Some("stop"));
        assert_eq!(modes.next("stop").as_deref(), Some("snapshot"));
        assert_eq!(modes.next("odd").as_deref(), Some("snapshot"));
        assert_eq!(SettingKind::Choice(Vec::new()).next("x"), None);
        assert_eq!(SettingKind::Flag.next("true").as_deref(), Some("false"));
        assert_eq!(SettingKind::Text.next("x"), None);
    }
}
