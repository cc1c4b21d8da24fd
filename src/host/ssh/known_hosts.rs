//! What the `known_hosts` files say of one host, in the format of sshd(8),
//! "`SSH_KNOWN_HOSTS` FILE FORMAT". Written here because russh's own reader knows neither
//! wildcards nor markers nor tabs, and takes a file that it cannot read for an empty one.

use std::path::{Path, PathBuf};

use super::host_key::HostKey;
use super::host_names::{self, Named, Names};
use super::lines;
use super::text::plain;

/// So many other names of a key are told.
const OTHER_NAMES: usize = 5;
/// How a list of revoked keys in binary form begins (PROTOCOL.krl of OpenSSH).
const KRL: &[u8] = b"SSHKRL";

/// What a line says of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// The host has this key.
    Host,
    /// `@cert-authority`: it signs the keys of hosts.
    Authority,
    /// `@revoked`: it must not be taken.
    Revoked,
}

/// A line that concerns the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) key: HostKey,
    /// `file:line`.
    pub(super) place: String,
    pub(super) mark: Mark,
    /// It names the host without its port.
    pub(super) portless: bool,
}

/// All lines that concern one host.
#[derive(Debug, Default)]
pub(super) struct KnownHosts {
    pub(super) keys: Vec<Known>,
    /// `file:line` of lines that name the host, or may, and cannot be understood.
    pub(super) garbled: Vec<String>,
}

impl KnownHosts {
    /// The keys with a mark.
    pub(super) fn marked(&self, mark: Mark) -> impl Iterator<Item = &Known> {
        self.keys.iter().filter(move |known| known.mark == mark)
    }
}

/// Reads the files, in order. A file that is not there is empty.
///
/// # Errors
/// A file that is there and cannot be read: what it says of the host is not known then, which
/// is not the same as nothing.
pub(super) fn read(files: &[PathBuf], names: &Names) -> Result<KnownHosts, String> {
    let mut found = KnownHosts::default();
    for file in files {
        lines::each(file, |number, line| {
            let place = || format!("{}:{number}", file.display());
            match read_line(line, names) {
                Read::Nothing => {}
                Read::Garbled => found.garbled.push(place()),
                Read::Key {
                    key,
                    mark,
                    portless,
                } => found.keys.push(Known {
                    key,
                    place: place(),
                    mark,
                    portless,
                }),
            }
        })?;
    }
    Ok(found)
}

/// The keys of a `RevokedHostKeys` file in its plain form: a public key a line.
///
/// # Errors
/// The file cannot be read or understood, or is not there: as for ssh, no host is trusted then.
pub(super) fn read_revoked(file: &Path) -> Result<Vec<Known>, String> {
    if !file.exists() {
        return Err(format!("{}: RevokedHostKeys is not there", file.display()));
    }
    let mut keys = Vec::new();
    let mut wrong = None;
    lines::each(file, |number, line| {
        let place = format!("{}:{number}", file.display());
        if number == 1 && line == KRL {
            wrong.get_or_insert(format!(
                "{}: RevokedHostKeys in binary form (KRL) is not followed yet; one public key a \
                 line is",
                file.display()
            ));
        }
        let text = String::from_utf8_lossy(line);
        let mut words = text.split_ascii_whitespace();
        let Some(kind) = words.next().filter(|word| !word.starts_with('#')) else {
            return;
        };
        match words.next().and_then(|text| HostKey::from_text(kind, text)) {
            Some(key) => keys.push(Known {
                key,
                place,
                mark: Mark::Revoked,
                portless: false,
            }),
            None => {
                wrong.get_or_insert(format!("{place}: no public key in RevokedHostKeys"));
            }
        }
    })?;
    wrong.map_or(Ok(keys), Err)
}

/// Under which other names a key is known: `name (file:line)`, the first few.
pub(super) fn other_names(files: &[PathBuf], key: &HostKey) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        // A file that cannot be read has been told before.
        let _ = lines::each(file, |number, line| {
            let text = String::from_utf8_lossy(line);
            let mut words = text.split_ascii_whitespace();
            let (Some(hosts), Some(kind), Some(blob)) = (words.next(), words.next(), words.next())
            else {
                return;
            };
            if found.len() < OTHER_NAMES
                && kind == key.kind()
                && HostKey::from_text(kind, blob).as_ref() == Some(key)
            {
                found.push(format!(
                    "{} ({}:{number})",
                    plain(host_names::shown(hosts)),
                    file.display()
                ));
            }
        });
    }
    found
}

