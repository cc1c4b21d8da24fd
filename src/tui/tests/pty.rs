//! The real terminal: taken once, given back once, whatever happens.
//!
//! The test binary runs itself again in a pseudo-terminal, where [`child`] is the program.

mod program;

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use portable_pty::PtySize;
use program::{Program, Said, cells};
use rustix::process::Signal;
use tokio::sync::{mpsc, watch};

use super::super::app::drive;
use super::super::keys::Keymap;
use super::super::message::{Effect, Message};
use super::super::theme::{ColorWhen, Shelf};
use super::super::{Channels, Feed, Start, Terminal, run};
use super::fixture::Tale;
use super::offers::offer;
use crate::event::{End, Event, Nanos, ProgressKind, What};
use crate::session::Session;

/// What the child is to do.
const MODE: &str = "COMEBACK_TEST_CHILD";
/// Where it says how it ended.
const REPORT: &str = "COMEBACK_TEST_REPORT";
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
#[ignore = "the program that the other tests here run in a pseudo-terminal"]
fn child() {
    let Ok(mode) = std::env::var(MODE) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let ended = runtime.block_on(dashboard(&mode));
    let ended = match ended {
        Ok(ended) => format!("ended: {ended:?}"),
        Err(why) => format!("error: {why}"),
    };
    // There may be no terminal any more.
    let _ = writeln!(std::io::stdout(), "{ended}\r");
    if let Ok(report) = std::env::var(REPORT) {
        std::fs::write(report, ended).unwrap();
    }
}

async fn dashboard(mode: &str) -> Result<super::super::Ended, super::super::TuiError> {
    let env = |name| std::env::var_os(name);
    let has_color = ColorWhen::Auto.is_on(env("NO_COLOR").as_deref(), env("TERM").as_deref());
    let session = if mode == "picking" {
        Session::default()
    } else {
        Tale::restoring(ProgressKind::Exact).0.session
    };
    let session = Arc::new(Mutex::new(session));
    let (ping, changes) = watch::channel(0);
    let (messages, from_engine) = mpsc::channel(8);
    let (effects, to_engine) = mpsc::channel(8);
    if mode != "picking" {
        messages.send(Message::Began).await.unwrap();
    }
    tokio::spawn(engine(session.clone(), ping, to_engine, messages));
    let shelf = Shelf {
        has_color,
        ..Shelf::default()
    };
    let start = Start {
        theme: shelf.load(None).unwrap(),
        shelf,
        zone: super::snapshot::utc(),
        offer: Some(offer()),
        keys: Keymap::default(),
        mouse: mode != "no-mouse",
    };
    let channels = Channels {
        messages: from_engine,
        effects,
    };
    let terminal = Terminal::open(has_color)?;
    if mode == "panic" {
        tokio::spawn(async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            panic!("a task has panicked");
        });
    }
    let feed = Feed::live(session, changes);
    if mode == "no-signals" {
        return drive(terminal, None, feed, start, channels).await;
    }
    run(terminal, feed, start, channels).await
}

/// Ends the session when it is told to stop.
async fn engine(
    session: Arc<Mutex<Session>>,
    ping: watch::Sender<u64>,
    mut effects: mpsc::Receiver<Effect>,
    messages: mpsc::Sender<Message>,
) {
    while let Some(effect) = effects.recv().await {
        if effect == Effect::Stop {
            let end = What::End(End {
                exit: 130,
                reason: "stopped".into(),
            });
            session.lock().unwrap().apply(&Event {
                seq: 9999,
                t: Nanos(1 << 40),
                what: end,
            });
            ping.send_modify(|n| *n += 1);
        }
    }
    drop(messages);
}

#[test]
fn leaving_gives_the_terminal_back() {
    let mut program = Program::start("watching", &[], None);
    program.wait_for("following");
    assert!(
        program
            .said
            .lock()
            .unwrap()
            .screen
            .screen()
            .alternate_screen()
    );
    program.press("q");
    program.wait_for("A run is going on");
    program.press("l\r");
    program.wait_for("ended: Quit");
    program.is_given_back(1);
}

#[test]
fn a_panic_in_a_task_gives_the_terminal_back_and_ends_it() {
    let program = Program::start("panic", &[], None);
    program.wait_for("error: a part of the program failed");
    program.wait_for("a task has panicked");
    program.is_given_back(1);
}

#[test]
fn signals_give_the_terminal_back() {
    for (signal, ended) in [
        (Signal::TERM, "Terminated"),
        (Signal::HUP, "HungUp"),
        (Signal::INT, "Interrupted"),
        (Signal::QUIT, "Terminated"),
    ] {
        let program = Program::start("watching", &[], None);
        program.wait_for("following");
        program.signal(signal);
        program.wait_for(&format!("ended: {ended}"));
        program.is_given_back(1);
    }
}

#[test]
fn in_the_background_and_back() {
    let mut program = Program::start("watching", &[], Some(&["-i"]));
    program.wait_for("prompt>");
    program.press("$CHILD\r");
    program.wait_for("following");
    program.press("\u{1a}");
    program.wait("the shell", |said| !said.screen.screen().alternate_screen());
    program.is_given_back(1);
    program.press("echo $((6*7))\r");
    program.wait_for("42");
    program.press("fg\r");
    program.wait_for("following");
    program.press("?");
    program.wait_for("Watching a run");
    program.press("q");
    program.press("q");
    program.wait_for("A run is going on");
    program.press("l\r");
    program.wait_for("ended: Quit");
    program.is_given_back(2);
}

