//! A method file, checked when it is loaded: what is wrong is said before anything runs.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use super::action::{Action, Payload, WaitFor};
use super::fragment::{self, Fragments, line_of};
use super::model::{Method, MethodDef, Need, Step};
use super::names::Names;
use super::pipe::{SHA256, THROUGH};
use super::template::{FOUND, Templates};
use super::typed::typed;
use super::{MethodError, SubjectKind};
use crate::event::{Clock, LeaveKind, Phase};
use crate::progress;

/// Names that every template may use.
pub(super) const GIVEN: [&str; 14] = [
    "session", "run", "id", "rep", "sandbox", "box", "subject", "kind", "own", "facts", "address",
    "user", "login", "ssh_port",
];

/// A TOML error with its line.
pub(super) fn toml_error(file: &str, text: &str, why: &toml::de::Error) -> MethodError {
    let line = why.span().map_or(1, |span| line_of(text, span.start));
    MethodError::Wrong {
        file: file.to_owned(),
        line,
        why: why.message().replace('\n', "; "),
    }
}

/// Reads and checks one file.
pub(super) fn load(
    name: &str,
    file: &str,
    text: &str,
    fragments: &Fragments,
) -> Result<Method, MethodError> {
    let def: MethodDef = toml::from_str(text).map_err(|why| toml_error(file, text, &why))?;
    let placed = fragment::steps(file, text, def.step, fragments)?;
    let pools = fragment::pools(file, text, def.pool, fragments)?;
    let checks = fragment::checks(file, text, def.check, fragments)?;
    let placement = fragment::placement(file, text, def.placement, fragments)?;
    let roles = def.roles;
    let first_role = roles.first().cloned().unwrap_or_default();
    let mut steps = Vec::new();
    for step in placed {
        let def = typed(&step, &first_role).map_err(|why| step.wrong(why))?;
        steps.push((def, step.file));
    }
    let lines = Lines { text, file };
    let method = Method {
        name: name.to_owned(),
        title: def.title,
        family: def.family,
        help: def.help,
        subject: def.subject,
        own: def.own,
        roles,
        needs: def.needs.into_iter().map(|need| need.0).collect(),
        series: def.series,
        settings: def
            .settings
            .iter()
            .map(|(k, v)| (k.clone(), v.get_ref().clone()))
            .collect(),
        names: def.names,
        steps: steps.iter().map(|(step, _)| step.clone()).collect(),
        clocks: def
            .clock
            .iter()
            .map(|clock| clock.get_ref().clone())
            .collect(),
        figures: def
            .figure
            .iter()
            .map(|figure| figure.get_ref().clone())
            .collect(),
        checks: checks.iter().map(|check| check.def.clone()).collect(),
        pools: pools.iter().map(|pool| pool.def.clone()).collect(),
        labels: def.labels,
        room: def.room,
        room_on: def.room_on,
        thick: def.thick,
        placement: placement.as_ref().map(|placement| placement.def.clone()),
    };
    check_head(&method).map_err(|why| lines.top(why))?;
    for (name, setting) in &def.settings {
        check_setting_name(name).map_err(|why| lines.at(setting, format!("setting {why}")))?;
    }
    let mut known = Known::new(&method).map_err(|why| lines.top(why))?;
    for (step, at_file) in &steps {
        known.step(step).map_err(|why| MethodError::Wrong {
            file: at_file.clone(),
            line: step.line,
            why: format!("step {:?}: {why}", step.name),
        })?;
    }
    for clock in &def.clock {
        check_clock(&method, clock.get_ref()).map_err(|why| lines.at(clock, why))?;
    }
    for check in &checks {
        let checked = check.def.check(&method, &known.templates);
        checked.map_err(|why| check.wrong(format!("check: {why}")))?;
    }
    if let Some(placement) = &placement {
        let checked = placement.def.check(&method, &known.templates);
        checked.map_err(|why| placement.wrong(format!("placement: {why}")))?;
    }
    for pool in &pools {
        let checked = pool.def.check(&method, &known.templates);
        checked.map_err(|why| pool.wrong(format!("pool {:?}: {why}", pool.def.name)))?;
    }
    for figure in &def.figure {
        let names = known.templates.expression_names(&figure.get_ref().value);
        names.map_err(|why| lines.at(figure, format!("value: {why}")))?;
        let when = figure.get_ref().when.as_deref();
        known
            .when(when, &BTreeMap::new())
            .map_err(|why| lines.at(figure, why))?;
    }
    Ok(method)
}

