//! The shell texts that run on hosts, with their variables set: the only place where a value
//! becomes shell.

const ENVIRONMENT: &str = include_str!("environment.sh");
pub(super) const BECOME: &str = include_str!("become.sh");
pub(super) const COMMON: &str = include_str!("common.sh");
pub(super) const MEMBERS: &str = include_str!("members.sh");
pub(super) const CONTROL: &str = include_str!("control.sh");
pub(super) const CLOCK: &str = include_str!("clock.sh");
pub(super) const PREPARE: &str = include_str!("prepare.sh");
pub(super) const STAGE: &str = include_str!("stage.sh");
pub(super) const STREAM: &str = include_str!("stream.sh");
pub(super) const ENTER: &str = include_str!("enter.sh");
pub(super) const SENDERS: &str = include_str!("senders.sh");
pub(super) const WHOLE: &str = include_str!("whole.sh");
pub(super) const LAUNCH: &str = include_str!("launch.sh");
pub(super) const ATTACH: &str = include_str!("attach.sh");
pub(super) const FOLLOW: &str = include_str!("follow.sh");
pub(super) const FETCH: &str = include_str!("fetch.sh");
pub(super) const STOP: &str = include_str!("stop.sh");
pub(super) const KEEPER: &str = include_str!("keeper.sh");
pub(super) const LIST: &str = include_str!("list.sh");
pub(super) const FACTS: &str = include_str!("facts.sh");
pub(super) const FINISH: &str = include_str!("finish.sh");
pub(super) const RUN: &str = include_str!("run.sh");

/// A script behind what it needs of its environment: what every host runs.
pub(super) fn with_environment(script: &str) -> String {
    format!("{ENVIRONMENT}{script}")
}

/// Variables of a script, each quoted.
#[derive(Debug, Clone, Default)]
pub(super) struct Vars(String);

impl Vars {
    /// Sets a variable.
    ///
    /// # Errors
    /// Where the value holds a NUL byte: no shell can.
    pub(super) fn set(mut self, name: &str, value: &str) -> Result<Self, shlex::QuoteError> {
        let value = shlex::try_quote(value)?;
        self.0.push_str(name);
        self.0.push('=');
        self.0.push_str(&value);
        self.0.push('\n');
        Ok(self)
    }

    /// Sets a word that needs no quotes.
    pub(super) fn word(mut self, name: &str, value: &'static str) -> Self {
        self.0.push_str(name);
        self.0.push('=');
        self.0.push_str(value);
        self.0.push('\n');
        self
    }

    /// Sets a number.
    pub(super) fn number(mut self, name: &str, value: u64) -> Self {
        self.0.push_str(name);
        self.0.push('=');
        self.0.push_str(&value.to_string());
        self.0.push('\n');
        self
    }

    /// The whole script.
    pub(super) fn script(&self, parts: &[&str]) -> String {
        let mut script = self.0.clone();
        for part in parts {
            script.push_str(part);
        }
        script
    }
}
