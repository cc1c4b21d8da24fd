mod hostile;

use super::*;
use crate::event::{
    BindingId, Clock, EndState, Intended, Leave, LeaveKind, LeaveState, Level, Subject, What,
    parse_line, to_line,
};
use crate::session::story::{Story, everything};

/// Three methods that take turns on one host's disk, timed by a whole-second clock.
fn comparison() -> Story {
    let mut story = Story::new();
    let ids: Vec<BindingId> = ["pve-snapshot", "pve-vzdump", "pve-pbs"]
        .iter()
        .map(|method| {
            let id = story.binding(method, "pve1");
            story.bound(&id).subject = Subject {
                kind: "vm".into(),
                id: "9001".into(),
                ..Subject::default()
            };
            id
        })
        .collect();
    let restores = [[2.0, 2.0, 2.0], [57.0, 60.0, 66.0], [66.0, 58.0, 59.0]];
    for (rep, turn) in (0..3).flat_map(|rep| (0..3).map(move |turn| (rep, turn))) {
        let at = (rep + turn) % 3;
        let run = story.labelled(&ids[at], "full", &[("cache", "cold")]);
        if at == 0 {
            story.seconds(&run, "backup", Clock::Task, 1.0, 0.0);
            let fine = 0.81 + rep as f64 / 10.0;
            story.seconds(&run, "backup", Clock::Here, 0.001, fine);
        } else {
            story.stored(
                &run,
                "archive",
                9_620_000_000 + 40_000_000 * (at + rep) as u64,
            );
        }
        story.seconds(&run, "restore", Clock::Task, 1.0, restores[at][rep]);
        story.proved(&run, true);
        story.done(&run, EndState::Ok);
    }
    story.end();
    story
}

fn table(story: &Story, width: usize) -> String {
    render_width(Format::Table, &[&story.session()], width)
}

fn json(story: &Story) -> serde_json::Value {
    serde_json::from_str(&render(Format::Json, &[&story.session()])).unwrap()
}

#[test]
fn a_comparison_as_a_table() {
    insta::assert_snapshot!("comparison_80", table(&comparison(), 80));
    insta::assert_snapshot!("comparison_140", table(&comparison(), 140));
}

#[test]
fn a_comparison_as_markdown_and_csv() {
    let session = comparison().session();
    insta::assert_snapshot!("comparison_md", render(Format::Markdown, &[&session]));
    insta::assert_snapshot!("comparison_csv", render(Format::Csv, &[&session]));
}

#[test]
fn three_rollbacks_against_three_restores_are_told_without_a_bare_ratio() {
    let text = table(&comparison(), 120);
    assert!(text.contains("2 ±1 s"), "{text}");
    assert!(
        text.contains(
            "pve-snapshot and pve-vzdump: \
             ranges do not overlap, n = 3, 18x–67x (2 and 57–66 s)"
        ),
        "{text}"
    );
    assert!(!text.contains("30x"), "{text}");
}

#[test]
fn overlapping_restores_show_no_difference() {
    let text = table(&comparison(), 120);
    assert!(
        text.contains("60 ±1 s") && text.contains("59 ±1 s"),
        "{text}"
    );
    assert!(
        text.contains(
            "pve-vzdump and pve-pbs: \
             no difference shown (57–66 and 58–66 s, n = 3)"
        ),
        "{text}"
    );
}

