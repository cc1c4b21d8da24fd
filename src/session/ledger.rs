//! What each step left where, and what is still out.

use std::collections::BTreeSet;

use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync, VectorSync};

use crate::event::{Intended, Leave, LeaveId, LeaveState, Nanos};

/// What was left, in the order in which it was made.
#[derive(Debug, Default, Clone)]
pub struct Ledger {
    /// In the order in which they were intended.
    pub entries: VectorSync<Left>,
    places: RedBlackTreeMapSync<LeaveId, usize>,
    /// Places of those that may still be there.
    out: RedBlackTreeSetSync<usize>,
    early: RedBlackTreeMapSync<LeaveId, LeaveState>,
}

/// One leftover.
#[derive(Debug, Clone)]
pub struct Left {
    /// Its id.
    pub leave: LeaveId,
    /// When it was intended.
    pub at: Nanos,
    /// How to find and undo it.
    pub intended: Intended,
    /// What `find` printed, once it was there.
    pub found: Option<String>,
    /// Where it stands.
    pub state: LeftState,
}

/// Where a leftover stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftState {
    /// About to be made; it may be there.
    Intended,
    /// There.
    Found(String),
    /// Gone.
    Undone,
    /// Still there, and why.
    Kept(String),
}

impl Ledger {
    /// Takes one change.
    pub fn apply(&mut self, t: Nanos, leave: &Leave) {
        let known = self.places.get(&leave.leave).copied();
        let at = match (&leave.state, known) {
            (LeaveState::Intended(_), Some(_)) => return,
            (LeaveState::Intended(intended), None) => {
                let at = self.entries.len();
                let mut left = Left {
                    leave: leave.leave.clone(),
                    at: t,
                    intended: intended.clone(),
                    found: None,
                    state: LeftState::Intended,
                };
                if let Some(state) = self.early.get(&leave.leave) {
                    left.advance(state);
                    self.early.remove_mut(&leave.leave);
                }
                self.entries.push_back_mut(left);
                self.places.insert_mut(leave.leave.clone(), at);
                at
            }
            (state, None) => {
                self.early.insert_mut(leave.leave.clone(), state.clone());
                return;
            }
            (state, Some(at)) => {
                if let Some(left) = self.entries.get_mut(at) {
                    left.advance(state);
                }
                at
            }
        };
        let state = self.entries.get(at).map(|left| &left.state);
        if state == Some(&LeftState::Undone) {
            self.out.remove_mut(&at);
        } else {
            self.out.insert_mut(at);
        }
    }

    /// What may still be on a host, newest first: the order in which it is undone.
    pub fn still_out(&self) -> impl Iterator<Item = &Left> {
        let out = self.out.iter().rev();
        out.filter_map(|at| self.entries.get(*at))
    }

    /// How many may still be there.
    #[must_use]
    pub fn count_out(&self) -> usize {
        self.out.size()
    }
}

impl Ledger {
    /// The command that lists what is still out, and with `--remove` takes it away; none where
    /// nothing is.
    #[must_use]
    pub fn recovery(&self) -> Option<String> {
        let hosts: BTreeSet<&str> = self
            .still_out()
            .map(|left| left.intended.host.as_str())
            .collect();
        let hosts: Vec<String> = hosts.iter().map(|host| format!(" --host {host}")).collect();
        (!hosts.is_empty()).then(|| format!("comeback recover{}", hosts.concat()))
    }
}

impl Left {
    fn advance(&mut self, state: &LeaveState) {
        match state {
            LeaveState::Intended(_) => {}
            LeaveState::Found { found } => {
                self.found = Some(found.clone());
                self.state = LeftState::Found(found.clone());
            }
            LeaveState::Undone => self.state = LeftState::Undone,
            LeaveState::Kept { why } => self.state = LeftState::Kept(why.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::LeaveKind;

    fn intended(name: &str) -> LeaveState {
        LeaveState::Intended(Intended {
            run: "r1".into(),
            step: "s1".into(),
            host: "h1".into(),
            name: name.into(),
            kind: LeaveKind::Copy,
            find: "ls".into(),
            undo: "rm".into(),
            back: None,
        })
    }

    fn found(text: &str) -> LeaveState {
        LeaveState::Found { found: text.into() }
    }

    fn ledger(told: &[(&str, LeaveState)]) -> Ledger {
        let mut ledger = Ledger::default();
        for (leave, state) in told {
            let leave = Leave {
                leave: (*leave).into(),
                state: state.clone(),
            };
            ledger.apply(Nanos(0), &leave);
        }
        ledger
    }

    fn out(ledger: &Ledger) -> Vec<&str> {
        let names = ledger.still_out().map(|left| left.leave.as_str());
        names.collect()
    }

    #[test]
    fn what_was_made_last_is_undone_first() {
        let ledger = ledger(&[
            ("a", intended("sandbox")),
            ("b", intended("archive")),
            ("b", found("x.tar")),
            ("c", intended("mount")),
            ("c", LeaveState::Undone),
        ]);
        assert_eq!(out(&ledger), ["b", "a"]);
        assert_eq!(ledger.entries[1].state, LeftState::Found("x.tar".into()));
    }

    #[test]
    fn what_is_kept_is_still_out_until_it_is_undone() {
        let kept = LeaveState::Kept {
            why: "a check failed".into(),
        };
        let told = [("a", intended("archive")), ("a", kept)];
        assert_eq!(out(&ledger(&told)), ["a"]);
        let [first, second] = told;
        assert!(out(&ledger(&[first, second, ("a", LeaveState::Undone)])).is_empty());
    }

    #[test]
    fn what_is_still_out_is_recovered_from_its_hosts() {
        let told = [("a", intended("archive")), ("b", intended("box"))];
        let all = ledger(&told);
        assert_eq!(all.recovery().unwrap(), "comeback recover --host h1");
        let [a, b] = told;
        let gone = [a, b, ("a", LeaveState::Undone), ("b", LeaveState::Undone)];
        assert!(ledger(&gone).recovery().is_none());
    }

    #[test]
    fn a_change_that_came_before_its_intention_is_not_lost() {
        let ledger = ledger(&[("a", found("x.tar")), ("a", intended("archive"))]);
        assert_eq!(ledger.entries[0].state, LeftState::Found("x.tar".into()));
        assert_eq!(ledger.entries.len(), 1);
    }
}
