//! A pool whose fill is read while a run goes on.

use std::collections::{BTreeMap, BTreeSet};

use bytesize::ByteSize;
use serde::Deserialize;

use super::check::GIVEN;
use super::model::Method;
use super::names::Names;
use super::template::Templates;

/// A pool as it stands in a file: one of its own, or those of a fragment.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PoolEntry {
    pub name: Option<String>,
    pub read: Option<String>,
    #[serde(rename = "use")]
    pub fragment: Option<String>,
    #[serde(default)]
    pub with: BTreeMap<String, String>,
    pub on: Option<String>,
    pub when: Option<String>,
    pub limit: Option<f64>,
    pub floor: Option<String>,
}

/// A pool whose fill is read.
#[derive(Debug, Clone)]
pub struct PoolDef {
    /// As its operator knows it, a template.
    pub name: String,
    /// Role of its host; the first one where absent.
    pub on: Option<String>,
    /// Only where this holds; settings and facts only.
    pub when: Option<String>,
    /// Shell text that prints bytes: used and total of its data, and of its metadata where they
    /// have room of their own; nothing as long as it is not there.
    pub read: String,
    /// Variables of the fragment it came from.
    pub with: BTreeMap<String, String>,
    /// Percent of data or metadata at which the run is stopped.
    pub limit: Option<f64>,
    /// Bytes that have to stay free, or the run is stopped.
    floor: Option<String>,
}

impl TryFrom<PoolEntry> for PoolDef {
    type Error = String;

    fn try_from(entry: PoolEntry) -> Result<Self, String> {
        let (Some(name), Some(read)) = (entry.name, entry.read) else {
            return Err("a pool needs name and read, or use".to_owned());
        };
        Ok(Self {
            name,
            on: entry.on,
            when: entry.when,
            read,
            with: entry.with,
            limit: entry.limit,
            floor: entry.floor,
        })
    }
}

impl PoolDef {
    /// Bytes that have to stay free; none where that is not asked for.
    ///
    /// # Errors
    /// Where it is no number of bytes.
    pub fn floor(&self) -> Result<Option<u64>, String> {
        let Some(text) = &self.floor else {
            return Ok(None);
        };
        let size = text.parse::<ByteSize>();
        size.map(|size| Some(size.as_u64()))
            .map_err(|_| format!("floor: {text:?} is no number of bytes; expected e.g. \"256MiB\""))
    }

    /// # Errors
    /// The first thing that is wrong with it.
    pub(super) fn check(&self, method: &Method, templates: &Templates) -> Result<(), String> {
        if let Some(role) = self.on.as_ref().filter(|role| !method.roles.contains(role)) {
            return Err(format!("on: {role:?} is no role of this method"));
        }
        let mut parts: BTreeSet<String> = GIVEN.iter().map(ToString::to_string).collect();
        parts.extend(method.settings.keys().cloned());
        let names: BTreeSet<_> = Names::new(method, templates)?.known(&parts).collect();
        let given = |name: &String| parts.contains(name) || names.contains(name);
        let all = |name: &String| given(name) || self.with.contains_key(name);
        for value in self.with.values() {
            known("with", templates.names(value), given)?;
        }
        if let Some(when) = &self.when {
            known("when", templates.expression_names(when), given)?;
        }
        known("name", templates.names(&self.name), all)?;
        known("read", templates.names(&self.read), all)?;
        self.floor()?;
        match self.limit {
            Some(limit) if !(limit > 0.0 && limit <= 100.0) => Err(format!(
                "limit: {limit} is no percentage; expected more than 0, at most 100"
            )),
            _ => Ok(()),
        }
    }
}

/// Refuses what a template uses and nothing gives.
fn known(
    key: &str,
    names: Result<BTreeSet<String>, String>,
    known: impl Fn(&String) -> bool,
) -> Result<(), String> {
    let names = names.map_err(|why| format!("{key}: {why}"))?;
    match names.iter().find(|name| !known(name)) {
        Some(name) => Err(format!("{key}: {name:?} is neither a setting nor a fact")),
        None => Ok(()),
    }
}
