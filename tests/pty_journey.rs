//! The program in a real pseudo-terminal: start, pick, run, search, stop, quit.

#![cfg(test)]

#[path = "support/screen.rs"]
mod screen;
#[path = "support/small_home.rs"]
mod small_home;

use rustix::process::{Pid, Signal, kill_process};
use screen::Screen;
use small_home::{home, left, recordings};

fn pick(screen: &mut Screen, down: usize) {
    screen.wait("a-small");
    for _ in 0..down {
        screen.keys("j");
    }
    screen.keys(" ");
}

#[test]
fn pick_run_search_and_quit() {
    let home = home();
    let mut screen = Screen::start(home.path(), &[], &[], (120, 40));
    pick(&mut screen, 0);
    screen.wait("3 runs");
    screen.wait("cp -a");
    screen.keys("-");
    screen.wait("2 runs");
    screen.keys("\r");
    screen.wait("sha256 after");
    screen.until("the end of both runs", |text| {
        text.contains("✓ ✓") && text.contains("restore")
    });
    screen.wait("over: ");
    screen.keys("/");
    screen.keys("sample\r");
    screen.wait("sample: ");
    screen.keys("c");
    screen.wait("backup");
    screen.keys("c");
    screen.wait("sample: ");
    screen.keys("q");
    let status = screen.end();
    assert!(status.success(), "{status:?}\n{}", screen.text());
    assert!(screen.is_restored());
    assert!(left(home.path()).is_empty());
}

#[test]
fn stopping_undoes_everything() {
    let home = home();
    let mut screen = Screen::start(home.path(), &[], &[], (80, 24));
    pick(&mut screen, 1);
    screen.wait("3 runs");
    screen.keys("\r");
    screen.wait("it waits in /var/tmp/comeback-cb-");
    assert_eq!(left(home.path()).len(), 1);
    screen.keys("x");
    screen.wait("stop");
    // Into the other choice, and take it.
    screen.keys("\x1b[C\r");
    screen.wait("over: stopped");
    screen.keys("q");
    screen.end();
    assert!(screen.is_restored());
    assert!(left(home.path()).is_empty(), "{:?}", left(home.path()));
}

#[test]
fn a_session_that_is_over_is_deleted_from_the_list() {
    let home = home();
    let mut screen = Screen::start(home.path(), &[], &[], (120, 40));
    pick(&mut screen, 1);
    screen.wait("3 runs");
    screen.keys("\r");
    screen.wait("it waits in /var/tmp/comeback-cb-");
    screen.keys("x");
    screen.wait("stop");
    screen.keys("\x1b[C\r");
    screen.wait("over: stopped");
    let files = recordings(home.path());
    assert_eq!(files.len(), 1);
    screen.keys("R");
    screen.wait("1 recording");
    screen.wait("stopped after");
    screen.keys("d");
    screen.wait("[ keep it ]");
    screen.keys("\x1b[C");
    screen.wait("[ delete the file ]");
    screen.keys("\r");
    screen.wait(".jsonl is deleted.");
    assert!(!files[0].exists());
    screen.keys("q");
    screen.end();
    assert!(screen.is_restored());
}

#[test]
fn the_log_of_a_step_is_opened_and_saved_by_keys_of_ones_own() {
    let home = home();
    let config = home.path().join(".config/comeback/config.toml");
    let keys = "mouse = false\n[keys]\nsave = [\"W\"]\n[keys.log]\nopen = [\"F2\"]\n";
    std::fs::write(config, keys).unwrap();
    let mut screen = Screen::start(home.path(), &[], &[], (80, 24));
    pick(&mut screen, 1);
    screen.wait("3 runs");
    screen.keys("\r");
    screen.wait("it waits in /var/tmp/comeback-cb-");
    // F2
    screen.keys("\x1bOQ");
    screen.wait("│$ echo it waits in");
    // Not only the command, but what it has printed.
    screen.wait("following · 1 line ");
    screen.keys("W");
    // With what was run, and when.
    screen.wait("Saved 6 lines:");
    let saved = std::fs::read_dir(home.path()).unwrap();
    let saved: Vec<_> = saved
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("cb-"))
        .collect();
    assert_eq!(saved.len(), 1, "{saved:?}");
    assert!(
        saved[0].ends_with("-b-slow-1-wait-for-ever.log"),
        "{saved:?}"
    );
    let text = std::fs::read_to_string(home.path().join(&saved[0])).unwrap();
    assert!(text.contains("\n# $ echo it waits in") && text.contains("  it waits in /var/tmp"));
    screen.keys("\x1b");
    screen.until("all panes", |text| !text.contains("├───"));
    screen.keys("x\x1b[C\r");
    screen.wait("over: stopped");
    screen.keys("q");
    screen.end();
    assert!(screen.is_restored() && !screen.raw().contains("?1000h"));
    assert!(left(home.path()).is_empty(), "{:?}", left(home.path()));
}

#[test]
fn a_signal_gives_the_terminal_back_and_undoes() {
    let home = home();
    let mut screen = Screen::start(home.path(), &[], &[("NO_COLOR", "1")], (80, 24));
    pick(&mut screen, 1);
    screen.wait("3 runs");
    screen.keys("\r");
    screen.wait("it waits in /var/tmp/comeback-cb-");
    let pid = Pid::from_raw(i32::try_from(screen.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    let status = screen.end();
    assert_eq!(status.exit_code(), 130);
    assert!(screen.is_restored());
    assert!(left(home.path()).is_empty(), "{:?}", left(home.path()));
}

#[test]
fn a_replay_is_followed_to_its_end_and_compared() {
    let home = tempfile::tempdir().unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/recordings/files.jsonl");
    let args = ["replay", file, "--speed", "64"];
    let mut screen = Screen::start(home.path(), &args, &[], (100, 30));
    screen.wait("c what came out");
    screen.keys("c");
    // What was compared and what came out, in a sentence.
    screen.wait("3 ways to bring back 1 GiB on local, 4 times each");
    screen.wait("Comparison · all times");
    screen.keys("\t");
    screen.wait("Comparison · restore");
    screen.keys("ss");
    screen.wait("sorted by backup, lowest first");
    screen.keys("S");
    screen.wait("sorted by backup, highest first");
    screen.keys("G");
    screen.wait("backup v");
    screen.keys("\x1b");
    screen.wait("Medians");
    screen.wait("c what came out");
    screen.keys("q");
    assert!(screen.end().success());
    assert!(screen.is_restored());
}

#[test]
fn without_a_terminal_it_hints_at_run() {
    let home = tempfile::tempdir().unwrap();
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_comeback"))
        .env("HOME", home.path())
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(2));
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(
        said.contains("comeback run") && said.lines().count() == 1,
        "{said}"
    );
}