#[test]
fn a_terminal_that_is_gone_ends_it() {
    // With SIGHUP, as a shell has it, and without, as under nohup.
    for (mode, shell) in [
        ("watching", None),
        ("no-signals", Some(&["-c", "trap '' HUP; exec $CHILD"][..])),
    ] {
        let mut program = Program::start(mode, &[], shell);
        program.wait_for("following");
        // Its clock goes on once a second: that wakes the thread that reads.
        program.said.lock().unwrap().is_gone = true;
        program.keys = None;
        program.master = None;
        assert_eq!(program.report(), "ended: HungUp", "{mode}");
    }
}

#[test]
fn a_new_size_is_drawn() {
    let program = Program::start("watching", &[], None);
    program.wait_for("following");
    program
        .said
        .lock()
        .unwrap()
        .screen
        .screen_mut()
        .set_size(cells(40), cells(120));
    let size = PtySize {
        rows: 40,
        cols: 120,
        pixel_width: 0,
        pixel_height: 0,
    };
    program.master.as_ref().unwrap().resize(size).unwrap();
    program.wait_for("3 × 3, interleaved");
}

#[test]
fn a_key_that_comes_with_a_new_size_is_not_late() {
    let mut program = Program::start("watching", &[], None);
    program.wait_for("following");
    for (rows, key, wanted) in [(30, "?", "Watching a run"), (24, "q", "following")] {
        let size = PtySize {
            rows,
            cols: 80,
            pixel_width: 0,
            pixel_height: 0,
        };
        program.master.as_ref().unwrap().resize(size).unwrap();
        let set = |said: &mut Said| said.screen.screen_mut().set_size(cells(rows), cells(80));
        set(&mut program.said.lock().unwrap());
        program.press(key);
        program.wait(wanted, |said| {
            let text = said.screen.screen().contents();
            text.contains(wanted) && text.contains("Keys") == (key == "?")
        });
    }
}

#[test]
fn the_mouse_is_taken_and_given_back() {
    const ON: &str = "\u{1b}[?1000h\u{1b}[?1006h";
    const OFF: &str = "\u{1b}[?1006l\u{1b}[?1000l";
    let mut program = Program::start("watching", &[], None);
    program.wait_for("following");
    assert_eq!((program.count(ON), program.count(OFF)), (1, 0));
    // What the pointer passes over is not asked for.
    assert_eq!(program.count("?1003h") + program.count("?1002h"), 0);
    // A turn of the wheel over the log, in row 14.
    program.press("\u{1b}[<64;20;14M");
    program.wait_for("f follows");
    program.press("M");
    program.wait_for("The mouse selects text");
    assert_eq!((program.count(ON), program.count(OFF)), (1, 1));
    program.press("M");
    program.wait_for("The wheel scrolls");
    assert_eq!(program.count(ON), 2);
    program.signal(Signal::TERM);
    program.wait_for("ended: Terminated");
    assert_eq!(program.count(OFF), 2);
    program.is_given_back(1);
}

#[test]
fn a_mouse_that_is_not_wanted_is_not_taken() {
    let program = Program::start("no-mouse", &[], None);
    program.wait_for("following");
    assert_eq!(program.count("?1000h"), 0);
}

#[test]
fn what_is_copied_reaches_the_terminal_as_base64() {
    let mut program = Program::start("watching", &[], None);
    program.wait_for("following");
    program.press("yc");
    program.wait_for("Copied the command of restore");
    let said = program.said.lock().unwrap();
    let text = String::from_utf8_lossy(&said.bytes);
    let osc = regex::Regex::new("\u{1b}\\]52;c;([A-Za-z0-9+/=]*)\u{7}").unwrap();
    let all: Vec<_> = osc.captures_iter(&text).collect();
    assert_eq!(all.len(), 1);
    let copied = base64::engine::general_purpose::STANDARD
        .decode(&all[0][1])
        .unwrap();
    let copied = String::from_utf8(copied).unwrap();
    assert!(
        copied.starts_with("qmrestore ") && !copied.contains('\u{1b}'),
        "{copied}"
    );
}

#[test]
fn without_colours_the_selected_row_is_still_seen() {
    let mut program = Program::start("picking", &[("NO_COLOR", "1")], None);
    program.wait_for("guest-archive");
    program.press("j");
    let inverse = |said: &Said, wanted: &str| {
        let screen = said.screen.screen();
        let row = (0..24).find(|row| screen.rows(0, 80).nth(*row).unwrap().contains(wanted));
        row.is_some_and(|row| {
            screen
                .cell(u16::try_from(row).unwrap(), 60)
                .unwrap()
                .inverse()
        })
    };
    program.wait("the second row", |said| {
        inverse(said, "▸ [ ] guest-archive") && !inverse(said, "guest-snapshot ")
    });
    // Colours are SGR 30–38, 40–48 and the bright ones; 39 and 49 are "the terminal's own".
    let said = program.said.lock().unwrap();
    let text = String::from_utf8_lossy(&said.bytes);
    let colour =
        regex::Regex::new("\u{1b}\\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")
            .unwrap();
    assert!(!colour.is_match(&text), "{:?}", colour.find(&text));
}

#[test]
fn colours_are_on_where_nothing_is_against_them() {
    let program = Program::start("watching", &[], None);
    program.wait_for("following");
    let begin = Instant::now();
    // Cyan, the colour of what goes on.
    while program.count("\u{1b}[36m") + program.count("38;5;6") == 0 {
        assert!(begin.elapsed() < PATIENCE);
        thread::sleep(Duration::from_millis(10));
    }
}
