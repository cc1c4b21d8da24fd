//! What a projection takes for granted, in words.

use std::collections::BTreeSet;

use super::{Pipeline, Projection, Way};
use crate::event::{Bytes, count};

/// More than so many times what was measured is named.
const MUCH_MORE: f64 = 4.0;
const GIB: u64 = 1 << 30;

/// All of it, a sentence each.
pub(super) fn of(projection: &Projection) -> Vec<String> {
    if projection.ways.is_empty() {
        return Vec::new();
    }
    let mut all = vec![
        "A time is bytes divided by a measured rate: it grows with the size and with nothing else. The hosts, their disks, the \
         network and what else they do are those of the recording."
            .to_owned(),
        "Each disk is moved whole, zeros included, and one after another; all of them in one go, without a pause."
            .to_owned(),
        "What is in them packs, and repeats, as what was measured did: a tool that packs or leaves out what it has already is no faster \
         and no slower with it."
            .to_owned(),
        "Steps of one phase are one after the other. Times of preparing, proving and starting are not in it."
            .to_owned(),
    ];
    if !projection.said {
        all.push(
            "No disk was named: it is about one as big as the largest subject that was measured."
                .to_owned(),
        );
    }
    if projection.is_published {
        all.push(
            "The rates are a publication's, from the times that it prints; nothing of it was measured here."
                .to_owned(),
        );
    }
    all.extend(conditions(&projection.ways));
    all.extend(runs(&projection.ways));
    all.extend(sizes(projection));
    all.extend(smaller(projection));
    if !projection.older.is_empty() {
        all.push(format!(
            "The recording does not say what the steps of {} move: their bytes are those that were counted, or read of what they left.",
            projection.older.join(", ")
        ));
    }
    if !projection.pipelines.is_empty() {
        all.push(
            "In a pipeline the second method begins with a disk when the first has done with it. While both go on, each has the rate \
             that it was measured with beside the other; before and after, the one that it has by itself. The second method moves as many \
             bytes as the first did, also where the first has packed them."
                .to_owned(),
        );
    }
    let parts = || {
        projection
            .pipelines
            .iter()
            .flat_map(|one| [&one.first, &one.then])
    };
    if parts().any(|part| part.at_once) {
        all.push(
            "A rate beside the other one is of the time in which both went on: what a method moved before and after that is taken off, at \
             the rate that it has by itself."
                .to_owned(),
        );
    }
    let whole: BTreeSet<&str> = parts()
        .filter(|part| part.beside.is_some() && !part.at_once)
        .map(|part| part.name.as_str())
        .collect();
    if !whole.is_empty() {
        let whole: Vec<&str> = whole.into_iter().collect();
        all.push(format!(
            "Of {} it is not known how much of the time the other one went on, too, or it was too little to tell: the rate beside it is that \
             of the whole time, and may be too high.",
            whole.join(", ")
        ));
    }
    let unmeasured = projection.pipelines.iter().filter(|one| !one.is_measured());
    all.extend(unmeasured.map(not_together));
    all.extend(projection.printed.iter().map(|printed| {
        format!(
            "{}: the publication does not print which rates it was made with, nor how; ours are those of its own table. A disk of it is \
             taken as {}{}.",
            printed.name,
            listed(&printed.disks),
            if printed.disks.iter().all(|bytes| bytes % GIB == 0) {
                ", its GB as GiB (1024³ bytes); with --disk, GB is 1000³ bytes and GiB is 1024³"
            } else {
                ""
            }
        )
    }));
    all
}

fn runs(ways: &[Way]) -> Option<String> {
    let speeds = ways.iter().flat_map(|way| [way.protect, way.restore]);
    let counts: Vec<usize> = speeds.flatten().map(|speed| speed.n).collect();
    let (least, most) = (*counts.iter().min()?, *counts.iter().max()?);
    let of = if least == most {
        count(least, "run")
    } else {
        format!("{least} to {most} runs")
    };
    Some(format!(
        "Ranges go from the lowest to the highest rate of {of} each, as wide as the clock leaves open{}.",
        if least == 1 {
            "; how much another run would differ, one run does not tell"
        } else {
            ""
        }
    ))
}

// What labels say of how each was measured: the form of what was moved, a cache, a load.
fn conditions(ways: &[Way]) -> Option<String> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for way in ways.iter().filter(|way| !way.under.is_empty()) {
        let under = way.under.join(", ");
        match groups.iter_mut().find(|(known, _)| *known == under) {
            Some((_, names)) => names.push(&way.name),
            None => groups.push((under, vec![&way.name])),
        }
    }
    let all: Vec<String> = groups
        .into_iter()
        .map(|(under, names)| format!("{} ({under})", names.join(", ")))
        .collect();
    (!all.is_empty()).then(|| {
        format!(
            "A rate is one under the conditions that it was measured under, and is taken for no others: {}.",
            all.join("; ")
        )
    })
}

fn sizes(projection: &Projection) -> Option<String> {
    let largest = projection.disks.iter().max()?;
    let measured = projection
        .ways
        .iter()
        .filter_map(|way| way.measured)
        .min()?;
    let times = *largest as f64 / measured.max(1) as f64;
    (times > MUCH_MORE).then(|| {
        format!(
            "{} were measured, the largest disk has {}, {:.0} times as much: caches that held the one do not hold the other, and what \
             a start takes weighs more in the rates than it will.",
            Bytes(measured),
            Bytes(*largest),
            times
        )
    })
}

// One size where all are alike.
fn listed(disks: &[u64]) -> String {
    let sizes: BTreeSet<u64> = disks.iter().copied().collect();
    let sizes: Vec<String> = sizes
        .into_iter()
        .map(|size| Bytes(size).to_string())
        .collect();
    sizes.join(" or ")
}

fn smaller(projection: &Projection) -> Option<String> {
    let smallest = *projection.disks.iter().min()?;
    let measured = projection.ways.iter().filter_map(|way| way.measured);
    let measured = measured.max()?;
    let times = measured as f64 / smallest.max(1) as f64;
    (times > MUCH_MORE).then(|| {
        format!(
            "{} were measured, the smallest disk has {}: what a start takes weighs less in the rates than it will.",
            Bytes(measured),
            Bytes(smallest),
        )
    })
}

fn not_together(pipeline: &Pipeline) -> String {
    let (first, then) = (&pipeline.first.name, &pipeline.then.name);
    format!(
        "{first} and {then} were not measured together, or hardly worked at once: neither is taken to slow the other, and how much it would is unknown, so it will take longer than that."
    )
}
