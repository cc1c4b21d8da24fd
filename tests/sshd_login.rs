//! Logging in to a real OpenSSH server: keys with passphrases, agents, certificates, passwords, and
//! several of them one after another.
#![cfg(test)]

#[path = "support/accounts.rs"]
mod accounts;
#[path = "support/asker.rs"]
mod asker;
#[path = "support/channel.rs"]
mod channel;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/questions.rs"]
mod questions;
#[path = "support/sshd.rs"]
mod server;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use accounts::Accounts;
use asker::{Say, Script};
use channel::run;
use comeback::event::QuestionKind;
use comeback::host::ssh::{self, Config, SshHost};
use comeback::host::{Exit, Host, HostError};
use questions::{Plan, Questions, Round};
use russh::MethodKind;
use server::{Agent, Sshd, fingerprint, keygen, program};

const PASSWORD: &str = "correct horse";
const PASSPHRASE: &str = "battery staple";

/// With somebody who answers.
fn asking(config: Config, script: &Arc<Script>) -> Config {
    Config {
        asker: Arc::<Script>::clone(script),
        ..config
    }
}

async fn connected(target: &str, config: &Config, log: &dyn Fn() -> String) -> Arc<SshHost> {
    match ssh::connect(target, config).await {
        Ok(host) => host,
        Err(error) => panic!("{error}\n{}", log()),
    }
}

/// Logs in and runs something.
async fn logs_in(sshd: &Sshd, config: &Config) -> Arc<SshHost> {
    let host = connected(&sshd.target(), config, &|| sshd.log()).await;
    assert_eq!(run(&*host, "exit 3").await.exit, Exit::Code(3));
    host
}

/// Why there is no login.
async fn refused(target: &str, config: &Config) -> String {
    match ssh::connect(target, config).await {
        Ok(_) => panic!("{target} was reached"),
        Err(error) => {
            assert!(matches!(error, HostError::Login { .. }), "{error}");
            assert!(!error.is_transient());
            error.to_string()
        }
    }
}

fn says_all(says: &str, parts: &[&str]) {
    for part in parts {
        assert!(says.contains(part), "`{part}` in: {says}");
    }
}

/// Puts a passphrase on a key, in the format that is asked for.
fn lock(key: &Path, format: &[&str]) {
    rewrite(key, PASSPHRASE, format);
}

fn lock_with(key: &Path, passphrase: &str) {
    rewrite(key, passphrase, &[]);
}

fn rewrite(key: &Path, passphrase: &str, format: &[&str]) {
    let status = Command::new("ssh-keygen")
        .args(["-q", "-p", "-P", "", "-N", passphrase])
        .args(format)
        .arg("-f")
        .arg(key)
        .stdout(Stdio::null())
        .status();
    assert!(status.unwrap().success());
}

/// A server that takes root's password.
fn with_password(settings: &str) -> Option<Sshd> {
    with_account(settings, &Accounts::with_password(PASSWORD, None))
}

fn with_account(settings: &str, accounts: &Accounts) -> Option<Sshd> {
    if !missing::have_root() || !missing::have_tool("openssl") {
        return None;
    }
    let sshd = accounts.program(&program("sshd")?);
    let settings = format!("{settings}\nPasswordAuthentication yes");
    Some(Sshd::start_as(sshd, &settings))
}

fn configure(sshd: &Sshd, text: &str) {
    fs::write(sshd.path("home/.ssh/config"), text).unwrap();
}

// Key files.

#[tokio::test]
async fn a_passphrase_is_asked_for_once_the_host_takes_the_key() {
    let Some(sshd) = Sshd::start() else { return };
    lock(&sshd.key(), &[]);
    // Another one that the host does not take is not asked about.
    let other = sshd.path("home/.ssh/id_ecdsa");
    keygen("ecdsa", "something else", &other);
    configure(
        &sshd,
        &format!(
            "IdentityFile {}\nIdentityFile {}\n",
            other.display(),
            sshd.key().display()
        ),
    );
    let script = Script::new(&[Say::Enter("wrong"), Say::Enter(PASSPHRASE)]);
    let config = asking(sshd.config(), &script);
    let host = logs_in(&sshd, &config).await;
    assert_eq!(script.kinds(), [QuestionKind::Secret, QuestionKind::Secret]);
    says_all(
        &script.text(0),
        &[
            &format!("{}: passphrase of key file", sshd.target()),
            &sshd.key().display().to_string(),
            &fingerprint(&sshd.key()),
        ],
    );
    assert!(!script.text(0).contains("was not the passphrase"));
    says_all(&script.text(1), &["That was not the passphrase; 2 tries"]);

    // Neither further connections nor other hosts ask again.
    let more = (0..3).map(|_| run(&*host, "sleep 0.2"));
    futures_util::future::join_all(more).await;
    logs_in(&sshd, &config).await;
    assert_eq!(script.asked().len(), 2);
}

