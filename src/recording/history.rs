//! What earlier runs of a method took, out of the recordings of a folder.

use std::path::Path;
use std::sync::Arc;

use super::{BoundSummary, HostSummary, Summary, files};
use crate::event::{Binding, Bytes, Facts, Origin, Subject};
use crate::session::{TOGETHER, median};

/// So many recordings are looked at, the newest.
const MOST: usize = 200;
/// So many bytes of them are read.
const MOST_BYTES: u64 = 512 << 20;

/// What is known of earlier runs of a method with these hosts, subject and settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Past {
    /// Recordings are still being read.
    #[default]
    Unread,
    /// No earlier run is known.
    Nothing,
    /// So many ended well on the same hosts, but none with this subject and these settings.
    Others(usize),
    /// These ended well with the same of all.
    Runs(Earlier),
}

/// Earlier runs that ended well.
#[derive(Debug, Clone, PartialEq)]
pub struct Earlier {
    /// How many.
    pub runs: usize,
    /// Seconds that a run took from start to end, the median.
    pub median: f64,
    /// The shortest.
    pub min: f64,
    /// The longest.
    pub max: f64,
    /// What the copies of a run took, the median; absent where that was not told.
    pub stored: Option<Bytes>,
}

/// Runs that ended well.
#[derive(Debug, Clone, Default)]
pub struct History(Vec<Kept>);

#[derive(Debug, Clone)]
struct Kept {
    bound: Arc<BoundSummary>,
    hosts: Arc<Vec<HostSummary>>,
    seconds: f64,
    stored: Option<Bytes>,
    subject: Option<Bytes>,
}

impl History {
    /// Reads the newest recordings of a folder, as long as that is wanted; what cannot be read, or
    /// would take long, tells nothing. Absent where it was not wanted any more, before the end.
    pub fn read(folder: &Path, is_wanted: impl Fn() -> bool) -> Option<Self> {
        let files = files(folder).unwrap_or_default();
        let mut left = MOST_BYTES;
        let newest = files.iter().take(MOST);
        let short = newest.filter(|path| {
            let size = std::fs::metadata(path).map_or(u64::MAX, |known| known.len());
            let fits = size <= left;
            left -= if fits { size } else { 0 };
            fits
        });
        let read = short.map(|path| Summary::read_while(path, &is_wanted));
        let read: Vec<Summary> = read.collect::<Option<_>>()?;
        is_wanted().then(|| Self::of(read))
    }

    /// Of recordings that were told in short. What a publication says was not measured here.
    pub fn of(recordings: impl IntoIterator<Item = Summary>) -> Self {
        let mut kept = Vec::new();
        for recording in recordings {
            if recording.origin != Some(Origin::Captured) {
                continue;
            }
            let hosts = Arc::new(recording.hosts);
            for run in recording.runs {
                // Beside another method it had not the machine for itself.
                let counts = run.is_good() && !run.labels.contains_key(TOGETHER);
                if let Some(seconds) = run.seconds.filter(|_| counts) {
                    kept.push(Kept {
                        bound: Arc::clone(&run.bound),
                        hosts: Arc::clone(&hosts),
                        seconds,
                        stored: run.copies.stored,
                        subject: run.subject_bytes.filter(|bytes| bytes.0 > 0),
                    });
                }
            }
        }
        Self(kept)
    }

