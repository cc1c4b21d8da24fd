//! What holds for every reader, whatever a host prints: the pieces in which output comes do not
//! matter, nothing panics, memory and findings are bounded, and only declared names are found.

#[cfg(test)]
mod progress {
    use std::fmt::Write as _;

    use comeback::event::{Nanos, Stream};
    use comeback::progress::{Clamp, Finding, Line, Lines, figures, gives, known, marks, reader};
    use proptest::prelude::*;

    macro_rules! logs {
        ($($name:literal,)*) => {
            [$(($name, include_bytes!(concat!("fixtures/logs/", $name, ".txt")).as_slice()),)*]
        };
    }

    const LOGS: [(&str, &[u8]); 23] = logs! {
        "borg-create",
        "btrfs-wrapped",
        "curl-cut",
        "dd-progress",
        "lftp",
        "pv-counts",
        "qmrestore-pbs",
        "qmrestore-truncated",
        "qmrestore-vma-two-disks",
        "restic-backup",
        "rsync-progress2-c",
        "rsync-progress2-de",
        "scp-refused",
        "tar-checkpoint",
        "vmkfstools-glued",
        "vzdump-agent-zstd",
        "vzdump-lxc-stop",
        "vzdump-lxc-tar-error",
        "vzdump-old-status",
        "vzdump-pbs-dirty",
        "vzdump-storage-full",
        "zfs-send-replicate",
        "zstd-progress",
    };

