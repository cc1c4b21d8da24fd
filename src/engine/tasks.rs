//! Tasks of Proxmox VE: which one a command has become, how it ended, and its end where it has to
//! be asked for. The command's output is the task's log; its time and its end state are the node's.

use std::time::Duration;

use tokio::time::Instant;

use crate::event::{Captured, Clock, EndState, Level, StepId, What};
use crate::host::{Exit, Host, ask_again};
use crate::progress::task::{Listed, Upid, Verdict, fitting, verdict};

use super::EngineError;
use super::acted::Acted;
use super::command::Followed;
use super::node::{Over, TASKS, find, last, list, lives};
use super::run::Run;
use super::shell::{quote, script, text_of};
use super::teller::About;

/// How long a short look may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// Pause between two looks at a task that goes on.
const PAUSE: Duration = Duration::from_secs(1);
/// Pause between two looks for a task that has just been begun.
const LOOK: Duration = Duration::from_millis(500);
/// The moment at which the node has begun a task.
const BEGUN: &str = "task begun";
/// How long a task may take to end once it was told to.
const ENDING: Duration = Duration::from_secs(30);

/// What is known of a node before a command becomes a task there.
pub(super) struct Before {
    host: String,
    /// Seconds of Unix time by its clock; absent where its tasks cannot be read.
    since: Option<u64>,
}

/// A task that was seen while its command runs.
pub(super) struct Seen {
    upid: Upid,
    /// Seconds since its command was begun.
    after: f64,
}

impl Seen {
    /// When the node had begun it, as a mark of its step.
    pub fn begun(&self) -> (String, f64, f64) {
        (BEGUN.to_owned(), self.after, LOOK.as_secs_f64())
    }
}

