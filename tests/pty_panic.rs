//! A part of the program panics while a run goes on: the terminal is given back once, the recording
//! is whole, and what the session made is taken away.
//!
//! The test binary runs itself again in a pseudo-terminal, where [`child`] is the program: nothing
//! in the program itself panics when it is asked to.

#![cfg(test)]

#[path = "support/screen.rs"]
mod screen;
#[path = "support/small_home.rs"]
mod small_home;

use std::io::Write as _;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use comeback::cli::Cli;
use comeback::commands;
use comeback::event::{Event, What};
use comeback::recording::Reader;
use screen::Screen;
use small_home::{home, left, recordings};

/// The file at whose sight something panics.
const WHEN: &str = "COMEBACK_TEST_PANIC";

#[test]
#[ignore = "the program that the other test here runs in a pseudo-terminal"]
#[expect(
    clippy::disallowed_methods,
    reason = "here it is main: its exit code is looked at"
)]
fn child() {
    let Some(when) = std::env::var_os(WHEN).map(PathBuf::from) else {
        return;
    };
    thread::spawn(move || {
        while !when.exists() {
            thread::sleep(Duration::from_millis(20));
        }
        panic!("a part has panicked");
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let cli = Cli::read(["comeback"]).unwrap();
    let exit = runtime.block_on(commands::dispatch(cli));
    let exit = exit.unwrap_or_else(|why| {
        let _ = writeln!(std::io::stderr(), "comeback: {why}");
        why.exit()
    });
    std::process::exit(exit);
}

fn start(home: &std::path::Path, size: (u16, u16)) -> (Screen, PathBuf) {
    let when = home.join("now");
    let this = std::env::current_exe().unwrap();
    let args = ["--exact", "child", "--ignored", "--nocapture"];
    let env = [(WHEN, when.to_str().unwrap()), ("RUST_BACKTRACE", "0")];
    let screen = Screen::of(this.to_str().unwrap(), home, &args, &env, size);
    (screen, when)
}

#[test]
fn while_a_run_goes_on() {
    let home = home();
    let (mut screen, when) = start(home.path(), (80, 24));
    screen.wait("b-slow");
    screen.keys("j ");
    screen.wait("3 runs");
    screen.keys("\r");
    screen.wait("it waits in /var/tmp/comeback-cb-");
    assert_eq!(left(home.path()).len(), 1);
    std::fs::write(when, "").unwrap();
    let status = screen.end();
    assert_eq!(status.exit_code(), 130, "the session was stopped");
    assert!(screen.is_restored(), "{:?}", screen.raw());
    // On the screen that was there before, in words.
    for words in [
        "a part has panicked",
        "stopping, and taking away what this session made",
        "comeback: recording: ",
        "comeback: a part of the program failed unexpectedly",
    ] {
        assert!(
            screen.text().contains(words),
            "{words:?}: {}",
            screen.text()
        );
    }
    let [recording] = recordings(home.path()).try_into().unwrap();
    let events: Result<Vec<Event>, _> = Reader::open(&recording).unwrap().collect();
    let events = events.unwrap();
    let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (0..events.len() as u64).collect::<Vec<_>>());
    let last = events.last().map(|event| &event.what);
    assert!(
        matches!(last, Some(What::End(end)) if end.exit == 130),
        "{last:?}"
    );
    assert!(left(home.path()).is_empty(), "{:?}", left(home.path()));
}

#[test]
fn where_nothing_runs() {
    let home = home();
    let (mut screen, when) = start(home.path(), (80, 24));
    screen.wait("b-slow");
    std::fs::write(when, "").unwrap();
    assert_eq!(screen.end().exit_code(), 1);
    assert!(screen.is_restored(), "{:?}", screen.raw());
    assert!(recordings(home.path()).is_empty());
}
