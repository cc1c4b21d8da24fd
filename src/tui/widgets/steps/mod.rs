//! The steps of a run: what was done, what goes on, what is still to come.

mod fold;
mod going_on;
mod kept;
mod over;
mod trouble;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;
use ratatui::widgets::Block;

use crate::event::{Labels, Phase, PlannedStep};
use crate::session::{RunStage, RunView, StepView};

use super::super::contexts::is_unplayed;
use super::super::keys::{Action, Context};
use super::super::layout::Beside;
use super::super::model::{Pane, is_active};
use super::super::signs::{self, Sign};
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::{estimate, format, text};
use super::row::Row;
use super::warning;

/// More figures of one step have no room in any row.
const FIGURES: usize = 12;
/// The command of a step to come is shown where this much of it can be seen.
const COMMAND: usize = 24;
/// That of another step, at the end of its row, where there is so much room to spare.
const SPARE: usize = 60;

/// Where a pane stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Whether its run is the one that is looked at.
    pub is_here: bool,
    /// Whether it is one of several.
    pub several: bool,
}

impl Place {
    /// Of one of those side by side.
    pub fn of(beside: &Beside<'_>, at: usize) -> Self {
        Self {
            is_here: at == beside.focus,
            several: beside.runs.len() > 1,
        }
    }
}

/// The pane of one run.
pub(crate) fn draw(
    ui: Ui<'_>,
    area: Rect,
    buffer: &mut Buffer,
    run: Option<&RunView>,
    place: Place,
) {
    let is_here = place.is_here;
    let has_keys = ui.model.watching.pane == Pane::Steps && is_here;
    let is_unplayed = is_unplayed(ui.session);
    let Some(run) = run.filter(|_| !is_unplayed) else {
        let titles = Titles {
            left: "Steps",
            ..Titles::default()
        };
        let inner = ui.pane(area, buffer, has_keys, titles);
        if is_unplayed {
            let key = ui
                .model
                .keys
                .says(Context::Watching, Action::Compare, "compares them");
            let says = format!("Figures of a publication: nothing was run here. {key}");
            let parts = text::wrap_words(&says, usize::from(inner.width).max(1));
            let line = |part: &String| Line::styled(part.clone(), ui.style(Role::Info));
            let rows: Vec<Line<'_>> = parts.iter().map(line).collect();
            ui.rows(inner, buffer, &rows, 0);
        }
        return;
    };
    let titles = Titles {
        left: &title(ui, run, area.width),
        right: &standing(ui, run, is_here),
        ..Titles::default()
    };
    ui.pane(area, buffer, has_keys, titles);
    let (inner, warning) = parts(ui, area, run, place);
    let last = Rect {
        y: inner.bottom(),
        height: u16::try_from(warning.len()).unwrap_or(1),
        ..inner
    };
    ui.rows(last, buffer, &warning, 0);
    let rows = List::of(ui, run, is_here, usize::from(inner.width)).rows(inner.height);
    ui.rows(inner, buffer, &rows.lines, rows.first(inner.height));
}

/// The area of the steps, and the warning below them.
fn parts(ui: Ui<'_>, area: Rect, run: &RunView, place: Place) -> (Rect, Vec<Line<'static>>) {
    let mut inner = Block::bordered().inner(area);
    if inner.height <= 3 {
        return (inner, Vec::new());
    }
    let most = if inner.height > 8 { 2 } else { 1 };
    let about = warning::About::of(ui, run, place.is_here, place.several);
    let warning = warning::lines(ui, &about, usize::from(inner.width), most);
    inner.height -= u16::try_from(warning.len()).unwrap_or(1);
    (inner, warning)
}

/// The step that stands in a row of the pane.
pub(crate) fn step_at(
    ui: Ui<'_>,
    area: Rect,
    run: &RunView,
    place: Place,
    at: Position,
) -> Option<usize> {
    let (inner, _) = parts(ui, area, run, place);
    if !inner.contains(at) {
        return None;
    }
    let list = List::of(ui, run, place.is_here, usize::from(inner.width));
    let rows = list.rows(inner.height);
    let row = rows.first(inner.height) + usize::from(at.y - inner.y);
    rows.steps.get(row).copied()
}

