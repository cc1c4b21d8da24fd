//! Host certificates: whether one that a known authority signed is good for this host, as
//! OpenSSH sees it (PROTOCOL.certkeys; `sshkey_cert_check_host`).

use std::time::{SystemTime, UNIX_EPOCH};

use russh::keys::ssh_key::certificate::CertType;
use russh::keys::{Algorithm, Certificate, HashAlg};
use wildmatch::WildMatch;

use super::algorithms::leaves;
use super::host_key::HostKey;
use super::text::plain;

/// Nothing, if the certificate vouches for the name; else what is wrong with it. Its authority
/// is trusted for the host already: that is the caller's to know. `signatures` is the list of
/// `CASignatureAlgorithms`.
///
/// # Errors
/// What is wrong, as the rest of a sentence about the certificate.
pub(super) fn check(
    certificate: &Certificate,
    authority: &HostKey,
    name: &str,
    signatures: Option<&str>,
    now: SystemTime,
) -> Result<(), String> {
    if certificate.cert_type() != CertType::Host {
        return Err("is not for a host".to_owned());
    }
    let now = now
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    if now < certificate.valid_after() {
        return Err("is not valid yet by the clock of this machine".to_owned());
    }
    if now >= certificate.valid_before() {
        return Err("has expired by the clock of this machine".to_owned());
    }
    let principals = certificate.valid_principals();
    if !principals
        .iter()
        .any(|pattern| WildMatch::new_case_insensitive(pattern).matches(name))
    {
        let names = match principals {
            [] => "no host".to_owned(),
            names => plain(&names.join(", ")),
        };
        return Err(format!("names {names}, not `{}`", plain(name)));
    }
    if let Some((option, _)) = certificate.critical_options().iter().next() {
        return Err(format!(
            "has the critical option `{}`, which is not known",
            plain(option)
        ));
    }
    // A collision of SHA-1 would make another certificate of one that was signed.
    let algorithm = certificate.signature().algorithm();
    if algorithm == (Algorithm::Rsa { hash: None }) {
        return Err("is signed with SHA-1, which is not taken".to_owned());
    }
    if let Some(list) = signatures.filter(|list| !leaves(list, algorithm.as_str())) {
        return Err(format!(
            "is signed with {algorithm}, which `CASignatureAlgorithms {}` does not leave",
            plain(list)
        ));
    }
    // Checks the signature, and that it is this authority's.
    let authority = russh::keys::PublicKey::from_openssh(&authority.to_string())
        .map_err(|_unknown| "is signed by a key of a type that is not known".to_owned())?;
    certificate
        .validate_at(now, [&authority.fingerprint(HashAlg::Sha256)])
        .map_err(|_wrong| "is not signed by its authority".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use russh::keys::PrivateKey;
    use russh::keys::ssh_key::certificate::Builder;
    use std::time::Duration;

    const NOW: u64 = 1_800_000_000;

    fn private() -> PrivateKey {
        PrivateKey::random(&mut rand::rng(), Algorithm::Ed25519).unwrap()
    }

    /// A certificate for `nas` and `*.lab`, changed by `with`.
    fn certificate(
        authority: &PrivateKey,
        kind: CertType,
        with: impl Fn(&mut Builder),
    ) -> Certificate {
        let key = private();
        let mut builder =
            Builder::new_with_random_nonce(&mut rand::rng(), key.public_key(), NOW - 60, NOW + 60)
                .unwrap();
        builder.cert_type(kind).unwrap();
        builder.key_id("nas").unwrap();
        builder.valid_principal("nas").unwrap();
        builder.valid_principal("*.lab").unwrap();
        with(&mut builder);
        builder.sign(authority).unwrap()
    }

    fn at(
        certificate: &Certificate,
        authority: &PrivateKey,
        name: &str,
        now: u64,
    ) -> Result<(), String> {
        let authority = HostKey::from_data(authority.public_key().key_data()).unwrap();
        check(
            certificate,
            &authority,
            name,
            None,
            UNIX_EPOCH + Duration::from_secs(now),
        )
    }

    #[test]
    fn a_good_certificate_is_good_for_the_names_that_it_has() {
        let authority = private();
        let good = certificate(&authority, CertType::Host, |_| {});
        for name in ["nas", "NAS", "x.lab"] {
            assert_eq!(at(&good, &authority, name, NOW), Ok(()), "{name}");
        }
        let error = at(&good, &authority, "other", NOW).unwrap_err();
        assert_eq!(error, "names nas, *.lab, not `other`");
    }

    #[test]
    fn its_time_is_its_own() {
        let authority = private();
        let good = certificate(&authority, CertType::Host, |_| {});
        for (now, says) in [(NOW - 61, "not valid yet"), (NOW + 60, "expired")] {
            let error = at(&good, &authority, "nas", now).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn another_type_an_unknown_option_and_another_authority_are_refused() {
        let authority = private();
        let user = certificate(&authority, CertType::User, |_| {});
        let option = certificate(&authority, CertType::Host, |builder| {
            builder.critical_option("force-command", "true").unwrap();
        });
        let foreign = certificate(&private(), CertType::Host, |_| {});
        for (bad, says) in [
            (user, "not for a host"),
            (option, "force-command"),
            (foreign, "not signed by"),
        ] {
            let error = at(&bad, &authority, "nas", NOW).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn the_configuration_may_leave_out_its_signature() {
        let authority = private();
        let good = certificate(&authority, CertType::Host, |_| {});
        let authority = HostKey::from_data(authority.public_key().key_data()).unwrap();
        let at = |list| {
            let now = UNIX_EPOCH + Duration::from_secs(NOW);
            check(&good, &authority, "nas", Some(list), now)
        };
        assert_eq!(at("ssh-ed25519,rsa-sha2-512"), Ok(()));
        assert!(
            at("rsa-sha2-512")
                .unwrap_err()
                .contains("CASignatureAlgorithms")
        );
    }

    #[test]
    fn one_that_names_no_host_is_good_for_none() {
        let authority = private();
        let key = private();
        let mut builder =
            Builder::new_with_random_nonce(&mut rand::rng(), key.public_key(), NOW - 60, NOW + 60)
                .unwrap();
        builder.cert_type(CertType::Host).unwrap();
        builder.all_principals_valid().unwrap();
        let any = builder.sign(&authority).unwrap();
        let error = at(&any, &authority, "nas", NOW).unwrap_err();
        assert!(error.contains("names no host"), "{error}");
    }
}
