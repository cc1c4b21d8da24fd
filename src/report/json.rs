//! `comeback-report/1`: a report for programs. Keys keep their order.

use serde_json::{Map, Value, json};

use crate::event::{Facts, Labels, Origin};
use crate::session::{Row, Series, TimeColumn, Verdict};

use super::figures::number;
use super::sheet::{Head, Sheet};
use super::words;

pub(super) fn render(sheet: &Sheet) -> String {
    let mut all = Map::new();
    let mut put = |key: &str, value: Value| all.insert(key.to_owned(), value);
    put("format", json!("comeback-report/1"));
    put("origin", json!(origin(&sheet.heads)));
    put("environment", environment(sheet));
    let rows = sheet.compared.rows.iter().map(|one| row(sheet, one));
    put("rows", Value::Array(rows.collect()));
    let verdicts = sheet.verdicts.iter().map(|one| verdict(sheet, one));
    put("verdicts", Value::Array(verdicts.collect()));
    if !sheet.compared.at_once.is_empty() {
        let key = |at: usize| {
            sheet
                .compared
                .rows
                .get(at)
                .map(|row| key(sheet, row))
                .into()
        };
        put("at_once", super::at_once::json(&sheet.compared, key));
    }
    let warnings: Vec<&String> = sheet.heads.iter().flat_map(|head| &head.warnings).collect();
    if !warnings.is_empty() {
        put("warnings", json!(warnings));
    }
    Value::Object(all).to_string() + "\n"
}

fn origin(heads: &[Head]) -> &'static str {
    let published = heads.iter().filter(|head| head.origin == Origin::Published);
    match published.count() {
        0 => "captured",
        n if n == heads.len() => "published",
        _ => "mixed",
    }
}

fn environment(sheet: &Sheet) -> Value {
    let sessions: Vec<Value> = sheet
        .heads
        .iter()
        .map(|head| {
            json!({
                "session": head.session,
                "program": head.program,
                "origin": origin(std::slice::from_ref(head)),
                "started": head.stamp,
                "order": head.order,
                "reps": head.reps,
            })
        })
        .collect();
    let hosts: Map<String, Value> = sheet
        .hosts
        .iter()
        .map(|host| (host.name.clone(), facts(&host.facts)))
        .collect();
    json!({ "sessions": sessions, "hosts": hosts })
}

fn facts(facts: &Facts) -> Value {
    let disks: Vec<Value> = facts
        .disks
        .iter()
        .map(|disk| json!({ "name": disk.name, "model": disk.model, "size": disk.size }))
        .collect();
    json!({
        "system": facts.system,
        "kernel": facts.kernel,
        "cpu": facts.cpu,
        "cpus": facts.cpus,
        "memory": facts.memory,
        "clock": {
            "source": facts.clock_source,
            "resolution": number(facts.clock_resolution, "s"),
        },
        "overhead": facts.overhead.map(|seconds| number(seconds, "s")),
        "disks": disks,
        "tools": facts.tools,
    })
}

// What tells a row from others; settings and session only where they do.
fn key(sheet: &Sheet, row: &Row) -> Map<String, Value> {
    let mut key = Map::new();
    key.insert("host".to_owned(), json!(row.host));
    key.insert("method".to_owned(), json!(row.method));
    key.insert("series".to_owned(), json!(row.series));
    if !row.settings.is_empty() {
        key.insert("settings".to_owned(), json!(row.settings));
    }
    if sheet.has_many_sessions() {
        key.insert("session".to_owned(), json!(row.session));
    }
    key
}

fn row(sheet: &Sheet, row: &Row) -> Value {
    let mut all = key(sheet, row);
    let mut put = |key: &str, value: Value| all.insert(key.to_owned(), value);
    let states: Vec<String> = row.states.iter().map(ToString::to_string).collect();
    put("reps", json!(row.runs.len()));
    put("states", json!(states));
    put("labels", json!(row.labels));
    let times = row.times.iter().filter(|time| time.series.is_known());
    put("times", times.map(time).collect());
    let figures = row.space.iter().filter(|series| series.is_known());
    put("space", figures.map(space).collect());
    put(
        "placement",
        row.placement.as_ref().map_or(Value::Null, |placement| {
            let (original, copy) = words::places(placement);
            json!({
                "original": original,
                "copy": copy,
                "same_disk": row.same_disk(),
            })
        }),
    );
    put(
        "verified",
        json!({
            // What else was compared is in the table; this names what hashed the bytes.
            "algorithm": row.by.split('+').next().filter(|name| !name.is_empty()),
            "matched": row.matched,
            "of": row.of,
            "share": row.share,
        }),
    );
    put("remarks", json!(row.remarks));
    Value::Object(all)
}

fn time(time: &TimeColumn) -> Value {
    let series = &time.series;
    let mut all = begin(series);
    let mut put = |key: &str, value: Value| all.insert(key.to_owned(), value);
    put("clock", json!(time.stated.then(|| time.clock.to_string())));
    put("unit", json!(series.unit));
    put("resolution", number(series.resolution, ""));
    put("values", values(series));
    if series.n() > series.in_runs() {
        put("runs", json!(series.in_runs()));
    }
    put(
        "median",
        figure(series, series.median().or(series.published)),
    );
    put("min", figure(series, series.min().or(series.published_min)));
    put("max", figure(series, series.max().or(series.published_max)));
    published(&mut all, series);
    Value::Object(all)
}

fn space(series: &Series) -> Value {
    let mut all = begin(series);
    let mut put = |key: &str, value: Value| all.insert(key.to_owned(), value);
    put("unit", json!(series.unit));
    put("values", values(series));
    put(
        "median",
        figure(series, series.median().or(series.published)),
    );
    published(&mut all, series);
    Value::Object(all)
}

fn begin(series: &Series) -> Map<String, Value> {
    let mut all = Map::new();
    all.insert("name".to_owned(), json!(series.name));
    labels(&mut all, &series.labels);
    all
}

fn labels(all: &mut Map<String, Value>, labels: &Labels) {
    if !labels.is_empty() {
        all.insert("labels".to_owned(), json!(labels));
    }
}

// What a publication prints; without values, the figures above are these.
fn published(all: &mut Map<String, Value>, series: &Series) {
    let printed: Map<String, Value> = [
        ("median", series.published),
        ("min", series.published_min),
        ("max", series.published_max),
    ]
    .into_iter()
    .filter(|(_, value)| value.is_some())
    .map(|(name, value)| (name.to_owned(), figure(series, value)))
    .collect();
    if !printed.is_empty() {
        all.insert("published".to_owned(), Value::Object(printed));
    }
}

fn values(series: &Series) -> Value {
    let all = series.values.iter();
    all.map(|value| number(*value, &series.unit)).collect()
}

fn figure(series: &Series, value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| number(value, &series.unit))
}

fn verdict(sheet: &Sheet, verdict: &Verdict) -> Value {
    let side = |at: usize| sheet.compared.rows.get(at).map(|row| key(sheet, row));
    let mut all = Map::new();
    let mut put = |key: &str, value: Value| all.insert(key.to_owned(), value);
    put("time", json!(verdict.time));
    put("a", json!(side(verdict.a)));
    put("b", json!(side(verdict.b)));
    put("says", json!(verdict.says()));
    put("low", json!(verdict.low.map(|ratio| number(ratio, ""))));
    put("high", json!(verdict.high.map(|ratio| number(ratio, ""))));
    labels(&mut all, &verdict.labels);
    Value::Object(all)
}
