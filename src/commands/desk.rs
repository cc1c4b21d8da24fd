//! What stands between the dashboard and the engine: what can be picked, and the session that
//! goes on.
//!
//! Nothing here is waited for in the loop itself: hosts and sessions have tasks of their own.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::engine::{Control, Missing, session_id};
use crate::event::{Act, ActKind, Asker, Sink, What};
use crate::method::Catalogue;
use crate::recording::Writer;
use crate::report::Wanted;
use crate::session::Session;
use crate::tui::{Choice, Effect, Message};

use super::board::Board;
use super::live::Live;
use super::prepare::{self, Asked, Prepared};
use super::screening::Screening;
use super::seats::{Seats, Seen};
use super::{CommandError, Context, log_folders, output, run, save_log};

/// The dashboard's other side.
pub(super) struct Desk {
    context: Arc<Context>,
    catalogue: Arc<Catalogue>,
    seats: Seats,
    board: Board,
    session: Arc<Mutex<Session>>,
    messages: mpsc::Sender<Message>,
    pulse: watch::Sender<u64>,
    /// Looks at what was picked once more, before it starts.
    starting: JoinSet<Result<(Prepared, Asked), CommandError>>,
    sitting: Option<Going>,
    /// Shows recordings, where no run goes on.
    screening: Screening,
    /// Of the last session.
    pub exit: i32,
    /// Its recording.
    pub file: Option<PathBuf>,
    /// What each session has left on hosts, in words, with its recording.
    pub left: Vec<(PathBuf, String)>,
}

/// A session that goes on.
struct Going {
    control: Control,
    live: Arc<Live>,
    task: JoinHandle<i32>,
}

impl Desk {
    pub fn new(
        context: Context,
        catalogue: Catalogue,
        names: Vec<String>,
        session: Arc<Mutex<Session>>,
        (messages, pulse): (mpsc::Sender<Message>, watch::Sender<u64>),
        board: Board,
        screening: Screening,
    ) -> Self {
        let (context, catalogue) = (Arc::new(context), Arc::new(catalogue));
        Self {
            seats: Seats::new(Arc::clone(&context), Arc::clone(&catalogue), names),
            context,
            catalogue,
            board,
            session,
            messages,
            pulse,
            starting: JoinSet::new(),
            sitting: None,
            screening,
            exit: 0,
            file: None,
            left: Vec::new(),
        }
    }

    /// Does what the operator wants, until they leave; then ends the session that goes on.
    pub async fn serve(mut self, mut effects: mpsc::Receiver<Effect>) -> Self {
        self.offer().await;
        loop {
            tokio::select! {
                effect = effects.recv() => match effect {
                    None | Some(Effect::Quit(_)) => break,
                    Some(effect) => self.take(effect).await,
                },
                seen = self.seats.next() => {
                    if let Seen::Broken(why) = &seen {
                        self.say(Message::Trouble(why.clone())).await;
                    }
                    if self.seats.hear(seen) {
                        self.offer().await;
                    }
                }
                Some(prepared) = self.starting.join_next() => {
                    let prepared = prepared.unwrap_or_else(|why| {
                        Err(CommandError::Broken(why.to_string()))
                    });
                    let begun = prepared.and_then(|(prepared, asked)| self.begin(prepared, &asked));
                    self.say(match begun {
                        Ok(()) => Message::Began,
                        Err(why) => Message::Trouble(why.to_string()),
                    }).await;
                }
                // What it took is history for the next one.
                exit = ended(&mut self.sitting) => {
                    self.over(exit);
                    self.seats.read_history();
                }
            }
        }
        // First of all: nothing that is waited for below may hold it up.
        if let Some(going) = self
            .sitting
            .as_ref()
            .filter(|going| !going.task.is_finished())
        {
            going.control.stop();
            output::talk("comeback: stopping, and taking away what this session made");
        }
        self.board.close();
        self.starting.shutdown().await;
        self.seats.close().await;
        if self.sitting.is_some() {
            let exit = ended(&mut self.sitting).await;
            self.over(exit);
        }
        self
    }

    /// A session is over; what is shown next may be another one.
    fn over(&mut self, exit: i32) {
        self.exit = exit;
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        self.left.extend(
            self.file
                .iter()
                .filter_map(|file| Some((file.clone(), run::left(&session, file)?))),
        );
    }

    async fn take(&mut self, effect: Effect) {
        match effect {
            Effect::Start(choice) => self.start(&choice).await,
            Effect::Refresh { revision } => {
                self.seats.refresh(revision);
                self.offer().await;
            }
            Effect::Set {
                revision,
                host,
                method,
                key,
                value,
            } => {
                self.seats.set(revision, (host, method, key), value);
                self.offer().await;
            }
            Effect::Protect {
                revision,
                host,
                subject,
            } => {
                self.seats.protect(revision, &host, subject);
                self.offer().await;
            }
            Effect::Stop => self.act(ActKind::Stop, String::new()),
            Effect::PauseAfterRun => self.act(ActKind::Pause, String::new()),
            Effect::Resume => self.act(ActKind::Resume, String::new()),
            Effect::Marker(text) => self.act(ActKind::Marker, text),
            Effect::Confirm { ask, answer } => self.board.answered(&ask, answer),
            Effect::Save(wanted) if !self.screening.is_on() => self.save(wanted),
            // A run's figures are not to hold what reading recordings costs.
            _ if !self.starting.is_empty() || self.goes_on() => {}
            effect => self.screening.take(effect).await,
        }
    }

