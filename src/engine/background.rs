//! A step that goes on beside others, until it is joined or its run ends.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::event::{Clock, EndState, Sample, StepEnd, StepId, StepState, What};
use crate::host::HostError;
use crate::host::supervisor::{Launch, Stopper};
use crate::method::ExpandedStep;

use super::EngineError;
use super::action::Acted;
use super::command::{self, Begun, Followed, Following, PATIENCE};
use super::run::Run;

/// A step that goes on beside others.
pub(super) struct Background {
    id: StepId,
    ok: Vec<i32>,
    figures: Vec<String>,
    clock: Option<Clock>,
    host: String,
    handle: JoinHandle<Result<Followed, HostError>>,
    attempts: Attempts,
}

/// How it was tried to begin: once, unless the connection broke before it had.
#[derive(Clone, Default)]
struct Attempts {
    all: Arc<Mutex<Tried>>,
    first: Arc<Notify>,
}

#[derive(Default)]
struct Tried {
    stoppers: Vec<Stopper>,
    over: bool,
}

impl Attempts {
    fn lock(&self) -> MutexGuard<'_, Tried> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it, whichever of them has begun; no other will.
    async fn stop(&self) {
        let stoppers = {
            let mut tried = self.lock();
            tried.over = true;
            mem::take(&mut tried.stoppers)
        };
        for stopper in stoppers {
            stopper.stop(PATIENCE).await;
        }
    }
}

impl Begun for Attempts {
    fn tell(&self, stopper: Stopper) {
        let mut tried = self.lock();
        if tried.over {
            tokio::spawn(async move { stopper.stop(PATIENCE).await });
        } else {
            tried.stoppers.push(stopper);
        }
        self.first.notify_one();
    }

    fn is_over(&self) -> bool {
        self.lock().over
    }
}

impl Run<'_> {
    /// Begins a background step.
    pub(super) async fn beside(
        &mut self,
        step: &ExpandedStep,
        id: &StepId,
        (text, launch): (&str, Launch),
        following: impl Fn() -> Following + Send + Sync + 'static,
        host_name: &str,
    ) -> Result<Acted, EngineError> {
        let supervisor = self.shared.supervisors.get(host_name).map(Arc::clone);
        let supervisor = supervisor.ok_or_else(|| {
            EngineError::Refused(format!("the host {host_name:?} is not connected"))
        })?;
        let begin = self.now();
        let attempts = Attempts::default();
        let (begun, text) = (attempts.clone(), text.to_owned());
        let mut handle = tokio::spawn(async move {
            command::run(&supervisor, &text, &launch, following, &begun).await
        });
        tokio::select! {
            biased;
            () = attempts.first.notified() => {}
            ended = &mut handle => return match ended {
                Ok(Err(why)) => Err(why.into()),
                Ok(Ok(_)) => Err(EngineError::Refused(format!("{}: it was never begun", step.name))),
                Err(panic) => Err(EngineError::Refused(panic.to_string())),
            },
        }
        let background = Background {
            id: id.clone(),
            ok: step.step.ok.clone(),
            figures: step.step.figures.clone(),
            clock: step.step.clock,
            host: host_name.to_owned(),
            handle,
            attempts,
        };
        self.background.insert(step.step.name.clone(), background);
        Ok(Acted::new(EndState::Ok, (begin, begin)))
    }

    /// Waits for the end of a background step.
    pub(super) async fn join(&mut self, name: &str) -> Result<Acted, EngineError> {
        let begin = self.now();
        let Some(background) = self.background.remove(name) else {
            return Err(EngineError::Refused(format!("{name:?} does not run")));
        };
        let ended = self.end_of(background, false).await;
        let mut acted = Acted::new(ended.end, (begin, self.now()));
        acted.end.cause = ended.cause;
        Ok(acted)
    }

    async fn end_of(&self, background: Background, ours: bool) -> StepEnd {
        let Background {
            id,
            ok,
            figures,
            clock,
            host,
            handle,
            ..
        } = background;
        let mut acted = match handle.await {
            Ok(Ok(followed)) => {
                self.gone(&host, &followed);
                Acted::followed(&followed, clock, &ok)
            }
            Ok(Err(why)) => {
                self.shared.lost(&host, &why);
                Acted::failed(why.to_string(), self.shared.began)
            }
            Err(why) => Acted::failed(why.to_string(), self.shared.began),
        };
        // A load or server that goes on until the end is ended by us, and has not failed.
        if ours && acted.end.end == EndState::Failed {
            acted.end.end = EndState::Ok;
            acted.end.cause = None;
        }
        for (name, value, unit, resolution) in acted
            .figures
            .iter()
            .filter(|figure| figures.contains(&figure.0))
        {
            self.shared.teller.tell(What::Sample(Sample {
                run: self.planned.run.clone(),
                step: Some(id.clone()),
                name: name.replace('_', " "),
                series: self.series.clone(),
                value: *value,
                unit: unit.clone(),
                clock: (unit == "s").then_some(Clock::Log),
                resolution: *resolution,
                labels: crate::event::Labels::new(),
            }));
        }
        self.shared
            .teller
            .step(&id, StepState::Ended(acted.end.clone()));
        acted.end
    }

    /// Ends every background step that was not joined.
    pub async fn end_background(&mut self) {
        for (_, background) in std::mem::take(&mut self.background) {
            background.attempts.stop().await;
            self.end_of(background, true).await;
        }
    }
}
