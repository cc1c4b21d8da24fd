//! Whether a host's key is the one that is known: strictly, and without asking.

use std::borrow::Cow;
use std::path::PathBuf;

use russh::keys::{Algorithm, EcdsaCurve, HashAlg};

use super::known_hosts::{self, HostKey, Known, KnownHosts, Names};

/// What is needed to judge the key that a host offers.
#[derive(Debug)]
pub(super) struct Trust {
    names: Names,
    known: KnownHosts,
    /// The file that a new line would go into.
    file: Option<PathBuf>,
    /// The command that asks about an unknown key and writes the line.
    ssh: String,
}

impl Trust {
    /// Reads what is known of a host; `ssh` is the command line that reaches it.
    ///
    /// # Errors
    /// A file that is there and cannot be read.
    pub(super) fn read(
        user_files: &[PathBuf],
        global_files: &[PathBuf],
        names: Names,
        ssh: String,
    ) -> Result<Self, String> {
        let files: Vec<PathBuf> = user_files.iter().chain(global_files).cloned().collect();
        let known = known_hosts::read(&files, &names)?;
        let file = user_files.first().cloned();
        Ok(Self {
            names,
            known,
            file,
            ssh,
        })
    }

    /// Nothing, if the key is known; otherwise the sentence that refuses it.
    ///
    /// # Errors
    /// The key is revoked, has changed, or is not known.
    pub(super) fn judge(&self, offered: &HostKey) -> Result<(), String> {
        let name = &self.names.exact;
        let is = |known: &&Known| known.key == *offered;
        if let Some(known) = self.known.keys.iter().filter(|k| k.revoked).find(is) {
            return Err(format!(
                "the host key {} of `{name}` is revoked ({}); the connection is refused",
                shown(offered),
                known.place
            ));
        }
        let trusted = |portless| {
            let keys = self.known.keys.iter();
            keys.filter(move |known| !known.revoked && known.portless == portless)
        };
        if trusted(false).any(|known| is(&known)) {
            return Ok(());
        }
        if let Some(known) = trusted(false).find(|known| known.key.kind() == offered.kind()) {
            return Err(self.changed(offered, known));
        }
        if trusted(true).any(|known| is(&known)) {
            return Ok(());
        }
        Err(self.unknown(offered))
    }

    fn changed(&self, offered: &HostKey, known: &Known) -> String {
        let name = &self.names.exact;
        format!(
            "the host key of `{name}` has changed: it offers {}, but {} is known ({}). Somebody \
             may be in between, or the host was installed anew; the connection is refused. Only \
             if you know why it changed: ssh-keygen -R '{name}' -f '{}'",
            shown(offered),
            known.key.fingerprint(),
            known.place,
            known.place.rsplit_once(':').map_or("", |(file, _)| file),
        )
    }

    fn unknown(&self, offered: &HostKey) -> String {
        let name = &self.names.exact;
        let mut kinds: Vec<&str> = self
            .known
            .keys
            .iter()
            .filter(|known| !known.revoked && !known.portless)
            .map(|known| known.key.kind())
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        let kinds = match kinds.as_slice() {
            [] => String::new(),
            kinds => format!(" (known of it: {})", kinds.join(", ")),
        };
        let garbled = match self.known.garbled.as_slice() {
            [] => String::new(),
            places => format!("; a line that names it holds no key: {}", places.join(", ")),
        };
        let add = match &self.file {
            Some(file) => format!(", or add to {}: {name} {offered}", file.display()),
            None => String::new(),
        };
        let public = match offered.kind() {
            "ssh-ed25519" => "ed25519",
            "ssh-rsa" => "rsa",
            _ => "ecdsa",
        };
        format!(
            "the host key {} of `{name}` is not known{kinds}{garbled}. Compare the fingerprint on \
             the host (ssh-keygen -lf /etc/ssh/ssh_host_{public}_key.pub); if it is the same, run \
             once: {}{add}",
            shown(offered),
            self.ssh,
        )
    }

    /// Host-key algorithms to ask for, those of known keys first: else a host that is known by
    /// one type would look new because it has a key of a type that is liked better.
    pub(super) fn algorithms(&self) -> Cow<'static, [Algorithm]> {
        let known = |algorithm: &Algorithm| {
            let kind = match algorithm {
                Algorithm::Rsa { .. } => "ssh-rsa",
                other => other.as_str(),
            };
            let mut keys = self.known.keys.iter();
            keys.any(|known| !known.revoked && known.key.kind() == kind)
        };
        let mut all = ALGORITHMS.to_vec();
        all.sort_by_key(|algorithm| !known(algorithm));
        Cow::Owned(all)
    }
}

