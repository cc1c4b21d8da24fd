//! Servers that do things in an odd order, or not at all: nothing hangs beyond its limit, and
//! nothing is taken for success. Where limits are long the clock leaps once all has been said.
#![cfg(test)]

#[path = "support/odd.rs"]
mod odd;
#[path = "support/raw.rs"]
mod raw;
#[path = "support/sshd.rs"]
mod server;

use std::sync::Arc;
use std::time::Duration;

use comeback::host::ssh::{self, Config, SshHost};
use comeback::host::{Channel, Exit, Host, HostError, Said};
use odd::Odd;
use raw::Raw;
use russh::keys::HashAlg;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout};

/// The usual window of a channel.
const WINDOW: u32 = 2 << 20;
/// No limit is longer.
const LONGEST: Duration = Duration::from_mins(5);

/// What does not wait is over after this, on a busy machine too.
const AT_ONCE: Duration = Duration::from_secs(2);
/// Less than a login may take: one that goes on meanwhile comes to its end.
const LEAP: Duration = Duration::from_secs(12);

struct Heard {
    out: Vec<u8>,
    err: Vec<u8>,
    exit: Option<Exit>,
}

async fn hear(channel: &mut Channel) -> Heard {
    let mut heard = Heard {
        out: Vec::new(),
        err: Vec::new(),
        exit: None,
    };
    let all = async {
        while let Some(said) = channel.output.recv().await {
            assert_eq!(heard.exit, None, "something was said after the exit");
            match said {
                Said::Out(bytes) => heard.out.extend(bytes),
                Said::Err(bytes) => heard.err.extend(bytes),
                Said::Exit(exit) => heard.exit = Some(exit),
            }
        }
    };
    timeout(LONGEST, all).await.unwrap();
    heard
}

async fn host(odd: &Odd, user: &str) -> Arc<SshHost> {
    ssh::connect(&odd.target(user), &odd.config())
        .await
        .unwrap()
}

/// Waits for something that only a limit ends, without waiting for the limit: lets happen what
/// happens at once, and then time leap, until it is over.
async fn at_its_limit<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    let mut work = tokio::spawn(work);
    loop {
        if let Ok(done) = timeout(AT_ONCE, &mut work).await {
            return done.unwrap();
        }
        tokio::time::pause();
        tokio::time::advance(LEAP).await;
        tokio::time::resume();
    }
}

async fn exec(host: &SshHost, what: &str) -> Result<Channel, HostError> {
    timeout(LONGEST, host.exec(&format!("odd:{what}")))
        .await
        .unwrap()
}

#[tokio::test]
async fn output_and_status_are_whole_in_whatever_order_they_come() {
    let odd = Odd::start(WINDOW).await;
    let host = host(&odd, "ann").await;
    for what in [
        "fine",
        "status, then output",
        "status, then the mark",
        "status after the end of the output",
        "late output",
        "status, then silence",
        "two statuses",
        "strange stream",
    ] {
        let heard = hear(&mut exec(&host, what).await.unwrap()).await;
        assert_eq!(
            (heard.out.as_slice(), heard.err.as_slice()),
            (&b"out"[..], &b""[..]),
            "{what}"
        );
        assert_eq!(heard.exit, Some(Exit::Code(7)), "{what}");
    }
}

#[tokio::test]
async fn without_a_status_nothing_is_success() {
    let odd = Odd::start(WINDOW).await;
    let host = host(&odd, "ann").await;
    for (what, out, exit) in [
        ("signal", "out", Some(Exit::Signal("TERM".to_owned()))),
        ("no status", "out", Some(Exit::Unknown)),
        ("closed", "", Some(Exit::Unknown)),
        ("goodbye", "out", None),
        ("gone", "", None),
    ] {
        let heard = match exec(&host, what).await {
            Ok(mut channel) => hear(&mut channel).await,
            // The end may overtake the beginning.
            Err(error) => {
                assert!(error.is_transient() && what == "gone", "{what}: {error}");
                continue;
            }
        };
        assert_eq!(heard.out, out.as_bytes(), "{what}");
        assert_eq!(heard.exit, exit, "{what}");
        // The host is there again.
        let heard = hear(&mut exec(&host, "fine").await.unwrap()).await;
        assert_eq!(heard.exit, Some(Exit::Code(7)), "after {what}");
    }
}

#[tokio::test]
async fn a_command_that_is_never_begun_is_an_error_within_its_limit() {
    let odd = Odd::start(WINDOW).await;
    let host = host(&odd, "ann").await;
    for (what, transient, says) in [
        ("unconfirmed", true, "not started within 10 s"),
        ("refused", false, "runs no commands"),
        (
            "never begun",
            true,
            "did not come to the script within 60 s",
        ),
        (
            "never begun, status 0",
            false,
            "ended with status 0 before the script began",
        ),
        ("never begun, closed", true, "lost"),
        ("endless", false, "prints without end"),
    ] {
        let asked = Arc::clone(&host);
        let error = at_its_limit(async move { exec(&asked, what).await.err().unwrap() }).await;
        assert_eq!(error.is_transient(), transient, "{what}: {error}");
        assert!(error.to_string().contains(says), "{what}: {error}");
    }
    let heard = hear(&mut exec(&host, "fine").await.unwrap()).await;
    assert_eq!(heard.exit, Some(Exit::Code(7)));
}