    /// What is known of a binding, on hosts of which this is known now.
    pub fn past<'f>(&self, binding: &Binding, facts: impl Fn(&str) -> Option<&'f Facts>) -> Past {
        let there = self.there(binding, facts);
        let same: Vec<&Kept> = there
            .iter()
            .copied()
            .filter(|kept| {
                kept.bound.settings == binding.settings
                    && is_same_subject(&kept.bound.subject, &binding.subject)
            })
            .collect();
        let seconds: Vec<f64> = same.iter().map(|kept| kept.seconds).collect();
        let Some(median_seconds) = median(&seconds) else {
            return match there.len() {
                0 => Past::Nothing,
                runs => Past::Others(runs),
            };
        };
        let stored: Vec<f64> = same
            .iter()
            .filter_map(|kept| Some(kept.stored?.0 as f64))
            .collect();
        Past::Runs(Earlier {
            runs: seconds.len(),
            median: median_seconds,
            min: seconds.iter().copied().fold(f64::INFINITY, f64::min),
            max: seconds.iter().copied().fold(0.0, f64::max),
            stored: median(&stored).map(|bytes| Bytes(bytes as u64)),
        })
    }

    /// How long a run of a method took for each byte of its subject, on these hosts, whatever the subject and the settings were:
    /// the least, the most, and of how many runs.
    pub fn pace<'f>(
        &self,
        binding: &Binding,
        facts: impl Fn(&str) -> Option<&'f Facts>,
    ) -> Option<(f64, f64, usize)> {
        let there = self.there(binding, facts);
        let paces: Vec<f64> = there
            .iter()
            .filter_map(|kept| Some(kept.seconds / kept.subject?.0 as f64))
            .filter(|pace| pace.is_finite())
            .collect();
        let low = paces.iter().copied().reduce(f64::min)?;
        let high = paces.iter().copied().reduce(f64::max)?;
        Some((low, high, paces.len()))
    }

    // Of the same method, on the same hosts.
    fn there<'f>(
        &self,
        binding: &Binding,
        facts: impl Fn(&str) -> Option<&'f Facts>,
    ) -> Vec<&Kept> {
        let is_there = |kept: &&Kept| {
            kept.bound.method == binding.method
                && kept.bound.roles.len() == binding.roles.len()
                && binding.roles.iter().all(|(role, name)| {
                    let then = kept.bound.roles.get(role);
                    then.is_some_and(|then| kept.is_same_host(then, name, facts(name)))
                })
        };
        self.0.iter().filter(is_there).collect()
    }

    /// Subjects that the operator named on a host, each once, the last one first.
    #[must_use]
    pub fn subjects(&self, host: &str) -> Vec<&Subject> {
        let mut all: Vec<&Subject> = Vec::new();
        for kept in &self.0 {
            let subject = &kept.bound.subject;
            let is_here = kept.bound.host == host && !subject.own;
            if is_here && !all.iter().any(|known| is_same_subject(known, subject)) {
                all.push(subject);
            }
        }
        all
    }
}

impl Kept {
    /// Whether a host of this recording is the one that has this name now: the same running
    /// machine, or one of the same name and system. A machine that was started again tells
    /// another id.
    fn is_same_host(&self, then: &str, name: &str, facts: Option<&Facts>) -> bool {
        let told = self.hosts.iter().find(|host| host.name == then);
        let (Some(told), Some(facts)) = (told, facts) else {
            return then == name;
        };
        let same = |one: &str, other: &str| one.is_empty() || other.is_empty() || one == other;
        (!told.machine.is_empty() && told.machine == facts.machine)
            || (then == name && same(&told.system, &facts.system))
    }
}

