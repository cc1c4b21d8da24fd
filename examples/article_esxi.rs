//! Makes a recording of the figures that a publication prints: values as samples of runs, rates made again of bytes and time, and
//! what is printed beside them.
//!
//!     cargo run --example article_esxi -- recordings/article-esxi.toml > recordings/article-esxi.jsonl

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use chrono::{DateTime, Utc};
use clap::Parser;
use comeback::event::{
    Binding, BindingId, Bytes, End, EndState, Event, FORMAT, Header, Labels, Level, Nanos, Note,
    Order, Origin, Phase, Plan, PlannedCommand, PlannedRun, Projected, Published, RunChange, RunId,
    RunState, Sample, StepChange, StepEnd, StepId, StepState, Subject, What, to_line,
};
use comeback::session::{TOGETHER, as_told, beside};
use serde::Deserialize;

/// Makes a recording of published figures.
#[derive(Parser)]
struct Args {
    /// What is printed, a TOML file
    publication: PathBuf,
}

/// A publication.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Publication {
    session: String,
    started: DateTime<Utc>,
    host: String,
    subject: Subject,
    /// Of the subject.
    bytes: u64,
    notes: Vec<String>,
    row: Vec<Row>,
    #[serde(default)]
    projection: Vec<Projection>,
}

/// A row of its table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    method: String,
    title: String,
    #[serde(default)]
    settings: BTreeMap<String, String>,
    target: Option<String>,
    #[serde(default = "full")]
    series: String,
    /// The method that moves a disk of `ESXi` so here, where that is another one.
    here: Option<String>,
    /// The method that ran at the same time.
    with: Option<String>,
    /// `8:01`, `1:18:13`.
    time: String,
    /// MiB that were moved, where that was not the whole subject.
    moved: Option<u64>,
    /// Rate as printed, in MiB/s.
    printed: f64,
    /// The way back.
    back: Option<Back>,
    /// What came of it, in MiB.
    compressed: Option<u64>,
}

/// The way back from the copy.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Back {
    time: String,
    printed: f64,
}

/// What it says of other disks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Projection {
    method: String,
    settings: BTreeMap<String, String>,
    then: String,
    then_target: String,
    name: String,
    disks: Vec<u64>,
    time: String,
}

fn full() -> String {
    "full".to_owned()
}

const MIB: f64 = 1_048_576.0;

fn main() -> Result<()> {
    let args = Args::parse();
    let text = std::fs::read_to_string(&args.publication)?;
    let made = recording(&text).with_context(|| args.publication.display().to_string())?;
    std::io::stdout().lock().write_all(made.as_bytes())?;
    Ok(())
}

/// The recording of what is printed.
///
/// # Errors
/// What is printed is not as this program expects it.
pub fn recording(printed: &str) -> Result<String> {
    let publication: Publication = toml::from_str(printed)?;
    let mut all = String::new();
    for (seq, what) in events(&publication)?.into_iter().enumerate() {
        let event = Event {
            seq: seq as u64,
            t: Nanos(0),
            what,
        };
        all.push_str(&to_line(&event)?);
        all.push('\n');
    }
    Ok(all)
}

/// Rows that differ in nothing but what ran beside them, and what came of a second run, are of one binding.
fn key(row: &Row) -> (&str, &BTreeMap<String, String>, Option<&str>) {
    (&row.method, &row.settings, row.target.as_deref())
}

fn events(publication: &Publication) -> Result<Vec<What>> {
    let mut plan = Plan {
        reps: 1,
        order: Order::ByMethod,
        ..Plan::default()
    };
    let mut known: Vec<(BindingId, _)> = Vec::new();
    let mut told = Vec::new();
    for (at, row) in publication.row.iter().enumerate() {
        let found = known.iter().find(|(_, other)| *other == key(row));
        let binding = if let Some((id, _)) = found {
            id.clone()
        } else {
            let binding = binding(publication, row, plan.bindings.len() + 1);
            let id = binding.id.clone();
            plan.bindings.push(binding);
            known.push((id.clone(), key(row)));
            id
        };
        let run = RunId(format!("r{}", at + 1));
        let before = plan.runs.iter().filter(|one| one.binding == binding);
        let planned = PlannedRun {
            run,
            rep: before.count() as u32 + 1,
            binding,
            beside: None,
        };
        told.extend(row_events(publication, row, &planned, at)?);
        plan.runs.push(planned);
    }
    for one in &publication.projection {
        told.push(What::Published(projected(one, &plan)?));
    }
    let header = Header {
        format: FORMAT.to_owned(),
        program: "published figures".to_owned(),
        origin: Origin::Published,
        started: publication.started,
        session: publication.session.as_str().into(),
        plan,
        facts: BTreeMap::new(),
        masked: Vec::new(),
    };
    let mut all = vec![What::Header(Box::new(header))];
    all.extend(publication.notes.iter().map(|text| note(text, None)));
    all.extend(told);
    all.push(What::End(End {
        exit: 0,
        reason: "published figures".to_owned(),
    }));
    Ok(all)
}

fn binding(publication: &Publication, row: &Row, number: usize) -> Binding {
    let mut roles = BTreeMap::from([("source".to_owned(), publication.host.clone())]);
    roles.extend(row.target.clone().map(|host| ("target".to_owned(), host)));
    Binding {
        id: BindingId(format!("b{number}")),
        method: row.method.clone(),
        title: row.title.clone(),
        family: "transfer".to_owned(),
        roles,
        subject: publication.subject.clone(),
        settings: row.settings.clone(),
        ..Binding::default()
    }
}

