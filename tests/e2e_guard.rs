//! What destroys a subject runs only on one that is marked, named by the operator, proved to have
//! a copy, and still the same.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/methods.rs"]
mod methods;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/pair.rs"]
mod pair;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/tree.rs"]
mod tree;
#[path = "support/world.rs"]
mod world;

use std::fs;
use std::path::PathBuf;

use methods::{BACK, BESIDE, COPY, DESTROY, HEAD, step};
use pair::Pair;
use world::{Ended, World};

struct Marked {
    world: World,
    root: PathBuf,
    what: String,
}

impl Marked {
    /// A marked subject, and a method that destroys it and brings it back.
    fn new() -> Self {
        let world = World::new();
        let root = world.path("data");
        tree::plant(&root);
        fs::write(root.join(".comeback-subject"), "").unwrap();
        world.method("in-place", &[HEAD, COPY, DESTROY, BACK].concat());
        let what = format!("dir:{}", root.display());
        Self { world, root, what }
    }

    fn run(&self, method: &str, more: &[&str]) -> (Ended, events::Recording) {
        let arguments = ["--method", method, "--subject", &self.what, "--reps", "1"];
        self.world
            .session("r.jsonl", &[&arguments[..], more].concat())
    }

    fn allowed(&self, method: &str) -> (Ended, events::Recording) {
        self.run(method, &["--destroy", &format!("{}=data", self.what)])
    }
}

#[test]
fn an_unmarked_subject_is_never_destroyed() {
    let marked = Marked::new();
    fs::remove_file(marked.root.join(".comeback-subject")).unwrap();
    let before = tree::look(&marked.root);
    for (run, recording) in [marked.run("in-place", &[]), marked.allowed("in-place")] {
        run.assert_refused(4, &["delete the original", &marked.what, "mark"]);
        assert!(recording.0.is_empty());
    }
    assert_eq!(tree::look(&marked.root), before);
    marked.world.assert_empty();
}

#[test]
fn a_marked_subject_is_destroyed_only_by_its_name() {
    let marked = Marked::new();
    let before = tree::look(&marked.root);
    let (run, _) = marked.run("in-place", &[]);
    run.assert_refused(4, &["delete the original", "--destroy", &marked.what]);
    let (run, _) = marked.run("in-place", &["--destroy", "dir:/somewhere/else=data"]);
    run.assert_refused(4, &["delete the original", "--destroy"]);
    let (run, _) = marked.run("in-place", &["--destroy", &marked.what]);
    run.assert_refused(2, &["--destroy", "NAME"]);
    let (run, _) = marked.run(
        "in-place",
        &["--destroy", &format!("{}=other", marked.what)],
    );
    assert_eq!(
        run.code, 4,
        "the wrong name is no confirmation: {}",
        run.err
    );
    assert_eq!(tree::look(&marked.root), before);
    marked.world.assert_empty();
}

#[test]
fn with_a_mark_a_name_and_a_proof_it_is_destroyed_and_comes_back() {
    let marked = Marked::new();
    let inode = |path: &PathBuf| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
    let names = world::entries(&marked.root);
    let old = inode(&marked.root.join("plain"));
    let (run, recording) = marked.allowed("in-place");
    run.assert_good();
    assert_eq!(recording.ends(), ["ok"]);
    assert_ne!(
        inode(&marked.root.join("plain")),
        old,
        "it was not replaced"
    );
    assert_eq!(world::entries(&marked.root), names);
    // What was confirmed is in the recording, before the step that relies on it.
    assert!(
        recording
            .of("act")
            .any(|act| act["text"].as_str().unwrap_or("").contains(&marked.what))
    );
    marked.world.assert_empty();
}

#[test]
fn a_copy_that_is_not_proved_is_not_relied_on() {
    let marked = Marked::new();
    let before = tree::look(&marked.root);
    let unproved = COPY.replace("proves = \"copy\"\n", "");
    marked
        .world
        .method("unproved", &[HEAD, &unproved, DESTROY, BACK].concat());
    let (run, recording) = marked.allowed("unproved");
    assert!(run.code == 4 || run.code == 2, "{}: {}", run.code, run.err);
    assert!(
        run.err.contains("proof") || run.err.contains("proves"),
        "{}",
        run.err
    );
    assert_eq!(tree::look(&marked.root), before);
    if !recording.0.is_empty() {
        marked
            .world
            .run(&["recover", "r.jsonl", "--remove"])
            .assert_good();
    }
    marked.world.assert_empty();
}

