//! What a report holds of copies: figures of a series, rates that fit their bytes, no secret.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use serde_json::Value;

use crate::events::Recording;

/// The values of a figure of a row's series.
pub fn values(report: &Value, series: &str, list: &str, name: &str, unit: &str) -> Vec<f64> {
    let rows = report["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["series"] == series).unwrap();
    let all = row[list].as_array().unwrap();
    let found = all
        .iter()
        .find(|one| one["name"] == name && one["unit"] == unit);
    let values = found.map(|one| one["values"].as_array().unwrap().clone());
    let values = values.unwrap_or_default().into_iter();
    values.map(|value| value.as_f64().unwrap()).collect()
}

/// Each time has a rate of the same bytes, which are those that the copy has.
pub fn assert_rates(report: &Value, names: &[&str]) {
    let bytes = values(report, "full", "space", "copy logical", "B");
    let mut rows = report["rows"].as_array().unwrap().iter();
    let row = rows.find(|row| row["series"] == "full").unwrap();
    let runs = row["states"].as_array().unwrap().len();
    assert!(runs > 0 && bytes.len() == runs, "{report}");
    for name in names {
        let times = values(report, "full", "times", name, "s");
        let rates = values(report, "full", "space", name, "B/s");
        assert_eq!((times.len(), rates.len()), (runs, runs), "{name}: {report}");
        for ((time, rate), bytes) in times.iter().zip(&rates).zip(&bytes) {
            assert!(
                (time * rate - bytes).abs() < 0.001 * bytes,
                "{name}: {report}"
            );
        }
    }
}

/// What was made up for a server went through the hands of no shell's arguments and into no event.
pub fn assert_no_secret(recording: &Recording, file: &str) {
    let shown = recording.of("header").chain(recording.of("step"));
    let shown: Vec<String> = shown.map(ToString::to_string).collect();
    assert!(shown.iter().any(|line| line.contains(file)), "{file}");
    // Secrets are 24 letters and digits; the names of a session and its hashes are not.
    let is_secret = |word: &&str| {
        word.len() == 24
            && word.chars().all(|c| c.is_ascii_alphanumeric())
            && word.chars().any(|c| c.is_ascii_uppercase())
            && word.chars().any(|c| c.is_ascii_digit())
    };
    for line in &shown {
        let mut words = line.split(|c: char| !c.is_ascii_alphanumeric());
        assert_eq!(words.find(|word| is_secret(word)), None, "{line}");
    }
}
