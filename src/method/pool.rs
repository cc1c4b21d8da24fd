//! A pool whose fill is read while a run goes on.

use bytesize::ByteSize;
use serde::Deserialize;

use super::check::GIVEN;
use super::model::Method;
use super::template::Templates;

/// A pool, as a method file names it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolDef {
    /// As its operator knows it, a template.
    pub name: String,
    /// Role of its host; the first one where absent.
    #[serde(default)]
    pub on: Option<String>,
    /// Only where this holds; settings and facts only.
    #[serde(default)]
    pub when: Option<String>,
    /// Shell text that prints bytes: used and total of its data, and of its metadata where they
    /// have room of their own; nothing as long as it is not there.
    pub read: String,
    /// Percent of data or metadata at which the run is stopped.
    #[serde(default)]
    pub limit: Option<f64>,
    /// Bytes that have to stay free, or the run is stopped.
    #[serde(default)]
    floor: Option<String>,
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
        let known =
            |name: &String| GIVEN.contains(&name.as_str()) || method.settings.contains_key(name);
        let mut names = vec![
            ("name", templates.names(&self.name)),
            ("read", templates.names(&self.read)),
        ];
        if let Some(when) = &self.when {
            names.push(("when", templates.expression_names(when)));
        }
        for (key, names) in names {
            let names = names.map_err(|why| format!("{key}: {why}"))?;
            if let Some(name) = names.iter().find(|name| !known(name)) {
                return Err(format!("{key}: {name:?} is neither a setting nor a fact"));
            }
        }
        self.floor()?;
        match self.limit {
            Some(limit) if !(limit > 0.0 && limit <= 100.0) => Err(format!(
                "limit: {limit} is no percentage; expected more than 0, at most 100"
            )),
            _ => Ok(()),
        }
    }
}
