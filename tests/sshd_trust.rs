//! Whom comeback trusts, with real servers: unknown and changed host keys, certificates, old
//! algorithms.
#![cfg(test)]

#[path = "support/channel.rs"]
mod channel;
#[path = "support/sshd.rs"]
mod server;

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use channel::run;
use comeback::event::{Answer, Asker, Question, QuestionKind};
use comeback::host::ssh::{self, Config};
use comeback::host::{Exit, HostError};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use server::{Sshd, fingerprint, keygen, program};

/// An operator who says the same to every question about a host key, after a while.
struct Operator {
    says: Answer,
    after: Duration,
    heard: Mutex<Vec<Question>>,
}

impl Operator {
    fn who_says(says: Answer, after: Duration) -> Arc<Self> {
        Arc::new(Self {
            says,
            after,
            heard: Mutex::default(),
        })
    }

    fn heard(&self) -> Vec<Question> {
        self.heard.lock().unwrap().clone()
    }
}

impl Asker for Operator {
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        let mine = matches!(question.kind, QuestionKind::YesNo { .. });
        self.heard.lock().unwrap().push(question);
        async move {
            tokio::time::sleep(self.after).await;
            if mine { self.says.clone() } else { Answer::No }
        }
        .boxed()
    }
}

fn yes() -> Arc<Operator> {
    Operator::who_says(Answer::Yes, Duration::ZERO)
}

fn asking(config: Config, operator: &Arc<Operator>) -> Config {
    Config {
        asker: Arc::clone(operator) as Arc<dyn Asker>,
        ..config
    }
}

/// Why the connection is refused.
async fn refused(target: &str, config: &Config) -> HostError {
    match ssh::connect(target, config).await {
        Ok(_) => panic!("{target} was reached"),
        Err(error) => error,
    }
}

async fn untrusted(target: &str, config: &Config) -> String {
    let error = refused(target, config).await;
    assert!(matches!(error, HostError::Untrusted { .. }), "{error}");
    error.to_string()
}

fn unknown() -> Option<Sshd> {
    let sshd = Sshd::start()?;
    fs::remove_file(sshd.known_hosts()).unwrap();
    Some(sshd)
}

fn configure(sshd: &Sshd, text: &str) {
    fs::write(sshd.path("home/.ssh/config"), text).unwrap();
}

fn line(sshd: &Sshd) -> String {
    let key = fs::read_to_string(sshd.path("host_ed25519.pub")).unwrap();
    let mut words = key.split(' ');
    let (kind, blob) = (words.next().unwrap(), words.next().unwrap());
    format!("[127.0.0.1]:{} {kind} {blob}\n", sshd.port())
}

#[tokio::test]
async fn an_unknown_host_is_refused_with_its_fingerprint() {
    let Some(sshd) = Sshd::start() else { return };
    fs::remove_file(sshd.known_hosts()).unwrap();
    let error = refused(&sshd.target(), &sshd.config()).await;
    assert!(matches!(error, HostError::Untrusted { .. }), "{error}");
    let says = error.to_string();
    let line = format!(
        "add to {}: [127.0.0.1]:{} ssh-ed25519 AAAA",
        sshd.known_hosts().display(),
        sshd.port()
    );
    for part in [fingerprint(&sshd.path("host_ed25519.pub")), line] {
        assert!(says.contains(&part), "{part} in: {says}");
    }
    // The line that it tells is the one that makes it known.
    let (_, line) = says.split_once(": [").unwrap();
    fs::write(sshd.known_hosts(), format!("[{line}\n")).unwrap();
    sshd.host().await;
}

#[tokio::test]
async fn a_changed_key_is_refused_with_both_fingerprints() {
    let Some(sshd) = Sshd::start() else { return };
    keygen("ed25519", "", &sshd.path("former"));
    sshd.know("former.pub");
    let error = refused(&sshd.target(), &sshd.config()).await;
    assert!(matches!(error, HostError::Untrusted { .. }), "{error}");
    let says = error.to_string();
    for part in [
        fingerprint(&sshd.path("host_ed25519.pub")),
        fingerprint(&sshd.path("former.pub")),
        format!("{}:1", sshd.known_hosts().display()),
    ] {
        assert!(says.contains(&part), "{part} in: {says}");
    }
}

