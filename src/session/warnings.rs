//! What keeps a session from being told in full.

use std::fmt::Write as _;

use super::{RunStage, Session};
use crate::event::{count, count_with};

impl Session {
    /// What is wrong with the recording as a whole, a sentence each: that it ends early, lacks
    /// events, or has some that are not understood. A session that still goes on ends early, too.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.end.is_none() {
            all.push(self.ends_early());
        }
        let missing = self.due.saturating_sub(self.events);
        if missing > 0 {
            all.push(format!("{} of the recording missing", events(missing)));
        }
        if !self.unknown.is_empty() {
            let names: Vec<&str> = self.unknown.keys().map(String::as_str).collect();
            all.push(format!(
                "{} of a later version not understood: {}",
                events(self.unknown.values().sum()),
                names.join(", ")
            ));
        }
        if self.stray > 0 {
            all.push(format!(
                "{} of a step that was never planned",
                events(self.stray)
            ));
        }
        if self.notes_left_out > 0 {
            let notes = count_with(self.notes_left_out, "more note", ("is", "are"));
            all.push(format!("{notes} not shown"));
        }
        all
    }

    fn ends_early(&self) -> String {
        let mut text = format!(
            "the recording ends early (no end after {}, {:.1} s from its start",
            events(self.events),
            self.now.seconds()
        );
        for run in &self.runs {
            if run.state == RunStage::Running {
                let method = self
                    .binding(&run.binding)
                    .map_or(run.binding.as_str(), |binding| binding.method.as_str());
                let _ = write!(text, "; {method}, repetition {}, was going on", run.rep);
            }
        }
        text.push(')');
        text
    }
}

fn events(n: u64) -> String {
    count(n, "event")
}
