//! Which ways to log in the ssh configuration allows, and in which order.

use russh::MethodKind;
use ssh2_config::HostParams;

use super::fields::Fields;
use super::text::plain;

/// OpenSSH's order, of what can be done here.
const ORDER: [MethodKind; 3] = [
    MethodKind::PublicKey,
    MethodKind::KeyboardInteractive,
    MethodKind::Password,
];
/// `NumberOfPasswordPrompts`, where it is not set.
const PROMPTS: usize = 3;

/// Ways to log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Methods {
    /// First the one that is tried first.
    pub(super) order: Vec<MethodKind>,
    /// How often a password, or a round of questions, is asked for.
    pub(super) prompts: usize,
    /// `BatchMode`: nothing is asked.
    pub(super) batch: bool,
}

impl Methods {
    /// # Errors
    /// A value that means nothing.
    pub(super) fn read(params: Option<&HostParams>, fields: &Fields) -> Result<Self, String> {
        let is_off =
            |keyword| Ok::<_, String>(fields.all(keyword).is_some() && !fields.flag(keyword)?);
        // The old name counts only where the new one is not set.
        let interactive = match fields.all("KbdInteractiveAuthentication") {
            Some(_) => is_off("KbdInteractiveAuthentication")?,
            None => is_off("ChallengeResponseAuthentication")?,
        };
        let password = is_off("PasswordAuthentication")?;
        let keys = params.and_then(|params| params.pubkey_authentication) == Some(false);
        let mut order = match fields.all("PreferredAuthentications") {
            None => ORDER.to_vec(),
            Some(named) => named
                .iter()
                .flat_map(|names| names.split(','))
                .filter_map(|name| name.trim().parse().ok())
                .filter(|method| ORDER.contains(method))
                .collect(),
        };
        order.retain(|method| match method {
            MethodKind::PublicKey => !keys,
            MethodKind::KeyboardInteractive => !interactive,
            _ => !password,
        });
        let prompts = match fields.first("NumberOfPasswordPrompts") {
            None => PROMPTS,
            Some(text) => text.parse().map_err(|_| {
                format!(
                    "NumberOfPasswordPrompts in the ssh configuration is a number, not `{}`",
                    plain(text)
                )
            })?,
        };
        Ok(Self {
            order,
            prompts,
            batch: fields.flag("BatchMode")?,
        })
    }

    pub(super) fn allow(&self, method: MethodKind) -> bool {
        self.order.contains(&method)
    }
}
