//! What can be picked, in tests.

use crate::event::{Bytes, HostState, Phase};

use super::super::offer::*;

fn line(phase: Phase, name: &str, command: &str, destroys: Option<&str>) -> PreviewLine {
    PreviewLine {
        phase,
        name: name.into(),
        command: command.into(),
        destroys: destroys.map(Into::into),
    }
}

pub(super) fn setting(name: &str, value: &str, help: &str, kind: SettingKind) -> SettingOffer {
    SettingOffer {
        name: name.into(),
        value: value.into(),
        help: help.into(),
        kind,
        problem: None,
    }
}

pub(super) fn method(name: &str, title: &str, host: &str) -> MethodOffer {
    MethodOffer {
        name: name.into(),
        title: title.into(),
        family: "proxmox".into(),
        host: host.into(),
        subject: "vm 204 web".into(),
        runnable: Ok(()),
        preview: vec![
            line(
                Phase::Protect,
                "backup",
                "vzdump 204 --mode snapshot --storage depot --compress zstd --remove 0",
                None,
            ),
            line(Phase::Account, "archive proved", "zstd -t ‹archive›", None),
        ],
        warnings: Vec::new(),
        room: vec![Room {
            at: "depot".into(),
            needs: Bytes(9_700_000_000),
            free: Some(Bytes(52 << 30)),
        }],
        named: Vec::new(),
        settings: vec![
            setting(
                "storage",
                "depot",
                "the storage that takes the archive",
                SettingKind::Text,
            ),
            setting(
                "mode",
                "snapshot",
                "how the guest is kept consistent",
                SettingKind::Choice(vec!["snapshot".into(), "suspend".into(), "stop".into()]),
            ),
            setting(
                "keep",
                "false",
                "keep the archive after the run",
                SettingKind::Flag,
            ),
        ],
    }
}

/// Two hosts that are up and one that is not; four methods on the first.
pub(super) fn offer() -> Offer {
    let mut destroys = method(
        "guest-archive",
        "vzdump, then qmrestore in its place",
        "hv1",
    );
    destroys.named = vec![Named {
        host: "hv1".into(),
        what: "vm:204".into(),
        name: "web".into(),
    }];
    destroys.warnings = vec![
        "same disk: original and archive are both on Micron 7450 (nvme0n1); one dead disk takes both".into(),
        "times of tasks are whole seconds: ±1 s on each".into(),
    ];
    destroys.preview.extend([
        line(
            Phase::Damage,
            "destroy the guest",
            "qm destroy 204",
            Some("vm:204 web (marked)"),
        ),
        line(Phase::Restore, "restore", "qmrestore ‹archive› 204", None),
        line(
            Phase::Ready,
            "first answer",
            "wait until port 22 of ‹guest› answers",
            None,
        ),
        line(Phase::Verify, "sha256", "sha256sum /srv/payload", None),
        line(Phase::Cleanup, "archive", "pvesm free ‹archive›", None),
    ]);
    let mut missing = method("guest-store", "backup server", "hv1");
    missing.runnable =
        Err("proxmox-backup-client is missing: apt install proxmox-backup-client".into());
    let mut short = method("guest-copy", "full copy beside", "hv1");
    short.room = vec![Room {
        at: "pve/data".into(),
        needs: Bytes(16 << 30),
        free: Some(Bytes(5 << 30)),
    }];
    let snapshot = method("guest-snapshot", "qm snapshot, then rollback", "hv1");
    let mut tree = method("tree-rsync", "rsync there and back", "local");
    tree.family = "files".into();
    Offer {
        revision: 0,
        hosts: vec![
            HostOffer {
                name: "hv1".into(),
                state: HostState::Up,
                facts: "PVE 9.0.3, 16 CPUs, 64 GiB".into(),
                legacy: false,
            },
            HostOffer {
                name: "esx".into(),
                state: HostState::Down,
                facts: "login: no key is accepted".into(),
                legacy: false,
            },
            HostOffer {
                name: "local".into(),
                state: HostState::Up,
                facts: "Debian 13, 2 CPUs".into(),
                legacy: false,
            },
        ],
        methods: vec![snapshot, destroys, missing, short, tree],
    }
}