#[tokio::test]
async fn many_hosts_with_one_passphrase_ask_once() {
    let Some(sshd) = Sshd::start() else { return };
    lock(&sshd.key(), &[]);
    let script = Script::new(&[Say::Later(Duration::from_millis(300), PASSPHRASE)]);
    let config = asking(sshd.config(), &script);
    let all = (0..10).map(|_| logs_in(&sshd, &config));
    futures_util::future::join_all(all).await;
    assert_eq!(script.asked().len(), 1);
}

#[tokio::test]
async fn a_passphrase_that_is_refused_once_is_refused_for_all_who_wait() {
    let Some(sshd) = Sshd::start() else { return };
    lock(&sshd.key(), &[]);
    let script = Script::new(&[]);
    let config = asking(sshd.config(), &script);
    let target = sshd.target();
    let all = (0..3).map(|_| refused(&target, &config));
    let says = futures_util::future::join_all(all).await;
    assert!(script.asked().len() <= 3);
    for says in says {
        says_all(&says, &["no answer to: the passphrase of key file"]);
    }
    // Later it is asked again.
    let before = script.asked().len();
    script.then(&[Say::Enter(PASSPHRASE)]);
    logs_in(&sshd, &config).await;
    assert_eq!(script.asked().len(), before + 1);
}

#[tokio::test]
async fn three_wrong_passphrases_are_the_end_of_a_key() {
    let Some(sshd) = Sshd::start() else { return };
    lock(&sshd.key(), &[]);
    let script = Script::new(&[Say::Enter("a"), Say::Enter("b"), Say::Enter("c")]);
    let says = refused(&sshd.target(), &asking(sshd.config(), &script)).await;
    assert_eq!(script.asked().len(), 3);
    says_all(&says, &["3 passphrases did not open it"]);
}

#[tokio::test]
async fn old_formats_are_opened_or_named() {
    let Some(sshd) = Sshd::start() else { return };
    for kind in ["rsa", "ecdsa", "ed25519"] {
        keygen(kind, "", &sshd.path(kind));
    }
    for (kind, format, opens) in [
        ("rsa", &["-m", "PEM"][..], true),
        ("rsa", &["-m", "PKCS8"], true),
        ("ecdsa", &["-m", "PKCS8"], true),
        ("ecdsa", &["-m", "PEM"], false),
        ("ecdsa", &[], true),
        ("ed25519", &["-Z", "aes128-gcm@openssh.com"], true),
        ("ed25519", &["-Z", "chacha20-poly1305@openssh.com"], true),
        ("ed25519", &["-Z", "3des-cbc"], false),
    ] {
        let name = format.concat().replace(['.', '@'], "-");
        let key = sshd.path(&format!("{kind}-as{name}"));
        fs::copy(sshd.path(kind), &key).unwrap();
        let public = sshd.path(kind).with_extension("pub");
        fs::copy(public, key.with_extension("pub")).unwrap();
        lock(&key, format);
        fs::copy(key.with_extension("pub"), sshd.path("authorized")).unwrap();
        configure(&sshd, &format!("IdentityFile {}\n", key.display()));
        // With the public key beside it, and without.
        for beside in [true, false] {
            if !beside {
                fs::remove_file(key.with_extension("pub")).unwrap();
            }
            let script = Script::new(&[Say::Enter(PASSPHRASE)]);
            let config = asking(sshd.config(), &script);
            if opens {
                logs_in(&sshd, &config).await;
                assert_eq!(script.asked().len(), 1, "{kind} {format:?}");
            } else {
                let says = refused(&sshd.target(), &config).await;
                let remedy = format!("ssh-keygen -p -f {}", key.display());
                says_all(&says, &[&remedy]);
            }
        }
    }
}

#[tokio::test]
async fn a_key_file_that_others_can_read_is_not_used() {
    let Some(sshd) = Sshd::start() else { return };
    fs::set_permissions(sshd.key(), fs::Permissions::from_mode(0o640)).unwrap();
    let says = refused(&sshd.target(), &sshd.config()).await;
    let remedy = format!("run: chmod 600 {}", sshd.key().display());
    says_all(&says, &["open to others (mode 0640)", &remedy]);
}