struct Lines<'a> {
    text: &'a str,
    file: &'a str,
}

impl Lines<'_> {
    fn at<T>(&self, what: &Spanned<T>, why: String) -> MethodError {
        let line = line_of(self.text, what.span().start);
        MethodError::Wrong {
            file: self.file.to_owned(),
            line,
            why,
        }
    }

    fn top(&self, why: String) -> MethodError {
        MethodError::Wrong {
            file: self.file.to_owned(),
            line: 1,
            why,
        }
    }
}

fn check_head(method: &Method) -> Result<(), String> {
    const ROLES: [&str; 6] = ["source", "target", "server", "client", "guest", "here"];
    if method.roles.is_empty() {
        return Err("roles: at least one is needed".to_owned());
    }
    if let Some(role) = method
        .roles
        .iter()
        .find(|role| !ROLES.contains(&role.as_str()))
    {
        return Err(format!(
            "roles: unknown role {role:?}; expected one of {}",
            ROLES.join(", ")
        ));
    }
    if method.steps.is_empty() {
        return Err("a method needs at least one [[step]]".to_owned());
    }
    let templates = Templates::default();
    if let Some(role) = method
        .room_on
        .keys()
        .find(|role| !method.roles.iter().skip(1).any(|known| known == *role))
    {
        return Err(format!("room-on: {role:?} is no other role of this method"));
    }
    for room in method.room.iter().chain(method.room_on.values()) {
        let names = templates
            .expression_names(room)
            .map_err(|why| format!("room: {why}"))?;
        let known = |name: &String| {
            ["bytes", "own"].contains(&name.as_str()) || method.settings.contains_key(name)
        };
        if let Some(name) = names.iter().find(|name| !known(name)) {
            return Err(format!(
                "room: {name:?} is neither a setting nor bytes nor own"
            ));
        }
    }
    for (label, text) in &method.labels {
        let names = templates
            .names(text)
            .map_err(|why| format!("labels.{label}: {why}"))?;
        let known = |name: &String| {
            ["facts", "own"].contains(&name.as_str()) || method.settings.contains_key(name)
        };
        if let Some(name) = names.iter().find(|name| !known(name)) {
            return Err(format!(
                "labels.{label}: {name:?} is neither a setting nor a fact nor own"
            ));
        }
    }
    if let Some(need) = method.needs.iter().find(|need| !role_known(method, need)) {
        return Err(format!("needs: {} is on no role of this method", need.tool));
    }
    Ok(())
}

fn role_known(method: &Method, need: &Need) -> bool {
    need.on
        .as_ref()
        .is_none_or(|role| method.roles.contains(role))
}

pub(super) fn check_setting_name(name: &str) -> Result<(), String> {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !plain {
        return Err(format!("{name:?}: expected small letters, digits and _"));
    }
    if GIVEN.contains(&name) || name == FOUND || name == "vmid" {
        return Err(format!("{name:?}: this name has a meaning of its own"));
    }
    Ok(())
}

fn check_clock(method: &Method, clock: &super::ClockDef) -> Result<(), String> {
    for end in [&clock.from, &clock.to] {
        let fits = method.steps.iter().any(|step| {
            end.strip_prefix(step.name.as_str())
                .is_some_and(|rest| rest.starts_with(' '))
        });
        if !fits {
            return Err(format!(
                "clock {:?}: {end:?} names no step; expected \"STEP start\", \"STEP end\" or \"STEP MARK\"",
                clock.name
            ));
        }
    }
    Ok(())
}

/// What is known at a step: names, leaves, proofs.
pub(super) struct Known<'a> {
    templates: Templates,
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
    fn new(method: &'a Method) -> Result<Self, String> {
        let mut names: BTreeSet<String> = GIVEN.iter().map(ToString::to_string).collect();
        names.extend(method.settings.keys().cloned());
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

    fn step(&mut self, step: &Step) -> Result<(), String> {
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

    // Decided in the plan: by settings and facts, and what a fragment is given.
    fn when(&self, when: Option<&str>, with: &BTreeMap<String, String>) -> Result<(), String> {
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
            // Found again by what was known before the step, also after a crash.
            self.template("leaves.find", &leaves.find, names)?;
            let mut undo = names.clone();
            undo.insert(FOUND.to_owned());
            self.template("leaves.undo", &leaves.undo, &undo)?;
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
