//! The node of Proxmox VE that the tests have is as the real one is seen to be: its own tests, which
//! are in Python, as it is.
#![cfg(test)]

#[path = "support/missing.rs"]
mod missing;

use std::process::Command;

use missing::{have_root, have_tool};

fn python(file: &str) {
    if !have_tool("python3") {
        return;
    }
    let path = format!("{}/tests/pve/{file}", env!("CARGO_MANIFEST_DIR"));
    let done = Command::new("python3").arg(path).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    assert!(!said.contains("skipped"), "{said}");
}

#[test]
fn what_it_prints_has_the_shape_of_the_real_output() {
    python("test_shapes.py");
}

#[test]
fn its_archives_and_stores_give_back_what_went_into_them() {
    python("test_archives.py");
}

#[test]
fn its_programs_print_return_and_leave_behind_what_the_real_ones_do() {
    if have_root() && have_tool("sshd") && have_tool("unshare") {
        python("test_node.py");
    }
}
