//! Hosts behind jump hosts, each a real OpenSSH server on loopback.
#![cfg(test)]

#[path = "support/channel.rs"]
mod channel;
#[path = "support/sshd.rs"]
mod server;

use std::fmt::Write;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use channel::{PATIENCE, rest, run, said};
use comeback::host::ssh::{self, Config, Stage};
use comeback::host::{Exit, Host, HostError, Said, ask};
use server::{Sshd, fingerprint};
use tokio::time::timeout;

/// Servers that know nothing of each other, and an ssh configuration that knows them all: each
/// with a key and a file of known hosts of its own.
struct Net {
    home: tempfile::TempDir,
    servers: Vec<Sshd>,
}

impl Net {
    /// A server a name, with further lines of `sshd_config`.
    fn new<const N: usize>(servers: [(&str, &str); N], config: &str) -> Option<Self> {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(".ssh")).unwrap();
        let mut text = format!("{config}\n");
        let mut started = Vec::new();
        for (name, settings) in servers {
            let sshd = Sshd::start_with(settings)?;
            write!(
                text,
                "Host {name}\nHostName 127.0.0.1\nPort {}\nUser {}\nIdentityFile {}\n\
                 UserKnownHostsFile {}\nIdentitiesOnly yes\n",
                sshd.port(),
                sshd.user(),
                sshd.key().display(),
                sshd.known_hosts().display()
            )
            .unwrap();
            started.push(sshd);
        }
        fs::write(home.path().join(".ssh/config"), text).unwrap();
        Some(Self {
            home,
            servers: started,
        })
    }

    fn config(&self) -> Config {
        Config {
            user: Some("ann".to_owned()),
            ..Config::in_home(self.home.path())
        }
    }

    async fn host(&self, name: &str) -> std::sync::Arc<ssh::SshHost> {
        match ssh::connect(name, &self.config()).await {
            Ok(host) => host,
            Err(error) => {
                let logs: Vec<String> = self.servers.iter().map(Sshd::log).collect();
                panic!("{error}\n{}", logs.join("\n---\n"))
            }
        }
    }

    async fn refused(&self, name: &str) -> HostError {
        match ssh::connect(name, &self.config()).await {
            Ok(_) => panic!("{name} was reached"),
            Err(error) => error,
        }
    }
}

const THREE: [(&str, &str); 3] = [("outer", ""), ("inner", ""), ("nas", "")];

#[tokio::test]
async fn a_host_behind_two_jump_hosts_is_reached_and_its_connection_goes_through_both() {
    let Some(mut net) = Net::new(THREE, "Host nas\nProxyJump outer,inner") else {
        return;
    };
    let host = net.host("nas").await;
    let answer = run(&*host, "echo \"$SSH_CONNECTION\"; echo err >&2; exit 7").await;
    let text = String::from_utf8(answer.out).unwrap();
    assert!(
        text.ends_with(&format!(" {}\n", net.servers[2].port())),
        "{text}"
    );
    assert_eq!(
        (answer.err, answer.exit),
        (b"err\n".to_vec(), Exit::Code(7))
    );
    assert_eq!(host.name(), "nas");

    for gone in [0, 1] {
        let mut channel = host
            .exec("while echo tick; do sleep 0.1; done")
            .await
            .unwrap();
        assert!(matches!(said(&mut channel).await, Some(Said::Out(_))));
        net.servers[gone].kill();
        assert_eq!(rest(&mut channel).await.1, None, "server {gone}");
        let error = host.exec("true").await.err().unwrap();
        assert!(error.is_transient(), "{error}");
        let name = THREE[gone].0;
        let says = match gone {
            0 => "outer: connect: ",
            _ => "inner: connect: the jump host outer does not reach 127.0.0.1:",
        };
        let error = error.to_string();
        assert!(
            error.starts_with(says) && error.ends_with(", on the way to nas"),
            "{name}: {error}"
        );
        net.servers[gone].restart();
        assert_eq!(run(&*host, "echo back").await.out, b"back\n");
    }
}

