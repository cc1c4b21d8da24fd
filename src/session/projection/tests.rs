use super::*;
use crate::event::{BindingId, Bytes, EndState, Projected, RunId, What};
use crate::session::beside;
use crate::session::story::Story;

const MIB: f64 = 1_048_576.0;

/// A run that moved 1 GiB at a rate, in MiB/s.
fn moved(
    story: &mut Story,
    binding: &BindingId,
    series: &str,
    with: Option<&str>,
    rates: &[(&str, Phase, f64)],
) {
    let labels: Vec<(&str, &str)> = with.iter().map(|other| (TOGETHER, *other)).collect();
    let series = with.map_or(series.to_owned(), |other| beside(series, other));
    let run = story.labelled(binding, &series, &labels);
    story.sample(&run, &series, "subject", 1024.0 * MIB, "B", &[]);
    for (name, phase, rate) in rates {
        let step = story.step(&run, name, *phase);
        of_step(story, &run, &series, name, 1024.0 / rate, "s");
        last_is_of(story, &step);
        of_step(story, &run, &series, name, rate * MIB, "B/s");
        last_is_of(story, &step);
        // Of a pair nothing is known of when: one follows the other here.
        if with.is_none() {
            story.step_done(&step, EndState::Ok);
        }
    }
    story.done(&run, EndState::Ok);
}

fn of_step(story: &mut Story, run: &RunId, series: &str, name: &str, value: f64, unit: &str) {
    story.sample(run, series, name, value, unit, &[]);
}

fn last_is_of(story: &mut Story, step: &crate::event::StepId) {
    if let Some(What::Sample(sample)) = story.told.last_mut() {
        sample.step = Some(step.clone());
    }
}

/// A clone at 10 or 12.5, beside the transfer at 5; the transfer at 20, beside the clone at 4.
fn story() -> Story {
    let mut story = Story::new();
    let clone = story.binding("clone", "h1");
    let send = story.binding("send", "h1");
    for rate in [10.0, 12.5] {
        moved(
            &mut story,
            &clone,
            "full",
            None,
            &[("backup", Phase::Protect, rate)],
        );
    }
    moved(
        &mut story,
        &send,
        "full",
        None,
        &[
            ("backup", Phase::Protect, 20.0),
            ("restore", Phase::Restore, 16.0),
        ],
    );
    moved(
        &mut story,
        &clone,
        "full",
        Some("send"),
        &[("backup", Phase::Protect, 5.0)],
    );
    moved(
        &mut story,
        &send,
        "full",
        Some("clone"),
        &[("backup", Phase::Protect, 4.0)],
    );
    story
}

fn of(
    story: &Story,
    disks: &[u64],
    pipeline: Option<[&str; 2]>,
) -> Result<Projection, PipelineError> {
    let wanted = Wanted {
        disks: disks.to_vec(),
        pipeline: pipeline.map(|pair| pair.map(str::to_owned)),
    };
    Projection::of(&story.session(), &wanted)
}

const GIB: u64 = 1 << 30;

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-6 * other.abs().max(1.0)
}

#[test]
fn each_method_is_carried_over_as_a_range() {
    let all = of(&story(), &[GIB, 3 * GIB], None).unwrap();
    assert_eq!(all.ways.len(), 2, "{:#?}", all.ways);
    let clone = all.ways[0].protecting.unwrap();
    assert!(
        near(clone.low, 4096.0 / 12.5) && near(clone.high, 409.6),
        "{clone:?}"
    );
    assert_eq!(all.ways[0].restoring, None);
    let back = all.ways[1].restoring.unwrap();
    assert!(near(back.low, 256.0) && near(back.high, 256.0), "{back:?}");
    assert_eq!(all.ways[0].protect.unwrap().n, 2);
}

/// A file or a tree, and whatever else a label tells, is among what is assumed.
#[test]
fn what_each_was_measured_under_is_said() {
    let mut story = Story::new();
    for (method, forms) in [
        ("scp", ["packed in one file"; 2]),
        ("sftp", ["packed in one file"; 2]),
        ("ftp", ["file by file", "packed in one file"]),
    ] {
        let binding = story.binding(method, "h1");
        for form in forms {
            let run = story.labelled(&binding, "full", &[("form", form), ("cache", "cold")]);
            story.sample(&run, "full", "subject", 1024.0 * MIB, "B", &[]);
            let step = story.step(&run, "backup", Phase::Protect);
            of_step(&mut story, &run, "full", "backup", 10.0, "s");
            last_is_of(&mut story, &step);
            of_step(&mut story, &run, "full", "backup", 102.4 * MIB, "B/s");
            last_is_of(&mut story, &step);
            story.step_done(&step, EndState::Ok);
            story.done(&run, EndState::Ok);
        }
    }
    let all = of(&story, &[GIB], None).unwrap().assumed.join("\n");
    for words in [
        "scp full, sftp full (cache cold, form packed in one file)",
        "ftp full (cache cold, form file by file or packed in one file)",
    ] {
        assert!(all.contains(words), "{all}");
    }
    let none = of(&super::tests::story(), &[GIB], None).unwrap();
    assert!(!none.assumed.join(" ").contains("conditions"));
}

