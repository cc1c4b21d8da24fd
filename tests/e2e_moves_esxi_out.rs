//! What goes out of an `ESXi` host by its own programs: FTP beside a clone, scp through the firewall, which is asked about and closed again.
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

use esxi::Esxi;
use events::Recording;
use screen::Screen;
use serde_json::Value;

/// A clone to the second disk and a way out of the host, each alone and both at once, three times: all of it proved.
fn pair(esxi: &Esxi, method: &str, disk: &str) -> Value {
    let (subject, record) = (
        format!("vmdk:{disk}"),
        esxi.world.text(&format!("{method}.jsonl")),
    );
    let both = format!("esxi-clone,{method}");
    let all = ["run", "--host", "esx1", "--role", "target=vault"];
    let own = ["--together", &both, "--subject", &subject];
    let open = format!("{method}.firewall=open");
    let sets = [
        "--set",
        &open,
        "--set",
        "esxi-clone.to=/vmfs/volumes/big store",
    ];
    let more = ["--reps", "3", "--format", "json", "--record", &record];
    let run = esxi.world.run(&[&all[..], &own, &sets, &more].concat());
    run.assert_good();
    let report = run.json();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4, "{report}");
    for row in rows {
        assert_eq!(row["verified"]["matched"], 3, "{row}");
    }
    let side = &report["at_once"][0]["sides"][0];
    assert!(side["overlap"]["low"].as_f64().unwrap() > 0.0, "{report}");
    report
}

/// The article's first pair, of a disk on NFS: a clone to a second disk, and FTP by the host's own ftpput and ftpget, each alone and both
/// at once.
#[test]
fn a_clone_and_ftp_go_on_alone_and_at_once() {
    if !missing::have_tool("proftpd") {
        return;
    }
    let Some(esxi) = Esxi::start() else { return };
    let Some(vault) = server::Sshd::start() else {
        return;
    };
    esxi.knows("vault", &vault);
    let disk = esxi.machine(12, "web", "nas/web/web", "");
    let before = esxi.there();
    pair(&esxi, "esxi-ftp", &disk);
    let recording = Recording::read(&esxi.world.path("esxi-ftp.jsonl"));
    figures::assert_no_secret(&recording, "proftpd.conf");
    assert_eq!(esxi.there(), before);
    esxi.world.assert_empty();
}

