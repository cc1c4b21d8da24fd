//! Many pairs told together: 28 sentences on 8 methods would be read by nobody.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::session::{Says, Series, Verdict};

use super::super::comparison::Comparison;
use super::super::layout::together;
use super::super::words::listed;
use super::{Sentence, series};

/// A pair of rows, by their places.
type Pair = (usize, usize);

/// A sentence for all that are faster than the same others, and one for all that are alike.
pub(super) fn told(compared: &Comparison, all: &[&Verdict]) -> Vec<Sentence> {
    let pairs = |is: &dyn Fn(&Says) -> Option<bool>| -> Vec<Pair> {
        all.iter()
            .filter_map(|verdict| {
                let is_turned = is(&verdict.says)?;
                Some(if is_turned {
                    (verdict.b, verdict.a)
                } else {
                    (verdict.a, verdict.b)
                })
            })
            .collect()
    };
    let faster = pairs(&|says| match says {
        Says::Faster => Some(false),
        Says::Slower => Some(true),
        _ => None,
    });
    let apart = pairs(&|says| matches!(says, Says::Apart { .. }).then_some(false));
    let alike = pairs(&|says| matches!(says, Says::NoDifference).then_some(false));
    let names = |rows: &[usize]| {
        let rows = rows.iter().filter_map(|at| compared.rows.get(*at));
        listed(&rows.map(|row| compared.name(row)).collect::<Vec<_>>())
    };
    let n = together(&counts(compared, all));
    let mut sentences = Vec::new();
    let mut tell = |is_verdict, text: String| {
        let text = format!("{text} ({n})");
        sentences.push(Sentence { is_verdict, text });
    };
    for (some, others) in by_others(&faster) {
        let are = if some.len() == 1 { "is" } else { "are" };
        tell(
            true,
            format!("{} {are} faster than {}", names(&some), names(&others)),
        );
    }
    for (some, others) in by_others(&apart) {
        let says = together("ranges do not overlap");
        tell(
            false,
            format!("{} beside {}: {says}", names(&some), names(&others)),
        );
    }
    for rows in cliques(&alike) {
        let says = together("no difference shown");
        tell(false, format!("{says} between {}", names(&rows)));
    }
    sentences
}

// The smallest and the largest number of runs.
fn counts(compared: &Comparison, all: &[&Verdict]) -> String {
    let both = all.iter().filter_map(|verdict| series(compared, verdict));
    let both: Vec<&Series> = both.flat_map(|(x, y)| [x, y]).collect();
    let runs = || both.iter().map(|series| series.in_runs());
    let is_repeated = both.iter().any(|series| series.n() > series.in_runs());
    let of = if is_repeated { " runs" } else { "" };
    match (runs().min(), runs().max()) {
        (Some(low), Some(high)) if low != high => format!("n = {low} to {high}{of}"),
        (Some(n), _) => format!("n = {n}{of} each"),
        _ => String::new(),
    }
}

/// Rows that stand before the same others, with these.
fn by_others(pairs: &[Pair]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut of_row: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut places: HashMap<usize, usize> = HashMap::new();
    for (row, other) in pairs {
        let at = *places.entry(*row).or_insert(of_row.len());
        match of_row.get_mut(at) {
            Some((_, others)) => others.push(*other),
            None => of_row.push((*row, vec![*other])),
        }
    }
    let mut all: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    let mut places: HashMap<Vec<usize>, usize> = HashMap::new();
    for (row, mut others) in of_row {
        others.sort_unstable();
        let at = *places.entry(others.clone()).or_insert(all.len());
        match all.get_mut(at) {
            Some((rows, _)) => rows.push(row),
            None => all.push((vec![row], others)),
        }
    }
    all
}

/// Sets of rows of which every two are a pair; together they hold all pairs.
fn cliques(pairs: &[Pair]) -> Vec<Vec<usize>> {
    let known: HashSet<Pair> = pairs
        .iter()
        .flat_map(|(a, b)| [(*a, *b), (*b, *a)])
        .collect();
    let has = |a: usize, b: usize| known.contains(&(a, b));
    let rows: BTreeSet<usize> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let mut all = Vec::new();
    let mut held: HashSet<Pair> = HashSet::new();
    for (a, b) in pairs {
        if held.contains(&(*a, *b)) {
            continue;
        }
        let mut clique = vec![*a, *b];
        for row in &rows {
            if *row != *a && *row != *b && clique.iter().all(|member| has(*member, *row)) {
                clique.push(*row);
            }
        }
        clique.sort_unstable();
        let pairs = clique
            .iter()
            .flat_map(|one| clique.iter().map(move |other| (*one, *other)));
        held.extend(pairs);
        all.push(clique);
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_pair_is_in_a_set_and_every_set_holds_only_pairs(
            pairs in proptest::collection::btree_set((0_usize..8, 0_usize..8), 0..20)
        ) {
            let pairs: Vec<Pair> = pairs.into_iter().filter(|(a, b)| a < b).collect();
            let all = cliques(&pairs);
            for (a, b) in &pairs {
                prop_assert!(all.iter().any(|set| set.contains(a) && set.contains(b)));
            }
            for set in &all {
                for (at, a) in set.iter().enumerate() {
                    for b in &set[at + 1..] {
                        prop_assert!(pairs.contains(&(*a, *b)));
                    }
                }
            }
            let told: usize = by_others(&pairs)
                .iter()
                .map(|(some, others)| some.len() * others.len())
                .sum();
            prop_assert_eq!(told, pairs.len());
        }
    }
}
