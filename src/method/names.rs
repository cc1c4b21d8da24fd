//! Names that a method gives to what it writes more than once: `[names]`.

use std::collections::{BTreeMap, BTreeSet};

use super::head::check_setting_name;
use super::model::Method;
use super::template::Templates;

/// What each name of a method is made from.
pub(super) struct Names(BTreeMap<String, BTreeSet<String>>);

impl Names {
    /// Checks that each of them is made from something that is known to some step, and from no other of
    /// them: there is no order among them.
    pub(super) fn new(method: &Method, templates: &Templates) -> Result<Self, String> {
        let mut all = BTreeMap::new();
        for (name, text) in &method.names {
            check_setting_name(name).map_err(|why| format!("names: {why}"))?;
            let given = |step: &super::Step| step.gives.contains_key(name);
            if method.settings.contains_key(name) || method.steps.iter().any(given) {
                return Err(format!(
                    "names.{name}: a setting or what a step gives bears this name, too"
                ));
            }
            let from = templates
                .names(text)
                .map_err(|why| format!("names.{name}: {why}"))?;
            if let Some(other) = from.iter().find(|other| method.names.contains_key(*other)) {
                return Err(format!(
                    "names.{name}: {other:?} is one of these names; they are made from settings, facts and what steps give"
                ));
            }
            all.insert(name.clone(), from);
        }
        Ok(Self(all))
    }

    /// Those whose parts are all known.
    pub(super) fn known(&self, parts: &BTreeSet<String>) -> impl Iterator<Item = String> {
        let known = self.0.iter().filter(move |(_, from)| from.is_subset(parts));
        let known: Vec<_> = known.map(|(name, _)| name.clone()).collect();
        known.into_iter()
    }
}
