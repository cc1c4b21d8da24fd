//! How long still, and how fast: from what this session has measured, never from a guess.

mod earlier;
mod speed;
mod step;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use crate::event::{BindingId, Nanos};
use crate::session::{RunStage, RunView, Session, median};

pub use earlier::{from_here, last_time, longest_quiet, marks_to_come, totals};
pub use speed::{percent, rate, rates};
pub use step::{How, StepLeft, stall, step_left};

/// Of more steps to come than this, what each took before is not summed.
const MOST_STEPS: usize = 200;

/// How long still, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// How long.
    pub time: Duration,
    /// How it was made, in words.
    pub how: String,
}

/// How long the session still takes: for each run to come the median of the earlier good runs of
/// the same binding, each machine on its own. Nothing as long as one of them has none.
#[must_use]
pub fn session_left(session: &Session, now: Nanos) -> Option<Left> {
    let (busy, earlier) = busy(session, now);
    let mut all = 0.0_f64;
    for seconds in busy.values() {
        all = all.max((*seconds)?);
    }
    let how = match earlier {
        usize::MAX => return None,
        1 => "by one earlier run of each".to_owned(),
        n => format!("by medians of {n} or more runs"),
    };
    Some(Left {
        time: Duration::try_from_secs_f64(all).ok()?,
        how,
    })
}

/// How long each machine still has to do, by the name of a host on it; only those that have, and
/// where that is known.
#[must_use]
pub fn machines_left(session: &Session, now: Nanos) -> BTreeMap<&str, Duration> {
    let (busy, _) = busy(session, now);
    let known = |(machine, seconds): (_, Option<f64>)| {
        Some((machine, Duration::try_from_secs_f64(seconds?).ok()?))
    };
    busy.into_iter().filter_map(known).collect()
}

/// Seconds until each machine has nothing to do, where that is known; and how many earlier runs
/// each of the figures behind it is made of at least.
fn busy(session: &Session, now: Nanos) -> (BTreeMap<&str, Option<f64>>, usize) {
    let mut busy: BTreeMap<&str, Option<f64>> = BTreeMap::new();
    let mut earlier = usize::MAX;
    if session.end.is_some() {
        return (busy, earlier);
    }
    let names = machines(session);
    let bindings = session
        .header
        .iter()
        .flat_map(|header| &header.plan.bindings);
    let needs: HashMap<&BindingId, BTreeSet<&str>> = bindings
        .map(|binding| {
            let hosts = binding.roles.values().map(String::as_str);
            let machines = hosts.map(|host| names.get(host).copied().unwrap_or(host));
            (&binding.id, machines.collect())
        })
        .collect();
    let none = BTreeSet::new();
    let machines = |run: &RunView| needs.get(&run.binding).unwrap_or(&none);
    let mut known: HashMap<&BindingId, (usize, Option<f64>)> = HashMap::new();
    // After a run that did not end well its machines begin no other.
    let is_bad = |run: &&RunView| matches!(run.state, RunStage::Ended(end, _) if !end.is_good());
    let bad = session.runs.iter().filter(is_bad);
    let broken: BTreeSet<&str> = bad.flat_map(machines).copied().collect();
    for run in &session.runs {
        let machines = machines(run);
        if matches!(run.state, RunStage::Ended(..)) || !machines.is_disjoint(&broken) {
            continue;
        }
        let (runs, median) = *known.entry(&run.binding).or_insert_with(|| {
            let durations = earlier::durations(session, run);
            (durations.len(), median(&durations))
        });
        if runs > 0 {
            earlier = earlier.min(runs);
        }
        let rest = median.map(|median| rest(session, run, median, now));
        let free = |machine: &&str| busy.get(*machine).copied().unwrap_or(Some(0.0));
        let free = machines.iter().map(free);
        let begin = free.reduce(|a, b| Some(a?.max(b?))).flatten();
        let end = begin.or(machines.is_empty().then_some(0.0)).zip(rest);
        let end = end.map(|(begin, rest)| begin + rest);
        busy.extend(machines.iter().map(|machine| (*machine, end)));
    }
    (busy, earlier)
}

