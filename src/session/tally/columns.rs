//! Measured values into columns: one a name, unit, clock and set of labels.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Outcome, TimeColumn};
use crate::event::{Bytes, Clock, Labels, Phase, Published, RunId, Sample, Space};
use crate::session::series::Counts;
use crate::session::{RunView, Series, Session};

/// Labels that number the repetitions of a step within a run: their values share a series.
const ITERATION: [&str; 2] = ["i", "iteration"];

/// A measured value, wherever it came from.
pub(super) struct Value<'a> {
    name: Cow<'a, str>,
    unit: &'a str,
    clock: Option<Clock>,
    resolution: f64,
    figure: f64,
    pub series: &'a str,
    labels: Labels,
    iteration: u64,
    /// What is counted; a tool's own figure of that name is another than what was read.
    counts: Counts,
    phase: Option<Phase>,
}

/// Every run's values, as they came.
pub(super) fn values(session: &Session) -> BTreeMap<&RunId, Vec<Value<'_>>> {
    let mut all: BTreeMap<&RunId, Vec<Value<'_>>> = BTreeMap::new();
    for sample in session.samples.iter().filter(|one| one.value.is_finite()) {
        let run = session.run_view(&sample.run);
        let step = sample.step.as_ref();
        let phase = step.and_then(|step| Some(session.step_view(step)?.planned.phase));
        all.entry(&sample.run)
            .or_default()
            .push(of_sample(sample, run, phase));
    }
    for space in &session.spaces {
        let run = session.run_view(&space.run);
        let step = session.step_view(&space.step);
        let phase = step.map(|step| step.planned.phase);
        all.entry(&space.run)
            .or_default()
            .extend(of_space(space, run, phase));
    }
    all
}

// An empty series is the run's own.
fn series_of<'a>(told: &'a str, run: Option<&'a RunView>) -> &'a str {
    match run {
        Some(run) if told.is_empty() => &run.series,
        _ => told,
    }
}

fn of_sample<'a>(sample: &'a Sample, run: Option<&'a RunView>, phase: Option<Phase>) -> Value<'a> {
    let mut labels = sample.labels.clone();
    let mut iteration = 0;
    for key in ITERATION {
        if let Some(number) = labels.get(key).and_then(|text| text.parse().ok()) {
            iteration = number;
            labels.remove(key);
        }
    }
    if let Some(run) = run {
        labels.retain(|key, value| run.labels.get(key) != Some(value));
    }
    Value {
        name: Cow::Borrowed(&sample.name),
        unit: &sample.unit,
        clock: sample.clock,
        resolution: sample.resolution,
        figure: sample.value,
        series: series_of(&sample.series, run),
        labels,
        iteration,
        counts: Counts::Told,
        phase,
    }
}

fn of_space<'a>(
    space: &'a Space,
    run: Option<&'a RunView>,
    phase: Option<Phase>,
) -> impl Iterator<Item = Value<'a>> {
    readings(space).map(move |(counts, name, bytes)| Value {
        name: Cow::Owned(name),
        unit: "B",
        clock: None,
        resolution: 0.0,
        figure: bytes.0 as f64,
        series: series_of(&space.series, run),
        labels: Labels::new(),
        iteration: 0,
        counts,
        phase,
    })
}

/// The figures of a space reading, by name: `archive` is what is stored, `archive logical` what
/// the reader of its files sees, `archive held` what only a snapshot keeps.
pub fn space_figures(space: &Space) -> impl Iterator<Item = (String, Bytes)> {
    readings(space).map(|(_, name, bytes)| (name, bytes))
}

fn readings(space: &Space) -> impl Iterator<Item = (Counts, String, Bytes)> {
    let kinds = [
        (Counts::Logical, "logical", space.logical),
        (Counts::Stored, "stored", space.stored),
        (Counts::Held, "held", space.held),
    ];
    kinds.into_iter().filter_map(|(counts, kind, bytes)| {
        let name = match kind {
            "stored" => space.name.clone(),
            kind if space.name == kind => space.name.clone(),
            kind => format!("{} {kind}", space.name),
        };
        Some((counts, name, bytes?))
    })
}

