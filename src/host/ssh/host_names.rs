//! Under which names a host's key is known, and how a `known_hosts` line names hosts.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use wildmatch::WildMatch;

/// How a column with a hashed name begins (`HashKnownHosts`).
const HASHED: &str = "|1|";
/// A salt is as long as the hash.
const SALT: usize = 20;

/// Under which names a host is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    /// `host`, or `[host]:port` where the port is not 22, or the `HostKeyAlias`.
    pub(super) exact: String,
    /// `host`, where `exact` has a port: as in ssh, a key that is known without a port is
    /// good for the host's other ports too.
    pub(super) portless: Option<String>,
}

impl Names {
    pub(super) fn new(host: &str, port: u16, alias: Option<&str>) -> Self {
        let host = host.to_lowercase();
        match alias {
            Some(alias) => Self {
                exact: alias.to_lowercase(),
                portless: None,
            },
            None if port == 22 => Self {
                exact: host,
                portless: None,
            },
            None => Self {
                exact: format!("[{host}]:{port}"),
                portless: Some(host),
            },
        }
    }

    /// The name in a certificate: the host without its port, or the `HostKeyAlias`.
    pub(super) fn principal(&self) -> &str {
        self.portless.as_deref().unwrap_or(&self.exact)
    }
}

/// How a line's first column names a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// Not at all.
    No,
    /// As it is.
    Exact,
    /// Without its port.
    Portless,
}

/// Whether a line's first column names the host. Nothing if it is a hash that cannot be read:
/// it may.
pub(super) fn named(column: &str, names: &Names) -> Option<Named> {
    if matches(column, &names.exact)? {
        return Some(Named::Exact);
    }
    Some(match &names.portless {
        Some(name) if matches(column, name)? => Named::Portless,
        _ => Named::No,
    })
}

fn matches(column: &str, name: &str) -> Option<bool> {
    match column.strip_prefix(HASHED) {
        Some(hashed) => {
            let (salt, hash) = hashed.split_once('|')?;
            let hash = STANDARD.decode(hash).ok()?;
            let salt = STANDARD.decode(salt).ok()?;
            Some(keyed(&salt, name)?.verify_slice(&hash).is_ok())
        }
        None => Some(listed(column, name)),
    }
}

/// Whether a pattern list (comma-separated, with negation) has a name.
pub(super) fn listed(patterns: &str, name: &str) -> bool {
    let mut found = false;
    for pattern in patterns.split(',') {
        match pattern.strip_prefix('!') {
            Some(pattern) if WildMatch::new_case_insensitive(pattern).matches(name) => {
                return false;
            }
            Some(_) => {}
            None => found |= WildMatch::new_case_insensitive(pattern).matches(name),
        }
    }
    found
}

/// What a message says of a column: a hash means nothing to anybody.
pub(super) fn shown(column: &str) -> &str {
    if column.starts_with(HASHED) {
        "a hashed name"
    } else {
        column
    }
}

/// The name as `HashKnownHosts yes` writes it, with a new salt.
pub(super) fn hashed(name: &str) -> Option<String> {
    let salt: [u8; SALT] = rand::random();
    let hash = keyed(&salt, name)?.finalize().into_bytes();
    Some(format!(
        "{HASHED}{}|{}",
        STANDARD.encode(salt),
        STANDARD.encode(hash)
    ))
}

/// The HMAC-SHA1 of the name, keyed with the salt.
fn keyed(salt: &[u8], name: &str) -> Option<Hmac<Sha1>> {
    let mac = Hmac::<Sha1>::new_from_slice(salt).ok()?;
    Some(mac.chain_update(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_stands_for_host_and_port() {
        let names = Names::new("10.0.0.7", 2222, Some("Nas"));
        assert_eq!(names.exact, "nas");
        assert_eq!(names.portless, None);
        assert_eq!(names.principal(), "nas");
    }

    #[test]
    fn a_hashed_name_is_found_again_and_is_never_the_same_twice() {
        let names = Names::new("nas", 2222, None);
        let column = hashed(&names.exact).unwrap();
        assert_eq!(named(&column, &names), Some(Named::Exact));
        assert_eq!(
            named(&column, &Names::new("nas", 22, None)),
            Some(Named::No)
        );
        assert_ne!(hashed(&names.exact).unwrap(), column);
        assert_eq!(shown(&column), "a hashed name");
    }
}
