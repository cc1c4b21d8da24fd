//! Hashing here and by shell text: both say the same of any tree.
#![cfg(test)]

#[path = "support/shells.rs"]
mod shells;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use comeback::host::hashing::{
    Digests, FileDigest, HashError, Manifest, Watch, compare_script, hash_file, hash_file_script,
    hash_script, hash_tree,
};
use comeback::host::{Answer, Exit, ask};
use proptest::prelude::*;
use shells::{Shell, ShellHost, shell, shells};

const PATIENCE: Duration = Duration::from_mins(2);

async fn run(shell: Shell, script: &str) -> Answer {
    ask(&*ShellHost::new(shell), script, b"", 1 << 20, PATIENCE)
        .await
        .unwrap()
}

async fn there(shell: Shell, root: &Path, keep: &Path) -> Digests {
    let script = hash_script(root.to_str().unwrap(), keep.to_str().unwrap()).unwrap();
    let answer = run(shell, &script).await;
    let err = String::from_utf8_lossy(&answer.err).into_owned();
    assert_eq!((answer.exit, err.as_str()), (Exit::Code(0), ""));
    Digests::parse(&answer.out)
        .unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&answer.out)))
}

async fn here(root: &Path) -> Manifest {
    hash_tree(root.to_owned(), 2, Watch::default())
        .await
        .unwrap()
}

fn path(root: &Path, name: &[u8]) -> PathBuf {
    root.join(OsStr::from_bytes(name))
}

