//! Links that are cut, for a while or for good, and a host that loses its power: what that does
//! to the steps that run there, and to other hosts.
#![cfg(test)]

#[path = "support/channel.rs"]
mod channel;
#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/machine.rs"]
mod machine;
#[path = "support/methods.rs"]
mod methods;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/world.rs"]
mod world;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use channel::run;
use comeback::host::ssh;
use comeback::host::supervisor::{Heard, Job, Journal, Launch, Outcome, Supervisor};
use comeback::host::{Exit, Host, SharedHost};
use going::Going;
use machine::Machine;
use methods::{BACK, COPY, DESTROY, HEAD, step};
use server::Sshd;
use world::World;

/// A step that counts until it is told to end.
struct Counting {
    supervisor: Supervisor,
    job: Job,
    dir: tempfile::TempDir,
    text: Vec<u8>,
}

impl Counting {
    async fn on(host: SharedHost) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join(format!("cb-links-{}", std::process::id()));
        let supervisor = Supervisor::new(host, state.display().to_string());
        supervisor.prepare().await.unwrap();
        let command = format!(
            "i=0; while [ ! -e {} ] && [ $i -lt 20000 ]; do i=$((i+1)); echo $i; sleep 0.02; done; exit 5",
            dir.path().join("go").display()
        );
        let job = supervisor
            .launch("s1", &command, Launch::default())
            .await
            .unwrap();
        Self {
            supervisor,
            job,
            dir,
            text: Vec::new(),
        }
    }

    /// The next thing that is no output.
    async fn news(&mut self) -> Heard {
        loop {
            match self.job.next().await.unwrap() {
                Heard::Output { offset, bytes, .. } => self.take(offset, &bytes),
                other => return other,
            }
        }
    }

    async fn output(&mut self) {
        match self.job.next().await.unwrap() {
            Heard::Output { offset, bytes, .. } => self.take(offset, &bytes),
            Heard::Ended(_) => panic!("it ended"),
            Heard::LinkLost { why } => panic!("{why}"),
            Heard::LinkBack | Heard::Gap { .. } => panic!("no output"),
        }
    }

    fn take(&mut self, offset: u64, bytes: &[u8]) {
        assert_eq!(offset, self.text.len() as u64, "bytes are missing or twice");
        self.text.extend(bytes);
    }

    /// Ends it. Every number is there, once.
    async fn end(mut self) -> Outcome {
        fs::write(self.dir.path().join("go"), "").unwrap();
        let outcome = loop {
            match self.news().await {
                Heard::Ended(outcome) => break outcome,
                Heard::LinkLost { .. } | Heard::LinkBack => {}
                _ => panic!("a gap"),
            }
        };
        let text = String::from_utf8(std::mem::take(&mut self.text)).unwrap();
        for (index, line) in text.lines().enumerate() {
            assert_eq!(line, (index + 1).to_string());
        }
        assert!(text.lines().count() > 10, "{text}");
        self.supervisor.finish(Journal::Remove).await.unwrap();
        assert!(!Path::new(self.supervisor.dir()).exists());
        outcome
    }
}

/// Some seconds without a link cost nothing: what was sent meanwhile is sent again by TCP, or
/// fetched anew.
async fn cut_for_a_while(machine: &Machine) {
    let mut step = Counting::on(machine.host().await).await;
    for _ in 0..3 {
        step.output().await;
    }
    machine.cut();
    tokio::time::sleep(Duration::from_secs(6)).await;
    machine.mend();
    let before = step.text.len();
    while step.text.len() < before + 100 {
        match step.job.next().await.unwrap() {
            Heard::Output { offset, bytes, .. } => step.take(offset, &bytes),
            Heard::LinkLost { .. } | Heard::LinkBack => {}
            _ => panic!("no output"),
        }
    }
    assert_eq!(step.end().await.status, [5]);
}

/// A link that stays away is told as lost in less than a minute; when it is back, so is the step.
async fn cut_until_told(machine: &Machine) {
    let host = machine.host().await;
    let mut step = Counting::on(host.clone()).await;
    for _ in 0..3 {
        step.output().await;
    }
    machine.cut();
    let since = Instant::now();
    let why = loop {
        if let Heard::LinkLost { why } = step.news().await {
            break why;
        }
    };
    let found = since.elapsed();
    eprintln!("found after {:.1} s: {why}", found.as_secs_f64());
    assert!(found < Duration::from_mins(1), "found after {found:?}");
    let error = host.exec("true").await.err().unwrap();
    assert!(
        error.is_transient() && error.to_string().contains("connect"),
        "{error}"
    );
    machine.mend();
    while !matches!(step.news().await, Heard::LinkBack) {}
    assert_eq!(step.end().await.status, [5]);
}

