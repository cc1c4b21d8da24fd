//! Pipes between hosts, through this machine: whole, broken and stopped.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/pair.rs"]
mod pair;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/world.rs"]
mod world;

use events::{Recording, text};
use going::{Going, wait_until};
use pair::{Pair, method};
use rustix::process::Signal;
use serde_json::Value;

/// Bytes that do not end by themselves.
const ENDLESS: &str = "exec cat /dev/zero";

fn arguments(source: &str, target: &str, method: &str) -> Vec<String> {
    let target = format!("target={target}");
    [
        "--host", source, "--role", &target, "--method", method, "--reps", "1",
    ]
    .map(ToOwned::to_owned)
    .into()
}

fn session(
    pair: &Pair,
    source: &str,
    target: &str,
    method: &str,
    more: &[&str],
) -> (world::Ended, Recording) {
    let arguments = arguments(source, target, method);
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.extend(more);
    pair.world
        .session(&format!("{source}-{target}-{method}.jsonl"), &arguments)
}

fn start(pair: &Pair, record: &str, source: &str, target: &str, method: &str) -> Going {
    let more = arguments(source, target, method);
    let more: Vec<&str> = more.iter().map(String::as_str).collect();
    let record = format!("{record}.jsonl");
    let arguments = pair.world.arguments(&record, &more);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Going::start(pair.world.command(&arguments))
}

/// Waits until so many bytes have gone through.
fn until_through(going: &mut Going, bytes: u64) {
    going.until_started("send");
    going.until(|event| event["ev"] == "progress" && event["done"].as_u64() >= Some(bytes));
}

fn sample<'a>(recording: &'a Recording, name: &str) -> Option<&'a Value> {
    let mut samples = recording.of("sample");
    samples.find(|sample| sample["name"] == name)
}

fn assert_nothing_runs(session: &str) {
    wait_until("what both hosts had for it is gone", || {
        processes::of_session(session).is_empty()
    });
}

/// The parts of targets that are left.
fn parts(pair: &Pair) -> Vec<String> {
    let all = world::entries(&pair.world.sandbox());
    all.into_iter()
        .filter(|name| name.ends_with("-part"))
        .collect()
}

#[test]
fn a_tree_goes_from_any_host_to_any_other_and_back() {
    let Some(pair) = Pair::new() else { return };
    for (source, target) in [
        ("lab", "vault"),
        ("lab", "local"),
        ("local", "vault"),
        ("lab", "lab"),
        ("local", "local"),
    ] {
        let (run, recording) = session(
            &pair,
            source,
            target,
            "files-stream",
            &["--set", "hashed=true", "--format", "json"],
        );
        run.assert_good();
        let row = &run.json()["rows"][0];
        assert_eq!(row["verified"]["matched"], 1, "{source} → {target}");
        let sent = recording.end_of("backup");
        assert_eq!(sent["clock"], "here");
        assert_eq!(sent["status"], serde_json::json!([0, 0]));
        let hosts: Vec<&str> = sent["sides"]
            .as_array()
            .unwrap()
            .iter()
            .map(|side| text(side, "host"))
            .collect();
        assert_eq!(hosts, [source, target]);
        assert!(
            sent["sides"]
                .as_array()
                .unwrap()
                .iter()
                .all(|side| side["stamps"]["start"].is_number()
                    || side["stamps"]["start"].is_string()),
            "{sent}"
        );
        assert!(sample(&recording, "through").unwrap()["value"].as_f64() > Some(256.0 * 1024.0));
        let sums: Vec<&str> = recording
            .of("value")
            .filter(|value| value["name"] == "sent" || value["name"] == "received")
            .map(|value| text(value, "value"))
            .collect();
        assert!(
            sums.len() == 2 && sums.iter().all(|sum| sum.len() == 64),
            "{sums:?}"
        );
        assert_eq!(processes::left_of(&recording.session()), [""; 0]);
        pair.world.assert_empty();
        let record = format!("{source}-{target}-files-stream.jsonl");
        pair.world
            .run(&["report", &record, "--format", "json"])
            .assert_good();
        pair.world
            .run(&["replay", &record, "--plain", "--speed", "1000"])
            .assert_good();
    }
}

