//! A login that failed, in one sentence: what was tried, what the host takes, what to do.

use russh::MethodKind;

use super::route::Route;

/// What has been tried so far on one connection.
#[derive(Default)]
pub(super) struct Tried {
    /// What was offered and refused.
    pub(super) refused: Vec<String>,
    /// What was taken, and was not enough.
    pub(super) taken: Vec<String>,
    /// What could not be offered, and what to do about it.
    pub(super) remarks: Vec<String>,
    /// What the host lists at its last answer.
    pub(super) listed: Vec<MethodKind>,
    /// Keys that were not offered any more.
    pub(super) left: usize,
    /// What the operator did not say.
    pub(super) unanswered: Vec<String>,
    /// What nobody was there to be asked for, and what to do instead.
    pub(super) unasked: Vec<(String, String)>,
}

impl Tried {
    /// How much has been refused.
    pub(super) fn failures(&self) -> usize {
        self.refused.len()
    }

    pub(super) fn list(&self) -> String {
        if self.refused.is_empty() {
            String::new()
        } else {
            format!("; tried: {}", self.refused.join(", "))
        }
    }

    /// The host ended the connection, with these words.
    pub(super) fn ended(&self, goodbye: &str) -> String {
        let mut parts = vec![format!(
            "the host ended the connection: {goodbye}{}",
            self.list()
        )];
        if self.failures() > 1 {
            parts.push(format!(
                "it took no more after {} of them (MaxAuthTries there)",
                self.failures()
            ));
        }
        parts.extend(self.left());
        parts.extend(self.remarks.iter().cloned());
        if goodbye.to_lowercase().contains("too many") && self.left == 0 {
            parts.push(
                "name the right key by IdentityFile and IdentitiesOnly, or what to log in with by \
                 PreferredAuthentications, in the ssh configuration"
                    .to_owned(),
            );
        }
        parts.join("; ")
    }

    /// The whole refusal.
    pub(super) fn says(&self, route: &Route) -> String {
        let mut parts = vec![self.head(route) + &self.list()];
        parts.extend(self.left());
        parts.extend(self.remarks.iter().cloned());
        if !route.login_notes.is_empty() {
            parts.push(format!(
                "set in the ssh configuration and not followed yet: {}",
                route.login_notes.join(", ")
            ));
        }
        let listed: Vec<&str> = self.listed.iter().map(<&str>::from).collect();
        parts.push(match listed.as_slice() {
            [] => "the host takes nothing else".to_owned(),
            listed => format!("the host takes {}", listed.join(", ")),
        });
        parts.extend(self.remedy(route));
        parts.join("; ")
    }

    fn head(&self, route: &Route) -> String {
        let user = &route.user;
        let mut says = Vec::new();
        if !self.taken.is_empty() {
            says.push(format!(
                "{} was taken for `{user}`, but the host asks for more",
                self.taken.join(", ")
            ));
        }
        if !self.unanswered.is_empty() {
            says.push(format!("no answer to: {}", self.unanswered.join(", ")));
        }
        let unasked: Vec<&str> = self.unasked.iter().map(|(what, _)| what.as_str()).collect();
        if !unasked.is_empty() {
            let why = if route.methods.batch {
                "BatchMode in the ssh configuration asks for nothing"
            } else {
                "nobody is there to be asked"
            };
            says.push(format!("{why}, but needed is {}", unasked.join(" or ")));
        }
        if says.is_empty() {
            let takes_keys = self.listed.contains(&MethodKind::PublicKey);
            says.push(match (self.refused.is_empty(), takes_keys) {
                (true, true) => format!("no key was offered for `{user}`"),
                (true, false) => format!("nothing could be tried for `{user}`"),
                (false, _) => format!("the host refuses `{user}`"),
            });
        }
        says.join("; ")
    }

    fn left(&self) -> Option<String> {
        (self.left > 0).then(|| {
            format!(
                "{} more {} not offered, as servers end the connection after a few: name the \
                 right one by IdentityFile and IdentitiesOnly in the ssh configuration",
                self.left,
                if self.left == 1 {
                    "key was"
                } else {
                    "keys were"
                },
            )
        })
    }

    fn remedy(&self, route: &Route) -> Vec<String> {
        if !self.unasked.is_empty() {
            let mut remedies: Vec<_> = self
                .unasked
                .iter()
                .map(|(_, do_so)| do_so.clone())
                .collect();
            remedies.dedup();
            return remedies;
        }
        if !self.unanswered.is_empty() {
            return Vec::new();
        }
        let ours = |method: &MethodKind| route.methods.allow(*method);
        let takes = |method| self.listed.contains(&method);
        let refused = !self.refused.is_empty();
        let remedy = if !self.listed.is_empty() && !self.listed.iter().any(ours) {
            let switched_off = self.listed.iter().any(|method| {
                matches!(
                    method,
                    MethodKind::PublicKey | MethodKind::KeyboardInteractive | MethodKind::Password
                )
            });
            if switched_off {
                "the ssh configuration switches that off (PreferredAuthentications, \
                 PubkeyAuthentication, PasswordAuthentication, KbdInteractiveAuthentication)"
            } else {
                "none of that can be done here"
            }
        } else if takes(MethodKind::PublicKey) && !refused {
            "add a key to the ssh-agent (ssh-add), or name an IdentityFile"
        } else if takes(MethodKind::PublicKey) {
            "add one of the keys there (ssh-copy-id), or name another user"
        } else if refused {
            "is this the right user and password?"
        } else {
            "log in there by another way and look at its log"
        };
        vec![remedy.to_owned()]
    }
}
