//! Dropbear as the server: what routers, small systems and rescue disks have.
#![cfg(test)]

#[path = "support/channel.rs"]
mod channel;
#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/house.rs"]
mod house;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/world.rs"]
mod world;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use channel::run;
use comeback::host::supervisor::{Heard, Journal, Launch, Supervisor};
use comeback::host::{Exit, HostError, SharedHost, ask, ssh};
use going::{Going, wait_until};
use house::{House, Plan};
use rustix::process::Signal;
use server::program;
use world::SMALL;

/// The server, for ann; it ends, with its connections, when it is dropped.
struct Dropbear {
    house: House,
    port: u16,
    child: Option<Child>,
}

impl Dropbear {
    fn start() -> Option<Self> {
        let (dropbear, keygen) = (program("dropbear")?, program("dropbearkey")?);
        let house = House::new(&Plan {
            users: &[("ann", "/bin/sh")],
            ..Plan::default()
        })?;
        let key = house.path("dropbear_key");
        let made = Command::new(keygen)
            .args(["-t", "ed25519", "-f"])
            .arg(&key)
            .output()
            .unwrap();
        let said = String::from_utf8(made.stdout).unwrap();
        let public = said.lines().find(|line| line.starts_with("ssh-ed25519"));
        let authorized = fs::read_to_string(house.sshd.path("authorized")).unwrap();
        let file = house.write("ann", ".ssh/authorized_keys", &authorized);
        for path in [file.as_path(), file.parent().unwrap()] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
        }
        let mut server = Self {
            house,
            port: 0,
            child: None,
        };
        for _ in 0..10 {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            server.port = listener.local_addr().unwrap().port();
            drop(listener);
            if server.spawn(&dropbear) {
                break;
            }
        }
        let known = format!("[127.0.0.1]:{} {}\n", server.port, public.unwrap());
        fs::write(server.house.sshd.known_hosts(), known).unwrap();
        let config = server.house.world.path("home/.ssh/config");
        let text = fs::read_to_string(&config).unwrap();
        let other = format!("Port {}", server.house.sshd.port());
        fs::write(
            &config,
            text.replace(&other, &format!("Port {}", server.port)),
        )
        .unwrap();
        Some(server)
    }

    /// Whether it listens.
    fn spawn(&mut self, program: &std::path::Path) -> bool {
        let log = fs::File::create(self.house.path("dropbear.log")).unwrap();
        let child = Command::new("nsenter")
            .args([
                "--mount",
                "--target",
                &self.house.sshd.pid().to_string(),
                "--",
            ])
            .arg(program)
            .args(["-F", "-E", "-m", "-P", "/run/dropbear.pid", "-r"])
            .arg(self.house.path("dropbear_key"))
            .args(["-p", &format!("127.0.0.1:{}", self.port)])
            .stdin(Stdio::null())
            .stderr(log)
            .spawn();
        let child = self.child.insert(child.unwrap());
        let mut there = false;
        wait_until("dropbear listens, or has ended", || {
            there = server::speaks(self.port);
            there || child.try_wait().unwrap().is_some()
        });
        there
    }

    /// Ends all connections at once; what was started through them lives.
    fn cut(&self) {
        for pid in server::descendants(self.child.as_ref().unwrap().id()) {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            if name.starts_with("dropbear") {
                server::kill(pid);
            }
        }
    }

    async fn host(&self) -> SharedHost {
        let target = format!("ann@127.0.0.1:{}", self.port);
        match ssh::connect(&target, &self.house.sshd.config()).await {
            Ok(host) => host,
            Err(error) => {
                let log = fs::read_to_string(self.house.path("dropbear.log"));
                panic!("{error}\n{}", log.unwrap_or_default());
            }
        }
    }
}

