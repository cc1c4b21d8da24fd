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

use figures::values;
use missing::{have_root, have_tool};
use screen::Screen;
use world::World;

const PASSWORD: &str = r#"a "pass" \ 7"#;

/// An FTP server of somebody's; it ends when it is dropped.
struct Ftp {
    child: Child,
    port: u16,
}

impl Drop for Ftp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ftp {
    /// In the folder `ftp` of the test: what the user `me` sees is `served`.
    fn start(world: &World) -> Self {
        let at = world.text("ftp");
        fs::create_dir_all(world.path("ftp/served/in")).unwrap();
        let hash = Command::new("openssl")
            .args(["passwd", "-6", PASSWORD])
            .output()
            .unwrap();
        let hash = String::from_utf8(hash.stdout).unwrap();
        let user = format!("me:{}:0:0::{at}/served:/bin/sh\n", hash.trim());
        fs::write(world.path("ftp/users"), user).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(world.path("ftp/users"), mode).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = port.local_addr().unwrap().port();
        let settings = format!(
            "ServerName test\nServerType standalone\nDefaultServer on\nSocketBindTight on\nDefaultAddress 127.0.0.1\n\
             Port {port}\nAuthOrder mod_auth_file.c\nAuthUserFile {at}/users\nDefaultRoot ~\nRootLogin on\n\
             RequireValidShell off\nUseFtpUsers off\nUseReverseDNS off\nWtmpLog off\nTransferLog none\nDelayTable none\n\
             PidFile {at}/pid\nScoreboardFile {at}/scoreboard\nSystemLog {at}/log\nUser root\nGroup root\n"
        );
        fs::write(world.path("ftp/conf"), settings).unwrap();
        let child = Command::new("proftpd")
            .args(["-n", "-q", "-c", &world.text("ftp/conf")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let ftp = Self { child, port };
        let until = Instant::now() + Duration::from_mins(1);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < until, "it does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
        ftp
    }
}

#[test]
fn an_ftp_server_takes_and_gives_a_file_and_keeps_nothing() {
    let tools = ["proftpd", "curl", "openssl"];
    if !have_root() || !tools.iter().all(|tool| have_tool(tool)) {
        return;
    }
    let world = World::new();
    let ftp = Ftp::start(&world);
    let server = format!("server=127.0.0.1:{}", ftp.port);
    let mut all = vec!["--role", "target=local", "--method", "copy-ftp", "--reps"];
    all.extend(["3", "--set", &server, "--set", "account=me", "--set"]);
    all.push("folder=in");
    let all = world.arguments("named.jsonl", &all);
    let all: Vec<_> = all.iter().map(String::as_str).collect();
    let home = world.path("home");
    let mut screen = Screen::start(&home, &all, &[("USER", "root")], (120, 40));
    screen.until("the echo off", |_| !screen.echoes());
    screen.keys(PASSWORD);
    screen.keys("\n");
    assert_eq!(screen.end().exit_code(), 0, "{}", screen.text());
    assert!(!screen.raw().contains(PASSWORD));
    let record = world.text("named.jsonl");
    let recorded = fs::read_to_string(&record).unwrap();
    assert!(!recorded.contains(r#"\"pass\""#), "the password is in it");

    let report = world.run(&["report", &record, "--format", "json"]).json();
    let row = &report["rows"][0];
    assert_eq!(row["verified"]["matched"], 3, "{row}");
    assert_eq!(row["placement"], serde_json::Value::Null, "{row}");
    for name in ["backup", "restore"] {
        let rates = values(&report, "full", "space", name, "B/s");
        assert_eq!(rates.len(), 3, "{name}: {report}");
    }
    // Nothing was started, and all of it is gone from there and from here.
    let steps: Vec<String> = events::Recording::read(&world.path("named.jsonl"))
        .state("step", "planned")
        .map(|step| step["name"].to_string())
        .collect();
    assert!(!steps.contains(&r#""server""#.to_owned()), "{steps:?}");
    assert_eq!(world::entries(&world.path("ftp/served")), ["in"]);
    assert_eq!(world::entries(&world.path("ftp/served/in")), [""; 0]);
    world.assert_empty();
}