/// The rows of a run.
struct Rows {
    lines: Vec<Line<'static>>,
    /// The row that the eye should find.
    focus: usize,
    /// How many rows from there on should be seen with it.
    with: usize,
    /// The step that each of the first rows is about.
    steps: Vec<usize>,
}

impl Rows {
    /// The first row that is seen: the moving step stays in sight, with what comes next where
    /// there is room; one that failed, with all that is said below.
    fn first(&self, height: u16) -> usize {
        let end = (self.focus + self.with).min(self.lines.len());
        let first = end.saturating_sub(usize::from(height)).min(self.focus);
        first.min(self.lines.len().saturating_sub(usize::from(height)))
    }
}

/// Narrower than this, a title says less.
const NARROW: u16 = 72;

fn title(ui: Ui<'_>, run: &RunView, width: u16) -> String {
    let header = ui.session.header.as_ref();
    let reps = header.map_or(0, |header| header.plan.reps);
    let turn = format!("repetition {} of {reps}", run.rep);
    match ui.session.binding(&run.binding) {
        Some(binding) if width < NARROW => {
            format!(
                "{} · {} · {} of {reps}",
                binding.host(),
                binding.method,
                run.rep
            )
        }
        Some(binding) => {
            let host = binding.host();
            format!("{host} · {} · {} · {turn}", binding.subject, binding.method)
        }
        None => turn,
    }
}

/// How the run stands, where that needs a word.
fn standing(ui: Ui<'_>, run: &RunView, is_here: bool) -> String {
    let looked_at = is_here && ui.model.watching.run.is_some() && is_active(ui.session);
    let key = ui.model.keys.any(Action::Follow);
    let hint = if looked_at && !key.is_empty() {
        format!("{key} follows")
    } else {
        String::new()
    };
    let word = match &run.state {
        RunStage::Queued => "to come",
        RunStage::Running => "",
        RunStage::Ended(end, _) => signs::of_end(*end).word,
    };
    let parts: Vec<&str> = [word, &hint]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(" · ")
}

/// The rows of a run, and where their columns stand.
struct List<'a> {
    ui: Ui<'a>,
    run: &'a RunView,
    /// The step under the cursor, where that is in this run.
    cursor: Option<usize>,
    width: usize,
    phase: usize,
    name: usize,
    seconds: usize,
}

impl<'a> List<'a> {
    fn of(ui: Ui<'a>, run: &'a RunView, is_here: bool, width: usize) -> Self {
        Self {
            ui,
            run,
            cursor: ui.model.watching.step.filter(|_| is_here),
            width,
            phase: if width >= 84 { 9 } else { 0 },
            name: (width / 4).clamp(10, 30),
            // `12 min 05 s`, or `0.31 s ±0.01`.
            seconds: if width < 60 { 11 } else { 13 },
        }
    }

    /// Where rows below a step begin: under its name.
    fn under(&self) -> usize {
        2 + self.phase
    }