impl Drop for Dropbear {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            for pid in server::descendants(child.id()) {
                server::kill(pid);
            }
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_and_steps_run_through_it() {
    let Some(server) = Dropbear::start() else {
        return;
    };
    let host = server.host().await;
    let answer = run(&*host, "echo out; echo err >&2; exit 7").await;
    assert_eq!(
        (answer.out.as_slice(), answer.err.as_slice()),
        (&b"out\n"[..], &b"err\n"[..])
    );
    assert_eq!(answer.exit, Exit::Code(7));
    assert_eq!(
        run(&*host, "kill -KILL $$").await.exit,
        Exit::Signal("KILL".into())
    );
    // More than its window, both ways.
    let bytes: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let answer = ask(
        &*host,
        "cat",
        &bytes,
        bytes.len() + 1,
        Duration::from_mins(1),
    )
    .await
    .unwrap();
    assert!(
        answer.out == bytes,
        "{} of {} bytes",
        answer.out.len(),
        bytes.len()
    );
    let mut all = tokio::task::JoinSet::new();
    for number in 0..20 {
        let host = Arc::clone(&host);
        all.spawn(async move {
            (
                number,
                run(&*host, &format!("sleep 0.1; exit {number}")).await.exit,
            )
        });
    }
    for (number, exit) in all.join_all().await {
        assert_eq!(exit, Exit::Code(number));
    }

    let state = format!("/home/ann/cb-dropbear-{}", std::process::id());
    let supervisor = Supervisor::new(host, state);
    supervisor.prepare().await.unwrap();
    let go = server.house.path("home/ann/go");
    let command =
        "i=0; while [ ! -e /home/ann/go ]; do i=$((i+1)); echo $i; sleep 0.02; done; exit 5";
    let mut job = supervisor
        .launch("s1", command, Launch::default())
        .await
        .unwrap();
    for _ in 0..3 {
        job.next().await.unwrap();
    }
    server.cut();
    let (mut links, mut next, mut status) = (Vec::new(), None, Vec::new());
    while let Some(heard) = job.next().await {
        match heard {
            Heard::Output { offset, bytes, .. } => {
                assert_eq!(offset, next.unwrap_or(offset), "bytes are missing or twice");
                next = Some(offset + bytes.len() as u64);
            }
            Heard::LinkLost { .. } => links.push(false),
            Heard::LinkBack => {
                links.push(true);
                fs::write(&go, "").unwrap();
            }
            Heard::Gap { .. } => panic!("a gap"),
            Heard::Ended(outcome) => status = outcome.status,
        }
    }
    links.dedup();
    assert_eq!(links, [false, true]);
    assert_eq!(status, [5]);
    let command = "trap '' TERM; setsid sleep 1000 & sleep 1000";
    // Another of the connections that were cut may be met first. Nothing has begun then, and whoever
    // launches tries again, as the engine does.
    let mut tries = 0;
    let job = loop {
        let step = format!("s2-{tries}");
        match supervisor.launch(&step, command, Launch::default()).await {
            Err(why) if why.is_transient() && tries < 10 => tries += 1,
            launched => break launched.unwrap(),
        }
    };
    let proof = job.stop(Duration::from_millis(1)).await;
    assert!(proof.gone, "{:?}", proof.left);
    supervisor.finish(Journal::Remove).await.unwrap();
    server.house.assert_empty();
}

#[test]
fn sessions_run_stop_and_say_why_not() {
    let Some(server) = Dropbear::start() else {
        return;
    };
    let world = &server.house.world;
    let arguments = |record: &str| {
        let record = world.text(record);
        let fixed = [
            "run",
            "--record",
            &record,
            "--sandbox",
            "/home/tmp",
            "--host",
            "ann",
            "--reps",
            "1",
            "--method",
            "files-cp",
        ];
        let all = fixed.iter().chain(&SMALL).map(|&word| word.to_owned());
        all.collect::<Vec<String>>()
    };
    let words = arguments("r.jsonl");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    world.run(&words).assert_good();
    let words = arguments("stopped.jsonl");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut going = Going::start(world.command(&words));
    going.until_started("backup");
    going.signal(Signal::TERM);
    assert_eq!(going.wait().code, 130);
    let session = going.session();
    wait_until("what the server had for it is gone", || {
        processes::of_session(&session).is_empty()
    });
    server.house.assert_empty();
    // Another key than the one it takes.
    fs::remove_file(server.house.path("home/ann/.ssh/authorized_keys")).unwrap();
    let check = world.run(&["check", "--host", "ann"]);
    check.assert_refused(3, &["ann", "login", "publickey"]);
    let error: Result<_, HostError> = tokio::runtime::Runtime::new().unwrap().block_on(async {
        ssh::connect(
            &format!("nobody@127.0.0.1:{}", server.port),
            &server.house.sshd.config(),
        )
        .await
    });
    assert!(matches!(error, Err(HostError::Login { .. })));
}
