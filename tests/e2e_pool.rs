//! Pools are watched while a run goes on, and it is stopped before one is full.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/methods.rs"]
mod methods;
#[path = "support/world.rs"]
mod world;

use std::fs;

use methods::{BACK, BESIDE, COPY, DESTROY, HEAD, step};
use world::World;

/// A pool whose fill stands in a file of the run's scratch folder.
const POOL: &str = r#"
[[pool]]
name  = "thin pool lab/pool"
read  = "cat -- {{ box }}/fill 2>/dev/null || :"
limit = 95
"#;

fn fill(name: &str, phase: &str, numbers: &str, then: &str) -> String {
    step(
        name,
        phase,
        &format!("echo '{numbers}' >{{{{ box }}}}/fill; {then}"),
    )
}

#[test]
fn what_fills_a_pool_is_stopped_and_nothing_is_left() {
    let world = World::new();
    let cases = [
        (
            "data",
            "95 100 5 100",
            "thin pool lab/pool on local is 95.0 % full",
        ),
        (
            "metadata",
            "5 100 97 100",
            "the metadata of thin pool lab/pool on local is 97.0 % full",
        ),
    ];
    for (name, numbers, says) in cases {
        let filling = fill("fill it", "protect", numbers, "sleep 300");
        world.method(name, &[HEAD, &filling, COPY, BESIDE, POOL].concat());
        let record = format!("{name}.jsonl");
        let (run, recording) = world.session(&record, &["--method", name, "--reps", "2"]);
        assert_eq!(run.code, 1, "{}", run.err);
        assert!(run.err.contains(says), "{}", run.err);
        assert_eq!(recording.ends(), ["failed"], "the session stops there");
        let told = recording.of("pool").last().unwrap();
        assert_eq!(told["pool"], "thin pool lab/pool");
        assert!(told["metadata"]["used"].is_u64());
        world.assert_empty();
    }
}

#[test]
fn a_pool_that_is_filled_beside_a_copy_is_given_all_of_it_back() {
    let world = World::new();
    let filling = fill("fill it", "account", "96 100", "sleep 300");
    world.method("late", &[HEAD, COPY, &filling, BESIDE, POOL].concat());
    let (run, recording) = world.session("r.jsonl", &["--method", "late", "--reps", "2"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.contains("96.0 % full"), "{}", run.err);
    assert_eq!(recording.ends(), ["failed"], "the session stops there");
    world.assert_empty();
}

#[test]
fn what_does_not_change_is_told_once_and_what_is_not_there_never() {
    let world = World::new();
    let later = fill("a while", "prepare", "20 100", "sleep 11");
    let gone = step("take it away", "cleanup", "rm -- {{ box }}/fill");
    world.method("calm", &[HEAD, &later, COPY, BESIDE, &gone, POOL].concat());
    let (run, recording) = world.session("r.jsonl", &["--method", "calm", "--reps", "1"]);
    run.assert_good();
    let told: Vec<_> = recording.of("pool").collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["data"]["used"], 20);
    assert!(told[0].get("metadata").is_none());
    assert_eq!(recording.of("note").count(), 0);
}

#[test]
fn a_pool_that_cannot_be_read_is_said_once_and_stops_nothing() {
    let world = World::new();
    let odd = fill("a while", "prepare", "lots", "sleep 6");
    world.method("odd", &[HEAD, &odd, COPY, BESIDE, POOL].concat());
    let (run, recording) = world.session("r.jsonl", &["--method", "odd", "--reps", "1"]);
    run.assert_good();
    let says: Vec<_> = recording
        .of("note")
        .filter_map(|note| note["text"].as_str())
        .filter(|text| text.contains("thin pool lab/pool"))
        .collect();
    assert_eq!(says.len(), 1, "{says:?}");
    assert!(
        says[0].contains("not available, because \"lots\""),
        "{says:?}"
    );
}

#[test]
fn a_full_pool_does_not_stop_what_brings_a_named_subject_back() {
    let world = World::new();
    let root = world.path("data");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("file"), "of somebody").unwrap();
    fs::write(root.join(".comeback-subject"), "").unwrap();
    let full = fill("fill it", "restore", "99 100", "sleep 12");
    world.method("named", &[HEAD, COPY, DESTROY, &full, BACK, POOL].concat());
    let subject = format!("dir:{}", root.display());
    let destroy = format!("{subject}=data");
    let arguments = [
        "--method",
        "named",
        "--reps",
        "1",
        "--subject",
        &subject,
        "--destroy",
        &destroy,
    ];
    let (run, recording) = world.session("r.jsonl", &arguments);
    run.assert_good();
    assert_eq!(
        fs::read_to_string(root.join("file")).unwrap(),
        "of somebody"
    );
    let warned = recording.of("note").filter(|note| {
        note["level"] == "warning"
            && note["text"].as_str().is_some_and(|text| {
                text.contains("99.0 % full") && text.contains("brought back first")
            })
    });
    assert_eq!(warned.count(), 1);
}

#[test]
fn what_is_wrong_with_a_pool_is_said_with_its_line() {
    let world = World::new();
    let cases = [
        ("limit = 95", "limit = 0", "limit: 0 is no percentage"),
        (
            "limit = 95",
            "floor = \"much\"",
            "\"much\" is no number of bytes",
        ),
        (
            "{{ box }}/fill",
            "{{ bx }}/fill",
            "read: \"bx\" is neither a setting nor a fact",
        ),
        (
            "limit = 95",
            "on = \"target\"",
            "\"target\" is no role of this method",
        ),
    ];
    for (from, to, says) in cases {
        world.method(
            "wrong",
            &[HEAD, COPY, BESIDE, &POOL.replace(from, to)].concat(),
        );
        let run = world.run(&["methods", "show", "wrong"]);
        assert_eq!(run.code, 2, "{}", run.err);
        assert!(run.err.contains(says), "{}", run.err);
        assert!(run.err.contains("wrong.toml:"), "{}", run.err);
    }
}

#[test]
fn a_dry_run_shows_how_pools_are_read() {
    let world = World::new();
    world.method("shown", &[HEAD, COPY, BESIDE, POOL].concat());
    let sandbox = world.sandbox().display().to_string();
    let run = world.run(&[
        "run",
        "--method",
        "shown",
        "--sandbox",
        &sandbox,
        "--dry-run",
    ]);
    run.assert_good();
    assert!(
        run.out
            .contains("how full thin pool lab/pool is, every 5 s · on local\ncat -- "),
        "{}",
        run.out
    );
}

#[test]
fn methods_share_pools_and_each_says_how_full_its_own_may_be() {
    let world = World::new();
    let folder = world.path("home/.config/comeback/methods/fragments");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("lab-fill.toml"),
        r#"
params = ["where"]

[[pool]]
name  = "pool {{ where }}"
read  = "cat -- {{ box }}/{{ where }} 2>/dev/null || :"
limit = 99
"#,
    )
    .unwrap();
    let shared = r#"
[[pool]]
use   = "lab-fill"
with  = { where = "fill" }
limit = 95
"#;
    let filling = fill("fill it", "protect", "95 100", "sleep 300");
    world.method("shared", &[HEAD, &filling, COPY, BESIDE, shared].concat());
    let (run, recording) = world.session("r.jsonl", &["--method", "shared", "--reps", "1"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(
        run.err
            .contains("pool fill on local is 95.0 % full, and 95 %"),
        "{}",
        run.err
    );
    assert_eq!(recording.of("pool").last().unwrap()["pool"], "pool fill");
    world.assert_empty();
}
