//! The supervisor on real shells: dash, bash and BusyBox's, with connections that break.

#![cfg(test)]

#[path = "support/shells.rs"]
mod shells;

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use comeback::event::Stream;
use comeback::host::supervisor::{
    Caps, Heard, Job, Journal, Launch, Outcome, Supervisor, pipe_script,
};
use proptest::prelude::*;
use rustix::process::Signal;
use shells::{Shell, ShellHost, shell, shells, signal_process};

/// Longer than anything here takes, on a machine that is busy with other things, too.
const LIMIT: Duration = Duration::from_secs(120);

/// Where the state folder is: a name that any slip in quoting would stumble over.
const ODD: &str = "it's a \"state\" $(touch slipped) `touch slipped` \\ folder\n-rf * ;";

struct Bench {
    host: Arc<ShellHost>,
    supervisor: Supervisor,
    dir: tempfile::TempDir,
    session: String,
}

impl Bench {
    async fn new(shell: Shell) -> Self {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let dir = tempfile::tempdir().unwrap();
        let session = format!("cb-{}-{number}", std::process::id());
        let state = dir.path().join(ODD).join(&session);
        let path = shell.path.clone();
        let host = ShellHost::new(shell);
        let supervisor =
            Supervisor::with_shell(host.clone(), state.to_str().unwrap().to_owned(), &path);
        supervisor.prepare().await.unwrap();
        Self {
            host,
            supervisor,
            dir,
            session,
        }
    }

    fn state(&self) -> &Path {
        Path::new(self.supervisor.dir())
    }

    async fn launch(&self, step: &str, command: &str) -> Job {
        self.supervisor
            .launch(step, command, Launch::default())
            .await
            .unwrap()
    }

    async fn run(&self, step: &str, command: &str) -> Done {
        gather(&mut self.launch(step, command).await).await
    }

