//! The steps of a method, checked in their order: each uses what is known where it stands.

use std::collections::{BTreeMap, BTreeSet};

use super::SubjectKind;
use super::action::{Action, Payload, WaitFor};
use super::head::check_setting_name;
use super::model::{Method, Step};
use super::names::Names;
use super::pipe::{SHA256, THROUGH};
use super::template::{AGREED, FOUND, Templates};
use crate::event::{Clock, LeaveKind, Phase};
use crate::progress;

/// Names that every template may use.
pub(super) const GIVEN: [&str; 15] = [
    "session", "run", "id", "rep", "sandbox", "box", "subject", "kind", "own", "facts", "address",
    "user", "login", "ssh_port", "runs",
];

/// What is known at a step: names, leaves, proofs.
pub(super) struct Known<'a> {
    pub(super) templates: Templates,
    pub(super) method: &'a Method,
    names: BTreeSet<String>,
    own_names: Names,
    secrets: BTreeSet<String>,
    steps: BTreeMap<String, bool>,
    leaves: BTreeSet<String>,
    copies: BTreeSet<String>,
    proved: BTreeSet<String>,
    hashes: BTreeSet<String>,
}

impl<'a> Known<'a> {
    pub(super) fn new(method: &'a Method) -> Result<Self, String> {
        let mut names: BTreeSet<String> = GIVEN.iter().map(ToString::to_string).collect();
        names.extend(method.settings.keys().cloned());
        names.insert(AGREED.to_owned());
        if matches!(method.subject, SubjectKind::Vm | SubjectKind::Ct) {
            names.insert("vmid".to_owned());
        }
        let templates = Templates::default();
        Ok(Self {
            own_names: Names::new(method, &templates)?,
            templates,
            method,
            names,
            secrets: BTreeSet::new(),
            steps: BTreeMap::new(),
            leaves: BTreeSet::new(),
            copies: BTreeSet::new(),
            proved: BTreeSet::new(),
            hashes: BTreeSet::new(),
        })
    }

    pub(super) fn step(&mut self, step: &Step) -> Result<(), String> {
        if self.steps.contains_key(&step.name) {
            return Err("another step has this name".to_owned());
        }
        if !self.method.roles.contains(&step.on) {
            return Err(format!("on: {:?} is no role of this method", step.on));
        }
        let mut local = self.names.clone();
        local.extend(self.own_names.known(&self.names));
        for value in step.with.values() {
            self.template("with", value, &local)?;
        }
        local.extend(step.with.keys().cloned());
        if let Some(each) = &step.each {
            if !self.method.settings.contains_key(&each.of) && each.of.parse::<u32>().is_err() {
                return Err(format!(
                    "each: {:?} is neither a setting nor a number",
                    each.of
                ));
            }
            local.insert(each.name.clone());
        }
        self.when(step.when.as_deref(), &step.with)?;
        self.action(step, &local)?;
        super::timed::check(step)?;
        Self::reads(step)?;
        self.leaves(step, &local)?;
        if let Some(stdin) = &step.stdin {
            let mut with_secrets = local.clone();
            with_secrets.extend(self.secrets.iter().cloned());
            with_secrets.extend(step.secret.iter().map(|secret| secret.name.clone()));
            self.template("stdin", stdin, &with_secrets)?;
        }
        self.guard(step, &local)?;
        if let Some(series) = &step.series {
            let mut after = local.clone();
            after.extend(step.gives.keys().cloned());
            self.template("series", series, &after)?;
        }
        if step.moves.is_some() && step.clock.is_none() {
            return Err("moves: a rate is of a step with a clock".to_owned());
        }
        for (key, text) in [
            ("expect", step.expect.as_ref()),
            ("moves", step.moves.as_ref()),
            ("watch", step.watch.as_ref().map(|watch| &watch.run)),
        ] {
            text.map_or(Ok(()), |text| self.template(key, text, &local))?;
        }
        let watched = step.watch.iter().filter_map(|watch| watch.on.as_ref());
        if let Some(role) = { watched }.find(|role| !self.method.roles.contains(role)) {
            return Err(format!("watch: {role:?} is no role of this method"));
        }
        if let Some(until) = &step.until {
            self.template("until", &until.bytes, &local)?;
        }
        self.secrets
            .extend(step.secret.iter().map(|secret| secret.name.clone()));
        self.names.extend(step.gives.keys().cloned());
        self.steps
            .insert(step.name.clone(), step.background.is_some());
        Ok(())
    }

