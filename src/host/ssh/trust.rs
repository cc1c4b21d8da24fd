//! Whether a host's key is one that is known, or that a known authority vouches for.

use std::path::PathBuf;
use std::time::SystemTime;

use russh::keys::Certificate;

use super::certificate;
use super::host_key::HostKey;
use super::host_names::Names;
use super::known_hosts::{self, Known, KnownHosts, Mark};
use super::policy::{Policy, Strict};
use super::route::Route;

/// What is needed to judge the key that a host offers.
#[derive(Debug)]
pub(super) struct Trust {
    names: Names,
    known: KnownHosts,
    /// Keys that the operator has taken for this run of the program alone.
    taken: Vec<HostKey>,
    policy: Policy,
    /// The file that a new line would go into.
    file: Option<PathBuf>,
    /// The command that asks about an unknown key and writes the line.
    ssh: String,
}

/// Why a key is not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Nothing speaks against it: the operator can tell.
    Unknown(Stranger),
    /// It is the wrong one. The sentence says why.
    Refused(String),
}

/// A host key that is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stranger {
    pub(super) key: HostKey,
    /// What is known of the host, in whole sentences.
    pub(super) known: Vec<String>,
    /// Lines that may be about the host and cannot be understood.
    pub(super) garbled: bool,
    /// The sentence that refuses it where nobody is asked.
    pub(super) refusal: String,
}

impl Trust {
    /// Reads what is known of a host. `taken` are keys that are trusted besides.
    ///
    /// # Errors
    /// A file that is there and cannot be read.
    pub(super) fn read(route: &Route, taken: Vec<HostKey>) -> Result<Self, String> {
        let files = [
            route.known_hosts.as_slice(),
            route.global_known_hosts.as_slice(),
        ]
        .concat();
        let mut known = known_hosts::read(&files, &route.names)?;
        if let Some(file) = &route.policy.revoked {
            known.keys.extend(known_hosts::read_revoked(file)?);
        }
        Ok(Self {
            names: route.names.clone(),
            known,
            taken,
            policy: route.policy.clone(),
            file: route.known_hosts.first().cloned(),
            ssh: route.ssh(),
        })
    }

    /// Nothing, if the key, or the authority that signed its certificate, is known.
    ///
    /// # Errors
    /// The key is revoked, has changed, or is not known.
    pub(super) fn judge(
        &self,
        offered: &HostKey,
        certificate: Option<&Certificate>,
    ) -> Result<(), Doubt> {
        self.check_revoked(offered, "host key")?;
        let mut remark = None;
        if let Some(certificate) = certificate {
            match self.vouched(certificate)? {
                Ok(()) => return Ok(()),
                // As for ssh, the key itself may be known nevertheless.
                Err(why) => remark = Some(why),
            }
        }
        let with = |portless| {
            let keys = self.known.marked(Mark::Host);
            keys.filter(move |known| known.portless == portless)
        };
        if self.taken.contains(offered) || with(false).any(|known| known.key == *offered) {
            return Ok(());
        }
        if let Some(known) = with(false).find(|known| known.key.kind() == offered.kind()) {
            return Err(Doubt::Refused(self.changed(offered, known)));
        }
        if with(true).any(|known| known.key == *offered) {
            return Ok(());
        }
        Err(Doubt::Unknown(self.unknown(offered, remark.as_deref())))
    }

    fn check_revoked(&self, key: &HostKey, what: &str) -> Result<(), Doubt> {
        let mut revoked = self.known.marked(Mark::Revoked);
        match revoked.find(|known| known.key == *key) {
            None => Ok(()),
            Some(known) => Err(Doubt::Refused(format!(
                "the {what} {} of `{}` is revoked ({}); the connection is refused",
                key.shown(),
                self.names.exact,
                known.place
            ))),
        }
    }

    /// Whether a known authority vouches for the host; if not, why, as a sentence.
    fn vouched(&self, certificate: &Certificate) -> Result<Result<(), String>, Doubt> {
        let Some(signer) = HostKey::from_data(certificate.signature_key()) else {
            return Ok(Err(
                "Its certificate is signed by a key that cannot be read.".to_owned(),
            ));
        };
        self.check_revoked(&signer, "authority")?;
        let mut authorities = self.known.marked(Mark::Authority);
        let Some(authority) = authorities.find(|known| known.key == signer) else {
            return Ok(Err(format!(
                "Its certificate is signed by {}, which is not known as an authority for it.",
                signer.shown()
            )));
        };
        let name = self.names.principal();
        let checked = certificate::check(
            certificate,
            &authority.key,
            name,
            self.policy.signatures.as_deref(),
            SystemTime::now(),
        );
        Ok(checked.map_err(|why| {
            format!(
                "Its certificate by the authority in {} {why}.",
                authority.place
            )
        }))
    }

