//! A step that is a pipe between roles.

use std::sync::Arc;

use minijinja::Value;

use crate::event::{EndState, SideEnd, StepId};
use crate::host::supervisor::{Launch, Supervisor};
use crate::method::{ExpandedStep, SHA256, THROUGH};
use crate::progress;

use super::EngineError;
use super::action::Acted;
use super::command::{Followed, Following};
use super::direct;
use super::preview::{Filling, Stream};
use super::run::Run;
use super::stream::{self, Streamed, Trouble, Wanted};

impl Run<'_> {
    /// Runs it, and tells how each side ended.
    pub async fn stream(
        &mut self,
        step: &ExpandedStep,
        id: &StepId,
        stream: &Stream,
        context: &Value,
    ) -> Result<Acted, EngineError> {
        let launch = Launch {
            stdin: self.stdin(step)?,
            ..Launch::default()
        };
        let filling = Filling {
            bound: self.bound,
            step,
            context,
        };
        let expect = step.step.expect.as_ref();
        let until = step.step.until.as_ref();
        let wanted = Wanted {
            step: id,
            segments: &stream.segments,
            supervisors: self.supervisors(stream)?,
            launch,
            hashed: stream.hashed,
            expect: expect.and_then(|text| filling.number(text).ok()),
            until: until
                .map(|until| filling.number(&until.bytes))
                .transpose()?,
            ok: &step.step.ok,
            control: &self.shared.control,
            teller: &self.shared.teller,
            began: self.shared.began,
        };
        let follows: Vec<_> = stream
            .segments
            .iter()
            .map(|segment| self.following(id, &segment.host))
            .collect();
        let plain = self.following(id, "");
        let following = |at: usize| Following {
            reader: step.step.reads.as_deref().and_then(progress::reader),
            ..follows.get(at).map_or_else(&plain, |follow| follow())
        };
        let streamed = match &stream.direct {
            Some(ssh) => direct::run(wanted, ssh, following).await?,
            None => stream::run(wanted, following).await?,
        };
        for followed in &streamed.sides {
            self.clock_note(id, followed);
        }
        Ok(acted(&streamed, stream))
    }

    fn supervisors(&self, stream: &Stream) -> Result<Vec<Arc<Supervisor>>, EngineError> {
        let of = |host: &String| {
            let known = self.shared.supervisors.get(host);
            known
                .cloned()
                .ok_or_else(|| EngineError::Refused(format!("the host {host:?} is not connected")))
        };
        let hosts = stream.segments.iter().map(|segment| &segment.host);
        hosts.map(of).collect()
    }
}

// Its clock is `here`: what begins on one machine and ends on another is timed by neither.
fn acted(streamed: &Streamed, stream: &Stream) -> Acted {
    let sides = || streamed.sides.iter().zip(&stream.segments);
    let (end, cause) = match &streamed.trouble {
        Some(Trouble::Interrupted) => (EndState::Ok, None),
        Some(Trouble::Between(why)) => (EndState::Failed, Some(why.clone())),
        Some(Trouble::Side(at)) => match sides().nth(*at) {
            Some((followed, segment)) => (EndState::Failed, Some(cause(followed, &segment.host))),
            None => (EndState::Failed, None),
        },
        None if sides().any(|(followed, _)| followed.stopped) => (EndState::Stopped, None),
        None => (EndState::Ok, None),
    };
    let mut acted = Acted::new(end, streamed.here);
    acted.end.cause = cause;
    for (followed, segment) in sides() {
        acted.read(followed);
        acted.end.status.extend(&followed.outcome.status);
        acted.end.sides.push(SideEnd {
            host: segment.host.clone(),
            status: followed.outcome.status.clone(),
            stamps: followed.outcome.stamps,
        });
    }
    let through = |bytes| (THROUGH.to_owned(), bytes as f64, "B".to_owned(), 0.0);
    acted.figures.extend(streamed.bytes.map(through));
    acted
        .values
        .extend(streamed.sha256.clone().map(|sum| (SHA256.to_owned(), sum)));
    acted
}

fn cause(followed: &Followed, host: &str) -> String {
    let outcome = &followed.outcome;
    if outcome.lost || outcome.status.is_empty() {
        return format!("{host}: its status is not known: the process is gone");
    }
    match &followed.cause {
        Some(cause) => format!("{host}: {cause} (status {:?})", outcome.status),
        None => format!("{host}: it ended with status {:?}", outcome.status),
    }
}
