use super::super::reel::tests::reel;
use super::*;
use crate::event::{Act, ActKind, What};
use crate::session::story::Story;

const SECOND: Duration = Duration::from_secs(1);

/// A player of events at these seconds; the first one is the header.
fn player(at: &[u64]) -> Player {
    let header = What::Header(Box::new(Story::new().header));
    let marker = |_| {
        What::Act(Act {
            act: ActKind::Pause,
            text: String::new(),
        })
    };
    let all = std::iter::once(header).chain((1..).map(marker));
    let events: Vec<Event> = at
        .iter()
        .zip(all)
        .enumerate()
        .map(|(seq, (seconds, what))| Event {
            seq: seq as u64,
            t: at_second(*seconds),
            what,
        })
        .collect();
    Player::new(reel(&events))
}

fn at_second(seconds: u64) -> Nanos {
    Nanos(seconds * 1_000_000_000)
}

/// Numbers of the events that come, or how many the session of another moment has.
fn look(player: &mut Player, seconds: f64) -> Result<Vec<u64>, u64> {
    match player.look(Duration::from_secs_f64(seconds)) {
        Change::Nothing => Ok(Vec::new()),
        Change::More(events) => Ok(events.iter().map(|event| event.seq).collect()),
        Change::Moment(session) => Err(session.events),
    }
}

/// Nothing happened.
const NONE: Result<Vec<u64>, u64> = Ok(Vec::new());

#[test]
fn events_come_once_and_when_they_happened() {
    let mut player = player(&[0, 1, 1, 5]);
    assert_eq!(look(&mut player, 0.0), Ok(vec![0]));
    assert_eq!(look(&mut player, 0.9), NONE);
    assert_eq!(look(&mut player, 1.0), Ok(vec![1, 2]));
    assert_eq!(
        player.wait(2 * SECOND),
        Some(3 * SECOND + Duration::from_nanos(1))
    );
    assert!(!player.is_over());
    assert_eq!(look(&mut player, 60.0), Ok(vec![3]));
    assert!(player.is_over());
    assert_eq!(player.position(60 * SECOND), at_second(5));
    assert_eq!(player.wait(60 * SECOND), None);
    let standing = player.standing(60 * SECOND);
    assert_eq!((standing.at, standing.length), (at_second(5), at_second(5)));
    assert!(standing.pace.abs() < f64::EPSILON);
}

#[test]
fn another_speed_goes_on_from_where_it_is() {
    let mut player = player(&[10, 20]);
    player.set_speed(5 * SECOND, 10.0);
    assert_eq!(player.position(5 * SECOND), at_second(5));
    assert_eq!(look(&mut player, 5.4), NONE);
    assert_eq!(look(&mut player, 5.5), Ok(vec![0]));
    assert_eq!(look(&mut player, 6.5), Ok(vec![1]));
    player.set_speed(7 * SECOND, f64::NAN);
    assert!((player.standing(7 * SECOND).speed - 10.0).abs() < f64::EPSILON);
    player.set_speed(7 * SECOND, 0.0);
    assert!(player.standing(7 * SECOND).speed > 0.0);
}

#[test]
fn time_does_not_pass_while_it_is_paused() {
    let mut player = player(&[0, 10]);
    player.pause(3 * SECOND);
    assert_eq!(player.position(100 * SECOND), at_second(3));
    assert_eq!(look(&mut player, 100.0), Ok(vec![0]));
    assert_eq!(player.wait(100 * SECOND), None);
    player.resume(100 * SECOND);
    assert_eq!(look(&mut player, 106.9), NONE);
    assert_eq!(look(&mut player, 107.0), Ok(vec![1]));
}

#[test]
fn seeking_back_gives_another_session_and_forward_what_is_between() {
    let mut player = player(&[0, 10, 20, 30]);
    player.seek(SECOND, at_second(15));
    assert_eq!(look(&mut player, 1.0), Ok(vec![0, 1]));
    player.seek(4 * SECOND, at_second(2));
    assert_eq!(look(&mut player, 4.0), Err(1));
    player.seek(5 * SECOND, at_second(900));
    assert_eq!(look(&mut player, 5.0), Ok(vec![1, 2, 3]));
    assert!(player.is_over());
}

#[test]
fn stamps_that_fall_do_not_hold_events_back() {
    let mut player = player(&[0, 8, 3, 9]);
    assert_eq!(look(&mut player, 5.0), Ok(vec![0]));
    assert_eq!(look(&mut player, 8.0), Ok(vec![1, 2]));
    assert_eq!(look(&mut player, 9.0), Ok(vec![3]));
}

