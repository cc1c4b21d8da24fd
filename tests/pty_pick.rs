//! Before a run, in a real pseudo-terminal: what is picked, protected, set, asked and told.

#![cfg(test)]

#[path = "support/methods.rs"]
mod methods;
#[path = "support/screen.rs"]
mod screen;
#[path = "support/sshd.rs"]
mod server;

use std::fs;
use std::path::Path;

use methods::{BACK, COPY, DESTROY, HEAD};
use screen::Screen;
use server::Sshd;

const UP: &str = "\x1b[Z";

fn folder(prefix: &str) -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix(prefix)
        .tempdir_in("/var/tmp")
        .unwrap()
}

/// A folder with something in it.
fn data(prefix: &str) -> tempfile::TempDir {
    let data = folder(prefix);
    for name in ["a", "b", "c"] {
        fs::write(data.path().join(name), name.repeat(5000)).unwrap();
    }
    data
}

/// Only this method is shown, and so it is under the cursor.
fn show_only(screen: &mut Screen, method: &str) {
    screen.keys(&format!("/{method}\r"));
    let cursor = format!("▸ [ ] {method}");
    screen.until(&cursor, |text| text.contains(&cursor));
}

/// Where the cursors of the lists stand, by row and column.
fn cursors(text: &str) -> Vec<(usize, usize)> {
    let of = |(row, line): (usize, &str)| -> Vec<(usize, usize)> {
        let columns = line.chars().enumerate().filter(|(_, c)| *c == '▸');
        columns.map(|(column, _)| (row, column)).collect()
    };
    text.lines().enumerate().flat_map(of).collect()
}

/// The cursor down to a row that has all of these, one row for each key: what arrives from the host in
/// between changes the screen, too, and is no answer to the key.
fn down_to(screen: &mut Screen, words: &[&str]) {
    let has_all = |line: &str| words.iter().all(|word| line.contains(word));
    for _ in 0..40 {
        let before = screen.text();
        if before.lines().any(has_all) {
            return;
        }
        screen.keys("j");
        // Of a frame that is half drawn a cursor is missing.
        let before = cursors(&before);
        screen.until("the next row", |text| {
            let now = cursors(text);
            now != before && now.len() == before.len()
        });
    }
    panic!("{words:?} was not reached:\n{}", screen.text());
}

#[test]
fn the_first_start_with_no_configuration_at_all() {
    let home = folder("pick-home-");
    let data = data("pick-data-");
    let what = format!("dir:{}", data.path().display());
    let mut screen = Screen::start(home.path(), &[], &[], (120, 40));
    screen.wait("copy-local");
    screen.wait("of its own");
    // Nothing was ever run here.
    show_only(&mut screen, "files-cp");
    screen.keys(" ");
    screen.wait("1 method × 3 = 3 runs");
    screen.until("the estimate", |text| text.contains("\n no history"));

    // All that would run, also beside the steps.
    screen.keys("\t");
    screen.keys("G");
    screen.wait("beside");
    screen.wait("# every 5 s while it runs, on local");
    screen.keys("g");
    screen.keys(UP);

    // A setting: refused while it is typed, then taken.
    screen.keys("e");
    screen.wait("Settings of files-cp on local");
    screen.keys("jjj\r\x155x");
    screen.wait("expected a size such as 512MiB, not \"5x\"");
    screen.keys("\r");
    screen.wait("Enter takes it");
    screen.keys("\x152MiB\r");
    screen.wait("* 1 changed");
    screen.wait("default 512MiB");
    screen.keys("\x1b");
    screen.until("what would be made", |text| {
        // The next key must not follow Esc at once: together they are another.
        text.contains("256 files of 8192 bytes") && !text.contains("Settings of files-cp")
    });

    // A subject: what is wrong with it is said, then it is only read.
    screen.keys("udir:here");
    screen.wait("must be an absolute path");
    screen.keys("\x15");
    screen.keys(&format!("{what}\r"));
    screen.until("the subject", |text| {
        text.contains("(only read)") && text.contains("other disk")
            || text.contains("(only read)") && text.contains("same disk")
    });
    screen.wait("destroys nothing but what it makes itself");

    screen.keys("--");
    screen.wait("1 method × 1 = 1 run");
    screen.keys("\r");
    screen.wait("over: 1 of 1 runs done");
    screen.wait("sha256 after");

    // Picked again: what it took is known now.
    screen.keys("r");
    screen.until("the history", |text| text.contains("by 1 earlier run"));
    screen.wait("a run takes about");
    screen.keys("q");
    let status = screen.end();
    assert!(status.success(), "{status:?}\n{}", screen.text());
    assert!(screen.is_restored());
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 3);
}