/// A command that is under way, and has no supervisor, ends without an exit.
async fn cut_under_a_command(machine: &Machine, other: &Sshd) {
    let host = machine.host().await;
    let mut command = host.exec("echo on; exec sleep 1000").await.unwrap();
    assert!(command.output.recv().await.is_some());
    machine.cut();
    // Nobody answers there, and a connection to another host need not wait for that.
    let (target, config) = (machine.target(), machine.sshd.config());
    tokio::select! {
        biased;
        _ = ssh::connect(&target, &config) => panic!("what is gone was first"),
        host = other.host() => drop(host),
    }
    let since = Instant::now();
    assert_eq!(command.output.recv().await, None);
    let found = since.elapsed();
    assert!(found < Duration::from_mins(1), "found after {found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_is_cut_costs_no_line_and_holds_up_no_other_host() {
    let machines = (
        Machine::start(),
        Machine::start(),
        Machine::start(),
        Sshd::start(),
    );
    let (Some(first), Some(second), Some(third), Some(other)) = machines else {
        return;
    };
    let busy = other.host().await;
    let mut steady = Counting::on(busy.clone()).await;
    let mut commands = 0;
    let others = async {
        loop {
            assert_eq!(run(&*busy, "true").await.exit, Exit::Code(0));
            steady.output().await;
            commands += 1;
        }
    };
    let cut = async {
        tokio::join!(
            cut_for_a_while(&first),
            cut_until_told(&second),
            cut_under_a_command(&third, &other)
        )
    };
    tokio::select! {
        _ = cut => {}
        () = others => {}
    }
    eprintln!("{commands} commands on the other host meanwhile");
    assert!(commands > 50, "{commands} commands");
    assert_eq!(steady.end().await.status, [5]);
}

#[test]
fn a_step_of_a_host_that_lost_its_power_is_lost_and_what_it_left_is_named_and_removed() {
    let Some(mut machine) = Machine::start() else {
        return;
    };
    let world = World::new();
    fs::create_dir_all(world.path("home/.ssh")).unwrap();
    world.configure("lab", "state-lab");
    let config = format!(
        "Host lab\nHostName {}\nPort {}\nUser {}\nIdentityFile {}\nIdentitiesOnly yes\n\
         UserKnownHostsFile {}\n",
        machine.address(),
        machine.sshd.port(),
        machine.sshd.user(),
        machine.sshd.key().display(),
        machine.sshd.known_hosts().display()
    );
    fs::write(world.path("home/.ssh/config"), config).unwrap();
    // The subject is gone by then: its copy is needed.
    let long = step("long", "restore", "seq 1 5000; sleep 1000");
    world.method("long", &[HEAD, COPY, DESTROY, &long, BACK].concat());
    let arguments = ["--host", "lab", "--method", "long", "--reps", "1"];
    let arguments = world.arguments("r.jsonl", &arguments);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut going = Going::start(world.command(&arguments));
    going.until_started("long");
    going.until(|event| event["ev"] == "log");
    machine.power_off();
    machine.power_on();
    let ended = going.wait();
    assert_eq!(ended.code, 1, "{}", ended.err);
    assert!(
        ended.err.contains("long: its status is not known"),
        "{}",
        ended.err
    );
    assert_eq!(going.heard.end_of("long")["end"], "lost");
    let session = going.session();
    let recover = |more: &[&str]| {
        let said = world.run(&[&["recover", "--host", "lab"], more].concat());
        assert_eq!(said.code, 0, "{}", said.err);
        said.out
    };
    let said = recover(&[]);
    assert!(
        said.starts_with(&format!("lab: session {session}\n")),
        "{said}"
    );
    let folder = world.sandbox().join(format!("comeback-{session}-r1"));
    for left in [folder.join("copy"), folder] {
        assert!(left.exists());
        assert!(said.contains(&format!("{}\n", left.display())), "{said}");
    }
    recover(&["--remove"]);
    assert_eq!(recover(&[]), "lab: nothing is left\n");
    world.assert_empty();
}
