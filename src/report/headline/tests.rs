use super::*;
use crate::event::Clock;
use crate::report::{Sentence, fails_with, not_comparable, one_machine, said};
use crate::session::story::Story;

/// Methods of one host, each with its restores; all proved.
fn story(all: &[(&str, &[f64])]) -> Story {
    let mut story = Story::new();
    for (method, values) in all {
        story.runs_of(method, "h1", "restore", Clock::Host, values);
    }
    story.end();
    story
}

fn compared(story: &Story) -> Comparison {
    Comparison::of(&[&story.session()])
}

fn headline_of(all: &[(&str, &[f64])]) -> String {
    headline(&compared(&story(all)))
}

fn sentences(all: &[(&str, &[f64])]) -> Vec<String> {
    let compared = compared(&story(all));
    let all = said(&compared, &compared.verdicts.iter().collect::<Vec<_>>());
    all.into_iter()
        .map(|Sentence { text, .. }| text.replace('\u{a0}', " "))
        .collect()
}

const FAST: &[f64] = &[1.0, 1.1, 1.2, 1.0];
const NEAR: &[f64] = &[1.22, 1.3, 1.6, 1.5];
const SLOW: &[f64] = &[5.0, 5.1, 5.3, 5.2];

#[test]
fn the_fastest_of_several_is_named_where_the_verdicts_allow_it() {
    assert_eq!(
        headline_of(&[("a", SLOW), ("b", FAST), ("c", NEAR)]),
        "3 ways to bring back 1 GiB on h1, 4 times each: b was the fastest in restore \
         (1.000–1.200 s, next c with 1.220–1.600 s). \
         What came back is proved by sha256 in all 12 runs."
    );
    let two = headline_of(&[("a", SLOW), ("b", FAST), ("c", FAST)]);
    assert!(
        two.contains("b and c were faster in restore than a, no difference shown between them"),
        "{two}"
    );
}

#[test]
fn too_few_runs_name_no_fastest() {
    let three = headline_of(&[("a", &SLOW[..3]), ("b", &FAST[..3])]);
    assert!(
        three.contains(
            "b had the shortest restore, apart from all others, but n = 3 is too few to call it \
             faster"
        ),
        "{three}"
    );
    let once = headline_of(&[("a", &SLOW[..1]), ("b", &FAST[..1])]);
    assert!(
        once.contains("once each: one value each is too few to tell them apart in restore"),
        "{once}"
    );
    let uneven = headline_of(&[("a", &SLOW[..1]), ("b", FAST)]);
    assert!(
        uneven.contains("a has only one value in restore, too few to tell it apart"),
        "{uneven}"
    );
    let two = headline_of(&[("a", &SLOW[..2]), ("b", FAST), ("c", &FAST[..2])]);
    assert!(
        two.contains("c and a have only two values each in restore, too few to tell them apart"),
        "{two}"
    );
    for text in [&uneven, &two] {
        assert!(
            !text.contains("each are") && !text.contains("each is"),
            "{text}"
        );
    }
    let alike = headline_of(&[("a", FAST), ("b", &[1.1, 1.2, 1.05, 1.15])]);
    assert!(alike.contains("no difference in restore shown"), "{alike}");
    for text in [three, once, alike] {
        assert!(!text.contains("fastest"), "{text}");
    }
}

#[test]
fn one_method_alone_says_how_long_it_took() {
    assert_eq!(
        headline_of(&[("a", FAST)]),
        "One way to bring back 1 GiB on h1, 4 times: a took 1.050 s in restore (median of 4, \
         1.000–1.200 s). What came back is proved by sha256 in all 4 runs."
    );
}

#[test]
fn ways_that_bring_back_by_another_step_are_told_by_themselves() {
    let mut story = story(&[("a", FAST), ("b", SLOW)]);
    story.runs_of("snapshot", "h1", "rollback", Clock::Host, &[0.02, 0.03]);
    let compared = compared(&story);
    assert_eq!(main_times(&compared), ["restore", "rollback"]);
    let text = headline(&compared);
    assert!(
        text.contains(
            "a was the fastest in restore (1.000–1.200 s, next b with 5.000–5.300 s), snapshot took \
             0.0250 s in rollback (median of 2, 0.0200–0.0300 s); restore and rollback are not the \
             same and not compared."
        ),
        "{text}"
    );
}

#[test]
fn what_may_not_be_compared_is_told_with_the_reason_that_most_share() {
    let mut story = Story::new();
    for (method, labels, value) in [
        (
            "a-full",
            &[("cache", "ARC, warm"), ("load", "idle")][..],
            2.0,
        ),
        ("b", &[("cache", "page cache"), ("load", "idle")], 0.25),
        ("c", &[("cache", "cold")], 0.45),
    ] {
        let id = story.binding(method, "h1");
        for more in [0.0, 0.1, 0.0] {
            let run = story.labelled(&id, "full", labels);
            story.seconds(&run, "rollback", Clock::Host, 0.0, value + more);
            story.done(&run, EndState::Ok);
        }
    }
    story.end();
    let compared = compared(&story);
    let text = headline(&compared);
    assert!(
        text.contains(
            "rollback took 0.250 s with b, 0.450 s with c and 2.000 s with a-full (median of 3 \
             each), which may not be compared: different cache (ARC, warm · page cache)."
        ),
        "{text}"
    );
    let apart = not_comparable(&compared)[1].replace('\u{a0}', " ");
    assert_eq!(
        apart,
        "a-full and c: not comparable: different cache (ARC, warm · cold); load idle is told of \
         a-full alone (rollback)"
    );
}