/// The columns of one series: times, and all other figures; each as first seen.
pub(super) fn columns(
    series: &str,
    runs: &[&RunView],
    outcomes: &[Outcome],
    values: &BTreeMap<&RunId, Vec<Value<'_>>>,
    published: &[&Published],
) -> (Vec<TimeColumn>, Vec<Series>) {
    let mut all = Columns::default();
    for (at, (run, outcome)) in runs.iter().zip(outcomes).enumerate() {
        let mine = values.get(&run.run).into_iter().flatten();
        let mut mine: Vec<(usize, &Value<'_>)> = mine
            .filter(|value| value.series == series)
            .map(|value| {
                let of = (value.clock, value.counts);
                let place = all.place(of, &value.name, value.unit, &value.labels);
                all.change(place, |column| column.phase = column.phase.or(value.phase));
                (place, value)
            })
            .collect();
        mine.sort_by_key(|(_, value)| value.iteration);
        for (place, value) in mine {
            all.change(place, |column| {
                column.resolution = column.resolution.max(value.resolution);
                if !outcome.counts() {
                    column.out.push((at, value.figure));
                    return;
                }
                column.values.push(value.figure);
                column.runs.push(at);
            });
        }
    }
    for figure in published {
        all.publish(figure);
    }
    all.done()
}

/// How a column's values were taken: by which clock, and as which bytes of something.
type Source = (Option<Clock>, Counts);

#[derive(Default)]
struct Columns(Vec<(Source, Series)>);

impl Columns {
    /// Where a column stands; made, where there is none yet.
    fn place(&mut self, source: Source, name: &str, unit: &str, labels: &Labels) -> usize {
        let found = self.0.iter().position(|(of, series)| {
            *of == source && series.name == name && series.unit == unit && series.labels == *labels
        });
        found.unwrap_or_else(|| {
            let series = Series {
                name: name.to_owned(),
                unit: unit.to_owned(),
                labels: labels.clone(),
                counts: source.1,
                ..Series::default()
            };
            self.0.push((source, series));
            self.0.len() - 1
        })
    }

    fn change(&mut self, place: usize, change: impl FnOnce(&mut Series)) {
        if let Some((_, series)) = self.0.get_mut(place) {
            change(series);
        }
    }

    // A published figure stands with the values of its name, where there are some.
    fn publish(&mut self, figure: &Published) {
        let (value, unit) = match figure.unit.as_str() {
            "ms" => (figure.value / 1000.0, "s"),
            unit => (figure.value, unit),
        };
        let like = |(_, series): &(Source, Series)| {
            series.name == figure.name && series.unit == unit && series.labels.is_empty()
        };
        let place = match self.0.iter().position(like) {
            Some(place) => place,
            None => self.place((None, Counts::Told), &figure.name, unit, &Labels::new()),
        };
        self.change(place, |series| match figure.statistic.as_str() {
            "min" => series.published_min = Some(value),
            "max" => series.published_max = Some(value),
            "median" => series.published = Some(value),
            _ => {}
        });
    }

    fn done(mut self) -> (Vec<TimeColumn>, Vec<Series>) {
        self.0
            .retain(|(_, series)| series.is_known() || !series.out.is_empty());
        let (times, space): (Vec<_>, Vec<_>) = self
            .0
            .into_iter()
            .partition(|(_, series)| series.unit == "s");
        let times = times.into_iter().map(|((clock, _), series)| TimeColumn {
            clock: clock.unwrap_or(Clock::Log),
            stated: clock.is_some(),
            series,
        });
        (
            times.collect(),
            space.into_iter().map(|(_, series)| series).collect(),
        )
    }
}