#[tokio::test]
async fn a_host_known_by_one_type_is_asked_for_that_type() {
    let second = tempfile::tempdir().unwrap();
    let key = second.path().join("host_ecdsa");
    keygen("ecdsa", "", &key);
    let setting = format!("HostKey {}", key.display());
    let Some(sshd) = Sshd::start_with(&setting) else {
        return;
    };
    fs::copy(key.with_extension("pub"), sshd.path("ecdsa.pub")).unwrap();
    sshd.know("ecdsa.pub");
    sshd.host().await;
}

#[tokio::test]
async fn hashed_names_are_known() {
    let Some(sshd) = Sshd::start() else { return };
    let status = std::process::Command::new("ssh-keygen")
        .args(["-q", "-H", "-f"])
        .arg(sshd.known_hosts())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status();
    assert!(status.unwrap().success());
    assert!(
        fs::read_to_string(sshd.known_hosts())
            .unwrap()
            .starts_with("|1|")
    );
    sshd.host().await;
}

#[tokio::test]
async fn an_unknown_host_is_asked_about_and_then_known_to_ssh_too() {
    let Some(sshd) = unknown() else { return };
    let other = format!(
        "nas.lab {}",
        fs::read_to_string(sshd.path("host_ed25519.pub")).unwrap()
    );
    fs::write(sshd.known_hosts(), other.trim_end()).unwrap();
    let operator = yes();
    let config = asking(sshd.config(), &operator);
    let host = ssh::connect(&sshd.target(), &config).await.unwrap();
    assert_eq!(run(&*host, "exit 3").await.exit, Exit::Code(3));
    assert!(host.remarks().is_empty(), "{:?}", host.remarks());

    let heard = operator.heard();
    assert_eq!(heard.len(), 1);
    assert!(
        heard[0].title.contains(&sshd.target()),
        "{}",
        heard[0].title
    );
    let says = heard[0].lines.join("\n");
    for part in [
        &format!("127.0.0.1 port {}", sshd.port()),
        &format!(
            "ssh-ed25519 {}",
            fingerprint(&sshd.path("host_ed25519.pub"))
        ),
        &format!("other names: nas.lab ({}:1)", sshd.known_hosts().display()),
        "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub",
        &format!(
            "{} as [127.0.0.1]:{}",
            sshd.known_hosts().display(),
            sshd.port()
        ),
    ] {
        assert!(says.contains(part), "{part} in: {says}");
    }
    let known = fs::read_to_string(sshd.known_hosts()).unwrap();
    assert!(known.ends_with(&format!("\n{}", line(&sshd))), "{known}");

    // With a new memory, by the file.
    let config = asking(sshd.config(), &operator);
    ssh::connect(&sshd.target(), &config).await.unwrap();
    assert_eq!(operator.heard().len(), 1);
    let real = Command::new("ssh")
        .args([
            "-F",
            "none",
            "-o",
            "BatchMode=yes",
            "-o",
            "StrictHostKeyChecking=yes",
        ])
        .args(["-o", "GlobalKnownHostsFile=none", "-o"])
        .arg(format!(
            "UserKnownHostsFile={}",
            sshd.known_hosts().display()
        ))
        .args(["-p", &sshd.port().to_string(), "-i"])
        .arg(sshd.key())
        .arg(format!("{}@127.0.0.1", sshd.user()))
        .arg("exit 4")
        .stdin(Stdio::null())
        .status();
    assert_eq!(real.unwrap().code(), Some(4));
}

#[tokio::test]
async fn no_is_no_and_nothing_is_written() {
    let Some(sshd) = unknown() else { return };
    let operator = Operator::who_says(Answer::No, Duration::ZERO);
    let config = asking(sshd.config(), &operator);
    let says = untrusted(&sshd.target(), &config).await;
    assert!(
        says.contains(&fingerprint(&sshd.path("host_ed25519.pub"))),
        "{says}"
    );
    assert!(!sshd.known_hosts().exists());
    // It is asked again when somebody tries again.
    untrusted(&sshd.target(), &config).await;
    assert_eq!(operator.heard().len(), 2);
}

