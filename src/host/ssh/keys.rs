//! Key files: what can be told of one, and how one with a passphrase is opened.

use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use russh::keys::ssh_key::{Cipher, Kdf};
use russh::keys::{Algorithm, Certificate, HashAlg, PrivateKey, PublicKey, decode_secret_key};

use rustix::fs::{Mode, OFlags};

use super::text::plain;
use crate::event::Secret;

/// A key file is not larger than this, in bytes.
const KEY_FILE: u64 = 64 << 10;

/// A key file, as far as it can be read without a passphrase.
pub(super) struct KeyFile {
    pub(super) path: PathBuf,
    /// Its public key. Some old formats do not tell it.
    pub(super) public: Option<PublicKey>,
    pub(super) private: Private,
}

/// The private half.
pub(super) enum Private {
    /// Needs no passphrase.
    Open(Arc<PrivateKey>),
    /// The file's text, which needs one.
    Locked(Secret),
    /// It is of no use: why, and what to do.
    Unusable(String),
}

/// A key as it is told to the operator.
pub(super) fn named(key: &PublicKey) -> String {
    format!("{} {}", key.algorithm().as_str(), fingerprint(key))
}

pub(super) fn fingerprint(key: &PublicKey) -> String {
    key.fingerprint(HashAlg::Sha256).to_string()
}

/// Reads a key file; nothing for one that is not there and was not named.
///
/// # Errors
/// The file cannot be read, and there is no public key beside it that an agent may hold.
pub(super) fn read(path: &Path, explicit: bool) -> Result<Option<KeyFile>, String> {
    let shown = path.display();
    let file = |public: Option<PublicKey>, private| KeyFile {
        path: path.to_owned(),
        public,
        private,
    };
    let beside = public_beside(path);
    let (text, mode) = match read_text(path) {
        Ok(read) => read,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return match beside {
                Some(public) => {
                    let why = format!("key file {shown} is not there, nor in an ssh-agent");
                    Ok(Some(file(Some(public), Private::Unusable(why))))
                }
                None if explicit => Err(format!("key file {shown} is not there")),
                None => Ok(None),
            };
        }
        Err(error) => return Err(format!("key file {shown}: {error}")),
    };
    if let Ok(public) = PublicKey::from_openssh(text.expose().trim()) {
        let why = format!("key file {shown} is a public key, and no ssh-agent holds it");
        return Ok(Some(file(Some(public), Private::Unusable(why))));
    }
    let (public, private) = parse(&text, path);
    let public = public.or(beside);
    if let Some(mode) = mode {
        // As in ssh: a key that others can read is no secret.
        let why = format!(
            "key file {shown} is open to others (mode {mode:04o}) and was not used; run: chmod \
             600 {shown}"
        );
        return Ok(Some(file(public, Private::Unusable(why))));
    }
    Ok(Some(file(public, private)))
}

/// What a file's text says of its key.
fn parse(text: &Secret, path: &Path) -> (Option<PublicKey>, Private) {
    let shown = path.display();
    let unusable = |why: &str| Private::Unusable(format!("key file {shown} {why}"));
    let rewrite = |what: &str| {
        unusable(&format!(
            "is in a format that is not understood ({what}); rewrite it: ssh-keygen -p -f {shown}"
        ))
    };
    let content = text.expose();
    if content.contains("-----BEGIN OPENSSH PRIVATE KEY-----") {
        let key = match PrivateKey::from_openssh(content) {
            Ok(key) => key,
            Err(error) => return (None, rewrite(&plain(&error.to_string()))),
        };
        let private = match (key.algorithm(), key.cipher(), key.kdf()) {
            (Algorithm::SkEd25519 | Algorithm::SkEcdsaSha2NistP256, ..) => unusable(&format!(
                "needs its security key, which only an ssh-agent can ask; run: ssh-add {shown}"
            )),
            (Algorithm::Dsa, ..) => unusable("is a DSA key, which is too weak to be used"),
            (_, Cipher::None, _) => Private::Open(Arc::new(key.clone())),
            (_, Cipher::TdesCbc, _) => rewrite("encrypted with 3des-cbc"),
            (_, _, Kdf::Bcrypt { .. }) => Private::Locked(text.clone()),
            (_, cipher, _) => rewrite(&format!("encrypted with {cipher}")),
        };
        return (Some(key.public_key().clone()), private);
    }
    if content.trim_start().starts_with("PuTTY-User-Key-File-") {
        let public = putty_public(content);
        if header(content, "Encryption:").is_some_and(|cipher| cipher != "none") {
            return (public, Private::Locked(text.clone()));
        }
    } else if content.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") {
        return (None, Private::Locked(text.clone()));
    } else if content.contains("-----BEGIN DSA PRIVATE KEY-----") {
        return (None, unusable("is a DSA key, which is too weak to be used"));
    } else if let Some(cipher) = header(content, "DEK-Info:") {
        let cipher = cipher.split(',').next().unwrap_or_default();
        let rsa = content.contains("-----BEGIN RSA PRIVATE KEY-----");
        let private = match cipher {
            "AES-128-CBC" if rsa => Private::Locked(text.clone()),
            _ if rsa => rewrite(&format!("PEM encrypted with {}", plain(cipher))),
            _ => rewrite("encrypted PEM that holds no RSA key"),
        };
        return (None, private);
    }
    match decode_secret_key(content, None) {
        Ok(key) => (Some(key.public_key().clone()), Private::Open(Arc::new(key))),
        Err(error) => (None, rewrite(&plain(&error.to_string()))),
    }
}

