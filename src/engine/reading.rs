//! Steps that read and change nothing: hashes and byte figures.

use crate::event::{EndState, Level, Proof, Space, StepId, What};
use crate::method::ExpandedStep;

use super::EngineError;
use super::acted::Acted;
use super::hashing;
use super::preview::{Figure, Hashing};
use super::run::Run;
use super::space::{self, Reading};
use super::teller::About;

impl Run<'_> {
    /// Keeps a manifest, or compares with one: a proof.
    pub async fn hash(
        &mut self,
        step: &ExpandedStep,
        id: &StepId,
        hashing: &Hashing,
        host_name: &str,
    ) -> Result<Acted, EngineError> {
        let begin = self.now();
        let taken = hashing::take(self.shared, host_name, hashing, id).await?;
        let here = (begin, self.now());
        let Some(taken) = taken else {
            return Ok(Acted::new(EndState::Stopped, here));
        };
        let mut acted = Acted::new(EndState::Ok, here);
        acted
            .values
            .insert("bytes".to_owned(), taken.bytes.to_string());
        acted
            .values
            .insert("files".to_owned(), taken.files.to_string());
        if let Some(remark) = taken.remark() {
            let about = About {
                step: Some(id),
                ..About::default()
            };
            self.shared.teller.note(Level::Remark, remark, about);
        }
        match &hashing.keep {
            Ok(name) => {
                self.hashes.insert(name.clone(), taken);
            }
            Err(like) => {
                let Some(before) = self.hashes.get(like) else {
                    return Err(EngineError::Refused(format!(
                        "nothing is kept under {like:?}"
                    )));
                };
                let compared = hashing::compare(self.shared, before, &taken).await?;
                acted.proof = Some(Proof {
                    run: self.planned.run.clone(),
                    step: id.clone(),
                    of: step
                        .step
                        .proves
                        .clone()
                        .unwrap_or_else(|| "restored".to_owned()),
                    by: compared.by,
                    series: step.step.series.is_some().then(|| self.series_of(step)),
                    verdict: compared.same,
                    expected: Some(before.digest.clone()),
                    got: Some(taken.digest.clone()),
                    bytes: Some(crate::event::Bytes(taken.bytes)),
                    share: hashing.share.clone().unwrap_or(compared.share),
                    differences: compared.differences,
                });
            }
        }
        Ok(acted)
    }

    /// Reads a byte figure.
    pub async fn space(
        &mut self,
        step: &ExpandedStep,
        id: &StepId,
        settle: Option<&str>,
        reads: &[(Figure, String)],
        limit: f64,
        host_name: &str,
    ) -> Result<Acted, EngineError> {
        let begin = self.now();
        let host = self.connected(host_name)?;
        let Reading {
            logical,
            stored,
            held,
            settled,
            why,
        } = space::read(host.as_ref(), settle, reads, limit).await?;
        if let Some(bytes) = stored.or(logical).or(held) {
            self.figures
                .insert(Self::space_key(&step.step), bytes.0 as f64);
        }
        self.shared.teller.tell(What::Space(Space {
            run: self.planned.run.clone(),
            step: id.clone(),
            name: step.step.name.clone(),
            series: self.series_of(step),
            logical,
            stored,
            held,
            settled,
            why,
        }));
        Ok(Acted::new(EndState::Ok, (begin, self.now())))
    }
}
