//! Where the original and the copy stand.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::ahead::{before, known_before};
use super::model::Method;
use super::template::Templates;

/// Where the original and the copy stand.
#[derive(Debug, Clone)]
pub struct PlacementDef {
    /// The original.
    pub original: PlaceOf,
    /// The copy.
    pub copy: PlaceOf,
    /// Role of the copy's host; the first one where absent.
    pub on: Option<String>,
    /// Variables of the fragment it came from.
    pub with: BTreeMap<String, String>,
}

/// What a place is known by.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum PlaceOf {
    /// A path, a dataset or a volume, a template.
    Path(String),
    /// Shell text that only reads, and prints some of these, a line each; nothing where nobody
    /// can tell.
    Told {
        /// The text.
        told: String,
    },
}

impl PlacementDef {
    /// # Errors
    /// The first thing that is wrong with it.
    pub(super) fn check(&self, method: &Method, templates: &Templates) -> Result<(), String> {
        if let Some(role) = self.on.as_ref().filter(|role| !method.roles.contains(role)) {
            return Err(format!("on: {role:?} is no role of this method"));
        }
        let mut known = known_before(method, templates)?;
        for value in self.with.values() {
            before("with", value, templates, &known)?;
        }
        known.extend(self.with.keys().cloned());
        for (key, place) in [("original", &self.original), ("copy", &self.copy)] {
            let mut known = known.clone();
            // What stands in the scratch folder is looked for where that is going to be.
            if let PlaceOf::Path(_) = place {
                known.insert("box".to_owned());
            }
            before(key, place.source(), templates, &known)?;
        }
        Ok(())
    }
}

impl PlaceOf {
    /// Its template.
    pub(super) fn source(&self) -> &str {
        match self {
            Self::Path(source) | Self::Told { told: source } => source,
        }
    }
}

/// The same as it stands in a file: one of its own, or that of a fragment.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlacementEntry {
    pub original: Option<PlaceOf>,
    pub copy: Option<PlaceOf>,
    pub on: Option<String>,
    #[serde(rename = "use")]
    pub fragment: Option<String>,
    #[serde(default)]
    pub with: BTreeMap<String, String>,
}

impl TryFrom<PlacementEntry> for PlacementDef {
    type Error = String;

    fn try_from(entry: PlacementEntry) -> Result<Self, String> {
        match (entry.original, entry.copy) {
            (Some(original), Some(copy)) => Ok(Self {
                original,
                copy,
                on: entry.on,
                with: entry.with,
            }),
            _ => Err("placement: original and copy are needed, or use".to_owned()),
        }
    }
}
