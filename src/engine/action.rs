//! Performs what a step does.

use std::sync::Arc;

use minijinja::Value;
use rand::RngExt;

use crate::event::{Clock, EndState, Level, StepId};
use crate::host::supervisor::{Launch, pipe_script};
use crate::method::{self, ExpandedStep, Secret};
use crate::progress;

use super::EngineError;
use super::acted::{Acted, STEP_SHOWS};
use super::away;
use super::command::{self, Ending, Followed, Following};
use super::payload::Made;
use super::preview::{Doing, Filling};
use super::run::Run;
use super::stake;
use super::teller::About;
use super::waiting;

/// A secret that nobody needs to know.
fn made() -> String {
    let mut random = rand::rng();
    (0..24)
        .map(|_| char::from(random.sample(rand::distr::Alphanumeric)))
        .collect()
}

impl Run<'_> {
    pub fn now(&self) -> f64 {
        self.shared.began.elapsed().as_secs_f64()
    }

    /// Performs a step's action.
    pub async fn act(
        &mut self,
        step: &ExpandedStep,
        id: &StepId,
        doing: Doing,
        context: &Value,
        host_name: &str,
    ) -> Result<Acted, EngineError> {
        let begin = self.now();
        let control = self.control.clone();
        let control = &control;
        let waited = match doing {
            Doing::Command(members) => {
                return self.command(step, id, &members, context, host_name).await;
            }
            Doing::Stream(stream) => return self.stream(step, id, &stream, context).await,
            Doing::Payload(made) => return self.payload(step, id, &made, host_name).await,
            Doing::Hash(hashing) => {
                return self.hash(step, id, &hashing, host_name).await;
            }
            Doing::Space {
                settle,
                reads,
                limit,
            } => {
                return self
                    .space(step, id, settle.as_deref(), &reads, limit, host_name)
                    .await;
            }
            Doing::Join(name) => return self.join(&name).await,
            Doing::Port {
                address,
                port,
                banner,
                limit,
            } => {
                let answers = waiting::port(&address, &port, &banner, limit, control);
                self.waiting(step, answers).await
            }
            Doing::Until { script, limit } => {
                let host = self.connected(host_name)?;
                let succeeds = waiting::command(host.as_ref(), &script, limit, control);
                self.waiting(step, succeeds).await
            }
            Doing::Time(seconds) => waiting::time(seconds, control).await,
        };
        Ok(Acted::waited(waited, (begin, self.now())))
    }

    /// A host of the session, by its name.
    pub fn connected(&self, name: &str) -> Result<crate::host::SharedHost, EngineError> {
        let known = self.shared.hosts.get(name);
        known
            .map(|known| Arc::clone(&known.host))
            .ok_or_else(|| EngineError::Refused(format!("the host {name:?} is not connected")))
    }

    async fn command(
        &mut self,
        step: &ExpandedStep,
        id: &StepId,
        members: &[String],
        context: &Value,
        host_name: &str,
    ) -> Result<Acted, EngineError> {
        let text = match members {
            [one] => one.clone(),
            many => pipe_script(many),
        };
        let filling = Filling {
            bound: self.bound,
            step,
            context,
        };
        let expect = step
            .step
            .expect
            .as_ref()
            .and_then(|text| filling.number(text).ok());
        let watch = match &step.step.watch {
            Some(watch) => {
                let host = watch
                    .on
                    .as_deref()
                    .map_or(host_name, |on| self.bound.host(on));
                Some((self.connected(host)?, filling.shell(&watch.run)?))
            }
            None => None,
        };
        let until = match &step.step.until {
            Some(until) => Some(filling.number(&until.bytes)?),
            None => None,
        };
        let launch = Launch {
            stdin: self.stdin(step)?,
            load: step.step.background == Some(method::Background::Load),
            title: stake::title(step, &text),
            stake: self.stake(step),
            ..Launch::default()
        };
        let (plain, reads) = (self.following(id, host_name), step.step.reads.clone());
        let is_task = step.step.clock == Some(Clock::Task);
        let following = move || Following {
            reader: reads.as_deref().and_then(progress::reader),
            expect,
            watch: watch.clone(),
            until,
            ending: if is_task { Ending::Task } else { Ending::Kill },
            ..plain()
        };
        self.launch(step, id, &text, launch, following, host_name)
            .await
    }

    // Without a reader, and nothing to expect.
    pub(super) fn following(
        &self,
        id: &StepId,
        host_name: &str,
    ) -> impl Fn() -> Following + Send + Sync + use<> {
        let (teller, control) = (self.shared.teller.clone(), self.control.clone());
        let (step, host, began) = (id.clone(), host_name.to_owned(), self.shared.began);
        let gone_after = self.shared.gone_after(host_name);
        let secrets = self.secret_bytes();
        move || Following {
            teller: teller.clone(),
            step: step.clone(),
            host: host.clone(),
            gone_after,
            control: control.clone(),
            secrets: secrets.clone(),
            began,
            reader: None,
            expect: None,
            watch: None,
            until: None,
            part_of: None,
            ending: Ending::default(),
        }
    }

    async fn launch(
        &mut self,
        step: &ExpandedStep,
        id: &StepId,
        text: &str,
        launch: Launch,
        following: impl Fn() -> Following + Send + Sync + 'static,
        host_name: &str,
    ) -> Result<Acted, EngineError> {
        let supervisor = self.shared.supervisors.get(host_name).ok_or_else(|| {
            EngineError::Refused(format!("the host {host_name:?} is not connected"))
        })?;
        if step.step.background.is_some() {
            return self
                .beside(step, id, (text, launch), following, host_name)
                .await;
        }
        let since = match step.step.clock {
            Some(Clock::Task) => Some(self.before_task(id, host_name).await?),
            _ => None,
        };
        let (followed, seen) = {
            let runs = command::run(supervisor, text, &launch, following, &());
            tokio::pin!(runs);
            tokio::select! {
                followed = &mut runs => (followed?, None),
                seen = self.seen_task(id, since.as_ref(), text) => (runs.await?, Some(seen)),
            }
        };
        self.gone(host_name, &followed);
        self.clock_note(id, &followed);
        let mut acted = Acted::followed(&followed, step.step.clock, &step.step.ok);
        if let Some(since) = since {
            if let Some(seen) = &seen {
                acted.marks.push(seen.begun());
            }
            self.became_task(id, since, text, &followed, seen, &mut acted)
                .await?;
        }
        Ok(acted)
    }

    pub(super) fn gone(&self, host: &str, followed: &Followed) {
        if let Some(why) = &followed.gone {
            self.shared.lost(host, &away::gone(host, why.clone()));
        }
    }

    pub(super) fn clock_note(&self, id: &StepId, followed: &Followed) {
        let Some(stamps) = &followed.outcome.stamps else {
            return;
        };
        let wall = stamps.end.seconds_since(stamps.start);
        if (wall - stamps.uptime).abs() > STEP_SHOWS {
            self.shared.teller.note(
                Level::Warning,
                format!(
                    "the host's clock was set while this ran: {wall:.3} s by its clock, {:.2} s by its uptime, which counts",
                    stamps.uptime
                ),
                About { step: Some(id), ..About::default() },
            );
        }
    }

    fn secret_bytes(&self) -> Vec<Vec<u8>> {
        let all = self.secrets.values();
        all.map(|secret| secret.to_string().into_bytes()).collect()
    }

    // Secrets are made or asked for here, and go nowhere but into this.
    pub(super) fn stdin(&mut self, step: &ExpandedStep) -> Result<Option<Vec<u8>>, EngineError> {
        if let Some(Secret { name, ask }) = step.step.secret.as_deref() {
            let key = (self.bound.binding.id.clone(), name.clone());
            let value = match (ask, self.shared.given.get(&key)) {
                (None, _) => made(),
                (Some(_), Some(given)) => given.expose().to_owned(),
                (Some(_), None) => {
                    return Err(EngineError::Refused(format!(
                        "{}: {name} was not asked for",
                        step.name
                    )));
                }
            };
            self.secrets.insert(name.clone(), Value::from(value));
        }
        let Some(source) = &step.step.stdin else {
            return Ok(None);
        };
        let with_secrets = {
            let mut values = self.values.clone();
            values.extend(self.secrets.clone());
            self.bound
                .context(&self.names, &values, step.item.as_ref(), &step.step)
        };
        let filling = Filling {
            bound: self.bound,
            step,
            context: &with_secrets,
        };
        Ok(Some(filling.text(source)?.into_bytes()))
    }

    async fn payload(
        &mut self,
        step: &ExpandedStep,
        id: &StepId,
        made: &Made,
        host_name: &str,
    ) -> Result<Acted, EngineError> {
        let acted = if made.streamed.is_some() {
            let host = self.connected(host_name)?;
            let begin = self.now();
            let answer = super::payload::stream(host.as_ref(), made, &self.control).await?;
            match answer {
                None => Acted::new(EndState::Stopped, (begin, self.now())),
                Some(Ok(out)) => {
                    let mut acted = Acted::new(EndState::Ok, (begin, self.now()));
                    acted.values.insert("stdout".to_owned(), out);
                    acted
                }
                Some(Err(why)) => {
                    let mut acted = Acted::new(EndState::Failed, (begin, self.now()));
                    acted.end.cause = Some(why);
                    acted
                }
            }
        } else {
            let following = self.following(id, host_name);
            self.launch(
                step,
                id,
                &made.script,
                Launch::default(),
                following,
                host_name,
            )
            .await?
        };
        self.sample_note(id, acted.values.get("stdout").map_or("", String::as_str));
        Ok(acted)
    }

    // USERS, rule 9: what packs to less than nine tenths measures a compressor.
    fn sample_note(&self, id: &StepId, said: &str) {
        let about = About {
            step: Some(id),
            ..About::default()
        };
        let Some(line) = said.lines().find(|line| line.starts_with("sample: ")) else {
            return;
        };
        let mut numbers = line
            .split_whitespace()
            .filter_map(|word| word.parse::<u64>().ok());
        let (Some(whole), Some(packed)) = (numbers.next(), numbers.next()) else {
            return;
        };
        if whole == 0 || (packed as f64) < 0.9 * whole as f64 {
            self.shared.teller.note(
                Level::Warning,
                format!("the payload compresses ({whole} bytes to {packed}): no claim on throughput or size"),
                about,
            );
        }
    }
}
