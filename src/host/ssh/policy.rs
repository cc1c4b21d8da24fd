//! What the ssh configuration wants done about a host key that is not known.

use std::path::PathBuf;

use super::expand::Tokens;
use super::fields::Fields;
use super::text::plain;

/// `StrictHostKeyChecking`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Strict {
    /// `yes`: only what is known; nobody is asked.
    Yes,
    /// `ask`.
    #[default]
    Ask,
    /// `accept-new`: taken without a question.
    AcceptNew,
    /// `no` or `off`: like `accept-new` here. For ssh a changed key would do too.
    Off,
}

/// How host keys are judged and kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Policy {
    pub(super) strict: Strict,
    /// `BatchMode`: nobody is asked.
    pub(super) batch: bool,
    /// `HashKnownHosts`: names are written as hashes.
    pub(super) hash: bool,
    /// `RevokedHostKeys`.
    pub(super) revoked: Option<PathBuf>,
    /// `CASignatureAlgorithms`, as it stands there.
    pub(super) signatures: Option<String>,
}

impl Policy {
    /// # Errors
    /// A value that means nothing, by its keyword.
    pub(super) fn new(fields: &Fields, tokens: &Tokens<'_>) -> Result<Self, String> {
        let strict = fields.first("StrictHostKeyChecking");
        let strict = match strict.map(str::to_lowercase).as_deref() {
            None | Some("ask") => Strict::Ask,
            Some("yes" | "true") => Strict::Yes,
            Some("accept-new") => Strict::AcceptNew,
            Some("no" | "false" | "off") => Strict::Off,
            Some(other) => {
                return Err(format!(
                    "StrictHostKeyChecking in the ssh configuration is yes, ask, accept-new, no \
                     or off, not `{}`",
                    plain(other)
                ));
            }
        };
        let revoked = match fields.first("RevokedHostKeys") {
            None => None,
            Some(path) if path.eq_ignore_ascii_case("none") => None,
            Some(path) => {
                let path = tokens.path(path);
                Some(
                    path.map_err(|why| format!("RevokedHostKeys in the ssh configuration: {why}"))?,
                )
            }
        };
        Ok(Self {
            strict,
            batch: fields.flag("BatchMode")?,
            hash: fields.flag("HashKnownHosts")?,
            revoked,
            signatures: fields.first("CASignatureAlgorithms").map(str::to_owned),
        })
    }
}
