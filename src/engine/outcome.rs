//! What all runs of a session came to, in one sentence and an exit code.

use crate::event::{End, EndState, count_with};

use super::ending::Ended;

/// Troubles that the sentence tells of; more are counted.
const TOLD: usize = 3;

/// What the runs came to so far.
#[derive(Debug)]
pub(super) struct Outcome {
    total: usize,
    good: usize,
    /// Every good run was verified.
    proved: bool,
    /// Something that a good run made could not be taken away.
    left: bool,
    exit: i32,
    /// A stop kept runs from being done.
    stopped: bool,
    troubles: Vec<String>,
    not_started: usize,
}

impl Outcome {
    pub fn new(total: usize) -> Self {
        Self {
            total,
            good: 0,
            proved: true,
            left: false,
            exit: 0,
            stopped: false,
            troubles: Vec::new(),
            not_started: 0,
        }
    }

    /// A run has ended; `name` is what the sentence calls it.
    pub fn ran(&mut self, name: &str, ended: &Ended) {
        match ended.end {
            EndState::Ok | EndState::Warnings => {
                self.good += 1;
                self.proved &= ended.proved;
                self.left |= ended.exit != 0;
            }
            EndState::Stopped => self.stopped(),
            EndState::Failed | EndState::Lost => {
                let why = ended.cause.as_deref().unwrap_or("no reason is known");
                self.trouble(ended.exit.max(1), format!("{name} {}: {why}", ended.end));
            }
        }
    }

    /// A run has ended that was started again beside another one: it is none of those that were planned.
    pub fn ran_again(&mut self, name: &str, ended: &Ended) {
        if ended.is_bad() {
            self.ran(name, ended);
        } else if ended.end.is_good() || ended.exit != 130 {
            self.left |= ended.exit != 0;
        }
    }

    /// Something that kept runs from being done.
    pub fn trouble(&mut self, exit: i32, text: String) {
        self.exit = self.exit.max(exit);
        self.troubles.push(text);
    }

    /// The operator kept runs from being done.
    pub fn stopped(&mut self) {
        self.exit = self.exit.max(130);
        self.stopped = true;
    }

    /// So many more runs are not going to be started.
    pub fn not_started(&mut self, runs: usize) {
        self.not_started += runs;
    }

    /// The end. The highest exit code of all that applies.
    pub fn end(&self) -> End {
        let (good, total) = (self.good, self.total);
        let unproved = good > 0 && !self.proved;
        let verified = if good > 0 && self.proved {
            " and verified"
        } else {
            ""
        };
        let mut says = vec![if self.stopped {
            format!("stopped after {good} of {total} runs")
        } else {
            format!("{good} of {total} runs done{verified}")
        }];
        if unproved {
            says.push("not all were verified".to_owned());
        }
        if self.left {
            says.push("not everything could be taken away".to_owned());
        }
        says.extend(self.troubles.iter().take(TOLD).cloned());
        let more = self.troubles.len().saturating_sub(TOLD);
        if more > 0 {
            says.push(format!("and {more} more"));
        }
        match self.not_started {
            0 => {}
            runs => {
                let runs = count_with(runs, "run", ("was", "were"));
                says.push(format!("{runs} not started"));
            }
        }
        let odd = i32::from(unproved || self.left);
        End {
            exit: self.exit.max(odd),
            reason: says.join("; "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(end: EndState, exit: i32, proved: bool) -> Ended {
        Ended {
            end,
            cause: (!end.is_good()).then(|| "backup: disk full".to_owned()),
            proved,
            exit,
        }
    }

    #[test]
    fn the_sentence_tells_what_was_done_what_was_not_and_why() {
        let mut outcome = Outcome::new(6);
        for _ in 0..4 {
            outcome.ran("nas: run 1", &ended(EndState::Ok, 0, true));
        }
        assert_eq!(outcome.end().reason, "4 of 6 runs done and verified");
        outcome.ran("nas: run 5", &ended(EndState::Failed, 1, false));
        outcome.not_started(1);
        let end = outcome.end();
        assert_eq!(
            (end.exit, end.reason.as_str()),
            (
                1,
                "4 of 6 runs done and verified; nas: run 5 failed: backup: disk full; \
                 1 run was not started"
            )
        );
    }

    #[test]
    fn the_highest_code_counts_whatever_came_last() {
        let mut outcome = Outcome::new(3);
        outcome.trouble(4, "nas: dir:/srv is in use".to_owned());
        outcome.trouble(3, "could not open tin: connect: refused".to_owned());
        outcome.ran("run 3", &ended(EndState::Failed, 1, false));
        assert_eq!(outcome.end().exit, 4);
        outcome.ran("run 2", &ended(EndState::Stopped, 130, false));
        let end = outcome.end();
        assert_eq!(end.exit, 130);
        assert!(
            end.reason
                .starts_with("stopped after 0 of 3 runs; nas: dir:/srv is in use")
        );
    }

    #[test]
    fn what_was_not_verified_or_stays_is_no_success() {
        let mut outcome = Outcome::new(1);
        outcome.ran("run 1", &ended(EndState::Ok, 0, false));
        let end = outcome.end();
        assert_eq!(end.exit, 1);
        assert_eq!(end.reason, "1 of 1 runs done; not all were verified");
        let mut outcome = Outcome::new(1);
        outcome.ran("run 1", &ended(EndState::Warnings, 1, true));
        let end = outcome.end();
        assert_eq!(end.exit, 1);
        assert!(end.reason.ends_with("not everything could be taken away"));
    }
}
