//! What is timed beside a load: told once it is known that the load lasted, by the host's clock.

use std::mem;

use crate::event::{Level, Sample, Stamp, StepId, What};
use crate::method::ExpandedStep;

use super::acted::Acted;
use super::run::Run;
use super::teller::About;

/// How long a load may have been over before that is heard here, in seconds.
const HEARD_WITHIN: f64 = 2.0;

/// Samples of a step, until it is known that the load beside it lasted.
pub(super) struct Timed {
    step: String,
    host: String,
    /// By its host's clock.
    end: Option<Stamp>,
    /// By this machine's, in seconds since the session's begin.
    here: f64,
    samples: Vec<Sample>,
}

impl Timed {
    /// Whether it had ended before a load on a host did: by the clock of the host, where it is one.
    fn is_before(&self, load: &Acted, host: &str) -> bool {
        let end = load.end.host.as_ref().map(|stamps| stamps.end);
        match (self.end, end) {
            (Some(own), Some(end)) if self.host == host => own <= end,
            _ => self.here <= load.here.1,
        }
    }
}

impl Run<'_> {
    /// Tells what a step was timed at; beside a load later.
    pub(super) fn tell_timed(&mut self, step: &ExpandedStep, acted: &Acted, samples: Vec<Sample>) {
        if self.beside.has_load() {
            self.beside.timed.push(Timed {
                step: step.name.clone(),
                host: self.bound.host(&step.step.on).to_owned(),
                end: acted.end.host.as_ref().map(|stamps| stamps.end),
                here: acted.here.1,
                samples,
            });
        } else {
            self.tell_samples(samples);
        }
    }

    /// Tells what was timed so long ago that an end of the load before it would have been heard.
    pub(super) fn tell_sure(&mut self) {
        let before = self.now() - HEARD_WITHIN;
        let is_sure = |timed: &mut Timed| timed.here < before;
        let sure: Vec<_> = self.beside.timed.extract_if(.., is_sure).collect();
        for timed in sure {
            self.tell_samples(timed.samples);
        }
    }

    /// Tells what had been timed when a load ended, and leaves out what had not.
    pub(super) fn settle_timed(
        &mut self,
        load: &ExpandedStep,
        id: &StepId,
        acted: &Acted,
        host: &str,
    ) {
        for timed in mem::take(&mut self.beside.timed) {
            if timed.is_before(acted, host) {
                self.tell_samples(timed.samples);
                continue;
            }
            let about = About {
                step: Some(id),
                ..About::default()
            };
            let text = format!(
                "{} was over before {} was: that was not measured beside it",
                load.name, timed.step
            );
            self.shared.teller.note(Level::Warning, text, about);
        }
    }

    fn tell_samples(&self, samples: Vec<Sample>) {
        for sample in samples {
            self.shared.teller.tell(What::Sample(sample));
        }
    }
}
