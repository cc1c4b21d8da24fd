//! Method files of a user's own, to make happen what the built-in ones never do.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

/// A tree, its scratch folder and its manifest.
pub const HEAD: &str = r#"title   = "a method of a test"
family  = "files"
subject = "dir"
own     = "may"
roles   = ["source"]
needs   = ["cp", "find"]
series  = "full"

[settings]
size  = { default = "64KiB", kind = "bytes", help = "bytes of the tree" }
files = { default = 2, help = "files in it" }

[[step]]
use  = "tree"
with = { tree = "{{ subject }}" }
"#;

/// A copy, and its proof.
pub const COPY: &str = r#"
[[step]]
name   = "backup"
phase  = "protect"
clock  = "host"
run    = "cp -a -- {{ subject }} {{ box }}/copy"
leaves = { id = "copy", kind = "copy", find = "if [ -d {{ box }}/copy ]; then printf '%s\n' {{ box }}/copy; fi", undo = "rm -rf -- {{ found }}" }

[[step]]
name   = "copy proved"
phase  = "account"
hash   = { tree = "{{ box }}/copy", like = "subject" }
proves = "copy"
"#;

/// Deletes the subject, relying on the copy.
pub const DESTROY: &str = r#"
[[step]]
name     = "delete the original"
phase    = "damage"
run      = "rm -rf -- {{ subject }}"
destroys = { what = "dir:{{ subject }}", relies-on = "copy" }
"#;

/// Brings the copy back in the subject's own place, and compares it.
pub const BACK: &str = r#"
[[step]]
name  = "restore"
phase = "restore"
clock = "host"
run   = "cp -a -- {{ box }}/copy {{ subject }}"

[[step]]
name  = "sha256 after"
phase = "verify"
hash  = { tree = "{{ subject }}", like = "subject" }
"#;

/// Brings the copy back beside the subject, and compares it.
pub const BESIDE: &str = r#"
[[step]]
name  = "restore"
phase = "restore"
clock = "host"
run   = "cp -a -- {{ box }}/copy {{ box }}/restored"

[[step]]
name  = "sha256 after"
phase = "verify"
hash  = { tree = "{{ box }}/restored", like = "subject" }
"#;

/// A step that runs a command. It stands in TOML's literal quotes: no `'''` in it.
pub fn step(name: &str, phase: &str, run: &str) -> String {
    format!("\n[[step]]\nname  = {name:?}\nphase = {phase:?}\nrun   = '''{run}'''\n")
}