#[tokio::test]
async fn the_first_jump_host_may_have_its_own() {
    let config =
        "Host nas\nProxyJump ssh://inner\nHost inner\nProxyJump outer\nHost *\nProxyJump none";
    let Some(net) = Net::new(THREE, config) else {
        return;
    };
    assert_eq!(run(&*net.host("nas").await, "echo hi").await.out, b"hi\n");
    for server in &net.servers {
        assert_eq!(server.log().matches("Accepted publickey").count(), 1);
    }
}

#[tokio::test]
async fn what_there_is_to_know_of_a_jump_host_is_told_with_its_name() {
    let config = "Host nas\nProxyJump outer\nHost outer\nStrictHostKeyChecking accept-new";
    let servers = [("outer", "Ciphers aes128-cbc"), ("nas", "")];
    let Some(net) = Net::new(servers, config) else {
        return;
    };
    fs::remove_file(net.servers[0].known_hosts()).unwrap();
    let config = Config {
        legacy: [("outer".to_owned(), true)].into(),
        ..net.config()
    };
    let host = ssh::connect("nas", &config).await.unwrap();
    let remarks = host.remarks();
    let [taken, weak] = remarks.as_slice() else {
        panic!("{remarks:?}");
    };
    assert!(taken.starts_with("jump host outer: "), "{taken}");
    assert!(taken.contains("StrictHostKeyChecking"), "{taken}");
    assert_eq!(weak, "jump host outer: legacy = true: weak aes128-cbc");
}

#[tokio::test]
async fn what_goes_wrong_on_the_way_is_told_with_where_and_with_what_to_do() {
    let config = "Host nas\nProxyJump outer\nHost circle\nProxyJump circle\n\
                  Host nowhere\nHostName 127.0.0.1\nPort 1\nProxyJump outer\n\
                  Host nobody\nHostName no-such-host.invalid\nProxyJump outer";
    let Some(net) = Net::new([("outer", ""), ("nas", "")], config) else {
        return;
    };
    let [outer, nas] = net.servers.as_slice() else {
        panic!()
    };

    let error = net.refused("circle").await;
    assert!(matches!(error, HostError::Refused { .. }), "{error}");
    assert!(
        error.to_string().contains("circle through circle"),
        "{error}"
    );

    let error = net.refused("nowhere").await.to_string();
    assert!(
        error.contains(
            "nowhere: connect: the jump host outer does not reach 127.0.0.1:1: Connection refused"
        ),
        "{error}"
    );
    let error = net.refused("nobody").await.to_string();
    assert!(
        error.contains("does not reach no-such-host.invalid:22: "),
        "{error}"
    );

    let known = fs::read(nas.known_hosts()).unwrap();
    fs::write(nas.known_hosts(), "").unwrap();
    let error = net.refused("nas").await;
    assert!(matches!(error, HostError::Untrusted { .. }), "{error}");
    let error = error.to_string();
    assert!(
        error.starts_with("nas: ") && !error.contains("on the way"),
        "{error}"
    );
    assert!(
        error.contains(&fingerprint(&nas.path("host_ed25519.pub"))),
        "{error}"
    );
    fs::write(nas.known_hosts(), known).unwrap();

    let authorized = fs::read(outer.path("authorized")).unwrap();
    fs::write(outer.path("authorized"), "").unwrap();
    let error = net.refused("nas").await;
    assert!(matches!(error, HostError::Login { .. }), "{error}");
    let error = error.to_string();
    assert!(
        error.starts_with("outer: login: ") && error.ends_with(", on the way to nas"),
        "{error}"
    );
    fs::write(outer.path("authorized"), authorized).unwrap();

    fs::write(outer.known_hosts(), "").unwrap();
    let error = net.refused("nas").await;
    assert!(matches!(error, HostError::Untrusted { .. }), "{error}");
    let error = error.to_string();
    assert!(
        error.starts_with("outer: ") && error.ends_with(", on the way to nas"),
        "{error}"
    );
    assert!(
        error.contains(&fingerprint(&outer.path("host_ed25519.pub"))),
        "{error}"
    );
}