#[tokio::test]
async fn rsa_signs_with_a_hash_that_both_sides_take() {
    // OpenSSH before 9.4 does not say that it takes but one, and then ssh needs the word as well.
    for hash in ["rsa-sha2-256", "rsa-sha2-512"] {
        let settings = format!("PubkeyAcceptedAlgorithms {hash}");
        let Some(sshd) = Sshd::start_with(&settings) else {
            return;
        };
        let key = sshd.path("home/.ssh/id_rsa");
        keygen("rsa", "", &key);
        fs::copy(key.with_extension("pub"), sshd.path("authorized")).unwrap();
        configure(&sshd, &format!("PubkeyAcceptedAlgorithms {hash}\n"));
        logs_in(&sshd, &sshd.config()).await;
    }
}

#[tokio::test]
async fn rsa_signs_with_sha1_only_where_that_is_allowed() {
    let server = Questions::start(Plan {
        takes: vec![MethodKind::PublicKey],
        old: true,
        ..Plan::default()
    })
    .await;
    keygen("rsa", "", &server.path(".ssh/id_rsa"));
    let says = refused(&server.target(), &server.config()).await;
    says_all(&says, &["id_rsa was not offered", "SHA-1", "legacy = true"]);
    assert!(server.signed().is_empty());
    let config = Config {
        legacy: [(server.target(), true)].into(),
        ..server.config()
    };
    ssh::connect(&server.target(), &config).await.unwrap();
    assert_eq!(server.signed(), ["ssh-rsa"]);
}

// Agents.

#[tokio::test]
async fn a_locked_agent_and_one_that_is_not_there_are_named() {
    let Some(sshd) = Sshd::start() else { return };
    let agent = Agent::start();
    agent.add(&sshd.key());
    fs::remove_file(sshd.key()).unwrap();
    let config = Config {
        agent: Some(agent.socket()),
        ..sshd.config()
    };
    logs_in(&sshd, &config).await;
    let locked = Command::new("setsid")
        .args(["-w", "ssh-add", "-x"])
        .env("SSH_AUTH_SOCK", agent.socket())
        .env("SSH_ASKPASS_REQUIRE", "force")
        .env("SSH_ASKPASS", askpass(&sshd))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(locked.unwrap().success());
    let says = refused(&sshd.target(), &config).await;
    let socket = agent.socket().display().to_string();
    says_all(&says, &[&socket, "locked (ssh-add -X)"]);

    drop(agent);
    let says = refused(&sshd.target(), &config).await;
    says_all(&says, &[&format!("ssh-agent {socket}: ")]);
}

