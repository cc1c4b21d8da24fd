//! The program in a real pseudo-terminal, and what stands on its screen.
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
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
    keys: Option<Box<dyn Write + Send>>,
    parser: Arc<Mutex<vt100::Parser>>,
    raw: Arc<Mutex<Vec<u8>>>,
    master: Option<Box<dyn MasterPty + Send>>,
    is_closed: Arc<AtomicBool>,
}

impl Screen {
    /// Starts the program with a home folder of its own.
    pub fn start(home: &Path, args: &[&str], env: &[(&str, &str)], size: (u16, u16)) -> Self {
        Self::of(env!("CARGO_BIN_EXE_comeback"), home, args, env, size)
    }

    /// Starts a shell that handles jobs, with the same home folder; `$COMEBACK` is the program.
    pub fn shell(home: &Path, size: (u16, u16)) -> Self {
        let env = [
            ("COMEBACK", env!("CARGO_BIN_EXE_comeback")),
            ("PS1", "prompt> "),
        ];
        Self::of("sh", home, &["-i"], &env, size)
    }

    /// Starts another program, with the same home folder.
    pub fn of(
        program: &str,
        home: &Path,
        args: &[&str],
        env: &[(&str, &str)],
        size: (u16, u16),
    ) -> Self {
        let (cols, rows) = size;
        let pair = native_pty_system()
            .openpty(PtySize {
                rows,
                cols,
                pixel_width: 0,
                pixel_height: 0,
            })
            .unwrap();
        let mut command = CommandBuilder::new(program);
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
        let is_closed = Arc::new(AtomicBool::new(false));
        let closed = Arc::clone(&is_closed);
        thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(count) = output.read(&mut buffer) {
                if count == 0 || closed.load(Ordering::SeqCst) {
                    break;
                }
                screen.lock().unwrap().process(&buffer[..count]);
                bytes.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Self {
            child,
            keys: Some(keys),
            parser,
            raw,
            master: Some(pair.master),
            is_closed,
        }
    }

    /// What stands on the screen.
    pub fn text(&self) -> String {
        self.parser.lock().unwrap().screen().contents()
    }

    /// Types.
    pub fn keys(&mut self, keys: &str) {
        let terminal = self.keys.as_mut().unwrap();
        terminal.write_all(keys.as_bytes()).unwrap();
        terminal.flush().unwrap();
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
        let slave = std::fs::File::open(self.master.as_ref().unwrap().tty_name().unwrap()).unwrap();
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

    /// Whether the terminal was given back once.
    pub fn is_restored(&self) -> bool {
        self.restored(1)
    }

    /// Whether the terminal was taken and given back so many times: into the other screen and out
    /// of it, pasting and the mouse as they were, and the cursor shown at last.
    pub fn restored(&self, times: usize) -> bool {
        let raw = self.raw.lock().unwrap();
        let count = |what: &[u8]| memchr::memmem::find_iter(&raw, what).count();
        let last = |what: &[u8]| memchr::memmem::rfind(&raw, what);
        let is_over = |on: &[u8], off: &[u8]| last(off) > last(on) || count(on) == 0;
        let paste = count(b"\x1b[?2004l");
        count(b"\x1b[?1049h") == times
            && count(b"\x1b[?1049l") == times
            && count(b"\x1b[?2004h") >= times
            && paste >= times
            && is_over(b"\x1b[?2004h", b"\x1b[?2004l")
            && is_over(b"\x1b[?25l", b"\x1b[?25h")
            && is_over(b"\x1b[?1000h", b"\x1b[?1000l")
            && is_over(b"\x1b[?1006h", b"\x1b[?1006l")
    }

    /// Takes the terminal away, as a window that is closed does: once what it says next has been
    /// read, nobody holds it any more.
    pub fn close(&mut self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.keys = None;
        self.master = None;
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
