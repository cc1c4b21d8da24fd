//! Two methods at once: what each takes alone and beside the other, how long both worked, and which of them gave way.

use std::collections::BTreeMap;

use super::verdict::{SOME, outwards};
use super::{RESTARTED, Row, RunView, Session, Span, TOGETHER, TimeColumn, beside};
use crate::event::{First, Phase};

/// Two methods that ran at once on a host.
#[derive(Debug, Clone)]
pub struct AtOnce {
    /// The host.
    pub host: String,
    /// Both methods.
    pub methods: [String; 2],
    /// What the one did that was done first.
    pub first: First,
    /// How often a run of each was started again.
    pub restarted: [usize; 2],
    /// What came of each, by phase.
    pub sides: Vec<Slowed>,
    /// Which of them gave way, by phase.
    pub starved: Vec<(Phase, Starved)>,
}

impl AtOnce {
    /// One of its methods, by its place.
    #[must_use]
    pub fn method(&self, at: usize) -> &str {
        self.methods.get(at).map_or("", String::as_str)
    }
}

/// What a row took alone and beside the other method, in a phase: the sum of its times there.
#[derive(Debug, Clone)]
pub struct Slowed {
    /// Which of the two methods.
    pub of: usize,
    /// The phase.
    pub phase: Phase,
    /// The row of the method by itself.
    pub alone: usize,
    /// The row beside the other.
    pub beside: usize,
    /// Seconds alone.
    pub seconds_alone: Span,
    /// Seconds beside the other.
    pub seconds_beside: Span,
    /// How many times as long: from the least, rounded down.
    pub low: f64,
    /// To the most, rounded up; none where the clock cannot tell the time alone from nothing.
    pub high: Option<f64>,
    /// The smaller number of runs.
    pub n: usize,
    /// For how long both worked; none where no times of day are told.
    pub overlap: Option<Overlaps>,
}

impl Slowed {
    /// Whether what it took beside the other tells anything of both at once; taken so where no times of day are told.
    #[must_use]
    pub fn is_at_once(&self) -> bool {
        self.overlap.is_none_or(|all| all.are_real)
    }
}

/// For how long both of two runs worked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlap {
    /// Seconds in which both did.
    pub both: f64,
    /// Seconds in which the run itself did.
    pub own: f64,
    /// Seconds in which the one did that took shorter.
    pub shorter: f64,
}

/// From which share of the shorter one's time on two have worked at once: below it, each has had the machine for
/// itself for the most part.
const REAL: f64 = 0.5;

impl Overlap {
    /// What share of its own time the other one worked, too.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.both / self.own
    }

    /// Whether it was long enough to tell anything of both at once.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.both > 0.0 && self.both >= REAL * self.shorter
    }
}

/// The overlaps of all runs of a row.
#[derive(Debug, Clone, Copy)]
pub struct Overlaps {
    /// Seconds in which both worked.
    pub seconds: Span,
    /// What share of its own time that is.
    pub share: Span,
    /// Whether each of them tells anything of both at once.
    pub are_real: bool,
}

impl Overlaps {
    fn of(all: &[Overlap]) -> Self {
        let span = |of: &dyn Fn(&Overlap) -> f64| Span {
            low: all.iter().map(of).fold(f64::INFINITY, f64::min),
            high: all.iter().map(of).fold(0.0, f64::max),
        };
        Self {
            seconds: span(&|one| one.both),
            share: span(&Overlap::share),
            are_real: all.iter().all(Overlap::is_real),
        }
    }
}

/// Which of two gave way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Starved {
    /// This one of the two: it was slowed more, whatever the ranges leave open.
    Method(usize),
    /// Ranges overlap.
    Neither,
    /// Too few runs to say.
    TooFew(usize),
    /// They hardly worked at once: nothing is said of it.
    Apart,
}

/// Phases that are measured at once.
const PHASES: [Phase; 2] = [Phase::Protect, Phase::Restore];

/// Whether a step's phase counts as one of these: what is brought back is so when it answers.
fn is_in(phase: Phase, step: Phase) -> bool {
    step == phase || (phase == Phase::Restore && step == Phase::Ready)
}

