//! What stands between the dashboard and the engine: hosts, what can run on them, the session.
//!
//! Nothing here is waited for in the loop itself. Each host is connected, probed and asked what can
//! run there by a task of its own: one that is slow or silent holds up no other, and no key.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::engine::{Confirmation, Connected, Control, Hosts, Missing, parse_subject, session_id};
use crate::event::{Act, ActKind, Asker, HostState, Sink, What};
use crate::host::HostError;
use crate::method::{Catalogue, Pick, Request};
use crate::recording::Writer;
use crate::report::Wanted;
use crate::session::Session;
use crate::tui::{Choice, Effect, HostOffer, Message, MethodOffer, Offer};

use super::board::Board;
use super::live::Live;
use super::offer::{self, Changed};
use super::prepare::{self, Asked, Prepared};
use super::{CommandError, Context, connect, log_folders, output, run, save_log};

/// How long a host may take to say what can run there.
const WORKING_OUT: Duration = Duration::from_secs(30);

/// The dashboard's other side.
pub(super) struct Desk {
    context: Arc<Context>,
    catalogue: Arc<Catalogue>,
    names: Vec<String>,
    seats: BTreeMap<String, Seat>,
    board: Board,
    session: Arc<Mutex<Session>>,
    messages: mpsc::Sender<Message>,
    pulse: watch::Sender<u64>,
    changed: Changed,
    /// The last revision that was asked for, and the last one that was answered.
    revision: (u64, u64),
    tasks: JoinSet<News>,
    beginning: bool,
    sitting: Option<Going>,
    /// Of the last session.
    pub exit: i32,
    /// Its recording.
    pub file: Option<PathBuf>,
}

/// A host that was named.
#[derive(Default)]
struct Seat {
    known: Option<Connected>,
    methods: Vec<MethodOffer>,
    standing: Standing,
    /// Connects it and asks what it is; a newer one replaces it.
    probe: Option<AbortHandle>,
    /// What an older probe has to say is not listened to.
    probes: u64,
    /// Nor what an older look at what can run.
    looks: u64,
    /// It was the only one that was there when what can run on it was worked out.
    alone: bool,
    /// A setting was changed, and what would run is not worked out yet.
    stale: bool,
}

#[derive(Default)]
enum Standing {
    #[default]
    Connecting,
    WorkingOut,
    Up,
    Down(String),
}

