//! The shape of the source: imports point downwards only, files stay small enough to be read.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Each module of the library and what it may use, lowest first: a line names only modules of
/// lines above it.
const LAYERS: &[(&str, &[&str])] = &[
    ("event", &[]),
    ("page", &[]),
    // What tools print, what is configured, what is known: each knows events alone.
    ("config", &["event", "page"]),
    ("host", &["event"]),
    ("progress", &["event"]),
    ("session", &["event"]),
    // A method names the readers of its steps.
    ("method", &["event", "page", "progress"]),
    ("recording", &["event", "session"]),
    // The only part that acts on hosts.
    (
        "engine",
        &["event", "host", "method", "progress", "session"],
    ),
    // Views of a session.
    ("report", &["event", "recording", "session"]),
    // What is typed into it is read as a method reads it.
    (
        "tui",
        &["event", "method", "page", "recording", "report", "session"],
    ),
    // What can be typed, and what wires all parts.
    ("cli", &["config", "event", "method", "report"]),
    (
        "commands",
        &[
            "cli",
            "config",
            "engine",
            "event",
            "host",
            "method",
            "progress",
            "recording",
            "report",
            "session",
            "tui",
        ],
    ),
];

/// A file longer than this holds more than one idea.
const MOST_LINES: usize = 600;
/// A file longer than this is named, so that somebody looks at it.
const MANY_LINES: usize = 400;

#[test]
fn each_layer_names_only_lower_ones() {
    for (at, (module, may_use)) in LAYERS.iter().enumerate() {
        for used in *may_use {
            assert!(
                LAYERS[..at].iter().any(|(lower, _)| lower == used),
                "LAYERS: `{module}` may use `{used}`, which is not in a line above it"
            );
        }
    }
}

