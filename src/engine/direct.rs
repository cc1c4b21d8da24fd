//! A pipe that goes directly from one host to another, over the one's own `ssh`.
//!
//! The sender's host begins the other side with a script that was put there before. Both sides
//! are followed, stopped and proved from here. The receiver sees the end of its input only when
//! every sender has ended well and the receiver's word that all has arrived came back over that
//! `ssh`: a connection that broke never looks like an end.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant, sleep_until};

use crate::host::HostError;
use crate::host::supervisor::{Caps, Entry, Launch, Supervisor, pipe_script};
use crate::method::HostInfo;

use super::carry::{followed, persist};
use super::command::{Followed, Following, PATIENCE, PartOf};
use super::shell::quote;
use super::stream::{Streamed, Trouble, Wanted};

/// What `ssh` ends with where it is its own connection that failed.
const CONNECTION: i32 = 255;

/// How long the receiver may take to tell a better reason than the sender's.
const GRACE: Duration = Duration::from_secs(2);

/// The `ssh` to a host, with what the host that runs it has to log in with: nothing is asked
/// and nothing forwarded, and the host key must be known there.
pub(super) fn ssh(to: &HostInfo) -> String {
    let options = "ssh -a -x -o BatchMode=yes -o StrictHostKeyChecking=yes -o ConnectTimeout=15 \
                   -o ServerAliveInterval=15 -o ServerAliveCountMax=3";
    match (&to.address, &to.login) {
        (Some(address), Some((user, port))) => {
            let destination = quote(&format!("{user}@{address}"));
            format!("{options} -p {port} {destination}")
        }
        _ => format!("{options} ‹{}›", to.name),
    }
}

/// The two sides while they run.
struct Both<'a> {
    wanted: &'a Wanted<'a>,
    entry: Entry,
    sender: Arc<Supervisor>,
    names: [String; 2],
    parts: [PartOf; 2],
    trouble: Option<Trouble>,
    /// What the first side told of its end, and until when the second may tell a better reason.
    suspected: Option<(Trouble, Instant)>,
    /// Until when the first side may end by itself, since the second was ended: then it knows
    /// the status of each of its commands.
    patience: Option<Instant>,
}

/// Runs it to its end.
///
/// # Errors
/// Where a side could not be begun; then none is left.
pub(super) async fn run(
    wanted: Wanted<'_>,
    ssh: &str,
    following: impl Fn(usize) -> Following,
) -> Result<Streamed, HostError> {
    let ([from, to], [sender, receiver]) = (wanted.segments, &wanted.supervisors[..]) else {
        return Ok(nothing(&wanted));
    };
    let names = [1, 2].map(|at| format!("{}-{at}", wanted.step));
    let [name, name_there] = &names;
    let text = match &to.members[..] {
        [one] => one.clone(),
        many => pipe_script(many),
    };
    let plain = Launch::default();
    let entry = receiver.enter(name_there, &text, &plain).await?;
    let mut members = from.members.clone();
    members.push(format!("{ssh} {}", quote(&entry.command)));
    let begin = wanted.began.elapsed().as_secs_f64();
    let text = pipe_script(&members);
    let launched = sender.launch(name, &text, wanted.launch.clone());
    let job = match launched.await {
        Ok(job) => job,
        Err(why) => {
            for (supervisor, name) in [(sender, name), (receiver, name_there)] {
                if let Ok(stopper) = supervisor.stopper(name) {
                    stopper.stop(PATIENCE).await;
                }
            }
            return Err(why);
        }
    };
    let (talk, heard) = watch::channel(Vec::new());
    let there = PartOf::default();
    let here = PartOf {
        log: Arc::clone(&there.log),
        talk: Some(Arc::new(talk)),
        ..PartOf::default()
    };
    let follows = Following {
        part_of: Some(here.clone()),
        ..following(0)
    };
    let mut both = Both {
        entry,
        sender: Arc::clone(sender),
        names: names.clone(),
        parts: [here, there.clone()],
        trouble: None,
        suspected: None,
        patience: None,
        wanted: &wanted,
    };
    let first = tokio::spawn(followed(job, follows));
    let follows = Following {
        part_of: Some(there),
        ..following(1)
    };
    let receiver = Arc::clone(receiver);
    let name_there = name_there.clone();
    let second = move || -> Result<JoinHandle<Option<Followed>>, HostError> {
        let job = receiver.attach(&name_there, Caps::default())?;
        Ok(tokio::spawn(followed(job, follows)))
    };
    let sides = both.watch(first, second, heard).await?;
    Ok(Streamed {
        sides,
        trouble: both.trouble,
        here: (begin, wanted.began.elapsed().as_secs_f64()),
        ..nothing(&wanted)
    })
}