#[tokio::test]
async fn many_connections_to_a_host_ask_once() {
    let Some(sshd) = unknown() else { return };
    for says in [Answer::No, Answer::Yes] {
        let operator = Operator::who_says(says.clone(), Duration::from_millis(500));
        let config = asking(sshd.config(), &operator);
        let target = sshd.target();
        let all = join_all((0..8).map(|_| ssh::connect(&target, &config))).await;
        assert!(all.iter().all(|one| one.is_ok() == (says == Answer::Yes)));
        assert_eq!(operator.heard().len(), 1);
    }
    assert_eq!(fs::read_to_string(sshd.known_hosts()).unwrap(), line(&sshd));
}

#[tokio::test]
async fn an_answer_may_take_longer_than_the_server_waits_and_holds_nobody_up() {
    let Some(slow) = Sshd::start_with("LoginGraceTime 1") else {
        return;
    };
    fs::remove_file(slow.known_hosts()).unwrap();
    let Some(other) = Sshd::start() else { return };
    let operator = Operator::who_says(Answer::Yes, Duration::from_secs(3));
    let config = asking(slow.config(), &operator);
    let target = slow.target();
    let begin = Instant::now();
    let (slow, other) = tokio::join!(ssh::connect(&target, &config), async {
        other.host().await;
        begin.elapsed()
    });
    assert_eq!(run(&*slow.unwrap(), "exit 3").await.exit, Exit::Code(3));
    assert!(other < Duration::from_secs(3), "{other:?}");
}

/// Passes connections on to one port and then, from when it is told, to another.
async fn relay(ports: [u16; 2]) -> (u16, Arc<AtomicBool>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let other = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&other);
    tokio::spawn(async move {
        loop {
            let (mut here, _) = listener.accept().await.unwrap();
            let port = ports[usize::from(switch.load(Ordering::SeqCst))];
            tokio::spawn(async move {
                let there = tokio::net::TcpStream::connect(("127.0.0.1", port)).await;
                let _ = tokio::io::copy_bidirectional(&mut here, &mut there.unwrap()).await;
            });
        }
    });
    (port, other)
}

#[tokio::test]
async fn the_key_that_was_agreed_to_is_the_one_that_has_to_come() {
    let Some(shown) = unknown() else { return };
    let Some(put_in) = unknown() else { return };
    let (port, switch) = relay([shown.port(), put_in.port()]).await;
    let operator = Operator::who_says(Answer::Yes, Duration::from_secs(1));
    let config = asking(shown.config(), &operator);
    let target = format!("{}@127.0.0.1:{port}", shown.user());
    let (error, ()) = tokio::join!(refused(&target, &config), async {
        while operator.heard().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        switch.store(true, Ordering::SeqCst);
    });
    assert!(matches!(error, HostError::Untrusted { .. }), "{error}");
    for part in [
        "has changed",
        &fingerprint(&shown.path("host_ed25519.pub")),
        &fingerprint(&put_in.path("host_ed25519.pub")),
    ] {
        assert!(error.to_string().contains(part), "{part} in: {error}");
    }
    assert_eq!(operator.heard().len(), 1);
}

#[tokio::test]
async fn the_configuration_may_answer_instead() {
    let Some(sshd) = unknown() else { return };
    let operator = yes();
    for setting in ["StrictHostKeyChecking yes", "BatchMode yes"] {
        configure(&sshd, &format!("{setting}\n"));
        let says = untrusted(&sshd.target(), &asking(sshd.config(), &operator)).await;
        assert!(says.contains("is not known"), "{says}");
    }
    for setting in ["accept-new", "no", "off"] {
        let _ = fs::remove_file(sshd.known_hosts());
        configure(
            &sshd,
            &format!("StrictHostKeyChecking {setting}\nHashKnownHosts yes\n"),
        );
        // Nobody is there.
        let host = sshd.host().await;
        let remarks = host.remarks().join("\n");
        assert!(remarks.contains("StrictHostKeyChecking"), "{remarks}");
        let known = fs::read_to_string(sshd.known_hosts()).unwrap();
        assert!(known.starts_with("|1|"), "{known}");
        sshd.host().await;
    }
    assert_eq!(operator.heard().len(), 0);
}

