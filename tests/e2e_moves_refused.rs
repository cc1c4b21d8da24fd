//! What cannot be moved, or must not be, is refused before anything is made, and what is risked is said.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/world.rs"]
mod world;

use missing::{have_root, have_tool};
use world::World;

/// A look at what would be done with the folder `data`: how it ended, and what it said.
fn look(world: &World, method: &str, sets: &[&str]) -> (i32, String) {
    let (subject, sandbox) = (format!("dir:{}", world.text("data")), world.text("sandbox"));
    let mut all = vec!["check", "--method", method, "--sandbox", &sandbox];
    if !method.ends_with("-experiment") {
        all.extend(["--subject", &subject]);
    }
    if method.starts_with("copy-") && method != "copy-local" {
        all.extend(["--role", "target=local"]);
    }
    for set in sets {
        all.extend(["--set", set]);
    }
    let said = world.run(&all);
    (said.code, format!("{} {}", said.out, said.err))
}

fn refused(world: &World, method: &str, sets: &[&str], word: &str) {
    let (code, said) = look(world, method, sets);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, 4, "{method} {sets:?}: {said}");
    assert!(said.contains(word), "{method} {sets:?}: {word}: {said}");
}

/// What would be lost, followed, multiplied or obeyed.
#[test]
fn a_tree_that_would_not_come_back_file_by_file_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let deep = world.path("data/a/b");
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(deep.join("file"), "file").unwrap();
    let named = |name: &[u8]| deep.join(std::ffi::OsStr::from_bytes(name));
    let with = |name: &[u8], methods: &[&str], word: &str| {
        for method in methods {
            refused(&world, method, &["form=tree"], word);
        }
        std::fs::remove_file(named(name)).unwrap();
    };
    let mut by = Vec::new();
    if have_tool("curl") && have_tool("busybox") {
        by.push("copy-http");
    }
    if have_tool("curl") && have_tool("proftpd") {
        by.push("copy-ftp");
    }
    std::os::unix::fs::symlink("nowhere", named(b"link")).unwrap();
    with(b"link", &by, "link is neither a file nor a folder");
    std::fs::hard_link(named(b"file"), named(b"other")).unwrap();
    with(b"other", &by, "has another name (a hard link)");
    std::fs::write(named(b"two\nlines"), "").unwrap();
    with(b"two\nlines", &by, "two?lines holds a control character");
    if by.contains(&"copy-http") {
        std::fs::write(named(b"httpd.conf"), "*.sh:/bin/sh").unwrap();
        let word = "httpd.conf has a name that the web server of the run obeys";
        with(b"httpd.conf", &["copy-http"], word);
    }
    if by.contains(&"copy-ftp") {
        for name in [&b"~me"[..], b"by\xffte"] {
            std::fs::write(named(name), "").unwrap();
            with(
                name,
                &["copy-ftp"],
                "that FTP or its server takes for its own",
            );
        }
    }
    // What has no file is told.
    for method in by {
        std::fs::create_dir(deep.join("empty")).unwrap();
        let (code, said) = look(&world, method, &["form=tree"]);
        assert_eq!(code, 0, "{said}");
        assert!(said.contains("1 empty folder does not come back"), "{said}");
        std::fs::remove_file(deep.join("file")).unwrap();
        refused(&world, method, &["form=tree"], "there is no file to move");
        std::fs::write(deep.join("file"), "file").unwrap();
        std::fs::remove_dir(deep.join("empty")).unwrap();
    }
}

/// pscp takes paths for patterns.
#[test]
fn a_path_that_pscp_would_take_for_a_pattern_is_refused() {
    if !have_tool("pscp") {
        return;
    }
    let world = World::new();
    let (subject, sandbox) = (world.path("a [b]"), world.text("sandbox"));
    std::fs::create_dir(&subject).unwrap();
    let subject = format!("dir:{}", subject.display());
    let all = ["check", "--method", "copy-pscp", "--role", "target=local"];
    let own = [
        "--subject",
        &subject,
        "--set",
        "form=tree",
        "--sandbox",
        &sandbox,
    ];
    let said = world.run(&[&all[..], &own].concat());
    assert_eq!(said.code, 4, "{}", said.out);
    assert!(said.out.contains("takes for a pattern"), "{}", said.out);
}

