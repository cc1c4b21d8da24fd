//! A program in a pseudo-terminal, and what it shows there when.

use std::fs;
use std::io::{Read, Write};
use std::num::NonZero;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

const PATIENCE: Duration = Duration::from_mins(1);
/// Columns and rows.
const SIZE: (u16, u16) = (80, 24);
/// Asks the terminal where its cursor is.
const WHERE: &str = "\u{1b}[6n";

type Keys = Arc<Mutex<Box<dyn Write + Send>>>;

/// A program in a pseudo-terminal; killed when dropped.
pub struct Shown {
    child: Box<dyn Child + Send + Sync>,
    keys: Keys,
    said: Arc<(Mutex<Said>, Condvar)>,
    _master: Box<dyn MasterPty + Send>,
    /// When it was started.
    pub began: Instant,
}

/// What it has said so far.
struct Said {
    screen: vt100::Parser,
    bytes: u64,
    /// When the last bytes came.
    at: Instant,
    is_over: bool,
}

impl Shown {
    /// Starts it.
    pub fn start(mut command: CommandBuilder) -> Result<Self> {
        let (cols, rows) = SIZE;
        let pair = native_pty_system().openpty(PtySize {
            rows,
            cols,
            pixel_width: 0,
            pixel_height: 0,
        })?;
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        let mut output = pair.master.try_clone_reader()?;
        let keys: Keys = Arc::new(Mutex::new(pair.master.take_writer()?));
        let cells = |count| NonZero::new(count).unwrap_or(NonZero::<u16>::MIN);
        let began = Instant::now();
        let said = Arc::new((
            Mutex::new(Said {
                screen: vt100::Parser::new(cells(rows), cells(cols), 0),
                bytes: 0,
                at: began,
                is_over: false,
            }),
            Condvar::new(),
        ));
        let child = pair.slave.spawn_command(command)?;
        drop(pair.slave);
        let (heard, answers) = (Arc::clone(&said), Arc::clone(&keys));
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            loop {
                let count = output.read(&mut buffer).unwrap_or(0);
                let at = Instant::now();
                let bytes = buffer.get(..count).unwrap_or_default();
                // As every terminal does. Who asks may wait for it before the first frame.
                if memchr::memmem::find(bytes, WHERE.as_bytes()).is_some() {
                    let _ = locked(&answers).write_all(b"\x1b[1;1R");
                }
                let mut said = locked(&heard.0);
                said.screen.process(bytes);
                said.bytes += count as u64;
                said.at = at;
                said.is_over = count == 0;
                heard.1.notify_all();
                if count == 0 {
                    return;
                }
            }
        });
        Ok(Self {
            child,
            keys,
            said,
            _master: pair.master,
            began,
        })
    }

    /// Types.
    pub fn press(&self, keys: &str) -> Result<()> {
        let mut terminal = locked(&self.keys);
        terminal.write_all(keys.as_bytes())?;
        Ok(terminal.flush()?)
    }

    /// Waits until what stands on the screen is as wanted; tells when the bytes came that made it so.
    pub fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> Result<Instant> {
        let begin = Instant::now();
        let mut said = locked(&self.said.0);
        loop {
            let text = said.screen.screen().contents();
            if is_so(&text) {
                return Ok(said.at);
            }
            if said.is_over || begin.elapsed() > PATIENCE {
                bail!("{what} was waited for in vain:\n{text}");
            }
            let waited = self.said.1.wait_timeout(said, Duration::from_secs(1));
            said = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// When the last bytes came, where what stands on the screen is as wanted.
    pub fn since(&self, is_so: impl Fn(&str) -> bool) -> Option<Instant> {
        let said = locked(&self.said.0);
        is_so(&said.screen.screen().contents()).then_some(said.at)
    }

    /// Bytes that it has written.
    pub fn bytes(&self) -> u64 {
        locked(&self.said.0).bytes
    }

    /// Waits until it has written nothing for so long.
    pub fn until_quiet(&self, quiet: Duration) -> Result<()> {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if locked(&self.said.0).at.elapsed() >= quiet {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(20));
        }
        bail!("it does not become quiet")
    }

    /// Memory that is resident, in MiB (proc(5), `VmRSS`).
    pub fn memory(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid()?))?;
        let kibibytes: f64 = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"))
            .context("no VmRSS")?
            .parse()?;
        Ok(kibibytes / 1024.0)
    }

    /// Processor time of all its threads, in seconds (proc(5), `schedstat`).
    pub fn worked(&self) -> Result<f64> {
        let mut nanos = 0_u64;
        for task in fs::read_dir(format!("/proc/{}/task", self.pid()?))? {
            let line = fs::read_to_string(task?.path().join("schedstat"))?;
            let first = line.split(' ').next().context("no schedstat")?;
            nanos += first.parse::<u64>()?;
        }
        Ok(nanos as f64 / 1e9)
    }

    fn pid(&self) -> Result<u32> {
        self.child.process_id().context("it has ended")
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
