//! The moments of a session that somebody would want to go to.

use crate::event::{ActKind, EndState, Nanos, RunId};
use crate::session::{RunStage, RunView, Session};

/// A moment to go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chapter {
    /// When.
    pub at: Nanos,
    /// What it is.
    pub kind: ChapterKind,
    /// In words.
    pub text: String,
    /// The run that it is of.
    pub run: Option<RunId>,
}

/// What a chapter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChapterKind {
    /// The operator put a marker.
    Marker,
    /// A run began.
    Run,
    /// A run ended.
    RunEnd(EndState),
    /// A step began.
    Step,
    /// A step did not end well.
    Failure(EndState),
    /// All was over.
    End,
}

/// Steps that are chapters; of a recording with more, the later ones are passed over.
const MOST_STEPS: usize = 100_000;

/// All chapters of a session, in the order in which they came.
pub(super) fn chapters(session: &Session) -> Vec<Chapter> {
    let mut all = Vec::new();
    for (at, act) in &session.acts {
        if matches!(act.act, ActKind::Marker | ActKind::Note) {
            all.push(Chapter {
                at: *at,
                kind: ChapterKind::Marker,
                text: act.text.clone(),
                run: None,
            });
        }
    }
    let mut steps = 0;
    for (place, run) in session.runs.iter().enumerate() {
        of_run(session, place, run, &mut steps, &mut all);
    }
    if let Some(ending) = session.ending() {
        all.push(Chapter {
            at: session.now,
            kind: ChapterKind::End,
            text: ending.text,
            run: None,
        });
    }
    all.sort_by_key(|chapter| chapter.at);
    all
}

fn of_run(
    session: &Session,
    place: usize,
    run: &RunView,
    steps: &mut usize,
    all: &mut Vec<Chapter>,
) {
    let Some(started) = run.started else {
        return;
    };
    let mut chapter = |at, kind, text| {
        all.push(Chapter {
            at,
            kind,
            text,
            run: Some(run.run.clone()),
        });
    };
    let name = name(session, run);
    let number = format!("run {} of {}", place + 1, session.runs.len());
    chapter(
        started,
        ChapterKind::Run,
        format!("{number}: {name}, repetition {}", run.rep),
    );
    for step in &run.steps {
        *steps += 1;
        if *steps > MOST_STEPS {
            break;
        }
        if let Some(at) = step.started {
            chapter(at, ChapterKind::Step, step.planned.name.clone());
        }
        if let (Some(at), Some(end)) = (step.ended, &step.end)
            && !end.end.is_good()
        {
            let why = end
                .cause
                .as_ref()
                .map_or(String::new(), |why| format!(": {why}"));
            let text = format!("{} {}{why}", step.planned.name, end.end);
            chapter(at, ChapterKind::Failure(end.end), text);
        }
    }
    if let (RunStage::Ended(end, cause), Some(at)) = (&run.state, run.ended) {
        let took = at.since(started).as_secs_f64();
        let why = cause
            .as_ref()
            .map_or(String::new(), |why| format!(": {why}"));
        let text = format!("{number} ended {end} after {took:.1} s{why}");
        chapter(at, ChapterKind::RunEnd(*end), text);
    }
}

/// The method, with its host where there are several.
fn name(session: &Session, run: &RunView) -> String {
    let Some(binding) = session.binding(&run.binding) else {
        return run.run.to_string();
    };
    let plan = session.header.as_ref().map(|header| &header.plan);
    let mut bindings = plan.into_iter().flat_map(|plan| &plan.bindings);
    if bindings.any(|other| other.host() != binding.host()) {
        format!("{} on {}", binding.method, binding.host())
    } else {
        binding.method.clone()
    }
}