#[tokio::test]
async fn a_channel_that_is_neither_opened_nor_refused_is_given_up() {
    let odd = Odd::start(WINDOW).await;
    let host = host(&odd, "unopened").await;
    let started = Instant::now();
    let error = at_its_limit(async move { exec(&host, "fine").await.err().unwrap() }).await;
    assert!(error.is_transient(), "{error}");
    assert!(
        error.to_string().contains("no channel within 10 s"),
        "{error}"
    );
    assert!(started.elapsed() < Duration::from_mins(1));
}

#[tokio::test]
async fn input_that_the_host_never_takes_waits_and_ends_with_the_command() {
    let odd = Odd::start(0).await;
    let host = host(&odd, "ann").await;
    let mut channel = exec(&host, "deaf").await.unwrap();
    let input = vec![0; 8 << 20];
    let exit = at_its_limit(async move {
        let written = channel.stdin.write_all(&input).await;
        assert!(written.is_err(), "8 MiB went somewhere");
        hear(&mut channel).await.exit
    });
    assert_eq!(exit.await, Some(Exit::Code(7)));
}

#[tokio::test]
async fn input_goes_through_a_window_of_a_few_bytes() {
    let odd = Odd::start(4).await;
    let host = host(&odd, "ann").await;
    let mut channel = exec(&host, "echo").await.unwrap();
    let input: Vec<u8> = (0..3000u32).map(|n| (n % 251) as u8).collect();
    channel.stdin.write_all(&input).await.unwrap();
    channel.stdin.shutdown().await.unwrap();
    let heard = hear(&mut channel).await;
    assert!(heard.out == input, "{} bytes came back", heard.out.len());
    assert_eq!(heard.exit, Some(Exit::Code(0)));
}

/// Connects to a server that does this with each connection, until it ends.
async fn met_by<F: Future<Output = ()>>(serve: impl Fn(tokio::net::TcpStream) -> F) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let home = tempfile::tempdir().unwrap();
    let (target, config) = (
        format!("ann@127.0.0.1:{port}"),
        Config::in_home(home.path()),
    );
    let server = async {
        let (stream, _) = listener.accept().await.unwrap();
        serve(stream).await;
        // Asked again: closed at once.
        loop {
            drop(listener.accept().await.unwrap());
        }
    };
    let connect = timeout(LONGEST, ssh::connect(&target, &config));
    let error = tokio::select! {
        error = connect => error.unwrap().err().unwrap(),
        () = server => unreachable!(),
    };
    assert!(matches!(error, HostError::Down { .. }), "{error}");
    error.to_string()
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_comes_to_the_point_is_down_in_the_phase_it_is_in() {
    let error = met_by(|stream| async move {
        tokio::time::sleep(LONGEST).await;
        drop(stream);
    });
    let error = error.await;
    assert!(
        error.contains(": banner: ") && error.contains("within 15 s"),
        "{error}"
    );

    let error = met_by(|mut stream| async move {
        stream.write_all(b"SSH-2.0-Silent\r\n").await.unwrap();
        tokio::time::sleep(LONGEST).await;
    });
    let error = error.await;
    assert!(
        error.contains(": host key: ") && error.contains("within 15 s"),
        "{error}"
    );

    for noise in ["x".repeat(4096), "noise\r\n".repeat(600)] {
        let error = met_by(|mut stream| {
            let noise = noise.clone();
            async move {
                // Until nobody takes it any more.
                while stream.write_all(noise.as_bytes()).await.is_ok() {}
            }
        });
        let error = error.await;
        assert!(error.contains(": banner: "), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_was_given_up_in_the_middle_of_the_key_exchange_is_closed() {
    let (told, closed) = tokio::sync::oneshot::channel();
    let told = std::sync::Mutex::new(Some(told));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"SSH-2.0-Silent\r\n").await.unwrap();
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all).await;
        let _ = told.lock().unwrap().take().unwrap().send(all.len());
    });
    let home = tempfile::tempdir().unwrap();
    let config = Config::in_home(home.path());
    let error = ssh::connect(&format!("ann@127.0.0.1:{port}"), &config).await;
    assert!(error.is_err());
    // Only the key exchange's first packet came, and then the end.
    assert!(timeout(LONGEST, closed).await.unwrap().unwrap() > 100);
    server.await.unwrap();
}

#[tokio::test]
async fn a_host_key_that_is_proved_in_another_way_than_agreed_is_refused() {
    let raw = Raw::start().await;
    let legacy = Config {
        legacy: [("127.0.0.1".to_owned(), true)].into(),
        ..raw.config()
    };
    let modern = raw.config();
    for (hash, config, trusted) in [
        (Some(HashAlg::Sha512), &modern, true),
        (Some(HashAlg::Sha256), &modern, false),
        (None, &modern, false),
        (None, &legacy, true),
    ] {
        let target = raw.target();
        let both = async { tokio::join!(ssh::connect(&target, config), raw.serve(hash)) };
        let (connected, ()) = timeout(LONGEST, both).await.unwrap();
        let error = connected.err().unwrap();
        // Where the proof is good, it ends with the login.
        assert_eq!(
            error.phase(),
            Some(["host key", "login"][usize::from(trusted)]),
            "{error}"
        );
        let says = "`rsa-sha2-512` was agreed on";
        assert_eq!(error.to_string().contains(says), !trusted, "{error}");
    }
}