#[test]
fn what_is_destroyed_is_marked_named_and_comes_back() {
    let home = folder("pick-home-");
    let methods = home.path().join(".config/comeback/methods");
    fs::create_dir_all(&methods).unwrap();
    fs::write(
        methods.join("in-place.toml"),
        [HEAD, COPY, DESTROY, BACK].concat(),
    )
    .unwrap();
    let data = data("pick-marked-");
    fs::write(data.path().join(".comeback-subject"), "").unwrap();
    let name = data.path().file_name().unwrap().to_str().unwrap();
    let mut screen = Screen::start(home.path(), &[], &[], (120, 40));
    screen.wait("Methods on local");
    // It is found by its mark.
    screen.until("the marked folder", |text| text.contains("marked"));
    show_only(&mut screen, "in-place");
    screen.keys(UP);
    screen.until("a marked row", |text| text.contains(" marked"));
    down_to(&mut screen, &["▸ ( ) dir:", " marked"]);
    screen.wait("It bears comeback's mark");
    screen.keys(" ");
    screen.wait("(marked)");
    screen.keys("\t");
    screen.keys(" -");
    screen.keys("-");
    screen.wait("1 method × 1 = 1 run");
    screen.wait(&format!("destroys dir:{} {name}", data.path().display()));
    screen.keys("\r");
    screen.wait("Type the name of dir:");
    screen.keys("data\r");
    screen.wait("\"data\" is not its name. Nothing has happened.");
    screen.keys(&format!("{name}\r"));
    screen.wait("over: 1 of 1 runs done");
    screen.keys("q");
    let status = screen.end();
    assert!(status.success(), "{status:?}\n{}", screen.text());
    let left = fs::read_to_string(data.path().join("b")).unwrap();
    assert_eq!(left, "b".repeat(5000));
}

fn ssh_configuration(home: &Path, sshd: &Sshd) {
    fs::create_dir_all(home.join(".ssh")).unwrap();
    let text = format!(
        "Host here there\nHostName 127.0.0.1\nPort {}\nUser {}\nIdentityFile {}\n\
         UserKnownHostsFile {}\nIdentitiesOnly yes\n",
        sshd.port(),
        sshd.user(),
        sshd.key().display(),
        sshd.known_hosts().display()
    );
    fs::write(home.join(".ssh/config"), text).unwrap();
}

#[test]
fn picks_whose_targets_are_different_hosts_start_together() {
    let Some(sshd) = Sshd::start() else { return };
    let home = folder("pick-home-");
    ssh_configuration(home.path(), &sshd);
    let methods = home.path().join(".config/comeback/methods");
    fs::create_dir_all(&methods).unwrap();
    let small = fs::read_to_string("methods/files-stream.toml").unwrap();
    let small = small
        .replace("512MiB", "1MiB")
        .replace("default = 256", "default = 4");
    fs::write(methods.join("a-stream.toml"), small).unwrap();
    let mut screen = Screen::start(home.path(), &["here", "there"], &[], (160, 40));
    screen.wait("Methods on here");
    screen.until("both hosts", |text| text.matches(" ● ").count() >= 2);
    screen.until("its target", |text| text.contains("target there"));
    screen.keys(" --");
    screen.wait("1 method × 1 = 1 run");
    screen.keys(UP);
    screen.keys(UP);
    screen.keys("j");
    screen.wait("Methods on there");
    screen.keys("\t");
    screen.keys("\t");
    screen.wait("target here");
    screen.keys(" ");
    screen.wait("2 methods × 1 = 2 runs on 2 hosts");
    screen.keys("\r");
    screen.wait("over: 2 of 2 runs done");
    screen.keys("q");
    let status = screen.end();
    assert!(status.success(), "{status:?}\n{}", screen.text());
}
