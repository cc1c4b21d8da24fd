//! Keys of the watching screen.

use super::super::message::{Effect, Ended, Message, Player, ReplayState};
use super::super::model::{Figures, Layer, Leave, Model, Pane, Screen};
use super::super::update;
use super::fixture::Tale;
use super::press::press;
use super::snapshot::{draw, model, text};
use crate::event::{ActKind, EndState, Nanos, ProgressKind, What};
use crate::event::{Answer, Question, QuestionKind};
use crate::report::Stamps;
use crate::session::Session;

fn watching() -> (Tale, Model) {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = model();
    model.screen = Screen::Watching;
    (tale, model)
}

fn end(tale: &mut Tale) {
    tale.tell(What::End(crate::event::End {
        exit: 130,
        reason: "stopped".into(),
    }));
}

#[test]
fn leaving_asks_while_a_run_goes_on() {
    for keys in ["q", "<c-c>"] {
        let (mut tale, mut model) = watching();
        assert!(press(&mut model, &tale.session, keys).is_empty());
        assert!(
            press(&mut model, &tale.session, "<enter>").is_empty(),
            "the default changes nothing"
        );
        assert!(model.layers.is_empty());
        press(&mut model, &tale.session, keys);
        assert_eq!(
            press(&mut model, &tale.session, "<right><enter>"),
            [Effect::Stop]
        );
        assert_eq!(model.leave, Leave::Leaving);
        let effects = update(&mut model, &tale.session, Message::Tick(tale.now()));
        assert!(effects.is_empty(), "not before it is undone");
        end(&mut tale);
        let effects = update(&mut model, &tale.session, Message::Changed(tale.now()));
        assert_eq!(effects, [Effect::Quit(Ended::Quit)]);
    }
}

#[test]
fn leaving_twice_is_possible_and_says_what_is_left() {
    let (tale, mut model) = watching();
    press(&mut model, &tale.session, "q<right><enter>q");
    let Some(Layer::Dialog(dialog)) = model.layers.last() else {
        panic!()
    };
    assert!(dialog.lines[0].contains("recover"));
    assert!(
        press(&mut model, &tale.session, "<c-c>").is_empty(),
        "asked once"
    );
    assert_eq!(model.layers.len(), 1);
    assert_eq!(
        press(&mut model, &tale.session, "<right><enter>"),
        [Effect::Quit(Ended::Abandoned)]
    );
}

#[test]
fn leaving_does_not_ask_when_nothing_goes_on() {
    let (mut tale, mut model) = watching();
    end(&mut tale);
    assert_eq!(
        press(&mut model, &tale.session, "q"),
        [Effect::Quit(Ended::Quit)]
    );
    let mut model = super::snapshot::model();
    assert_eq!(
        press(&mut model, &Session::default(), "<c-c>"),
        [Effect::Quit(Ended::Quit)]
    );
}

#[test]
fn stopping_asks_and_is_done_once() {
    let (tale, mut model) = watching();
    assert!(press(&mut model, &tale.session, "x<esc>").is_empty());
    assert!(press(&mut model, &tale.session, "xn").is_empty());
    assert_eq!(
        press(&mut model, &tale.session, "x<tab><enter>"),
        [Effect::Stop]
    );
    assert_eq!(model.leave, Leave::Stopping);
    assert!(press(&mut model, &tale.session, "x").is_empty());
    assert!(model.layers.is_empty() && model.say.is_some());
}

#[test]
fn after_a_stop_one_may_look_on() {
    let (mut tale, mut model) = watching();
    press(&mut model, &tale.session, "x<right><enter>");
    end(&mut tale);
    assert!(update(&mut model, &tale.session, Message::Changed(tale.now())).is_empty());
    press(&mut model, &tale.session, "x");
    assert!(model.layers.is_empty(), "there is nothing to stop");
    press(&mut model, &tale.session, "r");
    assert_eq!(model.screen, Screen::Picking);
}

