//! What servers limit: logins at once (`MaxStartups`), channels on a connection (`MaxSessions`).
#![cfg(test)]

#[path = "support/channel.rs"]
mod channel;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/sshd.rs"]
mod server;

use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use channel::{rest, run};
use comeback::host::ssh::{self, Config};
use comeback::host::{Exit, Host};
use missing::have_root;
use server::{OWN_MOUNTS, Sshd, program};
use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_names_of_one_server_are_all_let_in_by_its_usual_limit() {
    let Some(sshd) = Sshd::start_with("MaxStartups 10:30:100") else {
        return;
    };
    let mut text = String::new();
    for number in 0..100 {
        write!(
            text,
            "Host h{number}\nHostName 127.0.0.1\nPort {}\nUser {}\n",
            sshd.port(),
            sshd.user()
        )
        .unwrap();
    }
    fs::write(sshd.path("home/.ssh/config"), text).unwrap();
    let started = Instant::now();
    let mut all = JoinSet::new();
    for number in 0..100 {
        let config = sshd.config();
        all.spawn(async move { ssh::connect(&format!("h{number}"), &config).await });
    }
    let hosts: Vec<_> = all
        .join_all()
        .await
        .into_iter()
        .map(|host| host.unwrap_or_else(|error| panic!("{error}\n{}", sshd.log())))
        .collect();
    eprintln!("100 names in {:.2} s", started.elapsed().as_secs_f64());
    let answer = run(&**hosts.last().unwrap(), "echo in").await;
    assert_eq!(answer.out, b"in\n");
    // Not even one was dropped: fewer than the limit were at the door at any time.
    assert!(!sshd.log().contains("drop connection"), "{}", sshd.log());
}

/// A connection that was let in, and never logs in.
fn occupy(port: u16) -> TcpStream {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut banner = [0; 4];
        if stream.read_exact(&mut banner).is_ok() && &banner == b"SSH-" {
            return stream;
        }
        // One before it is not gone yet.
        assert!(Instant::now() < until, "never let in");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[tokio::test]
async fn a_server_that_is_full_is_asked_again_until_it_has_room() {
    let Some(sshd) = Sshd::start_with("MaxStartups 2:100:2") else {
        return;
    };
    // Two that never log in.
    let full = [occupy(sshd.port()), occupy(sshd.port())];
    let (target, config) = (sshd.target(), sshd.config());
    let (host, ()) = tokio::join!(ssh::connect(&target, &config), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(full);
    });
    let host = host.unwrap_or_else(|error| panic!("{error}\n{}", sshd.log()));
    assert_eq!(run(&*host, "echo in").await.out, b"in\n");
    assert!(sshd.log().contains("drop connection"), "{}", sshd.log());
}

#[tokio::test]
async fn a_server_that_stays_full_is_down_and_says_why() {
    let Some(sshd) = Sshd::start_with("MaxStartups 1:100:1") else {
        return;
    };
    let _full = occupy(sshd.port());
    let error = ssh::connect(&sshd.target(), &sshd.config()).await.err();
    let error = error.unwrap_or_else(|| panic!("{}", sshd.log()));
    let text = error.to_string();
    assert!(error.is_transient(), "{text}");
    assert!(
        text.contains(": banner: ") && text.contains("too many connections"),
        "{text}"
    );
}

#[tokio::test]
async fn what_answers_and_is_no_ssh_server_is_not_asked_again() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let web = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
        drop(stream);
        // Nobody else comes.
        listener.accept().await.unwrap();
        panic!("asked again");
    };
    let home = tempfile::tempdir().unwrap();
    let config = Config::in_home(home.path());
    let target = format!("ann@127.0.0.1:{port}");
    let error = tokio::select! {
        error = ssh::connect(&target, &config) => error.err().unwrap().to_string(),
        () = web => unreachable!(),
    };
    assert!(
        error.contains("it said: HTTP/1.1 400 Bad Request"),
        "{error}"
    );
}

