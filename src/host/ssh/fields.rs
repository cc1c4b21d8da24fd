//! The keywords of an ssh configuration that its library hands out as text only.

use std::collections::HashMap;

use ssh2_config::HostParams;

use super::text::plain;

/// Their arguments, without quotes, by the keyword in lower case.
#[derive(Debug, Default)]
pub(super) struct Fields(HashMap<String, Vec<String>>);

impl Fields {
    pub(super) fn new(params: Option<&HostParams>) -> Self {
        let fields = params.into_iter().flat_map(|params| {
            params
                .ignored_fields
                .iter()
                .chain(&params.unsupported_fields)
        });
        Self(
            fields
                .map(|(keyword, arguments)| {
                    let arguments = arguments.iter().map(|text| unquoted(text).to_owned());
                    (keyword.to_lowercase(), arguments.collect())
                })
                .collect(),
        )
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

/// The library leaves quotes where a line has several arguments.
fn unquoted(text: &str) -> &str {
    text.strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text)
}