impl Run<'_> {
    /// Looks at the node's clock, right before a command.
    pub(super) async fn before_task(
        &self,
        id: &StepId,
        host_name: &str,
    ) -> Result<Before, EngineError> {
        let host = self.connected(host_name)?;
        let text = format!("[ -r {TASKS} ] && [ -x {TASKS} ] && date +%s || echo none");
        let said = script(host.as_ref(), "look at the node's tasks", &text, PATIENCE).await?;
        let since = said.trim().parse().ok();
        if since.is_none() {
            self.task_note(id, Level::Warning, format!("{host_name}: {TASKS} cannot be read, so the host's own clock counts, and the exit status alone"));
        }
        Ok(Before {
            host: host_name.to_owned(),
            since,
        })
    }

    /// Looks for the one task that a command which still runs can have become, and tells it. Never
    /// ends where there is none, or several.
    pub(super) async fn seen_task(
        &self,
        id: &StepId,
        before: Option<&Before>,
        command: &str,
    ) -> Seen {
        let begin = Instant::now();
        let host = before.and_then(|before| self.connected(&before.host).ok());
        let since = before.and_then(|before| before.since);
        let (Some(host), Some(since)) = (host, since) else {
            return std::future::pending().await;
        };
        loop {
            tokio::time::sleep(LOOK).await;
            let Ok(all) = list(host.as_ref(), since).await else {
                continue;
            };
            let runs = all.iter().filter(|one| one.ended.is_none()).cloned();
            let runs: Vec<Listed> = runs.collect();
            if let [one] = fitting(&runs, command)[..] {
                let after = begin.elapsed().as_secs_f64();
                self.tell_task(id, &one.upid);
                let upid = one.upid.clone();
                return Seen { upid, after };
            }
        }
    }

    fn tell_task(&self, id: &StepId, upid: &Upid) {
        self.shared.teller.tell(What::Value(Captured {
            run: self.planned.run.clone(),
            step: id.clone(),
            name: "task".to_owned(),
            value: upid.text.clone(),
        }));
    }

    /// Finds the task, waits for its end or makes it, and lets the node say how it went.
    pub(super) async fn became_task(
        &self,
        id: &StepId,
        before: Before,
        command: &str,
        followed: &Followed,
        seen: Option<Seen>,
        acted: &mut Acted,
    ) -> Result<(), EngineError> {
        let Some(since) = before.since.filter(|_| followed.gone.is_none()) else {
            return Ok(());
        };
        let host = self.connected(&before.host)?;
        let host = host.as_ref();
        let out = text_of(&followed.out);
        let Some(upid) = find(host, since, command, &out).await? else {
            if acted.end.end.is_good() {
                acted.end.end = EndState::Failed;
                acted.end.cause = Some(
                    "it ended well, but the node has no task of it: nothing was done (is the guest on another node?)".to_owned(),
                );
            }
            return Ok(());
        };
        if seen.is_none_or(|seen| seen.upid != upid) {
            self.tell_task(id, &upid);
        }
        acted.values.insert("task".to_owned(), upid.text.clone());
        acted.values.insert("node".to_owned(), upid.node.clone());
        let stopped = followed.stopped || followed.interrupted;
        if stopped && lives(host, &upid).await? {
            self.end_task(id, host, &upid).await?;
        }
        let over = self.until_over(id, host, &upid, stopped).await?;
        settle(&over, &upid, stopped, acted);
        if let Verdict::Warnings(count) = over.verdict {
            let count = crate::event::count_with(count as usize, "warning", ("was", "were"));
            self.task_note(
                id,
                Level::Warning,
                format!("the task ended well; {count} told, see its log"),
            );
        }
        Ok(())
    }

    // Its command was told to end it, and could not, or is not there any more.
    async fn end_task(&self, id: &StepId, host: &dyn Host, upid: &Upid) -> Result<(), EngineError> {
        let text = format!(
            "exec pvesh delete {} >/dev/null",
            quote(&format!("/nodes/{}/tasks/{upid}", upid.node))
        );
        let answer = ask_again(host, &text, b"", 4096, PATIENCE).await?;
        if answer.exit != Exit::Code(0) {
            let why = super::shell::reason(&answer);
            self.task_note(
                id,
                Level::Error,
                format!("the task {upid} could not be ended: {why}"),
            );
        }
        let until = Instant::now() + ENDING;
        while lives(host, upid).await? {
            if Instant::now() >= until {
                self.task_note(
                    id,
                    Level::Error,
                    format!("the task was stopped; still there: {upid}"),
                );
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    // A task outlives a command that was killed: then it is followed by its name.
    async fn until_over(
        &self,
        id: &StepId,
        host: &dyn Host,
        upid: &Upid,
        stopped: bool,
    ) -> Result<Over, EngineError> {
        let mut ended = stopped;
        let mut told = false;
        loop {
            let all = list(host, upid.start).await?;
            let mine = all.into_iter().find(|one| one.upid == *upid);
            if let Some((end, status)) = mine.and_then(|one| one.ended) {
                return Ok(Over {
                    end: Some(end),
                    verdict: verdict(&status),
                });
            }
            if !lives(host, upid).await? {
                return last(host, upid).await;
            }
            if ended {
                // It was told to end, and did not.
                return Ok(Over {
                    end: None,
                    verdict: Verdict::Lost,
                });
            }
            if !told {
                self.task_note(
                    id,
                    Level::Warning,
                    format!(
                        "its command is gone, the task goes on and is followed by its name: {upid}"
                    ),
                );
                told = true;
            }
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                () = self.control.stopped() => {
                    self.end_task(id, host, upid).await?;
                    ended = true;
                }
            }
        }
    }

    fn task_note(&self, id: &StepId, level: Level, text: String) {
        let about = About {
            step: Some(id),
            ..About::default()
        };
        self.shared.teller.note(level, text, about);
    }
}

/// The node's word counts, and its clock; the host's finer one stands beside it.
fn settle(over: &Over, upid: &Upid, stopped: bool, acted: &mut Acted) {
    let end = &mut acted.end;
    if let Some(at) = over.end {
        acted.finer = end
            .seconds
            .filter(|_| end.clock == Some(Clock::Host))
            .map(|seconds| (seconds, end.resolution));
        end.seconds = Some(at.saturating_sub(upid.start) as f64);
        end.clock = Some(Clock::Task);
        end.resolution = 1.0;
    }
    if stopped {
        return;
    }
    let known = !end.status.is_empty();
    match &over.verdict {
        Verdict::Ok if end.end == EndState::Lost && !known => {
            end.end = EndState::Ok;
            end.cause = None;
        }
        Verdict::Warnings(_) if end.end.is_good() || !known => {
            end.end = EndState::Warnings;
            end.cause = None;
        }
        Verdict::Ok | Verdict::Warnings(_) => {}
        Verdict::Failed(why) => {
            if end.end != EndState::Failed {
                end.cause = None;
            }
            end.end = EndState::Failed;
            end.cause.get_or_insert_with(|| why.clone());
        }
        Verdict::Lost => {
            end.end = EndState::Lost;
            end.cause = Some(format!("its task has left no verdict: {upid}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(end: EndState, status: &[i32], verdict: Verdict, stopped: bool) -> Acted {
        let upid = Upid::parse("UPID:pve3:000051C2:0002DDD2:6B0DE619:vzdump:131:root@pam:");
        let upid = upid.unwrap();
        let mut acted = Acted::new(end, (0.0, 30.0));
        acted.end.status = status.to_vec();
        acted.end.seconds = Some(28.25);
        acted.end.clock = Some(Clock::Host);
        acted.end.resolution = 0.01;
        let over = Over {
            end: Some(upid.start + 28),
            verdict,
        };
        settle(&over, &upid, stopped, &mut acted);
        acted
    }

    #[test]
    fn the_nodes_clock_counts_and_the_finer_one_stands_beside_it() {
        let acted = settled(EndState::Ok, &[0], Verdict::Ok, false);
        assert_eq!(acted.end.end, EndState::Ok);
        assert_eq!(acted.end.seconds, Some(28.0));
        assert_eq!(acted.end.clock, Some(Clock::Task));
        assert!((acted.end.resolution - 1.0).abs() < f64::EPSILON);
        assert_eq!(acted.finer, Some((28.25, 0.01)));
    }

    #[test]
    fn the_node_says_how_it_ended_whatever_the_status_is() {
        let end = |end, status: &[i32], verdict| settled(end, status, verdict, false).end;
        let failed = || Verdict::Failed("job errors".to_owned());
        // `pvesh create` ends with 0 all the same.
        let said = end(EndState::Ok, &[0], failed());
        assert_eq!(said.end, EndState::Failed);
        assert_eq!(said.cause.as_deref(), Some("job errors"));
        let warned = end(EndState::Ok, &[0], Verdict::Warnings(2));
        assert_eq!(warned.end, EndState::Warnings);
        // Whoever began it is gone, and it went on.
        assert_eq!(end(EndState::Lost, &[], Verdict::Ok).end, EndState::Ok);
        assert_eq!(end(EndState::Lost, &[], failed()).end, EndState::Failed);
        assert_eq!(end(EndState::Ok, &[0], Verdict::Lost).end, EndState::Lost);
        // A command may fail after its task.
        let after = end(EndState::Failed, &[255], Verdict::Ok);
        assert_eq!(after.end, EndState::Failed);
    }

    #[test]
    fn what_was_stopped_is_stopped() {
        let why = Verdict::Failed("interrupted by signal".to_owned());
        let acted = settled(EndState::Stopped, &[255], why, true);
        assert_eq!(acted.end.end, EndState::Stopped);
        assert_eq!(acted.end.seconds, Some(28.0));
    }
}
