//! `comeback replay`

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};

use crate::cli::ReplayArgs;
use crate::event::{Event, Nanos};
use crate::recording::{Player, Reader, Seek};
use crate::report::Wanted;
use crate::session::Session;
use crate::tui::{self, Channels, Effect, Feed, Message, ReplayState, Start};

use super::{CommandError, Context, dashboard, log_folders, output, report, save_log};

/// Replays a recording in the dashboard, or as text.
pub(super) async fn replay(context: &Context, args: ReplayArgs) -> Result<i32, CommandError> {
    if !(args.speed.is_finite() && args.speed > 0.0) {
        return Err(CommandError::Arguments(format!(
            "--speed: expected a number above 0, not {}",
            args.speed
        )));
    }
    if args.plain {
        let session = report::load(&args.file)?;
        output::data(&crate::report::story(&session))?;
        return Ok(0);
    }
    let theme = dashboard::theme(context)?;
    let terminal = dashboard::terminal(context, "--plain shows the recording as text")?;
    let mut events = Vec::new();
    let mut reader = Reader::open(&args.file)?;
    for event in reader.by_ref() {
        events.push(event?);
    }
    for warning in reader.warnings() {
        output::talk(&format!("comeback: {}: {warning}", args.file.display()));
    }
    let name = args
        .file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let session = Arc::new(Mutex::new(Session::default()));
    let stage = Stage::new(events, args.speed, name, Arc::clone(&session));
    let feed = Feed::replay(session, stage.pulse.subscribe(), stage.state.subscribe());
    let (effects, wanted) = mpsc::channel(16);
    let (messages, says) = mpsc::channel(4);
    let saver = Saver {
        recording: args.file.clone(),
        folders: log_folders(&context.paths),
        messages,
    };
    let player = tokio::spawn(stage.play(wanted, saver));
    let start = Start {
        theme,
        zone: dashboard::zone(),
        offer: None,
        keys: context.keys.clone(),
        mouse: context.config.mouse,
    };
    let ended = tui::run(
        terminal,
        feed,
        start,
        Channels {
            messages: says,
            effects,
        },
    )
    .await;
    player.abort();
    ended.map_err(|why| CommandError::Terminal(why.to_string()))?;
    Ok(0)
}

/// Saves logs out of the recording.
struct Saver {
    recording: PathBuf,
    folders: Vec<PathBuf>,
    messages: mpsc::Sender<Message>,
}

impl Saver {
    fn save(&self, wanted: Wanted) {
        let saved = save_log(self.recording.clone(), wanted, self.folders.clone());
        let messages = self.messages.clone();
        tokio::spawn(async move {
            // The dashboard may have ended already.
            let _ = messages.send(saved.await).await;
        });
    }
}

/// Plays events into a session.
struct Stage {
    player: Player,
    name: String,
    session: Arc<Mutex<Session>>,
    pulse: watch::Sender<u64>,
    state: watch::Sender<ReplayState>,
    began: Instant,
}

impl Stage {
    fn new(events: Vec<Event>, speed: f64, name: String, session: Arc<Mutex<Session>>) -> Self {
        let mut player = Player::new(events);
        player.set_speed(Duration::ZERO, speed);
        let stage = Self {
            player,
            name,
            session,
            pulse: watch::Sender::new(0),
            state: watch::Sender::new(ReplayState::default()),
            began: Instant::now(),
        };
        stage.tell();
        stage
    }

    fn tell(&self) {
        let at = self.player.position(self.began.elapsed());
        let nanos = |length: Duration| Nanos(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX));
        self.state.send_replace(ReplayState {
            name: self.name.clone(),
            at: nanos(at),
            length: nanos(self.player.length()),
            speed: self.player.speed(),
            paused: self.player.is_paused(),
        });
    }

    async fn play(mut self, mut wanted: mpsc::Receiver<Effect>, saver: Saver) {
        loop {
            let now = self.began.elapsed();
            let due = self.player.due(now);
            if !due.is_empty() {
                let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
                for event in due {
                    session.apply(event);
                }
                drop(session);
                self.pulse.send_modify(|count| *count += 1);
            }
            self.tell();
            let wait = self.player.wait(now);
            let pause = async {
                match wait {
                    Some(wait) => tokio::time::sleep(wait.max(Duration::from_millis(5))).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = pause => {}
                effect = wanted.recv() => match effect {
                    Some(Effect::Replay(to)) => self.steer(to),
                    Some(Effect::Save(wanted)) => saver.save(wanted),
                    Some(_) => {}
                    None => return,
                }
            }
        }
    }

    fn steer(&mut self, to: tui::Player) {
        let now = self.began.elapsed();
        match to {
            tui::Player::Pause => self.player.pause(now),
            tui::Player::Play => self.player.resume(now),
            tui::Player::Speed(speed) => self.player.set_speed(now, speed),
            tui::Player::Seek(to) => {
                if self.player.seek(now, Duration::from_nanos(to.0)) == Seek::Back {
                    *self.session.lock().unwrap_or_else(PoisonError::into_inner) =
                        Session::default();
                }
            }
        }
    }
}
