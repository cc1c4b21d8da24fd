use super::*;
use crate::event::{Clock, EndState};
use crate::session::story::Story;
use crate::session::{Session, Tally};

fn verdicts(session: &Session) -> Vec<Verdict> {
    compare(&Tally::of(session).rows)
}

fn of(a: (Clock, &[f64]), b: (Clock, &[f64])) -> Verdict {
    let mut story = Story::new();
    story.runs_of("a", "h1", "restore", a.0, a.1);
    story.runs_of("b", "h1", "restore", b.0, b.1);
    let mut all = verdicts(&story.session());
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn three_rollbacks_against_three_restores() {
    let verdict = of(
        (Clock::Task, &[2.0, 2.0, 2.0]),
        (Clock::Task, &[57.0, 60.0, 66.0]),
    );
    assert_eq!(verdict.says(), "ranges do not overlap, n = 3");
    assert_eq!((verdict.low, verdict.high), (Some(18.0), Some(67.0)));
}

#[test]
fn restores_whose_ranges_overlap() {
    let verdict = of(
        (Clock::Task, &[57.0, 60.0, 66.0]),
        (Clock::Task, &[66.0, 58.0, 59.0]),
    );
    assert_eq!(verdict.says(), "no difference shown");
    assert_eq!((verdict.low, verdict.high), (None, None));
}

#[test]
fn four_values_each_may_be_called_faster() {
    let fast = (Clock::Host, &[1.0, 1.1, 1.2, 1.0][..]);
    let slow = (Clock::Host, &[2.0, 2.1, 2.3, 2.2][..]);
    let verdict = of(fast, slow);
    assert_eq!(verdict.says(), "a is faster");
    assert_eq!((verdict.low, verdict.high), (Some(1.6), Some(2.3)));
    assert_eq!(of(slow, fast).says(), "b is faster");
    let three = of((fast.0, &fast.1[..3]), slow);
    assert_eq!(three.says(), "ranges do not overlap, n = 3");
}

#[test]
fn fewer_than_three_values_show_nothing() {
    for n in 1..3 {
        let verdict = of(
            (Clock::Host, &[1.0, 1.0, 1.0, 1.0]),
            (Clock::Host, &[50.0, 60.0][..n]),
        );
        assert_eq!(verdict.says(), "no difference shown");
        assert_eq!((verdict.low, verdict.high), (None, None));
    }
}

#[test]
fn ranges_are_widened_before_they_are_compared() {
    // 2 to 3 and 5 to 6 are apart, but not when each value may be off by a second.
    let (a, b) = ([2.0, 2.0, 3.0, 3.0], [5.0, 5.0, 6.0, 6.0]);
    assert_eq!(
        of((Clock::Task, &a), (Clock::Task, &b)).says(),
        "no difference shown"
    );
    assert_eq!(
        of((Clock::Host, &a), (Clock::Host, &b)).says(),
        "a is faster"
    );
}

#[test]
fn a_clock_that_cannot_tell_the_faster_from_nothing_gives_no_upper_ratio() {
    let verdict = of(
        (Clock::Task, &[0.0, 1.0, 0.0]),
        (Clock::Task, &[57.0, 60.0, 66.0]),
    );
    assert_eq!(verdict.says(), "ranges do not overlap, n = 3");
    assert_eq!((verdict.low, verdict.high), (Some(28.0), None));
}

#[test]
fn ratios_are_rounded_outwards() {
    assert!((outwards(18.9, f64::floor) - 18.0).abs() < 1e-12);
    assert!((outwards(66.1, f64::ceil) - 67.0).abs() < 1e-12);
    assert!((outwards(1.19, f64::floor) - 1.1).abs() < 1e-12);
    assert!((outwards(1.11, f64::ceil) - 1.2).abs() < 1e-12);
    assert!((outwards(9.99, f64::ceil) - 10.0).abs() < 1e-12);
}

/// Two methods on one host; the second is changed before it is told.
fn why_not(change: impl FnOnce(&mut Story, &crate::event::BindingId)) -> String {
    let mut story = Story::new();
    story.runs_of("a", "h1", "restore", Clock::Host, &[1.0, 1.0, 1.0, 1.0]);
    story.runs_of("b", "h1", "restore", Clock::Host, &[9.0, 9.0, 9.0, 9.0]);
    let b = story.header.plan.bindings[1].id.clone();
    change(&mut story, &b);
    let mut all = verdicts(&story.session());
    assert_eq!(all.len(), 1);
    all.remove(0).says()
}

#[test]
fn what_is_alike_is_compared() {
    assert_eq!(why_not(|_, _| {}), "a is faster");
}

#[test]
fn different_hosts_are_not_compared() {
    let why = why_not(|story, b| {
        story.bound(b).roles.insert("source".into(), "h2".into());
    });
    assert_eq!(why, "not comparable: different hosts (h1, h2)");
}

#[test]
fn different_devices_are_not_compared() {
    let why = why_not(|story, b| {
        let placement = story.bound(b).placement.as_mut().unwrap();
        placement.copy.disks = vec!["sdb".into()];
    });
    assert_eq!(
        why,
        "not comparable: copies on different devices (sda, sdb)"
    );
    let why = why_not(|story, b| {
        let placement = story.bound(b).placement.as_mut().unwrap();
        placement.copy.host = "nas".into();
    });
    assert_eq!(
        why,
        "not comparable: copies on different devices (h1:sda, nas:sda)"
    );
    let why = why_not(|story, b| story.bound(b).placement = None);
    assert_eq!(why, "not comparable: the devices of b full are not known");
}

#[test]
fn different_sizes_are_not_compared() {
    let resize = |bytes: u64, subject: &'static str| {
        why_not(move |story, b| {
            story.bound(b).subject.id = subject.into();
            let runs = story.header.plan.runs.clone();
            for what in &mut story.told {
                if let crate::event::What::Proof(proof) = what
                    && runs
                        .iter()
                        .any(|run| run.run == proof.run && run.binding == *b)
                {
                    proof.bytes = Some(crate::event::Bytes(bytes));
                }
            }
        })
    };
    let gib = 1 << 30;
    assert_eq!(resize(gib, "/srv/data"), "a is faster");
    assert_eq!(resize(gib, "/srv/other"), "a is faster");
    assert_eq!(resize(gib + 5000, "/srv/data"), "a is faster");
    assert_eq!(
        resize(gib + 5000, "/srv/other"),
        "not comparable: different subject bytes (1073741824, 1073746824)"
    );
    assert_eq!(
        resize(2 * gib, "/srv/data"),
        "not comparable: different subject bytes (1073741824, 2147483648)"
    );
}