#[test]
fn a_proof_that_fails_is_not_relied_on() {
    let marked = Marked::new();
    let before = tree::look(&marked.root);
    let spoil = step("spoil", "protect", "printf x >>{{ box }}/copy/plain");
    let (copy, proof) = COPY.split_at(COPY.rfind("[[step]]").unwrap());
    let text = format!("{HEAD}{copy}{spoil}\n{proof}{DESTROY}{BACK}");
    marked.world.method("spoiled", &text);
    let (run, recording) = marked.allowed("spoiled");
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(
        recording
            .state("step", "planned")
            .all(|step| step["name"] != "delete the original")
    );
    assert_eq!(tree::look(&marked.root), before);
    marked
        .world
        .run(&["recover", "r.jsonl", "--remove"])
        .assert_good();
    marked.world.assert_empty();
}

#[test]
fn a_proof_of_another_copy_is_not_relied_on() {
    let marked = Marked::new();
    let before = tree::look(&marked.root);
    let wrong = DESTROY.replace("relies-on = \"copy\"", "relies-on = \"box\"");
    marked
        .world
        .method("wrong", &[HEAD, COPY, &wrong, BACK].concat());
    let (run, recording) = marked.allowed("wrong");
    assert!(run.code == 4 || run.code == 2, "{}: {}", run.code, run.err);
    assert!(run.err.contains("box"), "{}", run.err);
    assert_eq!(tree::look(&marked.root), before);
    if !recording.0.is_empty() {
        marked
            .world
            .run(&["recover", "r.jsonl", "--remove"])
            .assert_good();
    }
    marked.world.assert_empty();
}

#[test]
fn a_target_that_was_replaced_meanwhile_is_not_destroyed() {
    for (phase, swap) in [
        // Another folder of the same name.
        (
            "account",
            "mv {{ subject }} {{ subject ~ '.old' }} && mkdir {{ subject }} && touch {{ subject }}/precious",
        ),
        // A link to a place that nobody showed.
        (
            "account",
            "mv {{ subject }} {{ subject ~ '.old' }} && ln -s {{ subject ~ '.old' }} {{ subject }}",
        ),
        // As early as it can be.
        (
            "prepare",
            "mv {{ subject }} {{ subject ~ '.old' }} && cp -a {{ subject ~ '.old' }} {{ subject }}",
        ),
    ] {
        let marked = Marked::new();
        let swap = step("swap", phase, swap);
        let text = match phase {
            "prepare" => HEAD.replacen("\n[[step]]", &format!("{swap}\n[[step]]"), 1) + COPY,
            _ => [HEAD, COPY, &swap].concat(),
        };
        marked
            .world
            .method("swapped", &[&text, DESTROY, BACK].concat());
        let (run, recording) = marked.allowed("swapped");
        assert_eq!(run.code, 4, "{}", run.err);
        assert!(run.err.contains("no longer what was shown"), "{}", run.err);
        assert!(recording.state("step", "ended").count() > 0);
        assert!(marked.root.symlink_metadata().is_ok(), "it was destroyed");
        assert!(marked.world.path("data.old/plain").exists());
        // The copy is kept: nobody knows what that step did.
        assert!(!world::entries(&marked.world.sandbox()).is_empty());
        marked
            .world
            .run(&["recover", "r.jsonl", "--remove"])
            .assert_good();
        marked.world.assert_empty();
    }
}

#[test]
fn a_mark_speaks_for_nothing_beside_its_subject() {
    let marked = Marked::new();
    let other = marked.world.path("other");
    tree::plant(&other);
    let before = tree::look(&other);
    let what = format!("dir:{}", other.display());
    let destroy = DESTROY.replace("{{ subject }}", &other.display().to_string());
    marked
        .world
        .method("other", &[HEAD, COPY, &destroy, BACK].concat());
    let (run, _) = marked.run("other", &["--destroy", &format!("{what}=other")]);
    run.assert_refused(4, &["delete the original", &what, "mark"]);
    assert_eq!(tree::look(&other), before);
    marked.world.assert_empty();
}

#[test]
fn a_folder_whose_name_ends_like_a_mark_is_not_marked() {
    let world = World::new();
    let root = world.path("data\nmarked");
    tree::plant(&root);
    let before = tree::look(&root);
    world.method("in-place", &[HEAD, COPY, DESTROY, BACK].concat());
    let what = format!("dir:{}", root.display());
    let (run, _) = world.session(
        "r.jsonl",
        &[
            "--method",
            "in-place",
            "--subject",
            &what,
            "--destroy",
            &format!("{what}=data\nmarked"),
        ],
    );
    run.assert_refused(4, &["delete the original", "mark"]);
    assert_eq!(tree::look(&root), before);
}

