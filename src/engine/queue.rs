//! Who goes next: jobs stand in one line, each for the machines that it needs.
//!
//! A job begins when its machines are free and no job before it waits for one of them. So each
//! machine has one job at a time, in the order of the line; a job for two machines waits for
//! both and holds both; and the first of the line never waits for anybody behind it.

use std::collections::BTreeSet;

/// Jobs that wait, and machines that are busy.
#[derive(Debug)]
pub(super) struct Queues<J> {
    line: Vec<(J, Machines)>,
    busy: Machines,
}

/// Names of machines.
pub(super) type Machines = BTreeSet<String>;

/// The machines that a job holds until [`Queues::done`] takes them back.
#[derive(Debug)]
pub(super) struct Turn(Machines);

impl Turn {
    /// The machines.
    pub fn machines(&self) -> &Machines {
        &self.0
    }
}

impl<J> Default for Queues<J> {
    fn default() -> Self {
        Self {
            line: Vec::new(),
            busy: Machines::new(),
        }
    }
}

impl<J> Queues<J> {
    /// Puts a job at the end of the line.
    pub fn push(&mut self, job: J, machines: Machines) {
        self.line.push((job, machines));
    }

    /// The next job that may begin now; `held` ones keep their place, and whoever stands behind
    /// them waits.
    pub fn next(&mut self, held: impl Fn(&J) -> bool) -> Option<(J, Turn)> {
        let mut taken = self.busy.clone();
        let at = self.line.iter().position(|(job, machines)| {
            let free = taken.is_disjoint(machines) && !held(job);
            taken.extend(machines.iter().cloned());
            free
        })?;
        let (job, machines) = self.line.remove(at);
        self.busy.extend(machines.iter().cloned());
        Some((job, Turn(machines)))
    }

    /// A job is over.
    pub fn done(&mut self, turn: Turn) {
        for machine in turn.0 {
            self.busy.remove(&machine);
        }
    }

    /// Takes waiting jobs out of the line, in their order.
    pub fn leave(&mut self, leaves: impl Fn(&J, &Machines) -> bool) -> Vec<J> {
        let gone = self.line.extract_if(.., |(job, on)| leaves(job, on));
        gone.map(|(job, _)| job).collect()
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.line.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Up to 30 jobs on up to 5 machines, each on one to three of them.
    fn jobs() -> impl Strategy<Value = Vec<Machines>> {
        let machine = (0..5_u8).prop_map(|n| format!("m{n}"));
        let machines = prop::collection::btree_set(machine, 1..4);
        prop::collection::vec(machines, 0..30)
    }

    fn queues(jobs: &[Machines]) -> Queues<usize> {
        let mut queues = Queues::default();
        for (at, machines) in jobs.iter().enumerate() {
            queues.push(at, machines.clone());
        }
        queues
    }

    proptest! {
        /// Whatever ends when: every job once, one at a time on a machine, in order, never stuck.
        #[test]
        fn every_job_has_its_turn(jobs in jobs(), ends in prop::collection::vec(any::<usize>(), 0..99)) {
            let mut queues = queues(&jobs);
            let mut going: Vec<(usize, Turn)> = Vec::new();
            let mut order: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            let mut ends = ends.into_iter();
            let mut begun = 0;
            loop {
                while let Some((job, turn)) = queues.next(|_| false) {
                    for (other, _) in &going {
                        prop_assert!(jobs[job].is_disjoint(&jobs[*other]), "{job} beside {other}");
                    }
                    for machine in turn.machines() {
                        order.entry(machine.clone()).or_default().push(job);
                    }
                    begun += 1;
                    going.push((job, turn));
                }
                if going.is_empty() {
                    break;
                }
                let at = ends.next().unwrap_or_default() % going.len();
                queues.done(going.swap_remove(at).1);
            }
            prop_assert!(queues.is_empty(), "stuck");
            prop_assert_eq!(begun, jobs.len());
            for (machine, done) in order {
                let expected: Vec<usize> = (0..jobs.len()).filter(|job| jobs[*job].contains(&machine)).collect();
                prop_assert_eq!(done, expected);
            }
        }

        /// As much as may go on at once does.
        #[test]
        fn no_machine_idles_without_a_reason(jobs in jobs()) {
            let mut queues = queues(&jobs);
            let mut begun = BTreeSet::new();
            while let Some((job, _)) = queues.next(|_| false) {
                begun.insert(job);
            }
            for (job, machines) in jobs.iter().enumerate() {
                let is_behind = jobs[..job].iter().any(|before| !before.is_disjoint(machines));
                prop_assert_eq!(begun.contains(&job), !is_behind);
            }
        }
    }

    fn on(names: &[&str]) -> Machines {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_job_for_two_machines_waits_for_both_and_nobody_overtakes_it() {
        let mut queues = queues(&[on(&["a"]), on(&["a", "b"]), on(&["b"]), on(&["c"])]);
        let (first, a) = queues.next(|_| false).unwrap();
        let (second, c) = queues.next(|_| false).unwrap();
        assert_eq!((first, second), (0, 3));
        assert!(queues.next(|_| false).is_none(), "b is kept for job 1");
        queues.done(c);
        assert!(queues.next(|_| false).is_none());
        queues.done(a);
        let (third, both) = queues.next(|_| false).unwrap();
        assert_eq!(third, 1);
        assert!(queues.next(|_| false).is_none());
        queues.done(both);
        assert_eq!(queues.next(|_| false).unwrap().0, 2);
        assert!(queues.is_empty());
    }

    #[test]
    fn who_is_held_keeps_the_place() {
        let mut queues = queues(&[on(&["a"]), on(&["a"]), on(&["b"])]);
        assert_eq!(queues.next(|job| *job == 0).unwrap().0, 2);
        assert!(queues.next(|job| *job == 0).is_none());
        assert_eq!(queues.next(|_| false).unwrap().0, 0);
    }

    #[test]
    fn who_leaves_the_line_holds_up_nobody() {
        let mut queues = queues(&[on(&["a", "b"]), on(&["b"]), on(&["a"])]);
        let left = queues.leave(|_, machines| machines.contains("a"));
        assert_eq!(left, [0, 2]);
        assert_eq!(queues.next(|_| false).unwrap().0, 1);
    }
}