fn row_events(
    publication: &Publication,
    row: &Row,
    planned: &PlannedRun,
    at: usize,
) -> Result<Vec<What>> {
    let run = &planned.run;
    let mut labels = Labels::new();
    let mut series = row.series.clone();
    if let Some(other) = &row.with {
        labels.insert(TOGETHER.to_owned(), other.clone());
        series = beside(&series, other);
    }
    let run_is = |state| {
        What::Run(RunChange {
            run: run.clone(),
            state,
        })
    };
    let mut all = vec![run_is(RunState::Started {
        binding: planned.binding.clone(),
        rep: planned.rep,
        order: at as u32 + 1,
        series: series.clone(),
        labels,
    })];
    let told = Told {
        publication,
        run,
        series: &series,
    };
    all.push(told.sample(None, "subject", publication.bytes as f64, "B"));
    let step = StepId(format!("s{}", at + 1));
    let printed = row.moved.is_none().then_some(row.printed);
    all.extend(told.step(&step, "backup", &row.time, printed)?);
    if let Some(moved) = row.moved {
        all.push(told.sample(Some(&step), "sent", moved as f64 * MIB, "B"));
        let text = format!(
            "{} Mo/s is printed beside this run, which sent {moved} MiB of {}: that is no rate",
            row.printed,
            Bytes(publication.bytes)
        );
        all.push(note(&text, Some(run)));
    }
    if let Some(size) = row.compressed {
        all.push(told.sample(Some(&step), "compressed", size as f64 * MIB, "B"));
    }
    if let Some(back) = &row.back {
        let step = StepId(format!("s{}b", at + 1));
        all.extend(told.step(&step, "restore", &back.time, Some(back.printed))?);
    }
    if let Some(here) = &row.here {
        let text = format!(
            "{} is between any two hosts; from ESXi this row is measured here by {here}",
            row.method
        );
        all.push(note(&text, Some(run)));
    }
    if row.target.as_deref() == Some("windows") {
        let text =
            "the target ran Windows XP; where these methods are run, a Linux host stands in for it";
        all.push(note(text, Some(run)));
    }
    all.push(run_is(RunState::Ended {
        end: EndState::Ok,
        cause: None,
    }));
    Ok(all)
}

/// What is told of one run.
struct Told<'a> {
    publication: &'a Publication,
    run: &'a RunId,
    series: &'a str,
}

impl Told<'_> {
    fn sample(&self, step: Option<&StepId>, name: &str, value: f64, unit: &str) -> What {
        What::Sample(Sample {
            run: self.run.clone(),
            step: step.cloned(),
            name: name.to_owned(),
            series: self.series.to_owned(),
            value,
            unit: unit.to_owned(),
            clock: None,
            resolution: if unit == "s" { 1.0 } else { 0.0 },
            labels: Labels::new(),
        })
    }

    /// A step with its time; its rate made again of bytes and time, and the printed one beside it, where it is one.
    fn step(
        &self,
        step: &StepId,
        name: &str,
        time: &str,
        printed: Option<f64>,
    ) -> Result<Vec<What>> {
        let seconds = seconds(time)?;
        let step_is = |state| {
            What::Step(Box::new(StepChange {
                step: step.clone(),
                state,
            }))
        };
        let phase = match name {
            "restore" => Phase::Restore,
            _ => Phase::Protect,
        };
        let mut all = vec![
            step_is(StepState::Planned(PlannedCommand {
                run: self.run.clone(),
                name: name.to_owned(),
                phase,
                host: self.publication.host.clone(),
                action: "run".to_owned(),
                command: String::new(),
                timed: true,
                destroys: None,
                background: false,
                shows: None,
                labels: Labels::new(),
            })),
            step_is(StepState::Started),
            self.sample(Some(step), name, seconds, "s"),
        ];
        if let Some(printed) = printed {
            let rate = self.publication.bytes as f64 / seconds;
            all.push(self.sample(Some(step), name, rate, "B/s"));
            all.push(self.sample(Some(step), &as_told(name), printed * MIB, "B/s"));
        }
        all.push(step_is(StepState::Ended(StepEnd {
            end: EndState::Ok,
            status: Vec::new(),
            seconds: Some(seconds),
            clock: None,
            resolution: 1.0,
            host: None,
            sides: Vec::new(),
            here: None,
            cause: None,
        })));
        Ok(all)
    }
}

fn projected(one: &Projection, plan: &Plan) -> Result<Published> {
    let find = |method: &str, fits: &dyn Fn(&Binding) -> bool| {
        let mut all = plan.bindings.iter();
        let found = all.find(|binding| binding.method == method && fits(binding));
        found.map(|binding| binding.id.clone())
    };
    let first = find(&one.method, &|binding| binding.settings == one.settings);
    let then = find(&one.then, &|binding| {
        binding.roles.get("target") == Some(&one.then_target) && binding.settings.is_empty()
    });
    let (Some(binding), Some(then)) = (first, then) else {
        bail!("{}: no row is of its methods", one.name);
    };
    Ok(Published {
        binding,
        name: one.name.clone(),
        series: full(),
        statistic: "projected".to_owned(),
        value: seconds(&one.time)?,
        unit: "s".to_owned(),
        source: "the article's example".to_owned(),
        projected: Some(Projected {
            disks: one.disks.iter().copied().map(Bytes).collect(),
            then,
        }),
    })
}

fn note(text: &str, run: Option<&RunId>) -> What {
    What::Note(Note {
        level: Level::Remark,
        text: text.to_owned(),
        host: None,
        run: run.cloned(),
        step: None,
    })
}

/// `8:01`, `1:18:13`.
fn seconds(text: &str) -> Result<f64> {
    text.split(':').try_fold(0.0, |sum, part| {
        let part: u32 = part.parse().with_context(|| format!("no time: {text:?}"))?;
        Ok(sum * 60.0 + f64::from(part))
    })
}
