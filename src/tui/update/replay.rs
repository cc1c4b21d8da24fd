//! Keys of a replay: its pace, and the moment that is shown.

use crate::event::Nanos;
use crate::session::Session;

use super::super::chapters;
use super::super::contexts::is_unplayed;
use super::super::keys::Action;
use super::super::layout;
use super::super::message::{Effect, Player, ReplayState};
use super::super::model::{Entry, Layer, Model, Purpose, Screen};
use super::{picking, watching};

/// The speeds that keys give.
const SPEEDS: [f64; 9] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// Nanoseconds of one jump.
const JUMP: u64 = 10_000_000_000;

/// Who goes back to the chapter before within so many seconds of this one's beginning means that
/// one; later, the beginning of this.
const GRACE: f64 = 2.0;

/// Takes where a replay stands. Another recording is shown from its begin, the way the last one
/// was looked at.
pub(super) fn stands(model: &mut Model, state: ReplayState) {
    let shown = model.replay.as_ref().map(|replay| replay.opened);
    if shown != Some(state.opened) {
        model.watching = model.watching.afresh();
        model.screen = Screen::Watching;
        model.say = None;
    }
    model.replay = Some(state);
}

/// Once something is known of a recording: figures that a publication prints are compared, for
/// there is nothing that could be played.
pub(super) fn present(model: &mut Model, session: &Session) {
    let Some(replay) = &model.replay else {
        return;
    };
    if model.presented == Some(replay.opened) || session.header.is_none() {
        return;
    }
    model.presented = Some(replay.opened);
    if is_unplayed(session) {
        model.screen = Screen::Comparing;
        model.say = Some(
            "These are figures that a publication prints: nothing was run here, so nothing is played."
                .to_owned(),
        );
    }
}

/// Whether an action is one of a replay, on the screens that show one.
pub(super) fn is_for(model: &Model, action: Action) -> bool {
    let is_shown = matches!(model.screen, Screen::Watching | Screen::Comparing);
    let is_one = matches!(
        action,
        Action::Hold
            | Action::Faster
            | Action::Slower
            | Action::Rewind
            | Action::Advance
            | Action::Restart
            | Action::Finish
            | Action::StepBack
            | Action::StepOn
            | Action::PreviousChapter
            | Action::NextChapter
            | Action::Chapters
            | Action::Loop
            | Action::Cut
            | Action::GoTo
    );
    model.replay.is_some() && is_shown && is_one
}

pub(super) fn act(model: &mut Model, session: &Session, action: Action) -> Vec<Effect> {
    let Some(replay) = &mut model.replay else {
        return Vec::new();
    };
    let at = replay.at.0;
    let player = match action {
        Action::Hold => {
            replay.paused = !replay.paused;
            if replay.paused {
                Player::Pause
            } else {
                Player::Play
            }
        }
        Action::Faster | Action::Slower => return pace(model, action),
        Action::Loop => {
            replay.looping = !replay.looping;
            model.say = Some(
                if replay.looping {
                    "After its end it begins anew."
                } else {
                    "After its end it stays there."
                }
                .to_owned(),
            );
            Player::Loop(replay.looping)
        }
        Action::Cut => {
            replay.cut = !replay.cut;
            let is_all_known = replay.read.is_none();
            model.say = Some(
                if is_all_known && replay.idle.is_empty() {
                    "There is no time in this recording in which nothing happened."
                } else if replay.cut {
                    "Times in which nothing happened are passed over in 2 seconds; the clock says so."
                } else {
                    "Times in which nothing happened are shown as long as they were."
                }
                .to_owned(),
            );
            Player::Cut(replay.cut)
        }
        Action::StepOn | Action::StepBack => {
            replay.paused = true;
            if action == Action::StepBack {
                watching::follow(model);
            }
            Player::Step(action == Action::StepOn)
        }
        Action::Rewind => return seek(model, at.saturating_sub(JUMP)),
        Action::Advance => return seek(model, at.saturating_add(JUMP)),
        Action::Restart => return seek(model, 0),
        Action::Finish => {
            if replay.read.is_some() {
                model.say = Some(
                    "It is still being read: this is the end so far, and it goes on to the real one."
                        .to_owned(),
                );
            }
            return seek(model, u64::MAX);
        }
        Action::NextChapter | Action::PreviousChapter => {
            return next_chapter(model, session, action);
        }
        Action::Chapters => {
            let at = model.replay_shown().map_or(Nanos(at), |shown| shown.at);
            let here = chapters::current(&chapters::chapters(model, session), at);
            model.layers.push(Layer::Chapters(here));
            return Vec::new();
        }
        Action::GoTo => {
            let title = "Go to (1:30, 1:02:03, 45 or 50%)";
            watching::entry(model, Purpose::GoTo, title, String::new());
            return Vec::new();
        }
        _ => return Vec::new(),
    };
    vec![Effect::Replay(player)]
}

