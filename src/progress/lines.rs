//! Output in pieces, as lines.

use memchr::memchr2;

use super::Line;
use super::escape::Escapes;
use super::utf8::Decoder;
use crate::event::Stream;

/// Longest line, in bytes of text: what is longer is cut.
pub const LONGEST: usize = 4096;

/// Splits output into lines, each stream by itself.
///
/// A line ends with `\n`, with `\r` (it is rewritten then) or with `\r\n`. Whatever a host
/// prints, a stream costs at most one line of memory, and the lines do not depend on the pieces
/// in which the bytes came. A line that ends with `\r` is handed out when the byte behind it
/// is there.
#[derive(Debug, Default)]
pub struct Lines {
    out: Buffer,
    err: Buffer,
}

impl Lines {
    /// Takes bytes, hands out the lines that are whole now.
    pub fn feed(&mut self, stream: Stream, bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        self.buffer(stream).feed(bytes, &mut |text, rewritten| {
            each(Line {
                stream,
                text,
                rewritten,
            });
        });
    }

    /// The output is over: hands out what has no end.
    pub fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        for stream in [Stream::Out, Stream::Err] {
            self.buffer(stream).finish(&mut |text, rewritten| {
                each(Line {
                    stream,
                    text,
                    rewritten,
                });
            });
        }
    }

    fn buffer(&mut self, stream: Stream) -> &mut Buffer {
        match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        }
    }
}

/// One stream.
#[derive(Debug, Default)]
struct Buffer {
    decoder: Decoder,
    line: Partial,
}

impl Buffer {
    fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(&str, bool)) {
        let Self { decoder, line } = self;
        decoder.feed(bytes, |text| line.take(text, each));
    }

    fn finish(&mut self, each: &mut dyn FnMut(&str, bool)) {
        let Self { decoder, line } = self;
        decoder.finish(|text| line.take(text, each));
        if line.returned || !line.text.is_empty() {
            line.end(line.returned, each);
        }
    }
}

/// A line that is not whole yet.
#[derive(Debug, Default)]
struct Partial {
    text: String,
    escapes: Escapes,
    /// Longer than it may be: the rest of it is dropped.
    full: bool,
    /// The last character was `\r`: the next one tells what it means.
    returned: bool,
}