#[tokio::test]
async fn a_jump_host_that_forwards_nothing_is_explained() {
    for setting in ["AllowTcpForwarding no", "PermitOpen 127.0.0.1:1"] {
        let Some(net) = Net::new(
            [("outer", setting), ("nas", "")],
            "Host nas\nProxyJump outer",
        ) else {
            return;
        };
        let error = net.refused("nas").await.to_string();
        assert!(
            error.contains("nas: connect: the jump host outer forwards no connection"),
            "{error}"
        );
        assert!(error.contains("AllowTcpForwarding"), "{error}");
    }
}

#[tokio::test]
async fn bulk_in_both_directions_is_whole_and_an_unread_flood_is_held_back() {
    let Some(net) = Net::new(THREE, "Host nas\nProxyJump outer,inner") else {
        return;
    };
    let host = net.host("nas").await;
    let input: Vec<u8> = (0..4_000_000u32)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes())
        .collect();
    let answer = ask(&*host, "cat; exit 9", &input, 1 << 26, PATIENCE)
        .await
        .unwrap();
    assert!(answer.out == input, "{} bytes came back", answer.out.len());
    assert_eq!(answer.exit, Exit::Code(9));

    let sent = net.home.path().join("sent");
    let script = format!(
        "n=0; while [ $n -lt 1000 ]; do head -c 1000000 /dev/zero; n=$((n+1)); echo $n >{}; done",
        sent.display()
    );
    let mut flood = host.exec(&script).await.unwrap();
    assert!(matches!(said(&mut flood).await, Some(Said::Out(_))));
    for _ in 0..20 {
        assert_eq!(run(&*host, "true").await.exit, Exit::Code(0));
    }
    let mut before = String::new();
    let stalled = timeout(PATIENCE, async {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let now = fs::read_to_string(&sent).unwrap_or_default();
            if now == before {
                break now.trim().parse::<u32>().unwrap_or_default();
            }
            before = now;
        }
    });
    let stalled = stalled.await.unwrap();
    assert!(
        stalled < 200,
        "{stalled} MB were taken, and nobody read them"
    );
    eprintln!("held back after {stalled} MB");
    drop(flood);
    assert_eq!(run(&*host, "true").await.exit, Exit::Code(0));
}

/// Told, not judged: the machine may be busy.
#[tokio::test]
async fn the_latency_of_a_warm_command_behind_two_jump_hosts_is_told() {
    let Some(net) = Net::new(THREE, "Host nas\nProxyJump outer,inner") else {
        return;
    };
    let host = net.host("nas").await;
    let mut took = Vec::new();
    for _ in 0..50 {
        let started = Instant::now();
        assert_eq!(run(&*host, "true").await.exit, Exit::Code(0));
        took.push(started.elapsed());
    }
    took.sort();
    eprintln!(
        "warm exec of `true` behind two jump hosts: p50 {:.1} ms, p95 {:.1} ms",
        took[25].as_secs_f64() * 1e3,
        took[47].as_secs_f64() * 1e3
    );
    for server in &net.servers {
        assert_eq!(server.log().matches("Accepted publickey").count(), 1);
    }
}

#[tokio::test]
async fn what_is_being_done_is_told_as_it_happens() {
    let Some(net) = Net::new(THREE, "Host nas\nProxyJump outer\n") else {
        return;
    };
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let all = Arc::clone(&heard);
    let config = Config {
        stage: Stage::to(move |doing| all.lock().unwrap().push(doing.to_owned())),
        ..net.config()
    };
    ssh::connect("nas", &config).await.map(|_| ()).unwrap();
    let heard = heard.lock().unwrap().clone();
    assert_eq!(
        heard,
        [
            "jump host outer: looking up",
            "jump host outer: connecting",
            "jump host outer: host key",
            "jump host outer: login",
            "connecting",
            "host key",
            "login",
        ]
    );
}