/// A program that says a passphrase.
fn askpass(sshd: &Sshd) -> PathBuf {
    let path = sshd.path("askpass");
    fs::write(&path, "#!/bin/sh\necho secret\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path
}

fn full_agent(sshd: &Sshd, keys: usize) -> Agent {
    let agent = Agent::start();
    for index in 0..keys {
        let key = sshd.path(&format!("other{index}"));
        keygen("ed25519", "", &key);
        agent.add(&key);
    }
    agent
}

#[tokio::test]
async fn the_sixth_key_of_an_agent_still_logs_in() {
    let Some(sshd) = Sshd::start() else { return };
    let agent = full_agent(&sshd, 5);
    agent.add(&sshd.key());
    fs::remove_file(sshd.key()).unwrap();
    let config = Config {
        agent: Some(agent.socket()),
        ..sshd.config()
    };
    let host = logs_in(&sshd, &config).await;
    // From now on it is the first one.
    let before = sshd.log().matches("Failed publickey").count();
    let more = (0..3).map(|_| run(&*host, "sleep 0.2"));
    futures_util::future::join_all(more).await;
    assert_eq!(sshd.log().matches("Failed publickey").count(), before);
}

#[tokio::test]
async fn a_full_agent_leaves_a_try_for_the_password() {
    let Some(sshd) = with_password("LogLevel DEBUG1") else {
        return;
    };
    let agent = full_agent(&sshd, 8);
    fs::remove_file(sshd.key()).unwrap();
    let script = Script::new(&[Say::Enter(PASSWORD)]);
    let config = Config {
        agent: Some(agent.socket()),
        ..asking(sshd.config(), &script)
    };
    let host = logs_in(&sshd, &config).await;
    assert_eq!(script.asked().len(), 1);
    assert_eq!(script.kinds(), [QuestionKind::Secret]);
    // Further connections go straight to the password.
    let before = sshd.log().matches("Failed publickey").count();
    let more = (0..3).map(|_| run(&*host, "sleep 0.2"));
    futures_util::future::join_all(more).await;
    assert_eq!(sshd.log().matches("Failed publickey").count(), before);
    assert!(sshd.log().matches("Accepted password").count() > 1);
}

#[tokio::test]
async fn a_host_that_has_had_enough_is_explained() {
    let Some(sshd) = Sshd::start_with("MaxAuthTries 2") else {
        return;
    };
    let agent = full_agent(&sshd, 4);
    let config = Config {
        agent: Some(agent.socket()),
        ..sshd.config()
    };
    let says = refused(&sshd.target(), &config).await;
    says_all(
        &says,
        &[
            "Too many authentication failures",
            "agent key SHA256:",
            "IdentitiesOnly",
        ],
    );
    let only = format!(
        "IdentitiesOnly yes\nIdentityFile {}\n",
        sshd.key().display()
    );
    configure(&sshd, &only);
    logs_in(&sshd, &config).await;
}

// Certificates.

#[tokio::test]
async fn a_certificate_logs_in_from_a_file_and_from_an_agent() {
    let authority = tempfile::tempdir().unwrap();
    let ca = authority.path().join("ca");
    keygen("ed25519", "", &ca);
    let settings = format!("TrustedUserCAKeys {}.pub", ca.display());
    for kind in ["ed25519", "ecdsa", "rsa"] {
        let Some(sshd) = Sshd::start_with(&settings) else {
            return;
        };
        fs::write(sshd.path("authorized"), "").unwrap();
        fs::remove_file(sshd.key()).unwrap();
        let key = sshd.path("home/.ssh").join(format!("id_{kind}"));
        keygen(kind, "", &key);
        let says = refused(&sshd.target(), &sshd.config()).await;
        assert!(!says.contains("certificate"), "{says}");
        let signed = Command::new("ssh-keygen")
            .args(["-q", "-s"])
            .arg(&ca)
            .args(["-I", "the operator", "-n", sshd.user(), "-V", "+1h"])
            .arg(key.with_extension("pub"))
            .status();
        assert!(signed.unwrap().success());
        lock(&key, &[]);
        let script = Script::new(&[Say::Enter(PASSPHRASE)]);
        logs_in(&sshd, &asking(sshd.config(), &script)).await;
        assert_eq!(script.asked().len(), 1, "{kind}");

        // The agent holds the key, and the file the certificate.
        let agent = Agent::start();
        let unlocked = Command::new("ssh-keygen")
            .args(["-q", "-p", "-P", PASSPHRASE, "-N", "", "-f"])
            .arg(&key)
            .stdout(Stdio::null())
            .status();
        assert!(unlocked.unwrap().success());
        let elsewhere = sshd.path("certificate");
        let mut beside = key.clone().into_os_string();
        beside.push("-cert.pub");
        fs::rename(beside, &elsewhere).unwrap();
        agent.add(&key);
        fs::remove_file(&key).unwrap();
        fs::remove_file(key.with_extension("pub")).unwrap();
        let file = format!(
            "IdentitiesOnly yes\nCertificateFile {}\n",
            elsewhere.display()
        );
        configure(&sshd, &file);
        let config = Config {
            agent: Some(agent.socket()),
            ..sshd.config()
        };
        logs_in(&sshd, &config).await;
    }
}

// Passwords, and several ways one after another.

#[tokio::test]
async fn a_password_is_asked_for_and_used_again() {
    let Some(sshd) = with_password("PubkeyAuthentication no") else {
        return;
    };
    let script = Script::new(&[Say::Enter("wrong"), Say::Enter(PASSWORD)]);
    let config = asking(sshd.config(), &script);
    let host = logs_in(&sshd, &config).await;
    says_all(
        &script.text(0),
        &[&format!("{}: password of root", sshd.target())],
    );
    says_all(&script.text(1), &["did not take the last answer"]);
    let more = (0..3).map(|_| run(&*host, "sleep 0.2"));
    futures_util::future::join_all(more).await;
    logs_in(&sshd, &config).await;
    assert_eq!(script.asked().len(), 2);
    sshd.cut();
    assert_eq!(run(&*host, "exit 4").await.exit, Exit::Code(4));
    assert_eq!(script.asked().len(), 2);
}

#[tokio::test]
async fn nobody_there_and_no_answer_are_told_with_what_to_do() {
    let Some(sshd) = with_password("") else {
        return;
    };
    fs::remove_file(sshd.key()).unwrap();
    let says = refused(&sshd.target(), &sshd.config()).await;
    says_all(
        &says,
        &[
            "nobody is there to be asked, but needed is the password",
            "run it in a terminal",
            "ssh-copy-id",
        ],
    );
    let script = Script::new(&[Say::No]);
    let says = refused(&sshd.target(), &asking(sshd.config(), &script)).await;
    says_all(&says, &["no answer to: the password of `root`"]);
    configure(&sshd, "BatchMode yes\n");
    let script = Script::new(&[Say::Enter(PASSWORD)]);
    let says = refused(&sshd.target(), &asking(sshd.config(), &script)).await;
    says_all(&says, &["BatchMode"]);
    assert!(script.asked().is_empty());
}

#[tokio::test]
async fn the_ssh_configuration_says_what_is_tried() {
    let Some(sshd) = with_password("") else {
        return;
    };
    let script = Script::new(&[Say::Enter(PASSWORD)]);
    let config = asking(sshd.config(), &script);
    configure(&sshd, "PreferredAuthentications gssapi-with-mic,password\n");
    logs_in(&sshd, &config).await;
    assert_eq!(script.asked().len(), 1);
    assert!(!sshd.log().contains("Accepted publickey"), "{}", sshd.log());

    configure(
        &sshd,
        "PasswordAuthentication no\nPubkeyAuthentication no\n",
    );
    let says = refused(&sshd.target(), &sshd.config()).await;
    says_all(&says, &["the ssh configuration switches that off"]);

    configure(
        &sshd,
        "PubkeyAuthentication no\nNumberOfPasswordPrompts 1\n",
    );
    let script = Script::new(&[Say::Enter("wrong"), Say::Enter(PASSWORD)]);
    refused(&sshd.target(), &asking(sshd.config(), &script)).await;
    assert_eq!(script.asked().len(), 1);
}

#[tokio::test]
async fn several_ways_are_gone_one_after_another() {
    for (ways, asked) in [
        ("publickey,password", 2),
        ("password,publickey", 2),
        ("publickey,publickey", 1),
    ] {
        let Some(sshd) = with_password(&format!("AuthenticationMethods {ways}")) else {
            return;
        };
        lock(&sshd.key(), &[]);
        let second = sshd.path("home/.ssh/id_ecdsa");
        keygen("ecdsa", "", &second);
        let both =
            [sshd.key(), second].map(|key| fs::read_to_string(key.with_extension("pub")).unwrap());
        fs::write(sshd.path("authorized"), both.concat()).unwrap();
        let first = if ways.starts_with("password") {
            PASSWORD
        } else {
            PASSPHRASE
        };
        let then = if ways.starts_with("password") {
            PASSPHRASE
        } else {
            PASSWORD
        };
        let script = Script::new(&[Say::Enter(first), Say::Enter(then)]);
        logs_in(&sshd, &asking(sshd.config(), &script)).await;
        assert_eq!(script.asked().len(), asked, "{ways}");
    }
    let Some(sshd) = with_password("AuthenticationMethods publickey,password") else {
        return;
    };
    let says = refused(&sshd.target(), &sshd.config()).await;
    says_all(
        &says,
        &[
            "was taken for `root`, but the host asks for more",
            "the password",
        ],
    );
}

#[tokio::test]
async fn a_connection_that_was_lost_while_the_operator_typed_is_made_again() {
    let settings = "PubkeyAuthentication no\nLoginGraceTime 2";
    let Some(sshd) = with_password(settings) else {
        return;
    };
    let script = Script::new(&[Say::Later(Duration::from_secs(4), PASSWORD)]);
    logs_in(&sshd, &asking(sshd.config(), &script)).await;
    assert_eq!(script.asked().len(), 1);
}

#[tokio::test]
async fn pam_asks_through_keyboard_interactive() {
    let settings = "UsePAM yes\nKbdInteractiveAuthentication yes\nPubkeyAuthentication no";
    let Some(sshd) = with_password(settings) else {
        return;
    };
    if !missing::have("PAM's pam_unix", Path::new("/etc/pam.d/sshd").exists()) {
        return;
    }
    let script = Script::new(&[Say::Enter("wrong"), Say::Enter(PASSWORD)]);
    let config = asking(sshd.config(), &script);
    let host = logs_in(&sshd, &config).await;
    assert_eq!(script.asked().len(), 2, "{:?}", script.asked());
    says_all(&script.text(0), &["asks root", "Password:"]);
    let more = (0..3).map(|_| run(&*host, "sleep 0.2"));
    futures_util::future::join_all(more).await;
    logs_in(&sshd, &config).await;
    assert_eq!(script.asked().len(), 2);
}

#[tokio::test]
async fn dropbear_takes_a_password() {
    let Some(dropbear) = program("dropbear") else {
        return;
    };
    if !missing::have_root() || !missing::have_tool("openssl") || !missing::have_tool("dropbearkey")
    {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".ssh")).unwrap();
    let key = home.path().join("host");
    let made = Command::new("dropbearkey")
        .args(["-t", "ed25519", "-f"])
        .arg(&key)
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8(made.stdout).unwrap();
    let public = told
        .lines()
        .find(|line| line.starts_with("ssh-"))
        .unwrap()
        .to_owned();
    let accounts = Accounts::with_password(PASSWORD, None);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let mut child = Command::new(accounts.program(&dropbear))
        .args(["-F", "-E", "-r"])
        .arg(&key)
        .args(["-p", &format!("127.0.0.1:{port}")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let known = format!("[127.0.0.1]:{port} {public}\n");
    fs::write(home.path().join(".ssh/known_hosts"), known).unwrap();
    let script = Script::new(&[Say::Enter("wrong"), Say::Enter(PASSWORD)]);
    let config = asking(Config::in_home(home.path()), &script);
    let until = std::time::Instant::now() + Duration::from_secs(20);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(std::time::Instant::now() < until, "dropbear does not start");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let result = ssh::connect(&format!("root@127.0.0.1:{port}"), &config).await;
    let exit = match result {
        Ok(host) => Ok(run(&*host, "exit 3").await.exit),
        Err(error) => Err(error.to_string()),
    };
    let _ = child.kill();
    let _ = child.wait();
    assert_eq!(exit, Ok(Exit::Code(3)));
    assert_eq!(script.asked().len(), 2);
}

// Whatever a server may ask.

fn round(says: &'static str, prompts: &[(&'static str, bool)]) -> Round {
    Round {
        name: "",
        says,
        prompts: prompts.to_vec(),
    }
}