    /// The rows around the one that the eye should find, as many as can be in sight.
    fn rows(&self, height: u16) -> Rows {
        let height = usize::from(height);
        let focused = self.focused();
        let all = self.run.steps.len();
        let around = |at: usize| fold::around(self.run, at, self.cursor);
        let mut at = focused.unwrap_or(0).min(all);
        for _ in 0..height {
            match at.checked_sub(1) {
                Some(before) => at = around(before).start,
                None => break,
            }
        }
        let before = at.checked_sub(1).map(|before| around(before).start);
        let before = before.and_then(|before| self.run.steps.get(before));
        let mut phase = before.map(|step| step.planned.phase);
        let mut rows = Vec::new();
        let mut steps = Vec::new();
        let mut focus = 0;
        // What comes next stays in sight, too.
        let is_before = |at: usize| focused.is_some_and(|focused| at <= focused);
        while let Some(step) = self.run.steps.get(at) {
            if !is_before(at) && rows.len() > focus + height + 3 {
                break;
            }
            let range = around(at);
            if focused.is_some_and(|focused| range.contains(&focused)) {
                focus = rows.len();
            }
            if range.len() > 1 {
                let first = range.start;
                at = range.end;
                rows.push(self.folded(range, news(&mut phase, step.planned.phase)));
                steps.resize(rows.len(), first);
                continue;
            }
            rows.extend(self.step(step, &mut phase, self.cursor == Some(at)));
            steps.resize(rows.len(), at);
            at += 1;
        }
        match &self.run.state {
            _ if at < all => {}
            RunStage::Ended(end, Some(cause)) => {
                // A run's cause may begin with the name of its step.
                let tells = |at: usize| {
                    let end = self.run.steps.get(at).and_then(|step| step.end.as_ref());
                    let own = end.and_then(|end| end.cause.as_ref());
                    own.is_some_and(|own| cause.ends_with(own.as_str()))
                };
                if !self.run.course.apart().any(tells) {
                    rows.extend(self.cause(signs::of_end(*end), cause));
                }
            }
            RunStage::Ended(_, None) => {}
            RunStage::Queued | RunStage::Running => {
                let pending = self.ui.session.to_come(self.run).iter();
                let most = height + 4;
                rows.extend(
                    pending
                        .take(most)
                        .map(|step| self.pending(step, &mut phase)),
                );
            }
        }
        let kept = self.kept();
        let with = if kept.is_empty() || self.cursor.is_some() {
            3
        } else {
            rows.len() + kept.len() + height
        };
        if at >= all {
            rows.extend(kept);
        }
        Rows {
            lines: rows,
            focus,
            with,
            steps,
        }
    }

    /// The step under the cursor; else the one that goes on, or did last; of a run that is over the last,
    /// or the one that went wrong.
    fn focused(&self) -> Option<usize> {
        if let Some(cursor) = self.cursor {
            return Some(cursor).filter(|cursor| *cursor < self.run.steps.len());
        }
        match self.run.state {
            RunStage::Ended(end, _) if end.is_good() => self.run.steps.len().checked_sub(1),
            RunStage::Ended(..) => self.run.course.notable(),
            _ => self.run.course.latest(),
        }
    }

    /// Sign, phase where it is a new one, and name.
    fn head(&self, sign: Sign, phase: Option<Phase>, name: &str, role: Role) -> Row<'a> {
        let mut row = Row::new(self.ui, self.width);
        row.text(sign.glyph, sign.role).gap(1);
        if self.phase > 0 {
            let phase = phase.map_or_else(String::new, |phase| phase.to_string());
            row.left(&phase, self.phase, Role::Muted);
        }
        row.name(name, self.name, role).gap(1);
        row
    }

    fn pending(&self, step: &PlannedStep, last: &mut Option<Phase>) -> Line<'static> {
        let mut row = self.head(
            signs::PENDING,
            news(last, step.phase),
            &step.name,
            Role::Pending,
        );
        row.gap(self.seconds);
        if let Some(destroys) = &step.destroys {
            row.whole(&format!("destroys {}", destroys.what), Role::Destroys);
        }
        self.last_time(&mut row, &step.name);
        if row.room() >= COMMAND {
            row.gap(2).text(&first_line(&step.command), Role::Muted);
        }
        row.line()
    }

    fn last_time(&self, row: &mut Row<'_>, name: &str) {
        if let Some((seconds, resolution)) = estimate::last_time(self.ui.session, self.run, name) {
            let seconds = format::seconds(seconds, resolution);
            row.whole(&format!("{seconds} last time"), Role::Muted);
        }
    }

    /// A step, and what belongs below it.
    fn step(&self, step: &StepView, last: &mut Option<Phase>, chosen: bool) -> Vec<Line<'static>> {
        let sign = signs::of_step(step);
        let role = match &step.end {
            None if step.started.is_some() => Role::Running,
            None => Role::Pending,
            Some(end) if end.end.is_good() => Role::Text,
            Some(_) => Role::Error,
        };
        let planned = &step.planned;
        let name = labelled(&planned.name, &planned.labels);
        let mut row = self.head(sign, news(last, planned.phase), &name, role);
        let below = match &step.end {
            Some(end) => {
                let mut below = self.over(&mut row, step, end, role);
                if chosen {
                    below.extend(self.course(step));
                }
                below
            }
            None if step.started.is_some() => self.going_on(&mut row, step),
            None => {
                row.gap(self.seconds);
                Vec::new()
            }
        };
        if row.room() >= SPARE {
            let command = first_line(&planned.command);
            row.end(&text::cut(&command, row.room() - 2), Role::Muted);
        }
        let line = if chosen {
            row.line_in(self.ui.style(Role::Selection))
        } else {
            row.line()
        };
        std::iter::once(line).chain(below).collect()
    }

    /// The root cause, in as many rows as it needs, up to three.
    fn cause(&self, sign: Sign, cause: &str) -> Vec<Line<'static>> {
        let room = self.width.saturating_sub(4).max(1);
        text::wrap_words(&text::clean(cause), room)
            .iter()
            .take(3)
            .map(|part| {
                let mut row = Row::new(self.ui, self.width);
                row.gap(4).text(part, sign.role);
                row.line()
            })
            .collect()
    }

    fn marks(row: &mut Row<'_>, step: &StepView) {
        for mark in step.marks.iter().take(FIGURES) {
            let at = format::seconds(mark.at, mark.resolution);
            row.whole(&format!("{} {at}", mark.name), Role::Muted);
        }
    }
}

