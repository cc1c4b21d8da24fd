//! How much longer a run takes where holes become bytes, by earlier runs.

use crate::engine::{Finding, Gravity};
use crate::event::count;
use crate::recording::History;
use crate::report::lasting;

use super::Context;
use super::prepare::Prepared;

/// Adds a warning to each check of a subject with holes. Recordings are read only where there is one.
pub(super) async fn tell(context: &Context, prepared: &mut Prepared) {
    if prepared.checks.iter().all(|check| check.thick.is_none()) {
        return;
    }
    let folder = context.paths.recordings.clone();
    let read = tokio::task::spawn_blocking(move || History::read(&folder, || true));
    let history = read.await.ok().flatten().unwrap_or_default();
    for (bound, check) in prepared.bounds.iter().zip(&mut prepared.checks) {
        let Some(thick) = check.thick else { continue };
        let facts = |name: &str| prepared.hosts.get(name).map(|known| &known.info.facts);
        let method = &bound.method.name;
        let text = match history.pace(&bound.binding, facts) {
            Some((low, high, runs)) => {
                let extra = thick.extra().0 as f64;
                format!(
                    "its holes make a run about {} longer, there and back, by {} of {method} on these hosts",
                    lasting(extra * low, extra * high),
                    count(runs as u64, "earlier run"),
                )
            }
            None => format!(
                "how much longer its holes make a run is not known: no earlier run of {method} on these hosts"
            ),
        };
        check.findings.push(Finding {
            gravity: Gravity::Warning,
            text,
        });
    }
}