fn all(session: &Session, rows: &[Row]) -> Vec<AtOnce> {
    let mut all: Vec<AtOnce> = Vec::new();
    let first = session
        .header
        .as_ref()
        .map(|header| header.plan.together.first);
    let name = session
        .header
        .as_ref()
        .map_or("", |header| header.session.as_str());
    for (at, row) in rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.session == name)
    {
        let Some(other) = row.labels.get(TOGETHER) else {
            continue;
        };
        let is_alone = |one: &Row| {
            one.session == row.session
                && one.binding == row.binding
                && beside(&one.series, other) == row.series
        };
        let Some(alone) = rows.iter().position(is_alone) else {
            continue;
        };
        let is_it = |known: &AtOnce| {
            let methods = [&known.methods[0], &known.methods[1]];
            known.host == row.host
                && (methods == [&row.method, other] || methods == [other, &row.method])
        };
        let place = all.iter().position(is_it).unwrap_or_else(|| {
            let methods = [row.method.clone(), other.clone()];
            all.push(AtOnce {
                host: row.host.clone(),
                restarted: [&methods[0], &methods[1]].map(|one| restarts(session, &row.host, one)),
                methods,
                first: first.unwrap_or_default(),
                sides: Vec::new(),
                starved: Vec::new(),
            });
            all.len() - 1
        });
        let Some(pair) = all.get_mut(place) else {
            continue;
        };
        let of = usize::from(pair.methods[0] != row.method);
        let phases = PHASES.iter();
        pair.sides
            .extend(phases.filter_map(|phase| slowed(session, rows, (of, *phase), (alone, at))));
    }
    for pair in &mut all {
        pair.starved = PHASES
            .iter()
            .filter_map(|phase| Some((*phase, starved(&pair.sides, *phase)?)))
            .collect();
    }
    all
}

fn restarts(session: &Session, host: &str, method: &str) -> usize {
    let is_its = |run: &&RunView| {
        let binding = session.binding(&run.binding);
        run.is_load() && binding.is_some_and(|one| one.method == method && one.host() == host)
    };
    session.runs.iter().filter(is_its).count()
}

fn slowed(
    session: &Session,
    rows: &[Row],
    (of, phase): (usize, Phase),
    (alone, beside): (usize, usize),
) -> Option<Slowed> {
    let (one, two) = (
        totals(rows.get(alone)?, phase),
        totals(rows.get(beside)?, phase),
    );
    let (seconds_alone, wide) = spans(&one)?;
    let (seconds_beside, widened) = spans(&two)?;
    let row = rows.get(beside)?;
    let mut overlaps = Vec::new();
    for at in two.keys() {
        let run = session.run_view(row.runs.get(*at)?)?;
        overlaps.extend(session.at_once(run, phase));
    }
    let overlap = (overlaps.len() == two.len()).then(|| Overlaps::of(&overlaps));
    Some(Slowed {
        of,
        phase,
        alone,
        beside,
        low: outwards(widened.low / wide.high, f64::floor),
        high: (wide.low > 0.0).then(|| outwards(widened.high / wide.low, f64::ceil)),
        n: one.len().min(two.len()),
        seconds_alone,
        seconds_beside,
        overlap,
    })
}

/// Seconds of a phase by run, each with what the clocks leave open: of several times of it the sum.
fn totals(row: &Row, phase: Phase) -> BTreeMap<usize, (f64, f64)> {
    let is_its = |time: &&TimeColumn| {
        time.series.n() > 0 && time.series.phase.is_some_and(|of| is_in(phase, of))
    };
    let times: Vec<&TimeColumn> = row.times.iter().filter(is_its).collect();
    // Of two clocks of one time, the finer one.
    let is_finest = |time: &&&TimeColumn| {
        !times.iter().any(|other| {
            other.series.title() == time.series.title()
                && other.series.resolution < time.series.resolution
        })
    };
    let mut all: Option<BTreeMap<usize, (f64, f64)>> = None;
    for time in times.iter().filter(is_finest) {
        let series = &time.series;
        let mut mine: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (run, value) in series.runs.iter().zip(&series.values) {
            let sum = mine.entry(*run).or_default();
            *sum = (sum.0 + value, sum.1 + series.resolution);
        }
        all = Some(match all {
            None => mine,
            // A run that lacks one of them has no sum.
            Some(before) => {
                let both = |(run, sum): (usize, (f64, f64))| {
                    let more = mine.get(&run)?;
                    Some((run, (sum.0 + more.0, sum.1 + more.1)))
                };
                before.into_iter().filter_map(both).collect()
            }
        });
    }
    all.unwrap_or_default()
}

/// From the least to the most; and as wide as the clocks leave open.
fn spans(totals: &BTreeMap<usize, (f64, f64)>) -> Option<(Span, Span)> {
    if totals.is_empty() {
        return None;
    }
    let least =
        |of: &dyn Fn(&(f64, f64)) -> f64| totals.values().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: &dyn Fn(&(f64, f64)) -> f64| totals.values().map(of).fold(0.0, f64::max);
    let span = Span {
        low: least(&|one| one.0),
        high: most(&|one| one.0),
    };
    let wide = Span {
        low: least(&|one| one.0 - one.1).max(0.0),
        high: most(&|one| one.0 + one.1),
    };
    (wide.high > 0.0).then_some((span, wide))
}

