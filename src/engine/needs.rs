//! Programs that a method calls, and root: what of it a host lacks, and which package brings it.

use std::collections::BTreeSet;

use crate::method::{Action, Bound, MethodError};

use super::preflight::{Check, Gravity};

/// Finds what is missing, by the facts of the hosts alone.
///
/// # Errors
/// A condition of a need that cannot be decided.
pub(super) fn examine(bound: &Bound, check: &mut Check) -> Result<(), MethodError> {
    of_method(bound, check)?;
    of_actions(bound, check);
    Ok(())
}

/// What comeback itself calls on a host for an action of a method.
fn own(action: &Action, here: bool) -> &'static [&'static str] {
    match action {
        Action::Payload(_) => &["awk", "find", "split", "stat"],
        Action::Hash(hash) if !here && hash.of.is_folder() => &["awk", "find", "sort", "stat"],
        Action::Hash(_) if !here => &["stat"],
        Action::Space(_) => &["awk", "df"],
        _ => &[],
    }
}

fn of_actions(bound: &Bound, check: &mut Check) {
    let mut missing = BTreeSet::new();
    for step in &bound.steps {
        let Some(info) = bound.hosts.get(&step.step.on) else {
            continue;
        };
        let here = info.address.is_none() && info.facts.became.is_none();
        for tool in own(&step.step.action, here) {
            if !info.facts.tools.contains_key(*tool) {
                missing.insert((info.name.clone(), *tool, step.step.action.name()));
            }
        }
        // A file is streamed here where nothing there hashes it; a tree would have to be read in pieces.
        let tree = matches!(&step.step.action, Action::Hash(hash) if hash.of.is_folder());
        let hashes = ["sha256sum", "openssl"];
        if tree
            && !here
            && !hashes
                .iter()
                .any(|tool| info.facts.tools.contains_key(*tool))
        {
            missing.insert((info.name.clone(), "sha256sum", "hash"));
        }
    }
    for (host, tool, action) in missing {
        check.find(
            Gravity::Refused,
            format!(
                "{host}: {action} steps need {tool}, which is not there (Debian: apt install {})",
                package(tool)
            ),
        );
    }
}

fn of_method(bound: &Bound, check: &mut Check) -> Result<(), MethodError> {
    let first = bound.method.roles.first().cloned().unwrap_or_default();
    for need in &bound.method.needs {
        if !bound.needed(need.when.as_deref())? {
            continue;
        }
        let Some(info) = bound.hosts.get(need.on.as_ref().unwrap_or(&first)) else {
            continue;
        };
        if need.tool == "root" {
            if info.facts.uid != 0 {
                check.find(
                    Gravity::Refused,
                    format!(
                        "needs root on {}; the login is {}",
                        info.name, info.facts.user
                    ),
                );
            }
        } else if !info.facts.tools.contains_key(&need.tool) {
            let package = package(&need.tool);
            check.find(
                Gravity::Refused,
                format!(
                    "needs {}, which is not on {} (Debian: apt install {package})",
                    need.tool, info.name
                ),
            );
        }
    }
    Ok(())
}

/// The Debian package that brings a program.
fn package(tool: &str) -> &str {
    match tool {
        "btrfs" | "mkfs.btrfs" => "btrfs-progs",
        "zfs" | "zpool" => "zfsutils-linux",
        "losetup" | "umount" | "mount" => "mount",
        "find" => "findutils",
        "cp" | "df" | "sort" | "split" | "sha256sum" | "stat" => "coreutils",
        "awk" => "mawk",
        "lvs" | "lvcreate" | "lvconvert" | "vgcreate" => "lvm2",
        "fstrim" => "util-linux",
        "mkfs.ext4" => "e2fsprogs",
        "mkfs.xfs" => "xfsprogs",
        "pscp" => "putty-tools",
        "proftpd" => "proftpd-core",
        "scp" | "sftp" | "ssh" => "openssh-client",
        // From Proxmox's own repository.
        "qm" | "qmrestore" => "qemu-server",
        "vma" => "pve-qemu-kvm",
        "proxmox-backup-manager" | "proxmox-backup-debug" => "proxmox-backup-server",
        "pct" => "pve-container",
        "pvesm" => "libpve-storage-perl",
        "pvesh" | "vzdump" => "pve-manager",
        other => other,
    }
}
