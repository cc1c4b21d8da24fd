//! Every value of a series in the order of its runs, with what is odd about it.

use crate::report::Scale;
use crate::session::{Outcome, Row as Figures, TimeColumn};

use super::super::super::signs;
use super::super::super::text;
use super::super::super::theme::Role;
use super::super::row::Row;

/// What one run gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// As short as it gets: `57`, `90!`, `(41)`, `31✗`.
    pub text: String,
    /// The same in words, where it is odd.
    pub words: String,
    pub role: Role,
}

/// What the runs of a series gave.
pub(super) struct Tokens {
    /// How many runs came before.
    pub before: usize,
    /// One each of the last runs.
    pub last: Vec<Token>,
}

/// Said behind the values where each run was slower than the one before it.
pub(super) const EACH_SLOWER: &str = "each slower";

/// Of more values than these none is marked as odd where it stands; a remark tells of it.
const MANY: usize = 2_000;

/// A token each of so many of the last runs; none of one that goes on and has no value yet.
pub(super) fn tokens(figures: &Figures, column: &TimeColumn, most: usize) -> Tokens {
    let series = &column.series;
    let scale = Scale::of(series);
    let is_few = series.n() <= MANY;
    let far = if is_few { series.far() } else { Vec::new() };
    let far: Vec<usize> = far.into_iter().map(|(run, _)| run).collect();
    let counted = |run: usize| -> Vec<String> {
        let from = series.runs.partition_point(|of| *of < run);
        let to = series.runs.partition_point(|of| *of <= run);
        let all = series.values.get(from..to).unwrap_or_default();
        all.iter().map(|value| scale.bare(*value)).collect()
    };
    let out = |run: usize| -> Vec<String> {
        let from = series.out.partition_point(|(of, _)| *of < run);
        let all = series.out.get(from..).unwrap_or_default().iter();
        let all = all.take_while(|(of, _)| *of == run);
        all.map(|(_, value)| scale.bare(*value)).collect()
    };
    let token = |(run, outcome): (usize, &Outcome)| {
        let sign = signs::of_outcome(*outcome);
        let (mut all, out) = (counted(run).join(","), out(run).join(","));
        let n = run + 1;
        if !outcome.counts() {
            all = out;
        } else if !out.is_empty() {
            let front = if all.is_empty() { "" } else { "," };
            return Some(Token {
                words: format!("{out}? of run {n} cannot be"),
                text: format!("{all}{front}{out}?"),
                role: Role::Warn,
            });
        }
        Some(match outcome {
            Outcome::GoesOn if all.is_empty() => return None,
            Outcome::GoesOn => Token {
                words: format!("({all}) run {n} goes on"),
                text: format!("({all})"),
                role: Role::Running,
            },
            outcome if !outcome.counts() => Token {
                words: format!("{all}{} run {n} {}", sign.glyph, sign.word),
                text: format!("{all}{}", sign.glyph),
                role: sign.role,
            },
            _ if all.is_empty() => Token {
                words: format!("· run {n} has none"),
                text: "·".to_owned(),
                role: Role::Pending,
            },
            _ if far.contains(&run) => Token {
                words: if run == 0 {
                    format!("{all}! run 1 is far from the others")
                } else {
                    format!("{all}! run {n} is far from the others")
                },
                text: format!("{all}!"),
                role: Role::Warn,
            },
            _ => Token {
                words: String::new(),
                text: all,
                role: Role::Text,
            },
        })
    };
    let before = figures.outcomes.len().saturating_sub(most);
    let runs = figures.outcomes.iter().enumerate().skip(before);
    let mut all: Vec<Token> = runs.filter_map(token).collect();
    if is_few && series.slows() {
        all.push(Token {
            words: "each run slower than the one before".to_owned(),
            text: EACH_SLOWER.to_owned(),
            role: Role::Warn,
        });
    }
    Tokens { before, last: all }
}

/// Cells that all of them take.
pub(super) fn width(tokens: &Tokens) -> usize {
    let front = match tokens.before {
        0 => 0,
        before => text::width(&format!("+{before} ")),
    };
    front + of_tokens(&tokens.last)
}

fn of_tokens(tokens: &[Token]) -> usize {
    let all: usize = tokens.iter().map(|token| text::width(&token.text)).sum();
    all + tokens.len().saturating_sub(1)
}

/// As many of the last ones as there is room for, and how many more there are: `+12 57 60 66`.
pub(super) fn draw(row: &mut Row<'_>, tokens: &Tokens, cells: usize) {
    let Tokens { before, last } = tokens;
    // What is said of all values does not take the place of one: it is told below the table, too.
    let last = match last.split_last() {
        Some((word, values)) if word.text == EACH_SLOWER && width(tokens) > cells => values,
        _ => last.as_slice(),
    };
    let head = |from: usize| match before + from {
        0 => String::new(),
        more => format!("+{more}"),
    };
    let mut from = 0;
    let mut rest = of_tokens(last);
    while let Some(first) = last.get(from) {
        let need = match text::width(&head(from)) {
            0 => rest,
            head => head + 1 + rest,
        };
        if need <= cells {
            break;
        }
        rest = rest.saturating_sub(text::width(&first.text) + 1);
        from += 1;
    }
    let head = head(from);
    if !head.is_empty() {
        row.text(&head, Role::Muted);
    }
    for (at, token) in last.iter().skip(from).enumerate() {
        if at > 0 || !head.is_empty() {
            row.gap(1);
        }
        row.text(&token.text, token.role);
    }
}
