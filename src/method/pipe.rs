//! A pipe: on one role, or from one to the next.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::Step;
use super::action::Action;
use super::check::Known;
use crate::event::Clock;

/// A pipe.
#[derive(Debug, Clone)]
pub struct Pipe {
    /// Its commands; those that stand side by side on one role run as one pipe there.
    pub members: Vec<Member>,
    /// Whether the sha256 of what goes from one role to the next is taken, a template.
    pub hashed: Option<String>,
    /// How it goes from one role to the next, a template: `here`, through this machine, or
    /// `direct`, over SSH from the one to the other.
    pub via: Option<String>,
}

/// A member of a pipe.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Role; the step's where absent.
    pub on: Option<String>,
    /// Its command.
    pub run: String,
}

/// The figure of a pipe between roles: bytes that went from one to the next.
pub const THROUGH: &str = "through";

/// What a pipe between roles gives where it is hashed: the sha256 of these bytes.
pub const SHA256: &str = "sha256";

/// Why a direct pipe cannot have what counts or hashes it.
pub const UNSEEN: &str = "the bytes of a direct pipe do not come through this machine, which \
                          neither counts nor hashes them; use via = \"here\"";

impl Step {
    /// The roles that its commands run on.
    #[must_use]
    pub fn roles(&self) -> BTreeSet<&str> {
        match &self.action {
            Action::Pipe(pipe) => pipe
                .members
                .iter()
                .map(|member| member.on.as_ref().unwrap_or(&self.on).as_str())
                .collect(),
            _ => [self.on.as_str()].into(),
        }
    }

    /// Whether it is a pipe between roles.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        self.roles().len() > 1
    }
}

impl Known<'_> {
    pub(super) fn pipe(
        &self,
        step: &Step,
        pipe: &Pipe,
        names: &BTreeSet<String>,
    ) -> Result<(), String> {
        if pipe.members.len() < 2 {
            return Err("pipe: at least two commands are needed".to_owned());
        }
        for member in &pipe.members {
            if let Some(role) = member
                .on
                .as_ref()
                .filter(|r| !self.method.roles.contains(r))
            {
                return Err(format!("pipe: {role:?} is no role of this method"));
            }
            self.template("pipe", &member.run, names)?;
        }
        for (key, text) in [("hashed", &pipe.hashed), ("via", &pipe.via)] {
            text.iter()
                .try_for_each(|text| self.template(key, text, names))?;
        }
        let roles = step.roles();
        if roles.len() == 1 {
            return match pipe.hashed.as_ref().or(pipe.via.as_ref()) {
                Some(_) => Err("hashed and via are for a pipe between roles".to_owned()),
                None if roles.contains(step.on.as_str()) => Ok(()),
                None => Err(format!("pipe: no command of it is on {:?}", step.on)),
            };
        }
        if !roles.contains(step.on.as_str()) {
            return Err(format!(
                "pipe: no command of it is on {:?}; say on = \"ROLE\" of one that is in it",
                step.on
            ));
        }
        let last = pipe.members.last().and_then(|last| last.on.as_ref());
        let last = last.unwrap_or(&step.on);
        let marks = !step.leaves.is_empty() || step.destroys.is_some();
        if marks && *last != step.on {
            return Err(format!(
                "on: what a pipe between roles leaves or destroys is where its last command runs; \
                 say on = {last:?}"
            ));
        }
        let says = |text: &Option<String>, word| text.as_deref().map(str::trim) == Some(word);
        if says(&pipe.via, "direct") && says(&pipe.hashed, "true") {
            return Err(format!("hashed: {UNSEEN}"));
        }
        if says(&pipe.via, "direct") && step.until.is_some() {
            return Err(format!("until: {UNSEEN}"));
        }
        if step.background.is_some() {
            return Err("background: a pipe between roles ends before the next step".to_owned());
        }
        if step.watch.is_some() {
            return Err("watch: a pipe between roles is counted as it goes through".to_owned());
        }
        if step.clock.is_some_and(|clock| clock != Clock::Here) {
            return Err(
                "clock: two machines do a part of a pipe between roles each; its clock is \"here\""
                    .to_owned(),
            );
        }
        Ok(())
    }
}
