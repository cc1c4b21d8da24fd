use super::*;
use crate::event::{Bytes, Space, What};
use crate::session::story::{Story, labels_of};

fn values(row: &Row, name: &str) -> Vec<f64> {
    let mut times = row.times.iter();
    let found = times.find(|time| time.series.name == name);
    found.map_or(Vec::new(), |time| time.series.values.clone())
}

#[test]
fn a_row_has_its_times_bytes_and_proofs_in_run_order() {
    let mut story = Story::new();
    let vzdump = story.binding("pve-vzdump", "pve1");
    for (backup, restore, bytes) in [(27.0, 57.0, 900), (28.0, 60.0, 800), (28.0, 66.0, 850)] {
        let run = story.run(&vzdump, "full");
        story.seconds(&run, "backup", Clock::Task, 1.0, backup);
        story.sample(&run, "full", "archive", 1e3, "B", &[]);
        story.stored(&run, "archive", bytes);
        story.seconds(&run, "restore", Clock::Task, 1.0, restore);
        story.proved(&run, true);
        story.done(&run, EndState::Ok);
    }
    let tally = Tally::of(&story.session());
    assert_eq!(tally.rows.len(), 1);
    let row = &tally.rows[0];
    assert_eq!(
        (row.host.as_str(), row.name().as_str()),
        ("pve1", "pve-vzdump full")
    );
    let names: Vec<&str> = row
        .times
        .iter()
        .map(|time| time.series.name.as_str())
        .collect();
    assert_eq!(names, ["backup", "restore"]);
    assert_eq!(values(row, "restore"), [57.0, 60.0, 66.0]);
    let restore = &row.times[1];
    assert_eq!((restore.clock, restore.stated), (Clock::Task, true));
    assert_eq!(restore.series.median(), Some(60.0));
    assert!((restore.series.resolution - 1.0).abs() < f64::EPSILON);
    // What the tool prints and what is read are two figures.
    assert_eq!(row.space[0].values, [1e3; 3]);
    assert_eq!(row.space[1].name, "archive");
    assert_eq!(row.space[1].values, [900.0, 800.0, 850.0]);
    assert_eq!((row.matched, row.of), (3, 3));
    assert_eq!(
        (row.by.as_str(), row.share.as_str()),
        ("sha256", "all of 1 GiB")
    );
    assert_eq!(row.same_disk(), Some(true));
    assert_eq!(row.subject_bytes, [1 << 30]);
    assert_eq!(row.states, [EndState::Ok; 3]);
}

#[test]
fn a_run_that_goes_on_is_shown_but_does_not_count() {
    let mut story = Story::new();
    let tar = story.binding("files-tar", "h1");
    let first = story.run(&tar, "full");
    story.seconds(&first, "backup", Clock::Host, 0.0, 5.0);
    story.proved(&first, true);
    story.done(&first, EndState::Warnings);
    let second = story.run(&tar, "full");
    story.seconds(&second, "backup", Clock::Host, 0.0, 9.0);

    let live = Tally::of(&story.session()).rows.remove(0);
    assert_eq!(values(&live, "backup"), [5.0]);
    assert_eq!(live.times[0].series.out, [(1, 9.0)]);
    assert_eq!(live.outcomes[1], Outcome::GoesOn);
    assert_eq!(live.counted(), (1, 1));
    assert_eq!(live.states, [EndState::Warnings]);
    assert_eq!((live.matched, live.of), (1, 1));

    story.done(&second, EndState::Failed);
    let failed = Tally::of(&story.session()).rows.remove(0);
    assert_eq!(values(&failed, "backup"), [5.0]);
    assert_eq!(failed.states, [EndState::Warnings, EndState::Failed]);
    assert_eq!((failed.matched, failed.of), (1, 2));
    assert_eq!(failed.proofs, [Some(true), None]);
    assert_eq!(failed.times[0].series.out, [(1, 9.0)]);
    assert_eq!(failed.counted(), (2, 1));
}

#[test]
fn a_run_without_the_proof_that_its_method_makes_is_out() {
    let mut story = Story::new();
    let tar = story.binding("files-tar", "h1");
    for (seconds, proof) in [
        (5.0, Some(true)),
        (1.0, None),
        (6.0, Some(true)),
        (2.0, Some(false)),
    ] {
        let run = story.run(&tar, "full");
        story.seconds(&run, "restore", Clock::Host, 0.0, seconds);
        if let Some(proof) = proof {
            story.proved(&run, proof);
        }
        story.done(&run, EndState::Ok);
    }
    let row = Tally::of(&story.session()).rows.remove(0);
    assert_eq!(values(&row, "restore"), [5.0, 6.0]);
    assert_eq!(row.times[0].series.out, [(1, 1.0), (3, 2.0)]);
    assert_eq!(row.counted(), (4, 2));
    assert_eq!(row.states, [EndState::Ok; 4]);
    let told = row.remarks.join("\n");
    assert!(told.contains("restore: 2 of 4 runs have a value"), "{told}");
    assert!(told.contains("runs 2, 4 are not verified"), "{told}");
}

