//! What can be picked, in tests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::event::{Bytes, HostState, Phase, Place, Placement};
use crate::method::{Kind, Own, SubjectKind};
use crate::recording::{Earlier, Past};

use super::super::offer::*;

fn line(phase: Phase, name: &str, command: &str, destroys: Option<&str>) -> PreviewLine {
    PreviewLine {
        phase: Some(phase),
        name: name.into(),
        command: command.into(),
        destroys: destroys.map(Into::into),
    }
}

pub(super) fn setting(name: &str, value: &str, help: &str, kind: Kind) -> SettingOffer {
    SettingOffer {
        name: name.into(),
        value: value.into(),
        default: value.into(),
        help: help.into(),
        kind,
        problem: None,
    }
}

fn place(disk: &str) -> Place {
    Place {
        host: "hv1".into(),
        disks: vec![disk.into()],
        ..Place::default()
    }
}

fn subject(what: &str, marked: bool, about: &str) -> SubjectOffer {
    SubjectOffer {
        spec: what.parse().unwrap(),
        marked,
        about: about.into(),
    }
}

fn host(name: &str, state: HostState, facts: &str) -> HostOffer {
    HostOffer {
        name: name.into(),
        state,
        facts: facts.into(),
        doing: None,
        legacy: false,
        subjects: Vec::new(),
        subject: None,
    }
}

pub(super) fn method(name: &str, title: &str, host: &str) -> MethodOffer {
    MethodOffer {
        name: name.into(),
        title: title.into(),
        family: "proxmox".into(),
        host: host.into(),
        machines: BTreeMap::from([(host.into(), host.into())]),
        kind: SubjectKind::Vm,
        own: Own::Never,
        subject: "vm:204 (marked)".into(),
        runnable: Ok(()),
        preview: Arc::new(vec![
            line(
                Phase::Protect,
                "backup",
                "vzdump 204 --mode snapshot --storage depot --compress zstd --remove 0",
                None,
            ),
            line(Phase::Account, "archive proved", "zstd -t ‹archive›", None),
        ]),
        warnings: Vec::new(),
        placement: Some(Placement {
            original: place("Micron 7450 (nvme0n1)"),
            copy: place("Seagate Exos (sdb)"),
        }),
        past: Past::Nothing,
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
                Kind::Text,
            ),
            setting(
                "mode",
                "snapshot",
                "how the guest is kept consistent",
                Kind::Choice(vec!["snapshot".into(), "suspend".into(), "stop".into()]),
            ),
            setting(
                "keep",
                "false",
                "keep the archive after the run",
                Kind::Flag,
            ),
            setting(
                "size",
                "512MiB",
                "bytes of the disk that is made where none is named",
                Kind::Bytes,
            ),
        ],
    }
}

/// Two hosts that are up, one that is not, one that is on its way; four methods on the first.
pub(in super::super) fn offer() -> Offer {
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
    destroys.warnings = vec!["times of tasks are whole seconds: ±1 s on each".into()];
    destroys.placement = Some(Placement {
        original: place("Micron 7450 (nvme0n1)"),
        copy: place("Micron 7450 (nvme0n1)"),
    });
    destroys.past = Past::Runs(Earlier {
        runs: 4,
        median: 131.0,
        min: 124.0,
        max: 156.0,
        stored: Some(Bytes(9_630_135_622)),
    });
    Arc::make_mut(&mut destroys.preview).extend([
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
    tree.kind = SubjectKind::Dir;
    tree.own = Own::May;
    tree.subject = "a dir of its own".into();
    tree.past = Past::Others(2);
    Offer {
        revision: 0,
        hosts: vec![
            HostOffer {
                subjects: vec![
                    subject("vm:204", true, "web, 16.0 GiB"),
                    subject("vm:207", false, "db"),
                ],
                subject: "vm:204".parse().ok(),
                ..host("hv1", HostState::Up, "PVE 9.0.3, 16 CPUs, 64 GiB")
            },
            host("esx", HostState::Down, "login: no key is accepted"),
            host("local", HostState::Up, "Debian 13, 2 CPUs"),
            HostOffer {
                doing: Some(("login".into(), Duration::from_secs(3))),
                ..host("nas", HostState::Connecting, "")
            },
        ],
        methods: vec![snapshot, destroys, missing, short, tree],
    }
}
