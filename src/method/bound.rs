//! A method bound to its hosts and values: what its templates see.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::Serde;

use super::template::{AGREED, Templates, unknown_value};
use super::{HostInfo, Method, MethodError, SettingValue, Step};
use crate::event::{Binding, Labels};

/// A method, ready to run but for what only a run knows.
#[derive(Clone)]
pub struct Bound {
    /// The method.
    pub method: Arc<Method>,
    /// The binding, as a recording tells it (its steps are filled in by a preview).
    pub binding: Binding,
    /// Values of its settings.
    pub settings: BTreeMap<String, SettingValue>,
    /// Role → host.
    pub hosts: BTreeMap<String, HostInfo>,
    /// Parent of its scratch folders.
    pub sandbox: String,
    /// Its steps: conditions decided, repetitions unrolled.
    pub steps: Vec<ExpandedStep>,
    /// How many runs the plan has that it is part of.
    pub runs: u32,
    /// How templates are filled in.
    pub templates: Templates,
}

/// A step of a binding.
#[derive(Debug, Clone)]
pub struct ExpandedStep {
    /// The step.
    pub step: Arc<Step>,
    /// Its name, with the iteration where there is one.
    pub name: String,
    /// The item of `each`.
    pub item: Option<(String, Value)>,
    /// Labels of its samples.
    pub labels: Labels,
    /// Seconds to wait before it.
    pub pause: Option<f64>,
}
impl Bound {
    /// The host of a role.
    #[must_use]
    pub fn host(&self, role: &str) -> &str {
        self.hosts
            .get(role)
            .map_or("local", |info| info.name.as_str())
    }

    pub(super) fn labels(&self) -> Result<Labels, MethodError> {
        let context = Value::from(self.base(&RunNames::unknown(&self.sandbox)));
        let fill = |(name, text): (&String, &String)| {
            let value = self
                .templates
                .text(text, &context)
                .map_err(|why| MethodError::Unfit {
                    method: self.method.name.clone(),
                    why: format!("labels.{name}: {why}"),
                })?;
            Ok((name.clone(), value))
        };
        self.method.labels.iter().map(fill).collect()
    }

    /// Bytes that the scratch folder must have free, for a subject of `bytes`.
    #[must_use]
    pub fn room(&self, bytes: u64) -> Option<u64> {
        self.room_of(self.method.room.as_ref()?, bytes)
    }

    /// The same for the host of another role.
    #[must_use]
    pub fn room_on(&self, role: &str, bytes: u64) -> Option<u64> {
        self.room_of(self.method.room_on.get(role)?, bytes)
    }

    fn room_of(&self, expression: &str, bytes: u64) -> Option<u64> {
        let mut context = self.base(&RunNames::unknown(&self.sandbox));
        context.insert("bytes".to_owned(), Value::from(bytes));
        let value = self.templates.expression(expression, &Value::from(context));
        value
            .ok()?
            .as_i64()
            .and_then(|room| u64::try_from(room).ok())
    }

    /// Whether a condition of a step holds: its own, or that of something in it.
    pub(super) fn holds(&self, step: &Step, when: Option<&str>) -> Result<bool, MethodError> {
        let Some(when) = when else {
            return Ok(true);
        };
        let context = self.context(
            &RunNames::unknown(&self.sandbox),
            &BTreeMap::new(),
            None,
            step,
        );
        let value = self
            .templates
            .expression(when, &context)
            .map_err(|why| self.wrong(step, format!("when: {why}")))?;
        Ok(value.is_true())
    }

    /// Whether something of the head is for this binding: its condition holds.
    ///
    /// # Errors
    /// Where the condition is wrong.
    pub fn needed(&self, when: Option<&str>) -> Result<bool, MethodError> {
        let Some(when) = when else { return Ok(true) };
        let context = Value::from(self.base(&RunNames::unknown(&self.sandbox)));
        self.templates
            .expression(when, &context)
            .map(|value| value.is_true())
            .map_err(|why| MethodError::Unfit {
                method: self.method.name.clone(),
                why: format!("when: {why}"),
            })
    }

    /// An error of a step's template.
    #[must_use]
    pub fn wrong(&self, step: &Step, why: String) -> MethodError {
        MethodError::Template {
            method: self.method.name.clone(),
            step: step.name.clone(),
            why,
        }
    }