impl Partial {
    fn take(&mut self, text: &str, each: &mut dyn FnMut(&str, bool)) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if self.returned {
                self.end(first != '\n', each);
                if first == '\n' {
                    rest = rest.strip_prefix('\n').unwrap_or_default();
                    continue;
                }
            }
            let at = memchr2(b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len());
            // A line's end is one byte, so this is never in the middle of a character.
            let (body, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
            self.push(body);
            if let Some(behind) = tail.strip_prefix('\n') {
                self.end(false, each);
                rest = behind;
            } else {
                self.returned = !tail.is_empty();
                rest = tail.strip_prefix('\r').unwrap_or_default();
            }
        }
    }

    fn push(&mut self, body: &str) {
        let mut rest = body;
        while !rest.is_empty() && !self.full {
            let (plain, behind) = self.escapes.plain(rest);
            self.keep(plain);
            let mut behind = behind.chars();
            if let Some(c) = behind.next()
                && self.escapes.is_text(c)
            {
                self.keep(c.encode_utf8(&mut [0; 4]));
            }
            rest = behind.as_str();
        }
    }

    fn keep(&mut self, text: &str) {
        let fits = text.floor_char_boundary(LONGEST.saturating_sub(self.text.len()));
        self.full |= fits < text.len();
        self.text.push_str(text.get(..fits).unwrap_or_default());
    }

    fn end(&mut self, rewritten: bool, each: &mut dyn FnMut(&str, bool)) {
        each(&self.text, rewritten);
        self.text.clear();
        self.escapes = Escapes::default();
        self.full = false;
        self.returned = false;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(pieces: &[(Stream, &[u8])]) -> Vec<(Stream, String, bool)> {
        let mut all = Vec::new();
        let mut lines = Lines::default();
        let mut keep = |line: Line<'_>| {
            all.push((line.stream, line.text.to_owned(), line.rewritten));
        };
        for (stream, bytes) in pieces {
            lines.feed(*stream, bytes, &mut keep);
        }
        lines.finish(&mut keep);
        all
    }

    fn texts(bytes: &[u8]) -> Vec<(String, bool)> {
        split(&[(Stream::Out, bytes)])
            .into_iter()
            .map(|(_, text, rewritten)| (text, rewritten))
            .collect()
    }

    fn line(text: &str, rewritten: bool) -> (String, bool) {
        (text.to_owned(), rewritten)
    }

    #[test]
    fn all_three_ends() {
        assert_eq!(
            texts(b"a\nb\r\nc\rd\r\r\n\re"),
            [
                line("a", false),
                line("b", false),
                line("c", true),
                line("d", true),
                line("", false),
                line("", true),
                line("e", false),
            ]
        );
        assert_eq!(texts(b"a\r"), [line("a", true)]);
        assert_eq!(texts(b"a\n"), [line("a", false)]);
        assert_eq!(texts(b""), []);
    }

    #[test]
    fn streams_do_not_mix() {
        let got = split(&[
            (Stream::Out, b"pro"),
            (Stream::Err, b"warn\n"),
            (Stream::Out, b"gress\n"),
        ]);
        assert_eq!(got[0], (Stream::Err, "warn".to_owned(), false));
        assert_eq!(got[1], (Stream::Out, "progress".to_owned(), false));
    }

    #[test]
    fn sequences_never_reach_beyond_their_line() {
        assert_eq!(
            texts(b"\x1b]0;never ended\nnext\x1b[3\n1m"),
            [line("", false), line("next", false), line("1m", false)]
        );
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let long = format!("{}é tail\nnext", "x".repeat(LONGEST - 1));
        let got = texts(long.as_bytes());
        assert_eq!(got[0].0, "x".repeat(LONGEST - 1));
        assert_eq!(got[1], line("next", false));
    }

    #[test]
    fn a_line_of_a_hundred_megabytes_costs_one_line_of_memory() {
        let mut lines = Lines::default();
        let mut ended = 0;
        let piece = vec![b'y'; 1 << 20];
        for _ in 0..100 {
            lines.feed(Stream::Err, &piece, |_| ended += 1);
            assert!(lines.err.line.text.capacity() <= 2 * LONGEST);
        }
        assert_eq!(ended, 0);
        lines.feed(Stream::Err, b"\nz", |line| {
            assert_eq!(line.text.len(), LONGEST);
            ended += 1;
        });
        assert_eq!(ended, 1);
    }

    /// Bytes in which ends, sequences and broken UTF-8 are frequent.
    fn nasty() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(
            prop_oneof![
                any::<u8>().prop_map(|byte| vec![byte]),
                prop::sample::select(vec![
                    &b"\r\n"[..],
                    b"\r",
                    b"\n",
                    b"\x1b[31m",
                    b"\x1b]0;t\x07",
                    b"\x1b",
                    "€𝄞".as_bytes(),
                    b"\xe2\x82",
                    b"\xc2\x9b2m",
                    b"word ",
                ])
                .prop_map(<[u8]>::to_vec),
                (4000usize..4200).prop_map(|n| vec![b'x'; n]),
            ],
            0..30,
        )
        .prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(bytes in nasty(), size in 1usize..9) {
            let pieces: Vec<_> = bytes.chunks(size).map(|piece| (Stream::Out, piece)).collect();
            prop_assert_eq!(split(&pieces), split(&[(Stream::Out, &bytes)]));
        }

        #[test]
        fn lines_are_short_and_clean(bytes in nasty()) {
            for (text, _) in texts(&bytes) {
                prop_assert!(text.len() <= LONGEST);
                prop_assert!(text.chars().all(|c| c == '\t' || !c.is_control()));
            }
        }
    }
}
