//! What was asked for: which method where, on what, with which settings.

use std::collections::{BTreeMap, BTreeSet};

use super::model::Need;
use super::{Method, SubjectKind};
use crate::event::Facts;

/// A host, as far as a method may know it.
#[derive(Debug, Clone, Default)]
pub struct HostInfo {
    /// As the operator named it.
    pub name: String,
    /// Where other hosts reach it.
    pub address: Option<String>,
    /// As whom and on which port.
    pub login: Option<(String, u16)>,
    /// What it is.
    pub facts: Facts,
}

impl HostInfo {
    /// Facts in which none of these programs is missing: where one is, the method does not run,
    /// and that is to be said, not that a template lacks a value.
    pub(super) fn facts_with(&self, needs: &[Need]) -> Facts {
        let mut facts = self.facts.clone();
        for need in needs {
            facts.tools.entry(need.tool.clone()).or_default();
        }
        facts
    }
}

/// A subject that the operator named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectSpec {
    /// Its host; every host where absent.
    pub host: Option<String>,
    /// What it is.
    pub kind: SubjectKind,
    /// Path, name or number.
    pub id: String,
}

/// What was asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Which method runs where.
    pub picks: Vec<Pick>,
    /// Role → host, for roles other than the first.
    pub roles: BTreeMap<String, String>,
    /// Subjects.
    pub subjects: Vec<SubjectSpec>,
    /// Parent of scratch folders.
    pub sandbox: Option<String>,
    /// Settings.
    pub sets: Vec<Set>,
    /// Hosts that cannot be used: what needs one of them is left out.
    pub without: BTreeSet<String>,
}

/// A method on a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pick {
    /// The host of its first role.
    pub host: String,
    /// The method.
    pub method: String,
}

/// A setting that the operator chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    /// On this host only.
    pub host: Option<String>,
    /// Of this method; of every method that has it where none is named.
    pub method: Option<String>,
    /// The setting.
    pub key: String,
    /// Its value, as it was typed.
    pub value: String,
}

impl Request {
    /// Each method on each host.
    #[must_use]
    pub fn each(hosts: &[String], methods: &[String]) -> Self {
        let on = |host: &String| {
            let host = host.clone();
            methods.iter().map(move |method| Pick {
                host: host.clone(),
                method: method.clone(),
            })
        };
        Self {
            picks: hosts.iter().flat_map(on).collect(),
            ..Self::default()
        }
    }

    /// All hosts that it names.
    #[must_use]
    pub fn hosts(&self) -> BTreeSet<String> {
        let picked = self.picks.iter().map(|pick| &pick.host);
        picked.chain(self.roles.values()).cloned().collect()
    }

    /// The hosts that a method needs whose first role is on `host`.
    #[must_use]
    pub fn hosts_of(&self, method: &Method, host: &str) -> BTreeSet<String> {
        let roles = method.roles.iter().enumerate();
        let hosts = roles.filter_map(|(at, role)| self.host_of(at, role, host));
        hosts.map(ToOwned::to_owned).collect()
    }

    /// The host of a method's role number `at`, from 0.
    pub(super) fn host_of<'a>(&'a self, at: usize, role: &str, host: &'a str) -> Option<&'a str> {
        match (at, self.roles.get(role)) {
            (_, Some(name)) => Some(name),
            (0, None) => Some(host),
            (_, None) => (role == "here").then_some("local"),
        }
    }

    pub(super) fn methods(&self) -> BTreeSet<&str> {
        self.picks.iter().map(|pick| pick.method.as_str()).collect()
    }
}
