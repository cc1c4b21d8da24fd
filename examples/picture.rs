//! Draws the dashboard as it stood at one moment of a recording, as an SVG picture.
//!
//!     cargo run --example picture -- recordings/files.jsonl docs/picture.svg --at 7.5
//!     cargo run --example picture -- recordings/files.jsonl comparing.svg --screen comparing --theme nord
//!
//! Lines and blocks are drawn as shapes, not as letters, so that they join whatever the font.

use std::fmt::Write;
use std::path::PathBuf;

use chrono::{Offset, Utc};
use clap::{Parser, ValueEnum};
use comeback::event::{Event, Nanos};
use comeback::recording::Reader;
use comeback::session::Session;
use comeback::tui::{Message, Model, Theme, update, view};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

/// Size of a cell, in pixels.
const CELL: (f64, f64) = (8.4, 18.0);
/// Pixels around the screen.
const EDGE: f64 = 8.0;
/// Colours of the text and the ground where the theme sets none.
const TEXT: &str = "#d8dee9";
const GROUND: &str = "#14171c";

/// Draws the dashboard as it stood at one moment of a recording.
#[derive(Parser)]
struct Args {
    /// The recording
    recording: PathBuf,
    /// The picture, an SVG file
    picture: PathBuf,
    /// Seconds after the recording's begin [default: its end]
    #[arg(long)]
    at: Option<f64>,
    /// Columns and rows
    #[arg(long, default_value = "120x36", value_parser = size)]
    size: (u16, u16),
    /// Theme
    #[arg(long, default_value = "default")]
    theme: String,
    /// What fills the screen
    #[arg(long, value_enum, default_value_t = Screen::Watching)]
    screen: Screen,
    /// Keys that are pressed before, as they are typed
    #[arg(long, default_value = "")]
    keys: String,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Screen {
    Watching,
    Comparing,
}

fn size(text: &str) -> Result<(u16, u16), String> {
    let parts = text.split_once('x');
    let number = |text: &str| text.parse().ok();
    parts
        .and_then(|(columns, rows)| Some((number(columns)?, number(rows)?)))
        .ok_or_else(|| "expected COLUMNSxROWS, like 120x36".to_owned())
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let events: Vec<Event> = Reader::open(&args.recording)?.collect::<Result<_, _>>()?;
    let last = events.last().map_or(0.0, |event| event.t.seconds());
    let at = args.at.unwrap_or(last);

    let mut session = Session::default();
    for event in events.iter().filter(|event| event.t.seconds() <= at) {
        session.apply(event);
    }
    let theme = Theme::load(&args.theme, &[])?;
    let ground = theme
        .ground()
        .map_or_else(|| GROUND.to_owned(), |it| colour(it, GROUND));
    let mut model = Model::new(theme, args.size, Utc.fix());
    for message in [Message::Began, Message::Changed(Nanos((at * 1e9) as u64))] {
        update(&mut model, &session, message);
    }
    let to_screen = if args.screen == Screen::Comparing {
        "c"
    } else {
        ""
    };
    for key in to_screen.chars().chain(args.keys.chars()) {
        let key = KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE);
        update(&mut model, &session, Message::Key(key));
    }
    let mut terminal = Terminal::new(TestBackend::new(args.size.0, args.size.1))?;
    terminal.draw(|frame| view(&model, &session, frame))?;
    std::fs::write(args.picture, svg(terminal.backend().buffer(), &ground))?;
    Ok(())
}

fn svg(buffer: &Buffer, ground: &str) -> String {
    let (width, height) = (buffer.area.width, buffer.area.height);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0} {:.0}\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{ground}\"/>\n",
        f64::from(width) * CELL.0 + 2.0 * EDGE,
        f64::from(height) * CELL.1 + 2.0 * EDGE,
    );
    for y in 0..height {
        let mut x = 0;
        while let Some(first) = buffer.cell((x, y)) {
            let begin = x;
            let mut run = String::new();
            while let Some(cell) = buffer.cell((x, y)).filter(|cell| same_look(first, cell)) {
                run.push_str(cell.symbol());
                x += 1;
            }
            draw(&mut text, (first, ground), &run, (begin, y), x - begin);
        }
    }
    text.push_str("</svg>\n");
    text
}