#[test]
fn whoever_waits_as_told_never_wakes_in_vain() {
    for speed in [0.3, 1.0, 3.0, 7.7, 1000.0] {
        let mut player = player(&[1, 2, 3, 7, 1000]);
        player.set_speed(Duration::ZERO, speed);
        let mut now = Duration::ZERO;
        let mut seen = 0;
        while let Some(wait) = player.wait(now) {
            now += wait;
            let got = look(&mut player, now.as_secs_f64()).unwrap().len();
            assert!(got > 0, "at {speed}, after {now:?}");
            seen += got;
        }
        assert_eq!(seen, 5);
    }
}

#[test]
fn a_step_goes_to_the_next_moment_and_holds() {
    let mut player = player(&[0, 10, 10, 30]);
    let now = 4 * SECOND;
    let at = |player: &mut Player, forward| {
        player.step(now, forward);
        player.standing(now).at
    };
    assert_eq!(at(&mut player, true), at_second(10));
    assert_eq!(at(&mut player, true), at_second(30));
    assert_eq!(at(&mut player, true), at_second(30));
    assert_eq!(at(&mut player, false), at_second(10));
    assert_eq!(at(&mut player, false), at_second(0));
    assert_eq!(at(&mut player, false), at_second(0));
    assert!(player.standing(now).paused);
    assert_eq!(look(&mut player, 60.0), Ok(vec![0]));
}

#[test]
fn an_idle_time_is_passed_over_in_two_seconds() {
    let mut player = player(&[0, 1, 101, 104]);
    player.set_cut(Duration::ZERO, true);
    assert_eq!(look(&mut player, 1.0), Ok(vec![0, 1]));
    let standing = player.standing(2 * SECOND);
    assert_eq!(standing.at, at_second(51));
    assert_eq!(standing.passing, Some(100 * SECOND));
    assert!((standing.pace - 50.0).abs() < 1e-9);
    assert_eq!(look(&mut player, 2.9), NONE);
    assert_eq!(look(&mut player, 3.1), Ok(vec![2]));
    assert_eq!(player.standing(4 * SECOND).passing, None);
    assert_eq!(look(&mut player, 6.1), Ok(vec![3]));
    // Without it, the same time takes as long as it was, from wherever one is.
    player.seek(7 * SECOND, at_second(51));
    player.set_cut(7 * SECOND, false);
    assert_eq!(player.position(17 * SECOND), at_second(61));
}

#[test]
fn a_loop_rests_at_the_end_and_begins_anew() {
    let mut player = player(&[0, 3]);
    player.set_loop(true);
    assert_eq!(look(&mut player, 3.0), Ok(vec![0, 1]));
    assert_eq!(look(&mut player, 3.0), NONE);
    assert_eq!(player.wait(3 * SECOND), Some(REST));
    assert_eq!(look(&mut player, 7.9), NONE);
    assert_eq!(look(&mut player, 8.0), Err(1));
    assert_eq!(player.position(9 * SECOND), at_second(1));
    // Whoever holds it at its end wants to look at it.
    player.seek(9 * SECOND, at_second(3));
    player.pause(9 * SECOND);
    assert_eq!(look(&mut player, 9.0), Ok(vec![1]));
    assert_eq!(look(&mut player, 900.0), NONE);
    assert_eq!(player.wait(900 * SECOND), None);
}

/// Who shows a loop waits for its rest once, whenever its end was given.
#[test]
fn a_loop_rests_once_after_its_last_event() {
    let mut player = player(&[0, 1]);
    player.set_loop(true);
    assert_eq!(look(&mut player, 0.0), Ok(vec![0]));
    assert_eq!(look(&mut player, 1.0), Ok(vec![1]));
    assert_eq!(player.wait(SECOND), Some(REST));
    assert_eq!(look(&mut player, 5.9), NONE);
    assert_eq!(player.position(Duration::from_secs_f64(5.9)), at_second(1));
    assert_eq!(look(&mut player, 6.0), Err(1));
    assert_eq!(player.position(6 * SECOND), at_second(0));
}

#[test]
fn a_hold_at_the_end_is_no_rest() {
    let mut player = player(&[0, 1]);
    player.set_loop(true);
    assert_eq!(look(&mut player, 1.0), Ok(vec![0, 1]));
    player.pause(2 * SECOND);
    player.resume(60 * SECOND);
    assert_eq!(look(&mut player, 60.0), NONE);
    assert_eq!(player.position(60 * SECOND), at_second(1));
}
