//! Logs as they really look.

use crate::event::ProgressKind::{Exact, Unknown};
use crate::event::Stream;
use crate::progress::testing::{
    causes, figure, figures, marks, progress, read, read_pieces, value, warnings, whole,
};

const VMA: &[u8] = include_bytes!("../../../tests/fixtures/logs/qmrestore-vma-two-disks.txt");
const PBS: &[u8] = include_bytes!("../../../tests/fixtures/logs/qmrestore-pbs.txt");
const TRUNCATED: &[u8] = include_bytes!("../../../tests/fixtures/logs/qmrestore-truncated.txt");

#[test]
fn a_vma_archive_with_a_small_disk() {
    let found = read("qmrestore", VMA);
    let all = progress(&found);
    // 32 GiB and 9 clusters for the 528 KiB disk: never more than 100 %.
    let total = (32 << 30) + 589_824;
    assert_eq!(all[0], (Exact, Some(343_670_784), Some(total), Some(1.0)));
    assert_eq!(
        all.last(),
        Some(&(Exact, Some(total - 65_536), Some(total), Some(100.0)))
    );
    assert_eq!(marks(&found), [("100 %", Some(41.0)), ("rescan", None)]);
    assert_eq!(whole(&found, "read"), total);
    assert_eq!(whole(&found, "sparse"), 31_138_512_896);
    assert_eq!(whole(&found, "written"), total - 31_138_512_896);
    assert!((figure(&found, "sparse_share") - 90.6).abs() < 0.1);
    assert_eq!(figures(&found, "zero_4k_share"), [(1.87, 0.01)]);
    assert_eq!(figures(&found, "extract"), [(41.0, 1.0)]);
    assert_eq!(value(&found, "volume"), Some("local-lvm:vm-131-disk-1"));
    assert_eq!(
        warnings(&found).len(),
        1,
        "the sum of thin volumes is a note"
    );
    assert!(causes(&found).is_empty());
}

#[test]
fn a_backup_servers_snapshot() {
    let found = read("qmrestore", PBS);
    assert_eq!(
        progress(&found),
        [
            (Exact, Some(134_217_728), None, Some(1.0)),
            (Exact, Some(8_589_934_592), None, Some(100.0))
        ]
    );
    assert_eq!(marks(&found), [("100 %", Some(61.0)), ("rescan", None)]);
    assert_eq!(whole(&found, "read"), 8_589_934_592);
    assert_eq!(whole(&found, "sparse"), 3_221_225_472);
    assert!((figure(&found, "sparse_share") - 37.5).abs() < 1e-9);
    assert_eq!(figures(&found, "extract"), [(61.37, 0.01)]);
    assert!((figure(&found, "rate") - 133.49 * 1_048_576.0).abs() < 1.0);
}

#[test]
fn two_images_of_unknown_size_have_no_percent() {
    let found = read(
        "qmrestore",
        b"new volume ID is 'z:vm-7-disk-0'\nnew volume ID is 'z:vm-7-disk-1'\n\
          progress 100% (read 540672 bytes, zeroes = 0% (0 bytes), duration 0 sec)\n\
          restore image complete (bytes=540672, duration=0.02s, speed=25.78MB/s)\n\
          progress 1% (read 12582912 bytes, zeroes = 66% (8388608 bytes), duration 0 sec)\n\
          progress 100% (read 1073741824 bytes, zeroes = 66% (8388608 bytes), duration 9 sec)\n\
          restore image complete (bytes=1073741824, duration=9.10s, speed=112.53MB/s)\n\
          rescan volumes...\n",
    );
    let all = progress(&found);
    assert_eq!(all[0], (Unknown, Some(540_672), None, None));
    assert_eq!(all[1], (Unknown, Some(13_123_584), None, None));
    assert_eq!(marks(&found), [("100 %", None), ("rescan", None)]);
    assert_eq!(whole(&found, "read"), 1_074_282_496);
    assert!(figures(&found, "rate").is_empty());
    assert!((figures(&found, "extract")[0].0 - 9.12).abs() < 1e-9);
}

#[test]
fn two_images_of_known_size_share_a_scale() {
    let found = read(
        "qmrestore",
        b"Formatting '/i/7/vm-7-disk-0.qcow2', fmt=qcow2 cluster_size=65536 size=1048576 lazy_refcounts=off\n\
          new volume ID is 's:7/vm-7-disk-0.qcow2'\n\
          Formatting '/i/7/vm-7-disk-1.qcow2', fmt=qcow2 cluster_size=65536 size=3145728 lazy_refcounts=off\n\
          new volume ID is 's:7/vm-7-disk-1.qcow2'\n\
          progress 50% (read 524288 bytes, zeroes = 0% (0 bytes), duration 0 sec)\n",
    );
    assert_eq!(
        progress(&found),
        [(Exact, Some(524_288), Some(4_194_304), None)]
    );
}

#[test]
fn the_decompressor_is_the_root_cause() {
    let found = read_pieces(
        "qmrestore",
        [
            (Stream::Out, TRUNCATED),
            (
                Stream::Err,
                &b"command 'set -o pipefail && zstd -q -d -c /b/a.vma.zst | vma extract' failed: exit code 133\n"[..],
            ),
        ],
    );
    assert_eq!(
        causes(&found)[0],
        "_12-03_04_05.vma.zst : Read error (39) : premature end"
    );
    assert!(
        !causes(&found)
            .iter()
            .any(|cause| cause.starts_with("command"))
    );
    assert!(warnings(&found)[0].contains("NOT cleaned up"));
    assert!(marks(&found).is_empty());
}

#[test]
fn progress_glued_to_a_message_is_not_read() {
    let found = read(
        "qmrestore",
        b"progress 2temporary volume 'v:204/vm-204-disk-0.qcow2' successfully removed\n",
    );
    assert_eq!(found, []);
}

#[test]
fn the_command_is_the_cause_where_nothing_else_is() {
    let found = read_pieces(
        "qmrestore",
        [
            (Stream::Out, &b"error before or during data restore, some or all disks were not completely restored. VM 9 state is NOT cleaned up.\n"[..]),
            (Stream::Err, &b"command '/usr/bin/pbs-restore x' failed: interrupted by signal\n"[..]),
        ],
    );
    assert_eq!(
        causes(&found),
        ["command '/usr/bin/pbs-restore x' failed: interrupted by signal"]
    );
}

#[test]
fn a_refused_start_has_its_text_on_stderr() {
    for text in [
        "unable to restore VM 201 - VM 201 already exists on node 'pve7'",
        "volume 'b:backup/vzdump-qemu-9.vma' does not exist",
        "can't find file '/b/none.vma'",
    ] {
        let found = read_pieces("qmrestore", [(Stream::Err, text.as_bytes())]);
        assert_eq!(causes(&found), [text]);
    }
}

#[test]
fn a_container() {
    let found = read(
        "qmrestore",
        b"recovering backed-up configuration from 'local:backup/a.tar.zst'\n\
          Total bytes read: 612904960 (585MiB, 118MiB/s)\n",
    );
    assert_eq!(whole(&found, "read"), 612_904_960);
    assert!(progress(&found).is_empty());
}

#[test]
fn a_live_restore() {
    let found = read(
        "qmrestore",
        b"restore-drive-scsi0: transferred 288.0 MiB of 1.0 GiB (28.12%) in 1s\n",
    );
    assert_eq!(
        progress(&found),
        [(Exact, Some(288 << 20), Some(1 << 30), Some(28.12))]
    );
}