fn nothing(wanted: &Wanted<'_>) -> Streamed {
    let now = wanted.began.elapsed().as_secs_f64();
    Streamed {
        sides: Vec::new(),
        bytes: None,
        sha256: None,
        trouble: None,
        here: (now, now),
    }
}

impl Both<'_> {
    /// Until both sides have ended. The second is followed from when it has said that it began:
    /// before that, to ask for it would see to it that it never does.
    async fn watch(
        &mut self,
        mut first: JoinHandle<Option<Followed>>,
        second: impl FnOnce() -> Result<JoinHandle<Option<Followed>>, HostError>,
        mut heard: watch::Receiver<Vec<u8>>,
    ) -> Result<Vec<Option<Followed>>, HostError> {
        let mut begin = Some(second);
        let mut running: Option<JoinHandle<Option<Followed>>> = None;
        let mut letting: Option<BoxFuture<'static, Result<(), Trouble>>> = None;
        let (mut ended, mut ended_there) = (None, None);
        let (mut told, mut open) = (false, true);
        loop {
            let said = heard.borrow_and_update().clone();
            // Also where the first has ended: it may have begun the second and lost it.
            if (self.entry.has_begun(&said) || ended.is_some())
                && let Some(begin) = begin.take()
            {
                running = Some(begin()?);
            }
            if !told && self.trouble.is_none() && self.entry.has_all(&said) {
                told = true;
                letting = Some(self.let_end());
            }
            if let (Some(here), Some(there)) = (&mut ended, &mut ended_there) {
                return Ok(vec![Option::take(here), Option::take(there)]);
            }
            let until = self.suspected.as_ref().map(|(_, until)| *until);
            tokio::select! {
                () = sleep_until(self.patience.unwrap_or_else(Instant::now)), if self.patience.is_some() => {
                    self.patience = None;
                    let [here, _] = &self.parts;
                    here.halt.cancel();
                }
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => {
                    self.convict();
                }
                changed = heard.changed(), if open => open = changed.is_ok(),
                let_end = met(&mut letting) => {
                    letting = None;
                    if let Err(trouble) = let_end {
                        self.fail(trouble);
                    }
                }
                followed = &mut first, if ended.is_none() => {
                    let followed = followed.ok().flatten();
                    // Not what was known of it before: what it said last and its end may have
                    // come at once.
                    let told = told || self.entry.has_all(&heard.borrow());
                    self.ended(0, followed.as_ref(), told);
                    ended = Some(followed);
                }
                followed = joined(&mut running), if ended_there.is_none() => {
                    self.ended(1, followed.as_ref(), told);
                    ended_there = Some(followed);
                    self.convict();
                }
            }
        }
    }

    /// Lets the receiver see the end, where every sender has ended well.
    fn let_end(&self) -> BoxFuture<'static, Result<(), Trouble>> {
        let between = |why: HostError| Trouble::Between(why.to_string());
        let [name, _] = self.names.clone();
        let (sender, whole) = (Arc::clone(&self.sender), self.entry.whole.clone());
        let ok = self.wanted.ok.to_vec();
        async move {
            let codes = persist(|| sender.senders(&name)).await.map_err(between)?;
            let is_good = |code: &i32| *code == 0 || ok.contains(code);
            if codes.is_empty() || !codes.iter().all(is_good) {
                return Err(Trouble::Side(0));
            }
            persist(|| whole.tell()).await.map_err(between)
        }
        .boxed()
    }

    fn ended(&mut self, at: usize, followed: Option<&Followed>, told: bool) {
        let Some(followed) = followed else {
            return self.fail(Trouble::Side(at));
        };
        let status = &followed.outcome.status;
        if at == 0 && status.last() == Some(&CONNECTION) {
            let why = followed.cause.as_deref().unwrap_or("it says no reason");
            let host = |at: usize| {
                let segment = self.wanted.segments.get(at);
                segment.map_or("a host", |segment| segment.host.as_str())
            };
            let text = format!("ssh from {} to {}: {why}", host(0), host(1));
            self.suspect(Trouble::Between(text));
        } else if !followed.ended_well(self.wanted.ok) {
            match at {
                // One that never began has no reason of its own: the sender has.
                1 if !followed.outcome.begun => {}
                0 => self.suspect(Trouble::Side(0)),
                _ => self.fail(Trouble::Side(at)),
            }
        } else if at == 0 && !told {
            self.suspect(Trouble::Between(
                "the stream ended, and nobody said that all of it had arrived".to_owned(),
            ));
        }
    }

    // A sender that ends with a broken pipe is no reason, where the receiver has one.
    fn suspect(&mut self, trouble: Trouble) {
        self.suspected = Some((trouble, Instant::now() + GRACE));
    }

    fn convict(&mut self) {
        if let Some((trouble, _)) = self.suspected.take() {
            self.fail(trouble);
        }
    }

    fn fail(&mut self, trouble: Trouble) {
        if self.trouble.is_some() || self.wanted.control.is_stopped() {
            return;
        }
        self.trouble = Some(trouble);
        let [_, there] = &self.parts;
        there.halt.cancel();
        self.patience = Some(Instant::now() + GRACE);
    }
}

