//! A host for tests: it says what it was told to say, by tokio's clock, which may stand still.
//!
//! Attached scripts are answered by rules on their text. Steps of a
//! [`Supervisor`](super::supervisor::Supervisor) are answered by rules on their command: this
//! host speaks the supervisor's side, so that order, stalls, lost connections and rare outcomes
//! can be tried in no time. The program itself never uses it.

mod play;
mod step;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use regex::Regex;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use self::step::Step;
use super::{Channel, Host, HostError};

/// What happens next in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Nothing, for so long.
    Wait(Duration),
    /// Bytes on standard output.
    Out(Vec<u8>),
    /// Bytes on standard error.
    Err(Vec<u8>),
    /// The connection to the host is lost, and cannot be had again for so long. A step goes on.
    LoseLink(Duration),
    /// Its end. A pipe has a status for each member.
    Exit(Vec<i32>),
    /// Its end without a status: killed, or the machine was.
    Vanish,
}

impl Act {
    /// A line of standard output.
    #[must_use]
    pub fn line(text: &str) -> Self {
        Self::Out(format!("{text}\n").into_bytes())
    }

    /// So many seconds of nothing.
    #[must_use]
    pub fn wait(seconds: f64) -> Self {
        Self::Wait(Duration::from_secs_f64(seconds))
    }

    /// An end with one status.
    #[must_use]
    pub fn exit(status: i32) -> Self {
        Self::Exit(vec![status])
    }
}

/// What the host was asked to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The step's command, or the attached script.
    pub text: String,
    /// What it was given to read.
    pub stdin: Vec<u8>,
}

/// A host that says what it was told to say.
#[derive(Clone)]
pub struct ScriptedHost {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    /// When it was made: its clock and its uptime begin here.
    begun: Instant,
    /// How often the connection was lost, and whether it can be had.
    link: watch::Sender<Link>,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    up: bool,
    lost: u64,
}

#[derive(Default)]
struct State {
    scripts: Vec<Rule>,
    commands: Vec<Rule>,
    facts: String,
    /// By token.
    steps: HashMap<String, Step>,
    kept: bool,
    seen_scripts: Vec<Seen>,
    seen_commands: Vec<Seen>,
}

struct Rule {
    when: Regex,
    acts: Vec<Act>,
    /// How often it still answers; always, where absent.
    left: Option<u32>,
}

impl ScriptedHost {
    /// A host of that name, with no rule yet.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            inner: Arc::new(Inner {
                name: name.to_owned(),
                begun: Instant::now(),
                link: watch::channel(Link { up: true, lost: 0 }).0,
                state: Mutex::default(),
            }),
        }
    }

    /// Answers attached scripts whose text matches. The first rule that matches and still
    /// answers is taken; a script without one ends with status 127.
    ///
    /// # Errors
    /// Where the pattern is none.
    pub fn on(&self, pattern: &str, acts: Vec<Act>) -> Result<(), regex::Error> {
        let rule = rule(pattern, acts, None)?;
        self.inner.with(|state| state.scripts.push(rule));
        Ok(())
    }

    /// Answers steps whose command matches. One without a rule is refused.
    ///
    /// # Errors
    /// Where the pattern is none.
    pub fn step(&self, pattern: &str, acts: Vec<Act>) -> Result<(), regex::Error> {
        let rule = rule(pattern, acts, None)?;
        self.inner.with(|state| state.commands.push(rule));
        Ok(())
    }

    /// The same, so often only: then later rules have their turn.
    ///
    /// # Errors
    /// Where the pattern is none.
    pub fn step_times(
        &self,
        times: u32,
        pattern: &str,
        acts: Vec<Act>,
    ) -> Result<(), regex::Error> {
        let rule = rule(pattern, acts, Some(times))?;
        self.inner.with(|state| state.commands.push(rule));
        Ok(())
    }

    /// What it says of itself to [`probe`](super::facts::probe): lines as `tool tar tar (GNU
    /// tar) 1.34`, without a mark.
    pub fn facts(&self, lines: &str) {
        self.inner.with(|state| lines.clone_into(&mut state.facts));
    }

    /// Cuts all connections; none can be had before [`mend`](Self::mend).
    pub fn cut(&self) {
        self.inner.cut();
    }

    /// Lets connections be had again.
    pub fn mend(&self) {
        self.inner.mend();
    }

    /// Commands of steps that were begun, in their order.
    #[must_use]
    pub fn commands(&self) -> Vec<Seen> {
        self.inner.with(|state| state.seen_commands.clone())
    }

    /// Attached scripts that were run, in their order.
    #[must_use]
    pub fn scripts(&self) -> Vec<Seen> {
        self.inner.with(|state| state.seen_scripts.clone())
    }
}

fn rule(pattern: &str, acts: Vec<Act>, left: Option<u32>) -> Result<Rule, regex::Error> {
    Ok(Rule {
        when: Regex::new(pattern)?,
        acts,
        left,
    })
}

/// The acts of the first rule that answers.
fn answer(rules: &mut [Rule], text: &str) -> Option<Vec<Act>> {
    let rule = rules
        .iter_mut()
        .find(|rule| rule.left != Some(0) && rule.when.is_match(text))?;
    if let Some(left) = &mut rule.left {
        *left -= 1;
    }
    Some(rule.acts.clone())
}

impl Inner {
    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn cut(&self) {
        self.link.send_modify(|link| {
            link.up = false;
            link.lost += 1;
        });
    }

    fn mend(&self) {
        self.link.send_modify(|link| link.up = true);
    }
}

impl Host for ScriptedHost {
    fn name(&self) -> &str {
        &self.inner.name
    }

    fn address(&self) -> Option<String> {
        Some(format!("{}.test", self.inner.name))
    }

    fn exec<'a>(&'a self, script: &'a str) -> BoxFuture<'a, Result<Channel, HostError>> {
        async move {
            let mut link = self.inner.link.subscribe();
            let Link { up, lost } = *link.borrow_and_update();
            if !up {
                return Err(HostError::Down {
                    host: self.inner.name.clone(),
                    phase: "connect",
                    why: "it was told to be down".to_owned(),
                });
            }
            let (near, far) = tokio::io::duplex(64 * 1024);
            let (said, output) = mpsc::channel(64);
            let inner = Arc::clone(&self.inner);
            let script = script.to_owned();
            tokio::spawn(async move {
                tokio::select! {
                    () = play::play(&inner, &script, far, &said) => {}
                    _ = link.wait_for(|link| link.lost > lost) => {}
                    () = said.closed() => {}
                }
            });
            Ok(Channel {
                stdin: Box::new(near),
                output,
            })
        }
        .boxed()
    }
}
