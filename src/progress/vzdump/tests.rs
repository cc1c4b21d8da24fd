//! Logs as they really look.

use crate::event::ProgressKind::Exact;
use crate::event::Stream;
use crate::progress::testing::{
    causes, figure, figures, marks, progress, read, read_pieces, value, warnings, whole,
};

const VMA: &[u8] = include_bytes!("../../../tests/fixtures/logs/vzdump-agent-zstd.txt");
const PBS: &[u8] = include_bytes!("../../../tests/fixtures/logs/vzdump-pbs-dirty.txt");
const CONTAINER: &[u8] = include_bytes!("../../../tests/fixtures/logs/vzdump-lxc-stop.txt");
const FULL: &[u8] = include_bytes!("../../../tests/fixtures/logs/vzdump-storage-full.txt");
const TAR: &[u8] = include_bytes!("../../../tests/fixtures/logs/vzdump-lxc-tar-error.txt");
const OLD: &[u8] = include_bytes!("../../../tests/fixtures/logs/vzdump-old-status.txt");

#[test]
fn a_running_guest_into_a_file() {
    let found = read("vzdump", VMA);
    assert_eq!(
        value(&found, "archive"),
        Some("/mnt/pve/ssd2/dump/vzdump-qemu-131-2025_05_04-03_20_11.vma.zst")
    );
    assert_eq!(value(&found, "mode"), Some("snapshot"));
    assert_eq!(value(&found, "guest"), Some("qemu"));
    assert_eq!(value(&found, "freeze"), Some("done"));
    assert_eq!(value(&found, "series"), Some("full"));
    assert_eq!(
        marks(&found),
        [
            ("freeze", None),
            ("thaw", None),
            ("started", None),
            ("100 %", Some(72.0))
        ]
    );
    let all = progress(&found);
    let gib = |n: f64| Some((n * 1024f64.powi(3)) as u64);
    assert_eq!(all[0], (Exact, Some(754_765_004), gib(24.0), Some(3.0)));
    assert_eq!(
        all.last(),
        Some(&(Exact, gib(24.0), gib(24.0), Some(100.0)))
    );
    assert_eq!(whole(&found, "disks"), 25_773_998_080);
    assert_eq!(whole(&found, "archive_size"), 9_631_464_161, "GB means GiB");
    assert_eq!(whole(&found, "sparse"), 6_979_321_856);
    // 6.50 of 24.00 GiB: computed from bytes, the log cuts it to 27 %.
    assert!((figure(&found, "sparse_share") - 27.083).abs() < 0.001);
    assert!((figures(&found, "sparse_share")[0].1 - 0.0417).abs() < 0.001);
    assert_eq!(figures(&found, "copy"), [(72.0, 1.0)]);
    assert_eq!(figures(&found, "backup"), [(73.0, 1.0)]);
    assert_eq!(figures(&found, "stamped"), [(74.0, 1.0)]);
    assert!((figure(&found, "rate") - 341.3 * 1_048_576.0).abs() < 1.0);
    assert!(causes(&found).is_empty());
    assert_eq!(
        warnings(&found),
        [
            "exclude disk 'scsi1' 'ssd2:vm-131-disk-9' (backup=no)",
            "snapshots found (not included into backup)",
            "could not notify via target `mail-to-root`: no recipient"
        ]
    );
}

#[test]
fn a_dirty_bitmap_is_a_series_of_its_own() {
    let found = read("vzdump", PBS);
    assert_eq!(
        value(&found, "archive"),
        Some("vm/131/2025-05-04T01:20:11Z")
    );
    assert_eq!(value(&found, "series"), Some("dirty-bitmap"));
    assert_eq!(value(&found, "freeze"), Some("skipped"));
    assert_eq!(value(&found, "encryption"), Some("on"));
    assert_eq!(value(&found, "mode"), Some("suspend"));
    assert_eq!(whole(&found, "dirty"), 104_857_600);
    assert_eq!(progress(&found)[0].2, Some(104_857_600), "of what is dirty");
    assert_eq!(whole(&found, "reused"), 25_662_429_593);
    assert_eq!(figures(&found, "pause"), [(5.0, 1.0)]);
    assert!(figures(&found, "archive_size").is_empty());
    let names: Vec<_> = marks(&found).iter().map(|mark| mark.0).collect();
    assert_eq!(
        names,
        ["guest down", "started", "guest up", "100 %", "validation"]
    );
    // A hook's noise behind the end.
    assert!(causes(&found).is_empty());
}

#[test]
fn a_container_has_no_percent() {
    let found = read("vzdump", CONTAINER);
    assert!(progress(&found).is_empty());
    assert_eq!(whole(&found, "written"), 978_124_800);
    assert_eq!(whole(&found, "archive_size"), 345 << 20);
    assert_eq!(figures(&found, "downtime"), [(19.0, 1.0)]);
    assert_eq!(figures(&found, "backup"), [(19.0, 1.0)]);
    assert_eq!(value(&found, "guest"), Some("lxc"));
    assert_eq!(
        warnings(&found),
        ["excluding bind mount point mp0 ('/data') from backup"]
    );
    assert!(causes(&found).is_empty());
}