/// Ends a process when it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Dropbear takes five connections of an address that are not logged in yet, and drops others
/// without a word.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropbear_lets_many_in_and_runs_many_commands() {
    let (Some(dropbear), Some(keygen)) = (program("dropbear"), program("dropbearkey")) else {
        return;
    };
    let Some(sshd) = Sshd::start() else { return };
    if !have_root() {
        return;
    }
    let key = sshd.path("dropbear_key");
    let made = Command::new(keygen)
        .args(["-t", "ed25519", "-f"])
        .arg(&key)
        .output()
        .unwrap();
    let made = String::from_utf8(made.stdout).unwrap();
    let public = made
        .lines()
        .find(|line| line.starts_with("ssh-ed25519"))
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    fs::write(sshd.known_hosts(), format!("[127.0.0.1]:{port} {public}\n")).unwrap();
    // It looks for keys in the user's home only: in a mount namespace of its own, that is ours.
    let home = sshd.path("dropbear_home");
    fs::create_dir_all(home.join(".ssh")).unwrap();
    fs::copy(sshd.path("authorized"), home.join(".ssh/authorized_keys")).unwrap();
    let script = format!(
        "chmod -R go-rwx {home} && mount --bind {home} ~root && exec {dropbear} -F -E -r {key} \
         -p 127.0.0.1:{port} -P {home}/pid",
        home = home.display(),
        dropbear = dropbear.display(),
        key = key.display(),
    );
    let log = fs::File::create(sshd.path("dropbear.log")).unwrap();
    let child = Command::new("unshare")
        .args(["--mount", "sh", OWN_MOUNTS, "sh", "-c", &script])
        .stdin(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap();
    let _running = Running(child);
    let until = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < until, "dropbear does not start");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut all = JoinSet::new();
    for number in 0..20 {
        let (target, config) = (format!("root@127.0.0.1:{port}"), sshd.config());
        all.spawn(async move {
            let host = ssh::connect(&target, &config).await.unwrap();
            let commands = (0..6).map(|more| {
                let host = Arc::clone(&host);
                async move { run(&*host, &format!("exit {}", number + more)).await.exit }
            });
            let exits = futures_util::future::join_all(commands).await;
            for (more, exit) in (0..6).zip(exits) {
                assert_eq!(exit, Exit::Code(number + more));
            }
        });
    }
    all.join_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_beyond_the_channels_of_a_connection_wait_and_none_fails() {
    for sessions in [1, 2] {
        for logins in [true, false] {
            let Some(sshd) = Sshd::start_with(&format!("MaxSessions {sessions}")) else {
                return;
            };
            let host = sshd.host().await;
            if !logins {
                // All of them on the one connection.
                fs::write(sshd.path("authorized"), "").unwrap();
            }
            let mut all = JoinSet::new();
            for number in 0..8 {
                let host = Arc::clone(&host);
                all.spawn(
                    async move { run(&*host, &format!("sleep 0.2; exit {number}")).await.exit },
                );
            }
            let mut exits: Vec<_> = all
                .join_all()
                .await
                .into_iter()
                .map(|exit| match exit {
                    Exit::Code(code) => code,
                    other => panic!("{other:?}"),
                })
                .collect();
            exits.sort_unstable();
            assert_eq!(exits, (0..8).collect::<Vec<_>>());
        }
    }
}

#[tokio::test]
async fn a_command_waits_for_as_long_as_another_takes_the_only_channel() {
    let Some(sshd) = Sshd::start_with("MaxSessions 1") else {
        return;
    };
    let host = sshd.host().await;
    fs::write(sshd.path("authorized"), "").unwrap();
    let mut first = host.exec("sleep 12; exit 1").await.unwrap();
    // Longer than the time after which a host is given up that opens no channel at all.
    let (second, first) = tokio::join!(host.exec("exit 2"), rest(&mut first));
    assert_eq!(first.1, Some(Exit::Code(1)));
    let mut second = second.unwrap();
    assert_eq!(rest(&mut second).await.1, Some(Exit::Code(2)));
}

#[tokio::test]
async fn a_host_that_says_nothing_holds_up_no_other() {
    let Some(sshd) = Sshd::start() else { return };
    // Its backlog takes the connection; nobody ever answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let (config, other) = (sshd.config(), format!("ann@127.0.0.1:{port}"));
    let good = async {
        for _ in 0..5 {
            let host = sshd.host().await;
            assert_eq!(run(&*host, "echo in").await.out, b"in\n");
        }
    };
    tokio::select! {
        biased;
        _ = ssh::connect(&other, &config) => panic!("the silent host was first"),
        () = good => {}
    }
}
