//! One theme file, read but not resolved yet: colours are still names.

use std::collections::BTreeMap;
use std::ops::Range;

use ratatui::style::{Color, Modifier};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Role, ThemeError};

/// One theme file.
#[derive(Debug, Default, Clone)]
pub(super) struct Sheet {
    pub inherits: Option<(String, Place)>,
    pub palette: BTreeMap<String, Color>,
    pub roles: BTreeMap<Role, Draft>,
}

/// A style whose colours are not looked up yet.
#[derive(Debug, Default, Clone)]
pub(super) struct Draft {
    pub fg: Option<(String, Place)>,
    pub bg: Option<(String, Place)>,
    pub modifiers: Modifier,
}

/// Where something stands in a theme file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub file: String,
    pub line: usize,
    pub key: String,
}

impl Place {
    /// What is wrong there.
    pub fn wrong(&self, why: impl Into<String>) -> ThemeError {
        ThemeError::Wrong {
            file: self.file.clone(),
            line: self.line,
            key: self.key.clone(),
            why: why.into(),
        }
    }
}

/// The names of modifiers, as a theme file has them.
pub(super) const MODIFIERS: [(&str, Modifier); 6] = [
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underlined", Modifier::UNDERLINED),
    ("reversed", Modifier::REVERSED),
    ("crossed-out", Modifier::CROSSED_OUT),
];

/// A colour by its own name: one of the 16, 0–255, `#rrggbb`, or `reset`.
pub(super) fn colour(name: &str) -> Option<Color> {
    name.parse().ok()
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
}

pub(super) fn read(file: &str, text: &str) -> Result<Sheet, ThemeError> {
    let reader = Reader { file, text };
    let table = DeTable::parse(text).map_err(|why| {
        reader
            .place(why.span().unwrap_or_default(), "")
            .wrong(why.message().to_owned())
    })?;
    reader.sheet(table.get_ref())
}

impl Reader<'_> {
    fn place(&self, span: Range<usize>, key: &str) -> Place {
        let before = self.text.as_bytes().iter().take(span.start);
        Place {
            file: self.file.to_owned(),
            line: 1 + before.filter(|byte| **byte == b'\n').count(),
            key: key.to_owned(),
        }
    }

    fn sheet(&self, table: &DeTable<'_>) -> Result<Sheet, ThemeError> {
        let mut sheet = Sheet::default();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let place = self.place(key.span(), name);
            match name {
                "inherits" => {
                    let base = value
                        .get_ref()
                        .as_str()
                        .ok_or_else(|| place.wrong(expected("the name of a theme", value)))?;
                    sheet.inherits = Some((base.to_owned(), place));
                }
                "palette" => sheet.palette = self.palette(value, &place)?,
                _ => self.role(name, value, &place, &mut sheet)?,
            }
        }
        Ok(sheet)
    }

    fn palette(
        &self,
        value: &Spanned<DeValue<'_>>,
        place: &Place,
    ) -> Result<BTreeMap<String, Color>, ThemeError> {
        let table = value
            .get_ref()
            .as_table()
            .ok_or_else(|| place.wrong(expected("a table of colours", value)))?;
        let mut palette = BTreeMap::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let place = self.place(key.span(), &format!("palette.{name}"));
            let text = value
                .get_ref()
                .as_str()
                .ok_or_else(|| place.wrong(expected("a colour", value)))?;
            let colour = colour(text).ok_or_else(|| place.wrong(no_colour(text)))?;
            palette.insert(name.to_owned(), colour);
        }
        Ok(palette)
    }

    /// A role, or a table of roles that share the front of their name.
    fn role(
        &self,
        name: &str,
        value: &Spanned<DeValue<'_>>,
        place: &Place,
        sheet: &mut Sheet,
    ) -> Result<(), ThemeError> {
        let role = Role::named(name).ok_or_else(|| {
            place.wrong(format!(
                "there is no role of this name; the roles are: {}",
                names()
            ))
        })?;
        let draft = match value.get_ref() {
            DeValue::String(colour) => Draft {
                fg: Some((colour.to_string(), place.clone())),
                ..Draft::default()
            },
            DeValue::Table(table) => self.draft(name, table)?,
            _ => return Err(place.wrong(expected("a colour, or { fg, bg, modifiers }", value))),
        };
        sheet.roles.insert(role, draft);
        Ok(())
    }

    fn draft(&self, role: &str, table: &DeTable<'_>) -> Result<Draft, ThemeError> {
        let mut draft = Draft::default();
        for (key, value) in table {
            let part = key.get_ref().as_ref();
            let place = self.place(key.span(), &format!("{role}.{part}"));
            match part {
                "fg" | "bg" => {
                    let colour = value
                        .get_ref()
                        .as_str()
                        .ok_or_else(|| place.wrong(expected("a colour", value)))?
                        .to_owned();
                    if part == "fg" {
                        draft.fg = Some((colour, place));
                    } else {
                        draft.bg = Some((colour, place));
                    }
                }
                "modifiers" => draft.modifiers = modifiers(value, &place)?,
                _ => {
                    let why = "a style has fg, bg and modifiers (a role with a dot is quoted: \"log.match\")";
                    return Err(place.wrong(why));
                }
            }
        }
        Ok(draft)
    }
}

fn modifiers(value: &Spanned<DeValue<'_>>, place: &Place) -> Result<Modifier, ThemeError> {
    let known = || {
        let names: Vec<_> = MODIFIERS.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    };
    let list = value
        .get_ref()
        .as_array()
        .ok_or_else(|| place.wrong(expected(&format!("a list of: {}", known()), value)))?;
    list.iter().try_fold(Modifier::empty(), |all, item| {
        item.get_ref()
            .as_str()
            .and_then(|name| MODIFIERS.iter().find(|(known, _)| *known == name))
            .map(|(_, modifier)| all | *modifier)
            .ok_or_else(|| place.wrong(format!("a modifier is one of: {}", known())))
    })
}

fn expected(what: &str, value: &Spanned<DeValue<'_>>) -> String {
    format!("expected {what}, found {}", value.get_ref().type_str())
}

/// What is wrong with a text that is no colour.
pub(super) fn no_colour(text: &str) -> String {
    format!(
        "{text:?} is no colour: expected a name of [palette], one of the 16 colours of a terminal \
         (red, light-red, …), a number up to 255, or #rrggbb"
    )
}

fn names() -> String {
    let names: Vec<_> = super::ROLES.iter().map(|(_, name, _)| *name).collect();
    names.join(", ")
}
