//! A home folder with methods that take little time, or never end.
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::path::{Path, PathBuf};

/// A home folder with methods that take little time.
pub fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let methods = home.path().join(".config/comeback/methods");
    std::fs::create_dir_all(&methods).unwrap();
    let small = std::fs::read_to_string("methods/files-cp.toml").unwrap();
    let small = small
        .replace("512MiB", "2MiB")
        .replace("default = 256", "default = 8");
    assert!(small.contains("2MiB"));
    std::fs::write(methods.join("a-small.toml"), small).unwrap();
    std::fs::write(methods.join("b-slow.toml"), SLOW).unwrap();
    home
}

const SLOW: &str = r#"
title   = "a step that takes long"
family  = "test"
subject = "dir"
own     = "always"
roles   = ["source"]
series  = "slow"

[[step]]
name   = "scratch folder"
phase  = "prepare"
run    = "mkdir -- {{ box }}"
leaves = { id = "box", kind = "sandbox", find = "if [ -d {{ box }} ]; then echo {{ box }}; fi", undo = "rm -rf -- {{ found }}" }

[[step]]
name  = "wait for ever"
phase = "protect"
run   = "echo it waits in {{ box }}; sleep 1000"
"#;

/// Recordings of sessions in this home.
pub fn recordings(home: &Path) -> Vec<PathBuf> {
    let folder = home.join(".local/share/comeback/recordings");
    let files = std::fs::read_dir(folder).into_iter().flatten();
    files.map(|file| file.unwrap().path()).collect()
}

/// Scratch folders that sessions in this home left under /var/tmp.
pub fn left(home: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for file in recordings(home) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let id = name
            .trim_end_matches(".jsonl")
            .rsplit_once("cb-")
            .unwrap()
            .1
            .to_owned();
        for entry in std::fs::read_dir("/var/tmp").unwrap() {
            let entry = entry.unwrap().file_name().into_string().unwrap();
            if entry.contains(&id) {
                all.push(entry);
            }
        }
    }
    all
}
