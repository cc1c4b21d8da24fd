//! The supervisor and facts through a real OpenSSH server.
#![cfg(test)]

#[path = "support/sshd.rs"]
mod server;

use std::time::{Duration, Instant};

use comeback::host::SharedHost;
use comeback::host::facts::{Wanted, overhead, probe};
use comeback::host::supervisor::{Heard, Job, Journal, Launch, Outcome, Supervisor};
use server::Sshd;

const LIMIT: Duration = Duration::from_mins(2);

struct Bench {
    sshd: Sshd,
    supervisor: Supervisor,
    dir: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Option<Self> {
        let sshd = Sshd::start()?;
        let dir = tempfile::tempdir().unwrap();
        let host: SharedHost = sshd.host().await;
        // Its processes are known by its name: another of these tests may run beside it.
        let state = format!("it's $(here)/cb-over-ssh-{}", std::process::id());
        let state = dir.path().join(state);
        let supervisor = Supervisor::new(host, state.display().to_string());
        supervisor.prepare().await.unwrap();
        Some(Self {
            sshd,
            supervisor,
            dir,
        })
    }

    async fn launch(&self, step: &str, command: &str) -> Job {
        self.supervisor
            .launch(step, command, Launch::default())
            .await
            .unwrap()
    }

    /// Kills the server's side of every connection, but nothing that runs behind it: of the
    /// server's processes (known by its configuration file) those below the listener.
    fn cut(&self) {
        let config = self.sshd.path("sshd_config").display().to_string();
        let mut listener = None;
        let mut servers = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let read = |name| std::fs::read_to_string(entry.path().join(name)).unwrap_or_default();
            let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else {
                continue;
            };
            if read("comm").trim().starts_with("sshd") {
                let stat = read("stat");
                let behind = stat.rsplit(')').next().unwrap_or_default();
                let parent = behind
                    .split_whitespace()
                    .nth(1)
                    .and_then(|pid| pid.parse().ok());
                servers.push((pid, parent.unwrap_or(0)));
                if read("cmdline").contains(&config) {
                    listener = Some(pid);
                }
            }
        }
        let listener = listener.expect("the server is not there");
        let mut below = vec![listener];
        let mut at = 0;
        while let Some(&parent) = below.get(at) {
            below.extend(
                servers
                    .iter()
                    .filter(|(_, of)| *of == parent)
                    .map(|(pid, _)| *pid),
            );
            at += 1;
        }
        assert!(below.len() > 1, "nobody is connected");
        for pid in below.into_iter().skip(1) {
            assert!(pid > 1);
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

async fn gather(job: &mut Job) -> (Vec<u8>, Vec<bool>, Outcome) {
    let mut out = Vec::new();
    let mut links = Vec::new();
    let work = async {
        while let Some(heard) = job.next().await {
            match heard {
                Heard::Output { offset, bytes, .. } => {
                    assert_eq!(offset, out.len() as u64);
                    out.extend(bytes);
                }
                Heard::Gap { .. } => panic!("a gap"),
                Heard::LinkLost { .. } => links.push(false),
                Heard::LinkBack => links.push(true),
                Heard::Ended(outcome) => return outcome,
            }
        }
        panic!("no end");
    };
    let outcome = tokio::time::timeout(LIMIT, work).await.unwrap();
    links.dedup();
    (out, links, outcome)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_runs_and_outlives_its_connection() {
    let Some(bench) = Bench::new().await else {
        return;
    };
    let (out, links, outcome) = gather(&mut bench.launch("s1", "echo 'a\"b'; exit 3").await).await;
    assert_eq!(
        (out.as_slice(), outcome.status.as_slice()),
        (&b"a\"b\n"[..], &[3][..])
    );
    assert!(links.is_empty());

    let go = bench.dir.path().join("go");
    let command = format!(
        "i=0; while [ ! -e {} ]; do i=$((i+1)); echo $i; sleep 0.02; done; exit 5",
        go.display()
    );
    let keeper = bench.supervisor.keeper().await.unwrap();
    let mut job = bench.launch("s2", &command).await;
    for _ in 0..5 {
        job.next().await.unwrap();
    }
    let (text, links, outcome) = {
        bench.cut();
        let ended = gather_after(&mut job, &go);
        tokio::time::timeout(LIMIT, ended).await.unwrap()
    };
    assert_eq!(links, [false, true]);
    assert_eq!(outcome.status, [5]);
    assert!(!text.is_empty());
    let kept = async {
        while !bench.supervisor.living().await.unwrap().kept {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(LIMIT, kept).await.unwrap();
    keeper.close().await;

    let mut job = bench
        .launch("s3", "trap '' TERM; setsid sleep 1000 & sleep 1000")
        .await;
    let proof = job.stop(Duration::from_millis(10)).await;
    assert!(proof.gone, "{:?}", proof.left);
    assert_eq!(gather(&mut job).await.2.status, [137]);
    bench.supervisor.finish(Journal::Remove).await.unwrap();
    assert!(!std::path::Path::new(bench.supervisor.dir()).exists());
}

async fn gather_after(job: &mut Job, go: &std::path::Path) -> (Vec<u8>, Vec<bool>, Outcome) {
    let mut text = Vec::new();
    let mut links = Vec::new();
    let mut next = None;
    while let Some(heard) = job.next().await {
        match heard {
            Heard::Output { offset, bytes, .. } => {
                if let Some(next) = next {
                    assert_eq!(offset, next, "bytes are missing or twice");
                }
                next = Some(offset + bytes.len() as u64);
                text.extend(bytes);
            }
            Heard::LinkLost { .. } => links.push(false),
            Heard::LinkBack => {
                links.push(true);
                std::fs::write(go, "").unwrap();
            }
            Heard::Gap { .. } => panic!("a gap"),
            Heard::Ended(outcome) => {
                links.dedup();
                return (text, links, outcome);
            }
        }
    }
    panic!("no end");
}

/// A step and a keeper lose their connection, and after that the server wants nothing of them: a
/// login is tried once for all, and told.
async fn shut_out(change: impl FnOnce(&mut Sshd), says: &str) -> Option<Bench> {
    let mut bench = Bench::new().await?;
    let keeper = bench.supervisor.keeper().await.unwrap();
    let go = bench.dir.path().join("go");
    let command = format!("while [ ! -e {} ]; do sleep 0.05; done", go.display());
    let mut job = bench.launch("s1", &command).await;
    let before = bench.sshd.log().len();
    change(&mut bench.sshd);
    let mut told = Vec::new();
    let mut until = tokio::time::Instant::now() + LIMIT;
    while let Ok(heard) = tokio::time::timeout_at(until, job.next()).await {
        if let Some(Heard::LinkLost { why }) = heard {
            if why.contains(says) && told.is_empty() {
                // Several waits between tries pass.
                until = tokio::time::Instant::now() + Duration::from_secs(4);
            }
            if why.contains(says) || !told.is_empty() {
                told.push(why);
            }
        }
    }
    // One more, where a connection was not known yet to be gone: then nobody is asked beside it.
    assert!((1..=2).contains(&told.len()), "{told:?}");
    let last = told.last().unwrap();
    assert!(
        last.ends_with("; the next login is tried after 10 min"),
        "{told:?}"
    );
    // The test itself looked whether the server speaks, where it was started anew.
    let log = bench.sshd.log().split_off(before);
    let asked = log.matches("Connection from").count() - log.matches("Server listening").count();
    assert!((1..=2).contains(&asked), "{log}");

    std::fs::write(go, "").unwrap();
    let status = std::path::Path::new(bench.supervisor.dir()).join("steps/s1/status");
    let ended = async {
        while !status.exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, ended).await.unwrap();
    drop((job, keeper));
    Some(bench)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_no_longer_taken_is_not_offered_again_and_again() {
    let change = |sshd: &mut Sshd| {
        std::fs::write(sshd.path("authorized"), "").unwrap();
        sshd.cut();
    };
    let Some(bench) = shut_out(change, "login: the host refuses").await else {
        return;
    };
    // Whoever connects by hand need not wait.
    let key = bench.sshd.path("home/.ssh/id_ed25519.pub");
    std::fs::copy(key, bench.sshd.path("authorized")).unwrap();
    bench.sshd.host().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_whose_key_changes_meanwhile_is_left_alone() {
    let change = |sshd: &mut Sshd| {
        let key = sshd.path("host_ed25519");
        sshd.shut(|| {
            std::fs::remove_file(&key).unwrap();
            server::keygen("ed25519", "", &key);
        });
    };
    shut_out(change, "changed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn facts_come_back() {
    let Some(bench) = Bench::new().await else {
        return;
    };
    let odd = bench
        .dir
        .path()
        .join("a\n'b' $(c) \\ `d`")
        .display()
        .to_string();
    let wanted = Wanted {
        paths: &[odd.clone(), "-x".to_owned()],
        ..Wanted::default()
    };
    let facts = probe(&**bench.supervisor.host(), &wanted).await.unwrap();
    assert!(facts.paths[&odd].free.0 > 0);
    assert!(facts.tools["tar"].contains("tar"));
    assert!(overhead(&bench.supervisor).await.unwrap() > 0.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "prints figures"]
async fn measure() {
    let bench = Bench::new().await.unwrap();
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2] * 1e3
    };
    let (mut here, mut host) = (Vec::new(), Vec::new());
    for number in 0..41 {
        let begun = Instant::now();
        let (_, _, outcome) = gather(&mut bench.launch(&format!("t{number}"), "true").await).await;
        here.push(begun.elapsed().as_secs_f64());
        host.push(outcome.seconds().unwrap());
    }
    println!(
        "true: {:.1} ms by the host, {:.1} ms in all",
        median(host),
        median(here)
    );
    let mut sleeps = Vec::new();
    for number in 0..5 {
        let (_, _, outcome) =
            gather(&mut bench.launch(&format!("s{number}"), "sleep 1").await).await;
        sleeps.push(outcome.seconds().unwrap() - 1.0);
    }
    println!("sleep 1 reads {:+.1} ms", median(sleeps));
}
