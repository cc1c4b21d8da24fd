//! However the dashboard ends while a run goes on: the terminal is given back once, the recording
//! is whole, and nothing is left on the host.

#![cfg(test)]

#[path = "support/screen.rs"]
mod screen;
#[path = "support/small_home.rs"]
mod small_home;

use std::path::Path;

use comeback::event::{Event, What};
use comeback::recording::Reader;
use rustix::process::{Pid, Signal, kill_process};
use screen::Screen;
use small_home::{home, left, recordings};

/// Picks the method that never ends, and waits for what it says.
fn run(screen: &mut Screen) {
    screen.wait("b-slow");
    screen.keys("j ");
    screen.wait("3 runs");
    screen.keys("\r");
    screen.wait("it waits in /var/tmp/comeback-cb-");
}

fn send(screen: &Screen, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(screen.pid()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// The one recording can be read to its end, which says that all was stopped, and nothing is left.
fn is_over(home: &Path) {
    let [recording] = recordings(home).try_into().unwrap();
    let events: Result<Vec<Event>, _> = Reader::open(&recording).unwrap().collect();
    let events = events.unwrap();
    let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (0..events.len() as u64).collect::<Vec<_>>());
    let Some(What::End(end)) = events.last().map(|event| &event.what) else {
        panic!("the recording has no end: {:?}", events.last());
    };
    assert_eq!(end.exit, 130, "{}", end.reason);
    assert!(left(home).is_empty(), "{:?}", left(home));
}

#[test]
fn a_signal() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT] {
        let home = home();
        let mut screen = Screen::start(home.path(), &[], &[], (80, 24));
        run(&mut screen);
        send(&screen, signal);
        let status = screen.end();
        assert_eq!(status.exit_code(), 130, "{signal:?}");
        assert!(screen.is_restored(), "{signal:?}: {:?}", screen.raw());
        is_over(home.path());
    }
}

/// Where no run goes on, a signal is told in the same way: whoever sent it did not see an end.
#[test]
fn a_signal_where_nothing_runs() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/recordings/files.jsonl");
    let cases: [(&[&str], &str); 3] = [
        (&[], "Methods"),
        (&["replay"], "every run writes one"),
        (&["replay", file], "replay · files.jsonl"),
    ];
    for (args, shows) in cases {
        for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT] {
            let home = home();
            let mut screen = Screen::start(home.path(), args, &[], (120, 40));
            screen.wait(shows);
            send(&screen, signal);
            let status = screen.end();
            assert_eq!(status.exit_code(), 130, "{args:?} {signal:?}");
            assert!(screen.is_restored(), "{args:?} {signal:?}");
        }
        let home = home();
        let mut screen = Screen::start(home.path(), args, &[], (120, 40));
        screen.wait(shows);
        screen.close();
        assert_eq!(screen.end().exit_code(), 130, "{args:?}");
    }
}

#[test]
fn signals_that_do_not_stop_coming() {
    let home = home();
    let mut screen = Screen::start(home.path(), &[], &[], (80, 24));
    run(&mut screen);
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::TERM] {
        send(&screen, signal);
    }
    assert_eq!(screen.end().exit_code(), 130);
    assert!(screen.is_restored(), "{:?}", screen.raw());
    is_over(home.path());
}

#[test]
fn the_operator_stops_it_and_leaves() {
    let home = home();
    let mut screen = Screen::start(home.path(), &[], &[], (80, 24));
    run(&mut screen);
    // Ctrl-C asks first; the second choice stops.
    screen.keys("\u{3}");
    screen.wait("stop, undo, then leave");
    screen.keys("\x1b[C\r");
    assert_eq!(screen.end().exit_code(), 130);
    assert!(screen.is_restored(), "{:?}", screen.raw());
    is_over(home.path());
}

#[test]
fn a_terminal_that_is_closed() {
    let home = home();
    let mut screen = Screen::start(home.path(), &[], &[], (80, 24));
    run(&mut screen);
    screen.close();
    assert_eq!(screen.end().exit_code(), 130);
    is_over(home.path());
}

#[test]
fn in_the_background_and_back() {
    let home = home();
    let mut screen = Screen::shell(home.path(), (80, 24));
    screen.wait("prompt>");
    screen.keys("$COMEBACK\r");
    run(&mut screen);
    screen.keys("\u{1a}");
    screen.until("the shell's screen", |text| !text.contains("it waits in"));
    screen.wait("prompt>");
    assert!(screen.restored(1), "{:?}", screen.raw());
    screen.keys("echo $((6*7))\r");
    screen.wait("42");
    screen.keys("fg\r");
    screen.wait("it waits in /var/tmp/comeback-cb-");
    screen.keys("x");
    screen.wait("stop");
    screen.keys("\x1b[C\r");
    screen.wait("over: stopped");
    screen.keys("q");
    screen.wait("prompt>");
    screen.keys("echo its exit is $?\r");
    screen.wait("its exit is 130");
    assert!(screen.restored(2), "{:?}", screen.raw());
    is_over(home.path());
}

#[test]
fn a_theme_that_does_not_exist() {
    let home = home();
    let mut screen = Screen::start(home.path(), &["--theme", "nrod"], &[], (80, 24));
    assert_eq!(screen.end().exit_code(), 2);
    let said = screen.raw();
    assert!(
        said.contains("there is no theme \"nrod\"; there are: catppuccin-latte"),
        "{said}"
    );
    assert!(!said.contains('\u{1b}'), "{said:?}");
}

#[test]
fn a_terminal_that_cannot_draw_is_told_what_works() {
    let home = home();
    let mut screen = Screen::start(home.path(), &[], &[("TERM", "dumb")], (80, 24));
    assert_eq!(screen.end().exit_code(), 2);
    let said = screen.raw();
    for words in [
        "TERM is \"dumb\"",
        "xterm-256color",
        "`comeback run` works without one",
    ] {
        assert!(said.contains(words), "{words:?}: {said}");
    }
    assert!(!said.contains('\u{1b}'), "{said:?}");
}
