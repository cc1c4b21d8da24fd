//! A screen as text: its cells, then the styles of its cells in runs.

use std::fmt::Write as _;

use chrono::{FixedOffset, Offset, Utc};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::super::model::Model;
use super::super::theme::Theme;
use super::super::view;
use crate::session::Session;

pub(super) const SIZES: [(u16, u16); 4] = [(80, 24), (120, 40), (40, 10), (200, 60)];

pub(super) fn utc() -> FixedOffset {
    Utc.fix()
}

pub(super) fn model() -> Model {
    Model::new(Theme::load("default", &[]).unwrap(), (120, 40), utc())
}

/// Draws a model at a size, in a theme.
pub(super) fn draw(model: &Model, session: &Session, size: (u16, u16), theme: &str) -> Buffer {
    let mut model = model.clone();
    model.size = size;
    model.theme = Theme::load(theme, &[]).unwrap();
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|frame| view(&model, session, frame)).unwrap();
    terminal.backend().buffer().clone()
}

/// The cells of a buffer as lines.
pub(super) fn text(buffer: &Buffer) -> String {
    let mut all = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut line = String::new();
        let mut skip = 0;
        for x in buffer.area.left()..buffer.area.right() {
            let symbol = buffer[(x, y)].symbol();
            if skip > 0 {
                skip -= 1;
                continue;
            }
            line.push_str(symbol);
            skip = super::super::text::width(symbol).saturating_sub(1);
        }
        all.push_str(line.trim_end());
        all.push('\n');
    }
    all
}

/// The styles of a buffer: a line a row, `from-to style` a run; plain cells are left out.
pub(super) fn styles(buffer: &Buffer) -> String {
    let mut all = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut runs: Vec<(u16, u16, String)> = Vec::new();
        for x in buffer.area.left()..buffer.area.right() {
            let style = style(&buffer[(x, y)]);
            match runs.last_mut() {
                Some((_, to, last)) if *last == style => *to = x,
                _ => runs.push((x, x, style)),
            }
        }
        runs.retain(|(_, _, style)| !style.is_empty());
        if !runs.is_empty() {
            let _ = write!(all, "{y:>2}:");
            for (from, to, style) in runs {
                let _ = write!(all, " {from}-{to} {style}");
            }
            all.push('\n');
        }
    }
    all
}

fn style(cell: &Cell) -> String {
    let mut parts = Vec::new();
    if cell.fg != Color::Reset {
        parts.push(cell.fg.to_string().to_lowercase());
    }
    if cell.bg != Color::Reset {
        parts.push(format!("on-{}", cell.bg.to_string().to_lowercase()));
    }
    let names = [
        (Modifier::BOLD, "bold"),
        (Modifier::DIM, "dim"),
        (Modifier::ITALIC, "italic"),
        (Modifier::UNDERLINED, "underlined"),
        (Modifier::REVERSED, "reversed"),
    ];
    parts.extend(
        names
            .iter()
            .filter(|(modifier, _)| cell.modifier.contains(*modifier))
            .map(|(_, name)| (*name).to_owned()),
    );
    parts.join("+")
}

/// A screen in both themes, at one size. The text is the same in both, or a colour would say
/// something that no word says.
pub(super) fn screen(model: &Model, session: &Session, size: (u16, u16)) -> String {
    let colour = draw(model, session, size, "default");
    let mono = draw(model, session, size, "mono");
    assert_eq!(text(&colour), text(&mono));
    let plain = |cell: &Cell| cell.fg == Color::Reset && cell.bg == Color::Reset;
    assert!(mono.content().iter().all(plain), "mono has no colours");
    format!(
        "{}\n-- default --\n{}\n-- mono --\n{}",
        text(&colour),
        styles(&colour),
        styles(&mono)
    )
}

/// What is drawn beside text: frames, blocks, and these.
const SIGNS: &str = "✓✗▶▸·•●○■□▲◆…–—×±≤≥≈→←↑↓‹›“”’°µ";

/// Whether we may draw it: text, box drawing, block elements and the signs above. What hosts and
/// operators say is theirs.
fn is_ours(c: char) -> bool {
    let is_text = c.is_ascii_graphic() || c == ' ' || c.is_alphanumeric();
    is_text || ('\u{2500}'..='\u{259f}').contains(&c) || SIGNS.contains(c)
}

/// Holds for every screen: a theme's ground is under each cell, and no wide character is cut.
pub(super) fn check(buffer: &Buffer, theme: &str) {
    let has_ground = Theme::load(theme, &[]).unwrap().ground().is_some();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut x = buffer.area.left();
        while let Some(cell) = buffer.cell((x, y)) {
            let place = || format!("{theme}, {x} {y}:\n{}", text(buffer));
            assert!(
                !has_ground || cell.bg != Color::Reset,
                "no ground: {}",
                place()
            );
            let symbol = cell.symbol();
            assert!(
                !symbol.chars().any(char::is_control),
                "{symbol:?}: {}",
                place()
            );
            let width = super::super::text::width(symbol).max(1);
            for beside in 1..width {
                let rest = buffer.cell((x + u16::try_from(beside).unwrap(), y));
                let rest = rest.map(Cell::symbol);
                assert_eq!(
                    rest,
                    Some(" "),
                    "half of {symbol:?} is cut off: {}",
                    place()
                );
            }
            x += u16::try_from(width).unwrap();
        }
    }
}

/// Compares a screen at every size with its snapshots.
pub(super) fn assert_screens(name: &str, model: &Model, session: &Session) {
    for size in SIZES {
        let mut model = model.clone();
        model.size = size;
        let on_ground = draw(&model, session, size, "nord");
        check(&on_ground, "nord");
        let symbols = on_ground
            .content()
            .iter()
            .flat_map(|cell| cell.symbol().chars());
        let foreign: String = symbols.filter(|c| !is_ours(*c)).collect();
        assert!(
            foreign.is_empty() || name.ends_with("awkward"),
            "{name} draws {foreign:?}"
        );
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => "snapshots" }, {
            insta::assert_snapshot!(format!("{name}-{}x{}", size.0, size.1), screen(&model, session, size));
        });
    }
}
