//! Reaching a real OpenSSH server on loopback: its address, its key, the login.
#![cfg(test)]

#[path = "support/channel.rs"]
mod channel;
#[path = "support/sshd.rs"]
mod server;

use std::fs;

use channel::run;
use comeback::host::ssh::{self, Config};
use comeback::host::{Exit, Host, HostError};
use server::{Agent, Sshd, keygen};
use tokio::io::AsyncWriteExt;

/// Why the connection is refused.
async fn refused(target: &str, config: &Config) -> HostError {
    match ssh::connect(target, config).await {
        Ok(_) => panic!("{target} was reached"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn logs_in_with_a_key_file_and_runs_a_script() {
    let Some(sshd) = Sshd::start() else { return };
    let host = sshd.host().await;
    let answer = run(&*host, "echo out; echo err >&2; exit 7").await;
    assert_eq!(answer.out, b"out\n");
    assert_eq!(answer.err, b"err\n");
    assert_eq!(answer.exit, Exit::Code(7));
    assert_eq!(host.name(), sshd.target());
    assert_eq!(host.address().as_deref(), Some("127.0.0.1"));
    assert!(!host.is_local());
}

#[tokio::test]
async fn logs_in_with_every_type_of_key() {
    for kind in ["ecdsa", "rsa"] {
        let Some(sshd) = Sshd::start() else { return };
        fs::remove_file(sshd.key()).unwrap();
        let key = sshd.path("home/.ssh").join(format!("id_{kind}"));
        keygen(kind, "", &key);
        fs::copy(key.with_extension("pub"), sshd.path("authorized")).unwrap();
        assert_eq!(
            run(&*sshd.host().await, "exit 3").await.exit,
            Exit::Code(3),
            "{kind}"
        );
    }
}

#[tokio::test]
async fn logs_in_with_a_key_that_only_the_agent_can_use() {
    let Some(sshd) = Sshd::start() else { return };
    let agent = Agent::start();
    agent.add(&sshd.key());
    fs::remove_file(sshd.key()).unwrap();
    let config = Config {
        agent: Some(agent.socket()),
        ..sshd.config()
    };
    let host = ssh::connect(&sshd.target(), &config).await.unwrap();
    assert_eq!(run(&*host, "echo hi").await.out, b"hi\n");
}

#[tokio::test]
async fn a_key_file_with_a_passphrase_is_offered_by_the_agent_that_holds_it() {
    let Some(sshd) = Sshd::start() else { return };
    let agent = Agent::start();
    agent.add(&sshd.key());
    let status = std::process::Command::new("ssh-keygen")
        .args(["-q", "-p", "-P", "", "-N", "secret words", "-f"])
        .arg(sshd.key())
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.unwrap().success());
    fs::write(sshd.path("home/.ssh/config"), "IdentitiesOnly yes\n").unwrap();
    let config = Config {
        agent: Some(agent.socket()),
        ..sshd.config()
    };
    // With its public key beside it, and without.
    for _ in 0..2 {
        let host = ssh::connect(&sshd.target(), &config).await.unwrap();
        assert_eq!(run(&*host, "true").await.exit, Exit::Code(0));
        let _ = fs::remove_file(sshd.path("home/.ssh/id_ed25519.pub"));
    }
}

#[tokio::test]
async fn a_full_agent_does_not_use_up_the_attempts_of_a_named_key() {
    let Some(sshd) = Sshd::start() else { return };
    let agent = Agent::start();
    for index in 0..8 {
        let key = sshd.path(&format!("other{index}"));
        keygen("ed25519", "", &key);
        agent.add(&key);
    }
    let named = |only| format!("Host *\nIdentityFile {}\n{only}", sshd.key().display());
    let config = Config {
        agent: Some(agent.socket()),
        ..sshd.config()
    };
    // The named key goes first, held by the agent or not.
    for (settings, held) in [("", false), ("", true), ("IdentitiesOnly yes\n", false)] {
        fs::write(sshd.path("home/.ssh/config"), named(settings)).unwrap();
        if held {
            agent.add(&sshd.key());
        }
        let host = ssh::connect(&sshd.target(), &config).await.unwrap();
        assert_eq!(run(&*host, "true").await.exit, Exit::Code(0));
    }
    // Without a name the agent's come first, and the server ends the connection.
    let agent = Agent::start();
    for index in 0..8 {
        agent.add(&sshd.path(&format!("other{index}")));
    }
    fs::remove_file(sshd.path("home/.ssh/config")).unwrap();
    let config = Config {
        agent: Some(agent.socket()),
        ..sshd.config()
    };
    let error = refused(&sshd.target(), &config).await;
    assert!(matches!(error, HostError::Login { .. }), "{error}");
    let says = error.to_string();
    assert_eq!(says.matches("agent key SHA256:").count(), 6, "{says}");
    assert!(says.contains("3 more keys were not offered"), "{says}");
}

#[tokio::test]
async fn a_wrong_key_is_a_login_error_that_says_what_was_tried_and_what_the_host_takes() {
    let Some(sshd) = Sshd::start() else { return };
    keygen("ed25519", "", &sshd.path("other"));
    fs::copy(sshd.path("other.pub"), sshd.path("authorized")).unwrap();
    let error = refused(&sshd.target(), &sshd.config()).await;
    assert!(matches!(error, HostError::Login { .. }), "{error}");
    assert!(!error.is_transient());
    let says = error.to_string();
    for part in [
        &format!("key file {}", sshd.key().display()),
        "takes publickey",
    ] {
        assert!(says.contains(part), "{part} in: {says}");
    }
}

#[tokio::test]
async fn a_key_with_a_passphrase_and_no_agent_is_named_with_what_to_do() {
    let Some(sshd) = Sshd::start() else { return };
    fs::remove_file(sshd.key()).unwrap();
    keygen("ed25519", "secret words", &sshd.key());
    let public = sshd.path("home/.ssh/id_ed25519.pub");
    fs::copy(public, sshd.path("authorized")).unwrap();
    let says = refused(&sshd.target(), &sshd.config()).await.to_string();
    for part in [
        format!(
            "needed is the passphrase of key file {}",
            sshd.key().display()
        ),
        format!("run: ssh-add {}", sshd.key().display()),
    ] {
        assert!(says.contains(&part), "{part} in: {says}");
    }
}

#[tokio::test]
async fn a_host_that_takes_no_keys_is_told_with_what_it_takes() {
    let settings = "PubkeyAuthentication no\nPasswordAuthentication yes";
    let Some(sshd) = Sshd::start_with(settings) else {
        return;
    };
    let error = refused(&sshd.target(), &sshd.config()).await;
    assert!(matches!(error, HostError::Login { .. }), "{error}");
    assert!(error.to_string().contains("takes password"), "{error}");
}

#[tokio::test]
async fn the_ssh_configuration_is_followed() {
    let Some(sshd) = Sshd::start() else { return };
    fs::rename(sshd.key(), sshd.path("home/my key")).unwrap();
    fs::rename(sshd.known_hosts(), sshd.path("home/known")).unwrap();
    let text = format!(
        "Host lab\n  HostName 127.0.0.1\n  Port {}\n  User {}\n  IdentityFile \"~/my key\"\n  \
         UserKnownHostsFile ~/known\n",
        sshd.port(),
        sshd.user()
    );
    fs::write(sshd.path("home/.ssh/config"), text).unwrap();
    let host = ssh::connect("lab", &sshd.config()).await.unwrap();
    assert_eq!(host.name(), "lab");
    assert_eq!(host.address().as_deref(), Some("127.0.0.1"));
    let error = refused("nobody-knows-me.invalid", &sshd.config()).await;
    assert!(error.to_string().contains("no login name"), "{error}");
}

#[tokio::test]
async fn what_cannot_be_reached_is_told_with_its_phase() {
    let Some(mut sshd) = Sshd::start() else {
        return;
    };
    sshd.kill();
    let error = refused(&sshd.target(), &sshd.config()).await;
    assert!(error.is_transient());
    assert!(
        matches!(
            error,
            HostError::Down {
                phase: "connect",
                ..
            }
        ),
        "{error}"
    );

    let error = refused("ann@comeback-test.invalid", &sshd.config()).await;
    assert!(
        matches!(
            error,
            HostError::Down {
                phase: "resolve",
                ..
            }
        ),
        "{error}"
    );

    let error = refused("ann@lab\nevil", &sshd.config()).await;
    assert!(matches!(error, HostError::Refused { .. }), "{error}");
    assert!(!error.to_string().contains('\n'), "{error}");

    // Something that is not SSH answers.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = format!("ann@127.0.0.1:{}", listener.local_addr().unwrap().port());
    let config = sshd.config();
    let (error, ()) = tokio::join!(refused(&target, &config), async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"220 mail ready\r\n").await.unwrap();
    });
    assert!(
        matches!(
            error,
            HostError::Down {
                phase: "banner",
                ..
            }
        ),
        "{error}"
    );
}
