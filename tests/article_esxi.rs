//! The figures of the `ESXi` article as a recording: made again, reported, and carried over to other disks.
#![cfg(test)]

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

#[path = "../examples/article_esxi.rs"]
#[expect(dead_code, reason = "its command line is not used here")]
mod article;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn comeback(args: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_comeback");
    Command::new(program)
        .args(args)
        .current_dir(root())
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&text(&comeback(args))).unwrap()
}

const ESXI: &str = "recordings/article-esxi.jsonl";

#[test]
fn the_recording_is_what_the_example_makes_of_what_is_printed() {
    let printed = include_str!("../recordings/article-esxi.toml");
    let shipped = include_str!("../recordings/article-esxi.jsonl");
    assert!(article::recording(printed).unwrap() == shipped);
}

/// Rates are of bytes and time, whatever is printed beside them.
#[test]
fn rates_are_made_of_bytes_and_time_and_two_rows_contradict_theirs() {
    let report = json(&["report", ESXI, "--format", "json"]);
    assert_eq!(report["origin"], "published");
    let rows = report["rows"].as_array().unwrap();
    let mut rates = 0;
    let mut contradict = Vec::new();
    for row in rows {
        let figure = |name: &str, unit: &str| {
            let all = row["space"].as_array().unwrap();
            let mut all = all.iter().chain(row["times"].as_array().unwrap());
            let found = all.find(|one| one["name"] == name && one["unit"] == unit)?;
            assert_eq!(found["values"].as_array().unwrap().len(), 1, "{row}");
            found["median"].as_f64()
        };
        let seconds = figure("backup", "s").unwrap();
        if row["series"] == "unchanged" {
            assert_eq!(figure("backup", "B/s"), None, "{row}");
            let remarks = row["remarks"].to_string();
            assert!(remarks.contains("that is no rate"), "{row}");
            continue;
        }
        let rate = figure("backup", "B/s").unwrap();
        assert!((rate * seconds - 8_589_934_592.0).abs() < 1.0, "{row}");
        rates += 1;
        let remarks = row["remarks"].to_string();
        for (method, here) in [("copy-ftp", "esxi-ftp"), ("copy-scp", "esxi-scp")] {
            let says = remarks.contains(&format!("is measured here by {here}"));
            assert_eq!(says, row["method"] == method, "{row}");
        }
        if remarks.contains("is told, its bytes") {
            contradict.push(row["method"].as_str().unwrap());
        }
    }
    assert_eq!((rows.len(), rates), (21, 19));
    assert_eq!(contradict, ["copy-datastore", "copy-rsync"]);
}

#[test]
fn disks_of_ones_own_are_projected_in_each_format() {
    let disks = ["project", ESXI, "--disk", "50GB", "--disk", "400GiB"];
    let all = json(&[&disks[..], &["--format", "json"]].concat());
    let way = all["ways"].as_array().unwrap();
    let ftp = way
        .iter()
        .find(|way| way["method"] == "copy-ftp" && !way["restore"].is_null());
    let each = &ftp.unwrap()["protect"]["each"][0];
    // 50 GB at 8192 MiB in 281 s, give or take one.
    let seconds = 50e9 / (8192.0 * 1_048_576.0) * 281.0;
    let (low, high) = (
        each["low"].as_f64().unwrap(),
        each["high"].as_f64().unwrap(),
    );
    assert!(
        low < seconds && seconds < high && high / low < 1.01,
        "{each}"
    );
    for format in ["table", "markdown", "csv"] {
        let told = text(&comeback(&[&disks[..], &["--format", format]].concat()));
        assert!(told.contains("esxi-clone"), "{told}");
    }
}

#[test]
fn a_pipeline_is_of_methods_that_have_rates() {
    let wanted = ["project", ESXI, "--disk", "50GB", "--pipeline"];
    let told = text(&comeback(&[&wanted[..], &["copy-local,copy-scp"]].concat()));
    assert!(told.contains("were not measured together"), "{told}");
    for (pipeline, why) in [
        (
            "copy-local,files-cp",
            "no rate of files-cp is in the recording",
        ),
        ("copy-local", "expected two methods"),
        ("a,b,c", "expected two methods"),
    ] {
        let refused = comeback(&[&wanted[..], &[pipeline]].concat());
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
    }
    let refused = comeback(&["project", ESXI, "--disk", "0"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}
