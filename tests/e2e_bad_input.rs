//! Wrong arguments, files and hosts: one clear sentence, the right exit code, nothing left.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/lab.rs"]
mod lab;
#[path = "support/methods.rs"]
mod methods;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/world.rs"]
mod world;

use std::fs;
use std::net::TcpListener;

use lab::Lab;
use methods::{COPY, HEAD};
use world::World;

/// Runs a method with one thing wrong.
fn refused(world: &World, code: i32, arguments: &[&str], words: &[&str]) {
    let (run, _) = world.session("r.jsonl", arguments);
    run.assert_refused(code, words);
    assert!(
        !world.path("r.jsonl").exists(),
        "{arguments:?}: a recording was begun"
    );
    world.assert_empty();
}

#[test]
fn what_is_wrong_in_the_arguments_is_named_with_what_was_expected() {
    let world = World::new();
    let cases: [(&[&str], &[&str]); 11] = [
        (&["--method", "files-pc"], &["files-pc", "files-cp"]),
        (&[], &["--method", "files-cp"]),
        (
            &["--method", "files-cp", "--set", "siez=1MiB"],
            &["siez", "size"],
        ),
        (
            &["--method", "files-cp", "--set", "size=many"],
            &["size", "many"],
        ),
        (
            &["--method", "files-cp", "--set", "sparse=maybe"],
            &["sparse", "maybe", "auto"],
        ),
        (
            &["--method", "files-cp", "--set", "size"],
            &["--set", "KEY=VALUE"],
        ),
        (
            &["--method", "files-cp", "--set", "files-xx.size=1MiB"],
            &["files-xx"],
        ),
        (
            &["--method", "files-cp", "--role", "nobody=local"],
            &["nobody"],
        ),
        (
            &["--method", "files-cp", "--subject", "vm:9001"],
            &["files-cp", "vm", "dir"],
        ),
        (
            &["--method", "files-cp", "--subject", "lab/dir:/srv"],
            &["/srv", "lab", "--host"],
        ),
        (
            &["--method", "btrfs-snapshot", "--subject", "subvolume:/srv"],
            &["btrfs-snapshot", "subvolume:/srv"],
        ),
    ];
    for (arguments, words) in cases {
        refused(&world, 2, arguments, words);
    }
    world
        .run(&["run", "--method", "files-cp", "--sandbox", "relative"])
        .assert_refused(2, &["--sandbox", "relative", "absolute"]);
}

#[test]
fn what_clap_refuses_ends_with_2() {
    let world = World::new();
    for arguments in [
        &["run", "--reps", "0", "--method", "files-cp"][..],
        &["run", "--nonsense"],
        &["report"],
        &[
            "run", "--events", "--format", "json", "--method", "files-cp",
        ],
        &["completions", "nosh"],
    ] {
        let ended = world.run(arguments);
        assert_eq!(ended.code, 2, "{arguments:?}: {}", ended.err);
        assert!(!ended.err.is_empty());
        assert_eq!(ended.out, "");
    }
}

#[test]
fn a_recording_is_never_overwritten() {
    let world = World::new();
    fs::write(world.path("r.jsonl"), "precious").unwrap();
    let arguments = world.arguments("r.jsonl", &["--method", "files-cp"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    world
        .run(&arguments)
        .assert_refused(2, &["r.jsonl", "another"]);
    assert_eq!(
        fs::read_to_string(world.path("r.jsonl")).unwrap(),
        "precious"
    );
    world.assert_empty();
}

#[test]
fn a_recording_that_cannot_be_made_is_named_before_anything_runs() {
    let world = World::new();
    fs::write(world.path("file"), "").unwrap();
    for (record, named) in [("file/r.jsonl", "/file"), ("home", "/home")] {
        let arguments = world.arguments(record, &["--method", "files-cp"]);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        world
            .run(&arguments)
            .assert_refused(2, &[named, "recording"]);
        world.assert_empty();
    }
}

#[test]
fn a_method_file_with_a_wrong_key_is_named_with_its_line() {
    let world = World::new();
    let wrong = COPY.replace("clock  = \"host\"", "clokc  = \"host\"");
    world.method("wrong", &(HEAD.to_owned() + &wrong));
    let text = HEAD.to_owned() + &wrong;
    let line = text
        .lines()
        .position(|line| line.starts_with("clokc"))
        .unwrap()
        + 1;
    let named = format!("wrong.toml:{line}:");
    for arguments in [
        &["run", "--method", "wrong"][..],
        &["check"],
        &["methods"],
        &["methods", "show", "wrong"],
    ] {
        world.run(arguments).assert_refused(2, &[&named, "clokc"]);
    }
    world.assert_empty();
}

#[test]
fn a_wrong_configuration_is_named_with_its_line() {
    let world = World::new();
    let config = world.path("home/.config/comeback/config.toml");
    fs::write(&config, "theme = \"mono\"\n[host.local]\nstaet = \"/x\"\n").unwrap();
    for arguments in [
        &["info"][..],
        &["run", "--method", "files-cp"],
        &["recover"],
    ] {
        world
            .run(arguments)
            .assert_refused(2, &["config.toml:3:", "staet"]);
    }
    for (keys, line, wanted) in [
        ("[keys]\nstopp = \"x\"\n", 2, "no action is called stopp"),
        ("[keys]\nstop = [\"Strg-X\"]\n", 2, "expected a character"),
        (
            "[keys]\nwrap = \"x\"\n\nstop = [\"X\", \"X\"]\n",
            4,
            "twice",
        ),
        (
            "[keys.live]\nstop = [\"p\"]\n",
            2,
            "p is both stop and pause",
        ),
        ("[keys.dialog]\nback = []\n", 2, "no key left"),
        ("\n[keys.nowhere]\nback = \"x\"\n", 3, "[keys.nowhere]"),
        ("mouse = \"no\"\n", 1, "boolean"),
    ] {
        fs::write(&config, keys).unwrap();
        let place = format!("config.toml:{line}:");
        world.run(&["info"]).assert_refused(2, &[&place, wanted]);
    }
    world
        .run(&["info", "--config", "absent.toml"])
        .assert_refused(2, &["absent.toml"]);
}

#[test]
fn the_dashboard_without_a_terminal_hints_at_run() {
    let world = World::new();
    world
        .run(&[])
        .assert_refused(2, &["terminal", "comeback run"]);
    let (run, _) = world.session("r.jsonl", &["--method", "files-cp", "--reps", "1"]);
    run.assert_good();
    world
        .run(&["replay", "r.jsonl"])
        .assert_refused(2, &["terminal", "--plain"]);
}

#[test]
fn an_unknown_host_and_a_closed_port_are_named() {
    let world = World::new();
    fs::create_dir_all(world.path("home/.ssh")).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    drop(listener);
    refused(
        &world,
        3,
        &["--host", "no-such-host.invalid", "--method", "files-cp"],
        &["no-such-host.invalid"],
    );
    let target = format!("127.0.0.1:{port}");
    refused(
        &world,
        3,
        &["--host", &target, "--method", "files-cp"],
        &["127.0.0.1", &port],
    );
    for command in ["check", "recover"] {
        world
            .run(&[command, "--host", &target])
            .assert_refused(3, &["127.0.0.1", &port]);
    }
}

#[test]
fn a_port_that_says_something_else_is_named() {
    let world = World::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("127.0.0.1:{}", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        use std::io::Write;
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(b"HTTP/1.1 400 \x1b[31mBad Request\r\n\r\n");
        }
    });
    refused(
        &world,
        3,
        &["--host", &target, "--method", "files-cp"],
        &[&target],
    );
}

