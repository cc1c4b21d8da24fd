//! The steps of a run: what was done, what goes on, what is still to come.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::event::{PlannedStep, ProgressKind};
use crate::session::{RunStage, RunView, StepView};

use super::super::model::{Pane, is_active};
use super::super::signs::{self, Sign};
use super::super::theme::Role;
use super::super::view::{Titles, Ui};
use super::super::{estimate, format, text};
use super::row::Row;
use super::{gauge, warning};

/// A silence that is worth a word.
const SILENT: u64 = 15;

/// The pane of one run.
pub(crate) fn draw(ui: Ui<'_>, area: Rect, buffer: &mut Buffer, run: Option<&RunView>) {
    let has_keys = ui.model.watching.pane == Pane::Steps;
    let Some(run) = run else {
        ui.pane(
            area,
            buffer,
            has_keys,
            Titles {
                left: "Steps",
                ..Titles::default()
            },
        );
        return;
    };
    let state = standing(ui, run);
    let titles = Titles {
        left: &title(ui, run),
        right: &state,
        ..Titles::default()
    };
    let mut inner = ui.pane(area, buffer, has_keys, titles);
    if warning::is_there(ui) && inner.height > 1 {
        let last = Rect {
            y: inner.bottom() - 1,
            height: 1,
            ..inner
        };
        warning::draw(ui, last, buffer);
        inner.height -= 1;
    }
    let list = List {
        ui,
        run,
        columns: Columns::of(usize::from(inner.width)),
    };
    let (rows, focus) = list.rows();
    let height = usize::from(inner.height);
    // The moving step stays in sight, with what comes next.
    let from = (focus + 3).min(rows.len()).saturating_sub(height);
    ui.rows(inner, buffer, &rows, from);
}

fn title(ui: Ui<'_>, run: &RunView) -> String {
    let reps = ui
        .session
        .header
        .as_ref()
        .map_or(0, |header| header.plan.reps);
    let turn = format!("repetition {} of {reps}", run.rep);
    match ui.session.binding(&run.binding) {
        Some(binding) => format!(
            "{} · {} · {} · {turn}",
            binding.host(),
            binding.subject,
            binding.method
        ),
        None => turn,
    }
}

/// How the run stands, where that needs a word.
fn standing(ui: Ui<'_>, run: &RunView) -> String {
    let looked_at = ui.model.watching.run.is_some() && is_active(ui.session);
    let hint = if looked_at { " · f follows" } else { "" };
    match &run.state {
        RunStage::Queued => format!("to come{hint}"),
        RunStage::Running => hint.trim_start_matches(" · ").to_owned(),
        RunStage::Ended(end, _) => format!("{}{hint}", signs::of_end(*end).word),
    }
}

/// Where the columns of the pane stand.
#[derive(Clone, Copy)]
struct Columns {
    all: usize,
    phase: usize,
    name: usize,
}

/// `12 min 05 s`, or `0.31 s ±0.01`.
const SECONDS: usize = 13;

impl Columns {
    fn of(all: usize) -> Self {
        let phase = if all >= 84 { 9 } else { 0 };
        Self {
            all,
            phase,
            name: (all / 4).clamp(10, 30),
        }
    }

    fn detail(self) -> usize {
        2 + self.phase + self.name + 1 + SECONDS + 2
    }
}

struct List<'a> {
    ui: Ui<'a>,
    run: &'a RunView,
    columns: Columns,
}

impl<'a> List<'a> {
    /// All rows, and the row of the step that the eye should find.
    fn rows(&self) -> (Vec<Line<'static>>, usize) {
        let mut rows = Vec::new();
        let mut focus = 0;
        let chosen = self.ui.model.watching.step;
        let mut phase = None;
        for (at, step) in self.run.steps.iter().enumerate() {
            let goes_on = step.started.is_some() && step.end.is_none();
            let failed = step.end.as_ref().is_some_and(|end| !end.end.is_good());
            if chosen.map_or(goes_on && !step.planned.background || failed, |chosen| {
                chosen == at
            }) || (chosen.is_none() && at + 1 == self.run.steps.len() && focus == 0)
            {
                focus = rows.len();
            }
            let is_new = phase.replace(step.planned.phase) != Some(step.planned.phase);
            let name = if is_new {
                step.planned.phase.to_string()
            } else {
                String::new()
            };
            rows.extend(self.step(step, &name, chosen == Some(at)));
        }
        if !matches!(self.run.state, RunStage::Ended(..)) {
            for step in self.to_come() {
                let is_new = phase.replace(step.phase) != Some(step.phase);
                let name = if is_new {
                    step.phase.to_string()
                } else {
                    String::new()
                };
                rows.push(self.pending(step, &name));
            }
        }
        if let RunStage::Ended(end, Some(cause)) = &self.run.state {
            let is_told = self.run.steps.iter().any(|step| {
                step.end
                    .as_ref()
                    .is_some_and(|end| end.cause.as_ref() == Some(cause))
            });
            if !is_told {
                rows.extend(self.cause(signs::of_end(*end), cause));
            }
        }
        (rows, focus)
    }

