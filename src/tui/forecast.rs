//! How long what is picked takes, by earlier runs alone.

use std::collections::BTreeMap;

use crate::event::{BindingId, PlannedRun};
use crate::method::order_runs;
use crate::recording::{Earlier, Past};

use super::format;
use super::model::Picking;
use super::offer::{MethodOffer, Picked};

/// What is known of how long a plan takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Forecast {
    /// Recordings are still being read.
    Unread,
    /// Seconds of the runs of methods that have a history.
    Known {
        /// By the medians.
        median: f64,
        /// By the shortest runs, and by the longest.
        range: (f64, f64),
        /// How many earlier runs it is made from.
        earlier: usize,
        /// Those without.
        without: Without,
    },
    /// No method has a history of this; so many earlier runs had another subject or settings.
    Nothing(usize),
}

/// Names of methods without a history.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Without {
    /// Nobody ever ran them on these hosts.
    never: Vec<String>,
    /// They ran with another subject or other settings.
    others: Vec<String>,
}

/// What the picked methods come to; absent where none is.
#[must_use]
pub fn forecast(picking: &Picking) -> Option<Forecast> {
    let chosen = picking.chosen();
    if chosen.is_empty() {
        return None;
    }
    if chosen.iter().any(|method| method.past == Past::Unread) {
        return Some(Forecast::Unread);
    }
    let (mut earlier, mut others, mut without) = (0, 0, Without::default());
    for method in &chosen {
        match &method.past {
            Past::Runs(runs) => earlier += runs.runs,
            Past::Others(runs) => {
                others += runs;
                without.others.push(method.name.clone());
            }
            Past::Nothing | Past::Unread => without.never.push(method.name.clone()),
        }
    }
    if earlier == 0 {
        return Some(Forecast::Nothing(others));
    }
    let all = |seconds: fn(&Earlier) -> f64| length(picking, &chosen, seconds);
    Some(Forecast::Known {
        median: all(|runs| runs.median),
        range: (all(|runs| runs.min), all(|runs| runs.max)),
        earlier,
        without,
    })
}

/// Seconds until the last run has ended: each machine takes its runs one after the other, in the
/// order of the plan.
fn length(picking: &Picking, chosen: &[&MethodOffer], seconds: fn(&Earlier) -> f64) -> f64 {
    let ids: Vec<BindingId> = (0..chosen.len()).map(|at| at.to_string().into()).collect();
    let mut busy: BTreeMap<&str, f64> = BTreeMap::new();
    let id = |picked: &Picked| {
        let at = chosen
            .iter()
            .position(|method| method.picked() == *picked)?;
        ids.get(at).cloned()
    };
    let pairs = picking.pairs();
    let pairs = pairs.iter();
    let pairs: Vec<_> = pairs
        .filter_map(|[one, other]| Some([id(one)?, id(other)?]))
        .collect();
    let runs = order_runs(&ids, &pairs, picking.reps.0, picking.order);
    let is_pair = |one: &PlannedRun, next: &PlannedRun| one.beside.as_ref() == Some(&next.run);
    for turn in runs.chunk_by(is_pair) {
        let method = |run: &PlannedRun| {
            let at = ids.iter().position(|id| *id == run.binding);
            chosen.get(at?).copied()
        };
        let methods: Vec<&MethodOffer> = turn.iter().filter_map(method).collect();
        // How much two slow each other is not known before they have run at once.
        let length = methods.iter().filter_map(|method| match &method.past {
            Past::Runs(runs) => Some(seconds(runs)),
            _ => None,
        });
        let length = length.fold(0.0, f64::max);
        let machines = || methods.iter().flat_map(|method| method.machines.values());
        let free = machines().filter_map(|machine| busy.get(machine.as_str()).copied());
        let end = free.fold(0.0, f64::max) + length;
        busy.extend(machines().map(|machine| (machine.as_str(), end)));
    }
    busy.into_values().fold(0.0, f64::max)
}

impl Forecast {
    /// In a sentence.
    #[must_use]
    pub fn says(&self) -> String {
        match self {
            Self::Unread => "reading earlier recordings…".to_owned(),
            Self::Nothing(others) => nothing(*others),
            Self::Known {
                median,
                range,
                earlier,
                without,
            } => {
                let time = format!(
                    "about {} by {}",
                    about(*median, *range),
                    format::count(*earlier, "earlier run")
                );
                without.after(time)
            }
        }
    }

    /// In a few words.
    #[must_use]
    pub fn short(&self) -> String {
        match self {
            Self::Known {
                median, without, ..
            } if without.is_empty() => format!("about {}", format::rough(*median)),
            Self::Known { median, .. } => format!("at least {}", format::rough(*median)),
            // With which of them is told in the sentence.
            Self::Nothing(1..) => "no history with these settings".to_owned(),
            Self::Unread | Self::Nothing(0) => self.says(),
        }
    }
}

