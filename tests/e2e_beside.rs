//! Steps that go on beside others: what they measured is kept, and one that is over too early is
//! noticed.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/methods.rs"]
mod methods;
#[path = "support/world.rs"]
mod world;

use methods::{BESIDE, COPY, HEAD, step};
use world::World;

fn load(run: &str, more: &str) -> String {
    step("load", "prepare", run) + "background = \"load\"\n" + more
}

/// Until the load is over.
fn wait() -> String {
    step("a while", "prepare", "sleep 2")
}

const JOIN: &str = "\n[[step]]\nname  = \"load is over\"\nphase = \"protect\"\njoin  = \"load\"\n";

#[test]
fn a_load_that_fails_early_ends_the_run_with_its_reason() {
    let world = World::new();
    let load = load("echo 'the disk is gone' >&2; exit 3", "");
    world.method("dead", &[HEAD, &load, &wait(), COPY, BESIDE].concat());
    let (run, recording) = world.session("r.jsonl", &["--method", "dead", "--reps", "2"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(
        run.err
            .contains("load, which was to go on beside: the disk is gone"),
        "{}",
        run.err
    );
    assert_eq!(recording.ends(), ["failed"], "the session stops there");
    world.assert_empty();
}

/// A server that cannot begin is not waited for: what is told is why it could not.
#[test]
fn a_wait_for_what_has_failed_ends_with_its_reason() {
    let world = World::new();
    let server = load("echo 'the port is taken' >&2; exit 1", "");
    for (name, wait) in [
        (
            "by-port",
            r#"{ port = "1", banner = "220", limit = "10m" }"#,
        ),
        ("by-command", r#"{ until = "false", limit = "10m" }"#),
    ] {
        let wait =
            format!("\n[[step]]\nname  = \"answers\"\nphase = \"prepare\"\nwait  = {wait}\n");
        world.method(name, &[HEAD, &server, &wait, COPY, BESIDE].concat());
        let record = format!("{name}.jsonl");
        let (run, recording) = world.session(&record, &["--method", name, "--reps", "1"]);
        assert_eq!(run.code, 1, "{}", run.err);
        let why = "load, which was to go on beside: the port is taken";
        assert!(run.err.contains(why), "{}", run.err);
        assert_eq!(recording.ends(), ["failed"]);
        world.assert_empty();
    }
}

#[test]
fn a_load_that_is_over_too_early_is_said() {
    let world = World::new();
    let load = load("sleep 0.1", "");
    world.method("short", &[HEAD, &load, &wait(), COPY, BESIDE].concat());
    let (run, recording) = world.session("r.jsonl", &["--method", "short", "--reps", "1"]);
    run.assert_good();
    let says: Vec<_> = recording
        .of("note")
        .filter_map(|note| note["text"].as_str())
        .filter(|text| text.contains("was over before"))
        .collect();
    assert_eq!(
        says,
        ["load was over before backup began: from there on nothing was measured beside it"]
    );
    let measured = |name: &str| recording.of("sample").any(|sample| sample["name"] == name);
    assert!(!measured("backup"));
}

#[test]
fn what_ends_after_its_load_was_not_measured_beside_it() {
    let world = World::new();
    let load = load("sleep 3", "");
    let timed = |name: &str, run: &str| step(name, "protect", run) + "clock = \"host\"\n";
    let (short, long) = (timed("short", "sleep 0.1"), timed("long", "sleep 6"));
    world.method(
        "late",
        &[HEAD, &load, &short, &long, JOIN, COPY, BESIDE].concat(),
    );
    let (run, recording) = world.session("r.jsonl", &["--method", "late", "--reps", "1"]);
    run.assert_good();
    let measured = |name: &str| recording.of("sample").any(|sample| sample["name"] == name);
    assert!(measured("short") && !measured("long"));
    let said = recording.of("note").any(|note| {
        note["text"] == "load was over before long was: that was not measured beside it"
    });
    assert!(said);

    // One that ends in a pause was no load of what comes after that.
    let load = self::load("sleep 1", "");
    let turns = timed("turn", "true") + "each = { of = \"files\", pause = \"4s\" }\n";
    world.method("pause", &[HEAD, &load, &turns, JOIN, COPY, BESIDE].concat());
    let (run, recording) = world.session("p.jsonl", &["--method", "pause", "--reps", "1"]);
    run.assert_good();
    let turns = recording
        .of("sample")
        .filter(|sample| sample["name"] == "turn");
    assert_eq!(turns.count(), 1);
}

#[test]
fn a_load_that_fails_in_the_last_step_is_said_too() {
    let world = World::new();
    let load = load("sleep 1; echo 'the disk is gone' >&2; exit 3", "");
    let last = step("the last step", "cleanup", "sleep 3");
    world.method("late", &[HEAD, &load, COPY, BESIDE, &last].concat());
    let (run, recording) = world.session("r.jsonl", &["--method", "late", "--reps", "1"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(recording.ends(), ["warnings"]);
    let said = recording.of("note").any(|note| {
        note["text"]
            .as_str()
            .is_some_and(|text| text.contains("load had failed before the run was over"))
    });
    assert!(said);
}

#[test]
fn what_a_load_measured_is_kept_when_it_is_joined() {
    let world = World::new();
    let document = "{\n \"jobs\" : [ { \"write\" : { \"io_bytes\" : 4096000, \"bw_bytes\" : 2048000, \
                    \"lat_ns\" : { \"N\" : 9, \"max\" : 5000000, \"percentile\" : { \"99.000000\" : 1500000 } } } } ]\n}";
    let load = load(
        &format!("sleep 1; echo '{document}'"),
        "clock = \"host\"\nreads = \"fio\"\nfigures = [\"bandwidth\", \"latency_p99\"]\n",
    );
    let rate = "\n[[figure]]\nname  = \"moved a second\"\nunit  = \"B/s\"\nvalue = \"load_moved / load_seconds\"\n\
                \n[[clock]]\nname = \"whole load\"\nfrom = \"load start\"\nto   = \"load end\"\n";
    world.method("joined", &[HEAD, &load, JOIN, COPY, BESIDE, rate].concat());
    let (run, recording) = world.session("r.jsonl", &["--method", "joined", "--reps", "1"]);
    run.assert_good();
    let value = |name: &str| {
        let sample = recording.of("sample").find(|sample| sample["name"] == name);
        let sample = sample.unwrap_or_else(|| panic!("no sample {name:?}"));
        sample["value"].as_f64().unwrap()
    };
    assert!((value("bandwidth") - 2_048_000.0).abs() < 0.1);
    assert!((value("latency p99") - 0.001_5).abs() < 1e-9);
    let seconds = value("load");
    assert!(seconds >= 1.0);
    assert!((value("whole load") - seconds).abs() < 0.01);
    assert!((value("moved a second") - 4_096_000.0 / seconds).abs() < 1000.0);
    let says = recording
        .of("progress")
        .find_map(|event| event["says"].as_str());
    assert_eq!(says, Some("1.95 MiB/s, p99 1.50 ms, max 5.00 ms"));
}
