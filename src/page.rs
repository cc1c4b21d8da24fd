//! Pages that somebody wrote: configuration, themes, method files.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Longer than any page that a person writes.
const MOST: u64 = 1 << 20;

/// Reads a page. What is no regular file is not waited for, and what has no end is not read.
///
/// # Errors
/// Where it cannot be read, is no file, is longer than 1 MiB, or is not UTF-8.
pub fn read(path: &Path) -> io::Result<String> {
    let wrong = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, why.to_owned());
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(wrong("it is no file"));
    }
    let mut text = String::new();
    file.take(MOST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST {
        return Err(wrong("it is longer than 1 MiB"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_page_is_read_and_nothing_else_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("page"), "theme = \"nord\"\n").unwrap();
        symlink(at("page"), at("link")).unwrap();
        for name in ["page", "link"] {
            assert_eq!(read(&at(name)).unwrap(), "theme = \"nord\"\n");
        }
        let made = std::process::Command::new("mkfifo")
            .arg(at("fifo"))
            .status();
        assert!(made.unwrap().success());
        symlink("/dev/zero", at("zero")).unwrap();
        for name in ["fifo", "zero", "."] {
            assert_eq!(read(&at(name)).unwrap_err().to_string(), "it is no file");
        }
        std::fs::write(at("long"), vec![b' '; (1 << 20) + 1]).unwrap();
        let why = read(&at("long")).unwrap_err();
        assert_eq!(why.to_string(), "it is longer than 1 MiB");
        assert_eq!(
            read(&at("none")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}