fn is_same_subject(one: &Subject, other: &Subject) -> bool {
    (&one.kind, &one.id, one.own) == (&other.kind, &other.id, other.own)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::event::EndState;
    use crate::recording::{CopyBytes, RunSummary};
    use crate::session::RunStage;

    fn subject(own: bool, id: &str) -> Subject {
        Subject {
            kind: "dir".into(),
            id: id.into(),
            own,
            marked: false,
        }
    }

    fn own() -> Subject {
        subject(true, "/var/tmp/comeback-*")
    }

    fn run(size: &str, subject: Subject, end: EndState, seconds: f64) -> RunSummary {
        RunSummary {
            run: "r1".into(),
            bound: Arc::new(BoundSummary {
                method: "files-cp".into(),
                host: "h1".into(),
                roles: BTreeMap::from([("source".into(), "h1".into())]),
                subject,
                settings: BTreeMap::from([("size".into(), size.into())]),
                ..BoundSummary::default()
            }),
            rep: 1,
            series: "full".into(),
            labels: BTreeMap::new(),
            stage: RunStage::Ended(end, None),
            seconds: Some(seconds),
            copies: CopyBytes {
                logical: None,
                stored: Some(Bytes(100)),
            },
            subject_bytes: None,
            proved: 1,
            disproved: 0,
        }
    }

    #[test]
    fn a_pace_is_of_all_runs_of_a_method_on_these_hosts() {
        let mut runs = vec![
            run("1MiB", own(), EndState::Ok, 4.0),
            run("9MiB", own(), EndState::Ok, 6.0),
            run("9MiB", own(), EndState::Failed, 90.0),
            run("9MiB", own(), EndState::Ok, 50.0),
        ];
        runs[3].labels.insert(TOGETHER.into(), "files-tar".into());
        for run in &mut runs {
            run.subject_bytes = Some(Bytes(2));
        }
        let history = history("m", runs);
        let mut binding = Binding {
            method: "files-cp".into(),
            roles: BTreeMap::from([("source".into(), "h1".into())]),
            ..Binding::default()
        };
        let facts = Facts {
            machine: "m".into(),
            ..Facts::default()
        };
        let pace = history.pace(&binding, |_| Some(&facts));
        assert_eq!(pace, Some((2.0, 3.0, 2)));
        binding.method = "files-tar".into();
        assert_eq!(history.pace(&binding, |_| Some(&facts)), None);
    }

    fn history(machine: &str, runs: Vec<RunSummary>) -> History {
        History::of([Summary {
            origin: Some(Origin::Captured),
            hosts: vec![HostSummary {
                name: "h1".into(),
                system: "Debian 12".into(),
                machine: machine.into(),
            }],
            runs,
            ..Summary::default()
        }])
    }

    fn past(history: &History, host: &str, size: &str, subject: Subject, facts: &Facts) -> Past {
        let binding = Binding {
            method: "files-cp".into(),
            roles: BTreeMap::from([("source".into(), host.into())]),
            subject,
            settings: BTreeMap::from([("size".into(), size.into())]),
            ..Binding::default()
        };
        history.past(&binding, |_| Some(facts))
    }

    fn facts(machine: &str, system: &str) -> Facts {
        Facts {
            machine: machine.into(),
            system: system.into(),
            ..Facts::default()
        }
    }

    #[test]
    fn only_good_runs_with_the_same_of_all_count() {
        let history = history(
            "m1",
            vec![
                run("1GiB", own(), EndState::Ok, 10.0),
                run("1GiB", own(), EndState::Warnings, 14.0),
                run("1GiB", own(), EndState::Failed, 99.0),
                run("2GiB", own(), EndState::Ok, 50.0),
                run("1GiB", subject(false, "/srv/a"), EndState::Ok, 70.0),
            ],
        );
        let here = facts("m1", "Debian 12");
        let earlier = Earlier {
            runs: 2,
            median: 12.0,
            min: 10.0,
            max: 14.0,
            stored: Some(Bytes(100)),
        };
        let past = |size: &str, subject| past(&history, "h1", size, subject, &here);
        assert_eq!(past("1GiB", own()), Past::Runs(earlier));
        assert_eq!(past("3GiB", own()), Past::Others(4));
        assert_eq!(past("2GiB", subject(false, "/srv/a")), Past::Others(4));
        let named = Earlier {
            runs: 1,
            median: 70.0,
            min: 70.0,
            max: 70.0,
            stored: Some(Bytes(100)),
        };
        assert_eq!(past("1GiB", subject(false, "/srv/a")), Past::Runs(named));
        let elsewhere = subject(true, "/mnt/fast/comeback-*");
        assert_eq!(past("1GiB", elsewhere), Past::Others(4));
        assert_eq!(history.subjects("h1"), [&subject(false, "/srv/a")]);
        assert!(history.subjects("h2").is_empty());
    }

    #[test]
    fn another_machine_of_the_same_name_is_another_one() {
        let history = history("m1", vec![run("1GiB", own(), EndState::Ok, 10.0)]);
        let is_known =
            |host: &str, facts: &Facts| past(&history, host, "1GiB", own(), facts) != Past::Nothing;
        assert!(is_known("h1", &facts("m2", "Debian 12")), "started again");
        assert!(is_known("root@h1", &facts("m1", "Debian 12")));
        assert!(!is_known("h1", &facts("m2", "FreeBSD 14")));
        assert!(!is_known("h2", &facts("m2", "Debian 12")));
    }

    #[test]
    fn reading_ends_in_the_middle_of_a_file_where_nobody_wants_it() {
        use std::cell::Cell;

        let folder = tempfile::tempdir().unwrap();
        let events = crate::session::story::everything().events();
        let lines = events
            .iter()
            .map(|event| crate::event::to_line(event).unwrap() + "\n");
        std::fs::write(folder.path().join("a.jsonl"), lines.collect::<String>()).unwrap();
        let asked = Cell::new(0);
        let upto = |most: usize| {
            asked.set(0);
            History::read(folder.path(), || {
                asked.set(asked.get() + 1);
                asked.get() <= most
            })
        };
        assert!(upto(usize::MAX).is_some());
        assert!(asked.get() > events.len(), "asked before every line");
        let half = events.len() / 2;
        assert!(upto(half).is_none());
        assert_eq!(asked.get(), half + 1, "and no line is read after that");
    }

    #[test]
    fn figures_of_a_publication_are_no_history() {
        let published = Summary {
            origin: Some(Origin::Published),
            runs: vec![run("1GiB", own(), EndState::Ok, 10.0)],
            ..Summary::default()
        };
        let here = facts("m1", "Debian 12");
        let history = History::of([published]);
        assert_eq!(past(&history, "h1", "1GiB", own(), &here), Past::Nothing);
    }
}
