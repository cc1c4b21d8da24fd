//! Which ways to log in the ssh configuration allows, and in which order.

use super::fields::Fields;
use super::text::plain;
use russh::MethodKind;
use russh::keys::HashAlg;

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
    /// How RSA keys may sign, of `PubkeyAcceptedAlgorithms`; first what is liked best.
    pub(super) rsa: Vec<HashAlg>,
}

impl Methods {
    /// # Errors
    /// A value that means nothing.
    pub(super) fn read(fields: &Fields) -> Result<Self, String> {
        let is_off =
            |keyword| Ok::<_, String>(fields.all(keyword).is_some() && !fields.flag(keyword)?);
        // The old name counts only where the new one is not set.
        let interactive = match fields.all("KbdInteractiveAuthentication") {
            Some(_) => is_off("KbdInteractiveAuthentication")?,
            None => is_off("ChallengeResponseAuthentication")?,
        };
        let password = is_off("PasswordAuthentication")?;
        // It may also say how (`unbound`, `host-bound`).
        let keys = fields.first("PubkeyAuthentication").unwrap_or("yes");
        let keys = ["no", "false"]
            .iter()
            .any(|no| keys.eq_ignore_ascii_case(no));
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
            rsa: rsa(fields),
        })
    }

    pub(super) fn allow(&self, method: MethodKind) -> bool {
        self.order.contains(&method)
    }
}

/// Without SHA-1 (`ssh-rsa`), which `legacy` alone allows.
fn rsa(fields: &Fields) -> Vec<HashAlg> {
    let usual = vec![HashAlg::Sha512, HashAlg::Sha256];
    let given = fields.first("PubkeyAcceptedAlgorithms");
    let given = given.or_else(|| fields.first("PubkeyAcceptedKeyTypes"));
    let given = given.unwrap_or_default();
    let (how, list) = match given.split_at_checked(1) {
        Some((how @ ("+" | "-" | "^"), list)) => (how, list),
        _ => ("", given),
    };
    let named: Vec<HashAlg> = list
        .split(',')
        .filter_map(|name| match name {
            "rsa-sha2-512" => Some(HashAlg::Sha512),
            "rsa-sha2-256" => Some(HashAlg::Sha256),
            _ => None,
        })
        .collect();
    let hashes: Vec<HashAlg> = match how {
        "-" => usual
            .iter()
            .filter(|hash| !named.contains(hash))
            .copied()
            .collect(),
        "+" => Vec::new(),
        _ => named,
    };
    if hashes.is_empty() { usual } else { hashes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Methods, String> {
        let mut fields = Fields::default();
        for line in text.lines() {
            let (keyword, value) = line.split_once(' ').unwrap();
            fields.add(&keyword.to_lowercase(), &[value.to_owned()]);
        }
        Methods::read(&fields)
    }

    #[test]
    fn without_a_word_all_is_allowed_in_sshs_order() {
        let methods = read("").unwrap();
        assert_eq!(methods.order, ORDER);
        assert_eq!(methods.prompts, 3);
        assert!(!methods.batch);
        assert_eq!(methods.rsa, [HashAlg::Sha512, HashAlg::Sha256]);
    }

    #[test]
    fn the_configuration_orders_and_switches_off() {
        use MethodKind::{KeyboardInteractive, Password, PublicKey};

        for (text, order) in [
            (
                "PreferredAuthentications password,publickey",
                vec![Password, PublicKey],
            ),
            ("PreferredAuthentications gssapi-with-mic,hostbased", vec![]),
            (
                "PubkeyAuthentication no",
                vec![KeyboardInteractive, Password],
            ),
            (
                "PasswordAuthentication no",
                vec![PublicKey, KeyboardInteractive],
            ),
            ("KbdInteractiveAuthentication no", vec![PublicKey, Password]),
            (
                "ChallengeResponseAuthentication no",
                vec![PublicKey, Password],
            ),
            (
                "KbdInteractiveAuthentication yes\nChallengeResponseAuthentication no",
                ORDER.to_vec(),
            ),
        ] {
            assert_eq!(read(text).unwrap().order, order, "{text}");
        }
        let methods = read("BatchMode yes\nNumberOfPasswordPrompts 1").unwrap();
        assert!(methods.batch);
        assert_eq!(methods.prompts, 1);
        for (list, rsa) in [
            ("ssh-rsa,rsa-sha2-256", &[HashAlg::Sha256][..]),
            ("-rsa-sha2-512", &[HashAlg::Sha256]),
            ("^rsa-sha2-256", &[HashAlg::Sha256]),
            ("+ssh-rsa", &[HashAlg::Sha512, HashAlg::Sha256]),
            ("ssh-ed25519", &[HashAlg::Sha512, HashAlg::Sha256]),
        ] {
            let methods = read(&format!("PubkeyAcceptedAlgorithms {list}")).unwrap();
            assert_eq!(methods.rsa, rsa, "{list}");
        }
        assert!(read("NumberOfPasswordPrompts many").is_err());
        assert!(read("PasswordAuthentication perhaps").is_err());
    }
}