#[test]
fn without_a_size_it_is_about_what_was_measured() {
    assert_eq!(of(&story(), &[], None).unwrap().disks, [GIB]);
}

#[test]
fn two_that_were_measured_together_make_a_pipeline_with_both_rates() {
    let all = of(&story(), &[GIB, GIB], None).unwrap();
    let [pipe] = all.pipelines.as_slice() else {
        panic!("{:#?}", all.pipelines);
    };
    assert!(pipe.is_measured());
    assert_eq!(
        (pipe.first.name.as_str(), pipe.then.name.as_str()),
        ("clone full", "send full")
    );
    // The first disk alone, the second beside the transfer at 5 MiB/s, the transfer at 4 until then, at 20 after it.
    let both = 1024.0 / 5.0;
    let of = |alone: f64| 1024.0 / alone + both + (2048.0 - 4.0 * both) / 20.0;
    assert!(near(pipe.total.low, of(12.5)), "{pipe:?}");
    assert!(near(pipe.total.high, of(10.0)), "{pipe:?}");
    let turned = super::tests::of(&story(), &[GIB], Some(["send", "clone"])).unwrap();
    assert_eq!(turned.pipelines[0].first.name, "send full");
}

/// Two methods whose steps went on side by side for about half of their time, and so much longer by themselves.
fn side_by_side(alone: usize) -> Projection {
    let mut story = Story::new();
    let bindings = [("clone", 12.0), ("send", 12.0)].map(|(method, rate)| {
        let binding = story.binding(method, "h1");
        moved(
            &mut story,
            &binding,
            "full",
            None,
            &[("backup", Phase::Protect, rate)],
        );
        binding
    });
    let mut begun = Vec::new();
    for (binding, other) in bindings.iter().zip(["send", "clone"]) {
        let series = beside("full", other);
        let run = story.labelled(binding, &series, &[(TOGETHER, other)]);
        story.sample(&run, &series, "subject", 1024.0 * MIB, "B", &[]);
        begun.push((run, series));
    }
    // Time goes on with each event: ten for the one, ten for the other, five of these for both.
    let wait = |story: &mut Story, events: usize| {
        for _ in 0..events {
            let (run, series) = &begun[0];
            story.sample(run, series, "noise", 1.0, "B", &[]);
        }
    };
    let one = story.step(&begun[0].0, "backup", Phase::Protect);
    wait(&mut story, 3 + alone);
    let two = story.step(&begun[1].0, "backup", Phase::Protect);
    for ((step, (run, series)), more) in [one, two].iter().zip(&begun).zip([0, alone]) {
        wait(&mut story, more);
        of_step(&mut story, run, series, "backup", 10.0, "s");
        last_is_of(&mut story, step);
        of_step(&mut story, run, series, "backup", 8.0 * MIB, "B/s");
        last_is_of(&mut story, step);
        wait(&mut story, 2);
        story.step_done(step, EndState::Ok);
    }
    for (run, _) in &begun {
        story.done(run, EndState::Ok);
    }
    of(&story, &[GIB, GIB], None).unwrap()
}

#[test]
fn a_rate_beside_the_other_is_of_the_time_at_once_alone() {
    let all = side_by_side(0);
    for part in [&all.pipelines[0].first, &all.pipelines[0].then] {
        assert!(part.at_once, "{part:?}");
        // Half of the time at 12, so the other half at 4, for 8 in all.
        let rate = part.beside.unwrap().median / MIB;
        assert!((3.9..4.1).contains(&rate), "{part:?}");
    }
    assert!(all.assumed.iter().any(|text| text.contains("is taken off")));
    assert!(!all.assumed.iter().any(|text| text.contains("too high")));
}

/// What two took that hardly met is no rate beside each other.
#[test]
fn two_that_hardly_worked_at_once_have_no_rate_beside_the_other() {
    let all = side_by_side(40);
    for part in [&all.pipelines[0].first, &all.pipelines[0].then] {
        assert_eq!((part.beside, part.at_once), (None, false), "{part:?}");
    }
    let said = all.assumed.join("\n");
    assert!(said.contains("or hardly worked at once"), "{said}");
    assert!(!said.contains("too high"), "{said}");
}

/// What nobody can answer is refused with a sentence.
#[test]
fn one_method_twice_and_more_bytes_than_can_be_counted_are_refused() {
    let why = of(&story(), &[GIB], Some(["send", "send"])).unwrap_err();
    assert!(why.to_string().contains("not of send twice"), "{why}");
    let why = of(&story(), &[u64::MAX, 1], None).unwrap_err();
    assert!(
        why.to_string().contains("more than 16 EiB together"),
        "{why}"
    );
    of(&story(), &[u64::MAX], None).unwrap();
}