#[test]
fn imports_point_downwards() {
    let sources = sources();
    assert!(sources.len() > 10, "src/ was not found: {sources:?}");
    let wrong: Vec<String> = sources
        .iter()
        .flat_map(|path| {
            let text = fs::read_to_string(path).unwrap();
            let name = path.strip_prefix(root()).unwrap();
            wrong_imports(name, &text)
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn files_stay_small_enough_to_be_read() {
    let mut too_long = Vec::new();
    for path in sources() {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        let name = path.strip_prefix(root()).unwrap().display();
        if lines > MANY_LINES {
            eprintln!("{name}: {lines} lines: does it still hold one idea?");
        }
        if lines > MOST_LINES {
            too_long.push(format!("{name}: {lines} lines, at most {MOST_LINES}"));
        }
    }
    assert!(too_long.is_empty(), "\n{}", too_long.join("\n"));
}

#[test]
fn an_upward_import_is_seen_however_it_is_written() {
    for (file, text, lines) in [
        (
            "src/event/units.rs",
            "use crate::session::Session;",
            vec![1],
        ),
        (
            "src/event/units.rs",
            "use crate::{\n    event::Nanos,\n    tui,\n};",
            vec![3],
        ),
        (
            "src/event/units.rs",
            "fn f() {\n    crate::engine::run();\n}",
            vec![2],
        ),
        ("src/event/units.rs", "use super::super::report;", vec![1]),
        (
            "src/event/mod.rs",
            "use super::{report, Nanos};",
            vec![1, 1],
        ),
        (
            "src/event/mod.rs",
            "mod tests {\n    use super::super::host::Host;\n}",
            vec![2],
        ),
        ("src/config.rs", "f!(\"{}\", crate::tui::run());", vec![1]),
        ("src/session/mod.rs", "use crate::*;", vec![1]),
        (
            "src/session/mod.rs",
            "pub(in crate::recording) fn f() {}",
            vec![1],
        ),
        ("src/weather.rs", "use crate::event::Nanos;", vec![1]),
    ] {
        let found: Vec<String> = wrong_imports(Path::new(file), text);
        let expected: Vec<String> = lines
            .iter()
            .map(|line| format!("{file}:{line}: "))
            .collect();
        assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!(found.starts_with(expected), "{text}: {found}");
        }
    }
}

#[test]
fn other_words_are_not_taken_for_imports() {
    for (file, text) in [
        (
            "src/event/mod.rs",
            "//! See [`crate::session`].\n// use crate::tui;\n",
        ),
        ("src/event/mod.rs", "const A: &str = \"use crate::tui;\";"),
        (
            "src/event/mod.rs",
            "mod tests { use super::*; use super::tui; }",
        ),
        (
            "src/event/units.rs",
            "use super::report; use self::tui; pub(crate) fn f() {}",
        ),
        (
            "src/tui/mod.rs",
            "use crate::{event::{Nanos, What}, session::{self, Session}};",
        ),
    ] {
        assert_eq!(
            wrong_imports(Path::new(file), text),
            Vec::<String>::new(),
            "{text}"
        );
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All source files of the program, in order.
fn sources() -> Vec<PathBuf> {
    fn gather(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                gather(&path, found);
                continue;
            }
            if path.extension().is_some_and(|ext| ext == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    gather(&root().join("src"), &mut found);
    found.sort();
    found
}

/// What a file (named from the root) imports that its layer may not, a sentence each.
fn wrong_imports(file: &Path, text: &str) -> Vec<String> {
    let module = module_path(file);
    let Some(own) = module.first() else {
        // lib.rs lists the modules and main.rs stands above them all.
        return Vec::new();
    };
    let name = file.display();
    let Some((_, may_use)) = LAYERS.iter().find(|(layer, _)| layer == own) else {
        return vec![format!(
            "{name}:1: module `{own}` has no layer: give it a line in tests/architecture.rs"
        )];
    };
    let tokens: TokenStream = text
        .parse()
        .unwrap_or_else(|why| panic!("{name} is not Rust: {why}"));
    let mut imports = Vec::new();
    gather_imports(
        &tokens.into_iter().collect::<Vec<_>>(),
        &module,
        &mut imports,
    );
    imports
        .into_iter()
        .filter(|import| import.module != *own && !may_use.contains(&import.module.as_str()))
        .map(|Import { line, module }| {
            format!("{name}:{line}: `{own}` uses `{module}`, but may use only {may_use:?}")
        })
        .collect()
}

/// `src/a/mod.rs` is `a`, `src/a/b.rs` is `a::b`; lib.rs and main.rs are the root.
fn module_path(file: &Path) -> Vec<String> {
    let inside = file.strip_prefix("src").unwrap().with_extension("");
    let mut path: Vec<String> = inside
        .iter()
        .map(|part| part.to_str().unwrap().to_owned())
        .collect();
    if path.last().is_some_and(|last| last == "mod")
        || matches!(path.as_slice(), [only] if only == "lib" || only == "main")
    {
        path.pop();
    }
    path
}

/// A top module that is named somewhere.
struct Import {
    line: usize,
    module: String,
}

/// Finds every path that leads through the root, within the given module.
fn gather_imports(tokens: &[TokenTree], module: &[String], found: &mut Vec<Import>) {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            TokenTree::Ident(word) if word == "crate" && is_path(tokens, at + 1) => {
                at = follow(tokens, at + 3, Vec::new(), found);
            }
            TokenTree::Ident(word) if word == "super" && is_path(tokens, at + 1) => {
                at = follow(tokens, at, module.to_vec(), found);
            }
            TokenTree::Ident(word) if word == "mod" => {
                at += 2;
                if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) =
                    (tokens.get(at - 1), tokens.get(at))
                {
                    let inner: Vec<_> = module.iter().cloned().chain([name.to_string()]).collect();
                    gather_imports(
                        &body.stream().into_iter().collect::<Vec<_>>(),
                        &inner,
                        found,
                    );
                    at += 1;
                }
            }
            TokenTree::Group(group) => {
                gather_imports(
                    &group.stream().into_iter().collect::<Vec<_>>(),
                    module,
                    found,
                );
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// Follows a path whose next word is at `at`, from module `base`, and notes the top module that it
/// comes to from the root; gives where it ends.
fn follow(
    tokens: &[TokenTree],
    mut at: usize,
    mut base: Vec<String>,
    found: &mut Vec<Import>,
) -> usize {
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(word)) if word == "super" => drop(base.pop()),
            Some(TokenTree::Ident(word)) if word == "self" => {}
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inside: Vec<_> = group.stream().into_iter().collect();
                for branch in inside.split(|token| is_punct(token, ',')) {
                    follow(branch, 0, base.clone(), found);
                }
                return at + 1;
            }
            Some(word @ (TokenTree::Ident(_) | TokenTree::Punct(_))) => {
                if base.is_empty() {
                    found.push(Import {
                        line: word.span().start().line,
                        module: word.to_string(),
                    });
                }
                return at + 1;
            }
            _ => return at + 1,
        }
        if !is_path(tokens, at + 1) {
            return at + 1;
        }
        at += 3;
    }
}

/// Whether `::` stands at `at`.
fn is_path(tokens: &[TokenTree], at: usize) -> bool {
    [at, at + 1]
        .iter()
        .all(|at| tokens.get(*at).is_some_and(|token| is_punct(token, ':')))
}

fn is_punct(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}
