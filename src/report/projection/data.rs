//! A projection for programs: CSV, and `comeback-projection/1`.

use serde_json::{Map, Value, json};

use crate::report::figures::{number, plain};
use crate::report::sheet::cleaned;
use crate::session::{Part, Pipeline, Printed, Projection, Span, Speed, Way};

const HEADING: [&str; 9] = [
    "kind",
    "name",
    "disk",
    "bytes",
    "rate_low",
    "rate_high",
    "runs",
    "seconds_low",
    "seconds_high",
];

/// A line a time: `protect` and `restore` of each disk by itself, `pipeline` of all, `printed`.
pub(super) fn csv(projection: &Projection) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // A vector takes every record, and all of them have nine fields.
    let _ = writer.write_record(HEADING);
    let mut put =
        |kind: &str, name: &str, disk: &str, bytes: u64, speed: Option<Speed>, span: Span| {
            let rate = |of: &dyn Fn(&Speed) -> f64| {
                speed.map_or(String::new(), |speed| plain(of(&speed), "B/s"))
            };
            let _ = writer.write_record([
                kind.to_owned(),
                cleaned(name),
                disk.to_owned(),
                bytes.to_string(),
                rate(&|speed| speed.slow),
                rate(&|speed| speed.fast),
                speed.map_or(String::new(), |speed| speed.n.to_string()),
                plain(span.low, "s"),
                plain(span.high, "s"),
            ]);
        };
    for way in &projection.ways {
        for (kind, speed) in [("protect", way.protect), ("restore", way.restore)] {
            let Some(speed) = speed else { continue };
            for (at, bytes) in projection.disks.iter().enumerate() {
                let disk = (at + 1).to_string();
                put(
                    kind,
                    &way.name,
                    &disk,
                    *bytes,
                    Some(speed),
                    speed.seconds(*bytes),
                );
            }
        }
    }
    for one in &projection.pipelines {
        let name = super::words::pipeline_name(one);
        put(
            "pipeline",
            &name,
            "all",
            projection.bytes(),
            None,
            one.total,
        );
    }
    for one in &projection.printed {
        let bytes = one
            .disks
            .iter()
            .fold(0, |sum: u64, disk| sum.saturating_add(*disk));
        let printed = Span {
            low: one.seconds,
            high: one.seconds,
        };
        put("printed", &one.name, "all", bytes, None, printed);
        put(
            "printed, by its rates",
            &one.name,
            "all",
            bytes,
            None,
            one.ours.total,
        );
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

pub(super) fn json(projection: &Projection) -> String {
    let mut all = Map::new();
    let mut put = |key: &str, value: Value| all.insert(key.to_owned(), value);
    let origin = if projection.is_published {
        "published"
    } else {
        "captured"
    };
    put("format", json!("comeback-projection/1"));
    put("session", json!(cleaned(&projection.session)));
    put("origin", json!(origin));
    put("disks", json!(projection.disks));
    put(
        "ways",
        projection
            .ways
            .iter()
            .map(|one| way(one, &projection.disks))
            .collect(),
    );
    let without: Vec<String> = projection
        .without
        .iter()
        .map(|one| cleaned(&one.name))
        .collect();
    put("without_rate", json!(without));
    let why: Vec<String> = projection
        .without
        .iter()
        .map(|one| cleaned(&one.why))
        .collect();
    put("why_without", json!(why));
    put(
        "pipelines",
        projection.pipelines.iter().map(pipeline).collect(),
    );
    put("printed", projection.printed.iter().map(printed).collect());
    let assumed: Vec<String> = projection
        .assumed
        .iter()
        .map(|text| cleaned(text))
        .collect();
    put("assumed", json!(assumed));
    Value::Object(all).to_string() + "\n"
}

fn way(way: &Way, disks: &[u64]) -> Value {
    let part = |speed: Option<Speed>, sum: Option<Span>| match (speed, sum) {
        (Some(speed), Some(sum)) => json!({
            "rate": rate(speed),
            "each": disks.iter().map(|bytes| span(speed.seconds(*bytes))).collect::<Vec<_>>(),
            "all": span(sum),
        }),
        _ => Value::Null,
    };
    json!({
        "name": cleaned(&way.name),
        "method": cleaned(&way.method),
        "measured_bytes": way.measured,
        "protect": part(way.protect, way.protecting),
        "restore": part(way.restore, way.restoring),
    })
}

fn rate(speed: Speed) -> Value {
    json!({
        "unit": "B/s",
        "low": number(speed.slow, ""),
        "high": number(speed.fast, ""),
        "median": number(speed.median, ""),
        "n": speed.n,
    })
}

fn span(span: Span) -> Value {
    json!({ "unit": "s", "low": number(span.low, ""), "high": number(span.high, "") })
}

fn part(part: &Part) -> Value {
    json!({
        "name": cleaned(&part.name),
        "alone": rate(part.alone),
        "beside": part.beside.map(rate),
    })
}

fn pipeline(one: &Pipeline) -> Value {
    json!({
        "first": part(&one.first),
        "then": part(&one.then),
        "first_done": span(one.copied),
        "all_done": span(one.total),
        "both_at_once": span(one.both),
    })
}

fn printed(one: &Printed) -> Value {
    json!({
        "name": cleaned(&one.name),
        "disks": one.disks,
        "seconds": number(one.seconds, "s"),
        "by_its_rates": pipeline(&one.ours),
        "all_but_last_sent": span(one.all_but_last),
    })
}
