//! `comeback [HOST…]`

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{FixedOffset, Local, Offset};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::cli::Color;
use crate::engine::{Confirmation, Control, Hosts, Missing, parse_subject, session_id};
use crate::event::{Act, ActKind, Sink, What};
use crate::method::{Catalogue, Pick, Request};
use crate::recording::Writer;
use crate::session::Session;
use crate::tui::{
    self, Channels, Choice, ColorWhen, Effect, Ended, Feed, Message, Offer, Start, Terminal, Theme,
};

use super::live::Live;
use super::offer::{self, Changed, Named};
use super::prepare::{self, Asked};
use super::{CommandError, Context, connect, output, run};

/// The dashboard; without a host, of this machine.
pub(super) async fn dashboard(
    context: &Arc<Context>,
    hosts: Vec<String>,
) -> Result<i32, CommandError> {
    let theme = theme(context)?;
    let terminal = terminal(context, "`comeback run` works without one")?;
    let catalogue = prepare::catalogue(context)?;
    let names = if hosts.is_empty() {
        vec!["local".to_owned()]
    } else {
        hosts
    };
    let session = Arc::new(Mutex::new(Session::default()));
    let (messages, to_board) = mpsc::channel(64);
    let (effects, from_board) = mpsc::channel(64);
    let (pulse, changes) = watch::channel(0);
    let desk = Desk {
        context: Arc::clone(context),
        catalogue,
        names,
        session: Arc::clone(&session),
        messages,
        pulse,
        hosts: Hosts::new(),
        named: Named::new(),
        changed: Changed::new(),
        sitting: None,
        exit: 0,
        file: None,
    };
    let desk = tokio::spawn(desk.serve(from_board));
    let start = Start {
        theme,
        zone: zone(),
        offer: None,
    };
    let feed = Feed::live(session, changes);
    let ended = tui::run(
        terminal,
        feed,
        start,
        Channels {
            messages: to_board,
            effects,
        },
    )
    .await;
    // What the session left is undone before the program ends, whatever ended the dashboard.
    let desk = desk
        .await
        .map_err(|why| CommandError::Terminal(why.to_string()))?;
    let ended = ended.map_err(|why| CommandError::Terminal(why.to_string()))?;
    if let Some(file) = desk.file {
        output::talk(&format!("comeback: recording: {}", file.display()));
    }
    Ok(match ended {
        Ended::Quit | Ended::Abandoned => desk.exit,
        Ended::Interrupted | Ended::Terminated | Ended::HungUp => desk.exit.max(130),
    })
}

/// The terminal, or a sentence that says what works without one.
pub(super) fn terminal(context: &Context, hint: &str) -> Result<Terminal, CommandError> {
    if !tui::available() {
        return Err(CommandError::Terminal(format!(
            "the dashboard needs a terminal; {hint}"
        )));
    }
    Terminal::open(has_color(context)).map_err(|why| CommandError::Terminal(why.to_string()))
}

fn has_color(context: &Context) -> bool {
    let when = match context.color {
        Color::Auto => ColorWhen::Auto,
        Color::Always => ColorWhen::Always,
        Color::Never => ColorWhen::Never,
    };
    when.is_on(
        std::env::var_os("NO_COLOR").as_deref(),
        std::env::var_os("TERM").as_deref(),
    )
}

/// The theme that was asked for, or the one without colours.
pub(super) fn theme(context: &Context) -> Result<Theme, CommandError> {
    let name = tui::choose(has_color(context), context.theme.as_deref());
    Ok(Theme::load(
        name,
        std::slice::from_ref(&context.paths.themes),
    )?)
}

/// This machine's time zone, now.
pub(super) fn zone() -> FixedOffset {
    Local::now().offset().fix()
}

/// What stands between the dashboard and the engine.
struct Desk {
    context: Arc<Context>,
    catalogue: Catalogue,
    names: Vec<String>,
    session: Arc<Mutex<Session>>,
    messages: mpsc::Sender<Message>,
    pulse: watch::Sender<u64>,
    hosts: Hosts,
    named: Named,
    changed: Changed,
    sitting: Option<Going>,
    exit: i32,
    file: Option<PathBuf>,
}