    /// Living processes of this session's commands, by their environment.
    fn processes(&self) -> Vec<(i32, String)> {
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
    fn file(&self, name: &str) -> (std::path::PathBuf, String) {
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
struct Done {
    out: Vec<u8>,
    err: Vec<u8>,
    gaps: Vec<(Stream, u64, Option<u64>)>,
    links: Vec<bool>,
    outcome: Option<Outcome>,
}

impl Done {
    fn outcome(&self) -> &Outcome {
        self.outcome.as_ref().unwrap()
    }

    fn text(&self) -> String {
        String::from_utf8(self.out.clone()).unwrap()
    }

    fn take(&mut self, heard: Heard) {
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

async fn gather(job: &mut Job) -> Done {
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

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, wait)
        .await
        .unwrap_or_else(|_| panic!("never: {what}"));
}

fn on_each_shell<F: Future<Output = ()>>(test: impl Fn(Bench) -> F) {
    for shell in shells() {
        let name = shell.name;
        println!("on {name}");
        on(shell, &test);
    }
}

fn on<F: Future<Output = ()>>(shell: Shell, test: impl Fn(Bench) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { test(Bench::new(shell).await).await });
}

#[test]
fn streams_status_and_stamps_come_back() {
    on_each_shell(|bench| async move {
        let done = bench.run("s1", "echo out; echo err >&2; exit 7").await;
        assert_eq!(done.out, b"out\n");
        assert_eq!(done.err, b"err\n");
        let outcome = done.outcome();
        assert_eq!(outcome.status, [7]);
        assert!(outcome.begun && !outcome.lost);
        assert_eq!(outcome.survivors, 0);
        assert!(outcome.seconds().unwrap() >= 0.0);
        assert!(outcome.resolution > 0.0 && outcome.resolution <= 1.0);
        assert_eq!(done.links, [] as [bool; 0]);
    });
}

#[test]
fn a_slow_step_is_heard_while_it_runs() {
    on_each_shell(|bench| async move {
        let (go, quoted) = bench.file("go");
        let mut job = bench
            .launch(
                "s1",
                &format!("echo begun; while [ ! -e {quoted} ]; do sleep 0.05; done; echo ended"),
            )
            .await;
        let first = tokio::time::timeout(LIMIT, job.next())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            first,
            Heard::Output {
                stream: Stream::Out,
                offset: 0,
                bytes: b"begun\n".to_vec()
            }
        );
        std::fs::write(go, "").unwrap();
        let mut done = Done {
            out: b"begun\n".to_vec(),
            ..Done::default()
        };
        while let Some(heard) = job.next().await {
            done.take(heard);
        }
        assert_eq!(done.text(), "begun\nended\n");
        assert_eq!(done.outcome().status, [0]);
    });
}

#[test]
fn the_command_runs_in_a_clean_place() {
    on_each_shell(|bench| async move {
        let command =
            "echo $LC_ALL; echo $PATH; umask; cat; echo $COMEBACK_STEP; cat /proc/$$/stat";
        let text = bench.run("s1", command).await.text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "C");
        assert!(lines[1].contains("/usr/sbin"));
        let umask = std::process::Command::new("sh")
            .args(["-c", "umask"])
            .output()
            .unwrap();
        assert_eq!(
            lines[2].trim_start_matches('0'),
            String::from_utf8(umask.stdout)
                .unwrap()
                .trim()
                .trim_start_matches('0')
        );
        assert_eq!(lines[3], format!("{}/steps/s1/", bench.session));
        let stat: Vec<&str> = lines[4].split(' ').collect();
        // Leader of its group and of its session, without a terminal.
        assert_eq!(stat[0], stat[4]);
        assert_eq!(stat[0], stat[5]);
        assert_eq!(stat[6], "0");
    });
}

#[test]
fn the_command_inherits_its_three_streams_alone() {
    on_each_shell(|bench| async move {
        let command = "sh -c 'ls /proc/self/fd' | tr '\\n' ' '";
        let plain = comeback::host::ask(&*bench.host, command, b"", 1000, LIMIT)
            .await
            .unwrap();
        assert_eq!(bench.run("s1", command).await.out, plain.out);
    });
}

#[test]
fn the_state_folder_is_private_and_goes() {
    use std::os::unix::fs::PermissionsExt;

    on_each_shell(|bench| async move {
        let done = bench.run("s1", "true").await;
        assert_eq!(done.outcome().status, [0]);
        for dir in [bench.state(), &bench.state().join("steps/s1")] {
            let mode = std::fs::metadata(dir).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o700, "{}", dir.display());
        }
        std::fs::write(bench.state().join("journal"), "open").unwrap();
        bench.supervisor.finish(Journal::Keep).await.unwrap();
        let left: Vec<_> = std::fs::read_dir(bench.state()).unwrap().collect();
        assert_eq!(left.len(), 1);
        bench.supervisor.finish(Journal::Remove).await.unwrap();
        assert!(!bench.state().exists());
        // Twice does no harm.
        bench.supervisor.finish(Journal::Remove).await.unwrap();
        // And nothing slipped out of its quotes.
        let names: Vec<_> = std::fs::read_dir(bench.dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, [ODD]);
        assert!(!Path::new("slipped").exists());
    });
}

#[test]
fn input_reaches_the_command_and_leaves_no_trace() {
    on_each_shell(|bench| async move {
        let secret = b"correct horse\0battery\n\xff".to_vec();
        let launch = Launch {
            stdin: Some(secret.clone()),
            ..Launch::default()
        };
        let mut job = bench
            .supervisor
            .launch("s1", "cat # no newline at the end", launch)
            .await
            .unwrap();
        let done = gather(&mut job).await;
        assert_eq!(done.out, secret);
        for entry in std::fs::read_dir(bench.state().join("steps/s1")).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap() != "out" {
                let bytes = std::fs::read(&path).unwrap();
                assert!(
                    !bytes.windows(5).any(|part| part == b"horse"),
                    "{}",
                    path.display()
                );
            }
        }
        // Nor is it in a script, which anybody on the host can see.
        let scripts = bench.host.scripts.lock().unwrap();
        assert!(!scripts.iter().any(|script| script.contains("horse")));
    });
}

