//! What is found about two bindings that are to run at once, beside what is found about each.

use std::collections::BTreeMap;

use crate::event::{BindingId, Bytes};
use crate::method::{Bound, MethodError};

use super::preflight::{Check, Gravity};
use super::preview::preview;

/// Looks at every pair; what is found stands with the first of the two.
///
/// # Errors
/// Where a template cannot be filled in.
pub fn examine_pairs(
    pairs: &[[BindingId; 2]],
    bounds: &[Bound],
    checks: &mut [Check],
) -> Result<(), MethodError> {
    for [one, other] in pairs {
        let at = |id: &BindingId| bounds.iter().position(|bound| bound.binding.id == *id);
        let (Some(a), Some(b)) = (at(one), at(other)) else {
            continue;
        };
        let (Some(one), Some(other)) = (bounds.get(a), bounds.get(b)) else {
            continue;
        };
        let mut all = destroyed(one, other)?;
        all.extend(one_guest(one, other));
        if let (Some(mine), Some(theirs)) = (checks.get(a), checks.get(b)) {
            all.extend(no_room((one, mine), (other, theirs)));
        }
        if let Some(check) = checks.get_mut(a) {
            for text in all {
                check.find(Gravity::Refused, text);
            }
        }
    }
    Ok(())
}

// The one would pull away what the other reads.
fn destroyed(one: &Bound, other: &Bound) -> Result<Vec<String>, MethodError> {
    let (mine, theirs) = (&one.binding.subject, &other.binding.subject);
    let shared = !mine.own && mine == theirs && one.binding.host() == other.binding.host();
    let mut all = Vec::new();
    for (bound, beside) in [(one, other), (other, one)] {
        let what = mine.to_string();
        let steps = if shared { preview(bound)? } else { Vec::new() };
        let mut destroys = steps.iter().filter_map(|step| step.destroys.as_ref());
        if destroys.any(|destroys| destroys.what == what) {
            all.push(format!(
                "at once with {}: {} destroys {what}, which {} works on at the same time; run them one after the other",
                other.method.name, bound.method.name, beside.method.name
            ));
        }
    }
    Ok(all)
}

// A guest's lock lets in one task at a time: the other would fail in its middle.
fn one_guest(one: &Bound, other: &Bound) -> Option<String> {
    let (mine, theirs) = (&one.binding.subject, &other.binding.subject);
    let is_guest = ["vm", "ct"].contains(&mine.kind.as_str()) && !mine.own;
    let shared = is_guest && mine == theirs && one.binding.host() == other.binding.host();
    shared.then(|| {
        format!(
            "at once with {}: both work on the guest {mine}, whose lock lets one of them in; run them one after the other, or each on a guest of its own",
            other.method.name
        )
    })
}

// Each fits; both may not.
fn no_room((one, mine): (&Bound, &Check), (other, theirs): (&Bound, &Check)) -> Vec<String> {
    let mut needs: BTreeMap<(String, String), (u64, Option<Bytes>)> = BTreeMap::new();
    for (bound, check) in [(one, mine), (other, theirs)] {
        let first = bound.method.roles.first().map_or("", String::as_str);
        let here = check.room.map(|room| (bound.host(first), room, check.free));
        let there = check.elsewhere.iter();
        let there = there.map(|room| (room.host.as_str(), room.needs, room.free));
        for (host, room, free) in here.into_iter().chain(there) {
            let at = needs
                .entry((host.to_owned(), bound.sandbox.clone()))
                .or_default();
            at.0 = at.0.saturating_add(room.0);
            at.1 = at.1.or(free);
        }
    }
    let short = |((host, dir), (needs, free)): ((String, String), (u64, Option<Bytes>))| {
        let free = free.filter(|free| free.0 < needs)?;
        Some(format!(
            "at once with {}: {host}: {dir} has {free} free; both together need {}",
            other.method.name,
            Bytes(needs)
        ))
    };
    needs.into_iter().filter_map(short).collect()
}