#[tokio::test]
async fn a_key_that_cannot_be_kept_holds_for_this_run() {
    let Some(sshd) = unknown() else { return };
    for (file, remark) in [
        ("/dev/null", ""),
        ("none", ""),
        ("/proc/none/known", "/proc/none"),
    ] {
        configure(&sshd, &format!("UserKnownHostsFile {file}\n"));
        let operator = yes();
        let config = asking(sshd.config(), &operator);
        let host = ssh::connect(&sshd.target(), &config).await.unwrap();
        assert_eq!(host.remarks().is_empty(), remark.is_empty());
        assert!(host.remarks().join("\n").contains(remark));
        ssh::connect(&sshd.target(), &config).await.unwrap();
        assert_eq!(operator.heard().len(), 1, "{file}");
    }
}

#[tokio::test]
async fn nobody_is_asked_about_a_changed_or_revoked_key() {
    let Some(sshd) = Sshd::start() else { return };
    let operator = yes();
    let config = asking(sshd.config(), &operator);
    let known = fs::read_to_string(sshd.known_hosts()).unwrap();
    let revoked = known.replace(
        &format!("[127.0.0.1]:{}", sshd.port()),
        "@revoked elsewhere",
    );
    fs::write(sshd.known_hosts(), format!("{known}{revoked}")).unwrap();
    let says = untrusted(&sshd.target(), &config).await;
    assert!(says.contains("is revoked"), "{says}");

    fs::write(sshd.known_hosts(), &known).unwrap();
    configure(&sshd, "RevokedHostKeys ~/revoked\n");
    let says = untrusted(&sshd.target(), &config).await;
    assert!(says.contains("is not there"), "{says}");
    fs::copy(sshd.path("host_ed25519.pub"), sshd.path("home/revoked")).unwrap();
    let says = untrusted(&sshd.target(), &config).await;
    assert!(says.contains("home/revoked:1"), "{says}");

    keygen("ed25519", "", &sshd.path("former"));
    sshd.know("former.pub");
    configure(&sshd, "StrictHostKeyChecking no\n");
    let says = untrusted(&sshd.target(), &config).await;
    assert!(says.contains("has changed"), "{says}");
    assert!(says.contains("StrictHostKeyChecking no"), "{says}");
    assert!(operator.heard().is_empty());
}

#[tokio::test]
async fn a_file_of_known_hosts_that_cannot_be_read_is_named() {
    let Some(sshd) = unknown() else { return };
    let file = sshd.known_hosts();
    let operator = yes();
    let config = asking(sshd.config(), &operator);
    let made = Command::new("mkfifo").arg(&file).status();
    assert!(made.unwrap().success());
    let says = untrusted(&sshd.target(), &config).await;
    assert!(says.contains("not a regular file"), "{says}");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let says = untrusted(&sshd.target(), &config).await;
    assert!(says.contains("is a folder"), "{says}");
    assert!(says.contains(&file.display().to_string()), "{says}");
    assert!(operator.heard().is_empty());
}

#[tokio::test]
async fn a_host_is_known_by_each_type_of_key_alone() {
    for kind in ["ecdsa", "rsa"] {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        keygen(kind, "", &key);
        let Some(sshd) = Sshd::start_with(&format!("HostKey {}", key.display())) else {
            return;
        };
        fs::copy(key.with_extension("pub"), sshd.path("known.pub")).unwrap();
        sshd.know("known.pub");
        let host = sshd.host().await;
        let agreed = host.agreed().unwrap();
        assert!(agreed.host_key.contains(kind), "{agreed:?}");
        assert!(agreed.old.is_empty(), "{agreed:?}");
        // An order that is set stays, and then another key is not known.
        configure(&sshd, "HostKeyAlgorithms ssh-ed25519\n");
        let says = untrusted(&sshd.target(), &sshd.config()).await;
        assert!(
            says.contains("Other keys of this host are known: "),
            "{says}"
        );
    }
}

