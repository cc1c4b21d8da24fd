//! A connection that can be cut.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use comeback::host::{Channel, Host, HostError, Said, SharedHost};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::sync::{mpsc, watch};

/// Signals a process group, never everything: the program `kill` of some systems takes -123 for
/// "group 1, and an option".
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

/// A host behind a cable.
pub struct Cable {
    host: SharedHost,
    /// Where each attached shell notes its pid.
    pids: tempfile::TempDir,
    count: AtomicUsize,
    down: AtomicBool,
    cut: watch::Sender<usize>,
}

impl Cable {
    pub fn new(host: SharedHost) -> Arc<Self> {
        Arc::new(Self {
            host,
            pids: tempfile::tempdir().unwrap(),
            count: AtomicUsize::new(0),
            down: AtomicBool::new(false),
            cut: watch::channel(0).0,
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

impl Host for Cable {
    fn name(&self) -> &str {
        self.host.name()
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
            let number = self.count.fetch_add(1, Ordering::SeqCst);
            let note = self.pids.path().join(number.to_string());
            let noted = format!("echo $$ >{}\n{script}", note.display());
            let Channel {
                mut stdin,
                mut output,
            } = self.host.exec(&noted).await?;
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
                        () = tx.closed() => return,
                        said = output.recv() => {
                            let Some(said) = said else { return };
                            if matches!(said, Said::Exit(_)) {
                                let _ = std::fs::remove_file(&note);
                            }
                            if tx.send(said).await.is_err() {
                                return;
                            }
                        }
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