/// What a server's settings, a client's commands or a shell on the other side would take a scratch folder for.
#[test]
fn a_scratch_folder_that_is_taken_for_more_than_its_name_is_refused() {
    let world = World::new();
    std::fs::create_dir(world.path("data")).unwrap();
    let subject = format!("dir:{}", world.text("data"));
    let look = |method: &str, sandbox: &str| {
        std::fs::create_dir_all(world.path(sandbox)).unwrap();
        let sandbox = world.text(sandbox);
        let method = ["check", "--method", method, "--role", "target=local"];
        let rest = ["--subject", &subject, "--sandbox", &sandbox];
        let said = world.run(&[&method[..], &rest].concat());
        (said.code, said.out)
    };
    for (method, tools, names, word) in [
        (
            "copy-ftp",
            ["proftpd", "curl"],
            ["a [b]", "a\"b", "a%u", "a\nb"],
            "which proftpd takes for",
        ),
        (
            "copy-scp",
            ["scp", "ssh"],
            ["a [b]", "a*", "a\\b", "a\nb"],
            "which scp takes for",
        ),
        (
            "copy-sftp",
            ["sftp", "ssh"],
            ["a\"b", "a\\b", "a\n!id", "\n"],
            "which sftp takes for",
        ),
    ] {
        if !tools.iter().all(|tool| have_tool(tool)) {
            continue;
        }
        for name in names {
            let (code, said) = look(method, name);
            assert_eq!(code, 4, "{method} {name:?}: {said}");
            assert!(said.contains(word), "{method} {name:?}: {said}");
        }
        let (_, said) = look(method, "it's #1 here");
        assert!(!said.contains(word), "{method}: {said}");
    }
}

/// Before its password is asked for.
#[test]
fn a_server_that_is_named_is_looked_at_before() {
    let world = World::new();
    let inside = world.path("data/in it");
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::write(inside.join("file"), "file").unwrap();
    std::fs::create_dir(world.path("served")).unwrap();
    let inside = format!("folder={}", inside.display());
    let outside = format!("folder={}", world.text("served"));
    if have_tool("curl") {
        let http = |server: &'static str, folder, more: &'static str, word| {
            refused(&world, "copy-http", &[server, folder, more], word);
        };
        let server = "server=https://nas.lab/files";
        http(server, &inside, "size=1MiB", "stands in the subject");
        let with = "server=https://me:secret@nas.lab/files";
        http(with, &outside, "size=1MiB", "the server holds an @");
        http(server, &outside, "account=a \"b", "holds a blank");
        let (code, said) = look(&world, "copy-http", &["server=http://nas.lab", &outside]);
        assert_eq!(code, 0, "{said}");
        assert!(said.contains("in clear"), "{said}");
        let (code, said) = look(&world, "copy-http", &[server, &outside, "form=tree"]);
        assert_eq!(code, 0, "{said}");
        assert!(
            said.contains(".htaccess") && !said.contains("in clear"),
            "{said}"
        );

        let ftp = |sets: &[&str], word| refused(&world, "copy-ftp", sets, word);
        ftp(&["server=me@nas.lab"], "the server holds an @");
        ftp(&["server=nas.lab/in"], "HOST or HOST:PORT");
        ftp(&["server=nas.lab", "account=a:b"], "or a colon");
        ftp(&["server=nas.lab", "folder=a b"], "has to be of letters");
        let (code, said) = look(&world, "copy-ftp", &["server=[::1]:21"]);
        assert_eq!(code, 0, "{said}");
        assert!(said.contains("in clear"), "{said}");
    }
    if have_tool("rsync") {
        let rsync = |sets: &[&str], word| refused(&world, "copy-rsync", sets, word);
        rsync(&["server=me@nas.lab/pool"], "the server holds an @");
        rsync(&["server=nas.lab"], "HOST/MODULE");
        rsync(&["server=nas.lab/pool", "account=a/b"], "a stroke or an @");
    }
}

/// What would be copied into the subject, and settings of an experiment that cannot be meant, are refused before anything is made.
#[test]
fn settings_that_cannot_be_meant_are_refused_before_anything_is_made() {
    let world = World::new();
    let data = world.path("data");
    std::fs::create_dir_all(data.join("in it")).unwrap();
    std::os::unix::fs::symlink(data.join("in it"), world.path("link")).unwrap();
    let refused = |method: &str, sets: &[&str], word: &str| refused(&world, method, sets, word);
    let (inside, link) = (data.join("in it"), world.path("link"));
    for to in [&data, &inside, &link] {
        let to = format!("to={}", to.display());
        refused("copy-local", &[&to], "stands in the subject");
    }
    refused("copy-local", &["to=/no/such"], "is not there");
    refused(
        "copy-local",
        &["to=/no\nsuch"],
        "/no?such, for the copy, is not there",
    );
    for method in ["restic", "borg"] {
        if have_tool(method) {
            let to = format!("to={}", link.display());
            refused(method, &[&to], "stands in the subject");
        }
    }
    if have_tool("btrfs") && have_tool("fio") && have_root() {
        let small = ["size=1MiB", "load_size=1MiB"];
        let with = |set, word| {
            let sets = [&small[..], &[set]].concat();
            refused("btrfs-experiment", &sets, word);
        };
        with("snapshots=1,0", "snapshots has 0");
        with("load_before=45", "the load is over after 45 s");
        with("load_rate=0.5", "load_rate is 0.5");
        with("load_rate=-1", "load_rate is -1");
    }
}
