//! A session with very many steps: its report comes soon, and its screen stays awake.

#![cfg(test)]

#[path = "support/huge.rs"]
mod huge;
#[path = "support/screen.rs"]
mod screen;

use std::path::Path;
use std::process::Command;

use comeback::recording::Writer;
use rustix::process::{Pid, Signal, kill_process};
use screen::Screen;

const STEPS: usize = 50_000;

fn write(path: &Path) {
    let writer = Writer::create(path).unwrap();
    for event in huge::steps(STEPS) {
        writer.write(&event);
    }
    writer.commit().unwrap();
}

/// Would not end within the patience of a test where anything looks at each step for each other one.
#[test]
fn a_report() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("huge.jsonl");
    write(&file);
    for format in ["table", "markdown", "csv", "json"] {
        let report = Command::new(env!("CARGO_BIN_EXE_comeback"))
            .args(["report", "--format", format])
            .arg(&file)
            .env("HOME", home.path())
            .output()
            .unwrap();
        assert!(report.status.success(), "{report:?}");
        let text = String::from_utf8(report.stdout).unwrap();
        let last = format!("step {}", STEPS - 1);
        assert!(text.contains(&last), "{format}: {last} is not in it");
    }
}

#[test]
fn the_screen_hears_keys_and_signals() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("huge.jsonl");
    write(&file);
    let args = ["replay", file.to_str().unwrap()];
    let mut screen = Screen::start(home.path(), &args, &[], (120, 40));
    screen.wait("step 0");
    // To the end, then to the comparison and back.
    screen.keys("\x1b[F");
    screen.keys("c");
    screen.wait("Comparison");
    screen.keys("c");
    screen.wait("Medians");
    for key in ["\t", "\t", "\x1b[A", "\x1b[B", "?"] {
        screen.keys(key);
    }
    screen.wait("Keys");
    let pid = Pid::from_raw(i32::try_from(screen.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(screen.end().exit_code(), 130, "a signal ended it");
    assert!(screen.is_restored(), "{:?}", screen.raw());
}