#[test]
fn only_runs_that_ended_well_count() {
    for (end, counts) in [
        (EndState::Ok, true),
        (EndState::Warnings, true),
        (EndState::Failed, false),
        (EndState::Stopped, false),
        (EndState::Lost, false),
    ] {
        let mut story = Story::new();
        let tar = story.binding("files-tar", "h1");
        let run = story.run(&tar, "full");
        story.seconds(&run, "backup", Clock::Host, 0.0, 5.0);
        story.done(&run, end);
        let row = Tally::of(&story.session()).rows.remove(0);
        assert_eq!(values(&row, "backup").len(), usize::from(counts), "{end}");
        assert_eq!(row.states, [end]);
    }
}

#[test]
fn samples_of_one_run_can_belong_to_two_series() {
    let mut story = Story::new();
    let rsync = story.binding("files-rsync", "h1");
    for (first, again) in [(8.0, 1.0), (9.0, 2.0)] {
        let run = story.run(&rsync, "first");
        story.sample(&run, "first", "copy", first, "s", &[]);
        story.sample(&run, "unchanged", "copy", again, "s", &[]);
        story.done(&run, EndState::Ok);
    }
    // This one never came to the second copy, and is missing there, too.
    let run = story.run(&rsync, "first");
    story.sample(&run, "first", "copy", 7.0, "s", &[]);
    story.done(&run, EndState::Failed);
    let rows = Tally::of(&story.session()).rows;
    let names: Vec<String> = rows.iter().map(Row::name).collect();
    assert_eq!(names, ["files-rsync first", "files-rsync unchanged"]);
    assert_eq!(values(&rows[0], "copy"), [8.0, 9.0]);
    assert_eq!(values(&rows[1], "copy"), [1.0, 2.0]);
    for row in &rows {
        assert_eq!(row.states.len(), 3, "{}", row.name());
        let told = row.remarks.join("\n");
        assert!(told.contains("copy: 2 of 3 runs have a value"), "{told}");
        assert!(told.contains("run 3 failed: disk full"), "{told}");
    }
}

#[test]
fn a_series_that_a_run_decides_keeps_its_runs_apart() {
    let mut story = Story::new();
    let pbs = story.binding("pve-pbs", "pve1");
    for (series, seconds) in [("first", 48.0), ("full", 40.0), ("dirty-bitmap", 3.0)] {
        // What the run will be is not known when it starts.
        let run = story.run(&pbs, "backup");
        story.sample(&run, series, "backup", seconds, "s", &[]);
        story.done(&run, EndState::Ok);
    }
    let rows = Tally::of(&story.session()).rows;
    let got: Vec<_> = rows
        .iter()
        .map(|row| (row.series.as_str(), values(row, "backup"), row.states.len()))
        .collect();
    assert_eq!(
        got,
        [
            ("first", vec![48.0], 1),
            ("full", vec![40.0], 1),
            ("dirty-bitmap", vec![3.0], 1)
        ]
    );
}

#[test]
fn a_run_without_values_has_a_row_all_the_same() {
    let mut story = Story::new();
    let tar = story.binding("files-tar", "h1");
    let run = story.run(&tar, "full");
    story.done(&run, EndState::Failed);
    let rows = Tally::of(&story.session()).rows;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].states, [EndState::Failed]);
    assert!(rows[0].times.is_empty());
    assert_eq!((rows[0].matched, rows[0].of), (0, 0));
}

#[test]
fn iterations_share_a_series_and_stand_in_their_order() {
    let mut story = Story::new();
    let zfs = story.binding("zfs-snapshot", "nas");
    for run in 0..2 {
        let id = story.run(&zfs, "native");
        for i in [2, 1, 3] {
            let value = f64::from(run * 10 + i);
            story.sample(
                &id,
                "native",
                "snapshot",
                value,
                "s",
                &[("i", &i.to_string())],
            );
        }
        story.sample(&id, "native", "rollback", 0.2, "s", &[]);
        story.done(&id, EndState::Ok);
    }
    let row = Tally::of(&story.session()).rows.remove(0);
    assert_eq!(row.times[0].series.name, "snapshot");
    assert_eq!(values(&row, "snapshot"), [1.0, 2.0, 3.0, 11.0, 12.0, 13.0]);
    assert_eq!(row.times[0].series.runs, [0, 0, 0, 1, 1, 1]);
}

