//! Hosts for the tests of what runs on a host: this machine through each shell that a host may
//! have, with a connection that can be cut.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use comeback::host::{Channel, Host, HostError, LocalHost, Said};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::sync::{mpsc, watch};

/// Signals a process group, never everything: `kill -KILL -123` of some systems means group 1.
fn signal_group(pid: i32, signal: Signal) {
    assert!(pid > 1, "{pid} is no group of a test");
    let _ = kill_process_group(Pid::from_raw(pid).unwrap(), signal);
}

/// Signals one process.
pub fn signal_process(pid: &str, signal: Signal) {
    let pid: i32 = pid.trim().parse().unwrap();
    assert!(pid > 1, "{pid} is no process of a test");
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// A shell, and how it is started.
#[derive(Debug, Clone)]
pub struct Shell {
    pub name: &'static str,
    pub path: String,
    /// A folder of programs that come before all others.
    first: Option<PathBuf>,
}

/// Every shell that is installed here; dash, bash and BusyBox's have to be.
pub fn shells() -> Vec<Shell> {
    ["dash", "bash", "busybox"].map(shell).into()
}

pub fn shell(name: &'static str) -> Shell {
    let found = ["/bin", "/usr/bin", "/usr/local/bin"]
        .iter()
        .map(|dir| Path::new(dir).join(name))
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("{name} is not installed here, and these tests need it"));
    if name != "busybox" {
        return Shell {
            name,
            path: found.display().to_string(),
            first: None,
        };
    }
    // All programs that BusyBox has are BusyBox's, as on a small machine.
    let dir = busybox_dir(&found);
    Shell {
        name,
        path: dir.join("sh").display().to_string(),
        first: Some(dir),
    }
}

/// A folder with a link for each of BusyBox's programs; made once.
fn busybox_dir(busybox: &Path) -> PathBuf {
    static DIR: std::sync::OnceLock<tempfile::TempDir> = std::sync::OnceLock::new();
    let dir = DIR.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let list = std::process::Command::new(busybox)
            .arg("--list")
            .output()
            .unwrap();
        for name in String::from_utf8(list.stdout).unwrap().lines() {
            std::os::unix::fs::symlink(busybox, dir.path().join(name)).unwrap();
        }
        dir
    });
    dir.path().to_owned()
}

/// This machine through a shell.
pub struct ShellHost {
    shell: Shell,
    /// Where each attached shell notes its pid.
    pids: tempfile::TempDir,
    count: AtomicUsize,
    down: AtomicBool,
    cut: watch::Sender<usize>,
    /// Scripts that were run.
    pub scripts: Mutex<Vec<String>>,
}

impl ShellHost {
    pub fn new(shell: Shell) -> Arc<Self> {
        Arc::new(Self {
            shell,
            pids: tempfile::tempdir().unwrap(),
            count: AtomicUsize::new(0),
            down: AtomicBool::new(false),
            cut: watch::channel(0).0,
            scripts: Mutex::default(),
        })
    }

    /// Cuts every connection, and kills everything that was attached to one with SIGKILL. No
    /// new one is made until [`mend`](Self::mend).
    pub fn cut(&self) {
        self.down.store(true, Ordering::SeqCst);
        for entry in std::fs::read_dir(self.pids.path()).unwrap() {
            let path = entry.unwrap().path();
            // A shell that has not noted its pid yet has done nothing either, and one that has
            // ended is gone.
            let pid = std::fs::read_to_string(&path).unwrap_or_default();
            if let Ok(pid) = pid.trim().parse() {
                signal_group(pid, Signal::KILL);
            }
            let _ = std::fs::remove_file(path);
        }
        self.cut.send_modify(|count| *count += 1);
    }

    /// Cuts every connection; what was attached sees the end of its input.
    pub fn cut_softly(&self) {
        self.down.store(true, Ordering::SeqCst);
        self.cut.send_modify(|count| *count += 1);
    }

    pub fn mend(&self) {
        self.down.store(false, Ordering::SeqCst);
    }
}

impl Host for ShellHost {
    fn name(&self) -> &str {
        self.shell.name
    }

    fn address(&self) -> Option<String> {
        None
    }

    fn exec<'a>(&'a self, script: &'a str) -> BoxFuture<'a, Result<Channel, HostError>> {
        async move {
            if self.down.load(Ordering::SeqCst) {
                return Err(HostError::Down {
                    host: self.name().to_owned(),
                    phase: "connect",
                    why: "the cable is out".to_owned(),
                });
            }
            self.scripts.lock().unwrap().push(script.to_owned());
            let number = self.count.fetch_add(1, Ordering::SeqCst);
            let note = self.pids.path().join(number.to_string());
            let path = self.shell.first.as_ref().map_or_else(String::new, |first| {
                format!("PATH={}:$PATH; export PATH; ", first.display())
            });
            let wrapped = format!(
                "echo $$ >{}; {path}exec {} -c {}",
                note.display(),
                self.shell.path,
                shlex::try_quote(script).unwrap()
            );
            let Channel {
                mut stdin,
                mut output,
            } = LocalHost::new().exec(&wrapped).await?;
            let (tx, forwarded) = mpsc::channel(16);
            let mut cut = self.cut.subscribe();
            let mut stdin_cut = self.cut.subscribe();
            // What is written goes through a task, so that a cut is an end there, too.
            let (near, mut far) = tokio::io::duplex(64 * 1024);
            tokio::spawn(async move {
                tokio::select! {
                    _ = stdin_cut.changed() => {}
                    _ = tokio::io::copy(&mut far, &mut stdin) => {}
                }
            });
            tokio::spawn(async move {
                loop {
                    tokio::select! {
                        biased;
                        _ = cut.changed() => return,
                        said = output.recv() => match said {
                            Some(said) => {
                                if matches!(said, Said::Exit(_)) {
                                    let _ = std::fs::remove_file(&note);
                                }
                                if tx.send(said).await.is_err() {
                                    return;
                                }
                            }
                            None => return,
                        },
                        () = tx.closed() => return,
                    }
                }
            });
            Ok(Channel {
                stdin: Box::new(near),
                output: forwarded,
            })
        }
        .boxed()
    }
}