#[test]
fn pausing_and_going_on_are_one_key() {
    let (mut tale, mut model) = watching();
    assert_eq!(
        press(&mut model, &tale.session, "p"),
        [Effect::PauseAfterRun]
    );
    tale.act(ActKind::Pause);
    assert_eq!(press(&mut model, &tale.session, "p"), [Effect::Resume]);
    tale.act(ActKind::Resume);
    assert_eq!(
        press(&mut model, &tale.session, "p"),
        [Effect::PauseAfterRun]
    );
}

#[test]
fn a_marker_has_a_name() {
    let (tale, mut model) = watching();
    assert!(press(&mut model, &tale.session, "m  <enter>").is_empty());
    assert_eq!(
        press(&mut model, &tale.session, "m q x <enter>"),
        [Effect::Marker("q x".into())]
    );
}

#[test]
fn panes_are_gone_through_in_a_circle() {
    let (tale, mut model) = watching();
    let mut seen = vec![model.watching.pane];
    for _ in 0..5 {
        press(&mut model, &tale.session, "<tab>");
        seen.push(model.watching.pane);
    }
    assert_eq!(
        seen,
        [
            Pane::Log,
            Pane::Medians,
            Pane::Bytes,
            Pane::Plan,
            Pane::Steps,
            Pane::Log
        ]
    );
    press(&mut model, &tale.session, "<backtab>");
    assert_eq!(model.watching.pane, Pane::Steps);
    press(&mut model, &tale.session, "b");
    assert_eq!(
        (model.watching.pane, model.watching.figures),
        (Pane::Medians, Figures::Medians)
    );
    press(&mut model, &tale.session, "b");
    assert_eq!(
        (model.watching.pane, model.watching.figures),
        (Pane::Bytes, Figures::Bytes)
    );
}

#[test]
fn escape_takes_back_one_thing_at_a_time() {
    let (tale, mut model) = watching();
    press(&mut model, &tale.session, "[/progress<enter>z");
    assert!(
        model.watching.zoom && model.watching.log.search.is_some() && model.watching.run.is_some()
    );
    press(&mut model, &tale.session, "<esc>");
    assert!(!model.watching.zoom && model.watching.log.search.is_some());
    press(&mut model, &tale.session, "<esc>");
    assert!(model.watching.log.search.is_none() && model.watching.run.is_some());
    press(&mut model, &tale.session, "<esc>");
    assert!(model.watching.run.is_none());
}

#[test]
fn runs_are_looked_at_one_after_the_other() {
    let (tale, mut model) = watching();
    let looked_at = |model: &Model| model.run(&tale.session).unwrap().run.to_string();
    press(&mut model, &tale.session, "[[");
    assert_eq!(looked_at(&model), "r3");
    press(&mut model, &tale.session, "]");
    assert_eq!(looked_at(&model), "r4");
    press(&mut model, &tale.session, "]");
    assert_eq!(model.watching.run, None, "the one that goes on is followed");
    press(&mut model, &tale.session, "]]]]]]]]");
    assert_eq!(looked_at(&model), "r9");
    press(&mut model, &tale.session, "f");
    assert_eq!(looked_at(&model), "r5");
    model.watching.pane = Pane::Plan;
    press(&mut model, &tale.session, "gjj");
    assert_eq!(looked_at(&model), "r3");
}

#[test]
fn steps_take_the_log_along() {
    let (tale, mut model) = watching();
    model.watching.pane = Pane::Steps;
    press(&mut model, &tale.session, "k");
    assert_eq!(
        model.watching.step,
        Some(3),
        "the one before the step that goes on"
    );
    assert_eq!(model.watching.log.top.as_ref().unwrap().1.step, 3);
    press(&mut model, &tale.session, "g");
    assert_eq!(model.watching.step, Some(0));
    press(&mut model, &tale.session, "f");
    assert!(model.watching.step.is_none() && model.watching.log.top.is_none());
}

#[test]
fn figures_are_scrolled_within_what_there_is() {
    let (tale, mut model) = watching();
    press(
        &mut model,
        &tale.session,
        "<tab>jjjjj<right><right><right><right>",
    );
    assert_eq!(model.watching.median, (2, 2));
    press(&mut model, &tale.session, "<left>g");
    assert_eq!(model.watching.median, (0, 1));
    press(&mut model, &tale.session, "bG");
    let last = model.watching.bytes;
    assert!(last > 2);
    press(&mut model, &tale.session, "jk");
    assert_eq!(model.watching.bytes, last - 1);
}