    /// Findings, and how many lines they came from.
    fn read<'a>(
        name: &str,
        stream: Stream,
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> (Vec<Finding>, usize) {
        let mut reader = reader(name).unwrap();
        let mut lines = Lines::default();
        let mut found = Vec::new();
        let mut count = 0;
        let mut take = |line: Line<'_>| {
            count += 1;
            reader.line(line, &mut found);
        };
        for piece in pieces {
            lines.feed(stream, piece, &mut take);
        }
        lines.finish(&mut take);
        reader.finish(&mut found);
        (found, count)
    }

    /// Why a finding must not be told, if it must not.
    fn objection(name: &str, finding: &Finding) -> Option<String> {
        let tidy = |text: &str| !text.is_empty() && !text.chars().any(char::is_control);
        let good = match finding {
            Finding::Mark { name: mark, at } => {
                marks(name).contains(mark) && at.is_none_or(f64::is_finite)
            }
            Finding::Value { name: value, .. } => gives(name).contains(value),
            Finding::Figure {
                name: figure,
                value,
                unit,
                resolution,
            } => {
                figures(name).contains(figure)
                    && value.is_finite()
                    && resolution.is_finite()
                    && ["s", "B", "B/s", "%", "×"].contains(unit)
            }
            Finding::Progress { percent, .. } => percent.is_none_or(f64::is_finite),
            Finding::Says(text) | Finding::Warning(text) | Finding::Cause(text) => tidy(text),
        };
        (!good).then(|| format!("{name}: {finding:?}"))
    }

    #[test]
    fn every_log_says_something_to_its_reader() {
        for (log, bytes) in LOGS {
            let own = known()
                .iter()
                .rev()
                .find(|name| log.starts_with(*name))
                .unwrap();
            let (found, _) = read(own, Stream::Err, [bytes]);
            assert!(!found.is_empty(), "{log}");
        }
    }

    #[test]
    fn small_pieces_of_every_log_for_every_reader() {
        for (log, bytes) in LOGS {
            for name in known() {
                for stream in [Stream::Out, Stream::Err] {
                    let whole = read(name, stream, [bytes]);
                    for size in 1..8 {
                        let pieces = read(name, stream, bytes.chunks(size));
                        assert_eq!(pieces, whole, "{name} on {log}, by {size}");
                    }
                }
            }
        }
    }

    #[test]
    fn only_declared_names_are_found() {
        for (_, bytes) in LOGS {
            for name in known() {
                for stream in [Stream::Out, Stream::Err] {
                    for finding in read(name, stream, [bytes]).0 {
                        assert_eq!(objection(name, &finding), None);
                    }
                }
            }
        }
    }

    #[test]
    fn a_comma_locale_in_random_pieces_ends_at_100_percent() {
        let german = include_bytes!("fixtures/logs/rsync-progress2-de.txt").as_slice();
        let english = include_bytes!("fixtures/logs/rsync-progress2-c.txt").as_slice();
        let (found, _) = read("rsync", Stream::Out, german.chunks(3));
        assert_eq!(found, read("rsync", Stream::Out, [english]).0);

        let mut clamp = Clamp::new("s1".into());
        let mut best = 0.0;
        for (second, finding) in (0..).zip(&found) {
            let Some(event) = clamp.take(Nanos(second * 1_000_000_000), finding) else {
                continue;
            };
            let percent = event.percent.unwrap();
            assert!((best..100.0).contains(&percent));
            best = percent;
        }
        let last = clamp.end(true).unwrap();
        assert_eq!(last.percent, Some(100.0));
        assert_eq!(last.done.unwrap().0, 63_000_000);
    }

    #[test]
    fn a_flood_is_told_in_bounds() {
        let mut text = String::new();
        for n in 0..20_000 {
            for level in [
                "ERROR: ",
                "WARN: ",
                "tar: ",
                "rsync: ",
                "Clone failed on ",
                "",
            ] {
                writeln!(text, "{level}{n}").unwrap();
            }
        }
        for name in known() {
            let (found, _) = read(name, Stream::Err, [text.as_bytes()]);
            let talk = found
                .iter()
                .filter(|f| matches!(f, Finding::Warning(_) | Finding::Cause(_)))
                .count();
            assert!(talk <= 64, "{name}: {talk}");
        }
    }

    /// Where to cut, as shares of the whole.
    fn cut<'a>(bytes: &'a [u8], at: &[f64]) -> Vec<&'a [u8]> {
        let mut ends: Vec<_> = at
            .iter()
            .map(|share| (share * bytes.len() as f64) as usize)
            .collect();
        ends.push(bytes.len());
        ends.sort_unstable();
        let mut begin = 0;
        let mut pieces = Vec::new();
        for end in ends {
            pieces.push(&bytes[begin..end]);
            begin = end;
        }
        pieces
    }

    fn any_log() -> impl Strategy<Value = &'static [u8]> {
        prop::sample::select(LOGS.map(|(_, bytes)| bytes).to_vec())
    }

    fn any_reader() -> impl Strategy<Value = &'static str> {
        prop::sample::select(known().to_vec())
    }

    fn any_stream() -> impl Strategy<Value = Stream> {
        prop::sample::select(vec![Stream::Out, Stream::Err])
    }

    /// A log with damage: bytes replaced, digits repeated, parts dropped or doubled.
    fn damaged() -> impl Strategy<Value = Vec<u8>> {
        let hurt = (0.0f64..1.0, any::<u8>(), 0usize..400, 0..4u8);
        (any_log(), prop::collection::vec(hurt, 1..12)).prop_map(|(bytes, hurts)| {
            let mut bytes = bytes.to_vec();
            for (place, byte, length, how) in hurts {
                let at = (place * bytes.len() as f64) as usize;
                let end = (at + length % 40).min(bytes.len());
                match how {
                    0 => drop(bytes.splice(at..end.min(at + 1), [byte])),
                    1 => drop(bytes.splice(at..at, vec![b'9'; length])),
                    2 => drop(bytes.drain(at..end)),
                    _ => {
                        let part = bytes[at..end].to_vec();
                        bytes.splice(at..at, part);
                    }
                }
            }
            bytes
        })
    }

    proptest! {
        #[test]
        fn pieces_never_matter(
            name in any_reader(),
            stream in any_stream(),
            bytes in prop_oneof![any_log().prop_map(<[u8]>::to_vec), damaged()],
            at in prop::collection::vec(0.0f64..1.0, 0..20),
        ) {
            let whole = read(name, stream, [bytes.as_slice()]);
            prop_assert_eq!(read(name, stream, cut(&bytes, &at)), whole);
        }

        #[test]
        fn damage_is_survived(bytes in damaged(), stream in any_stream()) {
            for name in known() {
                let (found, _) = read(name, stream, [bytes.as_slice()]);
                for finding in &found {
                    prop_assert_eq!(objection(name, finding), None);
                }
                prop_assert!(found.len() <= bytes.len() + 64, "{}: {}", name, found.len());
            }
        }

        #[test]
        fn any_bytes_are_survived(
            bytes in prop::collection::vec(any::<u8>(), 0..2000),
            stream in any_stream(),
        ) {
            for name in known() {
                for finding in read(name, stream, [bytes.as_slice()]).0 {
                    prop_assert_eq!(objection(name, &finding), None);
                }
            }
        }
    }
}