#[test]
fn a_median_never_mixes_clocks_nor_loads() {
    let mut story = Story::new();
    let zfs = story.binding("zfs-snapshot", "nas");
    let run = story.labelled(&zfs, "native", &[("cache", "cold")]);
    story.sample(
        &run,
        "native",
        "snapshot",
        0.04,
        "s",
        &[("load", "idle"), ("cache", "cold")],
    );
    story.sample(&run, "native", "snapshot", 0.32, "s", &[("load", "fio")]);
    story.seconds(&run, "restore", Clock::Task, 1.0, 2.0);
    story.seconds(&run, "restore", Clock::Here, 0.0, 2.4);
    story.done(&run, EndState::Ok);
    let row = Tally::of(&story.session()).rows.remove(0);
    let columns: Vec<_> = row
        .times
        .iter()
        .map(|time| {
            (
                time.series.name.as_str(),
                time.clock,
                time.series.labels.clone(),
            )
        })
        .collect();
    assert_eq!(
        columns,
        [
            ("snapshot", Clock::Host, labels_of(&[("load", "idle")])),
            ("snapshot", Clock::Host, labels_of(&[("load", "fio")])),
            ("restore", Clock::Task, labels_of(&[])),
            ("restore", Clock::Here, labels_of(&[])),
        ]
    );
    assert_eq!(row.labels, labels_of(&[("cache", "cold")]));
}

#[test]
fn bindings_of_one_method_are_told_apart_by_what_differs() {
    let mut story = Story::new();
    for storage in ["local", "nas"] {
        let id = story.binding("pve-vzdump", "pve1");
        let bound = story.bound(&id);
        bound.settings = labels_of(&[("storage", storage), ("mode", "snapshot")]);
        let run = story.run(&id, "full");
        story.seconds(&run, "backup", Clock::Task, 1.0, 9.0);
        story.done(&run, EndState::Ok);
    }
    let rows = Tally::of(&story.session()).rows;
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].settings, labels_of(&[("storage", "local")]));
    assert_eq!(rows[1].name(), "pve-vzdump full storage=nas");
}

#[test]
fn the_same_binding_twice_is_one_row() {
    let mut story = Story::new();
    story.runs_of("files-tar", "h1", "backup", Clock::Host, &[1.0]);
    story.runs_of("files-tar", "h1", "backup", Clock::Host, &[2.0]);
    let rows = Tally::of(&story.session()).rows;
    assert_eq!(rows.len(), 1);
    assert_eq!(values(&rows[0], "backup"), [1.0, 2.0]);
}

#[test]
fn space_that_is_read_for_each_item_is_a_series_of_each() {
    let mut story = Story::new();
    let btrfs = story.binding("btrfs-send", "nas");
    for bytes in [[10, 70], [20, 80]] {
        let run = story.run(&btrfs, "native");
        for (count, bytes) in ["1", "100"].into_iter().zip(bytes) {
            let step = story.step_for(&run, "many", Phase::Prepare, &[("count", count)]);
            story.tell(What::Space(Space {
                run: run.clone(),
                step,
                name: "many".into(),
                series: String::new(),
                logical: None,
                stored: None,
                held: (count == "100" || bytes == 10).then_some(Bytes(bytes)),
                settled: true,
                why: (bytes == 20).then(|| "not available, because it is so".to_owned()),
            }));
        }
        story.done(&run, EndState::Ok);
    }
    let row = Tally::of(&story.session()).rows.remove(0);
    let all = row.space.iter();
    let all: Vec<_> = all.map(|one| (one.title(), one.values.clone())).collect();
    let expected = [
        ("many held (count 1)".to_owned(), vec![10.0]),
        ("many held (count 100)".to_owned(), vec![70.0, 80.0]),
    ];
    assert_eq!(all, expected);
    assert_eq!(
        row.remarks,
        [
            "many held (count 1): 1 of 2 runs have a value",
            "many (count 1), run 2: not available, because it is so"
        ]
    );
}