#[test]
fn a_replay_is_held_and_its_speed_changed() {
    let (tale, mut model) = watching();
    let state = ReplayState {
        name: "r".into(),
        at: tale.now(),
        length: Nanos(1 << 40),
        speed: 1.0,
        ..ReplayState::default()
    };
    update(&mut model, &tale.session, Message::Replay(state));
    let effects = press(&mut model, &tale.session, "<space><space>++-");
    let player = |player| Effect::Replay(player);
    assert_eq!(
        effects,
        [
            player(Player::Pause),
            player(Player::Play),
            player(Player::Speed(2.0)),
            player(Player::Speed(4.0)),
            player(Player::Speed(2.0))
        ]
    );
    let at = tale.now().0;
    let seek = |at: u64| Effect::Replay(Player::Seek(Nanos(at)));
    let jump = 10_000_000_000;
    let effects = press(&mut model, &tale.session, "[,,.0,");
    assert_eq!(
        effects,
        [
            seek(at - jump),
            seek(at - 2 * jump),
            seek(at - jump),
            seek(0),
            seek(0)
        ]
    );
    assert!(
        model.watching.run.is_none(),
        "what was looked at may not have happened yet"
    );
    let effects = press(&mut model, &tale.session, &"+".repeat(20));
    assert_eq!(effects.last(), Some(&player(Player::Speed(64.0))));
    assert!(
        press(&mut model, &tale.session, "+xpm").is_empty(),
        "nothing runs that could be stopped"
    );
    assert_eq!(
        press(&mut model, &tale.session, "q"),
        [Effect::Quit(Ended::Quit)]
    );
}

#[test]
fn a_question_defaults_to_no() {
    let (tale, mut model) = watching();
    let ask = |model: &mut Model, kind| {
        let question = Question {
            title: "Trust it?".into(),
            lines: vec!["SHA256:x".into()],
            kind,
        };
        update(model, &tale.session, Message::Ask("a1".into(), question));
    };
    let answer = |answer| {
        [Effect::Confirm {
            ask: "a1".into(),
            answer,
        }]
    };
    let entered = |text: &str| Answer::Entered(text.to_owned().into());
    let yes_no = || QuestionKind::YesNo {
        yes: "trust it".into(),
    };
    for keys in ["<enter>", "<esc>", "q"] {
        ask(&mut model, yes_no());
        assert_eq!(
            press(&mut model, &tale.session, keys),
            answer(Answer::No),
            "{keys}"
        );
    }
    ask(&mut model, yes_no());
    assert_eq!(
        press(&mut model, &tale.session, "l<enter>"),
        answer(Answer::Yes)
    );
    ask(&mut model, QuestionKind::Name("web".into()));
    assert!(press(&mut model, &tale.session, "wep<enter>").is_empty());
    assert_eq!(
        press(&mut model, &tale.session, "web<enter>"),
        answer(Answer::Yes)
    );
    ask(&mut model, QuestionKind::Name("web".into()));
    assert_eq!(
        press(&mut model, &tale.session, "<esc>"),
        answer(Answer::No)
    );
    ask(&mut model, QuestionKind::Secret);
    let secret = press(&mut model, &tale.session, "pä ß<enter>");
    assert_eq!(secret, answer(entered("pä ß")));
    ask(&mut model, QuestionKind::Text);
    let text = press(&mut model, &tale.session, "<enter>");
    assert_eq!(text, answer(entered("")), "an empty text is one");
    ask(&mut model, QuestionKind::Secret);
    assert_eq!(
        press(&mut model, &tale.session, "x<esc>"),
        answer(Answer::No)
    );
    ask(&mut model, QuestionKind::Secret);
    update(&mut model, &tale.session, Message::Settled("a1".into()));
    assert!(model.layers.is_empty());
}