#[tokio::test]
async fn every_round_is_answered_with_as_many_answers_as_it_has_prompts() {
    let server = Questions::start(Plan {
        rounds: vec![
            round(
                "Two things",
                &[("Name: ", true), ("Verification code: ", false)],
            ),
            round("Look at your phone", &[]),
            round("", &[("Password: ", false)]),
        ],
        right: vec!["ann", "123456", "pw"],
        ..Plan::default()
    })
    .await;
    let script = Script::new(&[Say::Enter("ann"), Say::Enter("123456"), Say::Enter("pw")]);
    let config = asking(server.config(), &script);
    ssh::connect(&server.target(), &config).await.unwrap();
    assert_eq!(
        server.answers(),
        [vec!["ann", "123456"], vec![], vec!["pw"]]
    );
    assert_eq!(
        script.kinds(),
        [
            QuestionKind::Text,
            QuestionKind::Secret,
            QuestionKind::Secret
        ]
    );
    says_all(
        &script.text(0),
        &["asks ann (1 of 2): Name:", "The host says: Two things"],
    );
    says_all(
        &script.text(2),
        &["asks ann: Password:", "Look at your phone"],
    );
}

#[tokio::test]
async fn a_login_without_any_prompt_needs_nobody() {
    let server = Questions::start(Plan {
        rounds: vec![round("Nothing to ask", &[])],
        ..Plan::default()
    })
    .await;
    ssh::connect(&server.target(), &server.config())
        .await
        .unwrap();
    assert_eq!(server.answers(), [Vec::<String>::new()]);
}