fn same_look(one: &Cell, other: &Cell) -> bool {
    let is_shape = |cell: &Cell| shape(cell.symbol()).is_some();
    (one.fg, one.bg, one.modifier) == (other.fg, other.bg, other.modifier)
        && is_shape(one) == is_shape(other)
}

fn draw(
    text: &mut String,
    (cell, around): (&Cell, &str),
    run: &str,
    (x, y): (u16, u16),
    cells: u16,
) {
    let (mut fore, mut ground) = (colour(cell.fg, TEXT), colour(cell.bg, around));
    if cell.modifier.contains(Modifier::REVERSED) {
        std::mem::swap(&mut fore, &mut ground);
    }
    let left = f64::from(x) * CELL.0 + EDGE;
    let top = f64::from(y) * CELL.1 + EDGE;
    let width = f64::from(cells) * CELL.0;
    if ground != around {
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
    if cell.modifier.contains(Modifier::DIM) {
        look.push_str(" opacity=\"0.65\"");
    }
    if shape(cell.symbol()).is_some() {
        let mut path = String::new();
        for (at, symbol) in run.chars().enumerate() {
            if let Some(shape) = shape(symbol.encode_utf8(&mut [0; 4])) {
                let left = left + at as f64 * CELL.0;
                shape.draw(&mut path, left, top);
            }
        }
        let _ = writeln!(
            text,
            "<path d=\"{}\" fill=\"{fore}\"{look}/>",
            path.trim_end()
        );
        return;
    }
    if cell.modifier.contains(Modifier::BOLD) {
        look.push_str(" font-weight=\"bold\"");
    }
    if cell.modifier.contains(Modifier::UNDERLINED) {
        look.push_str(" text-decoration=\"underline\"");
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

/// A character that is drawn as a shape.
enum Shape {
    /// Arms of a line from the middle: left, right, up, down.
    Line([bool; 4]),
    /// A filled part: left, top, width and height, in shares of a cell.
    Block([f64; 4]),
}

fn shape(symbol: &str) -> Option<Shape> {
    let arms = |arms: &str| Shape::Line(['l', 'r', 'u', 'd'].map(|arm| arms.contains(arm)));
    let c = symbol.chars().next()?;
    Some(match c {
        '─' => arms("lr"),
        '│' => arms("ud"),
        '╭' | '┌' => arms("rd"),
        '╮' | '┐' => arms("ld"),
        '╰' | '└' => arms("ru"),
        '╯' | '┘' => arms("lu"),
        '├' => arms("rud"),
        '┤' => arms("lud"),
        '┬' => arms("lrd"),
        '┴' => arms("lru"),
        '┼' => arms("lrud"),
        // Eighths from below, and from the left.
        '▁'..='█' => {
            let part = f64::from(u32::from(c) - 0x2580) / 8.0;
            Shape::Block([0.0, 1.0 - part, 1.0, part])
        }
        '▉'..='▏' => Shape::Block([0.0, 0.0, f64::from(0x2590 - u32::from(c)) / 8.0, 1.0]),
        _ => return None,
    })
}

impl Shape {
    /// Rectangles, as parts of a path. Lines reach a little into the next cell: no gap is seen.
    fn draw(&self, path: &mut String, left: f64, top: f64) {
        let mut rect = |x: f64, y: f64, width: f64, height: f64| {
            let _ = write!(path, "M{x:.1} {y:.1}h{width:.1}v{height:.1}h-{width:.1}z ");
        };
        let (width, height) = CELL;
        let thick = 1.2;
        let (middle, centre) = (left + (width - thick) / 2.0, top + (height - thick) / 2.0);
        match self {
            Self::Block([x, y, wide, high]) => {
                rect(
                    left + x * width,
                    top + y * height,
                    wide * width,
                    high * height,
                );
            }
            Self::Line([to_left, to_right, up, down]) => {
                if *to_left || *to_right {
                    let begin = if *to_left { left } else { middle };
                    let end = if *to_right {
                        left + width + 0.1
                    } else {
                        middle + thick
                    };
                    rect(begin, centre, end - begin, thick);
                }
                if *up || *down {
                    let begin = if *up { top } else { centre };
                    let end = if *down {
                        top + height + 0.1
                    } else {
                        centre + thick
                    };
                    rect(middle, begin, thick, end - begin);
                }
            }
        }
    }
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