#[test]
fn a_question_covers_nothing_that_is_open_and_they_come_one_after_another() {
    let (tale, mut model) = watching();
    press(&mut model, &tale.session, "/");
    for ask in ["a1", "a2"] {
        let question = Question {
            title: format!("{ask}?"),
            lines: Vec::new(),
            kind: QuestionKind::Secret,
        };
        update(
            &mut model,
            &tale.session,
            Message::Ask(ask.into(), question),
        );
    }
    assert!(model.say.as_ref().unwrap().contains("question waits"));
    assert!(press(&mut model, &tale.session, "x<enter>").is_empty());
    for ask in ["a1", "a2"] {
        let answer = Answer::Entered("pw".to_owned().into());
        let ask = ask.into();
        assert_eq!(
            press(&mut model, &tale.session, "pw<enter>"),
            [Effect::Confirm { ask, answer }]
        );
    }
    assert!(model.layers.is_empty());
}

#[test]
fn a_session_begins_from_its_begin() {
    let (tale, mut model) = watching();
    press(&mut model, &tale.session, "[wt/x<enter>");
    model.picking.starting = true;
    update(&mut model, &tale.session, Message::Began);
    assert!(model.watching.run.is_none() && model.watching.log.search.is_none());
    assert!(
        model.watching.log.wrap && model.watching.log.times == Stamps::SinceBegin,
        "how one looks stays"
    );
    assert!(!model.picking.starting);
}

#[test]
fn of_several_runs_one_is_followed_until_it_ends() {
    let mut tale = Tale::new();
    let mut model = model();
    model.screen = Screen::Watching;
    let seen = |model: &Model, tale: &Tale| model.run(&tale.session).unwrap().run.clone();
    // The one that stands later in the plan begins first.
    let second = tale.start(2);
    tale.wait(1.0);
    let first = tale.start(1);
    assert_eq!(seen(&model, &tale), second);
    tale.wait(1.0).end(&second, EndState::Ok, None);
    assert_eq!(seen(&model, &tale), first);
    let third = tale.wait(1.0).start(3);
    assert_eq!(seen(&model, &tale), first, "it does not jump");
    // A chosen one stays, also when it has ended.
    press(&mut model, &tale.session, "]]");
    assert_eq!(seen(&model, &tale), third);
    tale.wait(1.0).end(&third, EndState::Ok, None);
    assert_eq!(seen(&model, &tale), third);
    press(&mut model, &tale.session, "<esc>");
    assert_eq!(seen(&model, &tale), first);
}

#[test]
fn a_run_that_failed_stays_in_sight() {
    let tale = Tale::failed();
    let run = tale.session.current_run().unwrap();
    assert!(matches!(
        run.state,
        crate::session::RunStage::Ended(EndState::Failed, _)
    ));
    let mut model = model();
    model.screen = Screen::Watching;
    assert_eq!(model.run(&tale.session).unwrap().run, run.run);
}

#[test]
fn signals_end_it() {
    let (tale, mut model) = watching();
    for ended in [Ended::Terminated, Ended::HungUp, Ended::Interrupted] {
        assert_eq!(
            update(&mut model, &tale.session, Message::Ended(ended)),
            [Effect::Quit(ended)]
        );
    }
}

#[test]
fn between_two_steps_the_one_that_ended_stays_in_sight() {
    let mut tale = Tale::new();
    let run = tale.start(1);
    let mut model = model();
    model.size = (80, 14);
    model.screen = Screen::Watching;
    for at in 0..7 {
        let step = tale.step(&run, at);
        let name = |tale: &Tale| tale.session.runs[0].steps[at].planned.name.clone();
        let shown = || text(&draw(&model, &tale.session, (80, 14), "mono"));
        assert!(shown().contains(&name(&tale)), "{}", shown());
        tale.wait(1.0).done(&step, EndState::Ok, 1.0, 0.01, None);
        let shown = text(&draw(&model, &tale.session, (80, 14), "mono"));
        assert!(shown.contains(&name(&tale)), "{shown}");
    }
    let first = &tale.session.runs[0].steps[0].planned.name;
    let shown = text(&draw(&model, &tale.session, (80, 14), "mono"));
    assert!(!shown.contains(first.as_str()), "all fit: {shown}");
}
