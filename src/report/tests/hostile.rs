//! Whatever a host says, a report stays text of its own width.

use proptest::prelude::*;

use super::super::layout::cells;
use super::super::*;
use super::table;
use crate::event::{Clock, EndState, Event, Level, parse_line, to_line};
use crate::session::is_unsafe;
use crate::session::story::{Story, everything};

/// Puts text into every string of an event.
fn taint(value: &mut serde_json::Value, text: &str) {
    match value {
        serde_json::Value::String(string) => string.push_str(text),
        serde_json::Value::Array(all) => all.iter_mut().for_each(|one| taint(one, text)),
        serde_json::Value::Object(map) => {
            // Words that the format itself knows stay as they are.
            const WORDS: [&str; 15] = [
                "ev", "format", "started", "state", "end", "act", "kind", "level", "clock",
                "phase", "stream", "order", "origin", "base64", "of",
            ];
            for (key, one) in map.iter_mut() {
                if !WORDS.contains(&key.as_str()) {
                    taint(one, text);
                }
            }
        }
        _ => {}
    }
}

fn tainted(text: &str) -> Session {
    let mut session = Session::default();
    for event in everything().events() {
        let mut value = serde_json::from_str(&to_line(&event).unwrap()).unwrap();
        taint(&mut value, text);
        let event: Event = parse_line(&value.to_string()).unwrap();
        session.apply(&event);
    }
    session
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_control_of_a_host_reaches_a_report(
        junk in "[\\x00-\\x1f\\x7f-\\u{9f}\\u{2028}\\u{202e}|`<a\\\\]{1,12}",
    ) {
        let session = tainted(&junk);
        for (name, format) in Format::ALL {
            let report = render(format, &[&session]);
            let mut bad = report.chars().filter(|c| is_unsafe(*c) && *c != '\n');
            prop_assert!(bad.next().is_none(), "{}: {:?}", name, report);
        }
        // No line of the table is forged: it has as many as the same without junk.
        let clean = render_width(Format::Csv, &[&tainted("x")], 100);
        let report = render_width(Format::Csv, &[&session], 100);
        prop_assert_eq!(report.lines().count(), clean.lines().count());
    }

    #[test]
    fn no_line_is_wider_than_the_terminal(
        width in 80_usize..200,
        name in "[a-z\u{6f22}]{1,90}",
        n in 1_usize..60,
    ) {
        let mut story = Story::new();
        for (host, method) in [("h1", "a"), ("h1", &name), (&name, "c")] {
            let id = story.binding(method, host);
            for at in 0..n {
                let run = story.run(&id, &name);
                story.seconds(&run, &name, Clock::Task, 1.0, 5000.0 + at as f64);
                story.stored(&run, "archive", 1 << (at % 50));
                story.note(Some(&run), Level::Warning, &name);
                story.done(&run, EndState::Ok);
            }
        }
        for line in table(&story, width).lines() {
            prop_assert!(cells(line) <= width, "{} > {}: {}", cells(line), width, line);
        }
    }
}
