//! The keywords of an ssh configuration as text.

use std::collections::HashMap;

use super::text::plain;

/// Their arguments, without quotes, by the keyword in lower case.
#[derive(Debug, Default)]
pub(super) struct Fields(HashMap<String, Vec<String>>);

impl Fields {
    /// More arguments of a keyword in lower case.
    pub(super) fn add(&mut self, keyword: &str, arguments: &[String]) {
        self.0
            .entry(keyword.to_owned())
            .or_default()
            .extend_from_slice(arguments);
    }

    pub(super) fn all(&self, keyword: &str) -> Option<&[String]> {
        self.0.get(&keyword.to_lowercase()).map(Vec::as_slice)
    }

    pub(super) fn first(&self, keyword: &str) -> Option<&str> {
        self.all(keyword)?.first().map(String::as_str)
    }

    /// # Errors
    /// The value is neither yes nor no.
    pub(super) fn flag(&self, keyword: &str) -> Result<bool, String> {
        match self.first(keyword).map(str::to_lowercase).as_deref() {
            None | Some("no" | "false") => Ok(false),
            Some("yes" | "true") => Ok(true),
            Some(other) => Err(format!(
                "{keyword} in the ssh configuration is yes or no, not `{}`",
                plain(other)
            )),
        }
    }
}