/// A phase where it is not that of the step before.
fn news(last: &mut Option<Phase>, phase: Phase) -> Option<Phase> {
    (last.replace(phase) != Some(phase)).then_some(phase)
}

/// A name with its labels: which of several it is.
fn labelled(name: &str, labels: &Labels) -> String {
    let values: Vec<&str> = labels.values().map(String::as_str).collect();
    if values.is_empty() {
        name.to_owned()
    } else {
        format!("{name} {}", values.join(" "))
    }
}

/// The first line of a command.
fn first_line(command: &str) -> String {
    let first = command.lines().map(str::trim).find(|line| !line.is_empty());
    text::clean(first.unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::counted::Counted;
    use super::super::super::model::Model;
    use super::super::super::theme::Theme;
    use super::*;
    use crate::event::{EndState, StepChange, StepState, What};
    use crate::session::story::Story;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_window_shows_what_all_rows_would(
            kinds in proptest::collection::vec((0_usize..3, 0_usize..8), 0..60),
            cursor in proptest::option::of(0_usize..60),
            height in 1_u16..14,
        ) {
            let mut story = Story::new();
            let binding = story.binding("files-tar", "h1");
            let run = story.run(&binding, "full");
            for (at, (name, end)) in kinds.iter().enumerate() {
                let step = story.step(&run, &format!("n{name}"), Phase::Restore);
                // An iteration of it.
                let planned = story.told.len() - 2;
                if let What::Step(change) = &mut story.told[planned]
                    && let StepChange { state: StepState::Planned(planned), .. } = change.as_mut()
                {
                    planned.labels.insert("i".to_owned(), at.to_string());
                }
                match end {
                    0 if at + 1 == kinds.len() => {}
                    1 => story.step_done(&step, EndState::Failed),
                    _ => story.step_done(&step, EndState::Ok),
                }
            }
            let session = story.session();
            let theme = Theme::load("default", &[]).unwrap();
            let mut model = Model::new(theme, (120, 40), chrono::Offset::fix(&chrono::Utc));
            model.watching.step = cursor;
            let figures = Counted::default();
            let ui = Ui { model: &model, session: &session, figures: &figures };
            let list = List::of(ui, &session.runs[0], true, 90);
            let (all, some) = (list.rows(u16::MAX), list.rows(height));
            let seen = |rows: &Rows| -> Vec<String> {
                let lines = rows.lines.iter().skip(rows.first(height));
                lines.take(usize::from(height)).map(ToString::to_string).collect()
            };
            prop_assert_eq!(seen(&some), seen(&all));
            prop_assert!(some.lines.len() <= 5 * usize::from(height) + 12);
        }
    }
}