#[test]
fn a_space_reading_gives_up_to_three_figures() {
    let mut story = Story::new();
    let btrfs = story.binding("btrfs-snapshot", "nas");
    let run = story.run(&btrfs, "native");
    story.tell(What::Space(Space {
        run: run.clone(),
        step: "s9".into(),
        name: "snapshot".into(),
        series: String::new(),
        logical: Some(Bytes(300)),
        stored: Some(Bytes(0)),
        held: Some(Bytes(20)),
        settled: false,
        why: Some("still shrinking after 30 s".into()),
    }));
    story.sample(&run, "native", "rate", 5.5e8, "B/s", &[]);
    story.done(&run, EndState::Ok);
    let row = Tally::of(&story.session()).rows.remove(0);
    let figures: Vec<_> = row
        .space
        .iter()
        .map(|series| (series.name.as_str(), series.unit.as_str(), series.values[0]))
        .collect();
    assert_eq!(
        figures,
        [
            ("rate", "B/s", 5.5e8),
            ("snapshot logical", "B", 300.0),
            ("snapshot", "B", 0.0),
            ("snapshot held", "B", 20.0),
        ]
    );
    assert_eq!(
        row.remarks,
        ["snapshot, run 1: not settled: still shrinking after 30 s"]
    );
}

#[test]
fn a_published_median_has_no_values_and_is_none() {
    let mut story = Story::new();
    let zfs = story.binding("zfs-snapshot", "lab");
    story.published(&zfs, "rollback", "median", 0.194);
    story.published(&zfs, "cleanup", "median", 11.011);
    story.published(&zfs, "cleanup", "min", 5.011);
    story.published(&zfs, "cleanup", "max", 12.014);
    story.published(&zfs, "cleanup", "mean", 9.5);
    let row = Tally::of(&story.session()).rows.remove(0);
    let rollback = &row.times[0];
    assert_eq!(rollback.series.published, Some(0.194));
    assert_eq!(rollback.series.median(), None);
    assert!(!rollback.stated);
    let cleanup = &row.times[1].series;
    assert_eq!(
        (cleanup.published_min, cleanup.published_max),
        (Some(5.011), Some(12.014))
    );
    assert!(row.states.is_empty());
    assert_eq!(row.remarks, ["cleanup: mean 9.5 s is printed"]);
}

#[test]
fn a_proof_that_does_not_hold_is_no_match() {
    let mut story = Story::new();
    let tar = story.binding("files-tar", "h1");
    let run = story.run(&tar, "full");
    story.proved(&run, true);
    story.proved(&run, false);
    story.done(&run, EndState::Failed);
    let row = Tally::of(&story.session()).rows.remove(0);
    assert_eq!((row.matched, row.of), (0, 1));
    assert_eq!(row.proofs, [Some(false)]);
}

#[test]
fn sessions_are_put_together_without_mixing_them() {
    let mut story = Story::new();
    story.runs_of("files-tar", "h1", "backup", Clock::Host, &[1.0]);
    let one = story.session();
    story.header.session = "cb-ffffffff".into();
    let other = story.session();
    let rows = Tally::of_all(&[&one, &other]).rows;
    assert_eq!(rows.len(), 2);
    assert_ne!(rows[0].session, rows[1].session);
}

/// What nothing can have given is marked, and out of every median, whatever it is a figure of.
#[test]
fn figures_that_cannot_be_count_nowhere() {
    let mut story = Story::new();
    let binding = story.binding("files-cp", "h1");
    let odd = u64::MAX - 4095;
    for (seconds, told, stored) in [(2.0, 1e300, 900), (-5.0, -8.0, odd), (4.0, 700.0, 800)] {
        let run = story.run(&binding, "full");
        story.seconds(&run, "restore", Clock::Host, 0.001, seconds);
        story.sample(&run, "full", "archive", told, "B", &[]);
        if let Some(What::Sample(sample)) = story.last() {
            sample.step = Some("s0".into());
        }
        story.sample(&run, "full", "rate", told, "B/s", &[]);
        story.stored(&run, "copy", stored);
        story.proved(&run, true);
        story.done(&run, EndState::Ok);
    }
    let row = &Tally::of(&story.session()).rows[0];
    assert_eq!(values(row, "restore"), [2.0, 4.0]);
    let space = |name: &str| {
        let found = row.space.iter().find(|series| series.name == name);
        found.map(|series| (series.values.clone(), series.out.len()))
    };
    assert_eq!(space("archive"), Some((vec![700.0], 2)));
    assert_eq!(space("rate"), Some((vec![700.0], 2)));
    assert_eq!(space("copy"), Some((vec![900.0, 800.0], 1)));
    let marked = row.remarks.iter().filter(|one| one.contains("cannot be"));
    assert_eq!(marked.count(), 6, "{:?}", row.remarks);
    assert!(
        row.remarks.iter().all(|remark| remark.len() < 120),
        "{:?}",
        row.remarks
    );
}
