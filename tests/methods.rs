//! Method files: the built-in ones and drafts load, are checked and dry-run against fixture
//! facts; wrong ones say which line is wrong, and why.

#![cfg(test)]

#[path = "support/bound.rs"]
mod bounds;

use std::collections::BTreeMap;
use std::path::Path;

use bounds::{bound, hosts};
use comeback::engine::preview;
use comeback::method::{Bound, Catalogue, Request, Set, SubjectKind, bind};

fn steps(bound: &Bound) -> Vec<&str> {
    bound.steps.iter().map(|step| step.name.as_str()).collect()
}

#[test]
fn a_condition_is_decided_in_the_plan() {
    let vm = Some((SubjectKind::Vm, "9001"));
    let beside = bound("pve-vzdump", vm, &[]);
    assert!(!steps(&beside).contains(&"destroy the guest"));
    let same = bound("pve-vzdump", vm, &[("place", "same")]);
    assert!(steps(&same).contains(&"destroy the guest"));
}

/// What a step leaves under a condition is not there, nor looked for, where that does not hold.
#[test]
fn what_is_left_under_a_condition_is_decided_in_the_plan() {
    let left = |method: &str, sets: &[(&str, &str)]| -> Vec<String> {
        let bound = bound(method, None, sets);
        let all = bound.steps.iter().flat_map(|step| &step.step.leaves);
        all.map(|leaves| leaves.id.clone()).collect()
    };
    assert_eq!(left("copy-ftp", &[]), ["box", "copy"]);
    let server = [("server", "nas.lab")];
    assert_eq!(left("copy-ftp", &server), ["box", "copy on the server"]);
    assert_eq!(left("copy-rsync", &[]), ["box", "copy"]);
    let server = [("server", "nas.lab/pool")];
    assert_eq!(left("copy-rsync", &server), ["box", "copy in the module"]);
}

/// So is what a fragment says of it.
#[test]
fn what_a_fragment_leaves_may_stand_under_a_condition() {
    let text = std::fs::read_to_string("tests/methods/wrong/leaves-fragment.toml").unwrap();
    let given = "pve-fill\", with = { conf = \"x\", disks = \"x\", archive = \"x\" }";
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("fragments")).unwrap();
    let left = "params = []\n[[leaves]]\nid = \"x\"\nkind = \"temp\"\nfind = \"echo x\"\nundo = \"rm {{ found }}\"\n";
    std::fs::write(folder.path().join("fragments/left.toml"), left).unwrap();
    let mut whens = Vec::new();
    for given_now in ["left\"", "left\", when = \"1 > 2\""] {
        let draft = text.replace(given, given_now);
        assert_ne!(draft, text);
        std::fs::write(folder.path().join("draft.toml"), draft).unwrap();
        let draft = Catalogue::load(Some(folder.path())).unwrap();
        let draft = draft.get("draft").unwrap();
        let leaves = draft.steps.iter().flat_map(|step| &step.leaves);
        whens.push(leaves.map(|one| one.when.clone()).collect::<Vec<_>>());
    }
    assert_eq!(whens, [vec![None], vec![Some("1 > 2".to_owned())]]);
}

#[test]
fn steps_of_a_group_take_turns() {
    let zfs = bound("zfs-snapshot", None, &[("snapshots", "1,20")]);
    let turns: Vec<_> = steps(&zfs)
        .into_iter()
        .filter(|name| name.starts_with("many: "))
        .collect();
    assert_eq!(
        turns,
        [
            "many: create 1",
            "many: list 1",
            "many: account 1",
            "many: snapshots 1",
            "many: delete 1",
            "many: create 20",
            "many: list 20",
            "many: account 20",
            "many: snapshots 20",
            "many: delete 20",
        ]
    );
    let none = bound("zfs-snapshot", None, &[]);
    assert!(!steps(&none).iter().any(|name| name.starts_with("many")));
}

#[test]
fn repetitions_are_unrolled_with_their_labels() {
    let zfs = bound(
        "zfs-experiment",
        None,
        &[("times", "2"), ("snapshots", "5,50")],
    );
    let names = steps(&zfs);
    assert!(
        names.contains(&"snapshot, under load 2") && !names.contains(&"snapshot, under load 3"),
        "{names:?}"
    );
    assert!(names.contains(&"many: list 50"));
    let second = zfs
        .steps
        .iter()
        .find(|step| step.name == "snapshot, under load 2")
        .unwrap();
    assert_eq!(second.pause, Some(5.0));
    assert_eq!(second.labels.get("i").map(String::as_str), Some("2"));
}

#[test]
fn roles_are_different_hosts() {
    let ftp = bound("draft-ftp", None, &[]);
    assert_eq!((ftp.host("source"), ftp.host("server")), ("pve1", "nas"));
}

