//! The lines of a file that somebody else may have made: a pipe or a device in its place does
//! not hang, and a file without end does not fill the memory.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// The longest file that is read, in bytes.
const LONGEST: u64 = 64 << 20;

/// Calls `with` for each line with its number, from 1, without its line feed. A file that is
/// not there has none, and neither has `/dev/null`.
///
/// # Errors
/// The file is there and cannot be read, or is none; the sentence names it.
pub(super) fn each(path: &Path, mut with: impl FnMut(usize, &[u8])) -> Result<(), String> {
    let fails = |why: String| format!("cannot read {}: {why}", path.display());
    let file = match open(path) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(()),
        Err(error) => return Err(fails(error.to_string())),
    };
    let meta = file.metadata().map_err(|error| fails(error.to_string()))?;
    if meta.is_dir() {
        return Err(fails("it is a folder".to_owned()));
    }
    if !meta.is_file() {
        return Err(fails("it is not a regular file".to_owned()));
    }
    if meta.len() > LONGEST {
        return Err(fails(format!("it is longer than {} MiB", LONGEST >> 20)));
    }
    let lines = BufReader::new(file.take(LONGEST)).split(b'\n');
    for (index, line) in lines.enumerate() {
        with(index + 1, &line.map_err(|error| fails(error.to_string()))?);
    }
    Ok(())
}

fn open(path: &Path) -> std::io::Result<Option<File>> {
    if path == Path::new("/dev/null") {
        return Ok(None);
    }
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path);
    match file {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_a_folder_and_a_device_are_named_and_do_not_hang() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for path in [pipe.as_path(), folder.path(), Path::new("/dev/zero")] {
            let error = each(path, |_, _| panic!("{}", path.display())).unwrap_err();
            assert!(error.contains(&*path.to_string_lossy()), "{error}");
        }
    }

    #[test]
    fn what_is_not_there_and_the_null_device_have_no_lines() {
        for path in ["/nowhere/known_hosts", "/dev/null"] {
            each(Path::new(path), |_, _| panic!("{path}")).unwrap();
        }
    }

    #[test]
    fn lines_are_counted_from_one_and_the_last_needs_no_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "a\n\nb").unwrap();
        let mut seen = Vec::new();
        each(file.path(), |number, line| {
            seen.push((number, line.to_vec()));
        })
        .unwrap();
        assert_eq!(seen, [(1, b"a".to_vec()), (2, vec![]), (3, b"b".to_vec())]);
    }
}