/// A server whose host key, of a type, has a certificate of an authority in `ca`, made with
/// these options; the authority alone is known.
fn certified(kind: &str, options: &[&str]) -> Option<(Sshd, tempfile::TempDir)> {
    let folder = tempfile::tempdir().unwrap();
    let (ca, key) = (folder.path().join("ca"), folder.path().join("key"));
    keygen("ed25519", "", &ca);
    keygen(kind, "", &key);
    let status = Command::new("ssh-keygen")
        .args(["-q", "-h", "-I", "test", "-s"])
        .arg(&ca)
        .args(options)
        .arg(key.with_extension("pub"))
        .stderr(Stdio::null())
        .status();
    assert!(status.unwrap().success());
    let (key, certificate) = (key.display(), folder.path().join("key-cert.pub"));
    let certificate = certificate.display();
    let sshd = Sshd::start_with(&format!("HostKey {key}\nHostCertificate {certificate}"))?;
    authority(&sshd, &ca, "@cert-authority");
    Some((sshd, folder))
}

fn authority(sshd: &Sshd, ca: &Path, mark: &str) {
    let ca = fs::read_to_string(ca.with_extension("pub")).unwrap();
    fs::write(sshd.known_hosts(), format!("{mark} *,[127.0.0.1]:* {ca}")).unwrap();
}

#[tokio::test]
async fn a_host_is_known_by_a_certificate_of_each_type() {
    for kind in ["ed25519", "ecdsa", "rsa"] {
        let Some((sshd, _folder)) = certified(kind, &["-n", "127.0.0.1,nas"]) else {
            return;
        };
        let host = sshd.host().await;
        assert_eq!(run(&*host, "exit 3").await.exit, Exit::Code(3), "{kind}");
        // Without a certificate the key is not known.
        configure(&sshd, "HostKeyAlgorithms -*cert*\n");
        let says = untrusted(&sshd.target(), &sshd.config()).await;
        assert!(says.contains("is not known"), "{says}");
    }
}

#[tokio::test]
async fn a_certificate_that_is_not_good_for_the_host_is_told_with_the_reason() {
    for (options, says) in [
        (&["-n", "nas"][..], "names nas, not `127.0.0.1`"),
        (
            &["-n", "127.0.0.1", "-V", "20200101:20200102"],
            "has expired",
        ),
        (&["-n", "127.0.0.1", "-V", "+52w:+53w"], "not valid yet"),
        (&[], "names no host"),
        (
            &["-n", "127.0.0.1", "-O", "critical:x=y"],
            "critical option `x`",
        ),
    ] {
        let Some((sshd, folder)) = certified("ed25519", options) else {
            return;
        };
        let why = untrusted(&sshd.target(), &sshd.config()).await;
        assert!(why.contains(says), "{says} in: {why}");
        // The key itself may be known nevertheless.
        let key = fs::read_to_string(folder.path().join("key.pub")).unwrap();
        let known = fs::read_to_string(sshd.known_hosts()).unwrap();
        let line = format!("{known}[127.0.0.1]:{} {key}", sshd.port());
        fs::write(sshd.known_hosts(), line).unwrap();
        sshd.host().await;
    }
}

#[tokio::test]
async fn an_authority_that_is_unknown_or_revoked_vouches_for_nobody() {
    let Some((sshd, folder)) = certified("ed25519", &["-n", "127.0.0.1"]) else {
        return;
    };
    authority(&sshd, &folder.path().join("ca"), "@revoked");
    let known = fs::read_to_string(sshd.known_hosts()).unwrap();
    fs::write(
        sshd.known_hosts(),
        known.replace("@revoked", "@cert-authority") + &known,
    )
    .unwrap();
    let says = untrusted(&sshd.target(), &sshd.config()).await;
    assert!(says.contains("is revoked"), "{says}");

    keygen("ed25519", "", &folder.path().join("other"));
    authority(&sshd, &folder.path().join("other"), "@cert-authority");
    let operator = yes();
    let config = asking(sshd.config(), &operator);
    ssh::connect(&sshd.target(), &config).await.unwrap();
    let asked = operator.heard()[0].lines.join("\n");
    assert!(asked.contains("not known as an authority"), "{asked}");
}

fn legacy(sshd: &Sshd, name: &str) -> Config {
    Config {
        legacy: [(name.to_owned(), true)].into(),
        ..sshd.config()
    }
}

