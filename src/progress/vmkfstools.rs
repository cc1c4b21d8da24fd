//! `vmkfstools -i`, of `VMware` `ESXi`.

use super::diagnostics::Diagnostics;
use super::pattern::pattern;
use super::{Finding, Line, Reader};
use crate::event::ProgressKind;

/// Percent alone, no bytes and no time; log text may stand directly behind a percent.
#[derive(Debug, Default)]
pub struct Vmkfstools {
    complete: bool,
    diagnostics: Diagnostics,
}

impl Reader for Vmkfstools {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        let mut behind = 0;
        for captures in
            pattern!(r"[A-Z][a-z]+(?: [A-Z][a-z]+)?: (\d+)% done\.?").captures_iter(line.text)
        {
            let (whole, [percent]) = captures.extract();
            let Ok(percent) = percent.parse::<u32>() else {
                continue;
            };
            behind = captures
                .get(0)
                .map_or(behind, |all| all.start() + whole.len());
            found.push(Finding::Progress {
                kind: ProgressKind::Exact,
                done: None,
                total: None,
                percent: Some(f64::from(percent)),
            });
            if percent == 100 && !self.complete {
                self.complete = true;
                found.push(Finding::mark("100 %"));
            }
        }
        let rest = line.text.get(behind..).unwrap_or_default();
        self.message(Line { text: rest, ..line }, found);
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        self.diagnostics.finish(found);
    }
}

impl Vmkfstools {
    fn message(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        let text = line.text.trim();
        if let Some(format) = text.strip_prefix("Destination disk format: ") {
            found.push(Finding::value("format", option_of(format)));
        } else if text.starts_with("Cloning disk ") {
        } else if is_fall_back(text) {
            self.diagnostics.warning(text, found);
        } else if text.contains("Failed to ") || text.contains(" failed on ") {
            self.diagnostics.cause(text, found);
        } else {
            self.diagnostics.unknown(line);
        }
    }
}

/// What it says when one way of copying is not there and it takes another one.
fn is_fall_back(text: &str) -> bool {
    [
        "native clone",
        "not supported by this version (24)",
        "Inappropriate ioctl for device",
        "using Object Cloning",
        " is deprecated and hence will be ignored",
    ]
    .iter()
    .any(|sign| text.contains(sign))
}

/// The format's name as the option `-d` takes it.
fn option_of(format: &str) -> &str {
    [
        ("thin-provisioned", "thin"),
        ("eager", "eagerzeroedthick"),
        ("2GB", "2gbsparse"),
        ("2gb", "2gbsparse"),
        ("zeroed", "zeroedthick"),
    ]
    .iter()
    .find_map(|(sign, option)| format.contains(sign).then_some(*option))
    .unwrap_or(format)
}

#[cfg(test)]
mod tests {
    use crate::progress::testing::{causes, marks, progress, read, read_err, value, warnings};

    fn percents(found: &[crate::progress::Finding]) -> Vec<f64> {
        progress(found).iter().filter_map(|p| p.3).collect()
    }

    #[test]
    fn rewritten_percents() {
        let found = read(
            "vmkfstools",
            b"Destination disk format: VMFS thin-provisioned\n\
              Cloning disk '/vmfs/volumes/ds 2/web/web.vmdk'...\n\
              Clone: 2% done.\rClone: 31% done.\rClone: 99% done.\rClone: 100% done.\n",
        );
        assert_eq!(percents(&found), [2.0, 31.0, 99.0, 100.0]);
        assert_eq!(marks(&found), [("100 %", None)]);
        assert_eq!(value(&found, "format"), Some("thin"));
        assert!(causes(&found).is_empty());
    }

    #[test]
    fn text_glued_behind_a_percent() {
        let found = read_err(
            "vmkfstools",
            b"DISKLIB-LIB_CLONE   : Failed to create native clone on destination handle : The specified feature is not supported by this version (24).\n\
              OBJLIB-FILEBE : FileBEIoctl: ioctl operation IOCTLCMD_VMFS_XCOPY_TRANSFER_SIZE(3077) failed on '/vmfs/volumes/n/a-flat.vmdk' : Inappropriate ioctl for device (1638402)\n\
              Clone: 41% done.OBJLIB-FILEBE : FileBEIoctl: ioctl operation IOCTLCMD_VMFS_MOVEDATA(3030) failed on '/vmfs/volumes/d/a-flat.vmdk' : Input/output error (327682)\n\
              Option --adaptertype is deprecated and hence will be ignored\n\
              DISKLIB-LIB_CLONE   : Failed to clone disk using Object Cloning\n\
              Clone: 7% done.DISKLIB-DSCPTR\n",
        );
        assert_eq!(percents(&found), [41.0, 7.0]);
        assert_eq!(warnings(&found).len(), 4);
        assert_eq!(causes(&found).len(), 1);
        assert!(causes(&found)[0].ends_with("Input/output error (327682)"));
    }

    #[test]
    fn several_percents_without_an_end_between() {
        let found = read(
            "vmkfstools",
            b"Clone: 1% done.Clone: 12% done.Create: 13% done.",
        );
        assert_eq!(percents(&found), [1.0, 12.0, 13.0]);
    }

    #[test]
    fn formats_by_their_option() {
        for (text, option) in [
            ("VMFS zeroedthick", "zeroedthick"),
            ("VMFS eagerzeroedthick", "eagerzeroedthick"),
            ("sparse with 2GB maximum extent size", "2gbsparse"),
            ("something new", "something new"),
        ] {
            let found = read(
                "vmkfstools",
                format!("Destination disk format: {text}\n").as_bytes(),
            );
            assert_eq!(value(&found, "format"), Some(option));
        }
    }

    #[test]
    fn a_full_target() {
        let found = read_err(
            "vmkfstools",
            b"Clone: 55% done.\rFailed to clone disk: There is not enough space on the file system for the selected operation (13).\n",
        );
        assert_eq!(causes(&found).len(), 1);
    }
}
