//! What stays when a run does not end well, in a real pseudo-terminal: it is seen, said when one
//! leaves, listed, and taken away.

#![cfg(test)]

#[path = "support/methods.rs"]
mod methods;
#[path = "support/screen.rs"]
mod screen;
#[path = "support/small_home.rs"]
mod small_home;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use methods::{BESIDE, COPY, HEAD, step};
use screen::Screen;
use small_home::{left, recordings};

const RIGHT: &str = "\x1b[C";

/// A home folder with this method alone beside the built-in ones.
fn home(name: &str, parts: &[&str]) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/comeback/methods");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{name}.toml")), parts.concat()).unwrap();
    home
}

/// Picks it, once.
fn pick(screen: &mut Screen, method: &str) {
    screen.wait("▸ [ ]");
    screen.keys(&format!("/{method}\r"));
    let cursor = format!("▸ [ ] {method}");
    screen.wait(&cursor);
    screen.keys(" --");
    screen.wait("1 method × 1 = 1 run");
}

/// Leaves; what is left is said, with the recording. Gives that.
fn leave(screen: &mut Screen, home: &Path, exit: u32) -> PathBuf {
    screen.keys("q");
    let status = screen.end();
    assert_eq!(status.exit_code(), exit, "{}", screen.text());
    assert!(screen.is_restored());
    let [file] = recordings(home).try_into().unwrap();
    let said = screen.raw();
    assert!(
        said.contains("local: copy is kept (/var/tmp/comeback-cb-"),
        "{said}"
    );
    let command = format!("`comeback recover {}`", file.display());
    assert!(said.contains(&command), "{said}");
    file
}

fn recover(home: &Path, file: &Path, more: &[&str]) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_comeback"))
        .arg("recover")
        .arg(file)
        .args(more)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", home)
        .output()
        .unwrap();
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(
        out.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&out.stderr)
    );
    said
}

/// It is listed and touched by nobody, then taken away, then nothing is left, twice.
fn is_recovered(home: &Path, file: &Path) {
    let kept = left(home);
    assert_eq!(kept.len(), 1, "{kept:?}");
    for _ in 0..2 {
        let said = recover(home, file, &[]);
        assert!(
            said.contains("copy     copy  /var/tmp/comeback-cb-"),
            "{said}"
        );
        assert!(
            said.contains("sandbox  box  /var/tmp/comeback-cb-"),
            "{said}"
        );
        assert_eq!(left(home), kept, "listing takes nothing away");
    }
    let said = recover(home, file, &["--remove"]);
    assert!(
        said.contains("removed  copy /var/tmp/comeback-cb-"),
        "{said}"
    );
    assert!(left(home).is_empty(), "{:?}", left(home));
    for more in [&["--remove"] as &[&str], &[]] {
        let said = recover(home, file, more);
        assert!(said.contains("local: nothing is left"), "{said}");
    }
}

#[test]
fn a_restore_that_is_not_what_it_was() {
    let spoil = step("spoil", "restore", "echo more >{{ box }}/restored/more");
    let (back, verify) = BESIDE.split_at(BESIDE.rfind("\n[[step]]").unwrap());
    let home = home("spoiled", &[HEAD, COPY, back, &spoil, verify]);
    let mut screen = Screen::start(home.path(), &[], &[], (80, 24));
    pick(&mut screen, "spoiled");
    screen.keys("\r");
    screen.wait("over: 0 of 1 runs done");
    // At 80 columns, at once.
    screen.wait("kept on local: copy  /var/tmp/comeback-cb-");
    screen.wait("comeback recover --host local lists it; with --remove it takes it away");
    let file = leave(&mut screen, home.path(), 1);
    // The replay says it as well.
    let args = ["replay", file.to_str().unwrap()];
    let mut again = Screen::start(home.path(), &args, &[], (80, 24));
    again.wait("replay");
    again.keys("$");
    again.wait("kept on local: copy");
    again.keys("q");
    again.end();
    is_recovered(home.path(), &file);
}

#[test]
fn a_stop_where_the_copy_of_a_named_subject_stays() {
    let slow = step(
        "slow restore",
        "restore",
        "echo it waits $((40 + 2)); sleep 300",
    );
    let home = home("stopped", &[HEAD, COPY, &slow, BESIDE]);
    let data = tempfile::tempdir_in("/var/tmp").unwrap();
    fs::write(data.path().join("a"), "a".repeat(5000)).unwrap();
    let mut screen = Screen::start(home.path(), &[], &[], (120, 40));
    pick(&mut screen, "stopped");
    screen.keys(&format!("udir:{}\r", data.path().display()));
    screen.wait("(only read)");
    screen.keys("\r");
    screen.wait("it waits 42");
    screen.keys("x");
    screen.wait("stop");
    screen.keys(RIGHT);
    screen.keys("\r");
    screen.wait("over: stopped");
    screen.wait("kept on local: copy  /var/tmp/comeback-cb-");
    screen.wait("comeback recover --host local lists it");
    let file = leave(&mut screen, home.path(), 130);
    is_recovered(home.path(), &file);
    assert_eq!(
        fs::read_to_string(data.path().join("a")).unwrap().len(),
        5000
    );
}
