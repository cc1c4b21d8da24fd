//! What is known of a row of bytes: when it was read, whether it settled, or why not.

use crate::event::{Space, StepId};
use crate::session::LeftState;

use super::super::super::format;
use super::super::super::view::Ui;
use super::items::{Item, came_back, source};

/// In words.
pub(super) fn about(ui: Ui<'_>, item: &Item<'_>) -> String {
    match item {
        Item::Placement(placed) => {
            let [original, copy] = placed.both();
            let place = |place: &crate::event::Place| {
                format!(
                    "{} on {} ({}), {} free",
                    place.at,
                    place.source,
                    place.filesystem,
                    format::bytes(place.free)
                )
            };
            let same = match placed.same_disk {
                Some(true) => ": one dead disk takes both",
                _ => "",
            };
            format!("original {}, copy {}{same}", place(original), place(copy))
        }
        Item::Pool(pool) => {
            let (first, most) = (pool.first.data.used, pool.most.used);
            format!(
                "read at {} · {} taken at first, {} at most, {} free",
                format::moment(pool.at),
                format::bytes(first),
                format::bytes(most),
                format::bytes(pool.latest.data.free())
            )
        }
        Item::Back(pool) => {
            let (taken, back) = came_back(pool);
            format!(
                "{} more were taken than at first, by this session and by others; {} are free again",
                format::bytes(taken),
                format::bytes(back)
            )
        }
        Item::StillOut(_) => {
            let says = "what this session made and has not taken away";
            match ui.session.ledger.recovery() {
                Some(command) => format!("{says}; {command} lists it"),
                None => says.to_owned(),
            }
        }
        Item::Left(left) => {
            let state = match &left.state {
                LeftState::Intended => "announced; nobody has looked whether it is there",
                LeftState::Found(_) => "there",
                LeftState::Kept(_) => "kept",
                LeftState::Undone => "gone",
            };
            let at = format::moment(left.at);
            let place = left.found.as_ref();
            let place = place.map_or_else(String::new, |found| format!("{found}, "));
            format!(
                "{place}{state} since {at} · taken away by {}",
                left.intended.undo
            )
        }
        Item::Heading(_) => String::new(),
        Item::Space(space) => reading(ui, space),
        Item::Told(sample) => {
            let step = sample.step.as_ref().map(|step| by(ui, step));
            format!("{}{}", source(sample), step.unwrap_or_default())
        }
        Item::More(_) => "the recording has them, and a report as csv".to_owned(),
        Item::Sum { .. } => {
            "summed over the runs of the session, also those that failed".to_owned()
        }
        Item::Undone { .. } => "of all that was announced in this session".to_owned(),
    }
}

fn reading(ui: Ui<'_>, space: &Space) -> String {
    let settled = match (&space.why, space.settled) {
        (None, true) => "settled: two readings agreed".to_owned(),
        (Some(why), true) => why.clone(),
        (Some(why), false) => format!("not settled: {why}"),
        (None, false) => "not settled".to_owned(),
    };
    format!("{settled}{}", by(ui, &space.step))
}

/// Which step, where and when.
fn by(ui: Ui<'_>, step: &StepId) -> String {
    let Some(step) = ui.session.step_view(step) else {
        return String::new();
    };
    let planned = &step.planned;
    let when = step.ended.or(step.started);
    let when = when.map_or(String::new(), |at| format!(" at {}", format::moment(at)));
    format!(" · step {} on {}{when}", planned.name, planned.host)
}