    /// Steps of the plan that have not been told of yet.
    fn to_come(&self) -> &'a [PlannedStep] {
        let Some(binding) = self.ui.session.binding(&self.run.binding) else {
            return &[];
        };
        let planned = binding.steps.as_slice();
        let mut next = 0;
        for step in &self.run.steps {
            let rest = planned.get(next..).unwrap_or_default();
            if let Some(at) = rest
                .iter()
                .position(|other| other.name == step.planned.name)
            {
                next += at + 1;
            }
        }
        planned.get(next..).unwrap_or_default()
    }

    fn head(&self, sign: Sign, phase: &str, name: &str, role: Role) -> Row<'a> {
        let mut row = Row::new(self.ui, self.columns.all);
        row.text(sign.sign, sign.role).gap(1);
        if self.columns.phase > 0 {
            row.left(phase, self.columns.phase, Role::Muted);
        }
        row.left(name, self.columns.name, role).gap(1);
        row
    }

    fn pending(&self, step: &PlannedStep, phase: &str) -> Line<'static> {
        let mut row = self.head(signs::PENDING, phase, &step.name, Role::Pending);
        row.right("", SECONDS, Role::Pending);
        if let Some(destroys) = &step.destroys {
            row.whole(&format!("destroys {}", destroys.what), Role::Destroys);
        }
        self.last_time(&mut row, &step.name);
        row.line()
    }

    fn last_time(&self, row: &mut Row<'_>, name: &str) {
        if let Some((seconds, resolution)) = estimate::last_time(self.ui.session, self.run, name) {
            row.whole(
                &format!("{} last time", format::seconds(seconds, resolution)),
                Role::Muted,
            );
        }
    }

    /// A step, and what belongs below it.
    fn step(&self, step: &StepView, phase: &str, chosen: bool) -> Vec<Line<'static>> {
        let sign = signs::of_step(step);
        let goes_on = step.started.is_some() && step.end.is_none();
        let role = match &step.end {
            None if goes_on => Role::Running,
            None => Role::Pending,
            Some(end) if end.end.is_good() => Role::Text,
            Some(_) => Role::Error,
        };
        let mut row = self.head(sign, phase, &step.planned.name, role);
        let mut below = Vec::new();
        match &step.end {
            Some(end) => {
                let taken = end
                    .seconds
                    .map(|seconds| format::seconds(seconds, end.resolution));
                row.right(
                    &taken.unwrap_or_default(),
                    SECONDS,
                    if step.planned.timed {
                        role
                    } else {
                        Role::Muted
                    },
                );
                if !end.end.is_good() {
                    let status: Vec<_> = end.status.iter().map(i32::to_string).collect();
                    let status = if status.is_empty() {
                        String::new()
                    } else {
                        format!(", exit {}", status.join(" "))
                    };
                    row.whole(&format!("{}{status}", sign.word), Role::Error);
                }
                self.results(&mut row, step);
                if let Some(cause) = &end.cause {
                    below = self.cause(sign, cause);
                }
            }
            None if goes_on => {
                let gone = step
                    .started
                    .map(|started| self.ui.model.now.since(started))
                    .unwrap_or_default();
                row.right(&format::elapsed(gone), SECONDS, role);
                below = self.progress(&mut row, step);
            }
            None => {
                row.right("", SECONDS, role);
            }
        }
        let line = if chosen {
            row.line_in(self.ui.style(Role::Selection))
        } else {
            row.line()
        };
        let mut rows = vec![line];
        rows.append(&mut below);
        rows
    }

    /// What a step brought: proofs, figures, named moments.
    fn results(&self, row: &mut Row<'_>, step: &StepView) {
        let session = self.ui.session;
        if let Some(destroys) = &step.planned.destroys {
            row.whole(&format!("destroyed {}", destroys.what), Role::Destroys);
        }
        for proof in session
            .proofs
            .iter()
            .filter(|proof| proof.step == step.step)
        {
            let sign = signs::of_proof(proof.verdict);
            row.whole(
                &format!("{} {} {}", sign.sign, proof.by, proof.share),
                sign.role,
            );
        }
        for sample in session
            .samples
            .iter()
            .filter(|sample| sample.step.as_ref() == Some(&step.step))
        {
            // The step's own seconds stand in their column.
            let is_own = sample.unit == "s" && sample.name == step.planned.name;
            if !is_own {
                let value = format::value(sample.value, &sample.unit, sample.resolution);
                row.whole(&format!("{} {value}", sample.name), Role::Text);
            }
        }
        for space in session
            .spaces
            .iter()
            .filter(|space| space.step == step.step)
        {
            let bytes = space.stored.or(space.held).or(space.logical);
            if let Some(bytes) = bytes {
                row.whole(
                    &format!("{} {}", space.name, format::bytes(bytes)),
                    Role::Text,
                );
            }
        }
        self.marks(row, step);
    }

    fn marks(&self, row: &mut Row<'_>, step: &StepView) {
        for mark in &step.marks {
            let at = format::seconds(mark.at, mark.resolution);
            row.whole(&format!("{} {at}", mark.name), Role::Muted);
        }
    }

    /// How far a step is: three kinds of knowledge, drawn in three ways. Gives the row below.
    fn progress(&self, row: &mut Row<'_>, step: &StepView) -> Vec<Line<'static>> {
        let Some(progress) = &step.progress else {
            self.silence(row, step);
            self.last_time(row, &step.planned.name);
            self.marks(row, step);
            return Vec::new();
        };
        let kind = progress.kind;
        let share = estimate::percent(progress).filter(|_| kind != ProgressKind::Unknown);
        let cells = row.room().saturating_sub(24).clamp(6, 32);
        let mut below = Row::new(self.ui, self.columns.all);
        below.to(self.columns.detail() - 2);
        match share {
            Some(percent) => {
                let about = if kind == ProgressKind::Estimated {
                    "≈"
                } else {
                    ""
                };
                row.gap(2);
                if kind == ProgressKind::Estimated {
                    gauge::estimated(row, percent, cells);
                } else {
                    gauge::exact(row, percent, cells);
                }
                row.whole(
                    &format!("{about}{}", format::percent(percent)),
                    Role::Running,
                );
                if let Some(left) = estimate::step_left(step) {
                    row.whole(
                        &format!("{about}{} left", format::rough(left.as_secs_f64())),
                        Role::Text,
                    );
                }
            }
            None => {
                row.whole("no percent available", Role::Warn);
                self.last_time(row, &step.planned.name);
            }
        }
        match (progress.done, progress.total.filter(|_| share.is_some())) {
            (Some(done), Some(total)) => {
                let about = if kind == ProgressKind::Estimated {
                    "≈"
                } else {
                    ""
                };
                below.whole(&format::of(done, total, about), Role::Text);
            }
            (Some(done), None) => {
                below.whole(&format::bytes(done), Role::Text);
            }
            (None, _) => {}
        }
        let rates = estimate::rates(step, below.room().saturating_sub(30).min(24));
        if let Some(rate) = estimate::rate(step) {
            below.whole(&gauge::spark(&rates), Role::Spark);
            below.whole(&format::rate(rate), Role::Text);
        }
        if share.is_some() {
            self.last_time(&mut below, &step.planned.name);
        }
        self.silence(&mut below, step);
        self.marks(&mut below, step);
        if below.width() > self.columns.detail() - 2 {
            vec![below.line()]
        } else {
            Vec::new()
        }
    }

    /// Says for how long nothing has been heard: a warning to the eye, never a reason to stop.
    fn silence(&self, row: &mut Row<'_>, step: &StepView) {
        let Some(heard) = step.last_output.or(step.started) else {
            return;
        };
        let silent = self.ui.model.now.since(heard);
        if silent.as_secs() >= SILENT {
            row.whole(
                &format!("no output for {}", format::elapsed(silent)),
                Role::Warn,
            );
        }
    }

    /// The root cause, in as many rows as it needs, up to three.
    fn cause(&self, sign: Sign, cause: &str) -> Vec<Line<'static>> {
        let room = self.columns.all.saturating_sub(4);
        let rows = text::wrap_words(&text::clean(cause), room.max(1));
        rows.iter()
            .take(3)
            .map(|part| {
                let mut row = Row::new(self.ui, self.columns.all);
                row.gap(4).text(part, sign.role);
                row.line()
            })
            .collect()
    }
}
