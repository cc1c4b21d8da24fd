//! What a method looks at before anything is made: `[[check]]`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::check::GIVEN;
use super::model::Method;
use super::names::Names;
use super::template::Templates;

/// A look as it stands in a file: one of its own, or those of a fragment.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckEntry {
    pub run: Option<String>,
    #[serde(rename = "use")]
    pub fragment: Option<String>,
    #[serde(default)]
    pub with: BTreeMap<String, String>,
    pub on: Option<String>,
    pub when: Option<String>,
}

/// A look that ends with 0 where the method can run, and else says why not, in a sentence.
#[derive(Debug, Clone)]
pub struct CheckDef {
    /// Shell text that only reads.
    pub run: String,
    /// Role of its host; the first one where absent.
    pub on: Option<String>,
    /// Only where this holds; settings, facts and `own` only.
    pub when: Option<String>,
    /// Variables of the fragment it came from.
    pub with: BTreeMap<String, String>,
}

impl TryFrom<CheckEntry> for CheckDef {
    type Error = String;

    fn try_from(entry: CheckEntry) -> Result<Self, String> {
        let run = entry.run.ok_or("a check needs run, or use")?;
        Ok(Self {
            run,
            on: entry.on,
            when: entry.when,
            with: entry.with,
        })
    }
}

impl CheckDef {
    /// # Errors
    /// The first thing that is wrong with it.
    pub(super) fn check(&self, method: &Method, templates: &Templates) -> Result<(), String> {
        if let Some(role) = self.on.as_ref().filter(|role| !method.roles.contains(role)) {
            return Err(format!("on: {role:?} is no role of this method"));
        }
        let mut known = known_before(method, templates)?;
        if let Some(when) = &self.when {
            let names = templates.expression_names(when);
            let names = names.map_err(|why| format!("when: {why}"))?;
            if let Some(name) = names.difference(&known).next() {
                return Err(format!("when: {name:?} is neither a setting nor a fact"));
            }
        }
        for value in self.with.values() {
            before("with", value, templates, &known)?;
        }
        known.extend(self.with.keys().cloned());
        before("run", &self.run, templates, &known)
    }
}

/// What a template may use before there is a run that could have a name.
pub(super) fn known_before(
    method: &Method,
    templates: &Templates,
) -> Result<BTreeSet<String>, String> {
    let mut known: BTreeSet<String> = GIVEN.iter().map(ToString::to_string).collect();
    known.extend(method.settings.keys().cloned());
    let more: Vec<_> = Names::new(method, templates)?.known(&known).collect();
    known.extend(more);
    known.retain(|name| !["session", "run", "id", "rep", "box"].contains(&name.as_str()));
    Ok(known)
}

/// Refuses what a template uses and nobody knows before a run.
pub(super) fn before(
    key: &str,
    source: &str,
    templates: &Templates,
    known: &BTreeSet<String>,
) -> Result<(), String> {
    let names = templates.names(source);
    let names = names.map_err(|why| format!("{key}: {why}"))?;
    match names.difference(known).next() {
        Some(name) => Err(format!("{key}: {name:?} is not known before a run")),
        None => Ok(()),
    }
}
