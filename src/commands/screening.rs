//! Recordings in the dashboard: what there is, and one that is played into the session.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};

use crate::recording::{self, Change, Player, ReadError, Reading, Reel, Summary, Warning};
use crate::session::Session;
use crate::tui::{self, Effect, Found, Message, ReplayState};

use super::{Context, log_folders, save_log};

/// No wait is shorter: more frames than are drawn are of no use.
const LEAST: Duration = Duration::from_millis(5);

/// Keys that may wait while a moment is folded.
const KEYS: usize = 64;

/// Shows recordings in the place of the session.
pub(super) struct Screening {
    folder: PathBuf,
    /// Where logs are saved: the first one that takes them.
    logs: Vec<PathBuf>,
    session: Arc<Mutex<Session>>,
    messages: mpsc::Sender<Message>,
    pulse: watch::Sender<u64>,
    state: watch::Sender<Option<ReplayState>>,
    playing: Option<Playing>,
    /// What was shown before, while a recording is.
    before: Option<Session>,
    /// Set where the folder is not to be looked through any more.
    enough: Arc<AtomicBool>,
    opened: u64,
}

/// A recording that is shown; it goes on as long as it can be steered.
struct Playing {
    path: PathBuf,
    steer: SyncSender<tui::Player>,
    thread: JoinHandle<()>,
}

impl Screening {
    pub fn new(
        context: &Context,
        session: Arc<Mutex<Session>>,
        messages: mpsc::Sender<Message>,
        pulse: watch::Sender<u64>,
    ) -> Self {
        Self {
            folder: context.paths.recordings.clone(),
            logs: log_folders(&context.paths),
            session,
            messages,
            pulse,
            state: watch::Sender::new(None),
            playing: None,
            before: None,
            enough: Arc::default(),
            opened: 0,
        }
    }

    /// Where what is shown stands, for the dashboard.
    pub fn state(&self) -> watch::Receiver<Option<ReplayState>> {
        self.state.subscribe()
    }

    /// Whether a recording is shown.
    pub fn is_on(&self) -> bool {
        self.playing.is_some()
    }

    /// Does what the operator wants with recordings.
    pub async fn take(&mut self, effect: Effect) {
        match effect {
            Effect::Recordings => self.look_through(),
            Effect::Open(path) => {
                if let Err(why) = self.open(&path, 1.0) {
                    self.say(Message::Trouble(why.to_string())).await;
                }
            }
            Effect::Delete(path) => {
                let message = match recording::delete(&self.folder, &path) {
                    Ok(()) => Message::Recordings(Found::Deleted(path)),
                    Err(why) => Message::Trouble(why.to_string()),
                };
                self.say(message).await;
            }
            Effect::CloseReplay => self.leave(),
            Effect::Replay(to) => {
                if let Some(playing) = &self.playing {
                    // Who holds a key down may be ahead of what can be folded: the rest is dropped.
                    let _ = playing.steer.try_send(to);
                }
            }
            Effect::Save(wanted) => {
                if let Some(playing) = &self.playing {
                    let saved = save_log(playing.path.clone(), wanted, self.logs.clone());
                    let messages = self.messages.clone();
                    tokio::spawn(async move {
                        // The dashboard may have ended already.
                        let _ = messages.send(saved.await).await;
                    });
                }
            }
            _ => {}
        }
    }

    /// Shows a recording from its begin. Its header is read before this returns.
    ///
    /// # Errors
    /// Where it cannot be read; what was shown is shown still.
    pub fn open(&mut self, path: &Path, speed: f64) -> Result<(), ReadError> {
        let reel = Reel::open(path)?;
        self.stop();
        let shown = std::mem::take(&mut *locked(&self.session));
        self.before.get_or_insert(shown);
        self.opened += 1;
        let name = path.file_name().unwrap_or_default();
        let mut player = Player::new(reel);
        player.set_speed(Duration::ZERO, speed);
        // Who shows a recording to others does not want to wait with them.
        player.set_cut(Duration::ZERO, true);
        let stage = Stage {
            player,
            name: name.to_string_lossy().into_owned(),
            opened: self.opened,
            messages: self.messages.clone(),
            warned: false,
            session: Arc::clone(&self.session),
            pulse: self.pulse.clone(),
            state: self.state.clone(),
            began: Instant::now(),
        };
        stage.tell();
        let (steer, wanted) = sync_channel(KEYS);
        let thread = std::thread::Builder::new()
            .name("replay".to_owned())
            .spawn(move || stage.play(&wanted))
            .map_err(|why| ReadError::Io {
                file: path.display().to_string(),
                why: why.to_string(),
            })?;
        self.playing = Some(Playing {
            path: path.to_owned(),
            steer,
            thread,
        });
        Ok(())
    }

    /// Shows what was shown before the first recording; looks through no folder any more.
    pub fn leave(&mut self) {
        self.enough.store(true, Ordering::Relaxed);
        self.stop();
        if let Some(before) = self.before.take() {
            *locked(&self.session) = before;
            self.state.send_replace(None);
            self.pulse.send_modify(|count| *count += 1);
        }
    }

