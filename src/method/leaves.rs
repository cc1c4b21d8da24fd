//! What a step leaves behind, in its own words or in those of a fragment.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::event::LeaveKind;

/// What a step leaves behind.
#[derive(Debug, Clone)]
pub struct Leaves {
    /// Name in the method file.
    pub id: String,
    /// What it is.
    pub kind: LeaveKind,
    /// Expression over settings and facts: whether the step leaves it at all.
    pub when: Option<String>,
    /// Shell text that prints what is there, or nothing.
    pub find: String,
    /// Shell text that takes `{{ found }}` away.
    pub undo: String,
    /// Shell text that says how the subject is brought back from `{{ found }}`, as long as it is not there.
    pub back: Option<String>,
}

/// The same as it stands in a file: one of its own, or all those of a fragment.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LeavesEntry {
    pub id: Option<String>,
    pub kind: Option<LeaveKind>,
    pub when: Option<String>,
    pub find: Option<String>,
    pub undo: Option<String>,
    pub back: Option<String>,
    #[serde(rename = "use")]
    pub fragment: Option<String>,
    #[serde(default)]
    pub with: BTreeMap<String, String>,
}

impl TryFrom<LeavesEntry> for Leaves {
    type Error = String;

    fn try_from(entry: LeavesEntry) -> Result<Self, String> {
        let missing = |key: &str| format!("leaves: missing field `{key}`; or use = \"FRAGMENT\"");
        Ok(Self {
            id: entry.id.ok_or_else(|| missing("id"))?,
            kind: entry.kind.ok_or_else(|| missing("kind"))?,
            when: entry.when,
            find: entry.find.ok_or_else(|| missing("find"))?,
            undo: entry.undo.ok_or_else(|| missing("undo"))?,
            back: entry.back,
        })
    }
}
