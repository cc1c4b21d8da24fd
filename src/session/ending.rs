//! How a session ended: what its end says, as far as its runs and proofs agree.

use super::{RunStage, Session};
use crate::event::{End, Phase, count};

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// In one sentence.
    pub text: String,
    /// Whether all was done, and nothing says otherwise.
    pub is_good: bool,
}

/// What was told of the runs of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Told {
    /// Runs that ended well, of which a proof does not hold.
    pub disproved: usize,
    /// Runs that did not end well.
    pub bad: usize,
    /// Runs that ended well without the final proof that their method makes.
    pub unproved: usize,
}

impl Ending {
    /// Of an end, and of what was told of the runs before it: a file can be edited, and the end is
    /// what is read first.
    #[must_use]
    pub fn of(end: &End, told: Told) -> Self {
        let runs = |n: usize| count(n, "run");
        let says_good = end.exit == 0;
        let mut odd = Vec::new();
        // No session takes a run for good of which a proof does not hold.
        if told.disproved > 0 {
            odd.push(format!("a proof of {} does not hold", runs(told.disproved)));
        }
        if says_good && told.bad > 0 {
            odd.push(format!("{} did not end well", runs(told.bad)));
        }
        if says_good && told.unproved > 0 {
            odd.push(format!("{} ended without a proof", runs(told.unproved)));
        }
        if odd.is_empty() {
            return Self {
                text: end.reason.clone(),
                is_good: says_good,
            };
        }
        Self {
            text: format!(
                "{}, though the end of the recording says: {}",
                odd.join(" and "),
                end.reason
            ),
            is_good: false,
        }
    }
}

impl Session {
    /// How it ended; absent while it goes on, or where the recording was cut.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        let end = self.end.as_ref()?;
        let proving = self.good.iter().filter(|(binding, _)| {
            let binding = self.binding(binding);
            let steps = binding.into_iter().flat_map(|binding| &binding.steps);
            steps.clone().any(|step| step.phase == Phase::Verify)
        });
        let should: usize = proving.map(|(_, runs)| runs.size()).sum();
        let is_good = |run: &_| {
            let run = self.run_view(run);
            run.is_some_and(|run| matches!(run.state, RunStage::Ended(end, _) if end.is_good()))
        };
        let disproved = self.disproved.iter().filter(|run| is_good(run)).count();
        let told = Told {
            disproved,
            bad: self.bad_runs(),
            // One whose proof does not hold has one.
            unproved: should.saturating_sub(self.proved.size() + disproved),
        };
        Some(Ending::of(end, told))
    }
}

#[cfg(test)]
mod tests {
    use crate::event::{EndState, PlannedStep, What};
    use crate::session::story::Story;

    use super::*;

    fn ended(story: &mut Story, exit: i32, reason: &str) -> Ending {
        story.tell(What::End(End {
            exit,
            reason: reason.to_owned(),
        }));
        story.session().ending().unwrap()
    }

    /// Three runs, of which these are proved so.
    fn told(proofs: [Option<bool>; 3], ends: [EndState; 3]) -> Story {
        let mut story = Story::new();
        let binding = story.binding("a", "h1");
        for (proof, end) in proofs.into_iter().zip(ends) {
            let run = story.run(&binding, "full");
            if let Some(verdict) = proof {
                story.proved(&run, verdict);
            }
            story.done(&run, end);
        }
        story
    }

    const GOOD: [EndState; 3] = [EndState::Ok; 3];

    #[test]
    fn an_end_that_agrees_with_its_proofs_is_told_as_it_stands() {
        let mut story = told([Some(true); 3], GOOD);
        let ending = ended(&mut story, 0, "3 of 3 runs done and verified");
        assert!(ending.is_good);
        assert_eq!(ending.text, "3 of 3 runs done and verified");
        let failed = [EndState::Ok, EndState::Ok, EndState::Failed];
        let mut story = told([Some(true), Some(true), Some(false)], failed);
        let ending = ended(
            &mut story,
            1,
            "2 of 3 runs done and verified; h1: run 3 failed",
        );
        assert!(!ending.is_good && ending.text.starts_with("2 of 3 runs done"));
    }

    #[test]
    fn an_end_that_says_more_than_its_proofs_is_not_believed() {
        let mut story = told([Some(true), Some(false), Some(true)], GOOD);
        for exit in [0, 1] {
            let ending = ended(&mut story, exit, "everything verified");
            assert!(!ending.is_good);
            assert_eq!(
                ending.text,
                "a proof of 1 run does not hold, though the end of the recording says: \
                 everything verified"
            );
        }
        let failed = [EndState::Ok, EndState::Lost, EndState::Failed];
        let mut story = told([Some(true), None, None], failed);
        let ending = ended(&mut story, 0, "3 of 3 runs done and verified");
        assert!(ending.text.starts_with("2 runs did not end well, though"));
    }

    #[test]
    fn a_run_without_the_proof_that_its_method_makes_is_told() {
        let mut story = Story::new();
        let binding = story.binding("a", "h1");
        story.bound(&binding).steps.push(PlannedStep {
            name: "sha256".to_owned(),
            phase: Phase::Verify,
            host: "h1".to_owned(),
            timed: false,
            destroys: None,
            command: String::new(),
        });
        let run = story.run(&binding, "full");
        story.proved(&run, false);
        story.done(&run, EndState::Ok);
        let ending = ended(&mut story, 0, "everything verified");
        assert!(
            ending
                .text
                .starts_with("a proof of 1 run does not hold, though"),
            "{}",
            ending.text
        );
        let run = story.run(&binding, "full");
        story.proved(&run, true);
        story.done(&run, EndState::Ok);
        let run = story.run(&binding, "full");
        story.done(&run, EndState::Ok);
        let ending = ended(&mut story, 0, "3 of 3 runs done and verified");
        assert!(
            ending.text.starts_with(
                "a proof of 1 run does not hold and 1 run ended without a proof, though"
            ),
            "{}",
            ending.text
        );
    }
}
