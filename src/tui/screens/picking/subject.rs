//! What is protected on the host under the cursor: what each method makes itself, or what is there.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::method::{Own, SubjectSpec};

use super::super::super::model::{PickPane, Picking};
use super::super::super::offer::{HostOffer, SubjectOffer};
use super::super::super::theme::Role;
use super::super::super::view::{Titles, Ui};
use super::super::super::widgets::row::Row;
use super::super::super::{layout, text};

pub(super) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let picking = &ui.model.picking;
    let has_keys = picking.pane == PickPane::Subject;
    let title = picking
        .host_name()
        .map_or_else(|| "Subject".to_owned(), |host| format!("Subject on {host}"));
    let titles = Titles {
        left: &title,
        ..Titles::default()
    };
    let inner = ui.pane(area, buffer, has_keys, titles);
    let Some(host) = picking.host().filter(|_| !picking.here().is_empty()) else {
        return;
    };
    let width = usize::from(inner.width);
    let own = own_row(ui, host, width);
    let named = host
        .subjects
        .iter()
        .enumerate()
        .map(|(at, subject)| row(ui, host, subject, at + 1, width));
    let rows: Vec<Line<'_>> = [own]
        .into_iter()
        .chain(named)
        .enumerate()
        .map(|(at, row)| {
            if has_keys && at == picking.subject {
                row.line_in(ui.style(Role::Selection))
            } else {
                row.line()
            }
        })
        .collect();
    ui.rows(
        inner,
        buffer,
        &rows,
        layout::first(picking.subject, usize::from(inner.height)),
    );
}

fn start(ui: Ui<'_>, at: usize, is_chosen: bool, width: usize) -> Row<'_> {
    let is_here = at == ui.model.picking.subject;
    let mut row = Row::new(ui, width);
    row.text(if is_here { "▸ " } else { "  " }, Role::Accent);
    if is_chosen {
        row.text("(●) ", Role::Accent);
    } else {
        row.text("( ) ", Role::Text);
    }
    row
}

fn own_row<'a>(ui: Ui<'a>, host: &HostOffer, width: usize) -> Row<'a> {
    let mut row = start(ui, 0, host.subject.is_none(), width);
    row.text("of its own", Role::Text)
        .gap(2)
        .text(&own_kinds(&ui.model.picking), Role::Muted);
    row
}

/// The kinds of subjects that methods of this host make themselves.
fn own_kinds(picking: &Picking) -> String {
    let mut kinds: Vec<&str> = picking
        .here()
        .iter()
        .filter(|method| method.own != Own::Never)
        .map(|method| method.kind.name())
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.join(", ")
}

fn row<'a>(
    ui: Ui<'a>,
    host: &HostOffer,
    subject: &SubjectOffer,
    at: usize,
    width: usize,
) -> Row<'a> {
    let is_chosen = host.subject.as_ref() == Some(&subject.spec);
    let mut row = start(ui, at, is_chosen, width);
    if subject.marked {
        // That it may be changed is never cut off.
        let room = row.room().saturating_sub("  marked".len());
        row.text(&short(&subject.spec, room), Role::Text)
            .whole("marked", Role::Warn);
    } else {
        let room = row.room();
        row.text(&short(&subject.spec, room), Role::Text)
            .whole("only read", Role::Ok);
    }
    row.whole(&subject.about, Role::Muted);
    row
}

/// A subject in so many cells: of a path, its end says most.
fn short(spec: &SubjectSpec, cells: usize) -> String {
    let whole = spec.to_string();
    let kind = format!("{}:…", spec.kind);
    let id = text::clean(&spec.id);
    let need = text::width(&id);
    let room = cells.saturating_sub(text::width(&kind));
    if text::width(&text::clean(&whole)) <= cells {
        whole
    } else {
        kind + &text::window(&id, need.saturating_sub(room), room)
    }
}

/// What there is to know of the subject under the cursor, in full.
pub(super) fn about(picking: &Picking) -> Vec<(String, Role)> {
    let Some(host) = picking.host() else {
        return Vec::new();
    };
    let Some(subject) = picking
        .subject
        .checked_sub(1)
        .and_then(|at| host.subjects.get(at))
    else {
        let kinds = own_kinds(picking);
        let says = format!(
            "of its own: each method makes what it protects ({kinds}), and takes it away again"
        );
        return vec![(says, Role::Text)];
    };
    let mut head = subject.spec.to_string();
    if !subject.about.is_empty() {
        head = format!("{head}, {}", subject.about);
    }
    let (says, role) = if subject.marked {
        (
            "It bears comeback's mark: a method may change or destroy it, and asks for its name.",
            Role::Warn,
        )
    } else {
        ("It is only read.", Role::Ok)
    };
    vec![(head, Role::Text), (says.to_owned(), role)]
}