/// A session that goes on.
struct Going {
    control: Control,
    live: Arc<Live>,
    task: JoinHandle<i32>,
}

impl Desk {
    async fn serve(mut self, mut effects: mpsc::Receiver<Effect>) -> Self {
        self.connect().await;
        self.offer(0).await;
        while let Some(effect) = effects.recv().await {
            match effect {
                Effect::Start(choice) => self.start(choice).await,
                Effect::Refresh { revision } => {
                    self.connect().await;
                    self.offer(revision).await;
                }
                Effect::Set {
                    revision,
                    host,
                    method,
                    key,
                    value,
                } => {
                    self.changed.insert((host, method, key), value);
                    self.offer(revision).await;
                }
                Effect::Stop => self.act(ActKind::Stop, String::new()),
                Effect::PauseAfterRun => self.act(ActKind::Pause, String::new()),
                Effect::Resume => self.act(ActKind::Resume, String::new()),
                Effect::Marker(text) => self.act(ActKind::Marker, text),
                Effect::Quit(_) => break,
                Effect::Confirm { .. } | Effect::Replay(_) | Effect::Suspend => {}
            }
        }
        if let Some(going) = self.sitting.take() {
            if !going.task.is_finished() {
                going.control.stop();
                output::talk("comeback: stopping, and taking away what this session made");
            }
            self.exit = going.task.await.unwrap_or(1);
        }
        self
    }

    async fn say(&self, message: Message) {
        // The dashboard may have ended already.
        let _ = self.messages.send(message).await;
    }

    async fn connect(&mut self) {
        let tools = connect::tools(&self.catalogue);
        let paths = vec!["/var/tmp".to_owned()];
        let names: BTreeSet<String> = self.names.iter().cloned().collect();
        for name in names {
            match connect::probe(&self.context, &name, &tools, &paths).await {
                Ok(known) => {
                    self.hosts.insert(name.clone(), known);
                    self.named.insert(name, Ok(()));
                }
                Err(why) => {
                    self.hosts.remove(&name);
                    self.named.insert(name, Err(why.to_string()));
                }
            }
        }
    }

    async fn offer(&self, revision: u64) {
        let offer: Offer = offer::offer(
            &self.catalogue,
            &self.named,
            &self.hosts,
            &self.changed,
            revision,
        )
        .await;
        self.say(Message::Offer(Box::new(offer))).await;
    }

    async fn start(&mut self, choice: Choice) {
        if self
            .sitting
            .as_ref()
            .is_some_and(|going| !going.task.is_finished())
        {
            return;
        }
        if let Err(why) = self.begin(choice).await {
            self.say(Message::Trouble(why.to_string())).await;
        }
    }

    async fn begin(&mut self, choice: Choice) -> Result<(), CommandError> {
        let asked = self.asked(&choice)?;
        if let Some(host) = asked
            .request
            .hosts()
            .into_iter()
            .find(|name| self.context.config.host(name).read_only)
        {
            return Err(CommandError::Refused(format!(
                "{host} is read-only by the configuration"
            )));
        }
        let hosts = self.hosts.clone();
        let mut prepared = prepare::on(&self.catalogue, &asked, hosts, Missing::new()).await?;
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
        let sitting = run::sitting(id, prepared, &asked, sink, control.clone());
        let (mut changes, pulse) = (live.pulse(), self.pulse.clone());
        let task = tokio::spawn(async move {
            let conduct = sitting.conduct();
            tokio::pin!(conduct);
            loop {
                tokio::select! {
                    end = &mut conduct => {
                        pulse.send_modify(|count| *count += 1);
                        return end.exit;
                    }
                    Ok(()) = changes.changed() => pulse.send_modify(|count| *count += 1),
                }
            }
        });
        self.file = Some(file);
        self.sitting = Some(Going {
            control,
            live,
            task,
        });
        self.say(Message::Began).await;
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
        let request = Request {
            sets: offer::sets(&self.changed, &picks),
            picks,
            ..Request::default()
        };
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
