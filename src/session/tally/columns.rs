//! Measured values into columns: one a name, unit, clock and set of labels.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::TimeColumn;
use super::groups::counts;
use crate::event::{Bytes, Clock, Labels, Published, RunId, Sample, Space};
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
    /// Read as bytes that something takes; a tool's own figure of that name is another.
    space: bool,
}

/// Every run's values, as they came.
pub(super) fn values(session: &Session) -> BTreeMap<&RunId, Vec<Value<'_>>> {
    let mut all: BTreeMap<&RunId, Vec<Value<'_>>> = BTreeMap::new();
    for sample in session.samples.iter().filter(|one| one.value.is_finite()) {
        let run = session.run_view(&sample.run);
        all.entry(&sample.run)
            .or_default()
            .push(of_sample(sample, run));
    }
    for space in &session.spaces {
        let run = session.run_view(&space.run);
        all.entry(&space.run)
            .or_default()
            .extend(of_space(space, run));
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

fn of_sample<'a>(sample: &'a Sample, run: Option<&'a RunView>) -> Value<'a> {
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
        space: false,
    }
}

fn of_space<'a>(space: &'a Space, run: Option<&'a RunView>) -> impl Iterator<Item = Value<'a>> {
    space_figures(space).map(move |(name, bytes)| Value {
        name: Cow::Owned(name),
        unit: "B",
        clock: None,
        resolution: 0.0,
        figure: bytes.0 as f64,
        series: series_of(&space.series, run),
        labels: Labels::new(),
        iteration: 0,
        space: true,
    })
}

/// The figures of a space reading, by name: `archive` is what is stored, `archive logical` what
/// the reader of its files sees, `archive held` what only a snapshot keeps.
pub fn space_figures(space: &Space) -> impl Iterator<Item = (String, Bytes)> {
    let kinds = [
        ("logical", space.logical),
        ("stored", space.stored),
        ("held", space.held),
    ];
    kinds.into_iter().filter_map(|(kind, bytes)| {
        let name = match kind {
            "stored" => space.name.clone(),
            kind if space.name == kind => space.name.clone(),
            kind => format!("{} {kind}", space.name),
        };
        Some((name, bytes?))
    })
}

/// The columns of one series: times, and all other figures; each as first seen.
pub(super) fn columns(
    series: &str,
    runs: &[&RunView],
    values: &BTreeMap<&RunId, Vec<Value<'_>>>,
    published: &[&Published],
) -> (Vec<TimeColumn>, Vec<Series>) {
    let mut all = Columns::default();
    for (at, run) in runs.iter().enumerate() {
        let mine = values.get(&run.run).into_iter().flatten();
        let mut mine: Vec<(usize, &Value<'_>)> = mine
            .filter(|value| value.series == series)
            .map(|value| {
                let of = (value.clock, value.space);
                let place = all.place(of, &value.name, value.unit, &value.labels);
                (place, value)
            })
            .collect();
        if !counts(run) {
            continue;
        }
        mine.sort_by_key(|(_, value)| value.iteration);
        for (place, value) in mine {
            all.change(place, |column| {
                column.values.push(value.figure);
                column.runs.push(at);
                column.resolution = column.resolution.max(value.resolution);
            });
        }
    }
    for figure in published {
        all.publish(figure);
    }
    all.done()
}

/// How a column's values were taken: by which clock, and whether as bytes of something.
type Source = (Option<Clock>, bool);

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
            None => self.place((None, false), &figure.name, unit, &Labels::new()),
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
            .retain(|(_, series)| series.n() > 0 || series.is_published());
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
