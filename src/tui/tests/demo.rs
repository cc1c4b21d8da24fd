//! The dashboard to look at, with a session that was made up:
//!
//!     cargo test --lib tui::tests::demo -- --ignored --nocapture
//!
//! `COMEBACK_DEMO` is `failed`, `finished` or `unknown` instead of a run that goes on; `COMEBACK_SPEED`
//! is how many times as fast as it would happen (20); `COMEBACK_THEME` names a theme.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use super::super::keys::Keymap;
use super::super::message::{Effect, Message};
use super::super::theme::{ColorWhen, Theme, choose};
use super::super::{Channels, Feed, Start, Terminal, run};
use super::fixture::Tale;
use super::offers::offer;
use crate::event::{Event, ProgressKind};
use crate::session::Session;

fn told() -> Vec<Event> {
    match std::env::var("COMEBACK_DEMO").as_deref() {
        Ok("failed") => Tale::failed().told,
        Ok("finished") => Tale::finished().told,
        Ok("unknown") => Tale::restoring(ProgressKind::Unknown).0.told,
        Ok("estimated") => Tale::restoring(ProgressKind::Estimated).0.told,
        _ => Tale::restoring(ProgressKind::Exact).0.told,
    }
}

#[test]
#[ignore = "to be looked at"]
fn demo() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let env = |name| std::env::var_os(name);
    let has_color = ColorWhen::Auto.is_on(env("NO_COLOR").as_deref(), env("TERM").as_deref());
    let theme = std::env::var("COMEBACK_THEME").ok();
    let session = Arc::new(Mutex::new(Session::default()));
    let (ping, changes) = watch::channel(0);
    let (messages, from_engine) = mpsc::channel(8);
    let (effects, to_engine) = mpsc::channel(8);
    let start = Start {
        theme: Theme::load(choose(has_color, theme.as_deref()), &[]).unwrap(),
        shelf: super::super::theme::Shelf::default(),
        zone: *chrono::Local::now().offset(),
        offer: Some(offer()),
        keys: Keymap::default(),
        mouse: false,
    };
    let channels = Channels {
        messages: from_engine,
        effects,
    };
    let feed = Feed::live(session.clone(), changes);
    let ended = runtime.block_on(async {
        tokio::spawn(engine(session, ping, to_engine, messages));
        run(Terminal::open(has_color).unwrap(), feed, start, channels).await
    });
    println!("{ended:?}");
}

async fn engine(
    session: Arc<Mutex<Session>>,
    ping: watch::Sender<u64>,
    mut effects: mpsc::Receiver<Effect>,
    messages: mpsc::Sender<Message>,
) {
    let speed = std::env::var("COMEBACK_SPEED")
        .ok()
        .and_then(|speed| speed.parse().ok())
        .unwrap_or(20.0);
    while let Some(effect) = effects.recv().await {
        match effect {
            Effect::Start(_) => {
                let _ = messages.send(Message::Began).await;
                let (session, ping) = (session.clone(), ping.clone());
                tokio::spawn(play(session, ping, speed));
            }
            Effect::Stop => {
                let end = crate::event::End {
                    exit: 130,
                    reason: "stopped by the operator; all is undone".into(),
                };
                let mut session = session.lock().unwrap();
                let event = Event {
                    seq: 99_999,
                    t: session.now,
                    what: crate::event::What::End(end),
                };
                session.apply(&event);
                ping.send_modify(|n| *n += 1);
            }
            other => {
                let _ = messages.send(Message::Say(format!("{other:?}"))).await;
            }
        }
    }
}

async fn play(session: Arc<Mutex<Session>>, ping: watch::Sender<u64>, speed: f64) {
    let mut last = 0.0;
    for event in told() {
        let seconds = event.t.seconds();
        tokio::time::sleep(Duration::from_secs_f64((seconds - last) / speed)).await;
        last = seconds;
        session.lock().unwrap().apply(&event);
        ping.send_modify(|n| *n += 1);
    }
}
