//! What the steps of a run destroy: remembered when it begins, and weighed right before it goes.

use std::collections::BTreeMap;

use crate::event::{Destroys, Phase};
use crate::host::Host;
use crate::method::ExpandedStep;

use super::EngineError;
use super::guard::Weighed;
use super::leaving::Open;
use super::preview::Filling;
use super::run::Run;

impl Run<'_> {
    /// Whether it may be destroyed, right before.
    ///
    /// # Errors
    /// Why not, or that a host is lost.
    pub(super) async fn weigh(
        &self,
        destroys: &Destroys,
        host: &dyn Host,
    ) -> Result<(), EngineError> {
        let here = |open: &&Open| !open.undone && open.intended.host == host.name();
        let made: Vec<_> = (self.open.iter().filter(here))
            .filter_map(|open| Some((open.intended.kind, open.found.clone()?)))
            .collect();
        let none = BTreeMap::new();
        let mut counts = self.proved.clone();
        if destroys.unproved {
            let there = self
                .open
                .iter()
                .filter(|open| open.is_copy() && open.found.is_some());
            counts.extend(there.map(|open| open.intended.name.clone()));
        }
        Weighed {
            what: &destroys.what,
            host,
            subject: &self.bound.binding.subject,
            subject_host: self.bound.binding.host(),
            scratch: self.names.scratch(),
            made: &made,
            relies_on: destroys.relies_on.as_deref(),
            unproved: destroys.unproved,
            counts: &counts,
            confirmed: &self.shared.confirmed,
            identities: self.identities.as_ref().unwrap_or(&none),
        }
        .allow()
        .await
    }

    /// What is going to be destroyed is looked at (a named subject before anything is done, one of
    /// the run's own once everything is prepared), and again right before it goes.
    ///
    /// # Errors
    /// Where a host is lost.
    pub(super) async fn remember_targets(
        &mut self,
        step: &ExpandedStep,
    ) -> Result<(), EngineError> {
        let own = self.bound.binding.subject.own;
        if self.identities.is_some() || (own && step.step.phase == Phase::Prepare) {
            return Ok(());
        }
        let mut all = BTreeMap::new();
        for later in &self.bound.steps {
            let context = self.context(later);
            let filling = Filling {
                bound: self.bound,
                step: later,
                context: &context,
            };
            // What cannot be filled in yet is made later, by this run.
            let Ok(Some(destroys)) = filling.destroys() else {
                continue;
            };
            let host = self.connected(self.bound.host(&later.step.on))?;
            // What the run has not made yet is not looked at again.
            if let Some(is) = super::named::identity(host.as_ref(), &destroys.what).await?
                && !(own && is == super::named::NOTHING)
            {
                all.insert(destroys.what, is);
            }
        }
        self.identities = Some(all);
        Ok(())
    }
}