enum Read {
    /// Empty, a comment, or about something else.
    Nothing,
    /// It names the host, or may, and cannot be understood.
    Garbled,
    Key {
        key: HostKey,
        mark: Mark,
        portless: bool,
    },
}

fn read_line(line: &[u8], names: &Names) -> Read {
    // A comment may be in any encoding; another encoding of the whole file shows in its zeros.
    if line.contains(&0) {
        return Read::Garbled;
    }
    let line = String::from_utf8_lossy(line);
    // An editor may have put the mark of UTF-8 there.
    let line = line.trim_start_matches('\u{feff}');
    let mut words = line.split_ascii_whitespace().peekable();
    let mark = match words.peek().copied() {
        Some(word) if word.starts_with('#') => return Read::Nothing,
        Some("@revoked") => Mark::Revoked,
        Some("@cert-authority") => Mark::Authority,
        // An unknown marker is none of ours.
        Some(word) if word.starts_with('@') => return Read::Nothing,
        _ => Mark::Host,
    };
    if mark != Mark::Host {
        words.next();
    }
    let Some(hosts) = words.next() else {
        return Read::Nothing;
    };
    if hosts.contains('\u{fffd}') {
        return Read::Garbled;
    }
    let key = match (words.next(), words.next()) {
        (Some(kind), Some(text)) => HostKey::from_text(kind, text),
        _ => None,
    };
    match (host_names::named(hosts, names), key) {
        // A key that is revoked anywhere is in the wrong hands: it is good for no host.
        (_, Some(key)) if mark == Mark::Revoked => Read::Key {
            key,
            mark,
            portless: false,
        },
        (Some(Named::No), _) => Read::Nothing,
        (None, _) | (_, None) => Read::Garbled,
        (Some(named), Some(key)) => Read::Key {
            key,
            mark,
            portless: named == Named::Portless,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::host_key::samples::{ECDSA, ED25519, key};
    use super::*;
    use std::io::Write;
    use tempfile::NamedTempFile;

    fn found(text: impl AsRef<[u8]>, host: &str, port: u16) -> KnownHosts {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(text.as_ref()).unwrap();
        read(&[file.path().to_owned()], &Names::new(host, port, None)).unwrap()
    }

    fn numbers(places: impl Iterator<Item = impl AsRef<str>>) -> Vec<String> {
        places
            .map(|place| place.as_ref().rsplit(':').next().unwrap().to_owned())
            .collect()
    }

    fn lines(text: impl AsRef<[u8]>, host: &str, port: u16) -> Vec<String> {
        let found = found(text, host, port);
        numbers(found.keys.iter().map(|known| &known.place))
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
        // Whom a broken hash names is not known: it may be this host.
        let garbled = found(&text, "other", 22).garbled;
        assert_eq!(numbers(garbled.iter()), ["3", "4"]);
    }

    #[test]
    fn tabs_carriage_returns_comments_and_foreign_bytes() {
        let text = format!("nas\t{}\tann@nas\r\n", ED25519.replace(' ', "\t"));
        assert_eq!(lines(&text, "nas", 22), ["1"]);
        let latin1 = [format!("nas {ED25519} caf").as_bytes(), b"\xe9\n"].concat();
        assert_eq!(lines(&latin1, "nas", 22), ["1"]);
        assert_eq!(lines(format!("\u{feff}nas {ED25519}"), "nas", 22), ["1"]);
    }

    #[test]
    fn a_file_in_another_encoding_is_not_taken_for_one_without_the_host() {
        let utf16: Vec<u8> = format!("nas {ED25519}\n")
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert!(!found(&utf16, "nas", 22).garbled.is_empty());
        let latin1 = [&b"caf\xe9 "[..], ED25519.as_bytes()].concat();
        assert_eq!(found(&latin1, "nas", 22).garbled.len(), 1);
    }

    #[test]
    fn markers() {
        let text = format!(
            "@revoked nas {ED25519}\n@cert-authority nas {ECDSA}\n@new nas {ECDSA}\n\
             @revoked * {ECDSA}\n@revoked elsewhere {ECDSA}\n@cert-authority elsewhere {ECDSA}\n"
        );
        let found = found(&text, "nas", 22);
        let places = |mark| numbers(found.marked(mark).map(|known| &known.place));
        assert_eq!(places(Mark::Revoked), ["1", "4", "5"]);
        assert_eq!(places(Mark::Authority), ["2"]);
        assert!(places(Mark::Host).is_empty());
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
    fn a_missing_file_is_empty_but_one_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let names = Names::new("nas", 22, None);
        let missing = folder.path().join("none");
        assert!(read(&[missing], &names).unwrap().keys.is_empty());
        let error = read(&[folder.path().to_owned()], &names).unwrap_err();
        assert!(error.contains(&*folder.path().to_string_lossy()), "{error}");
    }

    /// `ssh-keygen -F` tells `# Host NAME found: line 3` for each line that it finds, but a
    /// revoked key of another host is none for it.
    #[test]
    fn the_lines_of_a_host_are_those_that_ssh_keygen_finds() {
        let hashed = host_names::hashed("[nas]:2222").unwrap();
        let text = format!(
            "nas,10.0.0.7 {ED25519}\n\tNAS {ECDSA} comment\n  nas\t{ECDSA}\r\n*.lab,!old.lab {ED25519}\n\
             [nas]:2222 {ED25519}\n{hashed} {ECDSA}\n@cert-authority *.lab,n* {ECDSA}\n\
             @revoked n?s {ED25519}\n# nas {ED25519}\n!nas,* {ED25519}\n[n*]:* {ECDSA}\n\
             ::1,[::1]:2222 {ED25519}\nn[a]s {ED25519}\n, {ED25519}\nna\\s {ECDSA}\n"
        );
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        for (host, port) in [
            ("nas", 22),
            ("NAS", 22),
            ("nas", 2222),
            ("10.0.0.7", 22),
            ("new.lab", 22),
            ("old.lab", 22),
            ("old.lab", 2200),
            ("::1", 22),
            ("::1", 2222),
            ("other", 22),
            ("na\\s", 22),
        ] {
            let names = Names::new(host, port, None);
            let found = std::process::Command::new("ssh-keygen")
                .args(["-F", &names.exact, "-f"])
                .arg(file.path())
                .output();
            let Ok(found) = found else {
                assert!(
                    std::env::var("CI").as_deref() != Ok("true"),
                    "no ssh-keygen"
                );
                eprintln!("SKIPPED: ssh-keygen is not installed");
                return;
            };
            let found = String::from_utf8(found.stdout).unwrap();
            let found: Vec<String> = found
                .lines()
                .filter(|line| line.starts_with("# Host "))
                .map(|line| line.split(" found: line ").nth(1).unwrap())
                .map(|rest| rest.split(' ').next().unwrap().to_owned())
                .collect();
            let read = read(&[file.path().to_owned()], &names).unwrap();
            let ours = read.keys.iter().filter(|known| {
                let named = host_names::named("n?s", &names) == Some(Named::Exact);
                !known.portless && (known.mark != Mark::Revoked || named)
            });
            assert_eq!(
                numbers(ours.map(|known| &known.place)),
                found,
                "{host} {port}"
            );
            assert!(read.garbled.is_empty(), "{:?}", read.garbled);
        }
    }

    #[test]
    fn other_names_of_a_key_are_found_hashed_ones_too() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("known");
        let hashed = host_names::hashed("nas").unwrap();
        let text = format!("nas,10.0.0.7 {ED25519}\nother {ECDSA}\n{hashed} {ED25519}\n");
        std::fs::write(&file, text).unwrap();
        let shown = file.display();
        assert_eq!(
            other_names(std::slice::from_ref(&file), &key(ED25519)),
            [
                format!("nas,10.0.0.7 ({shown}:1)"),
                format!("a hashed name ({shown}:3)")
            ]
        );
    }

    #[test]
    fn revoked_keys_are_read_a_line_each_and_anything_else_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("revoked");
        std::fs::write(&file, format!("# stolen\n\n{ED25519} nas\n{ECDSA}\n")).unwrap();
        assert_eq!(read_revoked(&file).unwrap().len(), 2);
        for (text, says) in [
            (&b"SSHKRL\n\0\0\0\0\x01"[..], "KRL"),
            (b"nas ssh-ed25519 AAAA\n", ":1:"),
        ] {
            std::fs::write(&file, text).unwrap();
            let error = read_revoked(&file).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
        assert!(read_revoked(&folder.path().join("none")).is_err());
    }
}
