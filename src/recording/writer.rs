//! Events into a file, a line each.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{MOST_HEADER, MOST_LINE};
use crate::event::{Event, Level, Note, SinkError, What, to_line};

/// A line is with the operating system after this time at the latest.
const PATIENCE: Duration = Duration::from_millis(100);
/// Who asks whether a new file is being written has let go of it after this time.
const LOCKING: Duration = Duration::from_secs(1);
/// So much is gathered before it is written without waiting.
const GATHER: usize = 64 << 10;
/// So much is kept while the file takes nothing (a full disk); events that come after that are
/// lost, and counted.
const KEPT: usize = 8 << 20;

/// Why a recording was not begun.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// The file is there.
    #[error("the recording {file} is there already; name another file, it is never overwritten")]
    Exists {
        /// The file.
        file: String,
    },
    /// It cannot be made.
    #[error("the recording {file} cannot be made: {why}; name another file with --record")]
    Refused {
        /// The file, or the folder that it was to stand in.
        file: String,
        /// Why.
        why: String,
    },
}

/// Writes a recording. Whatever happens to the file, telling goes on; [`Writer::commit`] says
/// what could not be written.
#[derive(Debug)]
pub struct Writer {
    shared: Arc<Shared>,
    flusher: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    file: File,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Whole lines that the file does not have yet, but for a part of the first that it may.
    pending: Vec<u8>,
    /// What went wrong since the last commit told.
    error: Option<String>,
    /// Events that are in no file: every commit tells.
    lost: Option<String>,
    /// Whether the folder knows the file for good.
    placed: bool,
    closing: bool,
}