/// A tree with all that is hard about trees.
fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let names: [&[u8]; 17] = [
        b"plain",
        b"with space",
        b" leading",
        b"trailing ",
        b"new\nline",
        b"\nfirst",
        b"last\n",
        b"back\\slash",
        b"back\\n",
        b"carriage\rreturn",
        b"tab\there",
        b"-rf",
        b"quote'\"`$(x)",
        b"stars*?[a]",
        "\u{e4}\u{4e2d}\u{1f600}".as_bytes(),
        b"invalid\xff\xfe",
        b"control\x01\x1b[31m",
    ];
    for (at, name) in names.iter().enumerate() {
        std::fs::write(path(root, name), vec![b'x'; at * 1000]).unwrap();
        let folder = path(root, &[b"dir ", *name].concat());
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(path(&folder, name), name).unwrap();
        symlink(OsStr::from_bytes(name), path(&folder, b"link")).unwrap();
    }
    std::fs::create_dir_all(root.join("empty/of/all")).unwrap();
    std::fs::write(root.join("no bytes"), "").unwrap();
    std::fs::hard_link(root.join("plain"), root.join("plain too")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    symlink("/etc", root.join("out of the tree")).unwrap();
    symlink(".", root.join("loop")).unwrap();
    for (name, mode) in [
        ("m4755", 0o4755),
        ("m0", 0),
        ("m1777", 0o1777),
        ("m600", 0o600),
    ] {
        std::fs::write(root.join(name), name).unwrap();
        std::fs::set_permissions(root.join(name), PermissionsExt::from_mode(mode)).unwrap();
    }
    let fifo = std::process::Command::new("mkfifo")
        .arg(root.join("fifo"))
        .status()
        .unwrap();
    assert!(fifo.success());
    drop(std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap());
    for (name, value) in [
        ("user.a", &b"1"[..]),
        ("user.empty", b""),
        ("user.e=q\nx\\y z", b"\0\xff"),
    ] {
        xattr::set(root.join("plain"), name, value).unwrap();
        xattr::set(path(root, b"new\nline"), name, value).unwrap();
    }
    xattr::set(root, "user.root", b"r").unwrap();
    dir
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn here_and_every_shell_agree() {
    let tree = tree();
    let keep = tempfile::tempdir().unwrap();
    let manifest = here(tree.path()).await;
    for shell in shells() {
        let name = shell.name;
        println!("on {name}");
        let mut digests = there(shell, tree.path(), &keep.path().join(name)).await;
        assert!(!digests.tool.is_empty());
        digests.tool.clone_from(&manifest.digests.tool);
        assert_eq!(digests, manifest.digests, "{name}");
    }
}

#[tokio::test]
async fn the_files_are_what_coreutils_say() {
    let tree = tree();
    let output = std::process::Command::new("sh")
        .args([
            "-c",
            "find . -type f -exec sha256sum {} + | LC_ALL=C sort -k2 | sha256sum",
        ])
        .current_dir(tree.path())
        .output()
        .unwrap();
    let expected = String::from_utf8(output.stdout).unwrap();
    let manifest = here(tree.path()).await;
    assert_eq!(expected.split(' ').next().unwrap(), manifest.digests.files);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_change_shows_where_it_is() {
    let keep = tempfile::tempdir().unwrap();
    let tree = tree();
    let root = tree.path();
    let before = here(root).await;
    let [first, second] = ["first", "second"].map(|name| keep.path().join(name));
    let same = there(shell("dash"), root, &first).await;
    assert_eq!(before.differences(&here(root).await, 10), []);

    std::fs::write(root.join("plain"), "other").unwrap();
    std::fs::set_permissions(root.join("m600"), PermissionsExt::from_mode(0o640)).unwrap();
    std::fs::remove_file(root.join("tab\there")).unwrap();
    std::fs::write(root.join("added\nnow"), "").unwrap();
    std::fs::remove_file(root.join("dangling")).unwrap();
    symlink("elsewhere", root.join("dangling")).unwrap();
    xattr::set(path(root, b"new\nline"), "user.a", b"2").unwrap();
    xattr::set(root.join("with space"), "user.new", b"2").unwrap();
    xattr::remove(root, "user.root").unwrap();

    let after = here(root).await;
    assert!(!after.digests.same_content(&before.digests));
    assert!(!after.digests.same_metadata(&before.digests));
    let expected = [
        "content ./plain",
        "content ./plain too",
        // The folder is not changed by what is in it.
        "metadata ./dangling",
        "metadata ./m600",
        "missing ./tab\\there",
        "new ./added\\nnow",
        "xattrs .",
        "xattrs ./new\\nline",
        "xattrs ./with space",
    ];
    let found = before.differences(&after, 100);
    assert_eq!(
        found.iter().map(ToString::to_string).collect::<Vec<_>>(),
        expected
    );
    assert_eq!(before.differences(&after, 2).len(), 2);

    let digests = there(shell("dash"), root, &second).await;
    assert!(!digests.same_content(&same));
    for shell in shells() {
        let script = |limit| {
            compare_script(first.to_str().unwrap(), second.to_str().unwrap(), limit).unwrap()
        };
        let said = String::from_utf8(run(shell.clone(), &script(100)).await.out).unwrap();
        assert_eq!(said.lines().collect::<Vec<_>>(), expected, "{}", shell.name);
        let said = String::from_utf8(run(shell, &script(2)).await.out).unwrap();
        assert_eq!(said.lines().count(), 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_tree_has_a_manifest() {
    let dir = tempfile::tempdir().unwrap();
    let keep = tempfile::tempdir().unwrap();
    let mut manifest = here(dir.path()).await;
    assert_eq!((manifest.digests.count, manifest.digests.bytes), (0, 0));
    for shell in shells() {
        let digests = there(shell, dir.path(), &keep.path().join("x")).await;
        manifest.digests.tool.clone_from(&digests.tool);
        assert_eq!(digests, manifest.digests);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_written_to_the_tree_or_left_beside_the_lists() {
    let tree = tree();
    let keep = tempfile::tempdir().unwrap();
    let before = here(tree.path()).await;
    for shell in shells() {
        there(shell, tree.path(), &keep.path().join("it's kept")).await;
    }
    assert_eq!(before.digests, here(tree.path()).await.digests);
    let mut left: Vec<_> = std::fs::read_dir(keep.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(
        left,
        ["it's kept.files", "it's kept.full", "it's kept.xattrs"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_read_is_an_error_that_names_it() {
    let error = hash_tree("/no/such/tree".into(), 2, Watch::default())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("/no/such/tree"), "{error}");
    let error = hash_file("/proc/self/mem".into(), Watch::default())
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("/proc/self/mem: cannot read the file"),
        "{error}"
    );
    let error = hash_file("/no/esc\u{1b}[31m".into(), Watch::default())
        .await
        .unwrap_err();
    assert!(!error.to_string().contains('\u{1b}'), "{error}");
    assert!(matches!(hash_script("a\0b", "/k"), Err(HashError::Nul(_))));

    let keep = tempfile::tempdir().unwrap();
    for shell in shells() {
        let script = hash_script("/no/such/tree", keep.path().join("k").to_str().unwrap()).unwrap();
        let answer = run(shell, &script).await;
        assert_ne!(answer.exit, Exit::Code(0));
        assert_eq!(Digests::parse(&answer.out), None);
    }
}

/// As a user that may not read everything; root reads all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreadable_file_is_an_error_in_the_shell_too() {
    let dir = tempfile::tempdir().unwrap();
    let keep = tempfile::tempdir().unwrap();
    for path in [dir.path(), keep.path()] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o777)).unwrap();
    }
    std::fs::write(dir.path().join("open"), "x").unwrap();
    let secret = dir.path().join("secret");
    std::fs::write(&secret, "x").unwrap();
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o0)).unwrap();
    let kept = keep.path().join("k");
    let script = hash_script(dir.path().to_str().unwrap(), kept.to_str().unwrap()).unwrap();
    let quoted = shlex::try_quote(&script).unwrap().into_owned();
    let root = std::process::Command::new("id")
        .arg("-u")
        .output()
        .unwrap()
        .stdout
        == b"0\n";
    for shell in shells() {
        let as_nobody = format!(
            "/usr/bin/setpriv --reuid=65534 --clear-groups {} -c {quoted}",
            shell.path
        );
        let answer = run(shell, if root { &as_nobody } else { &script }).await;
        assert_ne!(answer.exit, Exit::Code(0));
        let said = String::from_utf8(answer.err).unwrap();
        assert!(said.contains("./secret"), "{said}");
        assert_eq!(Digests::parse(&answer.out), None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hashing_can_be_watched_and_stopped() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), vec![7; 3_000_000]).unwrap();
    let watch = Watch::default();
    hash_tree(dir.path().to_owned(), 2, watch.clone())
        .await
        .unwrap();
    assert_eq!(
        watch.done.load(std::sync::atomic::Ordering::Relaxed),
        3_000_000
    );
    watch.cancel.cancel();
    let stopped = hash_tree(dir.path().to_owned(), 2, watch.clone()).await;
    assert_eq!(stopped.unwrap_err(), HashError::Stopped);
    assert_eq!(
        hash_file(dir.path().join("a"), watch).await.unwrap_err(),
        HashError::Stopped
    );

    // Endless, were it not dropped.
    let watch = Watch::default();
    let endless = hash_file("/dev/zero".into(), watch.clone());
    assert!(
        tokio::time::timeout(Duration::from_millis(50), endless)
            .await
            .is_err()
    );
    let read = || watch.done.load(std::sync::atomic::Ordering::Relaxed);
    let ended = async {
        loop {
            let before = read();
            tokio::time::sleep(Duration::from_millis(200)).await;
            if read() == before {
                break;
            }
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_file_is_hashed_alike() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("it's\na $(file)");
    std::fs::write(&file, vec![7; 100_001]).unwrap();
    let expected = hash_file(file.clone(), Watch::default()).await.unwrap();
    assert_eq!(expected.bytes, 100_001);
    for shell in shells() {
        let answer = run(
            shell.clone(),
            &hash_file_script(file.to_str().unwrap()).unwrap(),
        )
        .await;
        assert_eq!(FileDigest::parse(&answer.out), Some(expected.clone()));
        let answer = run(shell, &hash_file_script("/no/such/file").unwrap()).await;
        assert_ne!(answer.exit, Exit::Code(0));
    }
}

#[test]
fn any_names_agree() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let name = proptest::collection::vec(
        prop_oneof![
            Just(b'\\'),
            Just(b'\n'),
            Just(b'\r'),
            Just(b'\t'),
            Just(b' '),
            Just(b'-'),
            Just(b'.'),
            1..=255_u8
        ],
        1..6,
    )
    .prop_map(|bytes| {
        bytes
            .into_iter()
            .filter(|&byte| byte != b'/')
            .collect::<Vec<u8>>()
    })
    .prop_filter("a name", |name| {
        !name.is_empty() && name != b"." && name != b".."
    });
    let names = proptest::collection::btree_set(name, 1..12);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 8,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let result = runner.run(&names, |names| {
        let dir = tempfile::tempdir().unwrap();
        let keep = tempfile::tempdir().unwrap();
        for (at, name) in names.iter().enumerate() {
            let path = path(dir.path(), name);
            match at % 3 {
                0 => std::fs::write(path, name).unwrap(),
                1 => std::fs::create_dir(path).unwrap(),
                _ => symlink(OsStr::from_bytes(name), path).unwrap(),
            }
        }
        let mut manifest = runtime.block_on(here(dir.path())).digests;
        for shell in shells() {
            let digests = runtime.block_on(there(shell, dir.path(), &keep.path().join("k")));
            manifest.tool.clone_from(&digests.tool);
            prop_assert_eq!(&digests, &manifest);
        }
        Ok(())
    });
    result.unwrap();
}

/// How fast it is here; run with `--release --ignored --nocapture` on a quiet machine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "prints figures"]
async fn measure() {
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    for number in 0..512_u64 {
        let bytes: Vec<u8> = (0..2 << 20)
            .map(|at: u64| (at * 31 + number).to_le_bytes()[0])
            .collect();
        std::fs::write(dir.path().join(number.to_string()), bytes).unwrap();
    }
    for _ in 0..3 {
        let begun = std::time::Instant::now();
        let manifest = here(dir.path()).await;
        let ours = begun.elapsed().as_secs_f64();
        let begun = std::time::Instant::now();
        let find = format!(
            "cd {}; find . -type f -print0 | xargs -0 -P2 -n8 sha256sum >/dev/null",
            dir.path().display()
        );
        run(shell("dash"), &find).await;
        let theirs = begun.elapsed().as_secs_f64();
        let begun = std::time::Instant::now();
        there(
            shell("dash"),
            dir.path(),
            &PathBuf::from("/dev/shm/comeback-measure"),
        )
        .await;
        let script = begun.elapsed().as_secs_f64();
        println!(
            "{} MiB: {ours:.2} s here, {theirs:.2} s find | xargs -P2 sha256sum, {script:.2} s by script",
            manifest.digests.bytes >> 20
        );
    }
    for list in ["files", "full", "xattrs"] {
        let _ = std::fs::remove_file(format!("/dev/shm/comeback-measure.{list}"));
    }
}
