//! The settings of a method, as a form: each with its value, what it is for, and what it takes.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::super::keys::{Action, Context};
use super::super::model::{Form, Typing};
use super::super::offer::SettingOffer;
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::widgets::row::Row;
use super::super::{layout, text};
use super::over;

/// Rows below the list: what is wrong, what the setting is for, what it takes.
const DETAIL: u16 = 4;

/// Gives the cursor's place where a value is typed.
pub(super) fn draw(ui: Ui<'_>, buffer: &mut Buffer, form: &Form) -> Option<Position> {
    let title = format!("Settings of {} on {}", form.of.method, form.of.host);
    let offer = ui.model.picking.offer.as_ref();
    let known = offer
        .and_then(|offer| offer.method(&form.of))
        .map_or(&[][..], |method| &method.settings);
    let changed = known.iter().filter(|setting| setting.is_changed()).count();
    let changed = match changed {
        0 => "all as they come".to_owned(),
        n => format!("* {n} changed"),
    };
    let key = |context, action| ui.model.keys.name(&[context], action);
    let foot = if form.typing.is_some() {
        format!(
            "{} takes it, {} forgets it",
            key(Context::Entry, Action::Accept),
            key(Context::Entry, Action::Back)
        )
    } else {
        format!("{} closes", key(Context::Settings, Action::Back))
    };
    let titles = Titles {
        left: &title,
        right: &changed,
        foot: &foot,
    };
    let area = layout::overlay(ui.model);
    let need = u16::try_from(known.len() + 3).unwrap_or(u16::MAX);
    let need = need.saturating_add(DETAIL);
    let area = layout::centred(layout::screen(ui.model), area.width, area.height.min(need));
    let inner = over(ui, area, buffer, titles);
    let width = usize::from(inner.width);
    if known.is_empty() {
        let mut row = Row::new(ui, width);
        row.text("It has no settings.", Role::Muted);
        ui.line(inner, buffer, &row.line());
        return None;
    }
    let detail = DETAIL.min(inner.height / 2);
    let list = Rect {
        height: inner.height - detail,
        ..inner
    };
    let columns = Columns::of(known, width);
    let rows: Vec<Line<'_>> = known
        .iter()
        .enumerate()
        .map(|(at, setting)| columns.row(ui, setting, (at == form.at).then_some(form)))
        .collect();
    let from = (form.at + 1).saturating_sub(usize::from(list.height));
    ui.rows(list, buffer, &rows, from);
    let setting = known.get(form.at)?;
    let below = Rect {
        y: list.bottom(),
        height: detail,
        ..inner
    };
    ui.rows(below, buffer, &details(ui, setting, form, width), 0);
    let typing = form.typing.as_ref()?;
    let y = list.y + u16::try_from(form.at - from).ok()?;
    let cells = columns.value;
    let at = columns.name + 3 + typing.input.visual_cursor() - scroll(typing, cells);
    let x = u16::try_from(at).ok()?.min(inner.width.saturating_sub(1));
    Some(Position::new(inner.x + x, y))
}

fn scroll(typing: &Typing, cells: usize) -> usize {
    typing.input.visual_scroll(cells.saturating_sub(1))
}

/// Where values begin, and how wide they are.
struct Columns {
    name: usize,
    value: usize,
    width: usize,
}

impl Columns {
    fn of(known: &[SettingOffer], width: usize) -> Self {
        let widest = |text: fn(&SettingOffer) -> &str| {
            let all = known.iter().map(|setting| text::width(text(setting)));
            all.max().unwrap_or_default()
        };
        let name = widest(|setting| &setting.name).clamp(6, (width / 4).max(10));
        Self {
            name,
            value: (widest(|setting| &setting.value) + 2)
                .max(12)
                .min(width.saturating_sub(name + 4)),
            width,
        }
    }

    fn row(&self, ui: Ui<'_>, setting: &SettingOffer, form: Option<&Form>) -> Line<'static> {
        let mut row = Row::new(ui, self.width);
        let mark = if setting.is_changed() { "*" } else { " " };
        row.text(mark, Role::Accent)
            .left(&setting.name, self.name, Role::Text)
            .gap(2);
        let value = Self::value(setting);
        let typing = form.and_then(|form| form.typing.as_ref());
        if let Some(typing) = typing {
            let shown = text::window(typing.input.value(), scroll(typing, self.value), self.value);
            let role = if typing.problem.is_some() {
                Role::Error
            } else {
                Role::Accent
            };
            row.left(&shown, self.value, role);
        } else {
            let role = match (&setting.problem, setting.is_changed()) {
                (Some(_), _) => Role::Error,
                (None, true) => Role::Accent,
                (None, false) => Role::Text,
            };
            row.left(value, self.value, role);
        }
        if setting.is_changed() {
            row.whole(
                &format!("default {}", quoted(&setting.default)),
                Role::Muted,
            );
        }
        row.gap(2).text(&setting.help, Role::Muted);
        // What is typed into is no choice among others.
        if form.is_some() && typing.is_none() {
            row.line_in(ui.style(Role::Selection))
        } else {
            row.line()
        }
    }

    fn value(setting: &SettingOffer) -> &str {
        if setting.value.is_empty() {
            "(empty)"
        } else {
            &setting.value
        }
    }
}

fn quoted(value: &str) -> String {
    if value.is_empty() {
        "empty".to_owned()
    } else {
        value.to_owned()
    }
}

/// What is to be known of the setting under the cursor; what is wrong comes first.
fn details(ui: Ui<'_>, setting: &SettingOffer, form: &Form, width: usize) -> Vec<Line<'static>> {
    let typed = form
        .typing
        .as_ref()
        .and_then(|typing| typing.problem.as_ref());
    let stands = setting.problem.as_ref().filter(|_| form.typing.is_none());
    let wrapped = |text: &str, role: Role| -> Vec<Line<'static>> {
        let rows = text::wrap_words(&text::clean(text), width.saturating_sub(2).max(1));
        let line = |part: &String| {
            let mut row = Row::new(ui, width);
            row.gap(1).text(part, role);
            row.line()
        };
        rows.iter().map(line).collect()
    };
    let mut rows = Vec::new();
    if let Some(why) = typed.or(stands) {
        rows.extend(wrapped(why, Role::Error));
    } else if !ui.model.picking.is_current() {
        rows.extend(wrapped("what would run is being worked out…", Role::Warn));
    } else {
        rows.push(Line::default());
    }
    let takes = format!(
        "takes {}; default {}",
        setting.hint(),
        quoted(&setting.default)
    );
    rows.extend(wrapped(&takes, Role::Muted));
    rows.extend(wrapped(&setting.help, Role::Text));
    rows
}