/// What a run still takes: of one that goes on the rest of its step and the steps that follow, as
/// far as that is known.
fn rest(session: &Session, run: &RunView, median: f64, now: Nanos) -> f64 {
    let Some(started) = run.started else {
        return median;
    };
    let going = run.going_on();
    let left = going.and_then(|going| {
        let here = step_left(session, run, going, now)?.time.as_secs_f64();
        let later = session.to_come(run);
        let later = (later.len() <= MOST_STEPS).then_some(later)?.iter();
        let later: Option<Vec<f64>> = later
            .map(|step| median_of(session, run, &step.name))
            .collect();
        Some(here + later?.iter().sum::<f64>())
    });
    left.unwrap_or_else(|| (median - now.since(started).as_secs_f64()).max(0.0))
}

fn median_of(session: &Session, run: &RunView, name: &str) -> Option<f64> {
    let all = earlier::steps(session, run, name);
    let seconds: Vec<f64> = all.filter_map(earlier::took).collect();
    median(&seconds)
}

/// The machine of each host, by the name of a host on it: hosts may be several names of one.
#[must_use]
pub fn machines(session: &Session) -> HashMap<&str, &str> {
    let mut first: HashMap<&str, &str> = HashMap::new();
    let mut all = HashMap::new();
    for (name, host) in &session.hosts {
        let told = host.facts.as_ref().map(|facts| facts.machine.as_str());
        let machine = match told.filter(|machine| !machine.is_empty()) {
            Some(machine) => *first.entry(machine).or_insert(name),
            None => name,
        };
        all.insert(name.as_str(), machine);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{EndState, PlannedRun};
    use crate::session::story::Story;

    /// One run each of two hosts, 100 s and 10 s long; two more on the first and one on the second
    /// are to come.
    fn two_hosts(second: EndState, names: [&str; 2]) -> (Option<Duration>, Vec<(String, u64)>) {
        let mut story = Story::new();
        let (a, b) = (story.binding("a", "h1"), story.binding("b", "h2"));
        let (one, two) = (story.run(&a, "full"), story.run(&b, "full"));
        story.done(&two, second);
        story.done(&one, EndState::Ok);
        for (at, binding) in [&a, &b, &a].into_iter().enumerate() {
            story.header.plan.runs.push(PlannedRun {
                run: format!("to come {at}").as_str().into(),
                binding: binding.clone(),
                rep: 2,
                beside: None,
            });
        }
        for (host, machine) in ["h1", "h2"].into_iter().zip(names) {
            story.header.facts.get_mut(host).unwrap().machine = machine.to_owned();
        }
        let mut session = Session::default();
        let seconds = [0, 0, 0, 10, 100].map(|s| Nanos(s * 1_000_000_000));
        for (mut event, t) in story.events().into_iter().zip(seconds) {
            event.t = t;
            session.apply(&event);
        }
        let all = session_left(&session, seconds[4]).map(|left| left.time);
        let each = machines_left(&session, seconds[4]);
        let each = each
            .into_iter()
            .map(|(name, left)| (name.to_owned(), left.as_secs()));
        (all, each.collect())
    }

    #[test]
    fn hosts_go_on_side_by_side_and_names_of_one_machine_do_not() {
        let left = |machines| {
            let (all, each) = two_hosts(EndState::Ok, machines);
            (all.unwrap().as_secs(), each)
        };
        let each = |all: &[(&str, u64)]| -> Vec<(String, u64)> {
            all.iter()
                .map(|(name, left)| ((*name).to_owned(), *left))
                .collect()
        };
        let apart = each(&[("h1", 200), ("h2", 10)]);
        assert_eq!(left(["", ""]), (200, apart.clone()));
        assert_eq!(left(["m1", "m2"]), (200, apart));
        assert_eq!(left(["m1", "m1"]), (210, each(&[("h1", 210)])));
        // After a failure its machine begins nothing more.
        let left = |machines| two_hosts(EndState::Failed, machines);
        let (all, rest) = left(["m1", "m2"]);
        assert_eq!(
            (all, rest),
            (Some(Duration::from_secs(200)), each(&[("h1", 200)]))
        );
        assert_eq!(left(["m1", "m1"]), (None, Vec::new()));
    }
}
