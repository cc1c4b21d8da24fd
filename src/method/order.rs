//! The order of all runs.

use crate::event::{BindingId, Order, PlannedRun};

/// All runs in their order.
#[must_use]
pub fn order_runs(bindings: &[BindingId], reps: u32, order: Order) -> Vec<PlannedRun> {
    let mut runs = Vec::new();
    let mut push = |binding: &BindingId, rep: u32| {
        let run = format!("r{}", runs.len() + 1).into();
        runs.push(PlannedRun {
            run,
            binding: binding.clone(),
            rep,
        });
    };
    match order {
        Order::ByMethod => {
            for binding in bindings {
                (1..=reps).for_each(|rep| push(binding, rep));
            }
        }
        Order::Interleaved => {
            for rep in 1..=reps {
                // A B C, then B C A: none has the same neighbours each time.
                let turn = (rep as usize - 1) % bindings.len().max(1);
                let turned = bindings.iter().cycle().skip(turn).take(bindings.len());
                turned.for_each(|binding| push(binding, rep));
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
        let runs = order_runs(&bindings, 2, Order::Interleaved);
        assert_eq!(names(&runs), "a1 b1 c1 b2 c2 a2");
        let runs = order_runs(&bindings, 2, Order::ByMethod);
        assert_eq!(names(&runs), "a1 a2 b1 b2 c1 c2");
        assert!(order_runs(&[], 3, Order::Interleaved).is_empty());
    }
}