#[test]
fn json_has_the_keys_of_the_contract_in_their_order() {
    let mut story = Story::new();
    for (method, values) in [("a", [57.0, 60.0, 66.0]), ("b", [66.0, 58.0, 59.0])] {
        let id = story.binding(method, "h1");
        for value in values {
            let run = story.labelled(&id, "full", &[("cache", "cold")]);
            story.seconds(&run, "restore", Clock::Task, 1.0, value);
            story.stored(&run, "archive", 1000 + value as u64);
            story.proved(&run, true);
            story.done(&run, EndState::Ok);
        }
    }
    story.header.facts.clear();
    story.end();
    let row = |method: &str,
               values: &str,
               median: u32,
               low: u32,
               archive: &str,
               middle,
               remarks| {
        format!(
            r#"{{"host":"h1","method":"{method}","series":"full","reps":3,"states":["ok","ok","ok"],"labels":{{"cache":"cold"}},"times":[{{"name":"restore","clock":"task","unit":"s","resolution":1,"values":[{values}],"median":{median},"min":{low},"max":66}}],"space":[{{"name":"archive","unit":"B","values":[{archive}],"median":{middle}}}],"placement":{{"original":"sda","copy":"sda","same_disk":true}},"verified":{{"algorithm":"sha256","matched":3,"of":3,"share":"all of 1 GiB"}},"remarks":[{remarks}]}}"#
        )
    };
    let before =
        r#""all its runs came before all runs of b full: drift would look like a difference""#;
    let after =
        r#""all its runs came after all runs of a full: drift would look like a difference""#;
    let trend = format!(r#""restore: each run slower than the one before",{before}"#);
    let first = format!(r#""restore: the first run (66 s) is far from the others",{after}"#);
    let expected = format!(
        r#"{{"format":"comeback-report/1","origin":"captured","environment":{{"sessions":[{{"session":"cb-0a1b2c3d","program":"comeback 0.1.0","origin":"captured","started":"2026-05-28T20:26:40Z","order":"interleaved","reps":3}}],"hosts":{{}}}},"rows":[{},{}],"verdicts":[{{"time":"restore","a":{{"host":"h1","method":"a","series":"full"}},"b":{{"host":"h1","method":"b","series":"full"}},"says":"no difference shown","low":null,"high":null}}]}}"#,
        row("a", "57,60,66", 60, 57, "1057,1060,1066", 1060, trend),
        row("b", "66,58,59", 59, 58, "1066,1058,1059", 1059, first),
    );
    assert_eq!(render(Format::Json, &[&story.session()]), expected + "\n");
}

#[test]
fn json_gives_ratios_and_says_what_may_be_said() {
    let report = json(&comparison());
    let verdicts = report["verdicts"].as_array().unwrap();
    let restore: Vec<_> = verdicts
        .iter()
        .filter(|one| one["time"] == "restore")
        .map(|one| {
            let side = |key: &str| one[key]["method"].as_str().unwrap().to_owned();
            (
                format!("{} {}", side("a"), side("b")),
                one["says"].as_str().unwrap().to_owned(),
                one["low"].clone(),
                one["high"].clone(),
            )
        })
        .collect();
    let apart = "ranges do not overlap, n = 3".to_owned();
    assert_eq!(
        restore,
        [
            (
                "pve-snapshot pve-vzdump".to_owned(),
                apart.clone(),
                18.into(),
                67.into()
            ),
            (
                "pve-snapshot pve-pbs".to_owned(),
                apart,
                19.into(),
                67.into()
            ),
            (
                "pve-vzdump pve-pbs".to_owned(),
                "no difference shown".to_owned(),
                serde_json::Value::Null,
                serde_json::Value::Null
            ),
        ]
    );
}

#[test]
fn a_report_of_the_recording_is_that_of_the_live_run_to_the_byte() {
    for story in [comparison(), everything()] {
        let live = story.session();
        let mut replayed = Session::default();
        for event in story.events() {
            replayed.apply(&parse_line(&to_line(&event).unwrap()).unwrap());
        }
        for (name, format) in Format::ALL {
            let report = render(format, &[&replayed]);
            assert_eq!(report, render(format, &[&live]), "{name}");
            assert!(
                report.ends_with('\n') && !report.ends_with("\n\n"),
                "{name}"
            );
        }
    }
}

#[test]
fn a_failed_run_stays_visible_and_out_of_the_median() {
    let mut story = Story::new();
    let tar = story.binding("files-tar", "h1");
    for (value, end) in [
        (9.0, EndState::Ok),
        (1.0, EndState::Failed),
        (8.0, EndState::Warnings),
        (8.5, EndState::Ok),
    ] {
        let run = story.run(&tar, "full");
        story.seconds(&run, "restore", Clock::Host, 1e-6, value);
        if end.is_good() {
            story.proved(&run, true);
        }
        story.done(&run, end);
    }
    story.end();
    let text = table(&story, 100);
    for expected in [
        "ok, failed, warnings, ok",
        "sha256 ✓ · ✓ ✓ 3/4",
        "9.000 8.000 8.500",
        "restore: 3 of 4 runs have a value",
        "run 2 failed: disk full",
    ] {
        assert!(text.contains(expected), "{expected}:\n{text}");
    }
    let report = json(&story);
    let row = &report["rows"][0];
    assert_eq!(row["times"][0]["median"], 8.5);
    assert_eq!(row["verified"]["matched"], 3);
    assert_eq!(row["verified"]["of"], 4);
    let csv = render(Format::Csv, &[&story.session()]);
    assert!(
        csv.contains("h1,files-tar,full,r2,2,failed,restore,1,s,host,0.000001,"),
        "{csv}"
    );
}

#[test]
fn a_published_figure_says_that_it_has_no_values() {
    let mut story = Story::new();
    let zfs = story.binding("zfs-snapshot", "lab");
    story.header.origin = crate::event::Origin::Published;
    story.published(&zfs, "cleanup", "median", 11.011);
    story.published(&zfs, "cleanup", "min", 5.011);
    story.published(&zfs, "cleanup", "max", 12.014);
    story.end();
    let text = table(&story, 100);
    assert!(text.contains("figures of a publication"), "{text}");
    assert!(
        text.contains("11.01 s  5.01–12.01   –  printed without its values"),
        "{text}"
    );
    let report = json(&story);
    assert_eq!(report["origin"], "published");
    assert_eq!(
        report["rows"][0]["times"][0],
        serde_json::json!({
            "name": "cleanup", "clock": null, "unit": "s", "resolution": 0, "values": [],
            "median": 11.011, "min": 5.011, "max": 12.014,
            "published": {"median": 11.011, "min": 5.011, "max": 12.014},
        })
    );
    assert_eq!(
        render(Format::Csv, &[&story.session()]).lines().nth(1),
        Some("lab,zfs-snapshot,full,,,published,cleanup median,11.011,s,,,")
    );
}

#[test]
fn a_recording_that_ends_early_says_so_on_top() {
    let mut story = comparison();
    story.told.truncate(20);
    let text = table(&story, 100);
    let second = text.lines().nth(1).unwrap();
    assert!(second.starts_with("! the recording ends early ("), "{text}");
    let report = json(&story);
    let warning = report["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("the recording ends early ("));
    let markdown = render(Format::Markdown, &[&story.session()]);
    assert!(markdown.contains("> **Warning:** the recording ends early"));
}

#[test]
fn what_is_still_out_and_went_wrong_is_told() {
    let mut story = Story::new();
    let tar = story.binding("files-tar", "h1");
    let run = story.run(&tar, "full");
    for (leave, state) in [
        (
            "l1",
            LeaveState::Intended(Intended {
                run: run.clone(),
                step: "s1".into(),
                host: "h1".into(),
                name: "archive".into(),
                kind: LeaveKind::Copy,
                find: String::new(),
                undo: String::new(),
                back: None,
            }),
        ),
        (
            "l1",
            LeaveState::Kept {
                why: "the restore failed".into(),
            },
        ),
    ] {
        story.tell(What::Leave(Leave {
            leave: leave.into(),
            state,
        }));
    }
    story.note(Some(&run), Level::Error, "tar: write error");
    story.done(&run, EndState::Failed);
    story.tell(What::End(crate::event::End {
        exit: 1,
        reason: "a run failed".into(),
    }));
    let text = table(&story, 100);
    for expected in [
        "! it ended with exit code 1: a run failed",
        "Still out\n  ! h1: archive, kept: the restore failed\n",
        "Notes\n  ! tar: write error\n",
    ] {
        assert!(text.contains(expected), "{expected}:\n{text}");
    }
}

#[test]
fn sessions_put_together_keep_their_rows_apart() {
    let one = comparison();
    let mut other = comparison();
    other.header.session = "cb-ffffffff".into();
    let (one, other) = (one.session(), other.session());
    let report: serde_json::Value =
        serde_json::from_str(&render(Format::Json, &[&one, &other])).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    assert_eq!(rows[0]["session"], "cb-0a1b2c3d");
    assert_eq!(rows[3]["session"], "cb-ffffffff");
    assert_eq!(
        report["environment"]["sessions"].as_array().unwrap().len(),
        2
    );
    assert_eq!(report["environment"]["hosts"].as_object().unwrap().len(), 1);
    let text = render_width(Format::Table, &[&one, &other], 100);
    assert!(text.contains("pve1 · pve-pbs full · cb-ffffffff"), "{text}");
    let csv = render(Format::Csv, &[&one, &other]);
    assert!(csv.contains(",cb-ffffffff/r1,"), "{csv}");
}

#[test]
fn settings_tell_rows_apart() {
    let mut story = Story::new();
    for storage in ["local", "nas"] {
        let id = story.binding("pve-vzdump", "pve1");
        let settings = &mut story.bound(&id).settings;
        settings.insert("storage".into(), storage.into());
        let run = story.run(&id, "full");
        story.seconds(&run, "backup", Clock::Task, 1.0, 9.0);
        story.done(&run, EndState::Ok);
    }
    let report = json(&story);
    assert_eq!(report["rows"][1]["settings"]["storage"], "nas");
    assert_eq!(report["verdicts"][0]["a"]["settings"]["storage"], "local");
}

#[test]
fn pairs_that_may_not_be_compared_are_told_once_each() {
    let mut story = Story::new();
    for (method, disk) in [("a", "sda"), ("b", "sdb"), ("c", "sda")] {
        let host = if method == "c" { "h2" } else { "h1" };
        let id = story.binding(method, host);
        let placement = story.bound(&id).placement.as_mut().unwrap();
        placement.copy.disks = vec![disk.into()];
        let run = story.run(&id, "full");
        for time in ["backup", "restore"] {
            story.seconds(&run, time, Clock::Host, 0.0, 9.0);
        }
        story.done(&run, EndState::Ok);
    }
    let text = table(&story, 130);
    assert!(
        text.contains(
            "Compared\n  - h1 a and h1 b: not comparable: \
             copies on different devices (sda, sdb) (backup · restore)\n  \
             - h1 and h2 are different machines: no verdict between them.\n"
        ),
        "{text}"
    );
}

#[test]
fn nothing_at_all_is_a_report_too() {
    for (name, format) in Format::ALL {
        assert!(!render(format, &[]).is_empty(), "{name}");
        assert!(!render(format, &[&Session::default()]).is_empty(), "{name}");
    }
}

#[test]
fn formats_are_typed_as_they_are_called() {
    for (name, format) in Format::ALL {
        assert_eq!(name.parse::<Format>(), Ok(format));
        assert_eq!(format.to_string(), name);
    }
    assert_eq!(
        "xml".parse::<Format>().unwrap_err().to_string(),
        "\"xml\" is no report format: expected table, markdown, csv or json"
    );
}
