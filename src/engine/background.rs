//! A step that goes on beside others, until it is joined or its run ends.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::event::{EndState, Level, StepEnd, StepId, StepState};
use crate::host::HostError;
use crate::host::supervisor::{Launch, Stopper};
use crate::method::{self, Action, ExpandedStep};

use super::EngineError;
use super::acted::Acted;
use super::command::{self, Begun, Followed, Following, PATIENCE};
use super::run::Run;
use super::teller::About;
use super::timed::Timed;
use super::waiting::Waited;

/// Pause between two looks at what goes on beside a wait.
const LOOK: Duration = Duration::from_millis(100);

/// Steps that go on beside others, and those of them that are over.
#[derive(Default)]
pub(super) struct Beside {
    going: BTreeMap<String, Background>,
    over: BTreeMap<String, StepEnd>,
    /// What was timed beside a load that may have ended meanwhile.
    pub timed: Vec<Timed>,
}

impl Beside {
    /// Whether one of those that go on is a load.
    pub fn has_load(&self) -> bool {
        self.going.values().any(|going| is_load(&going.step))
    }

    /// Until one of those that go on is over.
    async fn one_is_over(&self) {
        while !self.going.values().any(|going| going.handle.is_finished()) {
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// A step that goes on beside others.
struct Background {
    id: StepId,
    step: ExpandedStep,
    host: String,
    handle: JoinHandle<Result<Followed, HostError>>,
    attempts: Attempts,
}

/// What brought a step that goes on beside others to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndedBy {
    /// It was over.
    Itself,
    /// It was told to end.
    Us,
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
            step: step.clone(),
            host: host_name.to_owned(),
            handle,
            attempts,
        };
        let going = &mut self.beside.going;
        going.insert(step.step.name.clone(), background);
        Ok(Acted::new(EndState::Ok, (begin, begin)))
    }

    /// Waits; not any longer once what goes on beside it has failed, such as the server that is waited for.
    pub(super) async fn waiting(
        &mut self,
        step: &ExpandedStep,
        wait: impl Future<Output = Waited>,
    ) -> Waited {
        tokio::pin!(wait);
        loop {
            tokio::select! {
                biased;
                waited = &mut wait => return waited,
                () = self.beside.one_is_over() => {}
            }
            let when = format!("while it was waited for ({})", step.name);
            if let Err(why) = self.looked_beside(step, &when).await {
                return Waited::NotThere(why);
            }
        }
    }

    /// Looks at what goes on beside, before the next step begins: what is measured beside a load
    /// that is over is not measured beside it.
    ///
    /// # Errors
    /// Why the run cannot go on: a load has failed.
    pub(super) async fn look_beside(&mut self, next: &ExpandedStep) -> Result<(), String> {
        let when = format!("before {} began", next.name);
        self.looked_beside(next, &when).await
    }

    async fn looked_beside(&mut self, next: &ExpandedStep, when: &str) -> Result<(), String> {
        let going = &mut self.beside.going;
        let over: Vec<_> = going
            .extract_if(.., |_, background| background.handle.is_finished())
            .collect();
        for (name, background) in over {
            let id = background.id.clone();
            let is_load = is_load(&background.step);
            let end = self.end_of(background, EndedBy::Itself).await;
            let (is_good, cause) = (end.end.is_good(), end.cause.clone());
            self.beside.over.insert(name.clone(), end);
            if !is_load || matches!(&next.step.action, Action::Join(of) if *of == name) {
                continue;
            }
            if !is_good && !self.pools.brings_back() {
                let cause = cause.unwrap_or_else(|| "no reason is known".to_owned());
                return Err(format!("{name}, which was to go on beside: {cause}"));
            }
            let about = About {
                step: Some(&id),
                ..About::default()
            };
            let how = if is_good { "was over" } else { "had failed" };
            let text = format!("{name} {how} {when}: from there on nothing was measured beside it");
            self.shared.teller.note(Level::Warning, text, about);
        }
        self.tell_sure();
        Ok(())
    }

    /// Whether a load has ended that nobody has waited for yet.
    pub(super) fn load_is_over(&self) -> bool {
        let is_load = |name: &String| {
            let mut steps = self.bound.method.steps.iter();
            steps
                .any(|step| step.name == *name && step.background == Some(method::Background::Load))
        };
        self.beside.over.keys().any(is_load)
    }

    /// Waits for the end of a background step.
    pub(super) async fn join(&mut self, name: &str) -> Result<Acted, EngineError> {
        let begin = self.now();
        let ended = if let Some(background) = self.beside.going.remove(name) {
            self.end_of(background, EndedBy::Itself).await
        } else if let Some(end) = self.beside.over.remove(name) {
            end
        } else {
            return Err(EngineError::Refused(format!("{name:?} does not run")));
        };
        let mut acted = Acted::new(ended.end, (begin, self.now()));
        acted.end.cause = ended.cause;
        Ok(acted)
    }

    async fn end_of(&mut self, background: Background, by: EndedBy) -> StepEnd {
        let Background {
            id,
            step,
            host,
            handle,
            ..
        } = background;
        let (clock, ok) = (step.step.clock, &step.step.ok);
        let mut acted = match handle.await {
            Ok(Ok(followed)) => {
                self.gone(&host, &followed);
                Acted::followed(&followed, clock, ok)
            }
            Ok(Err(why)) => {
                self.shared.lost(&host, &why);
                Acted::failed(why.to_string(), self.shared.began)
            }
            Err(why) => Acted::failed(why.to_string(), self.shared.began),
        };
        // A load or server that goes on until the end is ended by us, and has not failed; how long
        // it went on is no result.
        if by == EndedBy::Us && acted.end.end == EndState::Failed {
            acted.end.end = EndState::Ok;
            acted.end.cause = None;
        }
        self.keep_moments(&step, &host, &acted);
        if is_load(&step) {
            self.settle_timed(&step, &id, &acted, &host);
        }
        if acted.end.end.is_good() {
            let seconds = acted.end.seconds.take_if(|_| by == EndedBy::Us);
            self.samples(&step, &id, &acted);
            acted.end.seconds = acted.end.seconds.or(seconds);
        }
        self.shared
            .teller
            .step(&id, StepState::Ended(acted.end.clone()));
        acted.end
    }

    /// Ends every background step that was not joined.
    pub async fn end_background(&mut self) {
        for (name, background) in mem::take(&mut self.beside.going) {
            // One that was over before it was told to end, has ended by itself.
            let by = if background.handle.is_finished() {
                EndedBy::Itself
            } else {
                EndedBy::Us
            };
            let id = background.id.clone();
            background.attempts.stop().await;
            if !self.end_of(background, by).await.end.is_good() {
                let about = About {
                    step: Some(&id),
                    ..About::default()
                };
                let text = format!("{name} had failed before the run was over");
                self.shared.teller.note(Level::Warning, text, about);
                self.warned = true;
            }
        }
    }
}

fn is_load(step: &ExpandedStep) -> bool {
    step.step.background == Some(method::Background::Load)
}