    fn base(&self, names: &RunNames) -> BTreeMap<String, Value> {
        let mut all: BTreeMap<String, Value> = self
            .settings
            .iter()
            .map(|(name, value)| (name.clone(), value.value()))
            .collect();
        let mut put = |name: &str, value: Value| {
            all.insert(name.to_owned(), value);
        };
        let facts: BTreeMap<String, Value> = self
            .hosts
            .iter()
            .map(|(role, info)| {
                (
                    role.clone(),
                    Value::from(Serde(info.facts_with(&self.method.needs))),
                )
            })
            .collect();
        let of = |pick: fn(&HostInfo) -> String| -> Value {
            let all: BTreeMap<String, Value> = self
                .hosts
                .iter()
                .map(|(role, info)| (role.clone(), Value::from(pick(info))))
                .collect();
            Value::from(all)
        };
        put("facts", Value::from(facts));
        put(
            "address",
            of(|info| {
                info.address
                    .clone()
                    .unwrap_or_else(|| "127.0.0.1".to_owned())
            }),
        );
        put("user", of(|info| info.facts.user.clone()));
        put(
            "login",
            of(|info| {
                info.login
                    .as_ref()
                    .map_or_else(|| info.facts.user.clone(), |(user, _)| user.clone())
            }),
        );
        put(
            "ssh_port",
            of(|info| {
                info.login
                    .as_ref()
                    .map_or(22, |(_, port)| *port)
                    .to_string()
            }),
        );
        put("runs", Value::from(self.runs));
        put("session", names.session.clone());
        put("run", names.run.clone());
        put("id", names.id.clone());
        put("rep", names.rep.clone());
        put("box", Value::from(names.scratch.clone()));
        put("sandbox", Value::from(self.sandbox.clone()));
        // Nobody has been asked before there is a run, which puts its own in this place.
        put(AGREED, unknown_value(AGREED));
        put("own", Value::from(self.binding.subject.own));
        put("kind", Value::from(self.binding.subject.kind.clone()));
        let subject = if self.binding.subject.own {
            format!("{}/data", names.scratch)
        } else {
            self.binding.subject.id.clone()
        };
        put("subject", Value::from(subject.clone()));
        put("vmid", Value::from(subject));
        all
    }

    /// What templates outside of steps may use: of a look ahead, or of a pool, which may be
    /// given more.
    #[must_use]
    pub fn head_context(&self, names: &RunNames, with: &BTreeMap<String, String>) -> Value {
        Value::from(self.within(self.named(self.base(names)), with))
    }

    /// All that a step's templates may use.
    #[must_use]
    pub fn context(
        &self,
        names: &RunNames,
        values: &BTreeMap<String, Value>,
        item: Option<&(String, Value)>,
        step: &Step,
    ) -> Value {
        let mut all = self.base(names);
        all.extend(
            values
                .iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        if let Some((name, value)) = item {
            all.insert(name.clone(), value.clone());
        }
        Value::from(self.within(self.named(all), &step.with))
    }

    /// With the names that the method gives itself.
    fn named(&self, all: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
        self.within(all, &self.method.names)
    }

    /// With these beside, each made from what was there before.
    fn within(
        &self,
        mut all: BTreeMap<String, Value>,
        with: &BTreeMap<String, String>,
    ) -> BTreeMap<String, Value> {
        let outer = Value::from(all.clone());
        for (name, source) in with {
            // Checked when the file was loaded; what cannot be filled in yet is marked.
            let value = self
                .templates
                .text(source, &outer)
                .map_or_else(|_| unknown_value(name), Value::from);
            all.insert(name.clone(), value);
        }
        all
    }
}

/// Names that only a run knows.
#[derive(Debug, Clone)]
pub struct RunNames {
    session: Value,
    run: Value,
    id: Value,
    rep: Value,
    scratch: String,
}

impl RunNames {
    /// Of a run. Its scratch folder and its `id` are unique to session and run.
    #[must_use]
    pub fn new(session: &str, run: &str, rep: u32, sandbox: &str) -> Self {
        Self {
            session: Value::from(session),
            run: Value::from(run),
            id: Value::from(format!("{session}-{run}")),
            rep: Value::from(rep),
            scratch: format!("{}/comeback-{session}-{run}", sandbox.trim_end_matches('/')),
        }
    }

    /// Before there is a run.
    #[must_use]
    pub fn unknown(sandbox: &str) -> Self {
        Self {
            session: unknown_value("session"),
            run: unknown_value("run"),
            id: unknown_value("id"),
            rep: unknown_value("rep"),
            scratch: format!("{}/comeback-‹session›-‹run›", sandbox.trim_end_matches('/')),
        }
    }

    /// The run's scratch folder.
    #[must_use]
    pub fn scratch(&self) -> &str {
        &self.scratch
    }
}
