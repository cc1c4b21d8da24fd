//! What was going to run, as a recording tells it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{BindingId, Labels, Phase, RunId};

/// Bindings × repetitions, and their order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The methods, bound.
    pub bindings: Vec<Binding>,
    /// Repetitions of each.
    pub reps: u32,
    /// How they take turns.
    pub order: Order,
    /// All runs, in their order.
    pub runs: Vec<PlannedRun>,
    /// What also runs at once.
    #[serde(default, skip_serializing_if = "Together::is_empty")]
    pub together: Together,
}

/// Bindings of which each two also run at once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Together {
    /// Every two.
    pub pairs: Vec<[BindingId; 2]>,
    /// What the one does that has done first.
    pub first: First,
}

impl Together {
    /// Whether nothing runs at once.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

/// What the one of two runs does that has done first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum First {
    /// It waits, in each phase that is measured, until the other has done, too.
    #[default]
    Waits,
    /// It goes on, and is started again as long as the other goes on.
    Restarts,
}

impl fmt::Display for First {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Waits => "the one that is done first waits",
            Self::Restarts => "the one that is done first is started again",
        })
    }
}

/// How bindings take turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// A B C, B C A, …
    #[default]
    Interleaved,
    /// A A A, B B B, …
    ByMethod,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Interleaved => "interleaved",
            Self::ByMethod => "by method",
        })
    }
}

/// A method bound to its subject, its roles to hosts, its settings to values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// Its id.
    pub id: BindingId,
    /// Name of the method.
    pub method: String,
    /// Its title.
    pub title: String,
    /// Its family.
    #[serde(default)]
    pub family: String,
    /// Role → host.
    pub roles: BTreeMap<String, String>,
    /// The subject.
    pub subject: Subject,
    /// Effective settings, as text.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Where the original and the copy stand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Labels of every run of it.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Its steps, as far as the plan knows them.
    #[serde(default)]
    pub steps: Vec<PlannedStep>,
}

impl Binding {
    /// The host that a report names it by: the source's, else the first role's.
    #[must_use]
    pub fn host(&self) -> &str {
        self.roles
            .get("source")
            .or_else(|| self.roles.values().next())
            .map_or("local", String::as_str)
    }
}

/// What is protected and brought back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// `dir`, `subvolume`, `dataset`, `lv`, `vm`, `ct`, `vmdk`.
    pub kind: String,
    /// Its path, name or number.
    pub id: String,
    /// Whether this session makes it, and takes it away.
    #[serde(default)]
    pub own: bool,
    /// Whether the operator marked it on the host as one that may be changed.
    #[serde(default)]
    pub marked: bool,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.id)
    }
}

/// A step as the plan knows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedStep {
    /// Name.
    pub name: String,
    /// Phase.
    pub phase: Phase,
    /// Host it acts on.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// Whether its duration is a result.
    #[serde(default)]
    pub timed: bool,
    /// What it destroys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destroys: Option<Destroys>,
    /// The exact shell text, with `‹name›` for what is not known yet.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
}

/// What a step destroys, and which proof it relies on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Destroys {
    /// `KIND:ID`.
    pub what: String,
    /// The leave that must be proved before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relies_on: Option<String>,
    /// Nothing can prove that one before: it counts as long as it is there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unproved: bool,
}

/// One repetition of a binding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// Its id.
    pub run: RunId,
    /// What is run.
    pub binding: BindingId,
    /// Repetition, from 1.
    pub rep: u32,
    /// The run that goes on at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<RunId>,
}

/// Where original and copy stand.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// The original.
    pub original: Place,
    /// The copy.
    pub copy: Place,
}

impl Placement {
    /// Whether they share a disk; absent where that cannot be told. Two names of one machine are one:
    /// `machines` tells which machine a host is, where its facts do.
    #[must_use]
    pub fn same_disk(&self, machines: &BTreeMap<String, String>) -> Option<bool> {
        let (original, copy) = (&self.original.host, &self.copy.host);
        if original != copy {
            // A place without a host is one that nobody asked about.
            if original.is_empty() || copy.is_empty() {
                return None;
            }
            let machine = |host| machines.get(host).unwrap_or(host);
            if machine(original) != machine(copy) {
                return Some(false);
            }
        }
        if self.original.disks.is_empty() || self.copy.disks.is_empty() {
            // One mount point is one failure domain, whatever carries it.
            return (self.original.at == self.copy.at && !self.original.at.is_empty())
                .then_some(true);
        }
        Some(
            self.original
                .disks
                .iter()
                .any(|disk| self.copy.disks.contains(disk)),
        )
    }
}

/// Where a path stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Host.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// Type of the file system.
    #[serde(default)]
    pub filesystem: String,
    /// What is mounted there.
    #[serde(default)]
    pub source: String,
    /// Mount point.
    #[serde(default)]
    pub at: String,
    /// Physical disks; empty where that cannot be told.
    #[serde(default)]
    pub disks: Vec<String>,
    /// Free bytes for this user.
    #[serde(default)]
    pub free: super::Bytes,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(host: &str, at: &str, disks: &[&str]) -> Place {
        Place {
            host: host.into(),
            at: at.into(),
            disks: disks.iter().map(|&disk| disk.to_owned()).collect(),
            ..Place::default()
        }
    }

    #[test]
    fn a_shared_disk_is_seen_and_an_unknown_one_is_not_made_up() {
        let machines = BTreeMap::from([("h1".into(), "m1".into()), ("h3".into(), "m1".into())]);
        let same = |original, copy| Placement { original, copy }.same_disk(&machines);
        let here = || place("h1", "/srv", &["sda", "sdb"]);
        assert_eq!(same(here(), place("h1", "/mnt", &["sdb"])), Some(true));
        assert_eq!(same(here(), place("h1", "/mnt", &["sdc"])), Some(false));
        assert_eq!(same(here(), place("h2", "/srv", &["sda"])), Some(false));
        assert_eq!(same(here(), place("h3", "/srv", &["sda"])), Some(true));
        assert_eq!(same(here(), place("h3", "/srv", &["sdc"])), Some(false));
        assert_eq!(same(here(), place("h1", "/mnt", &[])), None);
        assert_eq!(same(here(), place("", "", &[])), None);
        assert_eq!(
            same(place("h1", "/srv", &[]), place("h1", "/srv", &[])),
            Some(true)
        );
    }
}
