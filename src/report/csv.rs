//! A report as CSV: a line a sample.

use crate::event::{Binding, Clock, Labels, Phase};
use crate::session::{RunStage, RunView, Session, space_figures};

use super::figures::plain;
use super::sheet::cleaned;

const HEADING: [&str; 12] = [
    "host",
    "method",
    "series",
    "run",
    "rep",
    "state",
    "name",
    "value",
    "unit",
    "clock",
    "resolution",
    "labels",
];

/// One line.
struct Sample<'a> {
    series: &'a str,
    name: &'a str,
    value: f64,
    unit: &'a str,
    clock: Option<Clock>,
    resolution: f64,
    labels: Labels,
}

pub(super) fn render(sessions: &[&Session]) -> String {
    let mut lines = vec![HEADING.map(str::to_owned)];
    for session in sessions {
        // Runs of several sessions have the same names.
        let prefix = match &session.header {
            Some(header) if sessions.len() > 1 => format!("{}/", header.session),
            _ => String::new(),
        };
        for run in &session.runs {
            of_run(&mut lines, session, run, &prefix);
        }
        of_publication(&mut lines, session);
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in lines {
        // A vector takes every record, and all of them have twelve fields.
        let _ = writer.write_record(line.iter().map(|field| cleaned(field)));
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

fn of_run(lines: &mut Vec<[String; 12]>, session: &Session, run: &RunView, prefix: &str) {
    let binding = session.binding(&run.binding);
    let state = match &run.state {
        RunStage::Queued => "queued".to_owned(),
        RunStage::Running => "running".to_owned(),
        RunStage::Ended(end, _) => end.to_string(),
    };
    let mut add = |sample: &Sample<'_>| {
        let series = if sample.series.is_empty() {
            &run.series
        } else {
            sample.series
        };
        let mut labels = run.labels.clone();
        labels.extend(sample.labels.clone());
        lines.push([
            host(binding),
            method(binding, run.binding.as_str()),
            series.to_owned(),
            format!("{prefix}{}", run.run),
            run.rep.to_string(),
            state.clone(),
            sample.name.to_owned(),
            plain(sample.value, sample.unit),
            sample.unit.to_owned(),
            sample
                .clock
                .map_or(String::new(), |clock| clock.to_string()),
            plain(sample.resolution, ""),
            pairs(&labels),
        ]);
    };
    for sample in session.samples_of_run(&run.run) {
        add(&Sample {
            series: &sample.series,
            name: &sample.name,
            value: sample.value,
            unit: &sample.unit,
            clock: sample.clock,
            resolution: sample.resolution,
            labels: sample.labels.clone(),
        });
    }
    for phase in [Phase::Protect, Phase::Restore] {
        if let Some(overlap) = session.at_once(run, phase) {
            add(&Sample {
                series: "",
                name: &format!("at once, {phase}"),
                value: overlap.both,
                unit: "s",
                clock: Some(Clock::Here),
                resolution: 0.0,
                labels: Labels::new(),
            });
        }
    }
    for space in session.spaces_of_run(&run.run) {
        let labels = session.labels_of(&space.step);
        for (name, bytes) in space_figures(space) {
            add(&Sample {
                series: &space.series,
                name: &name,
                value: bytes.0 as f64,
                unit: "B",
                clock: None,
                resolution: 0.0,
                labels: labels.clone(),
            });
        }
    }
}

// Figures without values have no run; their statistic stands with their name.
fn of_publication(lines: &mut Vec<[String; 12]>, session: &Session) {
    for figure in &session.published {
        let binding = session.binding(&figure.binding);
        lines.push([
            host(binding),
            method(binding, figure.binding.as_str()),
            figure.series.clone(),
            String::new(),
            String::new(),
            "published".to_owned(),
            format!("{} {}", figure.name, figure.statistic),
            plain(figure.value, &figure.unit),
            figure.unit.clone(),
            String::new(),
            String::new(),
            String::new(),
        ]);
    }
}

fn host(binding: Option<&Binding>) -> String {
    binding.map_or("", Binding::host).to_owned()
}

fn method(binding: Option<&Binding>, id: &str) -> String {
    binding.map_or(id, |binding| &binding.method).to_owned()
}

fn pairs(labels: &Labels) -> String {
    let all: Vec<String> = labels
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    all.join(";")
}