impl Without {
    fn is_empty(&self) -> bool {
        self.never.is_empty() && self.others.is_empty()
    }

    /// What is missing, after what is known.
    fn after(&self, mut says: String) -> String {
        let all = [
            (&self.never, "no history of"),
            (&self.others, "none with this subject and these settings of"),
        ];
        for (names, what) in all {
            if !names.is_empty() {
                says = format!("{says}, and {what} {}", names.join(", "));
            }
        }
        says
    }
}

fn nothing(others: usize) -> String {
    match others {
        0 => "no history".to_owned(),
        others => format!(
            "no history with this subject and these settings ({} with others)",
            format::count(others, "earlier run")
        ),
    }
}

/// Of one method, in a sentence.
#[must_use]
pub fn past(past: &Past) -> String {
    match past {
        Past::Unread => "reading earlier recordings…".to_owned(),
        Past::Nothing => nothing(0),
        Past::Others(runs) => nothing(*runs),
        Past::Runs(runs) => {
            let time = format!(
                "a run takes about {} by {}",
                about(runs.median, (runs.min, runs.max)),
                format::count(runs.runs, "earlier run")
            );
            match runs.stored {
                Some(stored) => format!("{time}; its copies {}", format::bytes(stored)),
                None => time,
            }
        }
    }
}

/// `9 min (8 to 11 min)`; what is rounded to one figure is told once.
fn about(median: f64, (low, high): (f64, f64)) -> String {
    let [median, low, high] = [median, low, high].map(format::rough);
    if low == high && low == median {
        return median;
    }
    let unit = |text: &str| text.rsplit(' ').next().map(str::to_owned);
    let short = match low.rsplit_once(' ') {
        Some((number, _)) if unit(&low) == unit(&high) && !number.contains(' ') => number,
        _ => &low,
    };
    if low == high {
        format!("{median} ({low})")
    } else {
        format!("{median} ({short} to {high})")
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::offers::offer;
    use super::*;
    use crate::event::Bytes;

    fn runs(median: f64) -> Past {
        Past::Runs(Earlier {
            runs: 4,
            median,
            min: median - 10.0,
            max: median + 20.0,
            stored: Some(Bytes(1 << 30)),
        })
    }

    fn picking(of: &[(usize, Past)]) -> Picking {
        let mut offer = offer();
        let mut picking = Picking::default();
        for (at, past) in of {
            offer.methods[*at].past = past.clone();
            picking.picked.insert(offer.methods[*at].picked());
        }
        picking.offer = Some(offer);
        picking
    }

    fn says(of: &[(usize, Past)]) -> String {
        forecast(&picking(of)).unwrap().says()
    }

    #[test]
    fn runs_of_one_host_follow_each_other_and_hosts_do_not_wait() {
        assert_eq!(forecast(&picking(&[])), None);
        let known = |median, range, earlier| {
            let without = Without::default();
            Some(Forecast::Known {
                median,
                range,
                earlier,
                without,
            })
        };
        let of = |all: &[(usize, Past)]| forecast(&picking(all));
        assert_eq!(of(&[(0, runs(60.0))]), known(180.0, (150.0, 240.0), 4));
        let two_hosts = of(&[(0, runs(60.0)), (4, runs(30.0))]);
        assert_eq!(two_hosts, known(180.0, (150.0, 240.0), 8));
        let one_host = of(&[(0, runs(60.0)), (3, runs(30.0))]);
        assert_eq!(one_host, known(270.0, (210.0, 390.0), 8));
    }

    #[test]
    fn what_is_not_known_is_said() {
        assert_eq!(says(&[(0, Past::Nothing)]), "no history");
        assert_eq!(
            says(&[(0, Past::Others(2)), (3, Past::Others(1))]),
            "no history with this subject and these settings (3 earlier runs with others)"
        );
        assert_eq!(
            says(&[(0, Past::Unread), (3, runs(9.0))]),
            "reading earlier recordings…"
        );
        let part = says(&[(0, Past::Nothing), (3, runs(60.0))]);
        assert!(
            part.ends_with("by 4 earlier runs, and no history of guest-snapshot"),
            "{part}"
        );
        let part = says(&[(0, Past::Others(7)), (3, runs(60.0))]);
        assert!(
            part.ends_with(", and none with this subject and these settings of guest-snapshot"),
            "{part}"
        );
        assert!(past(&Past::Others(1)).contains("1 earlier run with others"));
        assert!(past(&runs(60.0)).ends_with("by 4 earlier runs; its copies 1.00 GiB"));
        assert_eq!(about(131.0, (124.0, 156.0)), "3 min");
        assert_eq!(about(300.0, (200.0, 700.0)), "5 min (4 to 12 min)");
        assert_eq!(about(70.0, (40.0, 90.0)), "70 s (40 to 90 s)");
    }
}
