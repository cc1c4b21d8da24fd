//! The folder that recordings stand in.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::summary::{Summary, is_locked};
use super::{ReadError, Reader};

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
    if is_locked(&opened) {
        return Err(DeleteError::InUse { file });
    }
    std::fs::remove_file(path).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Writer;
    use crate::session::story::Story;

    fn record(path: &Path) -> Writer {
        let writer = Writer::create(path).unwrap();
        for event in Story::new().events() {
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
        delete(&inside.join("a.jsonl")).unwrap();
        assert!(!inside.join("a.jsonl").exists());
    }
}
