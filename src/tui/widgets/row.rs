//! A row of text that is built from the left, by columns.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::text;
use super::super::theme::Role;
use super::super::view::Ui;

/// A row that is being built.
pub(crate) struct Row<'a> {
    ui: Ui<'a>,
    spans: Vec<Span<'static>>,
    width: usize,
    /// How many cells it may take.
    limit: usize,
}

impl<'a> Row<'a> {
    /// Of at most so many cells.
    pub fn new(ui: Ui<'a>, limit: usize) -> Self {
        Self {
            ui,
            spans: Vec::new(),
            width: 0,
            limit,
        }
    }

    /// Cells that are taken.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Cells that are left.
    pub fn room(&self) -> usize {
        self.limit.saturating_sub(self.width)
    }

    /// Text in a role, cut where there is no room.
    pub fn text(&mut self, text: &str, role: Role) -> &mut Self {
        let style = self.ui.style(role);
        self.styled(text, style)
    }

    /// Text in a style.
    pub fn styled(&mut self, text: &str, style: Style) -> &mut Self {
        let clean = text::clean(text);
        let part = text::cut(&clean, self.room());
        self.width += text::width(&part);
        self.spans.push(Span::styled(part.into_owned(), style));
        self
    }

    /// Text in a column of so many cells, at its left.
    pub fn left(&mut self, text: &str, cells: usize, role: Role) -> &mut Self {
        let padded = text::left(&text::clean(text), cells);
        self.text(&padded, role)
    }

    /// A name in a column of so many cells, at its left; one that is too long keeps its end.
    pub fn name(&mut self, text: &str, cells: usize, role: Role) -> &mut Self {
        let cells = cells.min(self.room());
        let clean = text::clean(text);
        let padded = text::left(&text::name(&clean, cells), cells);
        self.text(&padded, role)
    }

    /// Text in a column of so many cells, at its right.
    pub fn right(&mut self, text: &str, cells: usize, role: Role) -> &mut Self {
        let padded = text::right(&text::clean(text), cells);
        self.text(&padded, role)
    }

    /// Blanks.
    pub fn gap(&mut self, cells: usize) -> &mut Self {
        self.text(&" ".repeat(cells.min(self.room())), Role::Text)
    }

    /// Blanks up to a column.
    pub fn to(&mut self, column: usize) -> &mut Self {
        self.gap(column.saturating_sub(self.width))
    }

    /// Text after two blanks, where all of it fits; says whether it did. No text is no blanks.
    pub fn whole(&mut self, text: &str, role: Role) -> bool {
        let fits = !text.is_empty() && text::width(&text::clean(text)) + 2 <= self.room();
        if fits {
            self.gap(2).text(text, role);
        }
        fits
    }

    /// Text at the right end, after at least one blank; left out where there is no room.
    pub fn end(&mut self, text: &str, role: Role) -> &mut Self {
        let need = text::width(&text::clean(text));
        if need < self.room() {
            self.to(self.limit - need).text(text, role);
        }
        self
    }

    /// The row.
    pub fn line(self) -> Line<'static> {
        Line::from(self.spans)
    }

    /// The row, with a style under all of it.
    pub fn line_in(self, style: Style) -> Line<'static> {
        let mut line = Line::from(self.spans).style(style);
        for span in &mut line.spans {
            span.style = span.style.patch(style);
        }
        line
    }
}
