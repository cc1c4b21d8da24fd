//! The loop: what it draws, and when.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::backend::TestBackend;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::super::app::{Canvas, drive};
use super::super::input::Input;
use super::super::keys::Keymap;
use super::super::message::{Effect, Ended, Message, ReplayState};
use super::super::model::Model;
use super::super::theme::{Shelf, Theme};
use super::super::{Channels, Feed, Start, TuiError, view};
use super::fixture::Tale;
use super::offers::offer;
use super::snapshot::{text, utc};
use crate::event::{Event, Nanos, ProgressKind};
use crate::session::Session;

/// A canvas that can be looked at while it is drawn on.
struct Paper {
    seen: Arc<Seen>,
    input: Option<mpsc::Receiver<Input>>,
}

#[derive(Default)]
struct Seen {
    frames: AtomicUsize,
    suspended: AtomicUsize,
    size: Mutex<(u16, u16)>,
    screen: Mutex<String>,
    is_gone: Mutex<bool>,
    is_broken: Mutex<bool>,
    copied: Mutex<Vec<String>>,
    mouse: Mutex<bool>,
}

impl Canvas for Paper {
    fn size(&self) -> io::Result<(u16, u16)> {
        Ok(*self.seen.size.lock().unwrap())
    }

    fn input(&mut self) -> mpsc::Receiver<Input> {
        self.input.take().unwrap()
    }