fn starved(sides: &[Slowed], phase: Phase) -> Option<Starved> {
    let of = |which: usize| {
        sides
            .iter()
            .filter(move |side| side.phase == phase && side.of == which)
    };
    let n = of(0).chain(of(1)).map(|side| side.n).min()?;
    let least = |which| of(which).map(|side| side.low).reduce(f64::min);
    let most = |which| {
        of(which)
            .map(|side| side.high.unwrap_or(f64::INFINITY))
            .reduce(f64::max)
    };
    let gave_way = |one: usize, other: usize| Some(least(one)? > most(other)?.max(1.0));
    let (first, second) = (gave_way(0, 1)?, gave_way(1, 0)?);
    let apart = of(0).chain(of(1)).any(|side| !side.is_at_once());
    Some(match (first, second) {
        _ if apart => Starved::Apart,
        _ if n < SOME => Starved::TooFew(n),
        (true, _) => Starved::Method(0),
        (_, true) => Starved::Method(1),
        (false, false) => Starved::Neither,
    })
}

impl RunView {
    /// Whether it was started again so that another run had something beside it: nothing of it is measured.
    #[must_use]
    pub fn is_load(&self) -> bool {
        self.labels.contains_key(RESTARTED)
    }

    // When its measured steps of a phase went on, or of all, in nanoseconds: in order, none in another.
    fn work(&self, phase: Option<Phase>) -> Vec<(u64, u64)> {
        let mut all: Vec<(u64, u64)> = Vec::new();
        let is_measured = |of: Phase| match phase {
            Some(phase) => is_in(phase, of),
            None => PHASES.iter().any(|phase| is_in(*phase, of)),
        };
        let steps = self.steps.iter();
        let mut spans: Vec<(u64, u64)> = steps
            .filter(|step| step.planned.timed && is_measured(step.planned.phase))
            .filter_map(|step| Some((step.started?.0, step.ended?.0)))
            .collect();
        spans.sort_unstable();
        merge(&mut all, spans);
        all
    }
}

fn merge(all: &mut Vec<(u64, u64)>, sorted: Vec<(u64, u64)>) {
    for (begin, end) in sorted {
        match all.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => all.push((begin, end)),
        }
    }
}

impl Session {
    /// All methods that ran at once, from rows among which are those of the session.
    #[must_use]
    pub fn pairs(&self, rows: &[Row]) -> Vec<AtOnce> {
        all(self, rows)
    }

    /// For how long a run and what it was beside both worked in a phase, by this machine's clock; nothing where the
    /// run was beside nothing, or nothing is known.
    #[must_use]
    pub fn at_once(&self, run: &RunView, phase: Phase) -> Option<Overlap> {
        let other = run.labels.get(TOGETHER)?;
        let mine = self.binding(&run.binding)?;
        let is_beside = |one: &&RunView| {
            let binding = self.binding(&one.binding);
            one.labels.get(TOGETHER) == Some(&mine.method)
                && binding.is_some_and(|of| of.method == *other && of.host() == mine.host())
        };
        let mine = run.work(Some(phase));
        let both = |(begin, end): &(u64, u64), (from, to): &(u64, u64)| {
            end.min(to).saturating_sub(*begin.max(from))
        };
        let met = |one: &(u64, u64)| mine.iter().map(|mine| both(mine, one)).sum::<u64>();
        let long = |all: &[(u64, u64)]| all.iter().map(|(from, to)| to - from).sum::<u64>();
        let own = long(&mine);
        // A repetition is beside another repetition of its own: of those that met this, all that they did in the
        // phase, and what met it in another one.
        let mut spans: Vec<(u64, u64)> = Vec::new();
        for one in self.runs.iter().filter(is_beside) {
            let work = one.work(None).into_iter();
            let before = spans.len();
            spans.extend(work.filter(|span| met(span) > 0));
            if spans.len() > before {
                spans.extend(one.work(Some(phase)));
            }
        }
        spans.sort_unstable();
        let mut theirs = Vec::new();
        merge(&mut theirs, spans);
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        (own > 0).then(|| Overlap {
            both: seconds(theirs.iter().map(met).sum()),
            own: seconds(own),
            shorter: seconds(own.min(long(&theirs))),
        })
    }
}

#[cfg(test)]
mod tests;
