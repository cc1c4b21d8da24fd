//! Which algorithms are offered: the modern ones; the old ones only where the operator says
//! that a host needs them; and of these what the ssh configuration leaves.

use std::borrow::Cow;

use russh::client::GexParams;
use russh::keys::{Algorithm, EcdsaCurve, HashAlg};
use russh::{Preferred, cipher, compression, kex, mac};
use wildmatch::WildMatch;

use super::fields::Fields;
use super::text::plain;
use super::trust::Trust;

/// In russh's order, and then the curves of NIST, which some hardened servers have alone.
const KEX: &[kex::Name] = &[
    kex::MLKEM768X25519_SHA256,
    kex::CURVE25519,
    kex::CURVE25519_PRE_RFC_8731,
    kex::DH_GEX_SHA256,
    kex::DH_G18_SHA512,
    kex::DH_G17_SHA512,
    kex::DH_G16_SHA512,
    kex::DH_G15_SHA512,
    kex::DH_G14_SHA256,
    kex::ECDH_SHA2_NISTP256,
    kex::ECDH_SHA2_NISTP384,
    kex::ECDH_SHA2_NISTP521,
];
/// With SHA-1, or a group that is too small. The fixed group of 2048 bits comes first: some
/// servers choose a smaller one by themselves, which is not taken.
pub(super) const OLD_KEX: &[kex::Name] = &[kex::DH_G14_SHA1, kex::DH_GEX_SHA1, kex::DH_G1_SHA1];
/// What else stands in that list: that extensions are understood, and packets counted strictly.
const EXTENSIONS: &[kex::Name] = &[
    kex::EXTENSION_SUPPORT_AS_CLIENT,
    kex::EXTENSION_OPENSSH_STRICT_KEX_AS_CLIENT,
];

/// AES-GCM first: with hardware AES, twice as fast as `ChaCha20`.
const CIPHERS: &[cipher::Name] = &[
    cipher::AES_256_GCM,
    cipher::AES_128_GCM,
    cipher::CHACHA20_POLY1305,
    cipher::AES_256_CTR,
    cipher::AES_192_CTR,
    cipher::AES_128_CTR,
];
/// Chained blocks.
pub(super) const OLD_CIPHERS: &[cipher::Name] = &[
    cipher::AES_256_CBC,
    cipher::AES_192_CBC,
    cipher::AES_128_CBC,
    cipher::TRIPLE_DES_CBC,
];

const MACS: &[mac::Name] = &[
    mac::HMAC_SHA512_ETM,
    mac::HMAC_SHA256_ETM,
    mac::HMAC_SHA512,
    mac::HMAC_SHA256,
];
/// With SHA-1.
pub(super) const OLD_MACS: &[mac::Name] = &[mac::HMAC_SHA1_ETM, mac::HMAC_SHA1];

/// In OpenSSH's order.
const HOST_KEYS: &[Algorithm] = &[
    Algorithm::Ed25519,
    Algorithm::Ecdsa {
        curve: EcdsaCurve::NistP256,
    },
    Algorithm::Ecdsa {
        curve: EcdsaCurve::NistP384,
    },
    Algorithm::Ecdsa {
        curve: EcdsaCurve::NistP521,
    },
    Algorithm::Rsa {
        hash: Some(HashAlg::Sha512),
    },
    Algorithm::Rsa {
        hash: Some(HashAlg::Sha256),
    },
];
/// Signatures with SHA-1.
pub(super) const OLD_HOST_KEYS: &[Algorithm] = &[Algorithm::Rsa { hash: None }, Algorithm::Dsa];

/// The least size of a group that a server may choose, the one that is asked for and the
/// greatest, in bits. russh asks for at least 3072, which some servers do not have.
const GROUP: (usize, usize, usize) = (2048, 3072, 8192);

/// What a host is to be offered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Wishes {
    /// The old ones too.
    pub(super) legacy: bool,
    /// The lists of the ssh configuration, as they stand there.
    pub(super) kex: Option<String>,
    pub(super) host_keys: Option<String>,
    pub(super) ciphers: Option<String>,
    pub(super) macs: Option<String>,
}

impl Wishes {
    pub(super) fn new(legacy: bool, fields: &Fields) -> Self {
        let list = |keyword| fields.first(keyword).map(str::to_owned);
        Self {
            legacy,
            kex: list("KexAlgorithms"),
            host_keys: list("HostKeyAlgorithms"),
            ciphers: list("Ciphers"),
            macs: list("MACs"),
        }
    }

