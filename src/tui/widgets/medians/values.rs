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

/// A token a run; none of one that goes on and has no value yet.
pub(super) fn tokens(figures: &Figures, column: &TimeColumn) -> Vec<Token> {
    let series = &column.series;
    let scale = Scale::of(series);
    let far: Vec<usize> = series.far().into_iter().map(|(run, _)| run).collect();
    let values = |run: usize| -> Vec<String> {
        let counted = series.runs.iter().zip(&series.values);
        let counted = counted
            .filter(|(of, _)| **of == run)
            .map(|(_, value)| *value);
        let out = series.out.iter().filter(|(of, _)| *of == run);
        let all = counted.chain(out.map(|(_, value)| *value));
        all.map(|value| scale.bare(value)).collect()
    };
    let token = |(run, outcome): (usize, &Outcome)| {
        let sign = signs::of_outcome(*outcome);
        let all = values(run).join(",");
        let n = run + 1;
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
    let mut all: Vec<Token> = figures
        .outcomes
        .iter()
        .enumerate()
        .filter_map(token)
        .collect();
    if series.slows() {
        all.push(Token {
            words: "each run slower than the one before".to_owned(),
            text: "slows".to_owned(),
            role: Role::Warn,
        });
    }
    all
}

/// Cells that all of them take.
pub(super) fn width(tokens: &[Token]) -> usize {
    let all: usize = tokens.iter().map(|token| text::width(&token.text)).sum();
    all + tokens.len().saturating_sub(1)
}

/// As many of the last ones as there is room for, and how many more there are: `+12 57 60 66`.
pub(super) fn draw(row: &mut Row<'_>, tokens: &[Token], cells: usize) {
    let mut from = 0;
    let head = |from: usize| {
        if from == 0 {
            String::new()
        } else {
            format!("+{from}")
        }
    };
    let need = |from: usize| {
        let rest = width(tokens.get(from..).unwrap_or_default());
        match text::width(&head(from)) {
            0 => rest,
            head => head + 1 + rest,
        }
    };
    while from < tokens.len() && need(from) > cells {
        from += 1;
    }
    if from > 0 {
        row.text(&head(from), Role::Muted);
    }
    for (at, token) in tokens.iter().skip(from).enumerate() {
        if at + from > 0 {
            row.gap(1);
        }
        row.text(&token.text, token.role);
    }
}