#[test]
fn a_size_that_is_not_known_is_only_taken_for_the_same_of_the_same_subject() {
    let forget = |subject: &'static str| {
        why_not(move |story, b| {
            story.bound(b).subject.id = subject.into();
            story
                .told
                .retain(|what| !matches!(what, crate::event::What::Proof(_)));
        })
    };
    assert_eq!(forget("/srv/data"), "a is faster");
    assert_eq!(
        forget("/srv/other"),
        "not comparable: the subject bytes of a full are not known"
    );
}

fn with_labels(a: &[&[(&str, &str)]], b: &[&[(&str, &str)]]) -> String {
    let mut story = Story::new();
    for (method, runs, value) in [("a", a, 1.0), ("b", b, 9.0)] {
        let binding = story.binding(method, "h1");
        for labels in runs {
            let run = story.labelled(&binding, "full", labels);
            story.seconds(&run, "restore", Clock::Host, 0.0, value);
            story.done(&run, EndState::Ok);
        }
    }
    verdicts(&story.session()).remove(0).says()
}

#[test]
fn cache_and_load_must_be_the_same_and_stay_so() {
    let cold = &[("cache", "cold")][..];
    let warm = &[("cache", "warm")][..];
    let fio = &[("load", "fio")][..];
    assert_eq!(
        with_labels(&[cold; 3], &[cold; 3]),
        "ranges do not overlap, n = 3"
    );
    assert_eq!(
        with_labels(&[cold; 3], &[warm; 3]),
        "not comparable: different cache (cold · warm)"
    );
    assert_eq!(
        with_labels(&[fio; 3], &[&[][..]; 3]),
        "not comparable: load fio is told of a full alone"
    );
    assert_eq!(
        with_labels(&[cold, warm, warm], &[cold; 3]),
        "not comparable: the runs of a full differ in cache"
    );
}

#[test]
fn every_pair_of_rows_is_compared_for_each_time_they_share() {
    let mut story = Story::new();
    for (method, times) in [
        ("a", &["backup", "restore"][..]),
        ("b", &["restore", "boot"]),
        ("c", &["restore", "backup"]),
    ] {
        let binding = story.binding(method, "h1");
        let run = story.run(&binding, "full");
        for time in times {
            story.seconds(&run, time, Clock::Host, 0.0, 1.0);
        }
        story.done(&run, EndState::Ok);
    }
    let got: Vec<_> = verdicts(&story.session())
        .into_iter()
        .map(|verdict| (verdict.time, verdict.a, verdict.b))
        .collect();
    let expected = [
        ("restore", 0, 1),
        ("backup", 0, 2),
        ("restore", 0, 2),
        ("restore", 1, 2),
    ];
    assert_eq!(got, expected.map(|(time, a, b)| (time.to_owned(), a, b)));
}

