//! A session from its header to its end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::event::{
    Act, ActKind, Asker, End, Facts, Header, Origin, Plan, PlannedRun, RunChange, RunState,
    SessionId, Sink, What,
};
use crate::host::{HostError, SharedHost};
use crate::method::{Bound, HostInfo};

use super::consent::{self, Consent};
use super::course::Course;
use super::guard::Confirmation;
use super::outcome::Outcome;
use super::secrets;
use super::shared::Shared;
use super::teller::Teller;
use super::{Control, EngineError};

/// A host that is connected and probed.
#[derive(Clone)]
pub struct Connected {
    /// What it is.
    pub info: HostInfo,
    /// How it is reached.
    pub host: SharedHost,
    /// How long a lost connection is tried again before the host counts as gone.
    pub gone_after: Duration,
}

/// Hosts by name.
pub type Hosts = BTreeMap<String, Connected>;

/// Hosts that cannot be used, and why.
pub type Missing = BTreeMap<String, HostError>;

/// Everything that one session needs.
pub struct Sitting {
    /// Its name.
    pub session: SessionId,
    /// The methods, bound.
    pub bounds: Vec<Bound>,
    /// What is going to run.
    pub plan: Plan,
    /// Hosts.
    pub hosts: Hosts,
    /// Hosts that were asked for as well, and why they are not connected.
    pub missing: Missing,
    /// What the looks ahead ask the operator.
    pub consents: Vec<Consent>,
    /// The operator's words for what may be destroyed.
    pub confirmed: Vec<Confirmation>,
    /// Where it is told.
    pub sink: Arc<dyn Sink>,
    /// What the operator wants.
    pub control: Control,
    /// Asks the operator for what methods need and nobody else knows.
    pub asker: Arc<dyn Asker>,
}

/// A new session's name: `cb-` and eight hexadecimal digits.
#[must_use]
pub fn session_id() -> SessionId {
    format!("cb-{:08x}", rand::random::<u32>()).into()
}

/// Name of a session's state folder on its host number `at`, from 0: two names may be one machine.
pub(super) fn session_folder(session: &str, at: usize) -> String {
    match at {
        0 => session.to_owned(),
        _ => format!("{session}-{}", at + 1),
    }
}

impl Sitting {
    /// Takes all runs, each host in its own queue, and says how it ended. Exit codes, the highest
    /// that applies: 0 done and everything verified, 1 a run or proof failed, 3 a host cannot be
    /// reached or was lost, 4 refused, 130 stopped.
    pub async fn conduct(self) -> End {
        let teller = Teller::new(Arc::clone(&self.sink));
        teller.tell(What::Header(Box::new(self.header())));
        let mut outcome = Outcome::new(self.plan.runs.len());
        let mut shared = Shared::new(
            self.session,
            self.hosts,
            self.confirmed,
            teller.clone(),
            self.control,
        );
        for (host, why) in &self.missing {
            shared.down(host, why);
            outcome.trouble(3, format!("not connected: {why}"));
        }
        tell_plan(&shared, &self.plan.runs);
        let outcome = match teller.commit().await {
            Ok(()) => {
                let (asker, control) = (self.asker.as_ref(), &shared.control);
                let asked = async {
                    let agreed = consent::ask_for(asker, &self.consents, control).await?;
                    let given = secrets::ask_for(asker, &self.bounds, control).await?;
                    Ok::<_, EngineError>((agreed, given))
                };
                match asked.await {
                    Ok((agreed, given)) => {
                        shared.agreed = agreed;
                        shared.given = given;
                        let course = Course::new(shared, self.bounds, self.plan, outcome);
                        course.take().await
                    }
                    Err(why) => {
                        outcome.trouble(why.exit(), why.to_string());
                        outcome
                    }
                }
            }
            Err(why) => {
                outcome.trouble(1, why.to_string());
                outcome
            }
        };
        let end = outcome.end();
        teller.tell(What::End(end.clone()));
        match teller.commit().await {
            Ok(()) => end,
            Err(why) => End {
                exit: end.exit.max(1),
                reason: format!("{}; {why}", end.reason),
            },
        }
    }

    // By name: secrets are made or asked for while it runs.
    fn masked(&self) -> Vec<String> {
        let steps = self.bounds.iter().flat_map(|bound| &bound.method.steps);
        let names = steps.filter_map(|step| step.secret.as_ref());
        names.map(|secret| secret.name.clone()).collect()
    }

    fn header(&self) -> Header {
        let facts: BTreeMap<String, Facts> = self
            .hosts
            .iter()
            .map(|(name, known)| (name.clone(), known.info.facts.clone()))
            .collect();
        Header {
            format: crate::event::FORMAT.to_owned(),
            program: concat!("comeback ", env!("CARGO_PKG_VERSION")).to_owned(),
            origin: Origin::Captured,
            started: chrono::Utc::now(),
            session: self.session.clone(),
            plan: self.plan.clone(),
            facts,
            masked: self.masked(),
        }
    }
}

fn tell_plan(shared: &Shared, runs: &[PlannedRun]) {
    for planned in runs {
        shared.teller.tell(What::Run(RunChange {
            run: planned.run.clone(),
            state: RunState::Queued,
        }));
    }
    for word in &shared.confirmed {
        let text = format!("{}:{} may be destroyed: {}", word.kind, word.id, word.name);
        shared.teller.tell(What::Act(Act {
            act: ActKind::Confirmed,
            text,
        }));
    }
}
