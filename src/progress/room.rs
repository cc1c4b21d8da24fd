//! How full what a node stores its guests and their copies on is: lines `NAME NUMBER UNIT`, as the
//! methods for guests of Proxmox VE ask for them before and after.

use super::diagnostics::Diagnostics;
use super::{Finding, Line, Reader};

/// Each line is a figure, where its name is one of these.
#[derive(Debug, Default)]
pub struct Room {
    diagnostics: Diagnostics,
}

/// What is told of: a thin pool's data and metadata in percent, and bytes that are free.
pub(super) const FIGURES: [&str; 8] = [
    "thin_data_before",
    "thin_metadata_before",
    "thin_data_after",
    "thin_metadata_after",
    "free_for_disks_before",
    "free_for_disks_after",
    "free_for_archives_before",
    "free_for_archives_after",
];

impl Reader for Room {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        match figure(line.text) {
            Some(figure) => found.push(figure),
            None => self.diagnostics.unknown(line),
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        self.diagnostics.finish(found);
    }
}

fn figure(text: &str) -> Option<Finding> {
    let mut words = text.split_ascii_whitespace();
    let (name, value, unit) = (words.next()?, words.next()?, words.next()?);
    let name = FIGURES.into_iter().find(|known| *known == name)?;
    let value: f64 = value.parse().ok()?;
    let (most, unit) = match unit {
        "%" => (100.0, "%"),
        "B" => (f64::MAX, "B"),
        _ => return None,
    };
    (0.0..=most).contains(&value).then_some(Finding::Figure {
        name,
        value,
        unit,
        resolution: 0.0,
    })
}

#[cfg(test)]
mod tests {
    use crate::progress::Finding;
    use crate::progress::testing::read;

    #[test]
    fn each_line_is_a_figure() {
        let found = read(
            "room",
            b"thin_data_before 84.23 %\nfree_for_archives_after 19595001856 B\n",
        );
        let of = |name, value, unit| Finding::Figure {
            name,
            value,
            unit,
            resolution: 0.0,
        };
        assert_eq!(
            found,
            [
                of("thin_data_before", 84.23, "%"),
                of("free_for_archives_after", 19_595_001_856.0, "B"),
            ]
        );
    }

    #[test]
    fn what_cannot_be_is_no_figure() {
        for text in [
            "thin_data_before 184.23 %\n",
            "thin_data_before - %\n",
            "free_for_disks_after -1 B\n",
            "colour 5 B\n",
        ] {
            assert_eq!(read("room", text.as_bytes()), [], "{text}");
        }
    }
}