#[test]
fn a_proof_of_a_run_that_goes_on_is_none_yet() {
    let mut story = Story::new();
    let id = story.binding("a", "h1");
    for is_over in [true, true, false] {
        let run = story.run(&id, "full");
        story.seconds(&run, "restore", Clock::Host, 0.0, 1.0);
        story.proved(&run, true);
        if is_over {
            story.done(&run, EndState::Ok);
        }
    }
    let text = headline(&compared(&story));
    assert!(text.contains("proved by sha256 in all 2 runs."), "{text}");
}

#[test]
fn figures_of_a_publication_are_told_to_be_so() {
    let mut story = Story::new();
    story.header.origin = crate::event::Origin::Published;
    for method in ["a", "b"] {
        let id = story.binding(method, "h1");
        let run = story.run(&id, "full");
        story.published(&id, "rollback", "median", 0.194);
        story.done(&run, EndState::Ok);
    }
    story.end();
    let text = headline(&compared(&story));
    assert!(
        text.starts_with("Figures of a publication, not measured here. 2 ways"),
        "{text}"
    );
    assert!(
        text.contains(
            "rollback is printed as 0.194 s for a and 0.194 s for b, without the values that would \
             tell which is faster."
        ),
        "{text}"
    );
}

#[test]
fn nothing_is_said_between_machines() {
    let mut story = story(&[("a", FAST)]);
    story.runs_of("a", "h2", "restore", Clock::Host, SLOW);
    let compared = compared(&story);
    let text = headline(&compared);
    assert!(
        text.contains("on h1 a took 1.050 s in restore (median of 4, 1.000–1.200 s); on h2 a took"),
        "{text}"
    );
    let verdicts: Vec<_> = compared.verdicts.iter().collect();
    assert!(said(&compared, &verdicts).is_empty());
    assert_eq!(
        not_comparable(&compared),
        ["h1 and h2 are different machines: no verdict between them."]
    );
}

#[test]
fn two_names_of_one_machine_are_compared() {
    let mut story = story(&[("a", FAST)]);
    story.runs_of("b", "h2", "restore", Clock::Host, SLOW);
    for host in ["h1", "h2"] {
        story.header.facts.get_mut(host).unwrap().machine = "boot-1".into();
    }
    let compared = compared(&story);
    assert!(not_comparable(&compared).is_empty());
    assert_eq!(
        one_machine(&compared),
        ["h1 and h2 are names of one machine."]
    );
    let text = headline(&compared);
    assert!(
        text.contains("on h1 and h2, 4 times each: a was the fastest"),
        "{text}"
    );
}

#[test]
fn a_copy_under_another_name_of_the_machine_is_on_the_same_disk() {
    let mut story = story(&[("a", FAST)]);
    let id = story.header.plan.bindings[0].id.clone();
    story.bound(&id).placement.as_mut().unwrap().copy.host = "also".into();
    let facts = story.header.facts["h1"].clone();
    story.header.facts.insert("also".into(), facts);
    let same_disk = |story: &Story| {
        let compared = compared(story);
        (compared.rows[0].same_disk(), fails_with(&compared.rows[0]))
    };
    assert_eq!(
        same_disk(&story),
        (Some(false), "no one disk or host".into())
    );
    for host in ["h1", "also"] {
        story.header.facts.get_mut(host).unwrap().machine = "boot-1".into();
    }
    assert_eq!(same_disk(&story), (Some(true), "sda".into()));
}

#[test]
fn a_session_that_goes_on_or_failed_says_so() {
    let mut story = Story::new();
    let tar = story.binding("files-tar", "h1");
    let run = story.run(&tar, "full");
    story.seconds(&run, "restore", Clock::Host, 0.0, 2.0);
    story.proved(&run, true);
    story.done(&run, EndState::Ok);
    let run = story.run(&tar, "full");
    story.done(&run, EndState::Failed);
    story.run(&tar, "full");
    assert_eq!(
        headline(&compared(&story)),
        "So far, after 2 of 3 runs: one way to bring back 1 GiB on h1, twice: files-tar took \
         2.000 s in restore (one value). What came back is proved by sha256 in 1 of 2 runs. 1 run \
         failed, out of the medians."
    );
    assert_eq!(headline(&Comparison::default()), "No run has begun.");
}

#[test]
fn ranges_that_hardly_part_are_not_told_as_one_time() {
    assert_eq!(
        sentences(&[("a", FAST), ("b", NEAR)]),
        [
            "a is faster than b, which takes up to 1.6x as long (1.000–1.200 and 1.220–1.600 s, n = 4)"
        ]
    );
    assert_eq!(
        sentences(&[("a", SLOW), ("b", FAST)]),
        [
            "b is faster than a, which takes 4.1x–5.3x as long (1.000–1.200 and 5.000–5.300 s, n = 4)"
        ]
    );
}

#[test]
fn many_pairs_are_told_together() {
    let names = ["a", "b", "c", "d", "e"];
    let mut all: Vec<(&str, &[f64])> = names.iter().map(|name| (*name, FAST)).collect();
    all[4].1 = SLOW;
    let told = sentences(&all);
    assert_eq!(
        told,
        [
            "a, b, c and d are faster than e (n = 4 each)",
            "no difference shown between a, b, c and d (n = 4 each)",
        ]
    );
}
