//! Tells events, and gives out the ids that they name things by.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::event::{
    LeaveId, Level, Note, RunId, Sink, SinkError, StepChange, StepId, StepState, What,
};

/// A sink, and counters for ids.
#[derive(Clone)]
pub(super) struct Teller {
    sink: Arc<dyn Sink>,
    steps: Arc<AtomicU64>,
    leaves: Arc<AtomicU64>,
}

impl Teller {
    pub fn new(sink: Arc<dyn Sink>) -> Self {
        Self {
            sink,
            steps: Arc::default(),
            leaves: Arc::default(),
        }
    }

    pub fn tell(&self, what: What) {
        self.sink.tell(what);
    }

    /// Returns when all that was told is on disk. A slow disk holds up who waits for it, and
    /// nobody else.
    pub async fn commit(&self) -> Result<(), SinkError> {
        let sink = Arc::clone(&self.sink);
        let done = tokio::task::spawn_blocking(move || sink.commit()).await;
        done.unwrap_or_else(|why| {
            Err(SinkError {
                file: String::new(),
                why: why.to_string(),
            })
        })
    }

    pub fn step_id(&self) -> StepId {
        format!("s{}", self.steps.fetch_add(1, Ordering::Relaxed) + 1).into()
    }

    pub fn leave_id(&self) -> LeaveId {
        format!("l{}", self.leaves.fetch_add(1, Ordering::Relaxed) + 1).into()
    }

    pub fn step(&self, step: &StepId, state: StepState) {
        self.tell(What::Step(Box::new(StepChange {
            step: step.clone(),
            state,
        })));
    }

    pub fn note(&self, level: Level, text: impl Into<String>, about: About<'_>) {
        self.tell(What::Note(Note {
            level,
            text: text.into(),
            host: about.host.map(ToOwned::to_owned),
            run: about.run.cloned(),
            step: about.step.cloned(),
        }));
    }
}

/// What a note is about.
#[derive(Clone, Copy, Default)]
pub(super) struct About<'a> {
    pub host: Option<&'a str>,
    pub run: Option<&'a RunId>,
    pub step: Option<&'a StepId>,
}