/// From the host by its own scp: the firewall is read, opened when that is said, and closed again, also where the copy fails.
#[test]
fn a_ruleset_is_open_for_as_long_as_a_copy_needs_it() {
    let Some(esxi) = Esxi::start() else { return };
    let Some(vault) = server::Sshd::start_with("Subsystem sftp internal-sftp") else {
        return;
    };
    esxi.knows("vault", &vault);
    let disk = esxi.machine(12, "web", "ds1/web/web", "");
    esxi.sh(": >/etc/vmware/esxi-8.0u2");
    let before = esxi.there();
    let run = |record: &str, reps: &str, set: &str| {
        let (subject, record) = (format!("vmdk:{disk}"), esxi.world.text(record));
        let mut all = vec![
            "run",
            "--host",
            "esx1",
            "--role",
            "target=vault",
            "--method",
        ];
        all.extend([
            "esxi-scp",
            "--subject",
            &subject,
            "--reps",
            reps,
            "--set",
            set,
        ]);
        all.extend(["--format", "json", "--record", &record]);
        esxi.world.run(&all)
    };
    let refused = run("closed.jsonl", "1", "firewall=keep");
    assert_eq!(refused.code, 4, "{}", refused.err);
    assert!(refused.err.contains("sshClient is off"), "{}", refused.err);
    assert!(
        refused.err.contains("--set firewall=open"),
        "{}",
        refused.err
    );

    esxi.sh("echo on >/etc/vmware/machines/12/state");
    let refused = run("on.jsonl", "1", "firewall=open");
    assert_eq!(refused.code, 4, "{}", refused.err);
    assert!(refused.err.contains("machine 12 runs"), "{}", refused.err);
    esxi.sh("echo off >/etc/vmware/machines/12/state");

    // Where nothing is said it is asked, before anything is made.
    let refused = run("nobody.jsonl", "1", "esxi-scp.cipher=");
    assert_eq!(refused.code, 4, "{}", refused.err);
    for words in ["is it to be opened", "nobody is there", "firewall=open"] {
        assert!(refused.err.contains(words), "{words}: {}", refused.err);
    }
    let subject = format!("vmdk:{disk}");
    for (answer, code) in [("no", 4), ("yes", 0)] {
        let record = esxi.world.text(&format!("{answer}.jsonl"));
        let all = ["run", "--host", "esx1", "--role", "target=vault"];
        let own = ["--method", "esxi-scp", "--subject", &subject];
        let all = [&all[..], &own, &["--reps", "1", "--record", &record]].concat();
        let home = esxi.world.path("home");
        let mut screen = Screen::start(&home, &all, &[("USER", "root")], (120, 40));
        screen.until("the question", |text| text.contains("firewall"));
        screen.keys(&format!("{answer}\n"));
        assert_eq!(screen.end().exit_code(), code, "{}", screen.text());
        let recording = Recording::read(std::path::Path::new(&record));
        let asked = recording.of("ask").next().unwrap()["text"].to_string();
        assert!(asked.contains("is it to be opened for the run"), "{asked}");
        assert_eq!(esxi.there(), before);
    }

    // Open when it was looked at, and closed since: nobody was asked, so it is not opened.
    esxi.sh("esxcli network firewall ruleset set -e true -r sshClient; cp /bin/esxcli /tmp/real");
    esxi.sh(
        "printf '#!/bin/sh\\n[ ! -e /vmfs/volumes/ds1/comeback-* ] || /tmp/real network firewall ruleset set -e false -r sshClient\\n\
         exec /tmp/real \"$@\"\\n' >/bin/esxcli",
    );
    let refused = run("since.jsonl", "1", "firewall=ask");
    assert_eq!(refused.code, 1, "{}", refused.err);
    for words in ["out any more", "nobody was asked", "firewall=open"] {
        assert!(refused.err.contains(words), "{words}: {}", refused.err);
    }
    esxi.sh("mv /tmp/real /bin/esxcli");
    let recover = ["recover", "--host", "esx1", "--host", "vault", "--remove"];
    esxi.world.run(&recover).assert_good();
    assert_eq!(esxi.there(), before);

    // The article's second pair; before 8.0 U2 the list has one column.
    esxi.sh("rm /etc/vmware/esxi-8.0u2");
    let before = esxi.there();
    let moved = pair(&esxi, "esxi-scp", &disk);
    figures::assert_rates(&moved, &["backup", "restore"]);
    assert_eq!(esxi.there(), before);
    esxi.sh(": >/etc/vmware/esxi-8.0u2");
    let before = esxi.there();

    // Where it was open, it stays so.
    esxi.sh("esxcli network firewall ruleset set -e true -r sshClient");
    run("was-open.jsonl", "1", "firewall=open").assert_good();
    let rules = esxi.sh("esxcli network firewall ruleset list -r sshClient");
    assert!(
        rules.contains("sshClient                    true"),
        "{rules}"
    );
    esxi.sh("esxcli network firewall ruleset set -e false -r sshClient");

    // It is closed again where nothing came through.
    std::fs::remove_file(esxi.path(".machine/root/.ssh/id_ed25519")).unwrap();
    let failed = run("failed.jsonl", "1", "firewall=open");
    assert_eq!(failed.code, 1, "{}", failed.err);
    assert!(failed.err.contains("cannot log into"), "{}", failed.err);
    esxi.world.run(&recover).assert_good();
    assert_eq!(esxi.there(), before);
}
