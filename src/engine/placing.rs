//! Where the original and the copy of a binding stand, where its method has to ask for that: a
//! storage of a node is a folder, a pool, a group of volumes, or somewhere else.

use std::time::Duration;

use crate::event::Place;
use crate::host::{Exit, Host, HostError, ask, facts};
use crate::method::{Bound, PlaceOf, RunNames};

use super::conduct::Hosts;
use super::shell::text_of;

/// How long the look may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// A pool of more disks than this is told by these.
const MOST: usize = 32;

/// The places of a binding: role, and the path, or the shell text that tells it.
pub(super) fn places(bound: &Bound) -> Option<[(String, PlaceOf); 2]> {
    let def = bound.method.placement.as_ref()?;
    let first = bound.method.roles.first()?;
    let names = RunNames::unknown(&bound.sandbox);
    let context = bound.head_context(&names, &def.with);
    let place = |of: &PlaceOf| match of {
        PlaceOf::Path(source) => {
            let text = bound.templates.text(source, &context).ok()?;
            // The scratch folder is not there yet: what counts is where it will be.
            let within = text.starts_with(names.scratch());
            Some(PlaceOf::Path(if within {
                bound.sandbox.clone()
            } else {
                text
            }))
        }
        PlaceOf::Told { told } => {
            let told = bound.templates.shell(told, &context).ok()?;
            Some(PlaceOf::Told { told })
        }
    };
    let on = def.on.as_ref().unwrap_or(first);
    Some([
        (first.clone(), place(&def.original)?),
        (on.clone(), place(&def.copy)?),
    ])
}

/// Asks where they stand, and keeps that with what is known of the hosts of this binding.
///
/// # Errors
/// Where a host is lost.
pub async fn learn(hosts: &Hosts, bound: &mut Bound) -> Result<(), HostError> {
    for (role, of) in places(bound).into_iter().flatten() {
        let PlaceOf::Told { told } = of else { continue };
        let Some(known) = hosts.get(bound.host(&role)) else {
            continue;
        };
        let place = asked(known.host.as_ref(), &told).await?;
        if let Some(info) = bound.hosts.get_mut(&role) {
            info.facts.paths.insert(told, place);
        }
    }
    Ok(())
}

/// What several lines name is one place on all of their disks; what none names is nowhere known.
async fn asked(host: &dyn Host, told: &str) -> Result<Place, HostError> {
    let answer = ask(host, told, b"", 1 << 16, PATIENCE).await?;
    let nowhere = Place {
        host: host.name().to_owned(),
        ..Place::default()
    };
    if answer.exit != Exit::Code(0) {
        return Ok(nowhere);
    }
    let said = text_of(&answer.out);
    let lines = said.lines().filter(|line| !line.is_empty());
    let lines: Vec<String> = lines.take(MOST).map(ToOwned::to_owned).collect();
    let known = facts::places(host, &lines).await?;
    let mut all = lines.iter().filter_map(|line| known.get(line).cloned());
    let mut place = all.next().unwrap_or(nowhere);
    for more in all {
        place.disks.extend(more.disks);
    }
    place.disks.sort();
    place.disks.dedup();
    Ok(place)
}