#[test]
fn a_long_command_is_no_argument() {
    on_each_shell(|bench| async move {
        let command = format!("echo begin\n: {}\necho end", "x".repeat(300_000));
        assert_eq!(bench.run("s1", &command).await.text(), "begin\nend\n");
    });
}

#[test]
fn a_step_is_run_once() {
    on_each_shell(|bench| async move {
        bench.run("s1", "true").await;
        let again = bench
            .supervisor
            .launch("s1", "true", Launch::default())
            .await;
        let error = again.err().unwrap().to_string();
        assert!(error.contains("s1") && error.contains("exists"), "{error}");
    });
}

#[test]
fn each_member_of_a_pipe_tells_its_status() {
    on_each_shell(|bench| async move {
        let members = [
            "echo a; exit 3",
            "cat; exit 0 # done",
            "tr a \"b\"; kill -KILL $$",
        ];
        let script = pipe_script(&members.map(String::from));
        let done = bench.run("s1", &script).await;
        assert_eq!(done.text(), "b\n");
        assert_eq!(done.outcome().status, [3, 0, 137]);

        let script = pipe_script(&["true".to_owned(), "cat".to_owned()]);
        let launch = Launch {
            stdin: Some(b"unread".to_vec()),
            ..Launch::default()
        };
        let done = gather(
            &mut bench
                .supervisor
                .launch("s2", &script, launch)
                .await
                .unwrap(),
        )
        .await;
        assert_eq!(done.outcome().status, [0, 0]);
        assert_eq!(done.err, b"");

        // A member that no shell can read fails; it does not spoil its neighbours.
        let script = pipe_script(&["echo 'a".to_owned(), "cat >/dev/null; echo ok".to_owned()]);
        let done = bench.run("s3", &script).await;
        assert_eq!(done.outcome().status.len(), 2);
        assert_ne!(done.outcome().status[0], 0);
        assert_eq!(done.outcome().status[1], 0);
        assert_eq!(done.text(), "ok\n");
    });
}

#[test]
fn a_lost_connection_stops_nothing() {
    on_each_shell(|bench| async move {
        let (go, quoted) = bench.file("go");
        let command = format!(
            "i=0; while [ ! -e {quoted} ]; do i=$((i+1)); echo line $i; sleep 0.01; done; echo last; exit 5"
        );
        let mut job = bench.launch("s1", &command).await;
        let mut done = Done::default();
        while done.out.is_empty() {
            done.take(job.next().await.unwrap());
        }
        bench.host.cut();
        while done.links.is_empty() {
            done.take(job.next().await.unwrap());
        }
        assert!(!bench.processes().is_empty());
        tokio::time::sleep(Duration::from_millis(300)).await;
        bench.host.mend();
        while done.links.len() < 2 {
            done.take(job.next().await.unwrap());
        }
        std::fs::write(go, "").unwrap();
        let rest = async {
            while let Some(heard) = job.next().await {
                done.take(heard);
            }
        };
        tokio::time::timeout(LIMIT, rest).await.unwrap();
        // Told for each reason that was met, and once when it was over.
        done.links.dedup();
        assert_eq!(done.links, [false, true]);
        assert_eq!(done.outcome().status, [5]);
        // Every line once, in its order.
        let text = done.text();
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().take(lines.len() - 1).enumerate() {
            assert_eq!(*line, format!("line {}", at + 1));
        }
        assert_eq!(lines.last(), Some(&"last"));
    });
}

#[test]
fn a_step_that_ends_while_the_connection_is_gone_is_told_in_full() {
    on_each_shell(|bench| async move {
        let (go, quoted) = bench.file("go");
        let mut job = bench
            .launch(
                "s1",
                &format!(
                    "while [ ! -e {quoted} ]; do sleep 0.05; done; yes | head -c 300000; exit 9"
                ),
            )
            .await;
        bench.host.cut();
        std::fs::write(go, "").unwrap();
        let status = bench.state().join("steps/s1/status");
        until("the status", || status.exists()).await;
        bench.host.mend();
        let done = gather(&mut job).await;
        assert_eq!(done.outcome().status, [9]);
        assert_eq!(done.out, b"y\n".repeat(150_000));
        assert_eq!(done.gaps, []);
    });
}

