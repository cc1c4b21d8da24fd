//! The folder that recordings stand in.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::summary::{Lock, Summary, glance};
use super::{ReadError, Reader};
use crate::event::{What, parse_line};

/// A file that has no end and changed within this time may be one that a session writes.
const FRESH: Duration = Duration::from_mins(1);
/// Bytes at the end of a file that its end is looked for in.
const TAIL: u64 = 64 << 10;

/// The recordings of a folder, the one that changed last in front; nothing is read of them. A
/// folder that is not there has none.
///
/// # Errors
/// Where the folder cannot be read.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut all = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let is_recording = path.extension().is_some_and(|end| end == "jsonl");
        // What vanished meanwhile is not there.
        if let Ok(known) = std::fs::metadata(&path)
            && is_recording
            && known.is_file()
        {
            all.push((known.modified().ok(), path));
        }
    }
    all.sort_by(|one, other| other.cmp(one));
    Ok(all.into_iter().map(|(_, path)| path).collect())
}

/// All recordings of a folder in short, the one that started last in front; those that cannot be
/// read stand at the end, with why.
///
/// # Errors
/// Where the folder cannot be read.
pub fn recordings(folder: &Path) -> io::Result<Vec<Summary>> {
    let mut all: Vec<Summary> = files(folder)?
        .iter()
        .map(|path| Summary::read(path))
        .collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.started));
    Ok(all)
}

/// Why a recording is not deleted.
#[derive(Debug, thiserror::Error)]
pub enum DeleteError {
    /// It stands elsewhere.
    #[error("{file} does not stand in {folder}: delete it yourself")]
    Elsewhere {
        /// The file.
        file: String,
        /// The folder of recordings.
        folder: String,
    },
    /// It is a link, or no file at all.
    #[error("{file} is no file of its own: delete it yourself")]
    NoFile {
        /// What it is called.
        file: String,
    },
    /// It does not begin like a recording.
    #[error("{0}; delete it yourself")]
    NoRecording(#[from] ReadError),
    /// A session writes it.
    #[error("{file} is being written by a session that goes on")]
    InUse {
        /// The file.
        file: String,
    },
    /// There is no way to tell whether a session writes it.
    #[error(
        "whether a session writes {file} cannot be told on this file system: delete it yourself"
    )]
    Unknown {
        /// The file.
        file: String,
    },
    /// A session may write it.
    #[error("{file} has no end and was written within the last minute: a session may go on")]
    Fresh {
        /// The file.
        file: String,
    },
    /// It cannot be deleted.
    #[error("{file} cannot be deleted: {why}")]
    Refused {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
}

/// Deletes a recording of a folder: nothing but a file that stands in it itself, begins like a
/// recording, and is not being written.
///
/// # Errors
/// [`DeleteError`]; the file is there, then.
pub fn delete(folder: &Path, path: &Path) -> Result<(), DeleteError> {
    let file = path.display().to_string();
    let refused = |why: io::Error| DeleteError::Refused {
        file: file.clone(),
        why: why.to_string(),
    };
    if path.parent() != Some(folder) || path.file_name().is_none() {
        let folder = folder.display().to_string();
        return Err(DeleteError::Elsewhere { file, folder });
    }
    let known = std::fs::symlink_metadata(path).map_err(refused)?;
    if !known.is_file() {
        return Err(DeleteError::NoFile { file });
    }
    Reader::open(path)?;
    let opened = File::open(path).map_err(refused)?;
    let has_end = has_end(&opened).map_err(refused)?;
    // A clock that was set back makes no file old.
    let modified = opened.metadata().and_then(|known| known.modified());
    let age = modified.map_err(refused)?.elapsed().unwrap_or_default();
    if let Some(why) = objection(Lock::of(&opened), has_end, age, &file) {
        return Err(why);
    }
    std::fs::remove_file(path).map_err(refused)
}

fn objection(lock: Lock, has_end: bool, age: Duration, file: &str) -> Option<DeleteError> {
    let file = file.to_owned();
    match lock {
        Lock::Held => Some(DeleteError::InUse { file }),
        Lock::Unknown => Some(DeleteError::Unknown { file }),
        // A lock may have been lost, as with a server that was started again.
        Lock::Free if !has_end && age < FRESH => Some(DeleteError::Fresh { file }),
        Lock::Free => None,
    }
}

/// Whether a session ended in the last lines of this file.
fn has_end(mut file: &File) -> io::Result<bool> {
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    let mut lines = tail.split(|byte| *byte == b'\n');
    Ok(lines.any(is_end))
}