#[tokio::test]
async fn an_old_server_is_reached_only_where_it_is_named_as_one() {
    for (index, (setting, says, old)) in [
        (
            "KexAlgorithms diffie-hellman-group14-sha1",
            "no key exchange",
            "diffie-hellman-group14-sha1",
        ),
        (
            "KexAlgorithms diffie-hellman-group1-sha1",
            "no key exchange",
            "diffie-hellman-group1-sha1",
        ),
        (
            "KexAlgorithms diffie-hellman-group-exchange-sha1",
            "no key exchange",
            "diffie-hellman-group-exchange-sha1",
        ),
        ("Ciphers aes128-cbc", "no cipher", "aes128-cbc"),
        ("Ciphers 3des-cbc", "no cipher", "3des-cbc"),
        ("Ciphers aes128-ctr\nMACs hmac-sha1", "no MAC", "hmac-sha1"),
    ]
    .into_iter()
    .enumerate()
    {
        let Some(sshd) = Sshd::start_with(setting) else {
            return;
        };
        let error = refused(&sshd.target(), &sshd.config()).await;
        let down = matches!(
            error,
            HostError::Down {
                phase: "host key",
                ..
            }
        );
        assert!(down, "{error}");
        let error = error.to_string();
        for part in [
            says,
            &format!("takes {old}"),
            "`legacy = true` under [host.\"127.0.0.1\"]",
        ] {
            assert!(error.contains(part), "{part} in: {error}");
        }
        // As it is typed, or by its name alone.
        let name = [sshd.target(), "127.0.0.1".to_owned()][index % 2].clone();
        let host = ssh::connect(&sshd.target(), &legacy(&sshd, &name))
            .await
            .unwrap();
        assert_eq!(run(&*host, "exit 3").await.exit, Exit::Code(3));
        assert_eq!(host.agreed().unwrap().old, [old]);
        assert_eq!(host.remarks(), [format!("legacy = true: weak {old}")]);
    }
}

#[tokio::test]
async fn a_server_with_nothing_but_old_algorithms_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    keygen("rsa", "", &key);
    let settings = format!(
        "HostKey {}\nKexAlgorithms diffie-hellman-group14-sha1\nMACs hmac-sha1\n\
         Ciphers aes128-cbc\nHostKeyAlgorithms ssh-rsa",
        key.display()
    );
    let Some(sshd) = Sshd::start_with(&settings) else {
        return;
    };
    fs::copy(key.with_extension("pub"), sshd.path("rsa.pub")).unwrap();
    sshd.know("rsa.pub");
    let host = ssh::connect(&sshd.target(), &legacy(&sshd, "127.0.0.1"))
        .await
        .unwrap();
    assert_eq!(run(&*host, "echo hi").await.out, b"hi\n");
    let agreed = host.agreed().unwrap();
    assert_eq!(
        agreed.old,
        [
            "diffie-hellman-group14-sha1",
            "ssh-rsa",
            "aes128-cbc",
            "hmac-sha1"
        ]
    );
    assert_eq!(agreed.mac.as_deref(), Some("hmac-sha1"));
}

/// Newer servers cannot make such a key any more.
#[tokio::test]
async fn a_server_with_a_dsa_key_alone_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "dsa", "-N", "", "-f"])
        .arg(&key)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !made.unwrap().success() {
        eprintln!("SKIPPED: this ssh-keygen makes no DSA keys");
        return;
    }
    let settings = format!("HostKey {}\nHostKeyAlgorithms ssh-dss", key.display());
    let Some(sshd) = Sshd::start_with(&settings) else {
        return;
    };
    fs::copy(key.with_extension("pub"), sshd.path("dsa.pub")).unwrap();
    sshd.know("dsa.pub");
    let error = refused(&sshd.target(), &sshd.config()).await.to_string();
    assert!(error.contains("ssh-dss would do"), "{error}");
    let host = ssh::connect(&sshd.target(), &legacy(&sshd, "127.0.0.1"))
        .await
        .unwrap();
    assert_eq!(host.agreed().unwrap().old, ["ssh-dss"]);
}

