//! Recordings in a real pseudo-terminal: played, sought through, listed, opened, deleted.

#![cfg(test)]

#[path = "support/screen.rs"]
mod screen;

use std::path::{Path, PathBuf};

use screen::Screen;

const ESC: &str = "\x1b";
const RIGHT: &str = "\x1b[C";
const DOWN: &str = "\x1b[B";

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("recordings")
        .join(name)
}

/// A home folder with recordings that were shipped once.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = recordings(home.path());
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["files.jsonl", "btrfs.jsonl"] {
        std::fs::copy(shipped(name), folder.join(name)).unwrap();
    }
    home
}

fn recordings(home: &Path) -> PathBuf {
    home.join(".local/share/comeback/recordings")
}

fn leave(screen: &mut Screen) {
    screen.keys("q");
    let status = screen.end();
    assert!(status.success(), "{status:?}\n{}", screen.text());
    assert!(screen.is_restored());
}

#[test]
fn a_recording_is_played_and_sought_through() {
    let home = tempfile::tempdir().unwrap();
    let file = shipped("files.jsonl");
    let args = ["replay", file.to_str().unwrap(), "--speed", "2"];
    let mut screen = Screen::start(home.path(), &args, &[], (120, 40));
    screen.wait("replay · files.jsonl · 2× · 0:0");
    screen.keys(" ");
    screen.wait("files.jsonl · held");
    // Half of it: the comparison has figures that were not there at the begin.
    screen.keys("@50%\r");
    screen.wait("0:46 of 1:33 · run 6 of 12");
    screen.keys("c");
    screen.wait("Comparison");
    screen.keys("0");
    screen.wait("0:00 of 1:33");
    screen.keys("c@0:47\r");
    screen.wait("0:47 of 1:33");
    screen.keys("@later\r");
    screen.wait("is no time");
    screen.keys(ESC);
    screen.until("the question is gone", |text| !text.contains("is no time"));
    // Chapters: the next one, the one before, and one out of the list.
    screen.keys("}}}}");
    screen.until("a later moment", |text| !text.contains("0:47 of 1:33"));
    screen.keys("C");
    screen.wait("run 1 of 12: files-cp, repetition 1");
    screen.keys("g");
    screen.keys(DOWN);
    screen.keys("\r");
    screen.wait("0:07 of 1:33");
    // Before the end of a run stands its last step.
    screen.keys("{");
    screen.wait("0:06 of 1:33");
    screen.keys("0");
    screen.wait("0:00 of 1:33");
    // One moment on and one back are different screens of the same second.
    screen.keys("$");
    screen.wait("over: 12 of 12 runs done and verified");
    screen.keys("<");
    screen.until("the end has not come", |text| !text.contains("over: "));
    screen.keys(">");
    screen.wait("over: 12 of 12 runs done and verified");
    // A loop begins anew.
    screen.keys("o");
    screen.wait("After its end it begins anew.");
    screen.wait("held · loop · ");
    screen.keys(" ");
    screen.wait("run 1 of 12");
    leave(&mut screen);
}

#[test]
fn what_is_odd_about_a_recording_is_told() {
    let home = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(shipped("files.jsonl")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.remove(40);
    lines.pop();
    let file = home.path().join("odd.jsonl");
    std::fs::write(&file, lines.join("\n") + "\n").unwrap();
    let args = ["replay", file.to_str().unwrap()];
    let mut screen = Screen::start(home.path(), &args, &[], (120, 40));
    screen.wait("odd.jsonl: 1 event is missing before line 41 (and 1 more)");
    leave(&mut screen);
}

#[test]
fn a_recording_is_listed_opened_and_deleted_when_that_is_answered() {
    let home = home();
    let mut screen = Screen::start(home.path(), &["replay"], &[], (120, 40));
    screen.wait("2 recordings");
    screen.wait("12 of 12 runs done and verified");
    screen.wait("4 of 4 runs done and verified");
    screen.keys("/btrfs\r");
    screen.wait("1 of 2 with");
    screen.keys("\r");
    screen.wait("replay · btrfs.jsonl · 1×");
    screen.keys("R");
    screen.wait("1 of 2 with");
    screen.keys(ESC);
    screen.wait("2 recordings");
    screen.keys(ESC);
    screen.wait("replay · btrfs.jsonl");
    screen.keys("R");
    screen.wait("2 recordings");
    screen.keys("/files.jsonl\r");
    screen.wait("1 of 2 with");
    let file = recordings(home.path()).join("files.jsonl");
    screen.keys("d");
    screen.wait("Delete this recording?");
    screen.keys("\r");
    screen.until("it is kept", |text| {
        !text.contains("Delete this recording?")
    });
    assert!(file.exists());
    screen.keys("d");
    screen.wait("[ keep it ]");
    screen.keys(RIGHT);
    screen.wait("[ delete the file ]");
    screen.keys("\r");
    screen.wait("files.jsonl is deleted.");
    assert!(!file.exists() && file.with_file_name("btrfs.jsonl").exists());
    leave(&mut screen);
}

#[test]
fn from_picking_one_comes_back_to_picking() {
    let home = home();
    let mut screen = Screen::start(home.path(), &[], &[], (80, 24));
    screen.wait("what to run");
    screen.keys("R");
    screen.wait("2 recordings");
    screen.keys("\r");
    screen.wait("replay · ");
    screen.wait("run 1 of ");
    screen.keys("R");
    screen.wait("2 recordings");
    screen.keys(ESC);
    screen.wait("what to run");
    screen.wait("Methods");
    leave(&mut screen);
}