#[test]
fn times_of_different_load_meet_their_like() {
    let mut story = Story::new();
    for (method, loads) in [
        ("a", &["idle", "fio"][..]),
        ("b", &["fio"]),
        ("c", &["none"]),
    ] {
        let binding = story.binding(method, "h1");
        let run = story.run(&binding, "full");
        for load in loads {
            story.sample(&run, "full", "snapshot", 1.0, "s", &[("load", load)]);
        }
        story.done(&run, EndState::Ok);
    }
    let got: Vec<_> = verdicts(&story.session())
        .into_iter()
        .map(|one| (one.a, one.b, one.labels.get("load").cloned(), one.says()))
        .collect();
    assert_eq!(
        got,
        [
            (0, 1, Some("fio".into()), "no difference shown".into()),
            (
                0,
                2,
                None,
                "not comparable: different load (idle · none)".into()
            ),
            (
                1,
                2,
                None,
                "not comparable: different load (fio · none)".into()
            ),
        ]
    );
}

#[test]
fn a_published_median_is_compared_with_nothing() {
    let mut story = Story::new();
    story.runs_of("a", "h1", "rollback", Clock::Host, &[1.0, 1.0, 1.0]);
    let b = story.binding("b", "h1");
    story.published(&b, "rollback", "median", 0.1);
    let says = verdicts(&story.session()).remove(0).says();
    assert_eq!(says, "not comparable: no values of b full are known");
}

#[test]
fn one_host_name_in_two_recordings_must_be_one_machine() {
    let mut story = Story::new();
    story.runs_of("a", "h1", "restore", Clock::Host, &[1.0, 1.0, 1.0, 1.0]);
    let one = story.session();
    let mut story = Story::new();
    story.header.session = "cb-ffffffff".into();
    story.runs_of("b", "h1", "restore", Clock::Host, &[9.0, 9.0, 9.0, 9.0]);
    let other = story.session();
    story.header.facts.get_mut("h1").unwrap().cpu = "Another".into();
    let moved = story.session();
    let says = |other: &Session| {
        compare(&Tally::of_all(&[&one, other]).rows)
            .remove(0)
            .says()
    };
    assert_eq!(says(&other), "a is faster");
    assert_eq!(
        says(&moved),
        "not comparable: h1 is not the same machine in both recordings"
    );
}

#[test]
fn two_names_of_one_machine_are_one_host() {
    let mut story = Story::new();
    story.runs_of("a", "h1", "restore", Clock::Host, &[1.0, 1.0, 1.0, 1.0]);
    story.runs_of("b", "h2", "restore", Clock::Host, &[9.0, 9.0, 9.0, 9.0]);
    for id in 0..2 {
        // Its place is told by the first name.
        story.header.plan.bindings[id]
            .placement
            .as_mut()
            .unwrap()
            .copy
            .host = "h1".into();
    }
    let mut tell = |host: &str, machine: &str| {
        story.header.facts.get_mut(host).unwrap().machine = machine.into();
        verdicts(&story.session()).remove(0).says()
    };
    let apart = "not comparable: different hosts (h1, h2)";
    assert_eq!(tell("h1", "boot-1"), apart);
    assert_eq!(tell("h2", "boot-1"), "a is faster");
    assert_eq!(tell("h2", "boot-2"), apart);
}

#[test]
fn a_machine_that_was_started_again_is_the_same_by_its_name_and_facts() {
    let mut story = Story::new();
    story.runs_of("a", "h1", "restore", Clock::Host, &[1.0, 1.0, 1.0, 1.0]);
    story.header.facts.get_mut("h1").unwrap().machine = "boot-1".into();
    let one = story.session();
    story.header.session = "cb-ffffffff".into();
    story.header.facts.get_mut("h1").unwrap().machine = "boot-2".into();
    let other = story.session();
    let all = Tally::of_all(&[&one, &other]);
    assert_eq!(compare(&all.rows).remove(0).says(), "no difference shown");
}

#[test]
fn what_only_failed_runs_have_is_compared_with_nothing() {
    let mut story = Story::new();
    story.runs_of("a", "h1", "restore", Clock::Host, &[1.0]);
    let b = story.binding("b", "h1");
    let run = story.run(&b, "full");
    story.seconds(&run, "restore", Clock::Host, 0.0, 1.0);
    story.done(&run, EndState::Failed);
    assert!(verdicts(&story.session()).is_empty());
}
