//! What each step left where, and what is still out.

use std::collections::BTreeMap;

use crate::event::{Intended, Leave, LeaveId, LeaveState, Nanos};

/// What was left, in the order in which it was made.
#[derive(Debug, Default, Clone)]
pub struct Ledger {
    /// In the order in which they were intended.
    pub entries: Vec<Left>,
    early: BTreeMap<LeaveId, LeaveState>,
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
        if let LeaveState::Intended(intended) = &leave.state {
            if !self.entries.iter().any(|left| left.leave == leave.leave) {
                let state = self.early.remove(&leave.leave);
                self.entries.push(Left {
                    leave: leave.leave.clone(),
                    at: t,
                    intended: intended.clone(),
                    found: None,
                    state: LeftState::Intended,
                });
                if let (Some(state), Some(left)) = (state, self.entries.last_mut()) {
                    left.advance(&state);
                }
            }
            return;
        }
        match self
            .entries
            .iter_mut()
            .find(|left| left.leave == leave.leave)
        {
            Some(left) => left.advance(&leave.state),
            None => {
                self.early.insert(leave.leave.clone(), leave.state.clone());
            }
        }
    }

    /// What may still be on a host, newest first: the order in which it is undone.
    pub fn still_out(&self) -> impl Iterator<Item = &Left> {
        self.entries
            .iter()
            .rev()
            .filter(|left| left.state != LeftState::Undone)
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
