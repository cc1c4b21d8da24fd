//! LVM's programs: `lvcreate`, `lvremove`, `lvconvert` and the like.

use super::diagnostics::Diagnostics;
use super::{Finding, Line, Reader};
use crate::event::Stream;

/// There is no progress. LVM warns at every success, on both streams: only its status says
/// whether it failed, and what stands here is why.
#[derive(Debug, Default)]
pub struct Lvm {
    diagnostics: Diagnostics,
}

/// What comes with every success of a command about thin volumes, or tells nothing that an
/// operator could act on.
const ALWAYS: [&str; 8] = [
    "Sum of all thin volume sizes (",
    "You have not turned on protection against thin pools running out of space.",
    "Set activation/thin_pool_autoextend_threshold below 100 ",
    "Failed to connect to lvmpolld.",
    "Check global/use_lvmpolld in lvm.conf",
    "This metadata update is NOT backed up.",
    "recovery of pools without pool metadata spare LV is not automated.",
    "Running as a non-root user.",
];

/// What only follows from an error, or stands beside one.
const BESIDE: [&str; 5] = [
    "Cannot process volume group ",
    "Run `",
    "File descriptor ",
    "/run/lvm/lvmpolld.socket: connect failed",
    "Failure to communicate with kernel device-mapper driver.",
];

impl Reader for Lvm {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        let text = line.text.trim();
        let begins = |signs: &[&str]| signs.iter().any(|sign| text.starts_with(sign));
        if let Some(what) = text.strip_prefix("WARNING: ") {
            if !ALWAYS.iter().any(|sign| what.starts_with(sign)) {
                self.diagnostics.warning(what, found);
            }
        } else if begins(&["Delaying merge "]) {
            self.diagnostics.warning(text, found);
        } else if begins(&BESIDE) {
            if line.stream == Stream::Err && !begins(&["Run `", "File descriptor "]) {
                self.diagnostics.consequence(text);
            }
        } else if line.stream == Stream::Err && line.text.starts_with("  ") {
            self.diagnostics.cause(text, found);
        } else {
            // Of a command that stands beside LVM's in one step.
            self.diagnostics.unknown(line);
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        self.diagnostics.finish(found);
    }
}

#[cfg(test)]
mod tests {
    use crate::event::Stream;
    use crate::progress::testing::{causes, read, read_err, read_pieces, warnings};

    #[test]
    fn what_comes_with_every_success_is_no_warning() {
        let found = read_pieces(
            "lvm",
            [
                (
                    Stream::Err,
                    b"  WARNING: Sum of all thin volume sizes (<7.42 GiB) exceeds the size of thin pool big/thin and the amount of free space in volume group (1.50 GiB).\n".as_slice(),
                ),
                (
                    Stream::Out,
                    b"  WARNING: You have not turned on protection against thin pools running out of space.\n  \
                      WARNING: Set activation/thin_pool_autoextend_threshold below 100 to trigger automatic extension of thin pools before they get full.\n  \
                      Rounding up size to full physical extent 764.00 MiB\n  \
                      Logical volume \"monday\" created.\n",
                ),
            ],
        );
        assert_eq!(found, []);
    }

    #[test]
    fn the_first_error_is_the_cause() {
        for (said, why) in [
            (
                "  Logical Volume \"monday\" already exists in volume group \"big\"\n",
                "Logical Volume \"monday\" already exists in volume group \"big\"",
            ),
            (
                "  Snapshot origin LV web not found in Volume group big.\n",
                "Snapshot origin LV web not found in Volume group big.",
            ),
            (
                "  Logical volume big/web contains a filesystem in use.\n",
                "Logical volume big/web contains a filesystem in use.",
            ),
            (
                "  Volume group \"none\" not found\n  Cannot process volume group none\n",
                "Volume group \"none\" not found",
            ),
            (
                "  /dev/big: already exists in filesystem\n  Run `vgcreate --help' for more information.\n",
                "/dev/big: already exists in filesystem",
            ),
            (
                "  WARNING: Sum of all thin volume sizes (<7.42 GiB) exceeds the size of thin pool big/thin and the size of whole volume group (1.46 GiB).\n  \
                 device-mapper: suspend ioctl on  (253:9) failed: Device or resource busy\n  \
                 Unable to suspend big-web (253:9)\n  \
                 Failed to suspend thin snapshot origin big/web.\n",
                "device-mapper: suspend ioctl on  (253:9) failed: Device or resource busy",
            ),
        ] {
            let found = read_err("lvm", said.as_bytes());
            assert_eq!(causes(&found).first().copied(), Some(why));
            assert_eq!(warnings(&found), [""; 0]);
        }
    }

    #[test]
    fn a_pool_that_is_full_is_said_with_what_it_stops() {
        let found = read_err(
            "lvm",
            b"  WARNING: Thin pool big/thin is out of data space.\n  \
              Cannot create new thin volume, free space in thin pool big/thin reached threshold.\n",
        );
        assert_eq!(
            warnings(&found),
            ["Thin pool big/thin is out of data space."]
        );
        assert_eq!(
            causes(&found),
            ["Cannot create new thin volume, free space in thin pool big/thin reached threshold."]
        );
    }

    #[test]
    fn a_merge_that_waits_is_a_warning() {
        let found = read(
            "lvm",
            b"  Delaying merge since origin volume is open.\n  \
              Merging of thin snapshot big/monday will occur on next activation of big/web.\n",
        );
        assert_eq!(
            warnings(&found),
            ["Delaying merge since origin volume is open."]
        );
    }

    #[test]
    fn other_tools_errors_are_weak_causes() {
        let found = read_err("lvm", b"umount: /mnt/web: target is busy.\n");
        assert_eq!(causes(&found), ["umount: /mnt/web: target is busy."]);
        let found = read_err("lvm", b"  Cannot process volume group none\n");
        assert_eq!(causes(&found), ["Cannot process volume group none"]);
    }
}
