//! Styles by role, read from theme files.
//!
//! `docs/themes.md` describes the format. A theme is a file of roles; what it does not say is
//! taken from the theme that it inherits, then from the role's own fallback.

mod choice;
mod depth;
mod role;
mod sheet;
mod shelf;

use std::collections::BTreeMap;
use std::path::PathBuf;

use ratatui::style::{Color, Modifier, Style};

pub use choice::{ColorWhen, choose};
pub use depth::Depth;
pub use role::{ROLES, Role};
use sheet::{Draft, Sheet};
pub use shelf::Shelf;

/// The themes that come with the program.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("default", include_str!("../../../themes/default.toml")),
    ("mono", include_str!("../../../themes/mono.toml")),
    (
        "high-contrast",
        include_str!("../../../themes/high-contrast.toml"),
    ),
    (
        "solarized-light",
        include_str!("../../../themes/solarized-light.toml"),
    ),
    (
        "gruvbox-dark",
        include_str!("../../../themes/gruvbox-dark.toml"),
    ),
    ("nord", include_str!("../../../themes/nord.toml")),
    (
        "catppuccin-mocha",
        include_str!("../../../themes/catppuccin-mocha.toml"),
    ),
    (
        "catppuccin-latte",
        include_str!("../../../themes/catppuccin-latte.toml"),
    ),
    ("dracula", include_str!("../../../themes/dracula.toml")),
    (
        "tokyo-night",
        include_str!("../../../themes/tokyo-night.toml"),
    ),
    (
        "solarized-dark",
        include_str!("../../../themes/solarized-dark.toml"),
    ),
];

/// How deep themes may inherit from one another.
const DEPTH: usize = 8;

/// Styles by role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// Its name.
    pub name: String,
    styles: BTreeMap<Role, Style>,
}

/// Why there is no such theme.
#[derive(Debug, thiserror::Error)]
pub enum ThemeError {
    /// Not built in, and not in any folder.
    #[error("there is no theme {name:?}; there are: {}", known.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// Its file cannot be read.
    #[error("the theme file {file} cannot be read: {why}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        why: std::io::Error,
    },
    /// Something in its file is wrong.
    #[error("{file}, line {line}{}: {why}", if key.is_empty() { String::new() } else { format!(", key {key:?}") })]
    Wrong {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// The key; empty where the file is no TOML.
        key: String,
        /// What is wrong, and what was expected.
        why: String,
    },
}

impl Theme {
    /// Reads a theme by its name: from the first of `dirs` that has `NAME.toml`, else from those
    /// that are built in.
    ///
    /// # Errors
    /// [`ThemeError`]: no such theme, or its file (or one that it inherits) is wrong.
    pub fn load(name: &str, dirs: &[PathBuf]) -> Result<Self, ThemeError> {
        let mut sheets: Vec<Sheet> = Vec::new();
        let mut next = Some(name.to_owned());
        let mut from: Option<sheet::Place> = None;
        while let Some(name) = next.take() {
            if sheets.len() == DEPTH {
                let place = from.unwrap_or_default();
                return Err(place.wrong(format!(
                    "themes inherit at most {DEPTH} deep: is this a circle?"
                )));
            }
            let sheet = find(&name, dirs).map_err(|why| match (why, &from) {
                (ThemeError::Unknown { .. }, Some(place)) => {
                    place.wrong(format!("there is no theme {name:?} to inherit from"))
                }
                (why, _) => why,
            })?;
            if let Some((base, place)) = &sheet.inherits {
                next = Some(base.clone());
                from = Some(place.clone());
            }
            sheets.push(sheet);
        }
        resolve(name, &sheets)
    }

    /// Names of all themes that can be loaded.
    #[must_use]
    pub fn names(dirs: &[PathBuf]) -> Vec<String> {
        let mut names: Vec<String> = BUILT_IN
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .collect();
        for entry in dirs
            .iter()
            .filter_map(|dir| std::fs::read_dir(dir).ok())
            .flatten()
            .flatten()
        {
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "toml")
                && let Some(name) = path.file_stem().and_then(|stem| stem.to_str())
                && !names.iter().any(|known| known == name)
            {
                names.push(name.to_owned());
            }
        }
        names.sort();
        names
    }

    /// The style of a role.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        let mut at = Some(role);
        while let Some(role) = at {
            if let Some(style) = self.styles.get(&role) {
                return *style;
            }
            at = role.fallback();
        }
        Style::new()
    }

    /// The ground it sets, where it sets one.
    #[must_use]
    pub fn ground(&self) -> Option<Color> {
        self.style(Role::Text).bg
    }

    /// The same in the nearest of the colours that a terminal shows.
    #[must_use]
    pub fn shown_in(mut self, depth: Depth) -> Self {
        let ground = self.ground().map(|colour| depth.nearest(colour, None));
        for (role, style) in &mut self.styles {
            // 16 colours have none that is only a little off the ground.
            let is_raised = style.bg.is_some() && style.fg.is_none() && *role != Role::Text;
            if depth == Depth::Sixteen && is_raised {
                style.bg = None;
                *style = style.add_modifier(Modifier::REVERSED);
            }
            style.bg = style.bg.map(|colour| depth.nearest(colour, None));
            let under = style.bg.or(ground);
            style.fg = style.fg.map(|colour| depth.nearest(colour, under));
        }
        self
    }

    /// Whether it sets any colour.
    #[must_use]
    pub fn has_color(&self) -> bool {
        self.styles
            .values()
            .any(|style| style.fg.is_some() || style.bg.is_some())
    }
}

fn find(name: &str, dirs: &[PathBuf]) -> Result<Sheet, ThemeError> {
    let is_plain = !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.');
    for dir in dirs.iter().filter(|_| is_plain) {
        let path = dir.join(format!("{name}.toml"));
        match crate::page::read(&path) {
            Ok(text) => return sheet::read(&path.display().to_string(), &text),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => {}
            Err(why) => {
                let file = path.display().to_string();
                return Err(ThemeError::Read { file, why });
            }
        }
    }
    match BUILT_IN.iter().find(|(known, _)| *known == name) {
        Some((name, text)) => sheet::read(&format!("themes/{name}.toml"), text),
        None => Err(ThemeError::Unknown {
            name: name.to_owned(),
            known: Theme::names(dirs),
        }),
    }
}

/// Puts sheets together, the first one over the others.
fn resolve(name: &str, sheets: &[Sheet]) -> Result<Theme, ThemeError> {
    let mut palette = BTreeMap::new();
    let mut roles: BTreeMap<Role, &Draft> = BTreeMap::new();
    for sheet in sheets.iter().rev() {
        palette.extend(
            sheet
                .palette
                .iter()
                .map(|(name, colour)| (name.as_str(), *colour)),
        );
        roles.extend(sheet.roles.iter().map(|(role, draft)| (*role, draft)));
    }
    let look_up = |colour: &Option<(String, sheet::Place)>| {
        colour
            .as_ref()
            .map(|(name, place)| {
                palette
                    .get(name.as_str())
                    .copied()
                    .or_else(|| sheet::colour(name))
                    .ok_or_else(|| place.wrong(sheet::no_colour(name)))
            })
            .transpose()
    };
    let mut styles = BTreeMap::new();
    for (role, draft) in roles {
        let mut style = Style::new().add_modifier(draft.modifiers);
        style.fg = look_up(&draft.fg)?;
        style.bg = look_up(&draft.bg)?;
        styles.insert(role, style);
    }
    Ok(Theme {
        name: name.to_owned(),
        styles,
    })
}

#[cfg(test)]
mod contrast;
#[cfg(test)]
mod tests;