fn pace(model: &mut Model, action: Action) -> Vec<Effect> {
    let Some(ReplayState { speed, .. }) = &mut model.replay else {
        return Vec::new();
    };
    let next = if action == Action::Faster {
        SPEEDS.iter().find(|next| **next > *speed)
    } else {
        SPEEDS.iter().rev().find(|next| **next < *speed)
    };
    match next {
        Some(next) => {
            *speed = *next;
            vec![Effect::Replay(Player::Speed(*next))]
        }
        None => Vec::new(),
    }
}

/// To another moment of a recording. What was looked at may not have happened there.
fn seek(model: &mut Model, to: u64) -> Vec<Effect> {
    let Some(ReplayState {
        at,
        sought,
        length,
        read,
        ..
    }) = &mut model.replay
    else {
        return Vec::new();
    };
    *sought = true;
    *at = Nanos(to.min(length.0));
    // Of one that is still read the end is not known; the player goes on to it.
    let is_end = to == u64::MAX && read.is_some();
    let seek = Player::Seek(if is_end { Nanos(to) } else { *at });
    watching::follow(model);
    vec![Effect::Replay(seek)]
}

fn next_chapter(model: &mut Model, session: &Session, action: Action) -> Vec<Effect> {
    let Some(replay) = &model.replay else {
        return Vec::new();
    };
    let all = chapters::chapters(model, session);
    let here = replay.at;
    let to = if action == Action::NextChapter {
        all.iter()
            .find(|chapter| chapter.at > here)
            .map(|chapter| chapter.at)
    } else {
        let grace = if replay.paused {
            0.0
        } else {
            GRACE * replay.speed
        };
        let before = Nanos(here.0.saturating_sub((grace * 1e9) as u64));
        let last = all.iter().rev().find(|chapter| chapter.at < before);
        Some(last.map_or(Nanos(0), |chapter| chapter.at))
    };
    // Of several at one moment the first one names it: the run, not its first step.
    let name = |at| {
        all.iter()
            .find(|chapter| chapter.at == at)
            .map(|chapter| chapter.text.clone())
    };
    let says = match to {
        Some(at) => name(at).unwrap_or_else(|| "the beginning".to_owned()),
        None => "There is no later chapter.".to_owned(),
    };
    model.say = Some(says);
    to.map_or_else(Vec::new, |at| seek(model, at.0))
}

/// Keys of the list of chapters.
pub(super) fn chapter(model: &mut Model, session: &Session, action: Action) -> Vec<Effect> {
    let all: Vec<Nanos> = chapters::chapters(model, session)
        .iter()
        .map(|chapter| chapter.at)
        .collect();
    let page = layout::overlay_height(model);
    let Some(Layer::Chapters(at)) = model.layers.last_mut() else {
        return Vec::new();
    };
    match action {
        Action::Back => {
            model.layers.pop();
        }
        Action::Accept => {
            let to = all.get(*at).copied();
            model.layers.pop();
            if let Some(to) = to {
                return seek(model, to.0);
            }
        }
        _ => *at = picking::moved(*at, all.len(), page, action),
    }
    Vec::new()
}

/// Goes to a moment that was typed.
pub(super) fn go_to(model: &mut Model, mut entry: Box<Entry>, text: &str) -> Vec<Effect> {
    let Some(replay) = &model.replay else {
        return Vec::new();
    };
    if text.trim().is_empty() {
        return Vec::new();
    }
    match chapters::typed(text, replay.length) {
        Ok(to) => seek(model, to.0),
        Err(why) => {
            entry.problem = Some(why);
            model.layers.push(Layer::Entry(entry));
            Vec::new()
        }
    }
}
