//! How methods that can be picked stand in rows: titles and reasons in full where there is room.

use ratatui::layout::Rect;

use super::offer::MethodOffer;
use super::text;

/// How methods stand in their rows.
#[derive(Debug, Clone, Copy)]
pub struct MethodRows {
    /// Cells of the names.
    pub name: usize,
    /// Cells of a row.
    pub width: usize,
    /// Whether titles and reasons have as many rows as they need.
    pub are_wrapped: bool,
}

impl MethodRows {
    /// Said of a method that asks for the name of what it destroys.
    pub const DESTROYS: &str = "destroys";

    /// Cells in front of a name: the cursor, and the mark.
    const FRONT: usize = 6;

    /// In full, in so many cells.
    pub fn whole(methods: &[&MethodOffer], width: usize) -> Self {
        let names = methods.iter().map(|method| text::width(&method.name));
        Self {
            name: names.max().unwrap_or_default().min(width / 2),
            width,
            are_wrapped: true,
        }
    }

    /// In full where all of them fit; else a row each.
    pub fn fitting(methods: &[&MethodOffer], inner: Rect) -> Self {
        let whole = Self::whole(methods, usize::from(inner.width));
        Self {
            are_wrapped: whole.need(methods) <= usize::from(inner.height),
            ..whole
        }
    }

    /// So many rows.
    pub fn need(&self, methods: &[&MethodOffer]) -> usize {
        methods.iter().map(|method| self.parts(method).len()).sum()
    }

    /// What is said of a method, a part a row; at least one.
    pub fn parts(&self, method: &MethodOffer) -> Vec<String> {
        let says = match &method.runnable {
            Ok(()) => &method.title,
            Err(why) => why,
        };
        let says = text::clean(says);
        if !self.are_wrapped {
            return vec![says.into_owned()];
        }
        text::wrap_words(&says, self.width.saturating_sub(self.front(method)).max(8))
    }

    /// Cells in front of what is said of a method.
    pub fn front(&self, method: &MethodOffer) -> usize {
        let destroys = if Self::asks(method) {
            2 + Self::DESTROYS.len()
        } else {
            0
        };
        Self::FRONT + self.name + destroys + 2
    }

    /// Whether it asks for the name of what it destroys.
    pub fn asks(method: &MethodOffer) -> bool {
        method.runnable.is_ok() && !method.named.is_empty()
    }
}