    /// What is offered to the host, best first.
    ///
    /// # Errors
    /// A list of the ssh configuration leaves nothing.
    pub(super) fn offer(&self, trust: &Trust) -> Result<Preferred, String> {
        let mut kex = self.pick("KexAlgorithms", self.kex.as_deref(), KEX, OLD_KEX, text)?;
        kex.extend_from_slice(EXTENSIONS);
        let given = self.host_keys.as_deref();
        let named = |algorithm: &Algorithm| algorithm.to_string();
        let mut key = self.pick(
            "HostKeyAlgorithms",
            self.host_keys.as_deref(),
            HOST_KEYS,
            OLD_HOST_KEYS,
            named,
        )?;
        // As for ssh, an order that somebody has set stays.
        if given.is_none_or(|list| list.starts_with(['-', '+'])) {
            key.sort_by_key(|algorithm| !trust.knows_type(key_type(algorithm)));
        }
        // A certificate is asked for where an authority is known that could have signed it.
        let certificates = if trust.knows_authority() {
            let named = Algorithm::to_certificate_type;
            let all = HOST_KEYS;
            // A list may leave no certificates.
            self.pick(
                "HostKeyAlgorithms",
                self.host_keys.as_deref(),
                all,
                &[],
                named,
            )
            .unwrap_or_default()
        } else {
            Vec::new()
        };
        let cipher = self.pick(
            "Ciphers",
            self.ciphers.as_deref(),
            CIPHERS,
            OLD_CIPHERS,
            text,
        )?;
        let mac = self.pick("MACs", self.macs.as_deref(), MACS, OLD_MACS, text)?;
        Ok(Preferred {
            kex: Cow::Owned(kex),
            key: Cow::Owned(key),
            host_key_certificates: Cow::Owned(certificates),
            cipher: Cow::Owned(cipher),
            mac: Cow::Owned(mac),
            compression: Cow::Borrowed(&[compression::NONE]),
        })
    }

    /// Of what there is, what a list leaves, in its order (`ssh_config(5)`, `Ciphers`): a list,
    /// or one behind `+`, `-` or `^`. What it adds is there already, or is old.
    fn pick<T: Clone>(
        &self,
        keyword: &str,
        list: Option<&str>,
        modern: &[T],
        old: &[T],
        name: impl Fn(&T) -> String,
    ) -> Result<Vec<T>, String> {
        let old = if self.legacy { old } else { &[] };
        let all = [modern, old].concat();
        let Some(list) = list else {
            return Ok(all);
        };
        let place = |one: &T| {
            let mut patterns = list.trim_start_matches(['-', '^']).split(',');
            patterns.position(|pattern| WildMatch::new(pattern.trim()).matches(&name(one)))
        };
        let mut left = all.clone();
        match list.chars().next() {
            Some('+') => {}
            Some('-') => left.retain(|one| place(one).is_none()),
            Some('^') => left.sort_by_key(|one| place(one).unwrap_or(usize::MAX)),
            _ => {
                left.retain(|one| place(one).is_some());
                left.sort_by_key(|one| place(one));
            }
        }
        if left.is_empty() {
            let here: Vec<String> = all.iter().map(&name).collect();
            return Err(format!(
                "`{keyword} {}` in the ssh configuration leaves nothing that is known here ({}){}",
                plain(list),
                here.join(", "),
                if self.legacy {
                    ""
                } else {
                    "; old ones need `legacy = true` for this host in config.toml"
                }
            ));
        }
        Ok(left)
    }
}

/// Whether a list of the ssh configuration leaves an algorithm that is there without it.
pub(super) fn leaves(list: &str, name: &str) -> bool {
    let mut patterns = list.trim_start_matches('-').split(',');
    let named = patterns.any(|pattern| WildMatch::new(pattern.trim()).matches(name));
    list.starts_with(['+', '^']) || named != list.starts_with('-')
}

/// The sizes of a group that the server may choose.
pub(super) fn groups() -> GexParams {
    let (least, wanted, most) = GROUP;
    GexParams::new(least, wanted, most).unwrap_or_default()
}

pub(super) fn text(name: &impl AsRef<str>) -> String {
    name.as_ref().to_owned()
}

