//! The themes that there are for this terminal.

use std::path::PathBuf;

use super::{Depth, Theme, ThemeError};

/// The themes that there are for this terminal. They are read when they are asked for: one that
/// was changed meanwhile is as it is now.
#[derive(Debug, Clone, Default)]
pub struct Shelf {
    /// Where the user's own are.
    pub dirs: Vec<PathBuf>,
    /// Whether there are to be colours at all.
    pub has_color: bool,
    /// How many of them the terminal shows.
    pub depth: Depth,
}

impl Shelf {
    /// A theme by its name, in the colours that there are; without any, the theme is `mono`.
    ///
    /// # Errors
    /// [`ThemeError`]: no such theme, or its file is wrong.
    pub fn load(&self, asked: Option<&str>) -> Result<Theme, ThemeError> {
        let name = super::choose(self.has_color, asked);
        Ok(Theme::load(name, &self.dirs)?.shown_in(self.depth))
    }

    /// All that can be had here, by name; and what is wrong with those that cannot be read.
    #[must_use]
    pub fn all(&self) -> (Vec<Theme>, Vec<String>) {
        let (mut themes, mut wrong) = (Vec::new(), Vec::new());
        for name in Theme::names(&self.dirs) {
            match Theme::load(&name, &self.dirs) {
                Ok(theme) if theme.has_color() && !self.has_color => {}
                Ok(theme) => themes.push(theme.shown_in(self.depth)),
                Err(why) => wrong.push(why.to_string()),
            }
        }
        (themes, wrong)
    }
}