/// The commands of `pve-pbs` with a store of its own, by host.
fn store_on(
    server: Option<&str>,
    machine: &str,
    sets: &[(&str, &str)],
) -> BTreeMap<String, String> {
    let catalogue = Catalogue::load(None).unwrap();
    let mut request = Request::each(&["pve1".into()], &["pve-pbs".into()]);
    let server = server.map(|host| ("server".to_owned(), host.to_owned()));
    request.roles = server.into_iter().collect();
    let all = [("store_path", "/mnt/big"), ("template", "9000")];
    request.sets = { all.iter().chain(sets) }
        .map(|(key, value)| Set {
            host: None,
            method: None,
            key: (*key).into(),
            value: (*value).into(),
        })
        .collect();
    let mut hosts = hosts();
    for (name, machine) in [("pve1", "one"), ("nas", machine)] {
        hosts.get_mut(name).unwrap().facts.machine = machine.to_owned();
    }
    let bound = bind(&catalogue, &request, &hosts).unwrap().remove(0);
    let mut commands: BTreeMap<String, String> = BTreeMap::new();
    for (step, told) in bound.steps.iter().zip(preview(&bound).unwrap()) {
        let host = bound.host(&step.step.on).to_owned();
        *commands.entry(host).or_default() += &told.command;
    }
    commands
}

#[test]
fn a_store_is_made_on_the_host_that_is_named_as_its_server_or_on_the_node_itself() {
    let on_the_node = store_on(None, "two", &[]);
    assert_eq!(on_the_node.len(), 1);
    assert!(on_the_node["pve1"].contains("--server localhost "));

    // Another machine: the node reaches it by its address, or by the name that is told.
    let apart = store_on(Some("nas"), "two", &[]);
    let made = "proxmox-backup-manager datastore create ";
    assert!(apart["nas"].contains(made) && !apart["pve1"].contains(made));
    assert!(apart["pve1"].contains("--server nas.lab "), "{apart:?}");
    let told = store_on(Some("nas"), "two", &[("store_server", "10.0.0.9")]);
    assert!(told["pve1"].contains("--server 10.0.0.9 "));
    // Another name of the node is the node.
    let same = store_on(Some("nas"), "one", &[]);
    assert!(same["pve1"].contains("--server localhost "));
}

#[test]
fn a_method_that_needs_a_subject_says_so() {
    let catalogue = Catalogue::load(Some(Path::new("tests/methods"))).unwrap();
    let request = Request::each(&["pve1".into()], &["esxi-clone".into()]);
    let error = bind(&catalogue, &request, &hosts())
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("--subject vmdk:ID"), "{error}");
}

/// A guest's lock lets in one task at a time; on two guests, and on two nodes, both may go on.
#[test]
fn two_methods_at_once_on_one_guest_are_refused() {
    use comeback::engine::{Check, examine_pairs};

    let refused = |one: &str, other: &str| {
        let guest = |id| Some((SubjectKind::Vm, id));
        let mut bounds = [
            bound("pve-vzdump", guest(one), &[]),
            bound("pve-snapshot", guest(other), &[]),
        ];
        bounds[1].binding.id = "b2".into();
        let pair = bounds.each_ref().map(|bound| bound.binding.id.clone());
        let mut checks = [Check::default(), Check::default()];
        examine_pairs(&[pair], &bounds, &mut checks).unwrap();
        let [check, _] = checks;
        let says = |text: &str| text.contains("both work on the guest vm:101");
        check.findings.iter().any(|finding| says(&finding.text))
    };
    assert!(refused("101", "101"));
    assert!(!refused("101", "102"));
}

/// Each file under `tests/methods/wrong` says in its first line what must be said of it.
#[test]
fn wrong_files_say_line_and_reason() {
    let mut count = 0;
    for entry in std::fs::read_dir("tests/methods/wrong").unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let expected = text.lines().next().unwrap().strip_prefix("# ").unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("wrong.toml"), &text).unwrap();
        let error = Catalogue::load(Some(folder.path()))
            .err()
            .map(|why| why.to_string());
        let error = error.unwrap_or_else(|| panic!("{} was taken", path.display()));
        assert!(
            error.contains(expected),
            "{}: {error:?} lacks {expected:?}",
            path.display()
        );
        assert!(error.contains("wrong.toml:"), "{error}");
        count += 1;
    }
    assert!(count >= 12, "{count} files");
}

/// A look that stands in a fragment, and that no method uses, would never be taken.
#[test]
fn every_look_of_a_fragment_is_taken_by_a_method() {
    let read = |folder: &str| -> Vec<(String, toml::Table)> {
        let files = std::fs::read_dir(folder).unwrap();
        let paths = files.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|kind| kind == "toml"))
            .map(|path| {
                let text = std::fs::read_to_string(&path).unwrap();
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                (name, text.parse().unwrap())
            })
            .collect()
    };
    let taken: Vec<String> = read("methods")
        .iter()
        .filter_map(|(_, method)| method.get("check")?.as_array())
        .flatten()
        .filter_map(|check| Some(check.get("use")?.as_str()?.to_owned()))
        .collect();
    let fragments = read("methods/fragments");
    let looks = { fragments.iter() }.filter(|(_, fragment)| fragment.contains_key("check"));
    let dead: Vec<&String> = looks
        .map(|(name, _)| name)
        .filter(|name| !taken.contains(name))
        .collect();
    assert!(!taken.is_empty() && dead.is_empty(), "{dead:?}");
}