#[tokio::test]
async fn legacy_changes_nothing_where_it_is_not_needed() {
    let Some(sshd) = Sshd::start() else { return };
    let host = ssh::connect(&sshd.target(), &legacy(&sshd, "127.0.0.1"))
        .await
        .unwrap();
    let agreed = host.agreed().unwrap();
    assert!(agreed.old.is_empty(), "{agreed:?}");
    assert_eq!(agreed.cipher, "aes256-gcm@openssh.com");
    assert_eq!(agreed.mac, None);
    assert!(host.remarks()[0].contains("not needed"));
}

#[tokio::test]
async fn curves_of_nist_and_groups_of_2048_bits_are_offered_to_every_host() {
    for kex in [
        "ecdh-sha2-nistp256",
        "ecdh-sha2-nistp384",
        "ecdh-sha2-nistp521",
        "diffie-hellman-group-exchange-sha256",
    ] {
        let Some(sshd) = Sshd::start_with(&format!("KexAlgorithms {kex}")) else {
            return;
        };
        let agreed = sshd.host().await.agreed().unwrap();
        assert_eq!((agreed.kex.as_str(), agreed.old.len()), (kex, 0));
    }
}

#[tokio::test]
async fn lists_of_the_configuration_leave_what_they_name() {
    let Some(sshd) = Sshd::start() else { return };
    for (setting, cipher) in [
        ("Ciphers aes128-ctr,aes256-ctr", "aes128-ctr"),
        ("Ciphers -*gcm*", "chacha20-poly1305@openssh.com"),
        ("Ciphers ^aes256-ctr", "aes256-ctr"),
        ("Ciphers +3des-cbc", "aes256-gcm@openssh.com"),
    ] {
        configure(&sshd, &format!("{setting}\n"));
        assert_eq!(
            sshd.host().await.agreed().unwrap().cipher,
            cipher,
            "{setting}"
        );
    }
    configure(&sshd, "Ciphers 3des-cbc\n");
    let error = refused(&sshd.target(), &sshd.config()).await;
    assert!(matches!(error, HostError::Refused { .. }), "{error}");
    for part in ["`Ciphers 3des-cbc`", "legacy = true"] {
        assert!(error.to_string().contains(part), "{part} in: {error}");
    }
    // With the old ones it is offered, and the server does not take it.
    let error = refused(&sshd.target(), &legacy(&sshd, "127.0.0.1"))
        .await
        .to_string();
    for part in [
        "offered are 3des-cbc",
        "has `3des-cbc`",
        "not even the old ones",
    ] {
        assert!(error.contains(part), "{part} in: {error}");
    }
}

/// Dropbear with new host keys, without any user who could log in.
struct Dropbear {
    folder: tempfile::TempDir,
    port: u16,
    child: Child,
}

impl Dropbear {
    fn start() -> Option<Self> {
        let (server, key) = (program("dropbear")?, program("dropbearkey")?);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        let made = Command::new(key)
            .args(["-t", "ed25519", "-f"])
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(made.unwrap().success());
        for _ in 0..10 {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            drop(listener);
            let mut child = Command::new(&server)
                .args(["-F", "-s", "-p", &format!("127.0.0.1:{port}"), "-r"])
                .arg(&file)
                .arg("-P")
                .arg(folder.path().join("pid"))
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let until = Instant::now() + Duration::from_secs(20);
            while Instant::now() < until && child.try_wait().unwrap().is_none() {
                if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return Some(Self {
                        folder,
                        port,
                        child,
                    });
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = child.kill();
            let _ = child.wait();
        }
        panic!("dropbear does not start");
    }
}

impl Drop for Dropbear {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn dropbear_as_it_comes_gets_as_far_as_the_login() {
    let Some(dropbear) = Dropbear::start() else {
        return;
    };
    let home = dropbear.folder.path().join("home");
    let operator = yes();
    let config = asking(Config::in_home(&home), &operator);
    let target = format!("nobody@127.0.0.1:{}", dropbear.port);
    let error = refused(&target, &config).await;
    assert!(matches!(error, HostError::Login { .. }), "{error}");
    let known = fs::read_to_string(home.join(".ssh/known_hosts")).unwrap();
    assert!(known.starts_with(&format!("[127.0.0.1]:{} ssh-ed25519 ", dropbear.port)));
}
