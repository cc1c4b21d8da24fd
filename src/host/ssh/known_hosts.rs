//! What the `known_hosts` files say of one host, in the format of sshd(8),
//! "`SSH_KNOWN_HOSTS` FILE FORMAT". Written here because russh's own reader knows neither
//! wildcards nor markers nor tabs, and takes a file that it cannot read for an empty one.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use wildmatch::WildMatch;

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
}

/// As it stands in a `known_hosts` line.
impl fmt::Display for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, STANDARD.encode(&self.blob))
    }
}

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
}

/// A line that concerns the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) key: HostKey,
    /// `file:line`.
    pub(super) place: String,
    /// `@revoked`: the key that must not be taken.
    pub(super) revoked: bool,
    /// It names the host without its port.
    pub(super) portless: bool,
}

/// All lines that concern one host.
#[derive(Debug, Default)]
pub(super) struct KnownHosts {
    pub(super) keys: Vec<Known>,
    /// `file:line` of lines that name the host and whose key cannot be read.
    pub(super) garbled: Vec<String>,
}

/// Reads the files, in order. A file that is not there is empty.
///
/// # Errors
/// A file that is there and cannot be read: what it says of the host is not known then, which
/// is not the same as nothing.
pub(super) fn read(files: &[PathBuf], names: &Names) -> Result<KnownHosts, String> {
    let mut found = KnownHosts::default();
    for file in files {
        read_one(file, names, &mut found)
            .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    }
    Ok(found)
}

fn read_one(path: &Path, names: &Names, found: &mut KnownHosts) -> std::io::Result<()> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    // A comment may be in any encoding.
    for (index, line) in BufReader::new(file).split(b'\n').enumerate() {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        let place = || format!("{}:{}", path.display(), index + 1);
        match read_line(&line, names) {
            Read::Nothing => {}
            Read::Garbled => found.garbled.push(place()),
            Read::Key {
                key,
                revoked,
                portless,
            } => found.keys.push(Known {
                key,
                place: place(),
                revoked,
                portless,
            }),
        }
    }
    Ok(())
}

enum Read {
    /// Empty, a comment, or about something else.
    Nothing,
    /// It names the host, but holds no key.
    Garbled,
    Key {
        key: HostKey,
        revoked: bool,
        portless: bool,
    },
}

fn read_line(line: &str, names: &Names) -> Read {
    let mut words = line.split_ascii_whitespace().peekable();
    let revoked = match words.peek().copied() {
        Some(word) if word.starts_with('#') => return Read::Nothing,
        Some("@revoked") => words.next().is_some(),
        // An authority signs certificates, which are not asked for; an unknown marker is none
        // of ours.
        Some(word) if word.starts_with('@') => return Read::Nothing,
        _ => false,
    };
    let Some(hosts) = words.next() else {
        return Read::Nothing;
    };
    let portless = if matches(hosts, &names.exact) {
        false
    } else if names
        .portless
        .as_ref()
        .is_some_and(|name| matches(hosts, name))
    {
        true
    } else {
        return Read::Nothing;
    };
    let (Some(kind), Some(text)) = (words.next(), words.next()) else {
        return Read::Garbled;
    };
    STANDARD
        .decode(text)
        .ok()
        .and_then(HostKey::from_blob)
        .filter(|key| key.kind() == kind)
        .map_or(Read::Garbled, |key| Read::Key {
            key,
            revoked,
            portless,
        })
}

/// Whether a line's first column names the host.
fn matches(hosts: &str, name: &str) -> bool {
    if let Some(hashed) = hosts.strip_prefix("|1|") {
        return hashed
            .split_once('|')
            .is_some_and(|(salt, hash)| matches_hash(salt, hash, name).unwrap_or(false));
    }
    let mut named = false;
    for pattern in hosts.split(',') {
        let (negated, pattern) = match pattern.strip_prefix('!') {
            Some(pattern) => (true, pattern),
            None => (false, pattern),
        };
        if WildMatch::new_case_insensitive(pattern).matches(name) {
            if negated {
                return false;
            }
            named = true;
        }
    }
    named
}

