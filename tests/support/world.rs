//! The real program in a home, a sandbox and a state folder of its own.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::events::Recording;

/// Settings that keep a run short.
pub const SMALL: [&str; 4] = ["--set", "size=256KiB", "--set", "files=4"];

/// Folders of one test; everything in them is gone at its end.
pub struct World {
    folder: TempDir,
}

/// How a command ended, and what it said.
pub struct Ended {
    /// Exit code; 128 + n after signal n.
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("comeback-e2e-")
            .tempdir()
            .unwrap();
        let world = Self { folder };
        for name in [
            "home/.config/comeback/methods",
            "sandbox",
            "state",
            "state-lab",
        ] {
            fs::create_dir_all(world.path(name)).unwrap();
        }
        world.configure("local", "state");
        world
    }

    /// A file or folder of the test.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The same as text.
    pub fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// The parent of scratch folders.
    pub fn sandbox(&self) -> PathBuf {
        self.path("sandbox")
    }

    /// Where journals lie.
    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// Gives a host the test's own state folder, in place of one that all tests share.
    pub fn configure(&self, host: &str, state: &str) {
        let text = format!("[host.{host}]\nstate = {:?}\n", self.text(state));
        let mut config =
            fs::read_to_string(self.path("home/.config/comeback/config.toml")).unwrap_or_default();
        config.push_str(&text);
        fs::write(self.path("home/.config/comeback/config.toml"), config).unwrap();
    }

    /// Adds a method file of the user's.
    pub fn method(&self, name: &str, text: &str) {
        let file = format!("home/.config/comeback/methods/{name}.toml");
        fs::write(self.path(&file), text).unwrap();
    }

    /// The program, with nothing of the environment but the path.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_comeback"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"));
        command
    }

    /// Runs a command to its end. Whatever it is, it must not panic.
    pub fn run(&self, arguments: &[&str]) -> Ended {
        ended(&self.command(arguments).output().unwrap())
    }

    /// `comeback run` with small sizes in the test's sandbox, recorded in a new file.
    pub fn session(&self, record: &str, arguments: &[&str]) -> (Ended, Recording) {
        let arguments = self.arguments(record, arguments);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ended = self.run(&arguments);
        (ended, Recording::read(&self.path(record)))
    }

    /// The arguments of [`World::session`].
    pub fn arguments(&self, record: &str, arguments: &[&str]) -> Vec<String> {
        let (record, sandbox) = (self.text(record), self.text("sandbox"));
        ["run", "--record", &record, "--sandbox", &sandbox]
            .iter()
            .chain(&SMALL)
            .chain(arguments)
            .map(|&argument| argument.to_owned())
            .collect()
    }

    /// Nothing of any session is left in the sandbox or the state folder.
    pub fn assert_empty(&self) {
        assert_eq!(entries(&self.sandbox()), [""; 0], "left in the sandbox");
        for folder in ["state", "state-lab"] {
            let left = tree(&self.path(folder));
            assert_eq!(left, [""; 0], "left in the state folder");
        }
    }
}

impl Ended {
    /// The one sentence that a refused command says, without the program's name.
    pub fn sentence(&self) -> &str {
        let mut lines = self.err.lines();
        let first = lines.next().unwrap_or_default();
        assert_eq!(lines.next(), None, "more than one sentence: {}", self.err);
        first
            .strip_prefix("comeback: ")
            .unwrap_or_else(|| panic!("the program's name is missing: {first:?}"))
    }

    /// Ended with this code, saying one sentence with all of these words.
    pub fn assert_refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        let sentence = self.sentence();
        for word in words {
            assert!(sentence.contains(word), "{word:?} is missing: {sentence}");
        }
    }

    /// Ended with 0.
    pub fn assert_good(&self) -> &Self {
        assert_eq!(self.code, 0, "{}\n{}", self.out, self.err);
        self
    }

    /// Its report.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|why| panic!("{why}: {}", self.out))
    }
}

/// What a finished program said; no panic is among it.
pub fn ended(output: &Output) -> Ended {
    let code = output
        .status
        .code()
        .or_else(|| output.status.signal().map(|signal| 128 + signal))
        .unwrap();
    let ended = Ended {
        code,
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    assert!(!ended.err.contains("panicked"), "{}", ended.err);
    ended
}

/// Names in a folder, in order.
pub fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .map(|entries| {
            entries
                .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
                .collect()
        })
        .unwrap_or_default();
    names.sort();
    names
}

/// Paths below a folder, in order.
fn tree(folder: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    for name in entries(folder) {
        let path = folder.join(name);
        paths.push(path.display().to_string());
        if path.is_dir() && !path.is_symlink() {
            paths.extend(tree(&path));
        }
    }
    paths
}