/// In OpenSSH's order. Signatures with SHA-1 (`ssh-rsa` as an algorithm) are not taken.
const ALGORITHMS: &[Algorithm] = &[
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

fn shown(key: &HostKey) -> String {
    format!("{} {}", key.kind(), key.fingerprint())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    const ED25519: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHNjCz1VSqyCzvS2Ec/fhV5BN324j4mm76Wf2nxhnFDz";
    const OTHER: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEQkRBOwuv5mK4YkjkmTW+cZLMNuGtxDv1se7SmmNMY9";
    const ECDSA: &str = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBIgPZ2k9mRfg/YZ758kEWoBtECSao2f4mHnWnuniXOBH/AXdbY+T9gizOIalGGyedlziqZLTk0dNuoB18Iqr18I=";

    fn key(line: &str) -> HostKey {
        let blob = STANDARD.decode(line.split_once(' ').unwrap().1).unwrap();
        HostKey::from_blob(blob).unwrap()
    }

    fn trust(text: &str, port: u16) -> (Trust, String) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("known");
        std::fs::write(&file, text).unwrap();
        let trust = Trust::read(
            std::slice::from_ref(&file),
            &[],
            Names::new("nas", port, None),
            format!("ssh -p {port} nas"),
        )
        .unwrap();
        (trust, file.display().to_string())
    }

    #[test]
    fn the_known_key_is_taken() {
        let (trust, _) = trust(&format!("nas {OTHER}\nnas {ED25519}\n"), 22);
        assert_eq!(trust.judge(&key(ED25519)), Ok(()));
    }

    #[test]
    fn an_unknown_key_is_told_with_the_line_that_would_take_it() {
        let (trust, file) = trust("", 2222);
        let says = trust.judge(&key(ED25519)).unwrap_err();
        for part in [
            "SHA256:fjOCGDSNjaoigXqYpkxq7J50VwTY+p4qU2uN+uMXnP4",
            "ssh -p 2222 nas",
            &format!("add to {file}: [nas]:2222 {ED25519}"),
        ] {
            assert!(says.contains(part), "{part} in: {says}");
        }
    }

    #[test]
    fn a_changed_key_is_told_with_both_fingerprints_and_the_line() {
        let (trust, file) = trust(&format!("# mine\nnas {OTHER}\n"), 22);
        let says = trust.judge(&key(ED25519)).unwrap_err();
        for part in [
            "has changed",
            "SHA256:fjOCGDSNjaoigXqYpkxq7J50VwTY+p4qU2uN+uMXnP4",
            "SHA256:pD/4heqxZp8+mxq31nXRdegV8y7LKqBQj/A1p1thQvU",
            &format!("{file}:2)"),
        ] {
            assert!(says.contains(part), "{part} in: {says}");
        }
    }

    #[test]
    fn a_key_of_another_type_is_unknown_and_the_known_types_are_told() {
        let (trust, _) = trust(&format!("nas {ECDSA}\n"), 22);
        let says = trust.judge(&key(ED25519)).unwrap_err();
        assert!(
            says.contains("not known (known of it: ecdsa-sha2-nistp256)"),
            "{says}"
        );
    }

    #[test]
    fn a_revoked_key_is_refused_even_where_it_is_known_too() {
        let (trust, file) = trust(&format!("nas {ED25519}\n@revoked * {ED25519}\n"), 22);
        let says = trust.judge(&key(ED25519)).unwrap_err();
        assert!(says.contains("revoked"), "{says}");
        assert!(says.contains(&format!("{file}:2")), "{says}");
    }

    #[test]
    fn a_key_known_without_a_port_is_good_for_another_port_unless_that_has_its_own() {
        let (plain, _) = trust(&format!("nas {ED25519}\n"), 2222);
        assert_eq!(plain.judge(&key(ED25519)), Ok(()));
        // Another service on another port is not a changed key.
        assert!(plain.judge(&key(OTHER)).unwrap_err().contains("not known"));
        let (own, _) = trust(&format!("nas {ED25519}\n[nas]:2222 {OTHER}\n"), 2222);
        assert!(
            own.judge(&key(ED25519))
                .unwrap_err()
                .contains("has changed")
        );
    }

    #[test]
    fn a_garbled_line_is_named() {
        let (trust, file) = trust("nas ssh-ed25519 AAAA\n", 22);
        let says = trust.judge(&key(ED25519)).unwrap_err();
        assert!(says.contains(&format!("holds no key: {file}:1")), "{says}");
    }

    #[test]
    fn what_is_known_is_asked_for_first() {
        let (trust, _) = trust(&format!("nas {ECDSA}\n"), 22);
        let algorithms = trust.algorithms();
        assert_eq!(algorithms[0].as_str(), "ecdsa-sha2-nistp256");
        assert_eq!(algorithms[1], Algorithm::Ed25519);
        assert_eq!(algorithms.len(), ALGORITHMS.len());
    }
}
