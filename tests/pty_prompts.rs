//! What a login asks, answered in a real pseudo-terminal: without a dashboard and in it.

#![cfg(test)]

#[path = "support/screen.rs"]
mod screen;
#[path = "support/sshd.rs"]
mod sshd;

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use screen::Screen;
use sshd::{Sshd, fingerprint, keygen};

const PASSPHRASE: &str = "swordfish 42";

/// A server that is not known yet, and a key that needs a passphrase.
fn server() -> Option<Sshd> {
    let server = Sshd::start()?;
    fs::write(server.known_hosts(), "").unwrap();
    fs::remove_file(server.key()).unwrap();
    fs::remove_file(server.path("home/.ssh/id_ed25519.pub")).unwrap();
    keygen("ed25519", PASSPHRASE, &server.key());
    let public = fs::read_to_string(server.path("home/.ssh/id_ed25519.pub")).unwrap();
    fs::write(server.path("authorized"), public).unwrap();
    Some(server)
}

fn start(server: &Sshd, args: &[&str]) -> Screen {
    let target = server.target();
    let mut all = args.to_vec();
    all.push(&target);
    Screen::start(
        &server.path("home"),
        &all,
        &[("USER", server.user())],
        (120, 40),
    )
}

fn known(server: &Sshd) -> String {
    fs::read_to_string(server.known_hosts()).unwrap()
}

#[test]
fn a_command_asks_on_its_terminal() {
    let Some(server) = server() else { return };
    // Of all methods the last rows alone would be on the screen.
    let mut screen = start(&server, &["check", "--method", "files-cp", "--host"]);
    screen.wait(&fingerprint(&server.path("host_ed25519.pub")));
    screen.wait("Type yes");
    screen.keys("yes\n");
    screen.until("the echo off", |_| !screen.echoes());
    screen.wait("id_ed25519");
    screen.keys(PASSPHRASE);
    screen.keys("\n");
    assert_eq!(screen.end().exit_code(), 0, "{}", screen.text());
    assert!(screen.echoes());
    assert!(screen.text().contains("can run"), "{}", screen.text());
    assert!(!screen.raw().contains(PASSPHRASE));
    assert_eq!(known(&server).lines().count(), 1);
}

#[test]
fn nothing_typed_is_no_and_the_host_is_not_known_then() {
    let Some(server) = server() else { return };
    let mut screen = start(&server, &["check", "--host"]);
    screen.wait("Type yes");
    screen.keys("\n");
    assert_eq!(screen.end().exit_code(), 3, "{}", screen.text());
    assert_eq!(known(&server), "");
}

#[test]
fn ended_at_a_question_it_leaves_the_terminal_as_it_was() {
    let Some(server) = server() else { return };
    let mut screen = start(&server, &["check", "--host"]);
    screen.wait("Type yes");
    screen.keys("yes\n");
    screen.until("the echo off", |_| !screen.echoes());
    kill_process(
        Pid::from_raw(screen.pid().cast_signed()).unwrap(),
        Signal::TERM,
    )
    .unwrap();
    assert_eq!(screen.end().exit_code(), 130, "{}", screen.text());
    assert!(screen.echoes());
}

#[test]
fn the_dashboard_asks_in_dialogs() {
    let Some(server) = server() else { return };
    let mut screen = start(&server, &[]);
    let print = fingerprint(&server.path("host_ed25519.pub"));
    screen.wait("trust it");
    screen.wait(&print);
    // No is what nothing but Enter says.
    screen.keys("\r");
    screen.wait("down");
    assert_eq!(known(&server), "");
    screen.keys("r");
    screen.wait("trust it");
    screen.keys("l\r");
    screen.wait("passphrase");
    screen.keys(PASSPHRASE);
    screen.keys("\r");
    screen.wait("copy-local");
    assert!(!screen.raw().contains(PASSPHRASE));
    assert_eq!(known(&server).lines().count(), 1);
    screen.keys("q");
    assert_eq!(screen.end().exit_code(), 0);
    assert!(screen.is_restored());
}

const ASKS: &str = r#"
title   = "a step that needs a word"
family  = "test"
subject = "dir"
own     = "always"
roles   = ["source"]
series  = "asks"

[[step]]
name   = "say it"
phase  = "protect"
secret = { name = "word", ask = "the word for the gate" }
stdin  = "{{ word }}\n"
run    = "read -r word; printf %s \"$word\" | grep -qx '.\\{12\\}' && echo \"it was $word\""
"#;

/// A home folder with a method that asks for a secret.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let methods = home.path().join(".config/comeback/methods");
    fs::create_dir_all(&methods).unwrap();
    fs::write(methods.join("asks.toml"), ASKS).unwrap();
    home
}

const RUN: [&str; 7] = [
    "run",
    "--method",
    "asks",
    "--reps",
    "2",
    "--record",
    "rec.jsonl",
];

#[test]
fn a_secret_is_asked_for_once_and_is_in_no_recording() {
    let home = home();
    let mut screen = Screen::start(home.path(), &RUN, &[], (120, 40));
    screen.wait("the word for the gate");
    screen.until("the echo off", |_| !screen.echoes());
    screen.keys(PASSPHRASE);
    screen.keys("\n");
    screen.wait("2 of 2 runs done");
    screen.end();
    let recording = fs::read_to_string(home.path().join("rec.jsonl")).unwrap();
    assert!(!recording.contains(PASSPHRASE) && !screen.raw().contains(PASSPHRASE));
    assert_eq!(
        recording.matches("\"ev\":\"ask\"").count(),
        2,
        "asked, answered"
    );
    assert!(recording.contains("it was ****"));
}

#[test]
fn without_its_secret_nothing_begins() {
    let home = home();
    let mut screen = Screen::start(home.path(), &RUN, &[], (120, 40));
    screen.wait("the word for the gate");
    screen.until("the echo off", |_| !screen.echoes());
    // The end of the input.
    screen.keys("\u{4}");
    assert_eq!(screen.end().exit_code(), 4, "{}", screen.text());
    let recording = fs::read_to_string(home.path().join("rec.jsonl")).unwrap();
    assert!(recording.contains("it was not given") && !recording.contains("\"ev\":\"step\""));
}
