use base64::Engine as _;
use proptest::prelude::*;

use super::*;
use crate::session::is_unsafe;

fn chunk(step: &str, stream: Stream, bytes: &[u8]) -> LogChunk {
    let text = std::str::from_utf8(bytes).ok().map(str::to_owned);
    let base64 = text
        .is_none()
        .then(|| base64::engine::general_purpose::STANDARD.encode(bytes));
    LogChunk {
        step: step.into(),
        stream,
        offset: 0,
        text,
        base64,
    }
}

fn push(store: &mut LogStore, t: u64, step: &str, stream: Stream, text: &str) {
    store.push(Nanos(t), &chunk(step, stream, text.as_bytes()));
}

fn lines(store: &LogStore, step: &str) -> Vec<(u64, Stream, String)> {
    let step = step.into();
    (0..store.len(&step))
        .map(|at| {
            let line = store.line(&step, at).unwrap();
            (line.at.0, line.stream, line.text.to_owned())
        })
        .collect()
}

fn texts(store: &LogStore, step: &str) -> Vec<String> {
    lines(store, step)
        .into_iter()
        .map(|(_, _, text)| text)
        .collect()
}

#[test]
fn both_streams_stand_in_the_order_in_which_lines_were_completed() {
    let mut store = LogStore::default();
    push(&mut store, 1, "s1", Stream::Err, "copying  10%");
    push(&mut store, 2, "s1", Stream::Out, "one\ntw");
    push(&mut store, 3, "s1", Stream::Err, "\rcopying  20%");
    push(&mut store, 4, "s2", Stream::Out, "another step\n");
    assert_eq!(
        lines(&store, "s1"),
        [
            (2, Stream::Out, "one".to_owned()),
            (2, Stream::Out, "tw".to_owned()),
            (3, Stream::Err, "copying  20%".to_owned()),
        ]
    );
    push(&mut store, 5, "s1", Stream::Out, "o\n");
    push(&mut store, 6, "s1", Stream::Err, "\n");
    assert_eq!(texts(&store, "s1"), ["one", "two", "copying  20%"]);
    assert_eq!(texts(&store, "s2"), ["another step"]);
    assert_eq!(store.len(&"s3".into()), 0);
    assert_eq!(store.line(&"s1".into(), 3), None);
}

#[test]
fn what_is_missing_says_so() {
    let mut store = LogStore::default();
    push(&mut store, 1, "s1", Stream::Out, "begun");
    store.gap(
        Nanos(2),
        &Gap {
            step: "s1".into(),
            stream: Stream::Out,
            offset: 5,
            bytes: Some(3 << 20),
        },
    );
    push(&mut store, 3, "s1", Stream::Out, "after\n");
    store.push(
        Nanos(4),
        &LogChunk {
            step: "s1".into(),
            stream: Stream::Out,
            offset: 9,
            text: None,
            base64: Some("*".into()),
        },
    );
    assert_eq!(
        texts(&store, "s1"),
        [
            "begun",
            "[3.00 MiB of output are not here]",
            "after",
            "[output that cannot be decoded]"
        ]
    );
}

#[test]
fn many_lines_are_found_by_their_number() {
    let mut store = LogStore::default();
    for n in 0..5000_u64 {
        push(&mut store, n, "s1", Stream::Out, &format!("line {n}\n"));
    }
    push(&mut store, 5000, "s1", Stream::Out, "line 5000");
    let step = "s1".into();
    assert_eq!(store.len(&step), 5001);
    for n in [0, 1, 255, 256, 257, 511, 512, 4999, 5000] {
        let line = store.line(&step, n).unwrap();
        assert_eq!(line.text, format!("line {n}"));
        assert_eq!(line.at.0, n as u64);
    }
}

#[test]
fn lines_are_gone_through_from_any_of_them_to_the_open_ones() {
    let mut store = LogStore::default();
    let step: StepId = "s1".into();
    for n in 0..600 {
        push(&mut store, n, "s1", Stream::Out, &format!("line {n}\n"));
    }
    push(&mut store, 600, "s1", Stream::Err, "unfinished");
    assert_eq!((store.finished(&step), store.len(&step)), (600, 601));
    for from in [0, 1, 255, 256, 511, 599, 600, 601, 5000] {
        let seen: Vec<(usize, String)> = store
            .lines(&step, from)
            .map(|(at, line)| (at, line.text.to_owned()))
            .collect();
        let wanted: Vec<(usize, String)> = (from..601)
            .map(|at| (at, store.line(&step, at).unwrap().text.to_owned()))
            .collect();
        assert_eq!(seen, wanted, "from {from}");
    }
    assert_eq!(store.lines(&"s2".into(), 0).count(), 0);
}

