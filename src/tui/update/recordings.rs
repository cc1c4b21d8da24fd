//! Keys of the list of recordings, and what is found in their folder.

use crate::session::Session;

use super::super::keys::{Action, Context};
use super::super::layout;
use super::super::message::{Effect, Found};
use super::super::model::{Decision, Dialog, Layer, Model, Purpose, Screen, is_active};
use super::super::recordings::Recording;
use super::super::{format, text};
use super::{picking, watching};

/// Opens the list, where no run goes on: reading many files would be in its figures.
pub(super) fn enter(model: &mut Model, session: &Session) -> Vec<Effect> {
    if model.screen == Screen::Recordings {
        return Vec::new();
    }
    if model.replay.is_none() {
        if is_active(session) || model.picking.starting {
            let opens = "opens them once it has ended.";
            let opens = model
                .keys
                .says(Context::Everywhere, Action::Recordings, opens);
            let says =
                format!("A run goes on: reading recordings would be in its figures. {opens}");
            model.say = Some(says.trim_end().to_owned());
            return Vec::new();
        }
        model.recordings.home = Some(model.screen);
    }
    model.screen = Screen::Recordings;
    vec![Effect::Recordings]
}

pub(super) fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    let zone = model.zone;
    match action {
        Action::Accept => {
            if let Some(row) = model.recordings.current(zone) {
                let path = row.path.clone();
                model.say = Some(format!("Opening {}…", row.name()));
                return vec![Effect::Open(path)];
            }
        }
        Action::Delete => delete(model),
        Action::Filter => {
            let before = model.recordings.filter.clone();
            watching::entry(
                model,
                Purpose::FilterRecordings,
                "Only recordings with",
                before,
            );
        }
        Action::Refresh => return vec![Effect::Recordings],
        Action::Back => return back(model),
        _ => {
            let shown = model.recordings.shown(zone).len();
            let page = layout::inner_height(layout::recordings(model).0);
            model.recordings.at = picking::moved(model.recordings.at, shown, page, action);
        }
    }
    Vec::new()
}

/// One thing at a time: the filter, then where one came from.
fn back(model: &mut Model) -> Vec<Effect> {
    if !model.recordings.filter.is_empty() {
        filter(model, String::new());
        return Vec::new();
    }
    if let Some(home) = model.recordings.home.take() {
        model.screen = home;
        return vec![Effect::CloseReplay];
    }
    if model.replay.is_some() {
        model.screen = Screen::Watching;
    } else {
        let leaves = model
            .keys
            .name(&[Context::Everywhere, Context::Always], Action::Quit);
        model.say = Some(format!(
            "There is nothing behind this list; {leaves} leaves."
        ));
    }
    Vec::new()
}

/// Shows only recordings with a text.
pub(super) fn filter(model: &mut Model, text: String) {
    let zone = model.zone;
    let on = model.recordings.current(zone).map(|row| row.path.clone());
    model.recordings.filter = text;
    model.recordings.put_cursor(on.as_deref(), zone);
}

fn delete(model: &mut Model) {
    let Some(row) = model.recordings.current(model.zone) else {
        return;
    };
    let mut lines = vec![row.path.display().to_string()];
    if let Some(summary) = &row.summary {
        let date = row.date(model.zone).unwrap_or_default();
        lines.push(format!("{date}  {}: {}", row.hosts(), summary.result()));
        if summary.still_out > 0 {
            lines.push(format!(
                "{} that it tells of may still be on its hosts; comeback recover finds it by this file.",
                format::count(summary.still_out, "leftover")
            ));
        }
    }
    lines.push("It cannot be brought back.".to_owned());
    let decision = Decision::Delete(row.path.clone());
    model.layers.push(Layer::Dialog(Dialog {
        title: "Delete this recording?".to_owned(),
        lines: lines
            .iter()
            .map(|line| text::clean(line).into_owned())
            .collect(),
        choices: vec![
            ("keep it".to_owned(), Decision::Cancel),
            ("delete the file".to_owned(), decision),
        ],
        at: 0,
    }));
}

/// Takes what there is in the folder. The cursor stays on its file; at the top it stays there, where
/// the newest comes to stand.
pub(super) fn found(model: &mut Model, found: Found) {
    let zone = model.zone;
    let list = &mut model.recordings;
    let on = list.current(zone).filter(|_| list.at > 0);
    let on = on.map(|row| row.path.clone());
    match found {
        Found::Files(folder, files) => {
            list.folder = folder;
            let mut known = std::mem::take(&mut list.rows);
            list.rows = files
                .into_iter()
                .map(|path| {
                    let at = known.iter().position(|row| row.path == path);
                    let summary = at.and_then(|at| known.swap_remove(at).summary);
                    Recording { path, summary }
                })
                .collect();
            list.listed = true;
            list.all_read = false;
            list.trouble = None;
        }
        Found::Read(summary) => {
            let row = list.rows.iter_mut().find(|row| row.path == summary.path);
            if let Some(row) = row {
                row.summary = Some(*summary);
            }
        }
        Found::All => {
            list.all_read = true;
            // Those that cannot be read stand at the end.
            list.rows.sort_by_key(|row| {
                std::cmp::Reverse(row.summary.as_ref().and_then(|summary| summary.started))
            });
        }
        Found::Deleted(path) => {
            list.rows.retain(|row| row.path != path);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            model.say = Some(format!("{name} is deleted."));
        }
        Found::Trouble(why) => {
            list.listed = true;
            list.all_read = true;
            list.trouble = Some(why);
        }
    }
    model.recordings.put_cursor(on.as_deref(), zone);
}
