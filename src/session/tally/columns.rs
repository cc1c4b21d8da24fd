//! Measured values into columns: one a name, unit, clock and set of labels.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Outcome, TimeColumn};
use crate::event::{Bytes, Clock, Labels, Phase, PlannedCommand, Published, RunId, Sample, Space};
use crate::session::series::Counts;
use crate::session::{RunView, Series, Session, bytes_can_be, can_be, sample_can_be};

/// Labels that number the repetitions of a step within a run: their values share a series.
const ITERATION: [&str; 2] = ["i", "iteration"];

/// A measured value, wherever it came from.
pub(super) struct Value<'a> {
    name: Cow<'a, str>,
    unit: &'a str,
    clock: Option<Clock>,
    resolution: f64,
    figure: f64,
    /// Whether anything can have given it.
    can_be: bool,
    series: &'a str,
    labels: Labels,
    iteration: u64,
    /// What is counted; a tool's own figure of that name is another than what was read.
    counts: Counts,
    phase: Option<Phase>,
}

/// The values of one run.
#[derive(Default)]
pub(super) struct Values<'a> {
    /// Its series, as first seen.
    pub series: Vec<&'a str>,
    of: HashMap<&'a str, Vec<Value<'a>>>,
}

impl<'a> Values<'a> {
    fn push(&mut self, value: Value<'a>) {
        let all = self.of.entry(value.series).or_insert_with(|| {
            self.series.push(value.series);
            Vec::new()
        });
        all.push(value);
    }

    /// Those of a series, as they came.
    fn of(&self, series: &str) -> &[Value<'a>] {
        self.of.get(series).map_or(&[], Vec::as_slice)
    }
}

/// A published figure; milliseconds are told in seconds.
pub(in crate::session) fn seconds_of(figure: &Published) -> (f64, &str) {
    match figure.unit.as_str() {
        "ms" => (figure.value / 1000.0, "s"),
        unit => (figure.value, unit),
    }
}

/// Every run's values.
pub(super) type ByRun<'a> = HashMap<&'a RunId, Values<'a>>;

/// The values of every run.
pub(super) fn values(session: &Session) -> ByRun<'_> {
    let mut all = ByRun::new();
    for sample in &session.samples {
        let run = session.run_view(&sample.run);
        let step = sample.step.as_ref();
        let phase = step.and_then(|step| Some(session.step_view(step)?.planned.phase));
        let value = of_sample(sample, run, phase);
        all.entry(&sample.run).or_default().push(value);
    }
    for space in &session.spaces {
        let run = session.run_view(&space.run);
        let step = session.step_view(&space.step).map(|step| &step.planned);
        let mine = all.entry(&space.run).or_default();
        for value in of_space(space, run, step) {
            mine.push(value);
        }
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

// Labels that the run does not have, and the number of an iteration.
fn apart(labels: &Labels, run: Option<&RunView>) -> (Labels, u64) {
    let mut labels = labels.clone();
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
    (labels, iteration)
}

fn of_sample<'a>(sample: &'a Sample, run: Option<&'a RunView>, phase: Option<Phase>) -> Value<'a> {
    let (labels, iteration) = apart(&sample.labels, run);
    Value {
        name: Cow::Borrowed(&sample.name),
        unit: &sample.unit,
        clock: sample.clock,
        resolution: sample.resolution,
        figure: sample.value,
        can_be: sample_can_be(sample),
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
    step: Option<&PlannedCommand>,
) -> impl Iterator<Item = Value<'a>> {
    let (labels, iteration) = step.map_or_else(Default::default, |step| apart(&step.labels, run));
    let phase = step.map(|step| step.phase);
    readings(space).map(move |(counts, name, bytes)| Value {
        name: Cow::Owned(name),
        unit: "B",
        clock: None,
        resolution: 0.0,
        figure: bytes.0 as f64,
        can_be: bytes_can_be(bytes),
        series: series_of(&space.series, run),
        labels: labels.clone(),
        iteration,
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
    values: &ByRun<'_>,
    published: &[&Published],
) -> (Vec<TimeColumn>, Vec<Series>) {
    let mut all = Columns::default();
    for (at, (run, outcome)) in runs.iter().zip(outcomes).enumerate() {
        let mine = values.get(&run.run).map_or(&[][..], |all| all.of(series));
        let mut mine: Vec<(usize, &Value<'_>)> = mine
            .iter()
            .map(|value| {
                let of = (value.clock, value.counts);
                let place = all.place((of, &value.name, value.unit, Some(&value.labels)));
                all.change(place, |column| column.phase = column.phase.or(value.phase));
                (place, value)
            })
            .collect();
        mine.sort_by_key(|(_, value)| value.iteration);
        for (place, value) in mine {
            all.change(place, |column| {
                if value.can_be {
                    column.resolution = column.resolution.max(value.resolution);
                }
                if !outcome.counts() || !value.can_be {
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

/// What tells a column from others: its source, name, unit and labels, where it has some.
type Key<'a> = (Source, &'a str, &'a str, Option<&'a Labels>);

#[derive(Default)]
struct Columns<'a> {
    all: Vec<(Source, Series)>,
    places: HashMap<Key<'a>, usize>,
    /// The first column of a name and unit that has no labels.
    plain: HashMap<(&'a str, &'a str), usize>,
}

impl<'a> Columns<'a> {
    /// Where a column stands; made, where there is none yet.
    fn place(&mut self, (source, name, unit, labels): Key<'a>) -> usize {
        let labels = labels.filter(|labels| !labels.is_empty());
        let next = self.all.len();
        let place = *self
            .places
            .entry((source, name, unit, labels))
            .or_insert(next);
        if place == next {
            if labels.is_none() {
                self.plain.entry((name, unit)).or_insert(place);
            }
            let series = Series {
                name: name.to_owned(),
                unit: unit.to_owned(),
                labels: labels.cloned().unwrap_or_default(),
                counts: source.1,
                ..Series::default()
            };
            self.all.push((source, series));
        }
        place
    }

    fn change(&mut self, place: usize, change: impl FnOnce(&mut Series)) {
        if let Some((_, series)) = self.all.get_mut(place) {
            change(series);
        }
    }

    // A published figure stands with the values of its name, where there are some.
    fn publish(&mut self, figure: &'a Published) {
        let (value, unit) = seconds_of(figure);
        let place = match self.plain.get(&(figure.name.as_str(), unit)) {
            Some(place) => *place,
            None => self.place(((None, Counts::Told), &figure.name, unit, None)),
        };
        if !can_be(value, unit) {
            return;
        }
        self.change(place, |series| match figure.statistic.as_str() {
            "min" => series.published_min = Some(value),
            "max" => series.published_max = Some(value),
            "median" => series.published = Some(value),
            _ => {}
        });
    }

    fn done(mut self) -> (Vec<TimeColumn>, Vec<Series>) {
        self.all
            .retain(|(_, series)| series.is_known() || !series.out.is_empty());
        let (times, space): (Vec<_>, Vec<_>) = self
            .all
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