    fn changed(&self, offered: &HostKey, known: &Known) -> String {
        let name = &self.names.exact;
        let off = match self.policy.strict {
            Strict::Off => " (StrictHostKeyChecking no does not change that here)",
            _ => "",
        };
        format!(
            "the host key of `{name}` has changed: it offers {}, but {} is known ({}). Somebody \
             may be in between, or the host was installed anew; the connection is refused{off}. \
             Only if you know why it changed: ssh-keygen -R '{name}' -f '{}'",
            offered.shown(),
            known.key.fingerprint(),
            known.place,
            known.place.rsplit_once(':').map_or("", |(file, _)| file),
        )
    }

    fn unknown(&self, offered: &HostKey, certificate: Option<&str>) -> Stranger {
        let name = &self.names.exact;
        let known = self.around(certificate);
        let ask = format!("run once: {}", self.ssh);
        let add = self
            .file
            .as_ref()
            .map(|file| format!("add to {}: {name} {offered}", file.display()));
        let remedy = match (self.policy.strict, add) {
            (Strict::Yes, None) => "name a UserKnownHostsFile that has it".to_owned(),
            (Strict::Yes, Some(add)) => format!("{add} (StrictHostKeyChecking is yes)"),
            (_, None) => ask,
            (_, Some(add)) => format!("{ask}, or {add}"),
        };
        let sentences: String = known.iter().flat_map(|one| [one, " "]).collect();
        let refusal = format!(
            "the host key {} of `{name}` is not known. {sentences}Compare the fingerprint on the \
             host (ssh-keygen -lf {}); if it is the same, {remedy}",
            offered.shown(),
            offered.usual_file(),
        );
        Stranger {
            key: offered.clone(),
            known,
            garbled: !self.known.garbled.is_empty(),
            refusal,
        }
    }