#[test]
fn what_the_session_made_itself_needs_no_word() {
    let world = World::new();
    let (run, recording) = world.session("r.jsonl", &["--method", "files-cp", "--reps", "1"]);
    run.assert_good();
    assert!(
        recording
            .state("step", "planned")
            .any(|step| step.get("destroys").is_some())
    );
    world.assert_empty();
}

#[test]
fn what_lies_outside_of_the_scratch_folder_is_not_its_own() {
    let world = World::new();
    let precious = world.path("precious");
    tree::plant(&precious);
    let before = tree::look(&precious);
    for (at, path) in [
        format!("'{}'", precious.display()),
        "{{ box ~ '/../../precious' }}".to_owned(),
        "{{ box ~ '/data/../../../precious' }}".to_owned(),
    ]
    .iter()
    .enumerate()
    {
        let name = format!("outside-{at}");
        let target = path.trim_matches('\'');
        let destroy = format!(
            "\n[[step]]\nname = \"destroy\"\nphase = \"damage\"\nrun = \"rm -rf -- {path}\"\n\
             destroys = {{ what = \"dir:{target}\", relies-on = \"copy\" }}\n"
        );
        world.method(&name, &[HEAD, COPY, &destroy, BACK].concat());
        let record = format!("{name}.jsonl");
        let (run, recording) = world.session(&record, &["--method", &name, "--reps", "1"]);
        assert_eq!(run.code, 4, "{path}: {}", run.err);
        assert!(
            run.err.contains("not destroyed") || run.err.contains("mark"),
            "{}",
            run.err
        );
        assert_eq!(tree::look(&precious), before);
        if !recording.0.is_empty() {
            world.run(&["recover", &record, "--remove"]).assert_good();
        }
    }
    world.assert_empty();
}

#[test]
fn a_link_out_of_the_scratch_folder_leads_to_a_refusal() {
    let world = World::new();
    let precious = world.path("precious");
    fs::create_dir_all(precious.join("x")).unwrap();
    let link = format!(
        "\n[[step]]\nname = \"link\"\nphase = \"prepare\"\nrun = \"ln -s {} {{{{ box }}}}/l\"\n",
        precious.display()
    );
    let destroy = "\n[[step]]\nname = \"destroy\"\nphase = \"damage\"\nrun = \"rm -rf -- {{ box }}/l/x\"\ndestroys = { what = \"dir:{{ box }}/l/x\" }\n";
    world.method("sly", &[HEAD, &link, destroy].concat());
    let (run, _) = world.session("r.jsonl", &["--method", "sly", "--reps", "1"]);
    assert_eq!(run.code, 4, "{}", run.err);
    assert!(precious.join("x").is_dir());
}

#[test]
fn what_was_made_on_one_host_makes_nothing_of_the_same_name_on_another_its_own() {
    let Some(pair) = Pair::new() else { return };
    let head = HEAD.replace("[\"source\"]", "[\"source\", \"target\"]");
    assert_ne!(head, HEAD);
    let made = pair.world.path("made");
    let at = made.display();
    let make = format!(
        "\n[[step]]\nname = \"make\"\nphase = \"prepare\"\nrun = \"mkdir -- {at}\"\n\
         leaves = {{ id = \"made\", kind = \"sandbox\", find = \"if [ -d {at} ]; then printf '%s\\n' {at}; fi\", undo = \"rmdir -- {{{{ found }}}}\" }}\n"
    );
    for (on, code) in [("source", 0), ("target", 4)] {
        let destroy = format!(
            "\n[[step]]\nname = \"destroy\"\nphase = \"damage\"\non = \"{on}\"\nrun = \"rmdir -- {at}\"\n\
             destroys = {{ what = \"dir:{at}\", relies-on = \"copy\" }}\n"
        );
        pair.world
            .method(on, &[head.as_str(), &make, COPY, &destroy, BESIDE].concat());
        let record = format!("{on}.jsonl");
        let more = [
            "--host",
            "lab",
            "--role",
            "target=vault",
            "--method",
            on,
            "--reps",
            "1",
        ];
        let (run, _) = pair.world.session(&record, &more);
        assert_eq!(run.code, code, "{on}: {}", run.err);
        if code != 0 {
            assert!(
                run.err.contains("this session did not make it"),
                "{}",
                run.err
            );
            assert!(made.is_dir());
        }
    }
}