/// The type of the keys that an algorithm signs with.
fn key_type(algorithm: &Algorithm) -> &str {
    match algorithm {
        Algorithm::Rsa { .. } => "ssh-rsa",
        other => other.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::super::host_key::samples::{ECDSA, ED25519};
    use super::super::route::Route;
    use super::*;

    fn offered(wishes: &Wishes, known: &str) -> Result<Preferred, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), known).unwrap();
        let config = Config {
            known_hosts: vec![file.path().to_owned()],
            user: Some("root".to_owned()),
            ..Config::default()
        };
        let route = Route::resolve(&"nas".parse().unwrap(), &config).unwrap();
        wishes.offer(&Trust::read(&route, Vec::new()).unwrap())
    }

    fn keys(wishes: &Wishes, known: &str) -> Vec<String> {
        let offered = offered(wishes, known).unwrap();
        offered.key.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn nothing_old_is_offered_unless_the_host_needs_it_and_then_last() {
        let modern = offered(&Wishes::default(), "").unwrap();
        let legacy = Wishes {
            legacy: true,
            ..Wishes::default()
        };
        let both = offered(&legacy, "").unwrap();
        for old in OLD_KEX {
            assert!(
                !modern.kex.contains(old) && both.kex.contains(old),
                "{old:?}"
            );
        }
        for old in OLD_CIPHERS {
            assert!(!modern.cipher.contains(old) && both.cipher.contains(old));
        }
        for old in OLD_MACS {
            assert!(!modern.mac.contains(old) && both.mac.contains(old));
        }
        for old in OLD_HOST_KEYS {
            assert!(!modern.key.contains(old) && both.key.contains(old));
        }
        assert!(both.cipher.starts_with(&modern.cipher));
        assert!(both.mac.starts_with(&modern.mac));
        assert!(both.key.starts_with(&modern.key));
        assert!(both.kex.starts_with(KEX));
        assert!(modern.kex.ends_with(EXTENSIONS) && both.kex.ends_with(EXTENSIONS));
    }

    #[test]
    fn what_is_known_is_asked_for_first_unless_an_order_is_set() {
        let known = format!("nas {ECDSA}\n");
        let list = |list: &str| Wishes {
            host_keys: Some(list.to_owned()),
            ..Wishes::default()
        };
        let all = keys(&Wishes::default(), &known);
        assert_eq!(all[..2], ["ecdsa-sha2-nistp256", "ssh-ed25519"]);
        assert_eq!(all.len(), HOST_KEYS.len());
        let set = list("ssh-ed25519,ecdsa-sha2-*");
        assert_eq!(
            keys(&set, &known)[..2],
            ["ssh-ed25519", "ecdsa-sha2-nistp256"]
        );
        let less = list("-ssh-ed25519");
        assert_eq!(keys(&less, &known)[0], "ecdsa-sha2-nistp256");
        assert!(!keys(&less, &known).contains(&"ssh-ed25519".to_owned()));
    }

    #[test]
    fn certificates_are_asked_for_where_an_authority_is_known() {
        let plain = offered(&Wishes::default(), &format!("nas {ED25519}\n")).unwrap();
        assert!(plain.host_key_certificates.is_empty());
        let text = format!("@cert-authority * {ED25519}\n");
        let certified = offered(&Wishes::default(), &text).unwrap();
        assert_eq!(*certified.host_key_certificates, *HOST_KEYS);
        let none = Wishes {
            host_keys: Some("ssh-ed25519".to_owned()),
            ..Wishes::default()
        };
        let without = offered(&none, &text).unwrap();
        assert!(without.host_key_certificates.is_empty());
    }

    #[test]
    fn a_list_that_leaves_nothing_is_named() {
        let wishes = Wishes {
            macs: Some("umac-64@openssh.com".to_owned()),
            ..Wishes::default()
        };
        let error = offered(&wishes, "").unwrap_err();
        for part in [
            "`MACs umac-64@openssh.com`",
            "hmac-sha2-256",
            "legacy = true",
        ] {
            assert!(error.contains(part), "{part} in: {error}");
        }
    }

    #[test]
    fn a_list_may_keep_drop_or_add() {
        for (list, name, left) in [
            ("a,b*", "bc", true),
            ("a,b*", "c", false),
            ("-a,b*", "bc", false),
            ("-a", "c", true),
            ("+a", "c", true),
            ("^a", "c", true),
        ] {
            assert_eq!(leaves(list, name), left, "{list} {name}");
        }
    }
}
