//! From what was picked to what would have been typed.

use crate::engine::Confirmation;
use crate::method::{Pick, Request, SubjectSpec};
use crate::tui::{Choice, Picked};

use super::super::prepare::Asked;
use super::{CommandError, Seats, offer};

impl Seats {
    /// What was picked, as it would have been typed.
    ///
    /// # Errors
    /// Where it may not be run.
    pub fn asked(&self, choice: &Choice) -> Result<Asked, CommandError> {
        let hosts = self.hosts();
        let mut picks = Vec::new();
        for picked in &choice.methods {
            let method = self.catalogue.get(&picked.method)?;
            picks.push(Pick {
                roles: offer::roles(&method, &picked.host, &hosts, &self.wishes),
                ..Pick::new(&picked.host, &picked.method)
            });
        }
        let is_used = |host: &String| picks.iter().any(|pick| pick.host == *host);
        let subjects = self.wishes.protect.iter();
        let subjects = subjects
            .filter(|(host, _)| is_used(host))
            .map(|(host, spec)| SubjectSpec {
                host: Some(host.clone()),
                ..spec.clone()
            })
            .collect();
        let pick = |picked: &Picked| {
            let is_it = |pick: &&Pick| pick.host == picked.host && pick.method == picked.method;
            picks.iter().find(is_it).cloned()
        };
        let together = choice.together.iter();
        let together = together.filter_map(|[one, other]| Some([pick(one)?, pick(other)?]));
        let request = Request {
            together: together.collect(),
            sets: offer::sets(&self.wishes, &picks),
            picks,
            subjects,
            ..Request::default()
        };
        if let Some(host) = request
            .hosts()
            .into_iter()
            .find(|name| self.context.config.host(name).read_only)
        {
            return Err(CommandError::Refused(format!(
                "{host} is read-only by the configuration"
            )));
        }
        let mut confirmed = Vec::new();
        for named in &choice.destroy {
            let spec: SubjectSpec = named.what.parse().map_err(CommandError::Arguments)?;
            let spec = SubjectSpec {
                host: Some(named.host.clone()),
                ..spec
            };
            confirmed.push(Confirmation::new(spec, &named.name));
        }
        Ok(Asked {
            request,
            confirmed,
            reps: choice.reps,
            order: choice.order,
            first: choice.first,
        })
    }
}
