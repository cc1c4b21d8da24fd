//! Where a replay stands: in words for the first line, and as a line with its chapters.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::event::Nanos;
use crate::recording::ChapterKind;

use super::super::contexts::is_unplayed;
use super::super::keys::{Action, Context};
use super::super::message::ReplayState;
use super::super::theme::Role;
use super::super::view::Ui;
use super::super::{chapters, format, text};
use super::header;
use super::row::Row;

/// Where the replay stands, in words: as many as there is room for.
pub(super) fn standing(ui: Ui<'_>, replay: &ReplayState) -> (String, Role) {
    if is_unplayed(ui.session) {
        return (format!("publication · {}", replay.name), Role::Info);
    }
    let (pace, role) = pace(ui, replay);
    let clock = format!(
        "{} of {}",
        format::moment(replay.at),
        format::moment(replay.length)
    );
    let is_at_end = replay.read.is_none() && replay.at >= replay.length;
    let place = match ui.session.ending() {
        // The session is still the one of another moment.
        _ if replay.sought => None,
        Some(ending) => Some(format!("over: {}", ending.text)),
        None if is_at_end => Some(format!("cut here, {}", header::place(ui.session))),
        None => Some(header::place(ui.session)),
    };
    // What a narrow terminal can do without stands behind: how much, the more the sooner.
    let mut parts = vec![
        (4, "replay".to_owned()),
        (6, replay.name.clone()),
        (0, pace),
    ];
    if replay.cut && replay.passing.is_none() && !replay.idle.is_empty() {
        parts.push((5, "idle cut".to_owned()));
    }
    if replay.looping && is_at_end && !replay.paused {
        parts.push((1, "begins anew in 5 s".to_owned()));
    } else if replay.looping {
        parts.push((3, "loop".to_owned()));
    }
    if let Some(read) = replay.read {
        parts.push((3, format!("reading {read} %")));
    }
    parts.push((1, clock));
    parts.extend(place.map(|place| (2, place)));
    if let Some(trouble) = &replay.trouble {
        // All of it is at the top of what is odd.
        parts.push((6, trouble.clone()));
    }
    // The hosts have the rest.
    let room = usize::from(ui.model.size.0) * 5 / 8;
    loop {
        let words: Vec<&str> = parts.iter().map(|(_, word)| word.as_str()).collect();
        let says = words.join(" · ");
        let worst = parts
            .iter()
            .map(|(rank, _)| *rank)
            .max()
            .unwrap_or_default();
        if worst < 3 || text::width(&says) <= room {
            return (says, role);
        }
        parts.retain(|(rank, _)| *rank < worst);
    }
}

/// How fast it goes, in words that nobody takes for the time that it took.
fn pace(ui: Ui<'_>, replay: &ReplayState) -> (String, Role) {
    if replay.trouble.is_some() {
        let key = ui.model.keys.name(&[Context::Watching], Action::Notes);
        let why = if key.is_empty() {
            String::new()
        } else {
            format!(": why, says {key}")
        };
        return (format!("cannot go on{why}"), Role::Error);
    }
    if let Some(passing) = replay.passing {
        return (
            format!("cutting {} idle", format::elapsed(passing)),
            Role::Warn,
        );
    }
    if replay.paused {
        return ("held".to_owned(), Role::Info);
    }
    (format!("{}×", replay.speed), Role::Info)
}

/// The whole recording as a line: what is behind, what is to come, where its chapters begin and
/// where nothing happened.
pub(super) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer) {
    let Some(replay) = ui.model.replay_shown() else {
        return;
    };
    let width = usize::from(area.width);
    let (at, length) = (format::moment(replay.at), format::moment(replay.length));
    let cells = width.saturating_sub(text::width(&length) * 2 + 4);
    let mut row = Row::new(ui, width);
    row.gap(1)
        .right(&at, text::width(&length), Role::Info)
        .gap(1);
    for (glyph, role) in bar(replay, cells) {
        row.text(glyph, role);
    }
    row.gap(1).text(&length, Role::Muted);
    ui.line(area, buffer, &row.line());
}

fn bar(replay: &ReplayState, cells: usize) -> Vec<(&'static str, Role)> {
    let here = cell(replay.at, replay.length, cells);
    let mut bar: Vec<(&'static str, Role)> = (0..cells)
        .map(|at| {
            if at < here {
                ("━", Role::Gauge)
            } else {
                ("─", Role::GaugeTrack)
            }
        })
        .collect();
    let mut put = |at: usize, sign: (&'static str, Role)| {
        if let Some(place) = bar.get_mut(at) {
            *place = sign;
        }
    };
    for idle in replay.idle.iter() {
        let from = cell(idle.from, replay.length, cells);
        // Both ends are moments at which something happened.
        for at in from + 1..cell(idle.to, replay.length, cells) {
            put(
                at,
                if at < here {
                    ("╍", Role::Gauge)
                } else {
                    ("╌", Role::GaugeTrack)
                },
            );
        }
    }
    // What matters most is put last: it may share its cell.
    for is_wanted in [
        |kind| kind == ChapterKind::Run,
        |kind| matches!(kind, ChapterKind::Failure(_)),
        |kind| matches!(kind, ChapterKind::RunEnd(end) if !end.is_good()),
        |kind| kind == ChapterKind::Marker,
    ] as [fn(ChapterKind) -> bool; 4]
    {
        for chapter in replay
            .chapters
            .iter()
            .filter(|chapter| is_wanted(chapter.kind))
        {
            let at = cell(chapter.at, replay.length, cells);
            put(
                at,
                match chapter.kind {
                    ChapterKind::Run if at < here => ("┷", Role::Gauge),
                    ChapterKind::Run => ("┴", Role::GaugeTrack),
                    kind => {
                        let sign = chapters::sign(kind);
                        (sign.glyph, sign.role)
                    }
                },
            );
        }
    }
    put(here, ("█", Role::Accent));
    bar
}

/// The cell of a moment.
fn cell(at: Nanos, length: Nanos, cells: usize) -> usize {
    let share = at.seconds() / length.seconds().max(f64::MIN_POSITIVE);
    let last = cells.saturating_sub(1);
    ((share * last as f64) as usize).min(last)
}
