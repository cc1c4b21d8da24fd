//! A public host key and what names it: its type and fingerprint.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use russh::keys::PublicKey;
use russh::keys::ssh_key::public::KeyData;
use sha2::{Digest, Sha256};

/// A public host key as it goes over the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostKey {
    kind: String,
    blob: Vec<u8>,
}

impl HostKey {
    /// The blob's first field is its type (RFC 4253, section 6.6).
    pub(super) fn from_blob(blob: Vec<u8>) -> Option<Self> {
        let (length, rest) = blob.split_first_chunk::<4>()?;
        let kind = rest.get(..u32::from_be_bytes(*length) as usize)?;
        let kind = std::str::from_utf8(kind).ok()?;
        if kind.is_empty() || !kind.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let kind = kind.to_owned();
        Some(Self { kind, blob })
    }

    /// From the two columns of a file, its type and the rest in Base64.
    pub(super) fn from_text(kind: &str, text: &str) -> Option<Self> {
        STANDARD
            .decode(text)
            .ok()
            .and_then(Self::from_blob)
            .filter(|key| key.kind == kind)
    }

    pub(super) fn from_data(data: &KeyData) -> Option<Self> {
        let blob = PublicKey::new(data.clone(), "").to_bytes().ok()?;
        Self::from_blob(blob)
    }

    /// For example `ssh-ed25519`.
    pub(super) fn kind(&self) -> &str {
        &self.kind
    }

    /// As `ssh-keygen -l` prints it.
    pub(super) fn fingerprint(&self) -> String {
        format!(
            "SHA256:{}",
            STANDARD_NO_PAD.encode(Sha256::digest(&self.blob))
        )
    }

    /// Type and fingerprint.
    pub(super) fn shown(&self) -> String {
        format!("{} {}", self.kind, self.fingerprint())
    }

    /// The file with this key on a usual host.
    pub(super) fn usual_file(&self) -> String {
        let name = match self.kind.as_str() {
            "ssh-ed25519" => "ed25519",
            "ssh-rsa" => "rsa",
            "ssh-dss" => "dsa",
            _ => "ecdsa",
        };
        format!("/etc/ssh/ssh_host_{name}_key.pub")
    }
}

/// As it stands in a `known_hosts` line.
impl fmt::Display for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, STANDARD.encode(&self.blob))
    }
}

/// Keys of tests.
#[cfg(test)]
pub(super) mod samples {
    use super::HostKey;

    pub(in crate::host::ssh) const ED25519: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHNjCz1VSqyCzvS2Ec/fhV5BN324j4mm76Wf2nxhnFDz";
    pub(in crate::host::ssh) const OTHER: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEQkRBOwuv5mK4YkjkmTW+cZLMNuGtxDv1se7SmmNMY9";
    pub(in crate::host::ssh) const ECDSA: &str = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBIgPZ2k9mRfg/YZ758kEWoBtECSao2f4mHnWnuniXOBH/AXdbY+T9gizOIalGGyedlziqZLTk0dNuoB18Iqr18I=";

    pub(in crate::host::ssh) fn key(line: &str) -> HostKey {
        let (kind, text) = line.split_once(' ').unwrap();
        HostKey::from_text(kind, text).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::samples::{ED25519, key};
    use super::*;

    /// The figure of `ssh-keygen -lf`.
    #[test]
    fn fingerprints_are_those_of_ssh_keygen() {
        let key = key(ED25519);
        assert_eq!(
            key.fingerprint(),
            "SHA256:fjOCGDSNjaoigXqYpkxq7J50VwTY+p4qU2uN+uMXnP4"
        );
        assert_eq!(key.to_string(), ED25519);
    }

    #[test]
    fn a_blob_without_a_type_is_no_key() {
        for blob in [
            &b""[..],
            b"\0\0\0",
            b"\0\0\0\x09ssh",
            b"\0\0\0\0",
            b"\xff\xff\xff\xffx",
        ] {
            assert_eq!(HostKey::from_blob(blob.to_vec()), None);
        }
    }
}
