//! The themes that there are, each with a sample of itself. The one under the cursor is in use:
//! the list stands at the right, so that most of the screen shows what it is like.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::super::model::Themes;
use super::super::theme::{Role, Theme};
use super::super::view::{Titles, Ui};
use super::super::widgets::row::Row;
use super::super::{format, layout, signs, text};
use super::over;

/// Cells of the frame.
const WIDTH: u16 = 40;
/// Signs, and the roles they stand for.
const SAMPLE: [(&str, Role); 6] = [
    ("✓", Role::Ok),
    ("!", Role::Warn),
    ("✗", Role::Error),
    ("▶", Role::Running),
    ("██", Role::Gauge),
    ("··", Role::GaugeTrack),
];

pub(super) fn draw(ui: Ui<'_>, buffer: &mut Buffer, themes: &Themes) {
    let all = layout::overlay(ui.model);
    let width = WIDTH.min(all.width);
    let wrong = wrong(ui, themes, usize::from(width).saturating_sub(3));
    let need = u16::try_from(themes.all.len() + wrong.len() + 2).unwrap_or(u16::MAX);
    let area = Rect {
        x: layout::screen(ui.model).right().saturating_sub(width),
        width,
        height: need.min(all.height),
        ..all
    };
    let rows = usize::from(area.height).saturating_sub(2);
    let from = (themes.at + 1).saturating_sub(rows);
    let titles = Titles {
        left: "Themes",
        right: "tried at once",
        foot: &format::below(themes.all.len() + wrong.len(), from + rows),
    };
    let inner = over(ui, area, buffer, titles);
    let mut lines: Vec<_> = themes
        .all
        .iter()
        .enumerate()
        .map(|(at, theme)| row(ui, theme, at == themes.at, usize::from(inner.width)))
        .collect();
    lines.extend(wrong);
    ui.rows(inner, buffer, &lines, from);
}

fn row(ui: Ui<'_>, theme: &Theme, is_here: bool, width: usize) -> Line<'static> {
    let sample: usize = SAMPLE.iter().map(|(sign, _)| text::width(sign) + 1).sum();
    let series = 5;
    let mut row = Row::new(ui, width);
    row.text(if is_here { "▸ " } else { "  " }, Role::Accent);
    row.left(
        &theme.name,
        width.saturating_sub(sample + series + 3),
        if is_here { Role::Accent } else { Role::Text },
    );
    let mut line = if is_here {
        row.line_in(ui.style(Role::Selection))
    } else {
        row.line()
    };
    let ground = theme.style(Role::Text);
    let mut show = |sign: &str, role| {
        let style = ground.patch(theme.style(role));
        line.spans.push(Span::styled(sign.to_owned(), style));
    };
    show(" ", Role::Text);
    for (sign, role) in SAMPLE {
        show(sign, role);
        show(" ", Role::Text);
    }
    for at in 0..4 {
        show(signs::of_series(at), Role::series(at));
    }
    show(" ", Role::Text);
    line
}

/// What is wrong with those that cannot be had.
fn wrong(ui: Ui<'_>, themes: &Themes, width: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    for why in &themes.wrong {
        for (at, part) in text::wrap_words(why, width.saturating_sub(2).max(1))
            .iter()
            .enumerate()
        {
            let mut row = Row::new(ui, width);
            row.text(if at == 0 { "✗ " } else { "  " }, Role::Error)
                .text(part, Role::Text);
            rows.push(row.line());
        }
    }
    rows
}
