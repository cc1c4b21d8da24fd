//! What came out of one time on one machine, in half a sentence.

use std::collections::HashMap;

use crate::session::{Says, Series};

use super::super::comparison::Comparison;
use super::super::figures::Scale;
use super::super::words::{counts, listed};
use super::MOST_NAMES;

/// Runs that each side needs before ranges may be told apart.
const SOME: usize = 3;

/// The rows of a machine that have the time.
pub(super) struct CameOut<'a> {
    compared: &'a Comparison,
    time: &'a str,
    /// Their places, the shortest median first.
    rows: Vec<(usize, &'a Series)>,
    /// What may be said of every two of them, the first one beside the second.
    beside: HashMap<(usize, usize), Beside>,
    /// Why they may not be compared, as often as it is said of two of them.
    against: Vec<&'a str>,
}

/// What may be said of one row beside another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Faster,
    Slower,
    Apart,
    Alike,
    NotComparable,
}

impl<'a> CameOut<'a> {
    pub fn of(compared: &'a Comparison, rows: &[usize], time: &'a str) -> Self {
        let measured = |at: &usize| {
            let row = compared.rows.get(*at)?;
            let mut columns = row.times.iter().map(|column| &column.series);
            let series = columns.find(|series| series.n() > 0 && series.is_called(time))?;
            Some((*at, series))
        };
        let rows = rows.iter().filter_map(measured);
        let mut rows: Vec<(f64, (usize, &Series))> = rows
            .map(|(at, series)| (median(series), (at, series)))
            .collect();
        rows.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let rows: Vec<(usize, &Series)> = rows.into_iter().map(|(_, row)| row).collect();
        let mut beside = HashMap::new();
        let mut against = Vec::new();
        if rows.len() > 1 {
            let is_time = |row: usize, column: usize| {
                let row = compared.rows.get(row);
                let column = row.and_then(|row| row.times.get(column));
                column.is_some_and(|column| column.series.is_called(time))
            };
            for verdict in &compared.verdicts {
                let (a, b) = (verdict.a, verdict.b);
                if is_time(a, verdict.column_a) {
                    if let Says::NotComparable(why) = &verdict.says
                        && [a, b]
                            .iter()
                            .all(|at| rows.iter().any(|(row, _)| row == at))
                    {
                        against.extend(why.iter().map(String::as_str));
                    }
                    let (one, other) = of_verdict(&verdict.says);
                    beside.entry((a, b)).or_insert(one);
                    beside.entry((b, a)).or_insert(other);
                }
            }
        }
        Self {
            compared,
            time,
            rows,
            beside,
            against,
        }
    }

    /// Nothing where no row has a value that counts.
    pub fn says(&self) -> Option<String> {
        match self.rows.as_slice() {
            [] => None,
            [(at, series)] => Some(self.alone(*at, series)),
            _ => Some(self.beside_one_another()),
        }
    }

    fn beside_one_another(&self) -> String {
        let time = self.time;
        if self.compared.is_too_many() {
            return format!("too many to be compared two by two in {time}");
        }
        let is_slower = |at: &usize| {
            let mut all = self.places();
            all.any(|other| self.beside(other, *at) == Beside::Faster)
        };
        let (rest, front): (Vec<usize>, Vec<usize>) = self.places().partition(is_slower);
        if rest.is_empty() {
            return self.undecided();
        }
        let is_faster = |fast: &usize| {
            let mut slow = rest.iter();
            slow.all(|slow| self.beside(*fast, *slow) == Beside::Faster)
        };
        match front.as_slice() {
            [first] if is_faster(first) => {
                let next = rest.first().map_or(String::new(), |next| {
                    format!(", next {} with {}", self.name(*next), self.range(*next))
                });
                let (name, range) = (self.name(*first), self.range(*first));
                format!("{name} was the fastest in {time} ({range}{next})")
            }
            front if front.iter().all(is_faster) => {
                let alike = self.are(front, Beside::Alike);
                let between = if alike {
                    ", no difference shown between them"
                } else {
                    ""
                };
                let (front, rest) = (self.names(front), self.names(&rest));
                format!("{front} were faster in {time} than {rest}{between}")
            }
            _ => self.some_faster(),
        }
    }