#[tokio::test]
async fn what_cannot_be_answered_is_named() {
    let server = Questions::start(Plan {
        rounds: vec![round("", &[("Verification code: ", false)])],
        right: vec!["1"],
        ..Plan::default()
    })
    .await;
    let says = refused(&server.target(), &server.config()).await;
    says_all(
        &says,
        &[
            "nobody is there",
            "`Verification code:`",
            "run it in a terminal",
        ],
    );
    let script = Script::new(&[Say::No]);
    let says = refused(&server.target(), &asking(server.config(), &script)).await;
    says_all(&says, &["no answer to: `Verification code:`"]);
    let script = Script::new(&[Say::Enter("2"), Say::Enter("3"), Say::Enter("1")]);
    ssh::connect(&server.target(), &asking(server.config(), &script))
        .await
        .unwrap();
    server.set("KbdInteractiveAuthentication no\n");
    let says = refused(&server.target(), &server.config()).await;
    says_all(
        &says,
        &["the host takes keyboard-interactive", "switches that off"],
    );
}

#[tokio::test]
async fn endless_questions_end() {
    let server = Questions::start(Plan {
        rounds: vec![round("again", &[])],
        endless: true,
        ..Plan::default()
    })
    .await;
    let script = Script::new(&[]);
    let says = refused(&server.target(), &asking(server.config(), &script)).await;
    says_all(&says, &["asks without end"]);
    assert!(script.asked().is_empty());
    assert!(server.answers().len() <= 21);
}

