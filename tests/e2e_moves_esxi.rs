//! Disks of `ESXi`: cloned in every format, off and running, compared by their flat content, with nothing left; and what is refused.
#![cfg(test)]

#[path = "support/esxi.rs"]
mod esxi;
#[path = "support/events.rs"]
mod events;
#[path = "support/figures.rs"]
mod figures;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/screen.rs"]
mod screen;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/world.rs"]
mod world;

use esxi::{Esxi, PASSWORD};
use events::Recording;
use figures::values;
use screen::Screen;
use serde_json::Value;
use world::Ended;

/// A session of `esxi-clone` on one disk.
fn clone(esxi: &Esxi, record: &str, disk: &str, sets: &[&str], reps: &str) -> (Ended, Recording) {
    let subject = format!("vmdk:{disk}");
    let record = esxi.world.text(record);
    let mut all = vec!["run", "--host", "esx1", "--method", "esxi-clone"];
    all.extend(["--subject", &subject, "--reps", reps, "--format", "json"]);
    all.extend(["--record", &record]);
    for set in sets {
        all.extend(["--set", set]);
    }
    let ended = esxi.world.run(&all);
    let recording = Recording::read(std::path::Path::new(&record));
    (ended, recording)
}

fn assert_proved(report: &Value, series: &str, reps: usize) {
    let row = &report["rows"][0];
    assert_eq!(row["series"], series, "{row}");
    assert_eq!(row["verified"]["matched"], reps, "{row}");
    let share = row["verified"]["share"].as_str().unwrap();
    assert!(share.contains("streamed here"), "{share}");
    for name in ["backup", "restore"] {
        assert_eq!(values(report, series, "times", name, "s").len(), reps);
    }
}

/// Every format there and back; what is allocated is told beside what a reader sees, and the rate is of the former.
#[test]
fn a_disk_is_cloned_in_every_format_and_its_content_comes_back() {
    let Some(esxi) = Esxi::start() else { return };
    let disk = esxi.machine(
        12,
        "shop [prod]  web",
        "ds1/shop [old]/web",
        "one\n3 lines [x]",
    );
    let before = esxi.there();
    let original = esxi.sh(&format!("md5sum '{}'", disk.replace(".vmdk", "-flat.vmdk")));
    // To either datastore three times, as the article has it; the other formats once.
    for (format, reps, to, stored) in [
        ("thin", 3, "/vmfs/volumes/nas", 3_145_728.0..4_000_000.0),
        (
            "zeroedthick",
            3,
            "/vmfs/volumes/big store",
            6_291_456.0..7_000_000.0,
        ),
        (
            "eagerzeroedthick",
            1,
            "/vmfs/volumes/big store",
            6_291_456.0..7_000_000.0,
        ),
        (
            "2gbsparse",
            1,
            "/vmfs/volumes/nas",
            3_145_728.0..4_000_000.0,
        ),
    ] {
        let sets = [format!("to={to}"), format!("format={format}")];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let record = format!("{format}.jsonl");
        let (run, _) = clone(&esxi, &record, &disk, &sets, &reps.to_string());
        run.assert_good();
        let report = run.json();
        assert_proved(&report, format, reps);
        for (name, range) in [
            ("disk logical", 6_291_456.0..6_291_457.0),
            ("disk", 3_145_728.0..3_300_000.0),
            ("clone", stored),
        ] {
            let bytes = values(&report, format, "space", name, "B");
            assert!(
                bytes.iter().all(|bytes| range.contains(bytes)),
                "{format}, {name}: {bytes:?}"
            );
            assert_eq!(bytes.len(), reps);
        }
        assert_eq!(esxi.there(), before, "{format}");
    }
    assert_eq!(
        esxi.sh(&format!("md5sum '{}'", disk.replace(".vmdk", "-flat.vmdk"))),
        original
    );
}

/// A machine that runs is cloned behind a snapshot, which is removed also where the clone fails.
#[test]
fn a_machine_that_runs_has_a_snapshot_for_as_long_as_it_is_cloned() {
    let Some(esxi) = Esxi::start() else { return };
    let disk = esxi.machine(7, "db", "ds1/db/db", "");
    esxi.sh("echo on >/etc/vmware/machines/7/state");
    let before = esxi.there();
    let to = "to=/vmfs/volumes/nas";
    let (run, recording) = clone(&esxi, "on.jsonl", &disk, &[to, "running=true"], "1");
    run.assert_good();
    assert_proved(&run.json(), "thin", 1);
    assert_eq!(
        run.json()["rows"][0]["labels"]["machine"],
        "runs, behind a snapshot"
    );
    let created = recording
        .of("step")
        .any(|step| step.to_string().contains("snapshot.create 7 "));
    assert!(created);
    assert_eq!(esxi.there(), before);

    // What the clone meets in its middle.
    esxi.sh("cp /bin/vmkfstools /tmp/real; printf '#!/bin/sh\\nprintf \"Clone: 41%% done.OBJLIB-FILEBE : FileBEIoctl: ioctl operation failed on x : Input/output error (327682)\" >&2\\nexit 1\\n' >/bin/vmkfstools");
    let (run, _) = clone(&esxi, "io.jsonl", &disk, &[to, "running=true"], "1");
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(
        run.err.contains("Input/output error (327682)"),
        "{}",
        run.err
    );
    esxi.sh("mv /tmp/real /bin/vmkfstools");
    assert!(!esxi.path("etc/vmware/machines/7/snapshot").exists());
    esxi.world
        .run(&["recover", "--host", "esx1", "--remove"])
        .assert_good();
    assert_eq!(esxi.there(), before);
}

