//! What a method looks at before anything is made: `[[check]]`.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::check::GIVEN;
use super::model::Method;
use super::names::Names;
use super::template::Templates;

/// A look that ends with 0 where the method can run, and else says why not, in a sentence.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckDef {
    /// Shell text that only reads.
    pub run: String,
    /// Role of its host; the first one where absent.
    #[serde(default)]
    pub on: Option<String>,
    /// Only where this holds; settings, facts and `own` only.
    #[serde(default)]
    pub when: Option<String>,
}

impl CheckDef {
    /// # Errors
    /// The first thing that is wrong with it.
    pub(super) fn check(&self, method: &Method, templates: &Templates) -> Result<(), String> {
        if let Some(role) = self.on.as_ref().filter(|role| !method.roles.contains(role)) {
            return Err(format!("on: {role:?} is no role of this method"));
        }
        let mut known: BTreeSet<String> = GIVEN.iter().map(ToString::to_string).collect();
        known.extend(method.settings.keys().cloned());
        if let Some(when) = &self.when {
            let names = templates.expression_names(when);
            let names = names.map_err(|why| format!("when: {why}"))?;
            if let Some(name) = names.difference(&known).next() {
                return Err(format!("when: {name:?} is neither a setting nor a fact"));
            }
        }
        let more: Vec<_> = Names::new(method, templates)?.known(&known).collect();
        known.extend(more);
        // There is no run yet that could have a name.
        let names = templates
            .names(&self.run)
            .map_err(|why| format!("run: {why}"))?;
        match names.iter().find(|name| {
            !known.contains(*name)
                || ["session", "run", "id", "rep", "box"].contains(&name.as_str())
        }) {
            Some(name) => Err(format!("run: {name:?} is not known before a run")),
            None => Ok(()),
        }
    }
}
