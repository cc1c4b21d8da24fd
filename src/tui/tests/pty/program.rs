//! A program in a pseudo-terminal, whose screen is read and whose keys are pressed.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

use super::{MODE, PATIENCE, REPORT};

pub(super) fn cells(n: u16) -> std::num::NonZero<u16> {
    std::num::NonZero::new(n).unwrap()
}

/// A program in a pseudo-terminal.
pub(super) struct Program {
    pub master: Option<Box<dyn MasterPty + Send>>,
    pub keys: Option<Box<dyn Write + Send>>,
    pub child: Box<dyn Child + Send + Sync>,
    pub said: Arc<Mutex<Said>>,
    pub report: PathBuf,
    _folder: tempfile::TempDir,
}

pub(super) struct Said {
    pub bytes: Vec<u8>,
    pub screen: vt100::Parser,
    /// Nobody is to hold the terminal any more.
    pub is_gone: bool,
}

impl Program {
    /// Runs the child; `shell` is a script for `sh` in which `$CHILD` runs it, else it is run as it is.
    pub fn start(mode: &str, env: &[(&str, &str)], shell: Option<&[&str]>) -> Self {
        let pair = native_pty_system()
            .openpty(PtySize {
                rows: 24,
                cols: 80,
                pixel_width: 0,
                pixel_height: 0,
            })
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("report");
        let exe = std::env::current_exe().unwrap();
        let args = [
            "--exact",
            "tui::tests::pty::child",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ];
        let mut command = match shell {
            None => {
                let mut command = CommandBuilder::new(&exe);
                command.args(args);
                command
            }
            Some(words) => {
                let mut command = CommandBuilder::new("sh");
                command.args(words);
                command.env("CHILD", format!("{} {}", exe.display(), args.join(" ")));
                command
            }
        };
        command.env_remove("NO_COLOR");
        command.env_remove("TMUX");
        command.env("TERM", "xterm-256color");
        command.env("PS1", "prompt> ");
        command.env("ENV", "");
        command.env("RUST_BACKTRACE", "0");
        command.env(MODE, mode);
        command.env(REPORT, &report);
        for (name, value) in env {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let said = Arc::new(Mutex::new(Said {
            bytes: Vec::new(),
            screen: vt100::Parser::new(cells(24), cells(80), 0),
            is_gone: false,
        }));
        let mut output = pair.master.try_clone_reader().unwrap();
        let into = said.clone();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(n @ 1..) = output.read(&mut piece) {
                let mut said = into.lock().unwrap();
                if said.is_gone {
                    return;
                }
                said.bytes.extend(&piece[..n]);
                said.screen.process(&piece[..n]);
            }
        });
        let keys = pair.master.take_writer().unwrap();
        Self {
            master: Some(pair.master),
            keys: Some(keys),
            child,
            said,
            report,
            _folder: folder,
        }
    }

    pub fn press(&mut self, keys: &str) {
        let writer = self.keys.as_mut().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    pub fn screen(&self) -> String {
        self.said.lock().unwrap().screen.screen().contents()
    }

    pub fn wait_for(&self, what: &str) {
        self.wait(what, |said| said.screen.screen().contents().contains(what));
    }

    pub fn wait(&self, what: &str, test: impl Fn(&Said) -> bool) {
        let begin = Instant::now();
        while !test(&self.said.lock().unwrap()) {
            assert!(
                begin.elapsed() < PATIENCE,
                "{what} was waited for in vain:\n{}",
                self.screen()
            );
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn count(&self, sequence: &str) -> usize {
        let said = self.said.lock().unwrap();
        memchr::memmem::find_iter(&said.bytes, sequence.as_bytes()).count()
    }

    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.process_id().unwrap()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// The terminal is as it was: once taken, once given back.
    pub fn is_given_back(&self, times: usize) {
        let said = self.said.lock().unwrap();
        let screen = said.screen.screen();
        assert!(!screen.alternate_screen() && !screen.bracketed_paste() && !screen.hide_cursor());
        drop(said);
        for sequence in ["\u{1b}[?1049h", "\u{1b}[?1049l", "\u{1b}[?2004l"] {
            assert_eq!(self.count(sequence), times, "{sequence:?}");
        }
    }

    pub fn report(&self) -> String {
        let begin = Instant::now();
        // It is there before it is written.
        let told = || std::fs::read_to_string(&self.report).unwrap_or_default();
        while told().is_empty() {
            assert!(
                begin.elapsed() < PATIENCE,
                "it has not ended:\n{}",
                self.screen()
            );
            thread::sleep(Duration::from_millis(10));
        }
        told()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // A test that has failed leaves no program behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