#[test]
fn a_launch_that_breaks_off_runs_nothing_or_all() {
    on_each_shell(|bench| async move {
        for step in ["s1", "s2", "s3", "s4", "s5"] {
            let (made, quoted) = bench.file(step);
            let command = format!("echo >>{quoted}; sleep 1");
            let mut launch = Box::pin(bench.supervisor.launch(step, &command, Launch::default()));
            let wait = Duration::from_millis(u64::from(step.as_bytes()[1] - b'1') * 2);
            let early = tokio::time::timeout(wait, &mut launch).await;
            bench.host.cut();
            let job = match early {
                Ok(job) => job,
                Err(_) => launch.await,
            };
            bench.host.mend();
            let begun = match job {
                Ok(mut job) => gather(&mut job).await.outcome().begun,
                Err(_) => false,
            };
            tokio::time::sleep(Duration::from_millis(100)).await;
            assert_eq!(made.exists(), begun, "{step}");
            if begun {
                assert_eq!(std::fs::read_to_string(made).unwrap(), "\n");
            }
        }
    });
}

#[test]
fn a_stop_reaches_every_process() {
    on_each_shell(|bench| async move {
        let ready = ["one", "two", "three"].map(|name| bench.file(name));
        // A child that ignores TERM, one in a session of its own that ignores it too, and one
        // that has left its parent.
        let command = format!(
            "trap '' TERM; sh -c 'touch {}; while :; do sleep 1; done' & \
             setsid sh -c 'touch {}; while :; do sleep 1; done' </dev/null >/dev/null 2>&1 & \
             (setsid sh -c 'touch {}; exec sleep 1000' &) ; while :; do sleep 1; done",
            ready[0].1, ready[1].1, ready[2].1
        );
        let mut job = bench.launch("s1", &command).await;
        until("three children", || {
            ready.iter().all(|(path, _)| path.exists())
        })
        .await;
        assert!(bench.processes().len() >= 4, "{:?}", bench.processes());
        let stopper = job.stopper();
        let (proof, done) = tokio::join!(stopper.stop(Duration::from_millis(10)), gather(&mut job));
        assert!(proof.gone, "{:?}", proof.left);
        assert_eq!(bench.processes(), []);
        assert_eq!(done.outcome().status, [137]);
        assert!(!done.outcome().lost);
        // Again, and it is still so.
        assert!(stopper.stop(Duration::ZERO).await.gone);
    });
}

#[test]
fn a_stop_lets_a_command_tidy_up() {
    on_each_shell(|bench| async move {
        let (ready, quoted) = bench.file("ready");
        let command =
            format!("trap 'echo tidy; exit 4' TERM; touch {quoted}; while :; do sleep 0.05; done");
        let mut job = bench.launch("s1", &command).await;
        until("the trap", || ready.exists()).await;
        let stopper = job.stopper();
        let (proof, done) = tokio::join!(stopper.stop(LIMIT), gather(&mut job));
        assert!(proof.gone, "{:?}", proof.left);
        assert_eq!(done.outcome().status, [4]);
        assert_eq!(done.text(), "tidy\n");
    });
}

#[test]
fn a_term_alone_says_what_is_left() {
    on_each_shell(|bench| async move {
        let (ready, quoted) = bench.file("ready");
        let mut job = bench
            .launch(
                "s1",
                &format!("trap '' TERM; touch {quoted}; exec sleep 1000"),
            )
            .await;
        until("the trap", || ready.exists()).await;
        let proof = job.stopper().terminate(Duration::ZERO).await;
        assert!(!proof.gone);
        assert!(proof.left[0].contains("sleep"), "{:?}", proof.left);
        assert!(job.stop(Duration::ZERO).await.gone);
        assert_eq!(gather(&mut job).await.outcome().status, [137]);
    });
}

