//! What is told of the hosts to the dashboard.

use crate::event::HostState;
use crate::method::SubjectSpec;
use crate::tui::{HostOffer, Offer, SubjectOffer};

use super::{Seat, Seats, Standing, offer};

impl Seats {
    /// All that can be picked now.
    pub fn offer(&mut self) -> Offer {
        if !self.seats.values().any(|seat| seat.stale) {
            self.revision.1 = self.revision.0;
        }
        let mut offer = Offer {
            revision: self.revision.1,
            ..Offer::default()
        };
        for name in &self.names {
            let Some(seat) = self.seats.get(name) else {
                continue;
            };
            offer.hosts.push(self.host(name, seat));
            let methods = seat.methods.iter().map(|(method, _)| method.clone());
            offer.methods.extend(methods);
        }
        offer
    }

    fn host(&self, name: &str, seat: &Seat) -> HostOffer {
        HostOffer {
            name: name.to_owned(),
            state: match seat.standing {
                Standing::Busy(..) => HostState::Connecting,
                Standing::Up => HostState::Up,
                Standing::Down(_) => HostState::Down,
            },
            facts: match (&seat.standing, &seat.known) {
                (Standing::Down(why), _) => why.clone(),
                (_, Some(known)) => offer::line(&known.info.facts),
                (_, None) => String::new(),
            },
            doing: match &seat.standing {
                Standing::Busy(doing, since) => Some((doing.clone(), since.elapsed())),
                Standing::Up | Standing::Down(_) => None,
            },
            legacy: self.context.config.host(name).legacy,
            subjects: self.subjects(name, seat),
            subject: self.wishes.protect.get(name).cloned(),
        }
    }

    /// What was found there, what was named, and what was protected before; each once.
    fn subjects(&self, host: &str, seat: &Seat) -> Vec<SubjectOffer> {
        let mut all: Vec<SubjectOffer> = Vec::new();
        let mut add = |subject: SubjectOffer| {
            if !all.iter().any(|known| known.spec == subject.spec) {
                all.push(subject);
            }
        };
        for found in &seat.subjects {
            add(SubjectOffer {
                spec: SubjectSpec {
                    host: None,
                    kind: found.kind,
                    id: found.id.clone(),
                },
                marked: found.marked,
                about: found.about.clone(),
            });
        }
        let other = |spec: SubjectSpec, about: &str| SubjectOffer {
            // The look at the host says whether it is.
            marked: self.wishes.protect.get(host) == Some(&spec) && offer::is_marked(&seat.methods),
            spec,
            about: about.to_owned(),
        };
        for spec in self.named.get(host).into_iter().flatten() {
            add(other(spec.clone(), "named"));
        }
        let before = self
            .history
            .iter()
            .flat_map(|history| history.subjects(host));
        for subject in before {
            let kinds = self.kinds();
            let spec: Result<SubjectSpec, _> = subject.to_string().parse();
            if let Ok(spec) = spec
                && spec.host.is_none()
                && kinds.contains(&spec.kind)
            {
                add(other(spec, "protected before"));
            }
        }
        all
    }
}