/// Whether a line tells the end. One that another program wrote is read, however its JSON is laid
/// out.
fn is_end(line: &[u8]) -> bool {
    match glance(line) {
        Some((_, name)) => name == "end",
        None => std::str::from_utf8(line)
            .ok()
            .and_then(|text| parse_line(text).ok())
            .is_some_and(|event| matches!(event.what, What::End(_))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::End;
    use crate::recording::Writer;
    use crate::session::story::Story;

    fn record(path: &Path) -> Writer {
        let mut story = Story::new();
        story.tell(What::End(End {
            exit: 0,
            reason: "done".into(),
        }));
        let writer = Writer::create(path).unwrap();
        for event in story.events() {
            writer.write(&event);
        }
        writer.commit().unwrap();
        writer
    }

    #[test]
    fn nothing_is_deleted_but_a_recording_that_nobody_writes() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
        let writer = record(&inside.join("a.jsonl"));
        drop(record(&outside.join("b.jsonl")));
        std::os::unix::fs::symlink(outside.join("b.jsonl"), inside.join("link.jsonl")).unwrap();
        std::fs::write(inside.join("letter.jsonl"), "dear Sir\n").unwrap();
        std::fs::create_dir(inside.join("c.jsonl")).unwrap();
        let delete = |path: &Path| delete(&inside, path).map_err(|why| why.to_string());

        let why = delete(&inside.join("a.jsonl")).unwrap_err();
        assert!(
            why.ends_with("is being written by a session that goes on"),
            "{why}"
        );
        let why = delete(&outside.join("b.jsonl")).unwrap_err();
        assert!(why.contains("does not stand in"), "{why}");
        let why = delete(&inside.join("../out/b.jsonl")).unwrap_err();
        assert!(why.contains("does not stand in"), "{why}");
        for no_file in ["link.jsonl", "c.jsonl", ".."] {
            let why = delete(&inside.join(no_file)).unwrap_err();
            assert!(
                why.contains("no file of its own") || why.contains("stand in"),
                "{why}"
            );
        }
        let why = delete(&inside.join("letter.jsonl")).unwrap_err();
        assert!(why.contains("is no recording"), "{why}");
        assert!(delete(&inside.join("gone.jsonl")).is_err());
        for kept in ["a.jsonl", "link.jsonl", "letter.jsonl", "c.jsonl"] {
            assert!(inside.join(kept).exists(), "{kept}");
        }
        assert!(outside.join("b.jsonl").exists());

        drop(writer);
        // A program that another test starts holds it, too, until it is another program.
        let file = File::open(inside.join("a.jsonl")).unwrap();
        while Lock::of(&file) == Lock::Held {
            std::thread::yield_now();
        }
        drop(file);
        delete(&inside.join("a.jsonl")).unwrap();
        assert!(!inside.join("a.jsonl").exists());
    }

    #[test]
    fn one_without_an_end_is_left_alone_for_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let writer = Writer::create(&path).unwrap();
        for event in Story::new().events() {
            writer.write(&event);
        }
        drop(writer);
        let why = delete(folder.path(), &path).unwrap_err();
        assert!(matches!(why, DeleteError::Fresh { .. }), "{why}");
        let file = File::options().write(true).open(&path).unwrap();
        let now = std::time::SystemTime::now();
        file.set_modified(now + FRESH).unwrap();
        assert!(delete(folder.path(), &path).is_err(), "of tomorrow");
        file.set_modified(now - 2 * FRESH).unwrap();
        delete(folder.path(), &path).unwrap();
    }

    #[test]
    fn an_end_is_seen_however_its_json_is_laid_out() {
        let lines = [
            r#"{"seq":9,"t":5,"ev":"end","exit":0,"reason":"done"}"#,
            r#"{"seq": 9, "t": 5, "ev": "end", "exit": 0, "reason": "done"}"#,
            r#" { "ev" :"end", "t":5,"reason":"done","exit":0, "seq":9 } "#,
        ];
        for line in lines {
            assert!(is_end(line.as_bytes()), "{line}");
        }
        for line in [
            r#"{"seq": 9, "t": 5, "ev": "act", "act": "marker", "text": "end"}"#,
            r#"eq":9,"t":5,"ev":"end","exit":0}"#,
            "",
        ] {
            assert!(!is_end(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn where_no_lock_can_tell_nothing_is_deleted() {
        let years = 1000 * FRESH;
        for has_end in [false, true] {
            for age in [Duration::ZERO, years] {
                let why = objection(Lock::Unknown, has_end, age, "a");
                assert!(matches!(why, Some(DeleteError::Unknown { .. })));
                let why = objection(Lock::Held, has_end, age, "a");
                assert!(matches!(why, Some(DeleteError::InUse { .. })));
            }
        }
    }
}
