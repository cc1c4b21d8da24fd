//! Samples of a run: of its steps, between them, and computed from figures.

use std::collections::BTreeMap;

use minijinja::Value;

use crate::event::{Clock, Labels, Sample, StepId, What};
use crate::method::ExpandedStep;
use crate::session::as_told;

use super::acted::Acted;
use super::preview::Filling;
use super::run::Run;

impl Run<'_> {
    /// Tells the samples of a step that ended well.
    pub fn samples(&mut self, step: &ExpandedStep, id: &StepId, acted: &Acted) {
        let series = self.series_of(step);
        let end = &acted.end;
        let sample = |name: String, value: f64, unit: &str| Sample {
            run: self.planned.run.clone(),
            step: Some(id.clone()),
            name,
            series: series.clone(),
            value,
            unit: unit.to_owned(),
            clock: None,
            resolution: 0.0,
            labels: step.labels.clone(),
        };
        let own = plain(&step.name);
        if let Some(seconds) = end.seconds {
            self.figures.insert(format!("{own}_seconds"), seconds);
        }
        // What was to be measured beside a load that is over, was not.
        if let (Some(_), Some(seconds), false) = (step.step.clock, end.seconds, self.load_is_over())
        {
            let mut timed = vec![Sample {
                clock: end.clock,
                resolution: end.resolution,
                ..sample(step.step.name.clone(), seconds, "s")
            }];
            timed.extend(acted.finer.map(|(seconds, resolution)| Sample {
                clock: Some(Clock::Host),
                resolution,
                ..sample(step.step.name.clone(), seconds, "s")
            }));
            let rates = self.rates(step, acted, seconds);
            timed.extend(
                rates
                    .into_iter()
                    .map(|(name, rate)| sample(name, rate, "B/s")),
            );
            self.tell_timed(step, acted, timed);
        }
        for (name, value, unit, resolution) in &acted.figures {
            self.figures
                .insert(format!("{own}_{}", plain(name)), *value);
            self.figures.insert(plain(name), *value);
            if !step.step.figures.contains(name) {
                continue;
            }
            self.shared.teller.tell(What::Sample(Sample {
                clock: (*unit == "s").then_some(Clock::Log),
                resolution: *resolution,
                ..sample(name.replace('_', " "), *value, unit)
            }));
        }
    }

    // By own bytes and own time; and as its tool tells.
    fn rates(&self, step: &ExpandedStep, acted: &Acted, seconds: f64) -> Vec<(String, f64)> {
        let Some(moves) = step.step.moves.as_ref().filter(|_| seconds > 0.0) else {
            return Vec::new();
        };
        let context = self.context(step);
        let filling = Filling {
            bound: self.bound,
            step,
            context: &context,
        };
        let mut figures = acted.figures.iter();
        let told = figures.find(|(figure, _, unit, _)| figure == moves && unit == "B");
        let bytes = match told {
            Some((_, bytes, ..)) => *bytes,
            None => filling.number(moves).unwrap_or(0) as f64,
        };
        if bytes <= 0.0 {
            return Vec::new();
        }
        let name = &step.step.name;
        let mut all = vec![(name.clone(), bytes / seconds)];
        let mut figures = acted.figures.iter();
        let told = figures.find(|(figure, _, unit, _)| figure == "rate" && unit == "B/s");
        all.extend(told.map(|(_, rate, ..)| (as_told(name), *rate)));
        all
    }

    /// The series of a step: the run's own, or another one that it names.
    pub fn series_of(&self, step: &ExpandedStep) -> String {
        let Some(text) = &step.step.series else {
            return self.series.clone();
        };
        let series = self.bound.templates.text(text, &self.context(step));
        self.in_series(series.unwrap_or_else(|_| text.clone()))
    }

    fn series_named(&self, named: Option<&String>) -> String {
        named.map_or_else(
            || self.series.clone(),
            |text| self.in_series(self.series_now(text)),
        )
    }

    /// Tells clocks between steps, and figures computed from figures.
    pub fn between(&mut self) {
        let labels = Labels::new();
        for clock in &self.bound.method.clocks {
            let series = self.series_named(clock.series.as_ref());
            if let Some(sample) = self
                .moments
                .sample(clock, &self.planned.run, &series, &labels)
            {
                self.shared.teller.tell(What::Sample(sample));
            }
        }
        for figure in &self.bound.method.figures {
            if !self.bound.needed(figure.when.as_deref()).unwrap_or(false) {
                continue;
            }
            let all: BTreeMap<String, Value> = self
                .figures
                .iter()
                .map(|(name, value)| (name.clone(), Value::from(*value)))
                .collect();
            let value = self
                .bound
                .templates
                .expression(&figure.value, &Value::from(all));
            // A figure whose parts were not read has no value; that is said by the parts.
            if let Some(value) = value.ok().and_then(|value| f64::try_from(value).ok()) {
                self.figures.insert(plain(&figure.name), value);
                self.shared.teller.tell(What::Sample(Sample {
                    run: self.planned.run.clone(),
                    step: None,
                    name: figure.name.clone(),
                    series: self.series_named(figure.series.as_ref()),
                    value,
                    unit: figure.unit.clone(),
                    clock: None,
                    resolution: 0.0,
                    labels: Labels::new(),
                }));
            }
        }
    }
}

/// A figure's name, as an expression uses it.
pub(super) fn plain(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '_'
            }
        })
        .collect()
}
