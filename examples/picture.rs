//! Draws the dashboard as it stood at one moment of a recording, as an SVG picture.
//!
//!     cargo run --example picture -- recordings/files.jsonl docs/picture.svg [SECONDS [COLUMNS ROWS [THEME]]]

use std::fmt::Write;
use std::path::Path;

use chrono::{FixedOffset, Offset, Utc};
use comeback::event::{Event, Nanos};
use comeback::recording::Reader;
use comeback::session::Session;
use comeback::tui::{Message, Model, Theme, update, view};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

/// Size of a cell, in pixels.
const CELL: (f64, f64) = (8.4, 18.0);
/// Colours of the text and the ground where the theme sets none.
const TEXT: &str = "#d8dee9";
const GROUND: &str = "#14171c";

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [recording, picture, ..] = args.as_slice() else {
        anyhow::bail!("expected RECORDING PICTURE.svg [SECONDS [COLUMNS ROWS [THEME]]]");
    };
    let number =
        |at: usize, default: f64| args.get(at).map_or(Ok(default), |text| text.parse::<f64>());
    let (columns, rows) = (number(3, 120.0)? as u16, number(4, 36.0)? as u16);
    let events: Vec<Event> = Reader::open(Path::new(recording))?.collect::<Result<_, _>>()?;
    let last = events.last().map_or(0.0, |event| event.t.seconds());
    let at = number(2, last)?;

    let mut session = Session::default();
    for event in events.iter().filter(|event| event.t.seconds() <= at) {
        session.apply(event);
    }
    let theme = Theme::load(args.get(5).map_or("default", String::as_str), &[])?;
    let mut model = Model::new(
        theme,
        (columns, rows),
        FixedOffset::east_opt(0).unwrap_or(Utc.fix()),
    );
    for message in [Message::Began, Message::Changed(Nanos((at * 1e9) as u64))] {
        update(&mut model, &session, message);
    }
    let mut terminal = Terminal::new(TestBackend::new(columns, rows))?;
    terminal.draw(|frame| view(&model, &session, frame))?;
    std::fs::write(picture, svg(terminal.backend().buffer()))?;
    Ok(())
}

fn svg(buffer: &Buffer) -> String {
    let (width, height) = (buffer.area.width, buffer.area.height);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0} {:.0}\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{GROUND}\"/>\n",
        f64::from(width) * CELL.0 + 16.0,
        f64::from(height) * CELL.1 + 16.0,
    );
    for y in 0..height {
        let mut x = 0;
        while x < width {
            let Some(first) = buffer.cell((x, y)) else {
                break;
            };
            let begin = x;
            let mut run = String::new();
            while let Some(cell) = buffer.cell((x, y)).filter(|cell| same_look(first, cell)) {
                run.push_str(cell.symbol());
                x += 1;
            }
            draw(&mut text, first, &run, (begin, y), x - begin);
        }
    }
    text.push_str("</svg>\n");
    text
}

fn same_look(one: &Cell, other: &Cell) -> bool {
    (one.fg, one.bg, one.modifier) == (other.fg, other.bg, other.modifier)
}

fn draw(text: &mut String, cell: &Cell, run: &str, (x, y): (u16, u16), cells: u16) {
    let reversed = cell.modifier.contains(Modifier::REVERSED);
    let (fore, ground) = (colour(cell.fg, TEXT), colour(cell.bg, GROUND));
    let (fore, ground) = if reversed {
        (ground, fore)
    } else {
        (fore, ground)
    };
    let left = f64::from(x) * CELL.0 + 8.0;
    let top = f64::from(y) * CELL.1 + 8.0;
    let width = f64::from(cells) * CELL.0;
    if ground != GROUND {
        let _ = writeln!(
            text,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{ground}\"/>",
            CELL.1
        );
    }
    if run.trim().is_empty() {
        return;
    }
    let mut look = String::new();
    if cell.modifier.contains(Modifier::BOLD) {
        look.push_str(" font-weight=\"bold\"");
    }
    if cell.modifier.contains(Modifier::DIM) {
        look.push_str(" opacity=\"0.65\"");
    }
    let escaped = run
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let _ = writeln!(
        text,
        "<text x=\"{left:.1}\" y=\"{:.1}\" fill=\"{fore}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\"{look}>{escaped}</text>",
        top + 13.5,
    );
}

fn colour(colour: Color, default: &str) -> String {
    match colour {
        Color::Black => "#2e3440",
        Color::Red => "#e06c75",
        Color::Green => "#98c379",
        Color::Yellow => "#e5c07b",
        Color::Blue => "#61afef",
        Color::Magenta => "#c678dd",
        Color::Cyan => "#56b6c2",
        Color::Gray => "#abb2bf",
        Color::DarkGray => "#7f848e",
        Color::LightRed => "#ff7b86",
        Color::LightGreen => "#b5e890",
        Color::LightYellow => "#ffd68a",
        Color::LightBlue => "#7cc4ff",
        Color::LightMagenta => "#d9a0f0",
        Color::LightCyan => "#7fdbe6",
        Color::White => "#ffffff",
        Color::Rgb(red, green, blue) => return format!("#{red:02x}{green:02x}{blue:02x}"),
        _ => default,
    }
    .to_owned()
}