#[test]
fn the_bytes_are_the_same_and_so_is_their_sum() {
    let Some(pair) = Pair::new() else { return };
    let more = "hashed = \"true\"\ngives = { sum = \"sha256\" }\n\n[[step]]\nname = \"sums\"\nphase = \"account\"\non = \"target\"\nrun = \"sha256sum {{ box }}-part; printf '%s\\n' {{ sum }}; stat -c %s {{ box }}-part\"\n";
    pair.world.method(
        "sums",
        &method(
            "head -c 9000001 /dev/urandom | tee {{ box }}/sent; sha256sum {{ box }}/sent >&2",
            "cat >{part}",
            more,
        ),
    );
    let (run, recording) = session(&pair, "lab", "vault", "sums", &[]);
    // Nothing is compared with what it was: it was not verified.
    assert_eq!(run.code, 1, "{}", run.err);
    let said = String::from_utf8(recording.out_of("sums")).unwrap();
    let words: Vec<&str> = said.split_whitespace().collect();
    assert_eq!(words[0], words[2]);
    assert_eq!(words[3], "9000001");
    assert_eq!(sample(&recording, "through").unwrap()["value"], 9_000_001.0);
    let err: String = recording
        .of("log")
        .filter(|chunk| chunk["stream"] == "err")
        .map(|chunk| text(chunk, "text"))
        .collect();
    assert!(err.contains(words[0]), "{err}");
    pair.world.assert_empty();
}

#[test]
fn the_cause_is_of_the_side_that_failed() {
    let Some(pair) = Pair::new() else { return };
    for (name, from, to, cause, statuses) in [
        (
            "sender",
            "head -c 3000000 /dev/zero; echo 'disk on fire' >&2; exit 7",
            "cat >{part}; touch {part}.whole",
            "lab: disk on fire (status [7])",
            [7, 143],
        ),
        (
            "receiver",
            ENDLESS,
            "head -c 2000000 >{part}; echo 'no room' >&2; exit 9",
            "vault: no room (status [9])",
            [143, 9],
        ),
        (
            "early",
            ENDLESS,
            "head -c 2000000 >{part}",
            "vault ended with status 0 after",
            [143, 0],
        ),
    ] {
        pair.world.method(name, &method(from, to, ""));
        let (run, recording) = session(&pair, "lab", "vault", name, &[]);
        assert_eq!(run.code, 1, "{}", run.err);
        let end = recording.end_of("send");
        assert_eq!(end["end"], "failed");
        assert!(text(end, "cause").contains(cause), "{end}");
        let found: Vec<i64> = end["status"]
            .as_array()
            .unwrap()
            .iter()
            .map(|code| code.as_i64().unwrap())
            .collect();
        assert_eq!(found[1], statuses[1], "{name}: {found:?}");
        // One that is stopped may find its output gone before.
        let stopped = statuses[0] == 143 && found[0] == 141;
        assert!(stopped || found[0] == statuses[0], "{name}: {found:?}");
        // The part that arrived was announced, found, and taken away.
        let (_, state, at) = recording.leaves().pop().unwrap();
        assert_eq!(state, "undone", "{name}");
        assert!(at.is_some_and(|at| at.ends_with("-part")), "{name}");
        assert_nothing_runs(&recording.session());
        pair.world.assert_empty();
    }
}

#[test]
fn a_connection_that_breaks_fails_the_stream_and_both_sides_end() {
    let Some(pair) = Pair::new() else { return };
    pair.world.method(
        "endless",
        &method(ENDLESS, "cat >{part}; touch {part}.whole", ""),
    );
    for (which, sshd) in [("lab", &pair.lab), ("vault", &pair.vault)] {
        let mut going = start(&pair, which, "lab", "vault", "endless");
        until_through(&mut going, 1 << 20);
        sshd.cut();
        let ended = going.wait();
        assert_eq!(ended.code, 1, "{}", ended.err);
        let end = going.heard.end_of("send");
        assert_eq!(end["end"], "failed");
        let cause = text(end, "cause");
        assert!(
            cause.contains(&format!(
                "the stream's connection to {which} was lost after"
            )),
            "{cause}"
        );
        assert_nothing_runs(&going.session());
        pair.world.assert_empty();
    }
}

#[test]
fn a_stop_reaches_both_sides() {
    let Some(pair) = Pair::new() else { return };
    pair.world.method(
        "endless",
        &method(ENDLESS, "cat >{part}; touch {part}.whole", ""),
    );
    for (source, target) in [("lab", "vault"), ("lab", "lab")] {
        println!("{source} to {target}");
        let mut going = start(&pair, target, source, target, "endless");
        until_through(&mut going, 1 << 20);
        going.signal(Signal::TERM);
        let ended = going.wait();
        assert_eq!(ended.code, 130, "{}", ended.err);
        assert_eq!(going.heard.end_of("send")["end"], "stopped");
        assert!(!ended.err.contains("still there"), "{}", ended.err);
        assert_eq!(processes::left_of(&going.session()), [""; 0]);
        pair.world.assert_empty();
    }
}