/// How it was followed to its end; never, where it is not.
async fn joined(running: &mut Option<JoinHandle<Option<Followed>>>) -> Option<Followed> {
    match running {
        Some(running) => running.await.ok().flatten(),
        None => std::future::pending().await,
    }
}

/// What came of letting the receiver end; never, where that is not tried.
async fn met(letting: &mut Option<BoxFuture<'static, Result<(), Trouble>>>) -> Result<(), Trouble> {
    match letting {
        Some(letting) => letting.await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::engine::control::Control;
    use crate::engine::piping::Segment;
    use crate::engine::teller::Teller;
    use crate::event::{Sink, SinkError, StepId, What};
    use crate::host::LocalHost;
    use crate::host::supervisor::Outcome;

    struct Nowhere;

    impl Sink for Nowhere {
        fn tell(&self, _: What) {}

        fn commit(&self) -> Result<(), SinkError> {
            Ok(())
        }
    }

    fn good() -> Followed {
        Followed {
            outcome: Outcome {
                status: vec![0],
                stamps: None,
                resolution: 0.0,
                begun: true,
                lost: false,
                restarted: false,
                survivors: 0,
            },
            out: Vec::new(),
            values: BTreeMap::new(),
            figures: Vec::new(),
            marks: Vec::new(),
            cause: None,
            stopped: false,
            interrupted: false,
            gone: None,
            halted: false,
            here: (0.0, 0.0),
        }
    }

    /// A receiver that needs no end of its input (`tar`) ends as soon as it has all: its last
    /// word and the end of the `ssh` come in one message.
    #[tokio::test]
    async fn a_last_word_that_comes_with_the_end_is_heard() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("cb-direct").display().to_string();
        let supervisor = Arc::new(Supervisor::new(Arc::new(LocalHost::new()), state));
        supervisor.prepare().await.unwrap();
        let (step, control, teller) = (
            StepId::from("s1"),
            Control::default(),
            Teller::new(Arc::new(Nowhere)),
        );
        let segments = ["lab", "vault"].map(|host| Segment {
            host: host.to_owned(),
            members: vec!["true".to_owned()],
        });
        // Which of two that are ready is taken first is left to chance.
        for at in 0..24 {
            let name = format!("s1-{at}");
            let wanted = Wanted {
                step: &step,
                segments: &segments,
                supervisors: vec![Arc::clone(&supervisor); 2],
                launch: Launch::default(),
                hashed: false,
                expect: None,
                until: None,
                ok: &[],
                control: &control,
                teller: &teller,
                began: std::time::Instant::now(),
            };
            let plain = Launch::default();
            let entry = supervisor.enter(&name, "true", &plain).await.unwrap();
            let (talk, heard) = watch::channel(entry.says("started"));
            let fed = entry.says("fed");
            let mut both = Both {
                entry,
                sender: Arc::clone(&supervisor),
                names: [name.clone(), name],
                parts: Default::default(),
                trouble: None,
                suspected: None,
                patience: None,
                wanted: &wanted,
            };
            let (let_end, may_end) = tokio::sync::oneshot::channel::<()>();
            let first = tokio::spawn(async move {
                let _ = may_end.await;
                talk.send_modify(|said| said.extend(fed));
                Some(good())
            });
            let second = || {
                Ok(tokio::spawn(async move {
                    let _ = let_end.send(());
                    Some(good())
                }))
            };
            let sides = both.watch(first, second, heard).await.unwrap();
            assert!(sides.iter().all(Option::is_some));
            assert_eq!(both.trouble, None, "at {at}");
        }
    }
}
