//! The order of all runs.

use std::slice;

use crate::event::{BindingId, Order, PlannedRun, RunId};

/// All runs in their order: each binding by itself, and each pair at once.
#[must_use]
pub fn order_runs(
    bindings: &[BindingId],
    pairs: &[[BindingId; 2]],
    reps: u32,
    order: Order,
) -> Vec<PlannedRun> {
    let mut runs = Vec::new();
    let alone = bindings.iter().map(slice::from_ref);
    let turns: Vec<&[BindingId]> = alone.chain(pairs.iter().map(<[_; 2]>::as_slice)).collect();
    let mut push = |turn: &[BindingId], rep: u32| {
        let first = runs.len() + 1;
        let name = |at: usize| RunId::from(format!("r{}", first + at));
        for (at, binding) in turn.iter().enumerate() {
            let mut others = (0..turn.len()).filter(|other| *other != at);
            runs.push(PlannedRun {
                run: name(at),
                binding: binding.clone(),
                rep,
                beside: others.next().map(name),
            });
        }
    };
    match order {
        Order::ByMethod => {
            for turn in turns {
                (1..=reps).for_each(|rep| push(turn, rep));
            }
        }
        Order::Interleaved => {
            for rep in 1..=reps {
                // A B C, then B C A: none has the same neighbours each time.
                let from = (rep as usize - 1) % turns.len().max(1);
                let turned = turns.iter().cycle().skip(from).take(turns.len());
                turned.for_each(|turn| push(turn, rep));
            }
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(runs: &[PlannedRun]) -> String {
        let all: Vec<_> = runs
            .iter()
            .map(|run| format!("{}{}", run.binding, run.rep))
            .collect();
        all.join(" ")
    }

    #[test]
    fn interleaving_turns_the_order() {
        let bindings = ["a".into(), "b".into(), "c".into()];
        let runs = order_runs(&bindings, &[], 2, Order::Interleaved);
        assert_eq!(names(&runs), "a1 b1 c1 b2 c2 a2");
        let runs = order_runs(&bindings, &[], 2, Order::ByMethod);
        assert_eq!(names(&runs), "a1 a2 b1 b2 c1 c2");
        assert!(order_runs(&[], &[], 3, Order::Interleaved).is_empty());
    }

    #[test]
    fn a_pair_takes_turns_with_those_that_run_alone() {
        let bindings = ["a".into(), "b".into()];
        let pairs = [["a".into(), "b".into()]];
        let runs = order_runs(&bindings, &pairs, 2, Order::Interleaved);
        assert_eq!(names(&runs), "a1 b1 a1 b1 b2 a2 b2 a2");
        let beside: Vec<_> = runs.iter().map(|run| run.beside.as_ref()).collect();
        let of = |at: usize| Some(&runs[at].run);
        let expected = [None, None, of(3), of(2), None, of(6), of(5), None];
        assert_eq!(beside, expected);
        let runs = order_runs(&bindings, &pairs, 2, Order::ByMethod);
        assert_eq!(names(&runs), "a1 a2 b1 b2 a1 b1 a2 b2");
    }
}