#[test]
fn an_unknown_or_changed_host_key_is_refused_with_its_fingerprint() {
    let Some(lab) = Lab::new() else { return };
    let fingerprint = server::fingerprint(&lab.sshd.path("host_ed25519"));
    let run = ["--host", "lab", "--method", "files-cp"];
    let empty = lab.world.text("home/.ssh/known_hosts");
    lab.know(&empty);
    refused(&lab.world, 3, &run, &["lab", &fingerprint, &empty]);
    assert!(
        !lab.world.path("home/.ssh/known_hosts").exists(),
        "it was accepted"
    );
    // Another key is known for it.
    server::keygen("ed25519", "", &lab.sshd.path("other"));
    lab.sshd.know("other.pub");
    lab.know(&lab.sshd.known_hosts().display().to_string());
    refused(&lab.world, 3, &run, &["lab", &fingerprint, "changed"]);
}

#[test]
fn a_refused_login_is_named_with_what_was_tried() {
    let Some(lab) = Lab::new() else { return };
    fs::write(lab.sshd.path("authorized"), "").unwrap();
    let run = ["--host", "lab", "--method", "files-cp"];
    refused(&lab.world, 3, &run, &["lab", "login", "id_ed25519"]);
}

#[test]
fn one_host_that_cannot_be_reached_is_told_and_holds_up_no_other() {
    let world = World::new();
    let hosts = ["--host", "local", "--host", "no-such-host.invalid"];
    let run = [&hosts[..], &["--method", "files-cp", "--reps", "1"]].concat();
    let (ended, recording) = world.session("a.jsonl", &run);
    assert_eq!(ended.code, 3, "{}", ended.err);
    assert!(
        ended
            .err
            .lines()
            .any(|line| line.starts_with("comeback: no-such-host.invalid: resolve: ")),
        "{}",
        ended.err
    );
    assert_eq!(recording.ends(), ["ok"]);
    let down = recording.state("host", "down").next().unwrap();
    assert_eq!(
        (&down["host"], &down["phase"]),
        (&"no-such-host.invalid".into(), &"resolve".into())
    );
    let end = recording.of("end").last().unwrap();
    let reason = events::text(end, "reason");
    assert!(
        reason.starts_with("1 of 1 runs done and verified; not connected: no-such-host.invalid"),
        "{reason}"
    );
    world.assert_empty();
    // Where no host is left, nothing runs.
    let alone = ["--host", "no-such-host.invalid", "--method", "files-cp"];
    refused(&world, 3, &alone, &["no-such-host.invalid"]);
    let check = world.run(&[&["check"], &hosts[..], &["--method", "files-cp"]].concat());
    assert_eq!(check.code, 3, "{}", check.err);
    for line in [
        "local\n  system",
        "no-such-host.invalid\n  down        resolve: ",
    ] {
        assert!(check.out.contains(line), "{line:?}: {}", check.out);
    }
    let left = world.run(&[&["recover"], &hosts[..]].concat());
    assert_eq!(left.code, 3, "{}", left.err);
    assert_eq!(left.out, "local: nothing is left\n");
    assert!(
        left.err.contains("no-such-host.invalid: resolve"),
        "{}",
        left.err
    );
}

#[test]
fn an_unknown_theme_is_named_where_a_screen_is_wanted() {
    // Without a terminal that is said first; with one the theme is (see the tests in a terminal).
    let world = World::new();
    let ended = world.run(&["--theme", "nonsense"]);
    assert_eq!(ended.code, 2);
    ended.sentence();
}
