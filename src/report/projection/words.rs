//! Durations, rates and disks of a projection, in words.

use crate::event::{Bytes, count};
use crate::report::figures::trim;
use crate::report::sheet::cleaned;
use crate::session::{Part, Pipeline, Printed, Projection, Span, Speed};

const MIB: f64 = 1_048_576.0;
const NOT_MEASURED: &str = "not measured";

/// `4 h 54 min`, `18 min 20 s`, `5.2 s`, `< 0.1 s`; `0 s` where nothing is left to be done.
pub(super) fn long(seconds: f64) -> String {
    if seconds > 0.0 && seconds < 0.1 {
        return "< 0.1 s".to_owned();
    }
    if seconds < 60.0 {
        return format!("{} s", trim(seconds, 1));
    }
    let whole = seconds.round() as u64;
    if whole < 3600 {
        return format!("{} min {:02} s", whole / 60, whole % 60);
    }
    let minutes = (seconds / 60.0).round() as u64;
    let (hours, minutes) = (minutes / 60, minutes % 60);
    if hours < 48 {
        return format!("{hours} h {minutes:02} min");
    }
    format!("{} d {:02} h", hours / 24, hours % 24)
}

pub(super) fn span(span: Span) -> String {
    let (low, high) = (long(span.low), long(span.high));
    if low == high {
        low
    } else {
        format!("{low}–{high}")
    }
}

pub(super) fn span_or_not(one: Option<Span>) -> String {
    one.map_or_else(|| NOT_MEASURED.to_owned(), span)
}

/// `17.0–17.1 MiB/s`.
pub(super) fn rate(speed: Speed) -> String {
    let mib = |rate: f64| {
        let rate = rate / MIB;
        trim(rate, if rate < 1.0 { 3 } else { 1 })
    };
    let (slow, fast) = (mib(speed.slow), mib(speed.fast));
    if slow == fast {
        format!("{slow} MiB/s")
    } else {
        format!("{slow}–{fast} MiB/s")
    }
}

pub(super) fn rate_or_not(one: Option<Speed>) -> String {
    one.map_or_else(|| NOT_MEASURED.to_owned(), rate)
}

/// `4 × 46.57 GiB and 1 GiB`.
pub(super) fn disks(sizes: &[u64]) -> String {
    let mut groups: Vec<(u64, usize)> = Vec::new();
    for size in sizes {
        match groups.iter_mut().find(|(known, _)| known == size) {
            Some((_, n)) => *n += 1,
            None => groups.push((*size, 1)),
        }
    }
    let told: Vec<String> = groups
        .into_iter()
        .map(|(size, n)| match n {
            1 => Bytes(size).to_string(),
            n => format!("{n} × {}", Bytes(size)),
        })
        .collect();
    crate::report::words::listed(&told)
}

/// The first line.
pub(super) fn title(projection: &Projection) -> String {
    let sizes = &projection.disks;
    let sum = match sizes.len() {
        0 | 1 => String::new(),
        _ => format!(", {} together", Bytes(projection.bytes())),
    };
    let of = if projection.is_published {
        "rates of a publication, not measured by this program"
    } else {
        "rates as measured"
    };
    let from = cleaned(&projection.session);
    if sizes.is_empty() {
        return format!("How long for your disks? None is named. From {from}: {of}");
    }
    format!(
        "How long for {} ({}{sum})? From {from}: {of}",
        count(sizes.len(), "disk"),
        disks(sizes),
    )
}

/// Of rows without a rate.
pub(super) fn without(projection: &Projection) -> Option<String> {
    if projection.without.is_empty() {
        return None;
    }
    let names: Vec<String> = projection
        .without
        .iter()
        .map(|one| format!("{} ({})", cleaned(&one.name), cleaned(&one.why)))
        .collect();
    Some(format!(
        "No rate, so no time: {}",
        crate::report::words::first_of(&names, MOST_NAMES)
    ))
}

/// Names that a sentence lists.
const MOST_NAMES: usize = 12;

pub(super) fn pipeline_name(pipeline: &Pipeline) -> String {
    let (first, then) = (cleaned(&pipeline.first.name), cleaned(&pipeline.then.name));
    format!("{first}, then {then}")
}

/// Sentences about a pipeline.
pub(super) fn pipeline(pipeline: &Pipeline) -> Vec<String> {
    let part = |part: &Part| {
        let name = cleaned(&part.name);
        match part.beside {
            None => format!("{name}: {}", rate(part.alone)),
            Some(beside) => {
                let (least, most) = beside.share_of(part.alone);
                let percent = |share: f64| trim(share * 100.0, 0);
                let share = match (percent(least), percent(most)) {
                    (least, most) if least == most => least,
                    (least, most) => format!("{least}–{most}"),
                };
                format!(
                    "{name}: {} by itself, {} beside the other, {share} % of it",
                    rate(part.alone),
                    rate(beside)
                )
            }
        }
    };
    vec![
        format!(
            "all disks through the first: {}; through both: {}",
            span(pipeline.copied),
            span(pipeline.total)
        ),
        format!("both go on at once: {}", span(pipeline.both)),
        part(&pipeline.first),
        part(&pipeline.then),
    ]
}

/// What is printed, and what comes of it by its own rates.
pub(super) fn printed(printed: &Printed) -> String {
    let ours = printed.ours.total;
    let off = |seconds: f64| (seconds / printed.seconds - 1.0) * 100.0;
    let (low, high) = (off(ours.low), off(ours.high));
    let differs = if low <= 0.0 && high >= 0.0 {
        "which agrees".to_owned()
    } else {
        let (near, far) = if low.abs() < high.abs() {
            (low, high)
        } else {
            (high, low)
        };
        let word = if near > 0.0 { "longer" } else { "shorter" };
        let (near, far) = (trim(near.abs(), 0), trim(far.abs(), 0));
        if near == far {
            format!("{near} % {word}")
        } else {
            format!("{near}–{far} % {word}")
        }
    };
    format!(
        "{} ({}): {} is printed; the rates above give {}, {differs}. Were the last disk copied and not sent, they would give {}",
        cleaned(&printed.name),
        disks(&printed.disks),
        long(printed.seconds),
        span(ours),
        span(printed.all_but_last)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_as_fine_as_their_length_deserves() {
        assert_eq!(long(5.23), "5.2 s");
        assert_eq!(long(1100.0), "18 min 20 s");
        assert_eq!(long(3599.6), "1 h 00 min");
        assert_eq!(long(15600.0), "4 h 20 min");
        assert_eq!(long(200_000.0), "2 d 07 h");
        assert_eq!(
            span(Span {
                low: 1.0,
                high: 1.01
            }),
            "1 s"
        );
        assert_eq!(
            span(Span {
                low: 1.0,
                high: 61.0
            }),
            "1 s–1 min 01 s"
        );
    }

    #[test]
    fn disks_of_one_size_are_counted() {
        assert_eq!(
            disks(&[1 << 30, 1 << 30, 1 << 31]),
            "2 × 1.00 GiB and 2.00 GiB"
        );
        assert_eq!(disks(&[]), "");
    }
}
