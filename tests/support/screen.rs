//! The program in a real pseudo-terminal, and what stands on its screen.
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

/// How long anything may take on a machine that is busy.
const PATIENCE: Duration = Duration::from_mins(2);

fn cells(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}

/// A running program, its keys and its screen.
pub struct Screen {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    parser: Arc<Mutex<vt100::Parser>>,
    raw: Arc<Mutex<Vec<u8>>>,
    master: Box<dyn MasterPty + Send>,
}

impl Screen {
    /// Starts the program with a home folder of its own.
    pub fn start(home: &Path, args: &[&str], env: &[(&str, &str)], size: (u16, u16)) -> Self {
        let (cols, rows) = size;
        let pair = native_pty_system()
            .openpty(PtySize {
                rows,
                cols,
                pixel_width: 0,
                pixel_height: 0,
            })
            .unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_comeback"));
        command.args(args);
        command.env_clear();
        command.env("PATH", std::env::var("PATH").unwrap());
        command.env("HOME", home);
        command.env("TERM", "xterm-256color");
        for (name, value) in env {
            command.env(name, value);
        }
        command.cwd(home);
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut output = pair.master.try_clone_reader().unwrap();
        let keys = pair.master.take_writer().unwrap();
        let parser = Arc::new(Mutex::new(vt100::Parser::new(cells(rows), cells(cols), 0)));
        let raw = Arc::new(Mutex::new(Vec::new()));
        let (screen, bytes) = (Arc::clone(&parser), Arc::clone(&raw));
        thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(count) = output.read(&mut buffer) {
                if count == 0 {
                    break;
                }
                screen.lock().unwrap().process(&buffer[..count]);
                bytes.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Self {
            child,
            keys,
            parser,
            raw,
            master: pair.master,
        }
    }

    /// What stands on the screen.
    pub fn text(&self) -> String {
        self.parser.lock().unwrap().screen().contents()
    }

    /// Types.
    pub fn keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until the screen shows it.
    pub fn wait(&self, what: &str) {
        self.until(what, |text| text.contains(what));
    }

    /// Waits until the screen is as it should be.
    pub fn until(&self, what: &str, good: impl Fn(&str) -> bool) {
        let begin = Instant::now();
        loop {
            let text = self.text();
            if good(&text) {
                return;
            }
            assert!(begin.elapsed() < PATIENCE, "{what:?} never came:\n{text}");
            thread::sleep(Duration::from_millis(30));
        }
    }

    /// Whether the terminal shows what is typed.
    pub fn echoes(&self) -> bool {
        let slave = std::fs::File::open(self.master.tty_name().unwrap()).unwrap();
        let modes = rustix::termios::tcgetattr(slave).unwrap().local_modes;
        modes.contains(rustix::termios::LocalModes::ECHO)
    }

    /// Everything that was ever written to the terminal.
    pub fn raw(&self) -> String {
        String::from_utf8_lossy(&self.raw.lock().unwrap()).into_owned()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Waits for its end.
    pub fn end(&mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                // What it wrote last is read by the other thread.
                thread::sleep(Duration::from_millis(200));
                return status;
            }
            assert!(
                begin.elapsed() < PATIENCE,
                "it does not end:\n{}",
                self.text()
            );
            thread::sleep(Duration::from_millis(30));
        }
    }

    /// Whether the terminal was given back: once into the other screen, once out of it, and the
    /// cursor shown after that.
    pub fn is_restored(&self) -> bool {
        let raw = self.raw.lock().unwrap();
        let count = |what: &[u8]| memchr::memmem::find_iter(&raw, what).count();
        let last = |what: &[u8]| memchr::memmem::rfind(&raw, what);
        count(b"\x1b[?1049h") == 1
            && count(b"\x1b[?1049l") == 1
            && last(b"\x1b[?25h") > last(b"\x1b[?25l")
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