    // No row is faster than another.
    fn undecided(&self) -> String {
        let time = self.time;
        let all: Vec<usize> = self.places().collect();
        let lowest = self.rows.iter().map(|(_, series)| series.in_runs()).min();
        let lowest = lowest.unwrap_or_default();
        if self.are(&all, Beside::NotComparable) {
            return self.not_comparable();
        }
        if lowest < SOME {
            return self.too_few(lowest);
        }
        if self.are(&all, Beside::Alike) {
            return format!("no difference in {time} shown");
        }
        if let Some((first, others)) = all.split_first()
            && others
                .iter()
                .all(|other| self.beside(*first, *other) == Beside::Apart)
        {
            let name = self.name(*first);
            return format!(
                "{name} had the shortest {time}, apart from all others, but n = {lowest} is too \
                 few to call it faster"
            );
        }
        format!("none is shown to be faster in {time}, see below")
    }

    // What each took all the same, and the reason that most pairs share.
    fn not_comparable(&self) -> String {
        let took = |(at, series): &(usize, &Series)| {
            let took = Scale::of(series).full(median(series));
            format!("{took} with {}", self.name(*at))
        };
        let n = |series: &Series| match series.n() {
            1 => "one value".to_owned(),
            _ => format!("median of {}", counts(series)),
        };
        let mut ns = self.rows.iter().map(|(_, series)| n(series));
        let first = ns.next().unwrap_or_default();
        let is_same = ns.all(|n| n == first);
        let each = |row| {
            if is_same {
                took(row)
            } else {
                format!("{} ({})", took(row), n(row.1))
            }
        };
        let all: Vec<String> = self.rows.iter().map(each).collect();
        let n = if is_same {
            format!(" ({first} each)")
        } else {
            String::new()
        };
        let often = |why: &str| self.against.iter().filter(|other| **other == why).count();
        // The last one of the highest is taken, so from the end.
        let most = self.against.iter().rev().max_by_key(|why| often(why));
        let why = most.map_or(String::new(), |why| format!(": {why}"));
        let (time, all) = (self.time, some(&all));
        format!("{time} took {all}{n}, which may not be compared{why}")
    }

    // Who has values of the fewest runs, and of how few.
    fn too_few(&self, lowest: usize) -> String {
        let time = self.time;
        let fewest = self
            .rows
            .iter()
            .filter(|(_, series)| series.in_runs() == lowest);
        let fewest: Vec<usize> = fewest.map(|(at, _)| *at).collect();
        let is_repeated = self
            .rows
            .iter()
            .any(|(_, series)| series.n() > series.in_runs());
        let (values, are) = match (lowest, is_repeated) {
            (1, false) => ("one value", "is"),
            (1, true) => ("values of one run", "are"),
            (_, false) => ("two values", "are"),
            (_, true) => ("values of two runs", "are"),
        };
        if fewest.len() == self.rows.len() {
            return format!("{values} each {are} too few to tell them apart in {time}");
        }
        match fewest.as_slice() {
            [one] => {
                let name = self.name(*one);
                format!("{name} has only {values} in {time}, too few to tell it apart")
            }
            all => {
                let names = match all.len() {
                    n if n > MOST_NAMES => format!("{n} of them"),
                    _ => self.names(all),
                };
                format!("{names} have only {values} each in {time}, too few to tell them apart")
            }
        }
    }

    // Some are faster than some, but not all of them than all others.
    fn some_faster(&self) -> String {
        let pairs = self
            .places()
            .flat_map(|a| self.places().map(move |b| (a, b)));
        let faster: Vec<(usize, usize)> = pairs
            .filter(|(a, b)| self.beside(*a, *b) == Beside::Faster)
            .collect();
        let first = faster.first().map_or(String::new(), |(fast, slow)| {
            let (fast, slow) = (self.name(*fast), self.name(*slow));
            format!("{fast} was faster in {} than {slow}", self.time)
        });
        match faster.len() {
            0 | 1 => format!("{first}, no other difference is shown"),
            _ => format!("{first}, more below"),
        }
    }

