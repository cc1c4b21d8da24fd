//! What the readers' tests share.

use super::{Finding, Lines, reader};
use crate::event::{ProgressKind, Stream};

/// What a reader finds in the pieces of an output.
pub fn read_pieces<'a>(
    name: &str,
    pieces: impl IntoIterator<Item = (Stream, &'a [u8])>,
) -> Vec<Finding> {
    let mut reader = reader(name).unwrap();
    let mut lines = Lines::default();
    let mut found = Vec::new();
    for (stream, bytes) in pieces {
        lines.feed(stream, bytes, |line| reader.line(line, &mut found));
    }
    lines.finish(|line| reader.line(line, &mut found));
    reader.finish(&mut found);
    found
}

/// What a reader finds on standard output.
pub fn read(name: &str, bytes: &[u8]) -> Vec<Finding> {
    read_pieces(name, [(Stream::Out, bytes)])
}

/// What a reader finds on standard error.
pub fn read_err(name: &str, bytes: &[u8]) -> Vec<Finding> {
    read_pieces(name, [(Stream::Err, bytes)])
}

/// The figures by one name: value and resolution.
pub fn figures(found: &[Finding], wanted: &str) -> Vec<(f64, f64)> {
    let mut all = Vec::new();
    for finding in found {
        if let Finding::Figure {
            name,
            value,
            resolution,
            ..
        } = finding
            && *name == wanted
        {
            all.push((*value, *resolution));
        }
    }
    all
}

/// The one figure by a name.
pub fn figure(found: &[Finding], wanted: &str) -> f64 {
    let all = figures(found, wanted);
    assert_eq!(all.len(), 1, "{wanted} in {found:?}");
    all[0].0
}

/// The one figure by a name, in whole units, cut.
pub fn whole(found: &[Finding], wanted: &str) -> u64 {
    figure(found, wanted) as u64
}

/// The last value by a name.
pub fn value<'a>(found: &'a [Finding], wanted: &str) -> Option<&'a str> {
    found.iter().rev().find_map(|finding| match finding {
        Finding::Value { name, value } if *name == wanted => Some(value.as_str()),
        _ => None,
    })
}

/// The marks, in order.
pub fn marks(found: &[Finding]) -> Vec<(&'static str, Option<f64>)> {
    found
        .iter()
        .filter_map(|finding| match finding {
            Finding::Mark { name, at } => Some((*name, *at)),
            _ => None,
        })
        .collect()
}

/// The warnings, in order.
pub fn warnings(found: &[Finding]) -> Vec<&str> {
    found
        .iter()
        .filter_map(|finding| match finding {
            Finding::Warning(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// The causes, in order.
pub fn causes(found: &[Finding]) -> Vec<&str> {
    found
        .iter()
        .filter_map(|finding| match finding {
            Finding::Cause(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// A progress figure: kind, done, total, percent.
pub type Progress = (ProgressKind, Option<u64>, Option<u64>, Option<f64>);

/// The progress figures, in order.
pub fn progress(found: &[Finding]) -> Vec<Progress> {
    found
        .iter()
        .filter_map(|finding| match finding {
            Finding::Progress {
                kind,
                done,
                total,
                percent,
            } => Some((*kind, *done, *total, *percent)),
            _ => None,
        })
        .collect()
}
