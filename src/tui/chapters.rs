//! The chapters of a recording that can be gone to from where one is.

use crate::event::{Nanos, RunId};
use crate::recording::{Chapter, ChapterKind};
use crate::session::Session;

use super::model::Model;
use super::signs::{self, Sign};
use super::theme::Role;

/// Of the recording, and of the steps those of the run that is in sight.
#[must_use]
pub fn chapters<'a>(model: &'a Model, session: &Session) -> Vec<&'a Chapter> {
    let Some(replay) = model.replay_shown() else {
        return Vec::new();
    };
    let run = if replay.sought && model.watching.run.is_none() {
        run_at(&replay.chapters, replay.at)
    } else {
        model.run(session).map(|run| &run.run)
    };
    let is_near =
        |chapter: &&Chapter| chapter.kind != ChapterKind::Step || chapter.run.as_ref() == run;
    replay.chapters.iter().filter(is_near).collect()
}

/// The run that goes on at a moment, where the session of it has not come yet.
fn run_at(chapters: &[Chapter], at: Nanos) -> Option<&RunId> {
    let is_begin = |chapter: &&Chapter| chapter.kind == ChapterKind::Run && chapter.at <= at;
    chapters.iter().rev().find(is_begin)?.run.as_ref()
}

/// The chapter that a moment is in.
#[must_use]
pub fn current(chapters: &[&Chapter], at: Nanos) -> usize {
    chapters
        .partition_point(|chapter| chapter.at <= at)
        .saturating_sub(1)
}

/// How a chapter is shown.
#[must_use]
pub fn sign(kind: ChapterKind) -> Sign {
    let of = |glyph, word, role| Sign { glyph, word, role };
    match kind {
        ChapterKind::Marker => of("◆", "marker", Role::Accent),
        ChapterKind::Run => of("▶", "run", Role::Running),
        ChapterKind::RunEnd(end) | ChapterKind::Failure(end) => signs::of_end(end),
        ChapterKind::Step => of("·", "step", Role::Muted),
        ChapterKind::End => of("■", "end", Role::Title),
    }
}

/// A moment that was typed: `1:30`, `1:02:03`, seconds, or a share of all like `50%`.
///
/// # Errors
/// What is expected instead.
pub fn typed(text: &str, length: Nanos) -> Result<Nanos, String> {
    let text = text.trim();
    let expected = || format!("{text:?} is no time; expected one like 1:30, 1:02:03, 45 or 50%.");
    let number = |text: &str| {
        text.trim()
            .parse::<f64>()
            .ok()
            .filter(|n| n.is_finite() && *n >= 0.0)
    };
    let seconds = if let Some(percent) = text.strip_suffix('%') {
        number(percent)
            .filter(|n| *n <= 100.0)
            .ok_or_else(expected)?
            / 100.0
            * length.seconds()
    } else {
        let mut all = 0.0;
        for (at, part) in text.split(':').enumerate() {
            // Only the first part may be as large as it likes.
            let part = number(part).filter(|n| at < 3 && (at == 0 || *n < 60.0));
            all = all * 60.0 + part.ok_or_else(expected)?;
        }
        all
    };
    Ok(Nanos((seconds * 1e9) as u64).min(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_a_moment_goes_on_what_began_last() {
        let chapter = |at, kind, run: &str| Chapter {
            at: Nanos(at),
            kind,
            text: String::new(),
            run: Some(run.into()),
        };
        let all = [
            chapter(0, ChapterKind::Run, "r1"),
            chapter(3, ChapterKind::Step, "r1"),
            chapter(7, ChapterKind::Run, "r2"),
            chapter(9, ChapterKind::Step, "r2"),
        ];
        let run = |at| run_at(&all, Nanos(at)).map(ToString::to_string);
        assert_eq!(run(6).as_deref(), Some("r1"));
        assert_eq!(run(7).as_deref(), Some("r2"));
        assert_eq!(run_at(&all[1..2], Nanos(6)), None);
    }

    #[test]
    fn a_time_is_typed_in_many_ways() {
        let length = Nanos(7_200_000_000_000);
        let typed = |text: &str| typed(text, length).map(|at| at.0 / 1_000_000_000).ok();
        assert_eq!(typed("1:30"), Some(90));
        assert_eq!(typed(" 1:02:03 "), Some(3723));
        assert_eq!(typed("45"), Some(45));
        assert_eq!(typed("90:00"), Some(5400));
        assert_eq!(typed("50%"), Some(3600));
        assert_eq!(typed("12.5 %"), Some(900));
        // What lies behind the end is the end.
        assert_eq!(typed("99:00:00"), Some(7200));
        for wrong in [
            "", "soon", "1:75", "-3", "1:2:3:4", "101%", "nan", "1:", "%",
        ] {
            assert_eq!(typed(wrong), None, "{wrong}");
        }
    }
}