#[test]
fn what_cannot_be_cloned_safely_is_refused_with_its_reason() {
    let Some(esxi) = Esxi::start() else { return };
    let disk = esxi.machine(12, "web", "ds1/web/web", "");
    let before = esxi.there();
    let machine = "/etc/vmware/machines/12";
    let vmx = disk.replace(".vmdk", ".vmx");
    let to = "to=/vmfs/volumes/nas";
    let refused = |record: &str, disk: &str, sets: &[&str], words: &[&str]| {
        let (run, _) = clone(&esxi, record, disk, sets, "1");
        assert_eq!(run.code, 4, "{}", run.err);
        for word in words {
            assert!(run.err.contains(word), "{word}: {}", run.err);
        }
    };
    refused(
        "flat.jsonl",
        &disk.replace(".vmdk", "-flat.vmdk"),
        &[to],
        &["holds the data of a disk"],
    );
    refused(
        "off.jsonl",
        &disk,
        &[to, "running=true"],
        &["machine 12 is off"],
    );
    refused(
        "nfs.jsonl",
        &disk,
        &[to, "format=eagerzeroedthick"],
        &["cannot be made on NFS (nas)"],
    );
    refused(
        "to.jsonl",
        &disk,
        &["to=/vmfs/volumes/none"],
        &["/vmfs/volumes/none", "is not there"],
    );
    esxi.sh(&format!("echo on >{machine}/state"));
    refused(
        "on.jsonl",
        &disk,
        &[to],
        &["machine 12 runs", "running=true"],
    );
    // The folder that the datastore's name stands for, and the same where no name does.
    let uuid = "64f0a1c2-11e0a3d4-7c21-0c9d92aa0001";
    let by_uuid = disk.replace("/ds1/", &format!("/{uuid}/"));
    let running = ["machine 12 runs", "running=true"];
    refused("uuid.jsonl", &by_uuid, &[to], &running);
    let name = "/vmfs/volumes/ds1";
    esxi.sh(&format!("rm {name}; mkdir -p {name}/.comeback"));
    let unnamed = ["no registered machine", uuid];
    refused("unnamed.jsonl", &by_uuid, &[to], &unnamed);
    esxi.sh(&format!("rm -r {name}; ln -s {uuid} {name}"));
    // A second disk in another folder, which its machine names by the UUID.
    let far = "ds1/disks/far";
    let other = "64f0a1c2-11e0a3d4-7c21-0c9d92aa0001/disks/far";
    let second = esxi.machine(13, "spare", far, "");
    esxi.sh(&format!(
        "rm -r /etc/vmware/machines/13; cp {vmx} /tmp/vmx; echo 'scsi0:1.fileName = \"/vmfs/volumes/{other}.vmdk\"' >>{vmx}"
    ));
    refused("far.jsonl", &second, &[to], &["machine 12 runs"]);
    esxi.sh(&format!("mv /tmp/vmx {vmx}"));
    refused("alone.jsonl", &second, &[to], &["no registered machine"]);
    esxi.sh("rm -r /vmfs/volumes/ds1/disks");
    // Its file of machines then names what stands upon the disk, not the disk.
    esxi.sh(&format!(
        "echo off >{machine}/state; vim-cmd vmsvc/snapshot.create 12 mine x 0 0"
    ));
    let below = ["machine 12 has snapshots"];
    refused("snapshots.jsonl", &disk, &[to], &below);
    esxi.sh("vim-cmd vmsvc/snapshot.remove 12 7");
    let left = disk.replace(".vmdk", "-000001-sesparse.vmdk");
    esxi.sh(&format!("touch {left}"));
    refused("left.jsonl", &disk, &[to], &["web-000001-sesparse.vmdk"]);
    let list = disk.replace(".vmdk", ".vmsd");
    esxi.sh(&format!(
        "rm {left}; echo 'snapshot.numSnapshots = \"2\"' >{list}"
    ));
    refused("list.jsonl", &disk, &[to], &["tells of snapshots", &list]);
    esxi.sh(&format!(
        "rm {list}; cp {vmx} /tmp/vmx; echo 'scsi0:0.mode = \"independent-persistent\"' >>{vmx}"
    ));
    refused(
        "independent.jsonl",
        &disk,
        &[to],
        &["independent disk (scsi0:0)"],
    );
    esxi.sh(&format!("cp /tmp/vmx {vmx}; mv {disk} /tmp/disk; sed 's/\"vmfs\"/\"vmfsPassthroughRawDeviceMap\"/' /tmp/disk >{disk}"));
    refused("rdm.jsonl", &disk, &[to], &["maps a whole device (RDM)"]);
    esxi.sh(&format!("mv /tmp/disk {disk}; rm /tmp/vmx"));
    assert_eq!(esxi.there(), before);
}

