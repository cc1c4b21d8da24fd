//! What a stop would cost: subjects that somebody named, of runs that go on.

use crate::event::Phase;

use super::{RunStage, RunView, Session};

/// Named subjects of runs that go on, each once.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Stake {
    /// Changed or destroyed, and not proved to be back: a stop leaves them so.
    pub touched: Vec<String>,
    /// Only read: a stop costs nothing of them.
    pub only_read: Vec<String>,
}

impl Session {
    /// What a stop would cost now.
    #[must_use]
    pub fn stake(&self) -> Stake {
        let mut stake = Stake::default();
        for run in &self.runs {
            if run.state != RunStage::Running {
                continue;
            }
            let named = self.binding(&run.binding);
            let Some(binding) = named.filter(|binding| !binding.subject.own) else {
                continue;
            };
            let subject = binding.subject.to_string();
            let all = if is_touched(run) {
                &mut stake.touched
            } else {
                &mut stake.only_read
            };
            if !all.contains(&subject) {
                all.push(subject);
            }
        }
        stake
    }
}

// From the first step that destroys something of it until it is looked at whether it is back.
fn is_touched(run: &RunView) -> bool {
    let begun = |step: &&super::StepView| step.started.is_some();
    let steps = || run.steps.iter().filter(begun);
    steps().any(|step| step.planned.destroys.is_some())
        && !steps().any(|step| step.planned.phase == Phase::Verify && step.end.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Destroys, RunId, StepState, What};
    use crate::session::story::Story;

    fn step(story: &mut Story, run: &RunId, name: &str, phase: Phase, destroys: bool) {
        story.step(run, name, phase);
        let at = story.told.len() - 2;
        if let What::Step(change) = &mut story.told[at]
            && let StepState::Planned(planned) = &mut change.state
        {
            planned.destroys = destroys.then(|| Destroys {
                what: "vm:131".to_owned(),
                relies_on: None,
                unproved: false,
            });
        }
    }

    #[test]
    fn a_named_subject_is_at_stake_from_its_first_damage_on() {
        let mut story = Story::new();
        let binding = story.binding("pve-vzdump", "pve1");
        let subject = &mut story.bound(&binding).subject;
        (subject.kind, subject.id) = ("vm".to_owned(), "131".to_owned());
        let run = story.run(&binding, "full");
        let named = || vec!["vm:131".to_owned()];
        step(&mut story, &run, "backup", Phase::Protect, false);
        let stake = story.session().stake();
        assert_eq!((stake.touched, stake.only_read), (vec![], named()));
        step(&mut story, &run, "destroy", Phase::Damage, true);
        step(&mut story, &run, "restore", Phase::Restore, false);
        let stake = story.session().stake();
        assert_eq!((stake.touched, stake.only_read), (named(), vec![]));
        story.proved(&run, true);
        story.done(&run, crate::event::EndState::Ok);
        assert_eq!(story.session().stake(), Stake::default());
    }

    #[test]
    fn of_ones_own_nothing_is_at_stake() {
        let mut story = Story::new();
        let binding = story.binding("pve-vzdump", "pve1");
        story.bound(&binding).subject.own = true;
        let run = story.run(&binding, "full");
        step(&mut story, &run, "destroy", Phase::Damage, true);
        assert_eq!(story.session().stake(), Stake::default());
    }
}
