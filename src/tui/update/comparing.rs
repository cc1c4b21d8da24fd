//! Keys of the comparison.

use crate::session::Session;

use super::super::counted;
use super::super::keys::{Action, Context};
use super::super::layout;
use super::super::message::Effect;
use super::super::model::{Model, Screen};
use super::super::screens::comparing;
use super::picking;

pub(super) fn act(model: &mut Model, session: &Session, action: Action) -> Vec<Effect> {
    let figures = counted::seen(model, session);
    let shown = figures.shown(session);
    let views = shown.views();
    let columns = shown.overview.columns.len();
    let [_, body, _] = layout::frame(model);
    let page = layout::inner_height(body).max(1);
    let comparing = &mut model.comparing;
    comparing.time = comparing.time.min(views - 1);
    match action {
        Action::Compare | Action::Back => model.screen = Screen::Watching,
        Action::NextPane => comparing.time = (comparing.time + 1) % views,
        Action::PreviousPane => comparing.time = (comparing.time + views - 1) % views,
        Action::Left => comparing.left = comparing.left.saturating_sub(1),
        // The name is no column that goes sideways, and the last one stays.
        Action::Right => comparing.left = (comparing.left + 1).min(columns.saturating_sub(2)),
        Action::Sort => comparing.sort = shown.overview.next(comparing.sort.as_ref()),
        Action::SortTurned => {
            if let Some(sort) = &mut comparing.sort {
                sort.falls = !sort.falls;
            } else {
                let sorts = "sorts it by a column.";
                let sorts = model.keys.says(Context::Compare, Action::Sort, sorts);
                let says = format!("It is in the order of the plan. {sorts}");
                model.say = Some(says.trim_end().to_owned());
            }
        }
        _ => {}
    }
    // What lies beyond the end is not scrolled to, or the way back would take as many keys.
    let most = comparing::rows(model, session).saturating_sub(page);
    let scroll = model.comparing.scroll.min(most);
    model.comparing.scroll = picking::moved(scroll, most + 1, page, action);
    Vec::new()
}
