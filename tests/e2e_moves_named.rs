//! A server that is there and is named: nothing is started, its password is asked for, and what was put on it is taken away.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/figures.rs"]
mod figures;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/screen.rs"]
mod screen;
#[path = "support/world.rs"]
mod world;

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use events::Recording;
use figures::values;
use missing::{have_root, have_tool};
use screen::Screen;
use serde_json::Value;
use world::World;

const PASSWORD: &str = r#"a "pass" \ 7"#;

/// A server of somebody's; it ends when it is dropped.
struct Server {
    children: Vec<Child>,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// As servers keep the password.
fn hashed() -> String {
    let done = Command::new("openssl")
        .args(["passwd", "-6", PASSWORD])
        .output()
        .unwrap();
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

fn free_port() -> u16 {
    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    port.local_addr().unwrap().port()
}

impl Server {
    /// One that answers at the port.
    fn of(port: u16, programs: &[&[&str]]) -> Self {
        let start = |words: &&[&str]| {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).stdin(Stdio::null());
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().unwrap()
        };
        let server = Self {
            children: programs.iter().map(start).collect(),
            port,
        };
        let until = Instant::now() + Duration::from_mins(1);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < until, "it does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    /// In the folder `ftp` of the test: what the user `me` sees is `served`.
    fn ftp(world: &World) -> Self {
        let at = world.text("ftp");
        fs::create_dir_all(world.path("ftp/served/in")).unwrap();
        let user = format!("me:{}:0:0::{at}/served:/bin/sh\n", hashed());
        write_private(world, "ftp/users", &user);
        let port = free_port();
        let settings = format!(
            "ServerName test\nServerType standalone\nDefaultServer on\nSocketBindTight on\nDefaultAddress 127.0.0.1\n\
             Port {port}\nAuthOrder mod_auth_file.c\nAuthUserFile {at}/users\nDefaultRoot ~\nRootLogin on\n\
             RequireValidShell off\nUseFtpUsers off\nUseReverseDNS off\nWtmpLog off\nTransferLog none\nDelayTable none\n\
             PidFile {at}/pid\nScoreboardFile {at}/scoreboard\nSystemLog {at}/log\nUser root\nGroup root\n"
        );
        fs::write(world.path("ftp/conf"), settings).unwrap();
        let conf = world.text("ftp/conf");
        Self::of(port, &[&["proftpd", "-n", "-q", "-c", &conf]])
    }

    /// The module `pool` is the folder `rsync/pool` of the test.
    fn rsync(world: &World) -> Self {
        let at = world.text("rsync");
        fs::create_dir_all(world.path("rsync/pool/in/theirs")).unwrap();
        write_private(world, "rsync/secrets", &format!("me:{PASSWORD}\n"));
        let settings = format!(
            "use chroot = yes\nuid = 0\ngid = 0\nreverse lookup = no\nlock file = {at}/lock\n[pool]\npath = {at}/pool\n\
             read only = no\nauth users = me\nsecrets file = {at}/secrets\n"
        );
        fs::write(world.path("rsync/conf"), settings).unwrap();
        let (port, conf) = (free_port(), format!("--config={at}/conf"));
        let (at_port, log) = (format!("--port={port}"), format!("--log-file={at}/log"));
        let own = ["rsync", "--daemon", "--no-detach", "--address=127.0.0.1"];
        Self::of(port, &[&[&own[..], &[&at_port, &conf, &log]].concat()])
    }

    /// A web server behind TLS, which serves the folder `web/served` of the test to who logs in; its certificate is `web/cert`.
    fn web(world: &World) -> Self {
        let at = world.text("web");
        fs::create_dir_all(world.path("web/served/in")).unwrap();
        let done = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt"])
            .args(["ec_paramgen_curve:P-256", "-nodes", "-days", "2"])
            .args(["-subj", "/CN=nas", "-addext", "subjectAltName=IP:127.0.0.1"])
            .args(["-keyout", &format!("{at}/key"), "-out"])
            .arg(format!("{at}/cert"))
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        write_private(world, "web/conf", &format!("/:me:{}\n", hashed()));
        let (port, plain) = (free_port(), free_port());
        let (plain_at, to) = (
            format!("127.0.0.1:{plain}"),
            format!("TCP:127.0.0.1:{plain}"),
        );
        let listen = format!(
            "OPENSSL-LISTEN:{port},bind=127.0.0.1,reuseaddr,fork,verify=0,cert={at}/cert,key={at}/key"
        );
        let (conf, served) = (format!("{at}/conf"), format!("{at}/served"));
        let mut behind = Self::of(
            plain,
            &[&[
                "busybox", "httpd", "-f", "-p", &plain_at, "-r", "nas", "-c", &conf, "-h", &served,
            ]],
        );
        let mut server = Self::of(port, &[&["socat", &listen, &to]]);
        server.children.append(&mut behind.children);
        server
    }
}

fn write_private(world: &World, name: &str, text: &str) {
    fs::write(world.path(name), text).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(world.path(name), mode).unwrap();
}

/// A session on this machine whose password is typed: its exit code, and what was said. The password is nowhere.
fn typed(world: &World, record: &str, more: &[&str]) -> (u32, String) {
    let all = [&["--role", "target=local"], more].concat();
    let all = world.arguments(record, &all);
    let all: Vec<_> = all.iter().map(String::as_str).collect();
    let home = world.path("home");
    let mut screen = Screen::start(&home, &all, &[("USER", "root")], (120, 40));
    screen.until("the echo off", |_| !screen.echoes());
    screen.keys(PASSWORD);
    screen.keys("\n");
    let code = screen.end().exit_code();
    assert!(!screen.raw().contains(PASSWORD));
    let recorded = fs::read_to_string(world.path(record)).unwrap();
    assert!(!recorded.contains(r#"\"pass\""#), "the password is in it");
    (code, screen.text())
}

/// All runs of a session were proved, and none of them started a server.
fn assert_proved(world: &World, record: &str, reps: usize) -> Value {
    let report = world.run(&["report", &world.text(record), "--format", "json"]);
    let report = report.json();
    for row in report["rows"].as_array().unwrap() {
        assert_eq!(row["verified"]["matched"], reps, "{row}");
    }
    let recording = events::Recording::read(&world.path(record));
    let mut steps = recording.state("step", "planned");
    assert!(steps.all(|step| step["name"] != "server" && step["name"] != "daemon"));
    world.assert_empty();
    report
}

fn can(tools: &[&str]) -> bool {
    have_root() && tools.iter().all(|tool| have_tool(tool))
}

#[test]
fn an_ftp_server_takes_and_gives_a_file_or_a_tree_and_keeps_nothing() {
    if !can(&["proftpd", "curl", "openssl"]) {
        return;
    }
    let world = World::new();
    let ftp = Server::ftp(&world);
    let server = format!("server=127.0.0.1:{}", ftp.port);
    let named = ["--method", "copy-ftp", "--set", &server, "--set"];
    let named = [&named[..], &["account=me", "--set", "folder=in"]].concat();
    for (form, reps) in [("form=file", "3"), ("form=tree", "1")] {
        let more = [&named[..], &["--reps", reps, "--set", form]].concat();
        let (code, said) = typed(&world, &format!("{form}.jsonl"), &more);
        assert_eq!(code, 0, "{said}");
        let reps = reps.parse().unwrap();
        let report = assert_proved(&world, &format!("{form}.jsonl"), reps);
        let row = &report["rows"][0];
        assert_eq!(row["placement"], Value::Null, "{row}");
        for name in ["backup", "restore"] {
            let rates = values(&report, "full", "space", name, "B/s");
            assert_eq!(rates.len(), reps, "{name}: {report}");
        }
        // A server that tells nothing: how far it is says what has gone.
        if form == "form=tree" {
            let recording = Recording::read(&world.path("form=tree.jsonl"));
            let backup = |event: &&Value| event["name"] == "backup" && event["state"] == "planned";
            let backup = &recording.of("step").find(backup).unwrap()["step"];
            let far = |event: &Value| event["step"] == *backup && event["done"].as_u64() > Some(0);
            assert!(recording.of("progress").any(far));
        }
        // All of it is gone from there.
        assert_eq!(world::entries(&world.path("ftp/served")), ["in"]);
        assert_eq!(world::entries(&world.path("ftp/served/in")), [""; 0]);
    }
}

/// What others have in the module stays, and the run's folder goes.
#[test]
fn an_rsync_daemon_takes_and_gives_a_tree_and_keeps_what_is_others() {
    if !can(&["rsync"]) {
        return;
    }
    let world = World::new();
    let daemon = Server::rsync(&world);
    let theirs = world.path("rsync/pool/in/theirs/file");
    fs::write(&theirs, "theirs").unwrap();
    fs::write(world.path("rsync/pool/in/comeback-theirs"), "theirs").unwrap();
    let server = format!("server=127.0.0.1:{}/pool/in", daemon.port);
    let more = ["--method", "copy-rsync", "--reps", "2", "--set", &server];
    let more = [&more[..], &["--set", "account=me"]].concat();
    let (code, said) = typed(&world, "named.jsonl", &more);
    assert_eq!(code, 0, "{said}");
    let report = assert_proved(&world, "named.jsonl", 2);
    let first = values(&report, "first", "space", "backup", "B/s");
    assert_eq!(first.len(), 2, "{report}");
    let there = world::entries(&world.path("rsync/pool/in"));
    assert_eq!(there, ["comeback-theirs", "theirs"]);
    assert_eq!(fs::read_to_string(theirs).unwrap(), "theirs");
}

/// The certificate is trusted because it is named; where it is not, nothing goes out, no password either.
#[test]
fn a_web_server_with_tls_and_a_login_gives_what_was_brought_to_its_folder() {
    if !can(&["busybox", "curl", "openssl", "socat"]) {
        return;
    }
    let world = World::new();
    let web = Server::web(&world);
    let server = format!("server=https://127.0.0.1:{}", web.port);
    let folder = format!("folder={}", world.text("web/served"));
    let ca = format!("ca={}", world.text("web/cert"));
    let named = ["--method", "copy-http", "--set", &server, "--set", &folder];
    let named = [&named[..], &["--set", "account=me"]].concat();
    for (form, reps) in [("form=file", "3"), ("form=tree", "1")] {
        let more = ["--reps", reps, "--set", form, "--set", &ca];
        let record = format!("{form}.jsonl");
        let (code, said) = typed(&world, &record, &[&named[..], &more].concat());
        assert_eq!(code, 0, "{said}");
        let reps = reps.parse().unwrap();
        let report = assert_proved(&world, &record, reps);
        let rates = values(&report, "full", "space", "restore", "B/s");
        assert_eq!(rates.len(), reps, "{report}");
        assert_eq!(world::entries(&world.path("web/served")), ["in"]);
    }
    let (code, said) = typed(&world, "no.jsonl", &[&named[..], &["--reps", "1"]].concat());
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("certificate"), "{said}");
    let record = world.text("no.jsonl");
    world.run(&["recover", &record, "--remove"]).assert_good();
    assert_eq!(world::entries(&world.path("web/served")), ["in"]);
    world.assert_empty();
}