#[test]
fn a_pair_that_was_not_measured_together_says_so() {
    let mut story = Story::new();
    for (method, rate) in [("a", 10.0), ("b", 5.0)] {
        let binding = story.binding(method, "h1");
        moved(
            &mut story,
            &binding,
            "full",
            None,
            &[("backup", Phase::Protect, rate)],
        );
    }
    assert!(of(&story, &[GIB], None).unwrap().pipelines.is_empty());
    let all = of(&story, &[GIB], Some(["a", "b"])).unwrap();
    assert!(!all.pipelines[0].is_measured());
    assert!(near(
        all.pipelines[0].total.low,
        1024.0 / 10.0 + 1024.0 / 5.0
    ));
    let said = all.assumed.join("\n");
    assert!(
        said.contains("a full and b full were not measured together"),
        "{said}"
    );
    let why = of(&story, &[GIB], Some(["a", "c"]))
        .unwrap_err()
        .to_string();
    assert!(
        why.contains("no rate of c") && why.contains("rates of a, b"),
        "{why}"
    );
}

#[test]
fn a_row_without_a_rate_is_named_and_not_carried_over() {
    let mut story = story();
    story.runs_of(
        "snapshot",
        "h1",
        "restore",
        crate::event::Clock::Host,
        &[1.0, 1.0],
    );
    let all = of(&story, &[GIB], None).unwrap();
    let without = Without {
        name: "snapshot full".to_owned(),
        why: "no time of protecting or bringing back is told".to_owned(),
    };
    assert_eq!(all.without, [without]);
}

#[test]
fn what_a_publication_expects_stands_beside_what_its_rates_give() {
    let mut story = story();
    story.published(&"b1".into(), "two disks", "projected", 400.0);
    if let Some(What::Published(figure)) = story.told.last_mut() {
        figure.projected = Some(Projected {
            disks: vec![Bytes(GIB), Bytes(GIB)],
            then: "b2".into(),
        });
    }
    let all = of(&story, &[7], None).unwrap();
    let alike = of(&story, &[GIB, GIB], None).unwrap();
    assert!(near(all.printed[0].seconds, 400.0));
    assert_eq!(all.printed[0].ours.total, alike.pipelines[0].total);
}

/// As recordings were before methods said what a step moves.
#[test]
fn what_was_counted_or_left_gives_a_rate_where_it_is_all_of_the_subject() {
    use crate::event::{Bytes, Intended, Leave, LeaveKind, LeaveState, Space};

    let mut story = Story::new();
    let mut run_of = |name: &str, counted: Option<f64>, left: Option<u64>| {
        let binding = story.binding(name, "h1");
        let run = story.run(&binding, "full");
        story.sample(&run, "full", "subject", GIB as f64, "B", &[]);
        let step = story.step(&run, "backup", Phase::Protect);
        story.step_done(&step, EndState::Ok);
        of_step(&mut story, &run, "full", "backup", 4.0, "s");
        last_is_of(&mut story, &step);
        if let Some(bytes) = counted {
            of_step(&mut story, &run, "full", "transferred size", bytes, "B");
            last_is_of(&mut story, &step);
        }
        if let Some(bytes) = left {
            story.tell(What::Leave(Leave {
                leave: format!("l-{name}").into(),
                state: LeaveState::Intended(Intended {
                    run: run.clone(),
                    step: step.clone(),
                    host: "h1".into(),
                    name: "copy".into(),
                    kind: LeaveKind::Copy,
                    find: String::new(),
                    undo: String::new(),
                    back: None,
                }),
            }));
            story.tell(What::Space(Space {
                run: run.clone(),
                step: "s0".into(),
                name: "copy".into(),
                series: "full".into(),
                logical: Some(Bytes(bytes)),
                stored: None,
                held: None,
                settled: true,
                why: None,
            }));
        }
        story.done(&run, EndState::Ok);
    };
    run_of("rsync", Some(GIB as f64), None);
    run_of("cp", None, Some(GIB));
    // An unchanged run counts nothing, a packed copy is not what was read, and a snapshot moves nothing.
    run_of("unchanged", Some(0.0), Some(GIB));
    run_of("packed", None, Some(GIB / 2));
    run_of("snapshot", None, None);
    let all = of(&story, &[4 * GIB], None).unwrap();
    let ways: Vec<_> = all
        .ways
        .iter()
        .map(|way| (way.method.as_str(), way.protecting.unwrap().low))
        .collect();
    assert_eq!(ways, [("rsync", 16.0), ("cp", 16.0)]);
    let without: Vec<_> = all.without.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(without, ["unchanged full", "packed full", "snapshot full"]);
    assert!(
        all.without
            .iter()
            .all(|one| one.why.starts_with("of backup no bytes")),
        "{:?}",
        all.without
    );
    assert!(
        all.assumed
            .iter()
            .any(|text| text.contains("rsync full, cp full move: their bytes"))
    );
}