#[test]
fn a_line_of_any_length_costs_a_line() {
    let mut store = LogStore::default();
    let piece = "x".repeat(1 << 20);
    for _ in 0..100 {
        push(&mut store, 1, "s1", Stream::Out, &piece);
    }
    assert_eq!(store.len(&"s1".into()), 1);
    assert!(store.bytes() < 32 << 10, "{}", store.bytes());
    let line = store.line(&"s1".into(), 0).unwrap();
    assert_eq!(line.text.len(), 4096 + '…'.len_utf8());
}

#[test]
fn a_flood_of_lines_drops_the_oldest_and_counts_them() {
    let most = 8 << 20;
    let mut store = LogStore::with_most(most);
    push(&mut store, 0, "quiet", Stream::Out, "what matters\n");
    let mut sent = 0_u64;
    let mut text = String::new();
    while sent < 600_000 {
        text.clear();
        for _ in 0..1000 {
            text.push_str("n ");
            text.push_str(&sent.to_string());
            text.push('\n');
            sent += 1;
        }
        push(&mut store, 1, "loud", Stream::Out, &text);
        assert!(store.bytes() <= most, "{}", store.bytes());
    }
    let loud = "loud".into();
    let kept = store.len(&loud) as u64;
    assert!(kept > 100_000 && kept < 400_000, "{kept}");
    assert_eq!(kept + store.dropped(&loud), sent);
    let first = store.line(&loud, 0).unwrap().text.to_owned();
    assert_eq!(first, format!("n {}", store.dropped(&loud)));
    let last = store.line(&loud, store.len(&loud) - 1).unwrap();
    assert_eq!(last.text, format!("n {}", sent - 1));
    assert_eq!(texts(&store, "quiet"), ["what matters"]);
    assert_eq!(store.dropped(&"quiet".into()), 0);
}

#[test]
fn the_step_with_most_gives_way() {
    let most = 8 << 20;
    let mut store = LogStore::with_most(most);
    let page = "some words in a line\n".repeat(3000);
    for round in 0..60 {
        push(&mut store, round, "big", Stream::Out, &page);
        if round % 3 == 0 {
            push(&mut store, round, "small", Stream::Out, &page);
        }
        assert!(store.bytes() <= most);
    }
    assert!(store.dropped(&"big".into()) > 0);
    assert_eq!(store.dropped(&"small".into()), 0);
}

#[test]
fn any_number_of_steps_takes_bounded_memory() {
    let most = 6 << 20;
    let mut store = LogStore::with_most(most);
    for n in 0..20_000 {
        push(&mut store, n, &format!("s{n}"), Stream::Out, "hello\n");
        assert!(store.bytes() <= most);
    }
    assert_eq!(texts(&store, "s19999"), ["hello"]);
}

/// Bytes as tools print them: text, progress, colours, accents, junk.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        "[a-z ]{0,12}".prop_map(String::into_bytes),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\t".to_vec()),
        Just(b"\x1b[1;31m".to_vec()),
        Just(b"\x1b]0;title\x07".to_vec()),
        Just(b"\x1b]8;;x\x1b\\".to_vec()),
        Just("caf\u{e9} \u{6f22} \u{1f4a9} \u{9b}3m".as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn lines_are_the_same_for_any_chunking(
        bytes in output(),
        cuts in prop::collection::vec(1_usize..9, 1..40),
    ) {
        let mut whole = LogStore::default();
        whole.push(Nanos(1), &chunk("s1", Stream::Out, &bytes));
        let mut pieces = LogStore::default();
        let mut rest = bytes.as_slice();
        let mut cuts = cuts.iter().cycle();
        while !rest.is_empty() {
            let at = (*cuts.next().unwrap()).min(rest.len());
            let (piece, after) = rest.split_at(at);
            pieces.push(Nanos(1), &chunk("s1", Stream::Out, piece));
            rest = after;
        }
        prop_assert_eq!(lines(&whole, "s1"), lines(&pieces, "s1"));
    }

    #[test]
    fn no_control_reaches_a_line(bytes in output()) {
        let mut store = LogStore::default();
        store.push(Nanos(1), &chunk("s1", Stream::Out, &bytes));
        for text in texts(&store, "s1") {
            prop_assert!(!text.contains(is_unsafe), "{:?}", text);
        }
    }
}