    /// What is known of a host whose key is not, in whole sentences; `certificate` is what is
    /// wrong with the one that it shows.
    fn around(&self, certificate: Option<&str>) -> Vec<String> {
        let mut sentences = Vec::new();
        let keys = self
            .known
            .marked(Mark::Host)
            .filter(|known| !known.portless);
        let mut kinds: Vec<&str> = keys.map(|known| known.key.kind()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        if !kinds.is_empty() {
            let kinds = kinds.join(", ");
            sentences.push(format!("Other keys of this host are known: {kinds}."));
        }
        if let Some(authority) = self.known.marked(Mark::Authority).next() {
            let place = &authority.place;
            let none =
                || format!("An authority is known for it ({place}), but it shows no certificate.");
            sentences.push(certificate.map_or_else(none, str::to_owned));
        }
        if !self.known.garbled.is_empty() {
            let places = self.known.garbled.join(", ");
            sentences.push(format!(
                "A line that names it, or may, cannot be understood: {places}."
            ));
        }
        sentences
    }

    /// Whether a key of this type is known of the host: such are asked for first, else a host
    /// that is known by one type would look new because it has a key of a type that is liked
    /// better.
    pub(super) fn knows_type(&self, kind: &str) -> bool {
        let mut keys = self.known.marked(Mark::Host).map(|known| &known.key);
        keys.any(|key| key.kind() == kind) || self.taken.iter().any(|key| key.kind() == kind)
    }

    /// Whether a certificate could make the host known.
    pub(super) fn knows_authority(&self) -> bool {
        self.known.marked(Mark::Authority).next().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::host_key::samples::{ECDSA, ED25519, OTHER, key};
    use super::*;

    fn trust_as(strict: Strict, text: &str, port: u16) -> (Trust, String) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("known");
        std::fs::write(&file, text).unwrap();
        let config = super::super::Config {
            known_hosts: vec![file.clone()],
            user: Some("root".to_owned()),
            ..super::super::Config::default()
        };
        let target = format!("nas:{port}").parse().unwrap();
        let route = Route {
            policy: Policy {
                strict,
                ..Policy::default()
            },
            ..Route::resolve(&target, &config).unwrap()
        };
        let trust = Trust::read(&route, Vec::new()).unwrap();
        (trust, file.display().to_string())
    }

    fn trust(text: &str, port: u16) -> (Trust, String) {
        trust_as(Strict::Ask, text, port)
    }

    fn stranger(trust: &Trust, line: &str) -> Stranger {
        match trust.judge(&key(line), None) {
            Err(Doubt::Unknown(stranger)) => stranger,
            other => panic!("{other:?}"),
        }
    }

    fn refused(trust: &Trust, line: &str) -> String {
        match trust.judge(&key(line), None) {
            Err(Doubt::Refused(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_known_key_is_taken() {
        let (trust, _) = trust(&format!("nas {OTHER}\nnas {ED25519}\n"), 22);
        assert_eq!(trust.judge(&key(ED25519), None), Ok(()));
    }

    #[test]
    fn an_unknown_key_is_told_with_the_line_that_would_take_it() {
        let (trust, file) = trust("", 2222);
        let says = stranger(&trust, ED25519).refusal;
        for part in [
            "SHA256:fjOCGDSNjaoigXqYpkxq7J50VwTY+p4qU2uN+uMXnP4",
            "run once: ssh -p 2222 root@nas",
            &format!("add to {file}: [nas]:2222 {ED25519}"),
        ] {
            assert!(says.contains(part), "{part} in: {says}");
        }
    }

    #[test]
    fn where_checking_is_strict_no_command_that_would_ask_is_told() {
        let (trust, file) = trust_as(Strict::Yes, "", 22);
        let says = stranger(&trust, ED25519).refusal;
        assert!(says.contains(&format!("add to {file}: nas ")), "{says}");
        assert!(!says.contains("run once"), "{says}");
    }

    #[test]
    fn a_changed_key_is_told_with_both_fingerprints_and_the_line() {
        let text = format!("# mine\nnas {OTHER}\n");
        let (plain, file) = trust(&text, 22);
        let says = refused(&plain, ED25519);
        for part in [
            "has changed",
            "SHA256:fjOCGDSNjaoigXqYpkxq7J50VwTY+p4qU2uN+uMXnP4",
            "SHA256:pD/4heqxZp8+mxq31nXRdegV8y7LKqBQj/A1p1thQvU",
            &format!("{file}:2)"),
        ] {
            assert!(says.contains(part), "{part} in: {says}");
        }
        let (off, _) = trust_as(Strict::Off, &text, 22);
        let says = refused(&off, ED25519);
        assert!(says.contains("StrictHostKeyChecking no"), "{says}");
    }

    #[test]
    fn a_key_of_another_type_is_unknown_and_the_known_types_are_told() {
        let (trust, _) = trust(&format!("nas {ECDSA}\n"), 22);
        let stranger = stranger(&trust, ED25519);
        assert!(
            stranger
                .refusal
                .contains("is not known. Other keys of this host are known: ecdsa-sha2-nistp256."),
            "{}",
            stranger.refusal
        );
        assert_eq!(
            stranger.known,
            ["Other keys of this host are known: ecdsa-sha2-nistp256."]
        );
        assert!(trust.knows_type("ecdsa-sha2-nistp256") && !trust.knows_type("ssh-ed25519"));
    }

    #[test]
    fn a_revoked_key_is_refused_even_where_it_is_known_too() {
        for revoked in ["*", "elsewhere"] {
            let text = format!("nas {ED25519}\n@revoked {revoked} {ED25519}\n");
            let (trust, file) = trust(&text, 22);
            let says = refused(&trust, ED25519);
            assert!(says.contains("revoked"), "{says}");
            assert!(says.contains(&format!("{file}:2")), "{says}");
        }
    }

    #[test]
    fn a_key_known_without_a_port_is_good_for_another_port_unless_that_has_its_own() {
        let (plain, _) = trust(&format!("nas {ED25519}\n"), 2222);
        assert_eq!(plain.judge(&key(ED25519), None), Ok(()));
        // Another service on another port is not a changed key.
        stranger(&plain, OTHER);
        let (own, _) = trust(&format!("nas {ED25519}\n[nas]:2222 {OTHER}\n"), 2222);
        assert!(refused(&own, ED25519).contains("has changed"));
    }

    #[test]
    fn a_garbled_line_is_named() {
        let (trust, file) = trust("nas ssh-ed25519 AAAA\n", 22);
        let stranger = stranger(&trust, ED25519);
        let says = &stranger.refusal;
        assert!(
            says.contains(&format!("be understood: {file}:1.")),
            "{says}"
        );
        assert!(stranger.garbled);
        assert!(stranger.known[0].contains(&format!("{file}:1")));
    }

    #[test]
    fn an_authority_that_the_host_makes_no_use_of_is_told() {
        let (trust, file) = trust(&format!("@cert-authority * {OTHER}\n"), 22);
        assert!(trust.knows_authority());
        let stranger = stranger(&trust, ED25519);
        assert!(stranger.known[0].contains(&format!("({file}:1)")));
        // An authority's key is no host's key.
        self::stranger(&trust, OTHER);
    }
}
