//! Questions, what is typed into a run or a replay, a paused session, and no room at all.

use super::super::message::{Effect, Message, ReplayState};
use super::super::model::{Model, Screen};
use super::super::update;
use super::fixture::Tale;
use super::press::press;
use super::snapshot::{assert_screens, model, screen};
use crate::event::{ActKind, Answer, Nanos, ProgressKind, Question, QuestionKind};

fn watching(tale: &Tale) -> Model {
    let mut model = model();
    model.screen = Screen::Watching;
    model.now = tale.now();
    model
}

fn ask(name: &str, title: &str, lines: &[&str], kind: QuestionKind) {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = watching(&tale);
    let question = Question {
        title: title.into(),
        lines: lines.iter().map(|line| (*line).into()).collect(),
        kind,
    };
    update(
        &mut model,
        &tale.session,
        Message::Ask("a1".into(), question),
    );
    assert_screens(name, &model, &tale.session);
}

#[test]
fn the_key_of_a_host() {
    ask(
        "ask-host-key",
        "hv1 is not known yet",
        &[
            "ED25519 key fingerprint is",
            "SHA256:uNiVztksCsDhcc0u9e8BrrrXVGDxsSK5hQ0pYz4eMrA.",
            "Compare it with what its owner says.",
        ],
        QuestionKind::YesNo {
            yes: "trust this key".into(),
        },
    );
}

#[test]
fn yes_or_no() {
    ask(
        "ask-yes-no",
        "hv1 has leftovers of an earlier run",
        &["depot:vzdump-qemu-204.vma.zst"],
        QuestionKind::YesNo {
            yes: "take them away".into(),
        },
    );
}

/// What a look ahead asks: no is what stands there first, and what leaving means; yes has to be chosen.
#[test]
fn a_ruleset_of_a_firewall() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let asked = || {
        let mut model = watching(&tale);
        let question = Question {
            title: "esxi-scp asks before it begins".into(),
            lines: vec![
                "esx1: the firewall lets no SSH out (the ruleset sshClient is off): is it to be opened for the run, and closed again? \
                 (--set firewall=open says yes)"
                    .into(),
                "Without it nothing is begun.".into(),
            ],
            kind: QuestionKind::YesNo {
                yes: "do it, for as long as the run needs it".into(),
            },
        };
        update(
            &mut model,
            &tale.session,
            Message::Ask("a1".into(), question),
        );
        model
    };
    assert_screens("ask-firewall", &asked(), &tale.session);
    for (keys, answer) in [
        ("<enter>", Answer::No),
        ("<esc>", Answer::No),
        ("<right><enter>", Answer::Yes),
    ] {
        let mut model = asked();
        let all = screen(&model, &tale.session, (80, 24));
        for words in ["ruleset sshClient", "closed again?", "nothing is begun"] {
            assert!(all.contains(words), "{words}: {all}");
        }
        let effects = press(&mut model, &tale.session, keys);
        let [Effect::Confirm { ask, answer: given }] = effects.as_slice() else {
            panic!("{keys}: {effects:?}");
        };
        assert_eq!((ask.as_str(), given), ("a1", &answer), "{keys}");
        assert!(model.layers.is_empty(), "{keys}");
    }
}

#[test]
fn a_secret() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = watching(&tale);
    let question = Question {
        title: "Password of root on hv1".into(),
        lines: vec!["It is not kept.".into()],
        kind: QuestionKind::Secret,
    };
    update(
        &mut model,
        &tale.session,
        Message::Ask("a1".into(), question),
    );
    press(&mut model, &tale.session, "hunter2");
    assert!(!screen(&model, &tale.session, (120, 40)).contains("hunter2"));
    assert_screens("ask-secret", &model, &tale.session);
}

#[test]
fn a_moment_that_is_typed() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = model();
    let state = ReplayState {
        at: tale.now(),
        length: Nanos(900_000_000_000),
        ..super::replay_keys::replay()
    };
    update(&mut model, &tale.session, Message::Replay(state));
    press(&mut model, &tale.session, "@1:xx<enter>");
    assert_screens("replay-go-to", &model, &tale.session);
}

#[test]
fn a_marker_that_is_typed() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = watching(&tale);
    press(&mut model, &tale.session, "mthe fan is loud");
    assert_screens("marker", &model, &tale.session);
}

#[test]
fn a_paused_session() {
    let (mut tale, _) = Tale::restoring(ProgressKind::Exact);
    tale.act(ActKind::Pause);
    assert_screens("paused", &watching(&tale), &tale.session);
}

#[test]
fn no_room() {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = watching(&tale);
    for size in [(39, 10), (40, 9), (8, 3)] {
        model.size = size;
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => "snapshots" }, {
            insta::assert_snapshot!(format!("no-room-{}x{}", size.0, size.1), screen(&model, &tale.session, size));
        });
    }
}
