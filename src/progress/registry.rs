//! The readers by the names that method files use, and what each can say.

use std::sync::LazyLock;

use super::{
    Reader, arcstats, banner, borg, btrfs, curl, dd, fio, lftp, lvm, plain, pv, qmrestore, restic,
    room, rsync, scp, tar, vmkfstools, vzdump, zfs, zstd,
};

/// A reader, with the names of what it may find.
struct Entry {
    name: &'static str,
    make: fn() -> Box<dyn Reader>,
    gives: &'static [&'static str],
    figures: &'static [&'static str],
    marks: &'static [&'static str],
}

fn make<R: Reader + Default + 'static>() -> Box<dyn Reader> {
    Box::new(R::default())
}

/// In alphabetical order.
static ENTRIES: [Entry; 21] = [
    Entry {
        name: "arcstats",
        make: make::<arcstats::Arcstats>,
        gives: &[],
        figures: &["arc_size", "arc_target", "arc_limit"],
        marks: &[],
    },
    Entry {
        name: "banner",
        make: make::<banner::Banner>,
        gives: &[],
        figures: &[],
        marks: &["banner"],
    },
    Entry {
        name: "borg",
        make: make::<borg::Borg>,
        gives: &[],
        figures: &["processed", "compressed", "added", "backup"],
        marks: &[],
    },
    Entry {
        name: "btrfs",
        make: make::<btrfs::Btrfs>,
        gives: &[],
        figures: &["bytes"],
        marks: &[],
    },
    Entry {
        name: "curl",
        make: make::<curl::Curl>,
        gives: &[],
        figures: &["bytes", "rate"],
        marks: &[],
    },
    Entry {
        name: "dd",
        make: make::<dd::Dd>,
        gives: &[],
        figures: &["bytes", "copy", "rate"],
        marks: &[],
    },
    Entry {
        name: "fio",
        make: make::<fio::Fio>,
        gives: &[],
        figures: &[
            "moved",
            "bandwidth",
            "latency_p50",
            "latency_p99",
            "latency_p99.9",
            "latency_max",
        ],
        marks: &[],
    },
    Entry {
        name: "lftp",
        make: make::<lftp::Lftp>,
        gives: &[],
        figures: &["bytes", "copy", "rate"],
        marks: &[],
    },
    Entry {
        name: "lvm",
        make: make::<lvm::Lvm>,
        gives: &[],
        figures: &[],
        marks: &[],
    },
    Entry {
        name: "plain",
        make: make::<plain::Plain>,
        gives: &[],
        figures: &[],
        marks: &[],
    },
    Entry {
        name: "pv",
        make: make::<pv::Pv>,
        gives: &[],
        figures: &["bytes"],
        marks: &[],
    },
    Entry {
        name: "qmrestore",
        make: make::<qmrestore::Qmrestore>,
        gives: &["volume"],
        figures: &[
            "read",
            "sparse",
            "sparse_share",
            "zero_4k_share",
            "written",
            "extract",
            "rate",
        ],
        marks: &["100 %", "rescan"],
    },
    Entry {
        name: "restic",
        make: make::<restic::Restic>,
        gives: &["snapshot"],
        figures: &["added", "processed", "restored", "backup"],
        marks: &[],
    },
    Entry {
        name: "room",
        make: make::<room::Room>,
        gives: &[],
        figures: &room::FIGURES,
        marks: &[],
    },
    Entry {
        name: "rsync",
        make: make::<rsync::Rsync>,
        gives: &[],
        figures: &[
            "total_size",
            "transferred_size",
            "literal",
            "matched",
            "sent",
            "received",
            "speedup",
        ],
        marks: &[],
    },
    Entry {
        name: "scp",
        make: make::<scp::Scp>,
        gives: &[],
        figures: &[],
        marks: &[],
    },
    Entry {
        name: "tar",
        make: make::<tar::Tar>,
        gives: &[],
        figures: &["written", "read", "rate"],
        marks: &[],
    },
    Entry {
        name: "vmkfstools",
        make: make::<vmkfstools::Vmkfstools>,
        gives: &["format"],
        figures: &[],
        marks: &["100 %"],
    },
    Entry {
        name: "vzdump",
        make: make::<vzdump::Vzdump>,
        gives: &["archive", "encryption", "freeze", "guest", "mode", "series"],
        figures: &[
            "disks",
            "dirty",
            "sparse",
            "sparse_share",
            "reused",
            "transferred",
            "written",
            "archive_size",
            "rate",
            "copy",
            "backup",
            "stamped",
            "pause",
            "downtime",
        ],
        marks: &[
            "freeze",
            "thaw",
            "guest down",
            "started",
            "guest up",
            "100 %",
            "validation",
            "lock wait",
            "lock got",
        ],
    },
    Entry {
        name: "zfs",
        make: make::<zfs::Zfs>,
        gives: &[],
        figures: &["bytes", "estimate", "received"],
        marks: &[],
    },
    Entry {
        name: "zstd",
        make: make::<zstd::Zstd>,
        gives: &[],
        figures: &["input", "output", "decompressed"],
        marks: &[],
    },
];

fn entry(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// A new reader by its name in a method file (`reads = "vzdump"`).
#[must_use]
pub fn reader(name: &str) -> Option<Box<dyn Reader>> {
    entry(name).map(|entry| (entry.make)())
}

/// The names of all readers, in alphabetical order.
#[must_use]
pub fn known() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&str>> =
        LazyLock::new(|| ENTRIES.iter().map(|entry| entry.name).collect());
    &NAMES
}

/// The names of the values that a reader may give (`gives = { archive = "vzdump.archive" }`).
/// Empty for an unknown reader.
#[must_use]
pub fn gives(name: &str) -> &'static [&'static str] {
    entry(name).map_or(&[], |entry| entry.gives)
}

/// The names of the figures that a reader may find.
#[must_use]
pub fn figures(name: &str) -> &'static [&'static str] {
    entry(name).map_or(&[], |entry| entry.figures)
}

/// The names of the marks that a reader may set.
#[must_use]
pub fn marks(name: &str) -> &'static [&'static str] {
    entry(name).map_or(&[], |entry| entry.marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_make_readers() {
        assert!(known().is_sorted());
        for name in known() {
            assert!(reader(name).is_some(), "{name}");
        }
        assert!(reader("telepathy").is_none());
        assert!(gives("telepathy").is_empty());
    }

    #[test]
    fn a_method_can_check_what_it_asks_for() {
        assert!(gives("vzdump").contains(&"archive"));
        assert!(marks("qmrestore").contains(&"100 %"));
        assert!(figures("rsync").contains(&"literal"));
    }
}