    fn draw(&mut self, model: &Model, session: &Mutex<Session>) -> io::Result<()> {
        if *self.seen.is_gone.lock().unwrap() {
            return Err(io::Error::from_raw_os_error(
                rustix::io::Errno::IO.raw_os_error(),
            ));
        }
        assert!(
            !*self.seen.is_broken.lock().unwrap(),
            "what draws has panicked"
        );
        let backend = TestBackend::new(model.size.0, model.size.1);
        let mut terminal = ratatui::Terminal::new(backend).unwrap();
        terminal
            .draw(|frame| view(model, &session.lock().unwrap(), frame))
            .unwrap();
        *self.seen.screen.lock().unwrap() = text(terminal.backend().buffer());
        self.seen.frames.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn redraw(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn suspend(&mut self) -> io::Result<()> {
        self.seen.suspended.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn resume(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        self.seen.copied.lock().unwrap().push(text.to_owned());
        Ok(())
    }

    fn mouse(&mut self, on: bool) -> io::Result<()> {
        *self.seen.mouse.lock().unwrap() = on;
        Ok(())
    }

    async fn panicked(&self) {
        std::future::pending::<()>().await;
    }
}

/// A dashboard that runs, and the other ends of all it is connected to.
struct Board {
    seen: Arc<Seen>,
    keys: mpsc::Sender<Input>,
    messages: mpsc::Sender<Message>,
    effects: mpsc::Receiver<Effect>,
    session: Arc<Mutex<Session>>,
    pulse: watch::Sender<u64>,
    task: JoinHandle<Result<Ended, TuiError>>,
}

impl Board {
    fn of(session: Session, replay: Option<watch::Receiver<Option<ReplayState>>>) -> Self {
        let seen = Arc::new(Seen::default());
        *seen.size.lock().unwrap() = (120, 40);
        let (keys, input) = mpsc::channel(64);
        let paper = Paper {
            seen: Arc::clone(&seen),
            input: Some(input),
        };
        let session = Arc::new(Mutex::new(session));
        let (pulse, changes) = watch::channel(0);
        let mut feed = Feed::live(Arc::clone(&session), changes);
        feed.replay = replay;
        let (messages, to_board) = mpsc::channel(2048);
        let (to_engine, effects) = mpsc::channel(4);
        let start = Start {
            theme: Theme::load("mono", &[]).unwrap(),
            shelf: Shelf::default(),
            zone: utc(),
            offer: Some(offer()),
            keys: Keymap::default(),
            mouse: false,
        };
        let channels = Channels {
            messages: to_board,
            effects: to_engine,
        };
        let task = tokio::spawn(drive(paper, None, feed, start, channels));
        Self {
            seen,
            keys,
            messages,
            effects,
            session,
            pulse,
            task,
        }
    }

    async fn press(&self, keys: &str) {
        for c in keys.chars() {
            let code = if c == '\n' {
                KeyCode::Enter
            } else {
                KeyCode::Char(c)
            };
            self.keys
                .send(Input::Key(KeyEvent::new(code, KeyModifiers::NONE)))
                .await
                .unwrap();
        }
    }

    fn frames(&self) -> usize {
        self.seen.frames.load(Ordering::SeqCst)
    }

    async fn wait_for(&self, what: &str) {
        let shown = async {
            while !self.seen.screen.lock().unwrap().contains(what) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(20), shown).await;
        assert!(
            in_time.is_ok(),
            "{what} was not shown:\n{}",
            self.seen.screen.lock().unwrap()
        );
    }

    fn apply(&self, event: &Event) {
        self.session.lock().unwrap().apply(event);
        self.pulse.send_modify(|n| *n += 1);
    }
}

#[tokio::test]
async fn nothing_is_drawn_when_nothing_happens() {
    let board = Board::of(Session::default(), None);
    board.wait_for("guest-archive").await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    let before = board.frames();
    tokio::time::sleep(Duration::from_millis(1300)).await;
    assert_eq!(board.frames(), before);
    board.press("j").await;
    board.wait_for("▸ [ ] guest-archive").await;
}

#[tokio::test]
async fn a_flood_is_drawn_once_in_a_while() {
    let board = Board::of(Session::default(), None);
    board.wait_for("guest-archive").await;
    let before = board.frames();
    for n in 0..2000 {
        board
            .messages
            .send(Message::Say(format!("message {n}.")))
            .await
            .unwrap();
        board.pulse.send_modify(|n| *n += 1);
    }
    board.wait_for("message 1999.").await;
    // 2000 messages in as many frames as there were thirtieths of a second, and not in 2000.
    assert!(board.frames() - before < 500, "{}", board.frames() - before);
}

#[tokio::test]
async fn what_draws_panics_and_only_the_dashboard_ends() {
    let mut board = Board::of(Session::default(), None);
    board.wait_for("guest-archive").await;
    *board.seen.is_broken.lock().unwrap() = true;
    board.press("j").await;
    let ended = board.task.await.unwrap();
    assert!(matches!(ended, Err(TuiError::Panicked)), "{ended:?}");
    // Who runs the session learns that nobody watches any more.
    assert!(board.effects.recv().await.is_none());
}

#[tokio::test]
async fn clocks_go_on_while_a_session_does() {
    let board = Board::of(Session::default(), None);
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    board.messages.send(Message::Began).await.unwrap();
    for event in &tale.told {
        board.apply(event);
    }
    board.wait_for("following").await;
    let before = board.frames();
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert!(board.frames() > before);
}

#[tokio::test]
async fn what_is_wanted_goes_out_and_the_end_comes_last() {
    let mut board = Board::of(Session::default(), None);
    board.press(" \n").await;
    assert!(matches!(board.effects.recv().await, Some(Effect::Start(_))));
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    board.messages.send(Message::Began).await.unwrap();
    for event in &tale.told {
        board.apply(event);
    }
    board.wait_for("following").await;
    board.press("mhere\nql\n").await;
    assert_eq!(
        board.effects.recv().await,
        Some(Effect::Marker("here".into()))
    );
    assert_eq!(board.effects.recv().await, Some(Effect::Stop));
    let end = crate::event::End {
        exit: 130,
        reason: "stopped".into(),
    };
    board.apply(&Event {
        seq: 9999,
        t: tale.now(),
        what: crate::event::What::End(end),
    });
    assert_eq!(board.effects.recv().await, Some(Effect::Quit(Ended::Quit)));
    assert_eq!(board.effects.recv().await, None);
    assert_eq!(board.task.await.unwrap().unwrap(), Ended::Quit);
}

#[tokio::test]
async fn effects_that_nobody_takes_do_not_stop_the_screen() {
    let mut board = Board::of(Session::default(), None);
    board.press("rrrrrrrrrrrrrrrrrrrr").await;
    board.press("j").await;
    board.wait_for("▸ [ ] guest-archive").await;
    for revision in 1..=20 {
        assert_eq!(
            board.effects.recv().await,
            Some(Effect::Refresh { revision })
        );
    }
}

#[tokio::test]
async fn a_new_size_is_used_at_once() {
    let board = Board::of(Session::default(), None);
    board.wait_for("guest-archive").await;
    *board.seen.size.lock().unwrap() = (60, 12);
    board
        .messages
        .send(Message::Say("smaller".into()))
        .await
        .unwrap();
    board.wait_for("smaller").await;
    let lines = board.seen.screen.lock().unwrap().lines().count();
    assert_eq!(lines, 12);
}

#[tokio::test]
async fn a_terminal_that_is_gone_ends_it() {
    let board = Board::of(Session::default(), None);
    board.wait_for("guest-archive").await;
    *board.seen.is_gone.lock().unwrap() = true;
    board.press("j").await;
    assert_eq!(board.task.await.unwrap().unwrap(), Ended::HungUp);

    let board = Board::of(Session::default(), None);
    board.keys.send(Input::Closed).await.unwrap();
    assert_eq!(board.task.await.unwrap().unwrap(), Ended::HungUp);
}

#[tokio::test]
async fn an_engine_that_is_gone_is_an_error() {
    let board = Board::of(Session::default(), None);
    drop(board.effects);
    board
        .keys
        .send(Input::Key(KeyEvent::new(
            KeyCode::Char('r'),
            KeyModifiers::NONE,
        )))
        .await
        .unwrap();
    assert!(matches!(board.task.await.unwrap(), Err(TuiError::Deserted)));
}

#[tokio::test]
async fn the_background_is_the_loops_own_business() {
    let mut board = Board::of(Session::default(), None);
    let key = KeyEvent::new(KeyCode::Char('z'), KeyModifiers::CONTROL);
    board.keys.send(Input::Key(key)).await.unwrap();
    board.press("r").await;
    assert!(matches!(
        board.effects.recv().await,
        Some(Effect::Refresh { .. })
    ));
    assert_eq!(board.seen.suspended.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_replay_shows_where_it_stands() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let at = tale.now();
    let state = ReplayState {
        name: "monday".into(),
        at,
        length: Nanos(900_000_000_000),
        speed: 2.0,
        paused: true,
        ..ReplayState::default()
    };
    let (steer, replay) = watch::channel(Some(state.clone()));
    let board = Board::of(tale.session, Some(replay));
    board.wait_for("monday · held").await;
    steer.send_replace(Some(ReplayState {
        paused: false,
        pace: 2.0,
        ..state
    }));
    board.wait_for("monday · 2×").await;
}
