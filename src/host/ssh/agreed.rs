//! Which algorithms a connection has agreed on, or why on none.

use russh::AlgorithmKind;

use super::algorithms::{OLD_CIPHERS, OLD_HOST_KEYS, OLD_KEX, OLD_MACS, Wishes, text};
use super::text::plain;

/// What a connection has agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed {
    /// Key exchange.
    pub kex: String,
    /// Algorithm of the host key.
    pub host_key: String,
    /// Cipher.
    pub cipher: String,
    /// MAC; none where the cipher does its work.
    pub mac: Option<String>,
    /// Which of them are old and weak.
    pub old: Vec<String>,
}

impl Agreed {
    pub(super) fn new(names: &russh::Names) -> Self {
        let cipher = text(&names.cipher);
        let needs_mac = !cipher.contains("gcm") && !cipher.contains("poly1305");
        let mut old = Vec::new();
        let mut note = |is: bool, name: &str| {
            if is && !old.iter().any(|one| one == name) {
                old.push(name.to_owned());
            }
        };
        let host_key = names.key.to_string();
        let mac = text(&names.client_mac);
        note(OLD_KEX.contains(&names.kex), names.kex.as_ref());
        note(OLD_HOST_KEYS.contains(&names.key), &host_key);
        note(OLD_CIPHERS.contains(&names.cipher), &cipher);
        if needs_mac {
            note(OLD_MACS.contains(&names.client_mac), &mac);
            let theirs = names.server_mac;
            note(OLD_MACS.contains(&theirs), theirs.as_ref());
        }
        Self {
            kex: text(&names.kex),
            host_key,
            cipher,
            mac: needs_mac.then_some(mac),
            old,
        }
    }
}

/// Why nothing was agreed on, and what would help; `named` is the host in `config.toml`.
pub(super) fn explain(
    kind: &AlgorithmKind,
    ours: &[String],
    theirs: &[String],
    wishes: &Wishes,
    named: &str,
) -> String {
    let (what, old, list) = match kind {
        AlgorithmKind::Kex => ("key exchange", names(OLD_KEX), wishes.kex.as_deref()),
        AlgorithmKind::Key => (
            "host key algorithm",
            OLD_HOST_KEYS.iter().map(ToString::to_string).collect(),
            wishes.host_keys.as_deref(),
        ),
        AlgorithmKind::Cipher => ("cipher", names(OLD_CIPHERS), wishes.ciphers.as_deref()),
        AlgorithmKind::Mac => ("MAC", names(OLD_MACS), wishes.macs.as_deref()),
        AlgorithmKind::Compression => ("compression", Vec::new(), None),
    };
    let limits = match list {
        Some(list) => format!(" (the ssh configuration has `{}`)", plain(list)),
        None => String::new(),
    };
    let would_do: Vec<String> = old.into_iter().filter(|one| theirs.contains(one)).collect();
    let remedy = if wishes.legacy {
        "; not even the old ones, which `legacy = true` adds, are among them: the host needs a \
         newer SSH server, or one of what is offered switched on"
            .to_owned()
    } else if would_do.is_empty() {
        "; the old ones, which `legacy = true` would add, are not among them either: the host \
         needs one of what is offered switched on"
            .to_owned()
    } else {
        format!(
            ". It is an old server: {} would do, which is weak. If you accept that for this host, \
             set `legacy = true` under [host.{}] in config.toml",
            would_do.join(", "),
            quoted(named)
        )
    };
    // The marks of extensions are no algorithms.
    let list = |names: &[String]| {
        let names = names
            .iter()
            .filter(|name| !name.starts_with("ext-info-") && !name.starts_with("kex-strict-"));
        plain(&names.cloned().collect::<Vec<_>>().join(", "))
    };
    format!(
        "no {what} in common: offered are {}{limits}; the host takes {}{remedy}",
        list(ours),
        list(theirs),
    )
}

fn names<T: AsRef<str>>(all: &[T]) -> Vec<String> {
    all.iter().map(text).collect()
}

/// A key of TOML, in quotes where it needs some.
fn quoted(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(bare) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace(['"', '\\'], ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_what_would_help() {
        let ours = ["aes256-ctr".to_owned()];
        let says = |theirs: &str, legacy, named| {
            let wishes = Wishes {
                legacy,
                ..Wishes::default()
            };
            explain(
                &AlgorithmKind::Cipher,
                &ours,
                &[theirs.to_owned()],
                &wishes,
                named,
            )
        };
        let old = says("3des-cbc", false, "nas-1");
        assert!(
            old.contains("offered are aes256-ctr; the host takes 3des-cbc"),
            "{old}"
        );
        assert!(old.contains("under [host.nas-1]"), "{old}");
        let dotted = says("3des-cbc", false, "nas.lab");
        assert!(dotted.contains("under [host.\"nas.lab\"]"), "{dotted}");
        let hopeless = says("arcfour", false, "nas");
        assert!(hopeless.contains("not among them either"), "{hopeless}");
        let still = says("arcfour", true, "nas");
        assert!(still.contains("not even the old ones"), "{still}");
    }
}
