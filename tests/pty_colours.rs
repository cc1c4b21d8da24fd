//! Colours in a real pseudo-terminal: none where none are wanted, and only those that the terminal
//! shows.

#![cfg(test)]

#[path = "support/screen.rs"]
mod screen;

use regex::Regex;
use screen::Screen;

const RECORDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/recordings/files.jsonl");

/// Replays a recording, takes another theme, looks at the comparison, leaves; gives all that was
/// written.
fn replayed(args: &[&str], env: Environment<'_>) -> String {
    let home = tempfile::tempdir().unwrap();
    let args = [args, &["replay", RECORDING, "--speed", "1000"]].concat();
    let mut screen = Screen::start(home.path(), &args, env, (80, 24));
    // What it is is said in words and signs.
    screen.wait("over: 12 of 12 runs done and verified");
    screen.until("signs", |text| text.contains("✓✓✓✓"));
    screen.keys("T");
    screen.until("a theme", |text| {
        text.contains("Theme: ") || text.contains("colours are off")
    });
    screen.keys("c");
    screen.wait("✓ 4/4");
    screen.keys("q");
    assert!(screen.end().success());
    assert!(screen.is_restored());
    screen.raw()
}

type Environment<'a> = &'a [(&'a str, &'a str)];

/// The arguments of every SGR sequence.
fn styles(raw: &str) -> Vec<String> {
    let sgr = Regex::new("\u{1b}\\[([0-9;:]*)m").unwrap();
    sgr.captures_iter(raw)
        .map(|found| found[1].to_owned())
        .collect()
}

/// Whether a sequence sets a colour; 39 and 49 are the terminal's own.
fn is_colour(style: &str) -> bool {
    let numbers = style
        .split([';', ':'])
        .filter_map(|part| part.parse::<u32>().ok());
    numbers
        .into_iter()
        .any(|n| matches!(n, 30..=38 | 40..=48 | 90..=107))
}

#[test]
fn no_colour_at_all_where_none_is_wanted() {
    let always = [("COLORTERM", "truecolor")];
    let wishes: [(&[&str], Environment); 3] = [
        (&[], &[("NO_COLOR", "1"), ("COLORTERM", "truecolor")]),
        (&["--color", "never"], &always),
        (&["--theme", "nord", "--color", "never"], &always),
    ];
    for (args, env) in wishes {
        let raw = replayed(args, env);
        let coloured: Vec<_> = styles(&raw)
            .into_iter()
            .filter(|style| is_colour(style))
            .collect();
        assert!(coloured.is_empty(), "{args:?}: {coloured:?}");
        // What stands out does so by other means.
        assert!(
            styles(&raw).iter().any(|style| style == "1"),
            "nothing is bold"
        );
    }
}

#[test]
fn only_colours_that_the_terminal_shows() {
    let has = |raw: &str, wanted: &str| styles(raw).iter().any(|style| style.contains(wanted));
    let theme = ["--theme", "dracula"];
    let raw = replayed(&theme, &[("COLORTERM", "truecolor")]);
    assert!(has(&raw, "48;2;40;42;54"), "the ground");
    // No COLORTERM, as through SSH.
    let raw = replayed(&theme, &[]);
    assert!(!has(&raw, "8;2;") && has(&raw, "48;5;2"), "256 colours");
    let raw = replayed(&theme, &[("TERM", "xterm")]);
    let beyond = Regex::new("[34]8;5;(1[6-9]|[2-9][0-9]|[0-9]{3})").unwrap();
    assert!(!has(&raw, "8;2;") && !beyond.is_match(&raw), "16 colours");
    let raw = replayed(
        &["--theme", "nord", "--color", "always"],
        &[("NO_COLOR", "1")],
    );
    assert!(
        styles(&raw).iter().any(|style| is_colour(style)),
        "--color always"
    );
}
