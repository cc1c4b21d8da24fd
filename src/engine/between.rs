//! A step that is a pipe between roles.

use std::sync::Arc;

use minijinja::Value;

use crate::event::{EndState, SideEnd, StepId};
use crate::host::supervisor::{Launch, Supervisor};
use crate::method::{ExpandedStep, SHA256, THROUGH};
use crate::progress;

use super::EngineError;
use super::acted::Acted;
use super::command::{Followed, Following};
use super::direct;
use super::piping::Stream;
use super::preview::Filling;
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
            title: step.name.clone(),
            stake: self.stake(step),
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
            control: &self.control,
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
        for (followed, segment) in streamed.sides.iter().zip(&stream.segments) {
            if let Some(followed) = followed {
                self.gone(&segment.host, followed);
                self.clock_note(id, followed);
            }
        }
        let stopped = self.control.is_stopped();
        Ok(acted(&streamed, stream, &step.step.ok, stopped))
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
fn acted(streamed: &Streamed, stream: &Stream, ok: &[i32], stopped: bool) -> Acted {
    let segments = stream.segments.iter().enumerate();
    let sides: Vec<_> = segments
        .map(|(at, segment)| (segment, streamed.sides.get(at).and_then(Option::as_ref)))
        .collect();
    let followed = || sides.iter().filter_map(|(_, followed)| *followed);
    let all = followed().count() == sides.len();
    let of = |at: usize| {
        let side = sides.get(at);
        side.map(|(segment, followed)| cause(*followed, &segment.host))
    };
    let bad = sides
        .iter()
        .position(|(_, followed)| !followed.is_some_and(|followed| followed.ended_well(ok)));
    let (end, cause) = match &streamed.trouble {
        Some(Trouble::Between(why)) => (EndState::Failed, Some(why.clone())),
        Some(Trouble::Side(at)) => (EndState::Failed, of(*at)),
        None if followed().any(|followed| followed.stopped) => (EndState::Stopped, None),
        Some(Trouble::Interrupted) if all && followed().all(|side| side.gone.is_none()) => {
            (EndState::Ok, None)
        }
        None if bad.is_none() => (EndState::Ok, None),
        None if stopped => (EndState::Stopped, None),
        Some(Trouble::Interrupted) | None => (EndState::Failed, bad.and_then(of)),
    };
    let mut acted = Acted::new(end, streamed.here);
    acted.end.cause = cause;
    for (segment, followed) in &sides {
        let Some(followed) = followed else { continue };
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

fn cause(followed: Option<&Followed>, host: &str) -> String {
    let Some(followed) = followed else {
        return format!("{host}: its command could not be followed to its end");
    };
    if let Some(why) = &followed.gone {
        return format!("{host}: it is gone: {why}");
    }
    let outcome = &followed.outcome;
    if outcome.lost || outcome.status.is_empty() {
        return format!("{host}: its status is not known: the process is gone");
    }
    match &followed.cause {
        Some(cause) => format!("{host}: {cause} (status {:?})", outcome.status),
        None => format!("{host}: it ended with status {:?}", outcome.status),
    }
}

#[cfg(test)]
mod tests {
    use super::super::piping::Segment;
    use super::*;

    #[test]
    fn what_nobody_followed_to_its_end_is_not_well() {
        let segment = |host: &str| Segment {
            host: host.to_owned(),
            members: vec!["true".to_owned()],
        };
        let stream = Stream {
            segments: vec![segment("lab"), segment("vault")],
            hashed: false,
            direct: None,
        };
        let of = |trouble, stopped| {
            let streamed = Streamed {
                sides: vec![None, None],
                bytes: Some(3),
                sha256: None,
                trouble,
                here: (0.0, 1.0),
            };
            let acted = acted(&streamed, &stream, &[], stopped);
            (acted.end.end, acted.end.cause.unwrap_or_default())
        };
        let (end, cause) = of(None, false);
        assert_eq!(end, EndState::Failed);
        assert!(cause.starts_with("lab: its command could not be followed"));
        assert_eq!(of(None, true).0, EndState::Stopped);
        assert_eq!(of(Some(Trouble::Interrupted), false).0, EndState::Failed);
        assert!(of(Some(Trouble::Side(1)), false).1.starts_with("vault: "));
    }
}