    fn alone(&self, at: usize, series: &Series) -> String {
        let n = match series.n() {
            1 => "one value".to_owned(),
            _ => format!("median of {}, {}", counts(series), self.range(at)),
        };
        let took = Scale::of(series).full(median(series));
        format!("{} took {took} in {} ({n})", self.name(at), self.time)
    }

    fn places(&self) -> impl Iterator<Item = usize> {
        self.rows.iter().map(|(at, _)| *at)
    }

    fn name(&self, at: usize) -> String {
        let row = self.compared.rows.get(at);
        row.map_or(String::new(), |row| self.compared.way(row))
    }

    fn names(&self, all: &[usize]) -> String {
        if all.len() > MOST_NAMES {
            return format!("{} others", all.len());
        }
        listed(&all.iter().map(|at| self.name(*at)).collect::<Vec<_>>())
    }

    fn range(&self, at: usize) -> String {
        let found = self.rows.iter().find(|(row, _)| *row == at);
        let range = found.and_then(|(_, series)| {
            let (low, high) = (series.min()?, series.max()?);
            let error = match series.resolution {
                r if r >= 1.0 => format!(" ±{r:.0}"),
                _ => String::new(),
            };
            Some(format!("{}{error} s", Scale::of(series).range(low, high)))
        });
        range.unwrap_or_default()
    }

    /// Whether this may be said of every two of some rows.
    fn are(&self, all: &[usize], what: Beside) -> bool {
        let mut pairs = all
            .iter()
            .enumerate()
            .flat_map(|(at, one)| all.iter().skip(at + 1).map(move |other| (*one, *other)));
        pairs.all(|(one, other)| self.beside(one, other) == what)
    }

    fn beside(&self, a: usize, b: usize) -> Beside {
        let known = self.beside.get(&(a, b)).copied();
        known.unwrap_or(Beside::NotComparable)
    }
}

/// What is printed of a time without its values, of some rows; nothing where nothing is.
pub(super) fn printed(compared: &Comparison, rows: &[usize], time: &str) -> Option<String> {
    let figure = |at: &usize| {
        let row = compared.rows.get(*at)?;
        let mut columns = row.times.iter().map(|column| &column.series);
        let series = columns.find(|series| series.is_published() && series.is_called(time))?;
        let scale = Scale::of(series);
        let figure = match (series.published, series.published_min, series.published_max) {
            (Some(median), ..) => scale.full(median),
            (None, Some(low), Some(high)) => format!("{} {}", scale.range(low, high), scale.unit()),
            (None, low, high) => scale.full(low.or(high)?),
        };
        Some(format!("{figure} for {}", compared.way(row)))
    };
    let all: Vec<String> = rows.iter().filter_map(figure).collect();
    (!all.is_empty()).then(|| format!("{time} is printed as {}", some(&all)))
}

/// Some of many, and how many more there are.
fn some(all: &[String]) -> String {
    let mut some: Vec<String> = all.iter().take(MOST_NAMES).cloned().collect();
    let more = all.len().saturating_sub(some.len());
    some.extend((more > 0).then(|| format!("{more} more")));
    listed(&some)
}

/// What may be said of the first one beside the second, and the other way round.
fn of_verdict(says: &Says) -> (Beside, Beside) {
    match says {
        Says::Faster => (Beside::Faster, Beside::Slower),
        Says::Slower => (Beside::Slower, Beside::Faster),
        Says::Apart { .. } => (Beside::Apart, Beside::Apart),
        Says::NoDifference => (Beside::Alike, Beside::Alike),
        Says::NotComparable(_) => (Beside::NotComparable, Beside::NotComparable),
    }
}

fn median(series: &Series) -> f64 {
    series.median().unwrap_or_default()
}