    async fn say(&self, message: Message) {
        // The dashboard may have ended already.
        let _ = self.messages.send(message).await;
    }

    async fn offer(&mut self) {
        let offer = self.seats.offer();
        self.say(Message::Offer(Box::new(offer))).await;
    }

    /// Saves a log out of the session's recording.
    fn save(&mut self, wanted: Wanted) {
        let Some(file) = self.file.clone() else {
            return;
        };
        if let Some(going) = &self.sitting {
            going.live.flush();
        }
        let folders = log_folders(&self.context.paths);
        let saved = save_log(file, wanted, folders);
        let messages = self.messages.clone();
        tokio::spawn(async move {
            // The dashboard may have ended already.
            let _ = messages.send(saved.await).await;
        });
    }

    fn goes_on(&self) -> bool {
        let sitting = self.sitting.as_ref();
        sitting.is_some_and(|going| !going.task.is_finished())
    }

    async fn start(&mut self, choice: &Choice) {
        if !self.starting.is_empty() || self.goes_on() {
            return;
        }
        match self.seats.asked(choice) {
            Ok(asked) => {
                // Only those that are used: no other one is touched.
                let wanted = asked.request.hosts();
                let mut hosts = self.seats.hosts();
                hosts.retain(|name, _| wanted.contains(name));
                let catalogue = Arc::clone(&self.catalogue);
                self.starting.spawn(async move {
                    let prepared = prepare::on(&catalogue, &asked, hosts, Missing::new()).await;
                    prepared.map(|prepared| (prepared, asked))
                });
            }
            Err(why) => self.say(Message::Trouble(why.to_string())).await,
        }
    }

    fn begin(&mut self, mut prepared: Prepared, asked: &Asked) -> Result<(), CommandError> {
        if prepared.bounds.is_empty()
            && let Some((_, why)) = prepared.missing.pop_first()
        {
            return Err(why.into());
        }
        for (bound, check) in prepared.bounds.iter().zip(&prepared.checks) {
            if let Some(why) = check.refusal() {
                return Err(CommandError::Refused(format!(
                    "{}: {why}",
                    bound.method.name
                )));
            }
        }
        let id = session_id();
        let file = run::recording_file(&self.context, &id);
        run::outside_of_subjects(&file, &prepared.bounds)?;
        let writer = Writer::create(&file)?;
        self.screening.leave();
        self.seats.leave_history();
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Session::default();
        let live = Arc::new(Live::new(writer, Arc::clone(&self.session), false));
        let control = Control::default();
        let sink: Arc<dyn Sink> = Arc::clone(&live) as Arc<dyn Sink>;
        let asking = Arc::clone(&self.context.asking);
        asking.tell_to(Some(Arc::clone(&sink)));
        let asker = Arc::clone(&asking) as Arc<dyn Asker>;
        let sitting = run::sitting(id, prepared, asked, sink, control.clone(), asker);
        let (mut changes, pulse) = (live.pulse(), self.pulse.clone());
        let task = tokio::spawn(async move {
            let conduct = sitting.conduct();
            tokio::pin!(conduct);
            let exit = loop {
                tokio::select! {
                    end = &mut conduct => {
                        pulse.send_modify(|count| *count += 1);
                        break end.exit;
                    }
                    Ok(()) = changes.changed() => pulse.send_modify(|count| *count += 1),
                }
            };
            asking.tell_to(None);
            exit
        });
        self.file = Some(file);
        self.sitting = Some(Going {
            control,
            live,
            task,
        });
        Ok(())
    }

    fn act(&self, act: ActKind, text: String) {
        let Some(going) = &self.sitting else { return };
        if going.task.is_finished() {
            return;
        }
        going.live.tell(What::Act(Act { act, text }));
        match act {
            ActKind::Stop => going.control.stop(),
            ActKind::Pause => going.control.pause(true),
            ActKind::Resume => going.control.pause(false),
            ActKind::Marker | ActKind::Note | ActKind::Confirmed => {}
        }
    }
}

/// Waits for the session that goes on, without an end where there is none; gives its exit code.
/// Its recording is nobody's after that.
async fn ended(sitting: &mut Option<Going>) -> i32 {
    let Some(going) = sitting else {
        return std::future::pending().await;
    };
    let exit = (&mut going.task).await.unwrap_or(1);
    *sitting = None;
    exit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::End;
    use crate::recording::{DeleteError, delete};
    use crate::session::story::Story;

    #[tokio::test]
    async fn a_session_that_has_ended_lets_go_of_its_recording() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.jsonl");
        let writer = Writer::create(&file).unwrap();
        let live = Arc::new(Live::new(writer, Arc::default(), false));
        live.tell(Story::new().events()[0].what.clone());
        let (exit, reason) = (3, "done".to_owned());
        live.tell(What::End(End { exit, reason }));
        live.flush();
        let mut sitting = Some(Going {
            control: Control::default(),
            live,
            task: tokio::spawn(async move { exit }),
        });
        let why = delete(folder.path(), &file).unwrap_err();
        assert!(matches!(why, DeleteError::InUse { .. }), "{why}");
        assert_eq!(ended(&mut sitting).await, exit);
        assert!(sitting.is_none());
        delete(folder.path(), &file).unwrap();
    }
}