    // Of what is told at the end: all that steps give is known.
    pub(super) fn series(&self, series: Option<&String>) -> Result<(), String> {
        series.map_or(Ok(()), |series| {
            self.template("series", series, &self.names)
        })
    }

    // Decided in the plan: by settings and facts, and what a fragment is given.
    pub(super) fn when(
        &self,
        when: Option<&str>,
        with: &BTreeMap<String, String>,
    ) -> Result<(), String> {
        let Some(when) = when else { return Ok(()) };
        let names = self.templates.expression_names(when);
        let names = names.map_err(|why| format!("when: {why}"))?;
        let allowed = |name: &String| {
            self.method.settings.contains_key(name)
                || with.contains_key(name)
                || ["facts", "own", "kind"].contains(&name.as_str())
        };
        match names.iter().find(|name| !allowed(name)) {
            Some(name) => Err(format!("when: {name:?} is neither a setting nor a fact")),
            None => Ok(()),
        }
    }

    pub(super) fn template(
        &self,
        key: &str,
        source: &str,
        names: &BTreeSet<String>,
    ) -> Result<(), String> {
        let used = self
            .templates
            .names(source)
            .map_err(|why| format!("{key}: {why}"))?;
        match used.into_iter().find(|name| !names.contains(name)) {
            None => Ok(()),
            Some(name) if self.secrets.contains(&name) => Err(format!(
                "{key}: {name:?} is a secret; only stdin may use it"
            )),
            Some(name) => Err(format!("{key}: {name:?} is used before it is given")),
        }
    }

    fn action(&mut self, step: &Step, names: &BTreeSet<String>) -> Result<(), String> {
        match &step.action {
            Action::Run(run) if run.trim().is_empty() => Err("run: there is no command".to_owned()),
            Action::Run(run) => self.template("run", run, names),
            Action::Pipe(pipe) => self.pipe(step, pipe, names),
            Action::Wait(wait) => match &wait.what {
                WaitFor::Port { port, .. } => self.template("wait.port", port, names),
                WaitFor::Until(until) => self.template("wait.until", until, names),
                WaitFor::Time(_) => Ok(()),
            },
            Action::Hash(hash) => {
                self.template("hash", &hash.path, names)?;
                if let Some(share) = &hash.share {
                    self.template("hash.share", share, names)?;
                }
                match &hash.keep {
                    Ok(name) => {
                        self.hashes.insert(name.clone());
                    }
                    Err(name) if !self.hashes.contains(name) => {
                        return Err(format!("hash.like: no earlier step keeps {name:?}"));
                    }
                    Err(_) => {}
                }
                Ok(())
            }
            Action::Space(space) => {
                let texts = [&space.settle, &space.logical, &space.stored, &space.held];
                texts
                    .into_iter()
                    .flatten()
                    .try_for_each(|text| self.template("space", text, names))
            }
            Action::Payload(Payload::Tree { path, size, files }) => [path, size, files]
                .into_iter()
                .try_for_each(|text| self.template("payload", text, names)),
            Action::Payload(Payload::Change { path, .. }) => self.template("payload", path, names),
            Action::Join(name) => match self.steps.get(name) {
                Some(true) => Ok(()),
                _ => Err(format!("join: {name:?} is no earlier background step")),
            },
        }
    }

