//! The folder that recordings stand in.

use std::io;
use std::path::{Path, PathBuf};

use super::Summary;

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