#[tokio::test]
async fn answers_may_be_the_first_of_several_ways() {
    let server = Questions::start(Plan {
        rounds: vec![round("", &[("Code: ", false)])],
        right: vec!["1"],
        then: Some(MethodKind::Password),
        password: PASSWORD,
        ..Plan::default()
    })
    .await;
    let script = Script::new(&[Say::Enter("1"), Say::Enter(PASSWORD)]);
    ssh::connect(&server.target(), &asking(server.config(), &script))
        .await
        .unwrap();
    assert_eq!(script.asked().len(), 2);
    let script = Script::new(&[Say::Enter("1"), Say::No]);
    let says = refused(&server.target(), &asking(server.config(), &script)).await;
    says_all(
        &says,
        &["keyboard-interactive was taken for `ann`, but the host asks for more"],
    );
}

#[tokio::test]
async fn what_a_host_asks_drives_no_terminal() {
    let server = Questions::start(Plan {
        rounds: vec![Round {
            name: "\u{1b}]0;owned\u{7}",
            says: "line\r\n\u{1b}[2Jcleared\u{9b}31m",
            prompts: vec![("\u{1b}[31mPassword\r\n for \u{202e}you: ", false)],
        }],
        right: vec!["1"],
        ..Plan::default()
    })
    .await;
    let script = Script::new(&[Say::Enter("1")]);
    ssh::connect(&server.target(), &asking(server.config(), &script))
        .await
        .unwrap();
    let question = &script.asked()[0];
    let all: Vec<&String> = std::iter::once(&question.title)
        .chain(&question.lines)
        .collect();
    assert!(
        all.iter().all(|text| !text.contains(char::is_control)),
        "{all:?}"
    );
}

#[tokio::test]
async fn a_password_given_to_a_question_is_used_again_and_a_code_is_not() {
    for (prompt, again) in [("Password: ", 1), ("One-time code: ", 2)] {
        let server = Questions::start(Plan {
            rounds: vec![round("", &[(prompt, false)])],
            right: vec!["1"],
            ..Plan::default()
        })
        .await;
        let script = Script::new(&[Say::Enter("1"), Say::Enter("1")]);
        let config = asking(server.config(), &script);
        ssh::connect(&server.target(), &config).await.unwrap();
        ssh::connect(&server.target(), &config).await.unwrap();
        assert_eq!(script.asked().len(), again, "{prompt}");
    }
}

#[tokio::test]
async fn a_code_is_asked_for_again_only_when_no_connection_is_left() {
    let server = Questions::start(Plan {
        rounds: vec![round("", &[("One-time code: ", false)])],
        right: vec!["1"],
        ..Plan::default()
    })
    .await;
    let script = Script::new(&[Say::Enter("1")]);
    let config = asking(server.config(), &script);
    let host = ssh::connect(&server.target(), &config).await.unwrap();
    // Several commands at once share the one connection, and no other is tried.
    let more = (0..3).map(|_| run(&*host, "sleep 0.2; exit 5"));
    for answer in futures_util::future::join_all(more).await {
        assert_eq!(answer.exit, Exit::Code(5));
    }
    assert_eq!(script.asked().len(), 1);
    assert_eq!(server.answers().len(), 1);
    server.cut().await;
    script.then(&[Say::Enter("1")]);
    assert_eq!(run(&*host, "exit 6").await.exit, Exit::Code(6));
    assert_eq!(script.asked().len(), 2);
}

