//! A session of the supervisor on one shell, with what is asked of it.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use comeback::event::Stream;
use comeback::host::supervisor::{Heard, Job, Launch, Outcome, Supervisor};
use rustix::process::Signal;

use crate::cable::Cable;
use crate::shells::{Shell, ShellHost, shells};

/// Longer than anything here takes, on a machine that is busy with other things, too.
pub const LIMIT: Duration = Duration::from_mins(2);

/// Where the state folder is: a name that any slip in quoting would stumble over.
pub const ODD: &str = "it's a \"state\" $(touch slipped) `touch slipped` \\ folder\n-rf * ;";

pub struct Bench {
    /// The machine.
    pub shell: Arc<ShellHost>,
    /// The way to it.
    pub cable: Arc<Cable>,
    pub supervisor: Supervisor,
    pub dir: tempfile::TempDir,
    pub session: String,
}

impl Bench {
    pub async fn new(shell: Shell) -> Self {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let dir = tempfile::tempdir().unwrap();
        let session = format!("cb-{}-{number}", std::process::id());
        let state = dir.path().join(ODD).join(&session);
        let path = shell.path.clone();
        let shell = ShellHost::new(shell);
        let cable = Cable::new(shell.clone());
        let supervisor =
            Supervisor::with_shell(cable.clone(), state.to_str().unwrap().to_owned(), &path);
        supervisor.prepare().await.unwrap();
        Self {
            shell,
            cable,
            supervisor,
            dir,
            session,
        }
    }

    pub fn state(&self) -> &Path {
        Path::new(self.supervisor.dir())
    }

    pub async fn launch(&self, step: &str, command: &str) -> Job {
        self.supervisor
            .launch(step, command, Launch::default())
            .await
            .unwrap()
    }

    pub async fn run(&self, step: &str, command: &str) -> Done {
        gather(&mut self.launch(step, command).await).await
    }

    /// Living processes of this session's commands, by their environment.
    pub fn processes(&self) -> Vec<(i32, String)> {
        let token = format!("COMEBACK_STEP={}/", self.session);
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let path = entry.path();
            let environ = std::fs::read(path.join("environ")).unwrap_or_default();
            if environ
                .split(|&byte| byte == 0)
                .any(|line| line.starts_with(token.as_bytes()))
            {
                let command = std::fs::read(path.join("cmdline")).unwrap_or_default();
                let pid = entry.file_name().to_str().unwrap().parse().unwrap();
                found.push((pid, String::from_utf8_lossy(&command).replace('\0', " ")));
            }
        }
        found
    }

    /// A file beside the state folder, quoted for a shell.
    pub fn file(&self, name: &str) -> (std::path::PathBuf, String) {
        let path = self.dir.path().join(name);
        let quoted = shlex::try_quote(path.to_str().unwrap())
            .unwrap()
            .into_owned();
        (path, quoted)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // What a failed test left must not disturb the next one.
        for (pid, _) in self.processes() {
            if let Some(pid) = rustix::process::Pid::from_raw(pid) {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
    }
}

#[derive(Debug, Default)]
pub struct Done {
    pub out: Vec<u8>,
    pub err: Vec<u8>,
    pub gaps: Vec<(Stream, u64, Option<u64>)>,
    pub links: Vec<bool>,
    pub outcome: Option<Outcome>,
}

impl Done {
    pub fn outcome(&self) -> &Outcome {
        self.outcome.as_ref().unwrap()
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.out.clone()).unwrap()
    }

    pub fn take(&mut self, heard: Heard) {
        match heard {
            Heard::Output {
                stream,
                offset,
                bytes,
            } => {
                assert!(!bytes.is_empty() && bytes.len() <= 64 * 1024);
                let all = match stream {
                    Stream::Out => &mut self.out,
                    Stream::Err => &mut self.err,
                };
                if self.gaps.is_empty() {
                    assert_eq!(offset, all.len() as u64, "{stream:?}");
                }
                all.extend(bytes);
            }
            Heard::Gap {
                stream,
                offset,
                bytes,
            } => self.gaps.push((stream, offset, bytes)),
            Heard::LinkLost { .. } => self.links.push(false),
            Heard::LinkBack => self.links.push(true),
            Heard::Ended(outcome) => self.outcome = Some(outcome),
        }
    }
}

pub async fn gather(job: &mut Job) -> Done {
    let mut done = Done::default();
    let work = async {
        while let Some(heard) = job.next().await {
            assert_eq!(done.outcome, None, "something after the end");
            done.take(heard);
        }
    };
    tokio::time::timeout(LIMIT, work)
        .await
        .expect("the step does not end");
    done
}

pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, wait)
        .await
        .unwrap_or_else(|_| panic!("never: {what}"));
}

pub fn on_each_shell<F: Future<Output = ()>>(test: impl Fn(Bench) -> F) {
    for shell in shells() {
        let name = shell.name;
        println!("on {name}");
        on(shell, &test);
    }
}

pub fn on<F: Future<Output = ()>>(shell: Shell, test: impl Fn(Bench) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { test(Bench::new(shell).await).await });
}

/// The ids of the steps that run.
pub async fn running(supervisor: &Supervisor) -> Vec<String> {
    let living = supervisor.living().await.unwrap();
    living.running.into_iter().map(|one| one.step).collect()
}