impl Writer {
    /// Makes the file, which must not be there, for its owner alone; and its folder.
    ///
    /// # Errors
    /// Where the file is there, or it or its folder cannot be made.
    pub fn create(path: &Path) -> Result<Self, CreateError> {
        let refused = |path: &Path, why: &io::Error| CreateError::Refused {
            file: path.display().to_string(),
            why: why.to_string(),
        };
        if let Some(folder) = folder(path) {
            fs::create_dir_all(folder).map_err(|why| refused(folder, &why))?;
        }
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(|why| match why.kind() {
                io::ErrorKind::AlreadyExists => CreateError::Exists {
                    file: path.display().to_string(),
                },
                _ => refused(path, &why),
            })?;
        if let Err(why) = lock(&file) {
            // Nothing is in it yet.
            let _ = fs::remove_file(path);
            return Err(refused(path, &why));
        }
        let shared = Arc::new(Shared {
            path: path.to_owned(),
            file,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let with_thread = Arc::clone(&shared);
        let flusher = std::thread::Builder::new()
            .name("recording".to_owned())
            .spawn(move || with_thread.flush_in_time())
            .map_err(|why| refused(path, &why))?;
        Ok(Self {
            shared,
            flusher: Some(flusher),
        })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Takes an event, in the order of the calls. It is in the file within 100 ms, or after the
    /// next commit.
    pub fn write(&self, event: &Event) {
        let (line, error) = line(event);
        let mut state = self.shared.lock();
        if let Some(why) = error {
            state.lost.get_or_insert(why);
        }
        if state.pending.len() + line.len() > KEPT {
            // The flusher tries again and again; there is no more room for what it cannot write.
            let why = state.error.clone().unwrap_or_default();
            state.lost.get_or_insert(format!("events were lost: {why}"));
            return;
        }
        let idle = state.pending.is_empty();
        state.pending.extend_from_slice(line.as_bytes());
        if state.pending.len() >= GATHER && state.error.is_none() {
            self.shared.flush(&mut state);
        } else if idle {
            self.shared.changed.notify_one();
        } else {
            // The flusher is on its way.
        }
    }

    /// Hands what was told so far to the operating system, so that a reader of the file finds it.
    /// What goes wrong is for the next commit to tell.
    pub fn flush(&self) {
        self.shared.flush(&mut self.shared.lock());
    }

    /// Returns when everything told so far is on disk.
    ///
    /// # Errors
    /// Where something told since the last commit could not be written at once, and for ever
    /// where an event is lost: no destroying step may start then.
    pub fn commit(&self) -> Result<(), SinkError> {
        let mut state = self.shared.lock();
        self.shared.flush(&mut state);
        let placed = state.placed;
        let failed = state.error.take().or_else(|| state.lost.clone());
        // Others may tell while the disk takes its time.
        drop(state);
        if let Some(why) = failed {
            return Err(self.error(why));
        }
        let mut synced = self.shared.file.sync_data();
        if !placed && synced.is_ok() {
            synced = sync_name(self.path());
        }
        let mut state = self.shared.lock();
        match synced {
            Ok(()) => {
                state.placed = true;
                Ok(())
            }
            Err(why) => {
                // What the disk refused once may be gone, whatever the next try says.
                let why = why.to_string();
                state.lost.get_or_insert_with(|| why.clone());
                Err(self.error(why))
            }
        }
    }

    fn error(&self, why: String) -> SinkError {
        SinkError {
            file: self.path().display().to_string(),
            why,
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.changed.notify_one();
        if let Some(flusher) = self.flusher.take() {
            let _ = flusher.join();
        }
        self.shared.flush(&mut self.shared.lock());
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves whole lines behind.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn flush_in_time(&self) {
        let mut state = self.lock();
        while !state.closing {
            state = if state.pending.is_empty() {
                self.changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner)
            } else {
                let waited = self
                    .changed
                    .wait_timeout_while(state, PATIENCE, |state| !state.closing)
                    .unwrap_or_else(PoisonError::into_inner);
                let mut state = waited.0;
                self.flush(&mut state);
                state
            };
        }
    }

    // Writes what it can; the rest stays, so that lines are whole when the file takes more.
    fn flush(&self, state: &mut State) {
        let mut done = 0;
        while let Some(rest) = state.pending.get(done..).filter(|rest| !rest.is_empty()) {
            match (&self.file).write(rest) {
                Ok(0) => {
                    state.error = Some("the file takes no more".to_owned());
                    break;
                }
                Ok(n) => done += n,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => {
                    state.error = Some(why.to_string());
                    break;
                }
            }
        }
        state.pending.drain(..done);
    }
}

// Others can tell by it that the file is being written, as long as this program lives. Somebody
// may be asking at this very moment, and lets go at once; where a file system knows no locks,
// there is none.
fn lock(file: &File) -> io::Result<()> {
    let until = Instant::now() + LOCKING;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::other("another program holds a lock on it"));
            }
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(()),
        }
    }
}

// The name of a new file has to survive, too. A folder that may not be read, or a file system
// that does not know how, is no reason to go without a recording.
fn sync_name(path: &Path) -> io::Result<()> {
    let Ok(folder) = File::open(folder(path).unwrap_or(Path::new("."))) else {
        return Ok(());
    };
    match folder.sync_all().map_err(|why| (why.kind(), why)) {
        Err((io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported, _)) | Ok(()) => Ok(()),
        Err((_, why)) => Err(why),
    }
}

fn folder(path: &Path) -> Option<&Path> {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
}

// An event's line; where it has none that could be read back, that of a note in its place, and
// what was wrong.
fn line(event: &Event) -> (String, Option<String>) {
    let most = match event.what {
        What::Header(_) => MOST_HEADER,
        _ => MOST_LINE,
    };
    let why = match to_line(event) {
        Ok(line) if line.len() < most => return (line + "\n", None),
        Ok(line) => format!("an event is too long ({} bytes)", line.len()),
        Err(why) => why.to_string(),
    };
    let note = Event {
        seq: event.seq,
        t: event.t,
        what: What::Note(Note {
            level: Level::Error,
            text: format!("an event could not be recorded: {why}"),
            host: None,
            run: None,
            step: None,
        }),
    };
    match to_line(&note) {
        Ok(line) => (line + "\n", Some(why)),
        Err(_) => (String::new(), Some(why)),
    }
}

#[cfg(test)]
mod tests;