/// The password goes by keyboard-interactive; what the host is, and which disks it has, is told.
#[test]
fn a_host_asks_by_keyboard_interactive_and_is_told_for_what_it_is() {
    let Some(esxi) = Esxi::start() else { return };
    esxi.machine(3, "a [b] c", "ds1/a [b]/c", "9   x   [ds1] y/y.vmx");
    let mut screen = Screen::start(
        &esxi.world.path("home"),
        &[
            "check",
            "--host",
            "asked",
            "--method",
            "esxi-clone",
            "--subject",
            "vmdk:/vmfs/volumes/ds1/a [b]/c.vmdk",
            "--set",
            "to=/vmfs/volumes/nas",
        ],
        &[("USER", "root")],
        (120, 40),
    );
    screen.until("the echo off", |_| !screen.echoes());
    screen.keys(PASSWORD);
    screen.keys("\n");
    assert_eq!(screen.end().exit_code(), 0, "{}", screen.text());
    assert!(screen.text().contains("can run"), "{}", screen.text());
    assert!(!screen.raw().contains(PASSWORD));
}

/// Three times by the web datastore, the password asked for once; a certificate that is another one is refused before the password goes out.
#[test]
fn the_web_datastore_gives_a_disk_and_takes_it_back() {
    if !["python3", "curl"]
        .iter()
        .all(|tool| missing::have_tool(tool))
    {
        return;
    }
    let Some(esxi) = Esxi::start() else { return };
    let web = esxi.web();
    let disk = esxi.machine(12, "web", "big store/web [old]/web", "");
    let before = esxi.there();
    let run = |record: &str, reps: &str, more: &[&str]| {
        let (port, subject) = (format!("port={}", web.port), format!("vmdk:{disk}"));
        let record = esxi.world.text(record);
        let mut all = vec![
            "run",
            "--host",
            "esx1",
            "--role",
            "target=local",
            "--method",
        ];
        all.extend(["copy-datastore", "--subject", &subject, "--reps", reps]);
        all.extend(["--set", &port, "--record", &record]);
        all.extend(more);
        let mut screen = Screen::start(
            &esxi.world.path("home"),
            &all,
            &[("USER", "root")],
            (120, 40),
        );
        screen.until("the echo off", |_| !screen.echoes());
        screen.keys(PASSWORD);
        screen.keys("\n");
        let code = screen.end().exit_code();
        assert!(!screen.raw().contains(PASSWORD));
        let text = std::fs::read_to_string(&record).unwrap();
        assert!(
            !text.contains(r#"\"ware\""#),
            "the password is in the recording"
        );
        (code, screen.text(), text)
    };
    let (code, said, text) = run("web.jsonl", "3", &[]);
    assert_eq!(code, 0, "{said}");
    assert!(text.contains("has the fingerprint SHA256 "), "{said}");
    let report = esxi
        .world
        .run(&["report", &esxi.world.text("web.jsonl"), "--format", "json"]);
    let report = report.json();
    assert_eq!(report["rows"][0]["verified"]["matched"], 3, "{report}");
    figures::assert_rates(&report, &["backup", "restore"]);
    let told = values(&report, "full", "space", "backup, as told", "B/s");
    assert_eq!(told.len(), 3, "{report}");
    // All of a thin disk goes through: what is allocated there is less than what the copy has.
    let stored = |name| values(&report, "full", "space", name, "B")[0];
    assert!(stored("disk") < 4e6 && stored("copy") > 6e6, "{report}");
    assert_eq!(esxi.there(), before);
    esxi.world.assert_empty();

    let other = format!("fingerprint={}", ["AB"; 32].join(":"));
    let (code, said, text) = run("other.jsonl", "1", &["--set", &other]);
    assert_eq!(code, 1, "{said}");
    assert!(
        text.contains("is another one: its fingerprint is SHA256 "),
        "{said}"
    );
    let recording = Recording::read(&esxi.world.path("other.jsonl"));
    let mut planned = recording.state("step", "planned");
    assert!(planned.all(|step| step["name"] != "backup"), "{said}");
    let recover = ["recover", "--host", "esx1", "--host", "local", "--remove"];
    esxi.world.run(&recover).assert_good();
    assert_eq!(esxi.there(), before);
}