#[test]
fn the_compressor_knows_why_the_storage_is_full() {
    let found = read_pieces(
        "vzdump",
        [(Stream::Out, FULL), (Stream::Err, b"job errors\n")],
    );
    assert_eq!(
        causes(&found),
        ["zstd: error 70 : Write error : cannot write block : No space left on device"]
    );
    assert!(!marks(&found).iter().any(|mark| mark.0 == "100 %"));
    assert_eq!(value(&found, "series"), None);
}

#[test]
fn the_root_cause_may_be_information() {
    let found = read("vzdump", TAR);
    assert_eq!(
        causes(&found),
        [
            "tar: /mnt/pve/nas2/dump/vzdump-lxc-207-2023_04_07-17_11_08.tmp: Cannot open: Permission denied"
        ]
    );
}

#[test]
fn an_error_that_comes_three_times_is_told_once() {
    let found = read(
        "vzdump",
        b"ERROR: interrupted by signal\nINFO: aborting backup job\n\
          ERROR: Backup of VM 131 failed - interrupted by signal\n\
          ERROR: Backup job failed - interrupted by signal\nTASK ERROR: interrupted by signal\n",
    );
    assert_eq!(causes(&found), ["interrupted by signal"]);
}

#[test]
fn without_a_job_the_reason_is_on_stderr() {
    let text = "could not activate storage 'pbs2': pbs2: Cannot find datastore 'd'";
    let found = read_pieces("vzdump", [(Stream::Err, text.as_bytes())]);
    assert_eq!(causes(&found), [text]);
    let found = read_pieces("vzdump", [(Stream::Err, &b"job errors\n"[..])]);
    assert_eq!(causes(&found), ["job errors"]);
    let found = read_pieces(
        "vzdump",
        [(Stream::Err, &b"Task finished with 1 warning(s)!\n"[..])],
    );
    assert_eq!(found, []);
}

#[test]
fn both_results_of_a_task_whose_hook_failed() {
    let found = read(
        "vzdump",
        b"Oct 27 21:25:04 pve7 pvedaemon[318]: INFO: Finished Backup of VM 102 (00:00:23)\n\
          Oct 27 21:25:23 pve7 pvedaemon[318]: ERROR: Backup job failed - command '/root/hook.sh job-abort' failed: exit code 1\n",
    );
    assert_eq!(figures(&found, "backup"), [(23.0, 1.0)]);
    assert_eq!(
        causes(&found),
        ["command '/root/hook.sh job-abort' failed: exit code 1"]
    );
}

#[test]
fn the_status_lines_of_old_versions() {
    let found = read("vzdump", OLD);
    let all = progress(&found);
    assert_eq!(
        all[0],
        (Exact, Some(2_147_483_648), Some(21_474_836_480), Some(10.0))
    );
    assert_eq!(marks(&found), [("100 %", Some(208.0))]);
    assert_eq!(figures(&found, "sparse"), [(1_073_741_824.0, 1.0)]);
    assert!((figure(&found, "sparse_share") - 5.0).abs() < 1e-9);
    assert_eq!(whole(&found, "transferred"), 21_474_836_480);
    assert_eq!(figures(&found, "copy"), [(208.0, 1.0)]);
    assert_eq!(figures(&found, "backup"), [(208.0, 1.0)]);
    assert!((figure(&found, "archive_size") - 7.5 * 1024f64.powi(3)).abs() < 1.0);
}

#[test]
fn clocks_that_disagree_are_both_shown() {
    let found = read(
        "vzdump",
        b"INFO: Backup started at 2025-04-18 09:27:15\nINFO: transferred 20.12 GiB in <1 seconds (10.1 GiB/s)\n\
          INFO: Finished Backup of VM 122 (00:00:02)\nINFO: Backup finished at 2025-04-18 09:27:57\n",
    );
    assert_eq!(figures(&found, "copy"), [(0.0, 1.0)]);
    assert_eq!(figures(&found, "backup"), [(2.0, 1.0)]);
    assert_eq!(figures(&found, "stamped"), [(42.0, 1.0)]);
    assert_eq!(
        warnings(&found),
        ["the log tells 2 s, its own time stamps 42 s"]
    );
}

#[test]
fn one_that_waited_for_its_turn_leaves_the_series() {
    let found = read(
        "vzdump",
        b"INFO: trying to get global lock - waiting...\nINFO: got global lock\n\
          INFO: starting new backup job: vzdump 131\nINFO: Starting Backup of VM 131 (qemu)\n\
          INFO: Finished Backup of VM 131 (00:00:23)\n",
    );
    assert_eq!(value(&found, "series"), Some("waited"));
    assert_eq!(marks(&found), [("lock wait", None), ("lock got", None)]);
}

#[test]
fn a_mode_that_is_not_the_one_asked_for() {
    let found = read(
        "vzdump",
        b"INFO: mode failure - some volumes do not support snapshots\n\
          INFO: trying 'suspend' mode instead\nINFO: backup mode: suspend\n",
    );
    assert_eq!(value(&found, "mode"), Some("suspend"));
    assert_eq!(warnings(&found).len(), 2);
}