#[test]
fn a_step_that_was_stopped_before_it_began_never_begins() {
    on_each_shell(|bench| async move {
        assert!(
            bench
                .supervisor
                .stopper("s1")
                .unwrap()
                .stop(Duration::ZERO)
                .await
                .gone
        );
        let (made, quoted) = bench.file("made");
        let launched = bench
            .supervisor
            .launch("s1", &format!("touch {quoted}"), Launch::default())
            .await;
        assert!(launched.is_err());
        assert!(!made.exists());
        let mut job = bench.supervisor.attach("s1", Caps::default()).unwrap();
        assert!(!gather(&mut job).await.outcome().begun);
        let mut job = bench.supervisor.attach("s2", Caps::default()).unwrap();
        assert!(!gather(&mut job).await.outcome().begun);
    });
}

#[test]
fn the_supervisor_keeps_the_status_through_a_term() {
    on_each_shell(|bench| async move {
        let (go, quoted) = bench.file("go");
        let mut job = bench
            .launch(
                "s1",
                &format!("while [ ! -e {quoted} ]; do sleep 0.05; done; exit 7"),
            )
            .await;
        let pid_file = bench.state().join("steps/s1/pid");
        until("the pid", || {
            std::fs::read_to_string(&pid_file).is_ok_and(|pid| pid.contains('\n'))
        })
        .await;
        let supervisor = std::fs::read_to_string(bench.state().join("steps/s1/sup")).unwrap();
        for signal in [Signal::TERM, Signal::HUP, Signal::TERM] {
            signal_process(&supervisor, signal);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        std::fs::write(go, "").unwrap();
        assert_eq!(gather(&mut job).await.outcome().status, [7]);
    });
}

#[test]
fn without_a_supervisor_the_end_is_lost_and_not_before_the_command_is_gone() {
    on_each_shell(|bench| async move {
        let (go, quoted) = bench.file("go");
        let mut job = bench
            .launch(
                "s1",
                &format!("echo begun; while [ ! -e {quoted} ]; do sleep 0.05; done; echo ended"),
            )
            .await;
        let pid_file = bench.state().join("steps/s1/pid");
        until("the pid", || {
            std::fs::read_to_string(&pid_file).is_ok_and(|pid| pid.contains('\n'))
        })
        .await;
        let supervisor = std::fs::read_to_string(bench.state().join("steps/s1/sup")).unwrap();
        signal_process(&supervisor, Signal::KILL);
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(bench.supervisor.living().await.unwrap().running, ["s1"]);
        assert!(bench.supervisor.finish(Journal::Remove).await.is_err());
        std::fs::write(go, "").unwrap();
        let done = gather(&mut job).await;
        assert!(done.outcome().lost);
        assert_eq!(done.outcome().status, [] as [i32; 0]);
        assert_eq!(done.text(), "begun\nended\n");
    });
}

#[test]
fn what_outlives_the_command_in_its_group_is_ended() {
    on_each_shell(|bench| async move {
        let command =
            "sleep 1000 & sh -c 'trap \"\" TERM; while :; do sleep 1; done' & yes & exit 0";
        let done = bench.run("s1", command).await;
        assert_eq!(done.outcome().status, [0]);
        assert!(done.outcome().survivors >= 3, "{:?}", done.outcome());
        assert_eq!(bench.processes(), []);
    });
}

#[test]
fn a_daemon_outlives_its_step_and_its_flood_is_bounded() {
    on_each_shell(|bench| async move {
        let (pid, quoted) = bench.file("pid");
        let caps = Caps {
            head: 1 << 20,
            tail: 1 << 10,
            file: 4 << 20,
        };
        let command = format!(
            "setsid sh -c 'echo $$ >{quoted}; exec yes' & while [ ! -s {quoted} ]; do sleep 0.02; done"
        );
        let launch = Launch {
            caps,
            ..Launch::default()
        };
        let mut job = bench
            .supervisor
            .launch("s1", &command, launch)
            .await
            .unwrap();
        let done = gather(&mut job).await;
        assert_eq!(done.outcome().status, [0]);
        assert!(!bench.processes().is_empty());
        // It is cut back while it goes on.
        let out = bench.state().join("steps/s1/out");
        let cut = bench.state().join("steps/s1/cut.out");
        until("a cut", || cut.exists()).await;
        assert!(
            bench
                .supervisor
                .stopper("s1")
                .unwrap()
                .stop(Duration::ZERO)
                .await
                .gone
        );
        assert_eq!(bench.processes(), []);
        assert!(pid.exists() && out.exists());
    });
}

#[test]
fn hostile_output_comes_as_it_is() {
    on_each_shell(|bench| async move {
        let command = r"printf '\033[2J\033]0;evil\007\377\376\000\r\nx'; printf '\303\050' >&2";
        let done = bench.run("s1", command).await;
        assert_eq!(done.out, b"\x1b[2J\x1b]0;evil\x07\xff\xfe\x00\r\nx");
        assert_eq!(done.err, b"\xc3\x28");
    });
}

#[test]
fn a_flood_is_bounded_here_and_there() {
    on_each_shell(|bench| async move {
        let caps = Caps {
            head: 1 << 20,
            tail: 4096,
            file: 512 << 20,
        };
        // One line of 100 MB.
        let command = "head -c 100000000 /dev/zero | tr '\\000' x; echo; echo the end; echo e >&2";
        let launch = Launch {
            caps,
            ..Launch::default()
        };
        let mut job = bench
            .supervisor
            .launch("s1", command, launch)
            .await
            .unwrap();
        let done = gather(&mut job).await;
        assert_eq!(done.outcome().status, [0]);
        assert_eq!(done.out.len(), (1 << 20) + 4096);
        assert!(done.out.ends_with(b"x\nthe end\n"));
        assert_eq!(done.err, b"e\n");
        let missing = 100_000_009 - (1 << 20) - 4096;
        assert_eq!(done.gaps, [(Stream::Out, 1 << 20, Some(missing))]);
    });
}

#[test]
fn a_flood_is_cut_back_on_the_host() {
    on(shell("dash"), |bench| async move {
        let caps = Caps {
            head: 1 << 20,
            tail: 4096,
            file: 4 << 20,
        };
        let cut = bench.state().join("steps/s1/cut.out");
        let quoted = shlex::try_quote(cut.to_str().unwrap())
            .unwrap()
            .into_owned();
        let command = format!(
            "echo first; while [ ! -e {quoted} ]; do head -c 1000000 /dev/zero; done; echo last"
        );
        let launch = Launch {
            caps,
            ..Launch::default()
        };
        let mut job = bench
            .supervisor
            .launch("s1", &command, launch)
            .await
            .unwrap();
        let done = gather(&mut job).await;
        assert!(done.out.starts_with(b"first\n\0"));
        assert!(done.out.ends_with(b"last\n"));
        assert_eq!(done.gaps, [(Stream::Out, 1 << 20, None)]);
    });
}

#[test]
fn a_slow_listener_holds_no_connection_and_misses_nothing() {
    on_each_shell(|bench| async move {
        let mut job = bench.launch("s1", "yes | head -c 20000000").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        // Others are served meanwhile.
        assert_eq!(bench.run("s2", "echo hello").await.text(), "hello\n");
        let done = gather(&mut job).await;
        assert_eq!(done.out.len(), 20_000_000);
        assert!(done.out.chunks(2).all(|line| line == b"y\n"));
        assert_eq!(done.gaps, []);
    });
}

#[test]
fn loads_die_with_the_session_and_nothing_else_does() {
    on_each_shell(|bench| async move {
        let keeper = bench.supervisor.keeper().await.unwrap();
        assert!(bench.supervisor.living().await.unwrap().kept);
        let load = Launch {
            load: true,
            ..Launch::default()
        };
        let mut job = bench
            .supervisor
            .launch("load", "trap '' TERM; sleep 1000", load)
            .await
            .unwrap();
        let (go, quoted) = bench.file("go");
        let mut other = bench
            .launch(
                "task",
                &format!("while [ ! -e {quoted} ]; do sleep 0.05; done"),
            )
            .await;
        let pid = bench.state().join("steps/load/pid");
        until("the load", || pid.exists()).await;
        assert_eq!(
            bench.supervisor.living().await.unwrap().running,
            ["load", "task"]
        );
        // The program is killed: its pipes end, and nobody comes back.
        bench.host.cut_softly();
        until("the end of the load", || {
            bench.state().join("steps/load/status").exists()
        })
        .await;
        bench.host.mend();
        let living = bench.supervisor.living().await.unwrap();
        assert_eq!(living.running, ["task"]);
        let done = gather(&mut job).await;
        assert_eq!(done.outcome().status, [137]);
        std::fs::write(go, "").unwrap();
        assert_eq!(gather(&mut other).await.outcome().status, [0]);
        keeper.close().await;
        assert!(!bench.supervisor.living().await.unwrap().kept);
    });
}

#[test]
fn a_keeper_comes_back_with_the_connection_and_its_close_ends_the_loads() {
    on_each_shell(|bench| async move {
        let keeper = bench.supervisor.keeper().await.unwrap();
        let pid = || std::fs::read_to_string(bench.state().join("keeper")).unwrap();
        let first = pid();
        bench.host.cut();
        bench.host.mend();
        until(
            "another keeper",
            || !matches!(pid(), pid if pid == first || pid.is_empty()),
        )
        .await;
        assert!(bench.supervisor.living().await.unwrap().kept);
        let load = Launch {
            load: true,
            ..Launch::default()
        };
        let mut job = bench
            .supervisor
            .launch("load", "exec sleep 1000", load)
            .await
            .unwrap();
        keeper.close().await;
        assert_eq!(gather(&mut job).await.outcome().status, [143]);
        let living = bench.supervisor.living().await.unwrap();
        assert!(!living.kept && living.running.is_empty());
    });
}

#[test]
fn any_text_goes_through_any_shell_as_it_is() {
    on_each_shell(|bench| async move {
        let bench = &bench;
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
            cases: 12,
            failure_persistence: None,
            ..ProptestConfig::default()
        });
        let word = proptest::collection::vec(
            prop_oneof![
                "[-$`\"'\\\\ \n*?(){};&|<>!#~=%]{1,8}",
                "\\$\\(touch [a-z]\\)",
                "\\PC{1,6}",
                "-[a-z-]{1,5}",
            ],
            1..5,
        )
        .prop_map(|parts| parts.concat());
        let handle = tokio::runtime::Handle::current();
        let result = tokio::task::block_in_place(|| {
            let count = std::cell::Cell::new(0);
            runner.run(&(word.clone(), word), |(first, second)| {
                count.set(count.get() + 1);
                let quote = |text: &str| shlex::try_quote(text).unwrap().into_owned();
                let command = format!("printf '%s\\0' {} {}", quote(&first), quote(&second));
                let step = format!("{} {first}", count.get());
                let prefix: String = step.chars().take(20).collect();
                let done = handle.block_on(bench.run(&prefix, &command));
                let expected = format!("{first}\0{second}\0");
                prop_assert_eq!(String::from_utf8_lossy(&done.out), expected);
                Ok(())
            })
        });
        result.unwrap();
    });
}

/// How fast it is here; run with `--ignored --nocapture` on a quiet machine.
#[test]
#[ignore = "prints figures"]
fn measure() {
    on_each_shell(|bench| async move {
        let median = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values[values.len() / 2] * 1e3
        };
        let mut host = Vec::new();
        let mut here = Vec::new();
        for number in 0..41 {
            let begun = std::time::Instant::now();
            let done = bench.run(&format!("true-{number}"), "true").await;
            here.push(begun.elapsed().as_secs_f64());
            host.push(done.outcome().seconds().unwrap());
        }
        println!(
            "{:?}: supervised true: {:.1} ms by the host's clock, {:.1} ms in all",
            bench.supervisor.clock(),
            median(host),
            median(here)
        );
        let mut sleeps = Vec::new();
        for number in 0..5 {
            let done = bench.run(&format!("sleep-{number}"), "sleep 1").await;
            sleeps.push(done.outcome().seconds().unwrap() - 1.0);
        }
        println!("sleep 1 reads {:+.1} ms", median(sleeps));
    });
}