#[tokio::test]
async fn a_remembered_answer_that_fails_is_forgotten() {
    let Some(sshd) = with_password("PubkeyAuthentication no") else {
        return;
    };
    let script = Script::new(&[Say::Enter(PASSWORD), Say::Enter("second")]);
    let config = asking(sshd.config(), &script);
    logs_in(&sshd, &config).await;
    let accounts = Accounts::with_password("second", None);
    let target = sshd.target();
    let port = sshd.port();
    let mut sshd = sshd;
    sshd.run_as(accounts.program(&program("sshd").unwrap()));
    assert_eq!(sshd.port(), port);
    connected(&target, &config, &|| sshd.log()).await;
    assert_eq!(script.asked().len(), 2);
    says_all(&script.text(1), &["password of root"]);
}

#[tokio::test]
async fn an_expired_password_is_changed_by_pam_or_told() {
    let accounts = Accounts::with_password(PASSWORD, Some(0));
    let settings = "UsePAM yes\nKbdInteractiveAuthentication yes\nPubkeyAuthentication no";
    let Some(sshd) = with_account(settings, &accounts) else {
        return;
    };
    let script = Script::new(&[Say::Enter(PASSWORD), Say::Enter(PASSWORD), Say::No]);
    let says = refused(&sshd.target(), &asking(sshd.config(), &script)).await;
    assert_eq!(script.asked().len(), 3);
    says_all(
        &script.text(1),
        &[
            "asks root: Current password:",
            "says: You are required",
            "may have expired",
        ],
    );
    says_all(&says, &["no answer to: `New password:`"]);

    // Without PAM the host lets in, and runs nothing.
    let Some(sshd) = with_account("PubkeyAuthentication no", &accounts) else {
        return;
    };
    let script = Script::new(&[Say::Enter(PASSWORD)]);
    let config = asking(sshd.config(), &script);
    let host = connected(&sshd.target(), &config, &|| sshd.log()).await;
    let why = Host::exec(&*host, "true").await.err().unwrap().to_string();
    says_all(&why, &["Your password has expired"]);
}

/// Keeps what is logged at the level at which russh is left.
struct Logged(std::sync::Mutex<String>);

impl log::Log for Logged {
    fn enabled(&self, about: &log::Metadata<'_>) -> bool {
        about.level() <= log::Level::Info
    }

    fn log(&self, record: &log::Record<'_>) {
        use std::fmt::Write as _;

        if self.enabled(record.metadata()) {
            let _ = writeln!(self.0.lock().unwrap(), "{}", record.args());
        }
    }

    fn flush(&self) {}
}

#[tokio::test]
async fn secrets_are_in_no_log_question_error_or_argument() {
    static LOGGED: Logged = Logged(std::sync::Mutex::new(String::new()));
    let _ = log::set_logger(&LOGGED);
    log::set_max_level(log::LevelFilter::Info);
    let (code, phrase, wrong) = ("918273", "hunter2 open sesame", "wr0ng guess");
    let password = "none but this one";
    let mut all = Vec::new();

    let Some(sshd) = Sshd::start() else { return };
    lock_with(&sshd.key(), phrase);
    let script = Script::new(&[Say::Enter(wrong), Say::Enter(phrase)]);
    let config = asking(sshd.config(), &script);
    let host = logs_in(&sshd, &config).await;
    all.push(String::from_utf8_lossy(&run(&*host, "cat /proc/[0-9]*/cmdline").await.out).into());
    all.push(format!("{:?}", script.asked()));

    let server = Questions::start(Plan {
        rounds: vec![round("", &[("Code: ", false), ("Name: ", true)])],
        right: vec![code, "n"],
        then: Some(MethodKind::Password),
        password,
        ..Plan::default()
    })
    .await;
    for answers in [
        &[
            Say::Enter(code),
            Say::Enter("n"),
            Say::Enter(wrong),
            Say::Enter(PASSWORD),
        ][..],
        &[
            Say::Enter(code),
            Say::Enter("n"),
            Say::Enter(wrong),
            Say::No,
        ],
        &[
            Say::Enter(wrong),
            Say::Enter("n"),
            Say::Enter(code),
            Say::No,
        ],
    ] {
        let script = Script::new(answers);
        if let Err(error) = ssh::connect(&server.target(), &asking(server.config(), &script)).await
        {
            all.push(format!("{error} {error:?}"));
        }
        all.push(format!("{:?}", script.asked()));
    }
    all.push(LOGGED.0.lock().unwrap().clone());
    assert!(
        all.iter().any(|text| text.contains("cmdline")),
        "nothing was looked at"
    );
    for text in all {
        for secret in [code, phrase, wrong, password] {
            assert!(!text.contains(secret), "`{secret}` in: {text}");
        }
    }
}
