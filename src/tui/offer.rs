//! What an operator can pick from, as plain data: hosts, methods, and what each would do.
//!
//! Whoever makes plans fills it; the dashboard only shows it and sends back a [`Choice`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::event::{Bytes, First, HostState, Order, Phase, Placement};
use crate::method::{Kind, Own, SubjectKind, SubjectSpec};
use crate::recording::Past;

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
    /// One line of facts, or why it is down.
    pub facts: String,
    /// What is being done there before anything can be picked, and for how long.
    pub doing: Option<(String, Duration)>,
    /// Whether the old, weak algorithms are allowed with it.
    pub legacy: bool,
    /// Subjects that it has, or that were named.
    pub subjects: Vec<SubjectOffer>,
    /// The subject that was chosen; absent where each method makes its own.
    pub subject: Option<SubjectSpec>,
}

/// A subject that is there, or was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectOffer {
    /// `KIND:ID`.
    pub spec: SubjectSpec,
    /// Whether it bears the mark that lets it be changed; else it is only read.
    pub marked: bool,
    /// What is known of it, in a few words.
    pub about: String,
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
    /// The machines behind the hosts that it needs: hosts that are one machine take turns.
    pub machines: BTreeMap<String, String>,
    /// What kind of subject it protects.
    pub kind: SubjectKind,
    /// Whether it makes that itself.
    pub own: Own,
    /// What it would protect and bring back, in words.
    pub subject: String,
    /// Whether it can run; else why not, with the package that brings a missing tool.
    pub runnable: Result<(), String>,
    /// What would run, in order.
    pub preview: Arc<Vec<PreviewLine>>,
    /// What to know before it runs: sparse data, a clock of whole seconds.
    pub warnings: Vec<String>,
    /// Where the original and the copy are going to stand.
    pub placement: Option<Placement>,
    /// Room it needs.
    pub room: Vec<Room>,
    /// What earlier runs of it took.
    pub past: Past,
    /// Named subjects that it destroys; each name is asked for before the start.
    pub named: Vec<Named>,
    /// Settings, with the values they have now.
    pub settings: Vec<SettingOffer>,
}

/// A step of a preview, or what is run again and again beside the steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewLine {
    /// Its phase; none of what goes on beside all of them.
    pub phase: Option<Phase>,
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
    /// Storage, pool or folder; with its host where that is another one.
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
    /// Its value where nobody changes it.
    pub default: String,
    /// What it is for.
    pub help: String,
    /// What it takes.
    pub kind: Kind,
    /// What is wrong with its value.
    pub problem: Option<String>,
}

impl SettingOffer {
    /// What it takes, in words.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.kind {
            Kind::Text => "text".to_owned(),
            Kind::Number => "a number".to_owned(),
            Kind::Count => "a whole number from 1 on".to_owned(),
            Kind::Bytes => "bytes, e.g. 512MiB".to_owned(),
            Kind::Duration => "a duration, e.g. 90s".to_owned(),
            Kind::Flag => "true or false".to_owned(),
            Kind::List => "numbers, e.g. 1,10,100".to_owned(),
            Kind::Choice(values) => values.join(", "),
        }
    }

    /// Whether the operator changed it.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.value != self.default
    }

    /// The value so many places after this one, where the values can be told.
    #[must_use]
    pub fn step(&self, by: isize) -> Option<String> {
        match &self.kind {
            Kind::Flag => Some(
                if self.value == "true" {
                    "false"
                } else {
                    "true"
                }
                .to_owned(),
            ),
            Kind::Choice(values) => {
                let at = values.iter().position(|known| *known == self.value);
                let len = isize::try_from(values.len()).ok().filter(|len| *len > 0)?;
                let to = match at.and_then(|at| isize::try_from(at).ok()) {
                    Some(at) => (at + by).rem_euclid(len),
                    None => 0,
                };
                values.get(usize::try_from(to).ok()?).cloned()
            }
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
    /// Of which each two also run at once.
    pub together: Vec<[Picked; 2]>,
    /// What the one of two does that is done first.
    pub first: First,
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

    fn setting(kind: Kind, value: &str) -> SettingOffer {
        SettingOffer {
            name: "mode".into(),
            value: value.into(),
            default: "snapshot".into(),
            help: String::new(),
            kind,
            problem: None,
        }
    }

    #[test]
    fn a_value_steps_through_what_its_setting_takes() {
        let modes = || Kind::Choice(vec!["snapshot".into(), "suspend".into(), "stop".into()]);
        let to = |value: &str, by| setting(modes(), value).step(by).unwrap();
        assert_eq!(to("snapshot", 1), "suspend");
        assert_eq!(to("stop", 1), "snapshot");
        assert_eq!(to("snapshot", -1), "stop");
        assert_eq!(to("odd", 1), "snapshot");
        assert_eq!(setting(Kind::Choice(Vec::new()), "x").step(1), None);
        assert_eq!(
            setting(Kind::Flag, "true").step(-1).as_deref(),
            Some("false")
        );
        assert_eq!(setting(Kind::Text, "x").step(1), None);
    }
}