    // Nothing is folded into the session after this.
    fn stop(&mut self) {
        if let Some(Playing { steer, thread, .. }) = self.playing.take() {
            drop(steer);
            let _ = thread.join();
        }
    }

    fn look_through(&mut self) {
        self.enough.store(true, Ordering::Relaxed);
        self.enough = Arc::default();
        let (folder, messages) = (self.folder.clone(), self.messages.clone());
        let enough = Arc::clone(&self.enough);
        let say = move |found| messages.blocking_send(Message::Recordings(found)).is_ok();
        std::thread::spawn(move || {
            let files = match recording::files(&folder) {
                Ok(files) => files,
                Err(why) => {
                    say(Found::Trouble(format!(
                        "{} cannot be read: {why}",
                        folder.display()
                    )));
                    return;
                }
            };
            let mut listens = say(Found::Files(folder, files.clone()));
            for file in files {
                if !listens || enough.load(Ordering::Relaxed) {
                    return;
                }
                listens = say(Found::Read(Box::new(Summary::read(&file))));
            }
            say(Found::All);
        });
    }

    async fn say(&self, message: Message) {
        // Who has left does not listen.
        let _ = self.messages.send(message).await;
    }
}

fn locked(session: &Mutex<Session>) -> MutexGuard<'_, Session> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Plays a recording into the session.
struct Stage {
    player: Player,
    name: String,
    opened: u64,
    messages: mpsc::Sender<Message>,
    /// What is odd about the recording was told.
    warned: bool,
    session: Arc<Mutex<Session>>,
    pulse: watch::Sender<u64>,
    state: watch::Sender<Option<ReplayState>>,
    began: Instant,
}

impl Stage {
    fn play(mut self, wanted: &Receiver<tui::Player>) {
        loop {
            match self.player.look(self.began.elapsed()) {
                Change::Nothing => {}
                Change::More(events) => {
                    let mut session = locked(&self.session);
                    for event in &events {
                        session.apply(event);
                    }
                }
                Change::Moment(moment) => {
                    let before = std::mem::replace(&mut *locked(&self.session), *moment);
                    // Its logs are given back while nobody waits for the lock.
                    drop(before);
                }
            }
            self.pulse.send_modify(|count| *count += 1);
            self.tell();
            self.warn();
            let first = match self.player.wait(self.began.elapsed()) {
                Some(wait) => wanted.recv_timeout(wait.max(LEAST)),
                None => wanted.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match first {
                Ok(to) => self.steer(to),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            // Keys that came meanwhile are taken before anything is folded for them.
            loop {
                match wanted.try_recv() {
                    Ok(to) => self.steer(to),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return,
                }
            }
        }
    }

    fn steer(&mut self, to: tui::Player) {
        let now = self.began.elapsed();
        let player = &mut self.player;
        match to {
            tui::Player::Pause => player.pause(now),
            tui::Player::Play => player.resume(now),
            tui::Player::Speed(speed) => player.set_speed(now, speed),
            tui::Player::Seek(to) => player.seek(now, to),
            tui::Player::Step(forward) => player.step(now, forward),
            tui::Player::Loop(looping) => player.set_loop(looping),
            tui::Player::Cut(cut) => player.set_cut(now, cut),
        }
    }

    /// Tells once what is odd about the recording, when all of it is known.
    fn warn(&mut self) {
        let reel = self.player.reel();
        if self.warned || matches!(reel.reading(), Reading::GoesOn(_)) {
            return;
        }
        // Where there is no room, it is told with the next frame.
        self.warned = odd(&self.name, &reel.warnings())
            .is_none_or(|says| self.messages.try_send(Message::Say(says)).is_ok());
    }

    fn tell(&self) {
        let standing = self.player.standing(self.began.elapsed());
        let (read, broken) = match standing.reading {
            Reading::GoesOn(percent) => (Some(percent), None),
            Reading::Done => (None, None),
            Reading::Broken(why) => (None, Some(why)),
        };
        self.state.send_replace(Some(ReplayState {
            name: self.name.clone(),
            at: standing.at,
            sought: false,
            length: standing.length,
            speed: standing.speed,
            paused: standing.paused,
            opened: self.opened,
            pace: standing.pace,
            looping: standing.looping,
            cut: standing.cut,
            passing: standing.passing,
            read,
            trouble: standing.trouble.or(broken),
            chapters: self.player.reel().chapters(),
            idle: self.player.reel().idle(),
        }));
    }
}

/// What is odd about a recording, in a line.
fn odd(name: &str, warnings: &[Warning]) -> Option<String> {
    let (first, others) = warnings.split_first()?;
    Some(match others.len() {
        0 => format!("{name}: {first}"),
        more => format!("{name}: {first} (and {more} more)"),
    })
}