#[test]
fn a_slow_receiver_holds_the_sender_back() {
    let Some(pair) = Pair::new() else { return };
    let slow = "while head -c 65536 | grep -q ''; do sleep 0.2; done >{part}";
    pair.world.method("slow", &method(ENDLESS, slow, ""));
    let mut going = start(&pair, "r", "lab", "vault", "slow");
    until_through(&mut going, 1 << 20);
    std::thread::sleep(std::time::Duration::from_secs(2));
    let peak = processes::peak_memory(going.pid());
    going.signal(Signal::TERM);
    assert_eq!(going.wait().code, 130);
    let through = going
        .heard
        .of("progress")
        .filter_map(|event| event["done"].as_u64())
        .max();
    assert!(
        through < Some(64 << 20),
        "nothing held it back: {through:?}"
    );
    assert!(peak < 128 << 20, "{peak} bytes of memory");
    pair.world.assert_empty();
}

#[test]
fn what_a_killed_program_left_is_found_again() {
    let Some(pair) = Pair::new() else { return };
    pair.world.method(
        "endless",
        &method(ENDLESS, "cat >{part}; touch {part}.whole", ""),
    );
    let mut going = start(&pair, "r", "lab", "vault", "endless");
    until_through(&mut going, 1 << 20);
    going.signal(Signal::KILL);
    going.wait();
    assert_nothing_runs(&going.session());
    let left = parts(&pair);
    // It never took the end of its connection for the end of the stream.
    assert_eq!(left.len(), 1, "{left:?}");
    let named = pair.world.run(&["recover", "--host", "vault"]);
    assert!(named.assert_good().out.contains(&left[0]), "{}", named.out);
    for host in ["vault", "lab"] {
        pair.world
            .run(&["recover", "--host", host, "--remove"])
            .assert_good();
    }
    pair.world.assert_empty();
}

#[test]
fn a_host_that_is_gone_is_told_and_not_waited_for() {
    let Some(mut pair) = Pair::new() else { return };
    pair.set("vault", "gone_after = \"2s\"");
    pair.world.method(
        "endless",
        &method(ENDLESS, "cat >{part}; touch {part}.whole", ""),
    );
    let mut going = start(&pair, "r", "lab", "vault", "endless");
    until_through(&mut going, 1 << 20);
    pair.vault.kill();
    let ended = going.wait();
    assert_eq!(ended.code, 3, "{}", ended.err);
    let end = going.heard.end_of("send");
    assert_eq!(end["end"], "failed");
    // Nor is it looked for there as long as at another: the run has the step's reason.
    let cause = text(going.heard.state("run", "ended").next().unwrap(), "cause");
    assert_eq!(cause, format!("send: {}", text(end, "cause")));
    let down = going
        .heard
        .of("host")
        .filter(|event| event["state"] == "down");
    let down: Vec<&str> = down.map(|event| text(event, "host")).collect();
    assert_eq!(down, ["vault"]);
    assert_nothing_runs(&going.session());
    pair.vault.restart();
    pair.world
        .run(&["recover", "--host", "vault", "--remove"])
        .assert_good();
    pair.world.assert_empty();
}

/// More sides than commands run at once there.
#[test]
fn many_sides_are_on_one_host() {
    let Some(pair) = Pair::new() else { return };
    let through = |from: &str| {
        let side = |role| format!("echo said >&2; cat''' }}, {{ on = \"{role}\", run = '''");
        let from = format!("{from}''' }}, {{ on = \"server\", run = '''");
        let text = [from, side("source"), side("server"), "cat".to_owned()].concat();
        method(&text, "cat >{part}", "").replace("\"target\"]", "\"target\", \"server\"]")
    };
    let server = ["--role", "server=lab"];
    pair.world
        .method("five", &through("head -c 3000000 /dev/zero"));
    let (run, recording) = session(&pair, "lab", "lab", "five", &server);
    let end = recording.end_of("send");
    assert_eq!(end["end"], "ok", "{}", run.err);
    assert_eq!(end["sides"].as_array().unwrap().len(), 5);
    assert_eq!(sample(&recording, "through").unwrap()["value"], 3_000_000.0);
    pair.world.assert_empty();

    pair.world.method("endless", &through(ENDLESS));
    let mut more = arguments("lab", "lab", "endless");
    more.extend(server.map(ToOwned::to_owned));
    let more: Vec<&str> = more.iter().map(String::as_str).collect();
    let arguments = pair.world.arguments("r.jsonl", &more);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut going = Going::start(pair.world.command(&arguments));
    until_through(&mut going, 1 << 20);
    going.signal(Signal::TERM);
    let ended = going.wait();
    assert_eq!(ended.code, 130, "{}", ended.err);
    assert!(!ended.err.contains("still there"), "{}", ended.err);
    assert_eq!(processes::left_of(&going.session()), [""; 0]);
    pair.world.assert_empty();
}