/// What a task found out.
enum News {
    Probed(String, u64, Box<Result<Connected, HostError>>),
    WorkedOut(String, u64, Option<Vec<MethodOffer>>),
    Prepared(Box<Result<(Prepared, Asked), CommandError>>),
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
    ) -> Self {
        let mut once = BTreeSet::new();
        Self {
            context: Arc::new(context),
            catalogue: Arc::new(catalogue),
            names: names
                .into_iter()
                .filter(|name| once.insert(name.clone()))
                .collect(),
            seats: BTreeMap::new(),
            board,
            session,
            messages,
            pulse,
            changed: Changed::new(),
            revision: (0, 0),
            tasks: JoinSet::new(),
            beginning: false,
            sitting: None,
            exit: 0,
            file: None,
        }
    }

    /// Does what the operator wants, until they leave; then ends the session that goes on.
    pub async fn serve(mut self, mut effects: mpsc::Receiver<Effect>) -> Self {
        self.connect();
        self.offer().await;
        loop {
            tokio::select! {
                effect = effects.recv() => match effect {
                    None | Some(Effect::Quit(_)) => break,
                    Some(effect) => self.take(effect).await,
                },
                Some(news) = self.tasks.join_next() => match news {
                    Ok(news) => self.hear(news).await,
                    Err(why) if why.is_panic() => {
                        self.beginning = false;
                        self.say(Message::Trouble(why.to_string())).await;
                    }
                    // A probe that a newer one replaced.
                    Err(_) => {}
                },
            }
        }
        self.board.close();
        self.tasks.shutdown().await;
        if let Some(going) = self.sitting.take() {
            if !going.task.is_finished() {
                going.control.stop();
                output::talk("comeback: stopping, and taking away what this session made");
            }
            self.exit = going.task.await.unwrap_or(1);
        }
        self
    }

    async fn take(&mut self, effect: Effect) {
        match effect {
            Effect::Start(choice) => self.start(&choice).await,
            Effect::Refresh { revision } => {
                self.revision.0 = revision;
                self.connect();
                self.offer().await;
            }
            Effect::Set {
                revision,
                host,
                method,
                key,
                value,
            } => {
                self.revision.0 = revision;
                self.changed.insert((host.clone(), method, key), value);
                if let Some(seat) = self.seats.get_mut(&host) {
                    seat.stale = true;
                }
                self.work_out(&host);
                self.offer().await;
            }
            Effect::Stop => self.act(ActKind::Stop, String::new()),
            Effect::PauseAfterRun => self.act(ActKind::Pause, String::new()),
            Effect::Resume => self.act(ActKind::Resume, String::new()),
            Effect::Marker(text) => self.act(ActKind::Marker, text),
            Effect::Confirm { ask, answer } => self.board.answered(&ask, answer),
            Effect::Save(wanted) => self.save(wanted),
            Effect::Quit(_)
            | Effect::Replay(_)
            | Effect::Suspend
            | Effect::Copy(_)
            | Effect::Mouse(_) => {}
        }
    }

    async fn hear(&mut self, news: News) {
        match news {
            News::Probed(host, probe, found) => {
                let Some(seat) = self
                    .seats
                    .get_mut(&host)
                    .filter(|seat| seat.probes == probe)
                else {
                    return;
                };
                match *found {
                    Ok(known) => {
                        seat.known = Some(known);
                        seat.standing = Standing::WorkingOut;
                        self.work_out(&host);
                        self.look_again();
                    }
                    Err(why) => {
                        *seat = Seat {
                            standing: Standing::Down(why.to_string()),
                            probes: seat.probes,
                            looks: seat.looks + 1,
                            ..Seat::default()
                        };
                    }
                }
                self.offer().await;
            }
            News::WorkedOut(host, look, methods) => {
                let Some(seat) = self.seats.get_mut(&host).filter(|seat| seat.looks == look) else {
                    return;
                };
                seat.stale = false;
                if let Some(methods) = methods {
                    seat.methods = methods;
                    seat.standing = Standing::Up;
                } else {
                    seat.methods.clear();
                    seat.standing = Standing::Down(format!(
                        "{host}: it did not say within {} s what can run there; try again",
                        WORKING_OUT.as_secs()
                    ));
                }
                self.offer().await;
            }
            News::Prepared(found) => {
                self.beginning = false;
                if let Err(why) =
                    (*found).and_then(|(prepared, asked)| self.begin(prepared, &asked))
                {
                    self.say(Message::Trouble(why.to_string())).await;
                } else {
                    self.say(Message::Began).await;
                }
            }
        }
    }

    async fn say(&self, message: Message) {
        // The dashboard may have ended already.
        let _ = self.messages.send(message).await;
    }

    fn connect(&mut self) {
        let tools = connect::tools(&self.catalogue);
        for name in &self.names {
            let seat = self.seats.entry(name.clone()).or_default();
            seat.probes += 1;
            seat.standing = Standing::Connecting;
            let (context, name, probe) = (Arc::clone(&self.context), name.clone(), seat.probes);
            let tools = tools.clone();
            let task = self.tasks.spawn(async move {
                let paths = ["/var/tmp".to_owned()];
                let found = connect::probe(&context, &name, &tools, &paths).await;
                News::Probed(name, probe, Box::new(found))
            });
            if let Some(older) = seat.probe.replace(task) {
                older.abort();
            }
        }
    }

    /// Where there is a second host now, the first one may run what needs two.
    fn look_again(&mut self) {
        if self.hosts().len() < 2 {
            return;
        }
        let alone = |(name, seat): (&String, &Seat)| seat.alone.then(|| name.clone());
        let alone: Vec<String> = self.seats.iter().filter_map(alone).collect();
        for name in alone {
            self.work_out(&name);
        }
    }

    fn hosts(&self) -> Hosts {
        let known = self.seats.iter();
        known
            .filter_map(|(name, seat)| Some((name.clone(), seat.known.clone()?)))
            .collect()
    }

    fn work_out(&mut self, host: &str) {
        let hosts = self.hosts();
        let Some(seat) = self.seats.get_mut(host) else {
            return;
        };
        seat.looks += 1;
        seat.alone = hosts.len() == 1;
        let (catalogue, changed) = (Arc::clone(&self.catalogue), self.changed.clone());
        let (host, look) = (host.to_owned(), seat.looks);
        self.tasks.spawn(async move {
            let methods = offer::methods(&catalogue, &host, &hosts, &changed);
            let methods = timeout(WORKING_OUT, methods).await.ok();
            News::WorkedOut(host, look, methods)
        });
    }

    async fn offer(&mut self) {
        if !self.seats.values().any(|seat| seat.stale) {
            self.revision.1 = self.revision.0;
        }
        let mut offer = Offer {
            revision: self.revision.1,
            ..Offer::default()
        };
        for (name, seat) in self
            .names
            .iter()
            .filter_map(|name| self.seats.get_key_value(name))
        {
            offer.hosts.push(HostOffer {
                name: name.clone(),
                state: match seat.standing {
                    Standing::Connecting | Standing::WorkingOut => HostState::Connecting,
                    Standing::Up => HostState::Up,
                    Standing::Down(_) => HostState::Down,
                },
                facts: match (&seat.standing, &seat.known) {
                    (Standing::Down(why), _) => why.clone(),
                    (Standing::WorkingOut, _) => "looking what can run there".to_owned(),
                    (_, Some(known)) => offer::line(&known.info.facts),
                    (_, None) => String::new(),
                },
                legacy: self.context.config.host(name).legacy,
            });
            offer.methods.extend(seat.methods.iter().cloned());
        }
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
        if self.beginning || self.goes_on() {
            return;
        }
        match self.asked(choice) {
            Ok(asked) => {
                self.beginning = true;
                // Only those that are used: no other one is touched.
                let wanted = asked.request.hosts();
                let mut hosts = self.hosts();
                hosts.retain(|name, _| wanted.contains(name));
                let catalogue = Arc::clone(&self.catalogue);
                self.tasks.spawn(async move {
                    let prepared = prepare::on(&catalogue, &asked, hosts, Missing::new()).await;
                    News::Prepared(Box::new(prepared.map(|prepared| (prepared, asked))))
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
        let writer = Writer::create(&file)?;
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

    fn asked(&self, choice: &Choice) -> Result<Asked, CommandError> {
        let picks: Vec<Pick> = choice
            .methods
            .iter()
            .map(|picked| Pick {
                host: picked.host.clone(),
                method: picked.method.clone(),
            })
            .collect();
        let hosts = self.hosts();
        let mut roles = BTreeMap::new();
        for pick in &picks {
            let method = self.catalogue.get(&pick.method)?;
            for (role, host) in offer::roles(&method, &pick.host, &hosts, &self.changed) {
                let known = roles.entry(role.clone()).or_insert_with(|| host.clone());
                if *known != host {
                    return Err(CommandError::Arguments(format!(
                        "the picked methods have different hosts as {role} ({known} and {host}); \
                         start them one after the other"
                    )));
                }
            }
        }
        let request = Request {
            sets: offer::sets(&self.changed, &picks),
            picks,
            roles,
            ..Request::default()
        };
        if let Some(host) = request
            .hosts()
            .into_iter()
            .find(|name| self.context.config.host(name).read_only)
        {
            return Err(CommandError::Refused(format!(
                "{host} is read-only by the configuration"
            )));
        }
        let mut confirmed = Vec::new();
        for named in &choice.destroy {
            let (_, kind, id) = parse_subject(&named.what).map_err(CommandError::Arguments)?;
            let host = Some(named.host.clone());
            confirmed.push(Confirmation {
                host,
                kind,
                id,
                name: named.name.clone(),
            });
        }
        Ok(Asked {
            request,
            confirmed,
            reps: choice.reps,
            order: choice.order,
        })
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
