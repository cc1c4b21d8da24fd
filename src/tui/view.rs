//! Draws the model and the session. Pure: the same two give the same screen.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Block, BorderType, Clear, Widget};

use crate::session::{RunView, Session};

use super::counted::{self, Counted};
use super::layout;
use super::model::{Model, Screen};
use super::screens;
use super::text;
use super::theme::{Role, Theme};

/// What everything that draws looks at.
#[derive(Clone, Copy)]
pub struct Ui<'a> {
    /// The model.
    pub model: &'a Model,
    /// The session.
    pub session: &'a Session,
    /// What came out of it.
    pub figures: &'a Counted,
}

impl<'a> Ui<'a> {
    /// The theme.
    #[must_use]
    pub fn theme(&self) -> &'a Theme {
        &self.model.theme
    }

    /// The style of a role.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.theme().style(role)
    }

    /// Whether a run is the one that is looked at, of those side by side.
    #[must_use]
    pub fn is_looked_at(&self, run: Option<&RunView>) -> bool {
        let here = self.model.run(self.session).map(|run| &run.run);
        here == run.map(|run| &run.run)
    }

    /// A frame with its titles; draws it and gives what is inside.
    pub fn pane(
        &self,
        area: Rect,
        buffer: &mut Buffer,
        has_keys: bool,
        titles: Titles<'_>,
    ) -> Rect {
        let role = if has_keys {
            Role::BorderFocus
        } else {
            Role::Border
        };
        let block = Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(self.style(role));
        let inner = block.inner(area);
        block.render(area, buffer);
        let [left, right, foot] = [titles.left, titles.right, titles.foot].map(text::clean);
        let room = usize::from(area.width.saturating_sub(4));
        let right = text::cut(&right, room).into_owned();
        let room_left = room.saturating_sub(text::width(&right) + 2);
        let left = if left.contains(" · ") {
            // What it is of stands at its end.
            text::name(&left, room_left)
        } else {
            text::cut(&left, room_left)
        };
        let mut style = self.style(Role::Title);
        if has_keys {
            style = self.style(Role::Accent).patch(style);
        }
        let plain = self.style(Role::Text);
        self.title(area, buffer, area.top(), (&left, style), false);
        self.title(area, buffer, area.top(), (&right, plain), true);
        let foot = text::cut(&foot, room);
        self.title(
            area,
            buffer,
            area.bottom().saturating_sub(1),
            (&foot, plain),
            true,
        );
        inner
    }

    /// Text on a frame, in a style of its own and not in the frame's.
    fn title(
        &self,
        area: Rect,
        buffer: &mut Buffer,
        y: u16,
        (text, style): (&str, Style),
        at_right: bool,
    ) {
        let cells = u16::try_from(text::width(text))
            .unwrap_or(u16::MAX)
            .saturating_add(2);
        if text.is_empty() || area.height == 0 || cells > area.width.saturating_sub(2) {
            return;
        }
        let x = if at_right {
            area.right() - 1 - cells
        } else {
            area.x + 1
        };
        buffer.set_style(
            Rect {
                x,
                y,
                width: cells,
                height: 1,
            },
            Style::reset(),
        );
        buffer.set_style(
            Rect {
                x,
                y,
                width: cells,
                height: 1,
            },
            self.style(Role::Text),
        );
        buffer.set_stringn(x, y, format!(" {text} "), usize::from(cells), style);
    }

    /// A line through a frame, from side to side.
    pub fn rule(&self, area: Rect, buffer: &mut Buffer, y: u16) {
        let line = format!(
            "├{}┤",
            "─".repeat(usize::from(area.width.saturating_sub(2)))
        );
        if area.contains(Position::new(area.x, y)) {
            let style = self.style(Role::BorderFocus);
            buffer.set_stringn(area.x, y, line, usize::from(area.width), style);
        }
    }

    /// Rows of text from the first that is to be seen on.
    pub fn rows(&self, area: Rect, buffer: &mut Buffer, rows: &[Line<'_>], from: usize) {
        let from = from.min(rows.len().saturating_sub(usize::from(area.height)));
        for (row, y) in rows.iter().skip(from).zip(area.top()..area.bottom()) {
            self.line(
                Rect {
                    y,
                    height: 1,
                    ..area
                },
                buffer,
                row,
            );
        }
    }

    /// One row of text. A row that has a style of its own fills its whole width with it.
    pub fn line(&self, area: Rect, buffer: &mut Buffer, line: &Line<'_>) {
        if area.is_empty() {
            return;
        }
        buffer.set_style(area, self.style(Role::Text));
        buffer.set_style(area, line.style);
        buffer.set_line(area.x, area.y, line, area.width);
    }
}

/// What stands on a frame.
#[derive(Debug, Clone, Copy, Default)]
pub struct Titles<'a> {
    /// At the left of the top.
    pub left: &'a str,
    /// At the right of the top.
    pub right: &'a str,
    /// At the right of the bottom.
    pub foot: &'a str,
}

/// Draws everything.
pub fn view(model: &Model, session: &Session, frame: &mut Frame<'_>) {
    let session = model
        .frozen
        .as_ref()
        .map_or(session, |frozen| &frozen.session);
    let figures = counted::seen(model, session);
    let ui = Ui {
        model,
        session,
        figures: &figures,
    };
    // A size that is not the terminal's any more would draw beyond it.
    let area = frame.area().intersection(layout::screen(model));
    if area.width < layout::LEAST.0 || area.height < layout::LEAST.1 {
        too_small(ui, frame.area(), frame.buffer_mut());
        return;
    }
    if area != layout::screen(model) {
        return;
    }
    let cursor = draw(ui, frame.buffer_mut());
    if let Some(cursor) = cursor {
        frame.set_cursor_position(cursor);
    }
}

fn draw(ui: Ui<'_>, buffer: &mut Buffer) -> Option<Position> {
    let [head, body, bar] = layout::frame(ui.model);
    buffer.set_style(layout::screen(ui.model), ui.style(Role::Text));
    super::widgets::header::draw(ui, head, buffer);
    match ui.model.screen {
        Screen::Picking => screens::picking::draw(ui, buffer),
        Screen::Watching => screens::watching::draw(ui, buffer),
        Screen::Comparing => screens::comparing::draw(ui, body, buffer),
        Screen::Projecting => screens::projecting::draw(ui, body, buffer),
        Screen::Recordings => screens::recordings::draw(ui, buffer),
    }
    let typed = super::widgets::command_bar::draw(ui, bar, buffer);
    screens::layers(ui, buffer).or(typed)
}

/// Says how much room there has to be.
fn too_small(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    Clear.render(area, buffer);
    buffer.set_style(area, ui.style(Role::Text));
    let (columns, rows) = layout::LEAST;
    let says = format!(
        "comeback needs {columns} columns and {rows} rows; here are {} and {}. It goes on running.",
        area.width, area.height
    );
    let rows = text::wrap_words(&says, usize::from(area.width).max(1));
    let rows: Vec<Line<'_>> = rows.into_iter().map(Line::from).collect();
    ui.rows(area, buffer, &rows, 0);
}