/// `HashKnownHosts`: the HMAC-SHA1 of the name, keyed with the salt.
fn matches_hash(salt: &str, hash: &str, name: &str) -> Option<bool> {
    let salt = STANDARD.decode(salt).ok()?;
    let hash = STANDARD.decode(hash).ok()?;
    let mac = Hmac::<Sha1>::new_from_slice(&salt).ok()?;
    Some(mac.chain_update(name).verify_slice(&hash).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use tempfile::NamedTempFile;

    pub(super) const ED25519: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHNjCz1VSqyCzvS2Ec/fhV5BN324j4mm76Wf2nxhnFDz";
    const ECDSA: &str = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBIgPZ2k9mRfg/YZ758kEWoBtECSao2f4mHnWnuniXOBH/AXdbY+T9gizOIalGGyedlziqZLTk0dNuoB18Iqr18I=";

    fn found(text: &str, host: &str, port: u16) -> KnownHosts {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        read(&[file.path().to_owned()], &Names::new(host, port, None)).unwrap()
    }

    fn lines(text: &str, host: &str, port: u16) -> Vec<String> {
        found(text, host, port)
            .keys
            .iter()
            .map(|known| known.place.rsplit(':').next().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn plain_names_ports_and_patterns() {
        let text = format!(
            "# nas {ED25519}\n\nnas,10.0.0.7 {ED25519}\n[nas]:2222 {ECDSA}\n\
             *.lab,!old.lab {ED25519}\nPVE? {ED25519}\n[*.lab]:2200 {ED25519}\n"
        );
        assert_eq!(lines(&text, "nas", 22), ["3"]);
        assert_eq!(lines(&text, "NAS", 22), ["3"]);
        assert_eq!(lines(&text, "10.0.0.7", 22), ["3"]);
        assert_eq!(lines(&text, "nas", 2222), ["3", "4"]);
        assert_eq!(lines(&text, "new.lab", 22), ["5"]);
        assert!(lines(&text, "old.lab", 22).is_empty());
        assert_eq!(lines(&text, "pve3", 22), ["6"]);
        assert!(lines(&text, "pve33", 22).is_empty());
        assert_eq!(lines(&text, "x.lab", 2200), ["5", "7"]);
        assert!(lines(&text, "other", 22).is_empty());
    }

    #[test]
    fn a_line_without_the_port_is_marked() {
        let text = format!("nas {ED25519}\n[nas]:2222 {ECDSA}\n");
        let found = found(&text, "nas", 2222);
        let portless: Vec<bool> = found.keys.iter().map(|known| known.portless).collect();
        assert_eq!(portless, [true, false]);
    }

    /// Made by `ssh-keygen -H` from `nas.example` and `[pve9.example]:2222`.
    #[test]
    fn hashed_names() {
        let text = format!(
            "|1|qYC8LP1ffGeWACJ8LECZLnXNfrs=|vOFz5U14WLKqK3oJV8o8a3Kaepg= {ED25519}\n\
             |1|Ei+oRqwVZtpc4i97ALbnSEOCg98=|JEbJVnu2n/oeriH7jr6a3GiYOHA= {ECDSA}\n\
             |1|not base64|x {ED25519}\n|1| {ED25519}\n"
        );
        assert_eq!(lines(&text, "nas.example", 22), ["1"]);
        assert_eq!(lines(&text, "pve9.example", 2222), ["2"]);
        assert!(lines(&text, "pve9.example", 22).is_empty());
    }

    #[test]
    fn tabs_carriage_returns_comments_and_foreign_bytes() {
        let text = format!("nas\t{}\tann@nas\r\n", ED25519.replace(' ', "\t"));
        assert_eq!(lines(&text, "nas", 22), ["1"]);
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(format!("nas {ED25519} caf").as_bytes())
            .unwrap();
        file.write_all(b"\xe9\n").unwrap();
        let names = Names::new("nas", 22, None);
        assert_eq!(
            read(&[file.path().to_owned()], &names).unwrap().keys.len(),
            1
        );
    }

    #[test]
    fn markers() {
        let text = format!(
            "@revoked nas {ED25519}\n@cert-authority nas {ECDSA}\n@new nas {ECDSA}\n\
             @revoked * {ECDSA}\n"
        );
        let found = found(&text, "nas", 22);
        assert_eq!(found.keys.len(), 2);
        assert!(found.keys.iter().all(|known| known.revoked));
    }

    #[test]
    fn a_line_without_a_key_is_told_apart_from_no_line() {
        let other = ED25519.replace("ssh-ed25519", "ssh-rsa");
        let text = format!("nas\nnas ssh-ed25519\nnas ssh-ed25519 AAAA\nnas {other}\nelse x y\n");
        let found = found(&text, "nas", 22);
        assert!(found.keys.is_empty());
        assert_eq!(found.garbled.len(), 4);
    }

    #[test]
    fn an_alias_stands_for_host_and_port() {
        let names = Names::new("10.0.0.7", 2222, Some("Nas"));
        assert_eq!(names.exact, "nas");
        assert_eq!(names.portless, None);
    }

    #[test]
    fn a_missing_file_is_empty_but_one_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let names = Names::new("nas", 22, None);
        let missing = folder.path().join("none");
        assert!(read(&[missing], &names).unwrap().keys.is_empty());
        let error = read(&[folder.path().to_owned()], &names).unwrap_err();
        assert!(error.contains(&*folder.path().to_string_lossy()), "{error}");
    }

    /// The figure of `ssh-keygen -lf`.
    #[test]
    fn fingerprints_are_those_of_ssh_keygen() {
        let blob = STANDARD.decode(ED25519.split_once(' ').unwrap().1).unwrap();
        let key = HostKey::from_blob(blob).unwrap();
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