    fn reads(step: &Step) -> Result<(), String> {
        if let Some(reader) = &step.reads
            && !progress::known().contains(&reader.as_str())
        {
            return Err(format!(
                "reads: no parser is called {reader:?}; there are: {}",
                progress::known().join(", ")
            ));
        }
        let mut known = step
            .reads
            .as_deref()
            .map_or_else(Vec::new, |reader| progress::figures(reader).to_vec());
        if step.is_stream() {
            known.push(THROUGH);
        }
        if let Some(figure) = step
            .figures
            .iter()
            .find(|name| !known.contains(&name.as_str()))
        {
            return Err(format!(
                "figures: its parser finds no {figure:?}; it finds {}",
                known.join(", ")
            ));
        }
        for (name, from) in &step.gives {
            // The number of a guest of one's own is known once it is chosen.
            if name != "vmid" {
                check_setting_name(name).map_err(|why| format!("gives: {why}"))?;
            }
            let hashed = matches!(step.action, Action::Hash(_));
            if hashed && ["hash.bytes", "hash.files"].contains(&from.as_str()) {
                continue;
            }
            if !hashed && from == "stdout" {
                continue;
            }
            if step.clock == Some(Clock::Task) && ["task", "node"].contains(&from.as_str()) {
                continue;
            }
            let sum = matches!(&step.action, Action::Pipe(pipe) if pipe.hashed.is_some());
            if from == SHA256 && sum {
                continue;
            }
            let fits = from.split_once('.').is_some_and(|(reader, value)| {
                step.reads.as_deref() == Some(reader) && progress::gives(reader).contains(&value)
            });
            if !fits {
                return Err(format!(
                    "gives.{name}: expected \"stdout\" or \"PARSER.VALUE\" of this step's parser, not {from:?}"
                ));
            }
        }
        Ok(())
    }

    fn leaves(&mut self, step: &Step, names: &BTreeSet<String>) -> Result<(), String> {
        for leaves in &step.leaves {
            if self.leaves.contains(&leaves.id) {
                return Err(format!("leaves: another step leaves {:?}", leaves.id));
            }
            if leaves.find.trim().is_empty() || leaves.undo.trim().is_empty() {
                return Err(format!(
                    "leaves: {:?} cannot be found or undone again; it needs find and undo",
                    leaves.id
                ));
            }
            self.when(leaves.when.as_deref(), &step.with)
                .map_err(|why| format!("leaves: {why}"))?;
            // Found again by what was known before the step, also after a crash.
            self.template("leaves.find", &leaves.find, names)?;
            let mut undo = names.clone();
            undo.insert(FOUND.to_owned());
            self.template("leaves.undo", &leaves.undo, &undo)?;
            if let Some(back) = &leaves.back {
                self.template("leaves.back", back, &undo)?;
            }
            self.leaves.insert(leaves.id.clone());
            if leaves.kind == LeaveKind::Copy {
                self.copies.insert(leaves.id.clone());
            }
        }
        if let Some(id) = step.undoes.as_ref().filter(|id| !self.leaves.contains(*id)) {
            return Err(format!("undoes: no step before leaves {id:?}"));
        }
        Ok(())
    }

    fn guard(&mut self, step: &Step, names: &BTreeSet<String>) -> Result<(), String> {
        if let Some(id) = &step.proves {
            if !self.leaves.contains(id) {
                return Err(format!("proves: no step before leaves {id:?}"));
            }
            if !self.copies.contains(id) {
                return Err(format!("proves: {id:?} is no copy (kind = \"copy\")"));
            }
            self.proved.insert(id.clone());
        }
        if let Some(destroys) = &step.destroys {
            self.template("destroys", &destroys.what, names)?;
            if destroys.unproved && destroys.relies_on.is_none() {
                return Err("destroys.unproved: of which copy? It needs relies-on".to_owned());
            }
            if let Some(id) = &destroys.relies_on {
                if !self.leaves.contains(id) {
                    return Err(format!("destroys.relies-on: no step before leaves {id:?}"));
                }
                if destroys.unproved && !self.copies.contains(id) {
                    return Err(format!(
                        "destroys.relies-on: {id:?} is no copy (kind = \"copy\")"
                    ));
                }
                if !destroys.unproved && !self.proved.contains(id) {
                    return Err(format!("destroys.relies-on: no step before proves {id:?}"));
                }
            }
        } else if step.phase == Phase::Damage
            && matches!(step.action, Action::Run(_) | Action::Pipe(_))
        {
            return Err("a command in phase damage says what it destroys".to_owned());
        } else if matches!(step.action, Action::Payload(Payload::Change { .. })) {
            return Err("a change set says what it destroys".to_owned());
        }
        Ok(())
    }
}
