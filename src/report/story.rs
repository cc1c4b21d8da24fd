//! A session told from its begin to its end, as plain text: each run with its steps, their
//! commands and what they printed; then the table.

use std::fmt::Write;

use crate::event::count_with;
use crate::session::{RunStage, RunView, Session, StepView, can_be, clean};

use super::{Format, render};

/// The whole session as text. No control character but line feeds is left in it.
#[must_use]
pub fn story(session: &Session) -> String {
    let mut text = String::new();
    let total = session.runs.len();
    for (at, run) in session.runs.iter().enumerate() {
        head(&mut text, session, run, at + 1, total);
        let binding = session.binding(&run.binding);
        let host = binding.map_or("", |binding| binding.host());
        for step in &run.steps {
            step_of(&mut text, session, host, step);
        }
        text.push('\n');
    }
    text.push_str(&render(Format::Table, &[session]));
    text
}

fn head(text: &mut String, session: &Session, run: &RunView, at: usize, total: usize) {
    let binding = session.binding(&run.binding);
    let method = binding.map_or("", |binding| binding.method.as_str());
    let host = binding.map_or("", |binding| binding.host());
    let state = match &run.state {
        RunStage::Queued => "not started".to_owned(),
        RunStage::Running => "not ended".to_owned(),
        RunStage::Ended(end, None) => end.to_string(),
        RunStage::Ended(end, Some(cause)) => format!("{end}: {}", clean(cause)),
    };
    let (host, method) = (clean(host), clean(method));
    let _ = writeln!(
        text,
        "run {at} of {total} · {host} · {method} · repetition {} · {state}",
        run.rep
    );
}

/// A step; where it is not on the host of its run, which one that is stands with it.
fn step_of(text: &mut String, session: &Session, run_host: &str, step: &StepView) {
    let planned = &step.planned;
    let host = if planned.host == run_host {
        String::new()
    } else {
        format!(" on {}", clean(&planned.host))
    };
    let begin = step
        .started
        .map_or_else(|| "·".to_owned(), |t| format!("{:.3} s", t.seconds()));
    let (sign, end) = match &step.end {
        Some(end) if end.end.is_good() => ("✓", String::new()),
        Some(end) => ("✗", format!(" {}", end.end)),
        None => ("·", " not ended".to_owned()),
    };
    let took = step
        .end
        .as_ref()
        .and_then(|end| end.seconds)
        .map_or(String::new(), |seconds| {
            if can_be(seconds, "s") {
                format!("  {seconds:.3} s")
            } else {
                format!("  {seconds:e} s, which cannot be")
            }
        });
    let name = clean(&planned.name);
    let _ = writeln!(
        text,
        "  {sign} {:<8} {name}{host}{took}{end}  (at {begin})",
        planned.phase
    );
    if let Some(destroys) = &planned.destroys {
        let _ = writeln!(text, "      destroys {}", clean(&destroys.what));
    }
    for line in planned.command.lines() {
        let _ = writeln!(text, "      $ {}", clean(line));
    }
    let dropped = session.log.dropped(&step.step);
    if dropped > 0 {
        let lines = count_with(dropped, "line", ("is", "are"));
        let _ = writeln!(text, "      … {lines} not kept");
    }
    for at in 0..session.log.len(&step.step) {
        if let Some(line) = session.log.line(&step.step, at) {
            let _ = writeln!(text, "      | {}", line.text);
        }
    }
    if let Some(cause) = step.end.as_ref().and_then(|end| end.cause.as_ref()) {
        let _ = writeln!(text, "      {}", clean(cause));
    }
}
