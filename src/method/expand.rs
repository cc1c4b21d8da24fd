//! The steps of a binding, one for each item of what they are repeated over.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::Value;

use super::MethodError;
use super::bound::ExpandedStep;
use super::bound::{Bound, RunNames};
use super::model::{Each, Step};
use super::setting::SettingValue;
use crate::event::Labels;

impl Bound {
    /// The steps that apply, in the order in which they run. Those that stand together in a group go
    /// through their list together: all of them for one item, then all of them for the next.
    pub(super) fn expand(&self) -> Result<Vec<ExpandedStep>, MethodError> {
        let mut all = Vec::new();
        let mut steps = Vec::new();
        for step in &self.method.steps {
            if !self.holds(step, step.when.as_deref())? {
                continue;
            }
            let mut step = step.clone();
            for leaves in std::mem::take(&mut step.leaves) {
                if self.holds(&step, leaves.when.as_deref())? {
                    step.leaves.push(leaves);
                }
            }
            steps.push(Arc::new(step));
        }
        for together in steps.chunk_by(|a, b| are_together(a, b)) {
            let Some(each) = together.first().and_then(|step| step.each.as_ref()) else {
                all.extend(together.iter().map(once));
                continue;
            };
            let mut pauses = Vec::new();
            for step in together {
                pauses.push(self.pause(step)?);
            }
            for (at, item) in self.items(&each.of).into_iter().enumerate() {
                for (step, pause) in together.iter().zip(&pauses) {
                    let name = step.each.as_ref().map_or(&each.name, |each| &each.name);
                    all.push(ExpandedStep {
                        name: format!("{} {item}", step.name),
                        step: Arc::clone(step),
                        labels: Labels::from([(name.clone(), item.to_string())]),
                        item: Some((name.clone(), item.clone())),
                        pause: pause.filter(|_| at > 0),
                    });
                }
            }
        }
        Ok(all)
    }

    fn pause(&self, step: &Step) -> Result<Option<f64>, MethodError> {
        let Some(text) = step.each.as_ref().and_then(|each| each.pause.as_ref()) else {
            return Ok(None);
        };
        let context = self.head_context(&RunNames::unknown(&self.sandbox), &BTreeMap::new());
        let wrong = |why: String| self.wrong(step, format!("each.pause: {why}"));
        let filled = self.templates.text(text, &context).map_err(wrong)?;
        let pause = humantime::parse_duration(&filled);
        let pause = pause.map_err(|_| {
            wrong(format!(
                "expected a duration from 0 on, such as 2s, not {filled:?}; say another (comeback methods show {})",
                self.method.name
            ))
        })?;
        Ok(Some(pause.as_secs_f64()))
    }

    fn items(&self, of: &str) -> Vec<Value> {
        let count = |n: f64| (1..=n.max(0.0) as i64).map(Value::from).collect();
        match self.settings.get(of) {
            Some(SettingValue::List(all)) => all
                .iter()
                .map(|n| SettingValue::Number(*n).value())
                .collect(),
            Some(SettingValue::Number(n)) => count(*n),
            Some(_) => Vec::new(),
            None => count(of.parse().unwrap_or(0.0)),
        }
    }
}

fn once(step: &Arc<Step>) -> ExpandedStep {
    ExpandedStep {
        name: step.name.clone(),
        step: Arc::clone(step),
        item: None,
        labels: Labels::new(),
        pause: None,
    }
}

fn are_together(a: &Step, b: &Step) -> bool {
    let group = group_of(a);
    group.is_some() && group == group_of(b)
}

fn group_of(step: &Step) -> Option<(&str, &str)> {
    step.each.as_deref().and_then(Each::group)
}