/// Opens a key file's text. Takes a good part of a second: not for an async task.
///
/// # Errors
/// The passphrase is wrong, as far as can be told.
pub(super) fn unlock(text: &Secret, passphrase: &Secret) -> Result<PrivateKey, String> {
    decode_secret_key(text.expose(), Some(passphrase.expose()))
        .map_err(|error| plain(&error.to_string()))
}

/// Reads a certificate; nothing where the file is not there.
///
/// # Errors
/// The file cannot be read, or holds no certificate.
pub(super) fn read_certificate(path: &Path) -> Result<Option<Certificate>, String> {
    let shown = path.display();
    match read_text(path) {
        Ok((text, _)) => Certificate::from_openssh(text.expose().trim())
            .map(Some)
            .map_err(|error| format!("certificate {shown}: {}", plain(&error.to_string()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("certificate {shown}: {error}")),
    }
}

/// The same path with something more at its end.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn public_beside(path: &Path) -> Option<PublicKey> {
    let (text, _) = read_text(&beside(path, ".pub")).ok()?;
    PublicKey::from_openssh(text.expose().trim()).ok()
}

/// The text, and the file's mode where that is too open.
fn read_text(path: &Path) -> std::io::Result<(Secret, Option<u32>)> {
    let mut text = String::new();
    // Not waiting for a pipe's other end.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = std::fs::File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    let ours = about.uid() == rustix::process::getuid().as_raw();
    let mode = about.mode() & 0o7777;
    file.take(KEY_FILE).read_to_string(&mut text)?;
    Ok((text.into(), (ours && mode & 0o077 != 0).then_some(mode)))
}

/// What follows a word at the start of a line.
fn header<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .map(str::trim)
}

/// A file of `PuTTY` has its public key in clear.
fn putty_public(text: &str) -> Option<PublicKey> {
    let mut lines = text.lines();
    let count = lines
        .find_map(|line| line.strip_prefix("Public-Lines:"))?
        .trim()
        .parse()
        .ok()?;
    let blob: String = lines.take(count).map(str::trim).collect();
    PublicKey::from_bytes(&STANDARD.decode(blob).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_that_cannot_be_opened_are_named_with_what_to_do() {
        let path = Path::new("/k/id");
        for (text, says) in [
            (
                "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: DES-EDE3-CBC,AA\n\nAAAA\n-----END RSA PRIVATE KEY-----\n",
                "encrypted with DES-EDE3-CBC); rewrite it: ssh-keygen -p -f /k/id",
            ),
            (
                "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AA\n\nAAAA\n-----END EC PRIVATE KEY-----\n",
                "ssh-keygen -p -f /k/id",
            ),
            ("-----BEGIN DSA PRIVATE KEY-----\nAAAA\n", "DSA key"),
            ("nonsense", "not understood"),
        ] {
            let (_, private) = parse(&text.to_owned().into(), path);
            let Private::Unusable(why) = private else {
                panic!("{text}");
            };
            assert!(why.contains(says), "{why}");
        }
    }

    #[test]
    fn putty_files_are_opened() {
        let path = Path::new("/k/id");
        let passphrase = Secret::from("battery staple".to_owned());
        for (text, locked) in [
            (
                include_str!("../../../tests/fixtures/keys/ecdsa.ppk"),
                false,
            ),
            (
                include_str!("../../../tests/fixtures/keys/ed25519-passphrase.ppk"),
                true,
            ),
            (
                include_str!("../../../tests/fixtures/keys/rsa-old-passphrase.ppk"),
                true,
            ),
        ] {
            let (public, private) = parse(&text.to_owned().into(), path);
            let key = match private {
                Private::Open(key) if !locked => key,
                Private::Locked(text) if locked => {
                    assert!(unlock(&text, &"wrong".to_owned().into()).is_err());
                    Arc::new(unlock(&text, &passphrase).unwrap())
                }
                Private::Unusable(why) => panic!("{why}"),
                _ => panic!("{text}"),
            };
            assert_eq!(public.unwrap().key_data(), key.public_key().key_data());
        }
    }

    #[test]
    fn a_security_key_is_left_to_the_agent() {
        use russh::keys::ssh_key::private::{KeypairData, SkEd25519};
        use russh::keys::ssh_key::{LineEnding, public};

        let mut blob = Vec::new();
        for part in [&b"sk-ssh-ed25519@openssh.com"[..], &[7; 32], b"ssh:"] {
            blob.extend(u32::try_from(part.len()).unwrap().to_be_bytes());
            blob.extend(part);
        }
        let public = PublicKey::from_bytes(&blob).unwrap();
        let public::KeyData::SkEd25519(public) = public.key_data() else {
            panic!("{public:?}");
        };
        let pair = SkEd25519::new(public.clone(), 1, [1, 2, 3]).unwrap();
        let key = PrivateKey::new(KeypairData::SkEd25519(pair), "").unwrap();
        let text = key.to_openssh(LineEnding::LF).unwrap().to_string();
        let (_, private) = parse(&text.into(), Path::new("/k/id_sk"));
        let Private::Unusable(why) = private else {
            panic!("it is no key to sign with");
        };
        assert!(why.contains("security key"), "{why}");
        assert!(why.contains("ssh-add /k/id_sk"), "{why}");
    }
}
