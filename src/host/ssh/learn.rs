//! Writes a host's key into a `known_hosts` file.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use super::host_key::HostKey;
use super::host_names::{self, Names};
use super::known_hosts::{self, Mark};

/// The longest wait for another program that holds the file.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pause before it is asked again.
const PAUSE: Duration = Duration::from_millis(20);

/// Appends the line, with the name as a hash if `hash`. Does nothing where the file has a key
/// of this type for the name by now: it is the one, or the host is not to be trusted.
///
/// # Errors
/// The file cannot be written; the sentence names it.
pub(super) fn learn(file: &Path, names: &Names, key: &HostKey, hash: bool) -> Result<(), String> {
    append(file, names, key, hash).map_err(|why| format!("cannot write {}: {why}", file.display()))
}

fn append(path: &Path, names: &Names, key: &HostKey, hash: bool) -> Result<(), String> {
    let says = |error: std::io::Error| error.to_string();
    if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
        let mut builder = DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(says)?;
    }
    let mut file = locked(path)?;
    let files = [path.to_owned()];
    let known = known_hosts::read(&files, names)?;
    let mut keys = known.marked(Mark::Host).filter(|known| !known.portless);
    if keys.any(|known| known.key.kind() == key.kind()) {
        return Ok(());
    }
    let name = if hash {
        host_names::hashed(&names.exact).ok_or("the name cannot be hashed")?
    } else {
        names.exact.clone()
    };
    let mut line = format!("{name} {key}\n");
    if !ends_its_last_line(&mut file).map_err(says)? {
        line.insert(0, '\n');
    }
    // In one piece, at the end: whoever else writes does not come in between.
    file.write_all(line.as_bytes()).map_err(says)
}

/// Opens the file, or makes it, and keeps other writers out until it is closed.
fn locked(path: &Path) -> Result<File, String> {
    let until = Instant::now() + PATIENCE;
    loop {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            // A pipe in its place must not hold us up.
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
            .open(path)
            .map_err(|error| error.to_string())?;
        let meta = file.metadata().map_err(|error| error.to_string())?;
        if !meta.is_file() {
            return Err("it is not a regular file".to_owned());
        }
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            // ssh-keygen puts a new file in its place: then this one is nobody's.
            Ok(()) if std::fs::metadata(path).is_ok_and(|now| now.ino() == meta.ino()) => {
                return Ok(file);
            }
            Ok(()) | Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(error) => return Err(error.to_string()),
        }
        if Instant::now() > until {
            return Err(format!(
                "another program has held it for {} s",
                PATIENCE.as_secs()
            ));
        }
        std::thread::sleep(PAUSE);
    }
}

fn ends_its_last_line(file: &mut File) -> std::io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
mod tests {
    use super::super::host_key::samples::{ECDSA, ED25519, OTHER, key};
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn names() -> Names {
        Names::new("nas", 2222, None)
    }

    #[test]
    fn a_new_file_in_a_new_folder_is_the_operators_alone() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".ssh/known_hosts");
        learn(&file, &names(), &key(ED25519), false).unwrap();
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            format!("[nas]:2222 {ED25519}\n")
        );
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        assert_eq!(mode(file.parent().unwrap()), 0o700);
    }

    #[test]
    fn a_last_line_without_an_end_stays_a_line_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("known");
        fs::write(&file, format!("other {OTHER}")).unwrap();
        learn(&file, &names(), &key(ED25519), false).unwrap();
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            format!("other {OTHER}\n[nas]:2222 {ED25519}\n")
        );
    }

    #[test]
    fn a_hashed_name_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("known");
        learn(&file, &names(), &key(ED25519), true).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("|1|") && !text.contains("nas"), "{text}");
        let found = known_hosts::read(&[file], &names()).unwrap();
        assert_eq!(found.keys[0].key, key(ED25519));
    }

    #[test]
    fn what_is_there_already_is_not_written_again_nor_contradicted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("known");
        for line in [ED25519, ED25519, OTHER, ECDSA] {
            learn(&file, &names(), &key(line), false).unwrap();
        }
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            format!("[nas]:2222 {ED25519}\n[nas]:2222 {ECDSA}\n")
        );
    }

    #[test]
    fn many_writers_write_one_line_each() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("known");
        std::thread::scope(|scope| {
            for index in 0..40 {
                let file = &file;
                scope.spawn(move || {
                    let names = Names::new(&format!("nas{}", index % 20), 22, None);
                    learn(file, &names, &key(ED25519), false).unwrap();
                });
            }
        });
        assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 20);
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for file in [folder.path(), &pipe, Path::new("/proc/none/known_hosts")] {
            let error = learn(file, &names(), &key(ED25519), false).unwrap_err();
            assert!(error.contains(&*file.to_string_lossy()), "{error}");
        }
    }
}
