//! What servers limit: logins at once (`MaxStartups`), channels on a connection (`MaxSessions`).
#![cfg(test)]

#[path = "support/channel.rs"]
mod channel;
#[path = "support/sshd.rs"]
mod server;

use std::fmt::Write;
use std::fs;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use channel::{rest, run};
use comeback::host::ssh::{self, Config};
use comeback::host::{Exit, Host};
use server::Sshd;
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

#[tokio::test]
async fn a_server_that_is_full_is_asked_again_until_it_has_room() {
    let Some(sshd) = Sshd::start_with("MaxStartups 2:100:2") else {
        return;
    };
    // Two that never log in.
    let connect = || TcpStream::connect(("127.0.0.1", sshd.port())).unwrap();
    let full = [connect(), connect()];
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
    let _full = TcpStream::connect(("127.0.0.1", sshd.port())).unwrap();
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
