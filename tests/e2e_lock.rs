//! One session at a time has a named subject.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/methods.rs"]
mod methods;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/tree.rs"]
mod tree;
#[path = "support/world.rs"]
mod world;

use std::fs;
use std::path::Path;

use going::{Going, wait_until};
use methods::{BESIDE, COPY, HEAD, step};
use rustix::process::Signal;
use world::World;

struct Shared {
    world: World,
    what: String,
}

impl Shared {
    /// A subject, and a method that has it until a file is there.
    fn new() -> Self {
        let world = World::new();
        tree::plant(&world.path("data"));
        let wait = format!("while [ ! -e '{}' ]; do sleep 0.05; done", world.text("go"));
        let hold = step("hold", "protect", &wait);
        world.method("hold", &[HEAD, &hold, COPY, BESIDE].concat());
        let what = format!("dir:{}", world.text("data"));
        Self { world, what }
    }

    /// Starts a session that has the subject, and waits until it does.
    fn hold(&self) -> Going {
        let arguments = ["--method", "hold", "--subject", &self.what, "--reps", "1"];
        let arguments = self.world.arguments("holds.jsonl", &arguments);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut going = Going::start(self.world.command(&arguments));
        going.until_started("hold");
        going
    }

    fn other(&self, record: &str) -> (world::Ended, events::Recording) {
        let arguments = [
            "--method",
            "files-cp",
            "--subject",
            &self.what,
            "--reps",
            "1",
        ];
        self.world.session(record, &arguments)
    }
}

#[test]
fn a_second_session_is_refused_and_told_who_has_the_subject_since_when() {
    let shared = Shared::new();
    let mut first = shared.hold();
    let (run, recording) = shared.other("refused.jsonl");
    let year = chrono::Utc::now().format("%Y-").to_string();
    assert_eq!(run.code, 4, "{}", run.err);
    for word in [&*first.session(), &*shared.what, "since", &*year] {
        assert!(run.err.contains(word), "{word}: {}", run.err);
    }
    let lock = recording.of("lock").last().unwrap();
    assert_eq!(lock["state"], "refused");
    assert!(events::text(lock, "holder").contains(&first.session()));
    assert!(events::text(lock, "since").starts_with(&year));
    assert_eq!(recording.state("step", "planned").count(), 0);
    assert_eq!(recording.exit(), Some(4));
    // What the refused one leaves is nothing; what the other holds stays.
    let names = world::entries(&shared.world.state());
    assert_eq!(names, [first.session()]);
    fs::write(shared.world.path("go"), "").unwrap();
    let ended = first.wait();
    assert_eq!(ended.code, 0, "{}", ended.err);
    shared.other("later.jsonl").0.assert_good();
    shared.world.assert_empty();
}

#[test]
fn the_same_folder_by_another_name_is_the_same_subject() {
    let shared = Shared::new();
    let mut first = shared.hold();
    std::os::unix::fs::symlink(shared.world.path("data"), shared.world.path("alias")).unwrap();
    for name in ["alias", "data/", "home/../data"] {
        let what = format!("dir:{}", shared.world.text(name));
        let record = format!("{}.jsonl", name.replace('/', "-"));
        let arguments = ["--method", "files-cp", "--subject", &what, "--reps", "1"];
        let (run, _) = shared.world.session(&record, &arguments);
        assert_eq!(run.code, 4, "{name}: {}", run.err);
    }
    fs::write(shared.world.path("go"), "").unwrap();
    assert_eq!(first.wait().code, 0);
}

#[test]
fn sessions_with_subjects_of_their_own_do_not_wait_for_each_other() {
    let shared = Shared::new();
    let mut first = shared.hold();
    let (run, recording) = shared
        .world
        .session("own.jsonl", &["--method", "files-cp", "--reps", "1"]);
    run.assert_good();
    assert_eq!(recording.of("lock").count(), 0);
    fs::write(shared.world.path("go"), "").unwrap();
    assert_eq!(first.wait().code, 0);
}

#[test]
fn the_lock_of_a_killed_session_is_named_and_given_back() {
    let shared = Shared::new();
    let mut first = shared.hold();
    let session = first.session();
    first.signal(Signal::KILL);
    assert_eq!(first.wait().code, 137);
    // The lock outlives its session.
    let (run, _) = shared.other("refused.jsonl");
    assert_eq!(run.code, 4, "{}", run.err);
    for word in [&session, "comeback recover"] {
        assert!(run.err.contains(word), "{word}: {}", run.err);
    }
    let mut named = String::new();
    wait_until("nobody keeps the session", || {
        named = shared.world.run(&["recover"]).assert_good().out.clone();
        !named.contains("goes on")
    });
    assert!(
        named.contains(&format!("lock on {}", shared.what)),
        "{named}"
    );
    assert!(named.contains(&session), "{named}");
    let lock = named
        .split_whitespace()
        .find(|word| {
            word.starts_with('/')
                && word.contains("/comeback-")
                && Path::new(word).join("holder").exists()
        })
        .unwrap_or_else(|| panic!("it does not say where the lock is: {named}"))
        .to_owned();
    shared.world.run(&["recover", "--remove"]).assert_good();
    assert!(!Path::new(&lock).exists());
    assert_eq!(processes::left_of(&session), [""; 0]);
    shared.world.assert_empty();
    shared.other("later.jsonl").0.assert_good();
}

#[test]
fn a_recovery_leaves_the_lock_of_another_session_alone() {
    let shared = Shared::new();
    let mut killed = shared.hold();
    killed.signal(Signal::KILL);
    killed.wait();
    let session = killed.session();
    wait_until("it is recovered", || {
        let done = shared.world.run(&["recover", "--remove"]);
        !done.out.contains("goes on") && world::entries(&shared.world.state()).is_empty()
    });
    let mut second = Going::start({
        let arguments = ["--method", "hold", "--subject", &shared.what, "--reps", "1"];
        let arguments = shared.world.arguments("second.jsonl", &arguments);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        shared.world.command(&arguments)
    });
    second.until_started("hold");
    // The recording of the first still says that it has a lock on the subject.
    let again = shared.world.run(&["recover", "holds.jsonl", "--remove"]);
    again.assert_good();
    assert!(!again.out.contains(&second.session()), "{}", again.out);
    assert!(
        again.out.contains("nothing is left"),
        "{}: {}",
        session,
        again.out
    );
    let (run, _) = shared.other("refused.jsonl");
    assert_eq!(run.code, 4, "{}", run.err);
    fs::write(shared.world.path("go"), "").unwrap();
    assert_eq!(second.wait().code, 0);
    shared.world.assert_empty();
}
