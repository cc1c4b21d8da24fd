//! What may destroy what: rules 1 and 2 of "Never lose data".

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::event::{LeaveKind, Subject};
use crate::host::Host;
use crate::method::{SubjectKind, SubjectSpec};

use super::EngineError;
use super::shell::{quote, script};

/// `--destroy [HOST/]KIND:ID=NAME`: the operator's word that this may be destroyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// Host; any where absent.
    pub host: Option<String>,
    /// Kind.
    pub kind: SubjectKind,
    /// Id.
    pub id: String,
    /// The name that the operator typed.
    pub name: String,
}

impl Confirmation {
    /// A word about a subject, by the name that was typed.
    #[must_use]
    pub fn new(subject: SubjectSpec, name: &str) -> Self {
        let SubjectSpec { host, kind, id } = subject;
        Self {
            host,
            kind,
            id,
            name: name.to_owned(),
        }
    }

    /// The name that has to be typed for a subject: what its id ends with, or what its host calls
    /// it. Absent where there is none.
    ///
    /// # Errors
    /// Where the host is lost or cannot look.
    pub async fn name_of(
        host: &dyn Host,
        spec: &SubjectSpec,
    ) -> Result<Option<String>, EngineError> {
        let word = Self::new(spec.clone(), "");
        if let Some(name) = word.true_name() {
            return Ok(Some(name.to_owned()));
        }
        let name = super::named::name(host, &spec.to_string()).await?;
        Ok(name.filter(|name| !name.is_empty()))
    }

    /// Whether it allows to destroy `what` (`KIND:ID`) on a host, where a guest has this name.
    pub(super) fn allows(&self, what: &str, host: &str, guest: Option<&str>) -> bool {
        let name = self.true_name().or(guest).filter(|name| !name.is_empty());
        self.is_about(what, host) && name == Some(self.name.as_str())
    }

    /// Whether it is about `what` on a host, by whatever name.
    pub(super) fn is_about(&self, what: &str, host: &str) -> bool {
        format!("{}:{}", self.kind, self.id) == what
            && self.host.as_deref().is_none_or(|named| named == host)
    }

    // What its id ends with. The name of a guest stands in no id: it is looked up on its host.
    fn true_name(&self) -> Option<&str> {
        if matches!(self.kind, SubjectKind::Vm | SubjectKind::Ct) {
            return None;
        }
        self.id.rsplit('/').find(|part| !part.is_empty())
    }
}

/// What a destroying step is weighed by.
pub(super) struct Weighed<'a> {
    /// `KIND:ID` that it destroys.
    pub what: &'a str,
    /// The host it acts on.
    pub host: &'a dyn Host,
    /// The subject of the run.
    pub subject: &'a Subject,
    /// The host that it is on.
    pub subject_host: &'a str,
    /// The run's scratch folder.
    pub scratch: &'a str,
    /// What this run made itself on that host and has not undone: what it is, and as `find` printed it.
    pub made: &'a [(LeaveKind, String)],
    /// The leave whose proof it relies on, or that only has to be there.
    pub relies_on: Option<&'a str>,
    /// Whether nothing could prove that copy: then it is only changed, and not gone.
    pub unproved: bool,
    /// Leaves that count: that were proved in this run, or are there where nothing can prove them.
    pub counts: &'a BTreeSet<String>,
    /// The operator's words.
    pub confirmed: &'a [Confirmation],
    /// What the target was when it was shown: identity by `KIND:ID`.
    pub identities: &'a BTreeMap<String, String>,
}

impl Weighed<'_> {
    /// Returns where the step may run.
    ///
    /// # Errors
    /// [`EngineError::Refused`], with the rule that it would break.
    pub async fn allow(&self) -> Result<(), EngineError> {
        let refused = |why: String| Err(EngineError::Refused(why));
        if let Some(copy) = self.relies_on
            && !self.counts.contains(copy)
        {
            return refused(format!(
                "{} is not destroyed: it relies on a proof of {copy:?}, and there is none in this run",
                self.what
            ));
        }
        let Some((kind, id)) = self.what.split_once(':') else {
            return refused(format!(
                "{:?} is not destroyed: expected KIND:ID",
                self.what
            ));
        };
        if self.made_here(kind, id) {
            self.really_inside(id).await?;
        } else {
            if self.relies_on.is_none() {
                return refused(format!(
                    "{} is not destroyed: the step relies on no proof of a copy, and this session did not make it",
                    self.what
                ));
            }
            if !(self.subject.marked && self.is_the_subject()) {
                return refused(format!(
                    "{} is not destroyed: this session did not make it, and it is no subject that bears a mark of comeback",
                    self.what
                ));
            }
            let host = self.host.name();
            let guest = super::named::name(self.host, self.what).await?;
            let allows = |word: &Confirmation| word.allows(self.what, host, guest.as_deref());
            if !self.confirmed.iter().any(allows) {
                return refused(format!(
                    "{what} is not destroyed: say --destroy {what}=NAME, with its own name, to allow it",
                    what = self.what
                ));
            }
            self.still_free(kind, id).await?;
        }
        self.still_the_same().await
    }

    // A mark speaks for what bears it, and for nothing beside it.
    fn is_the_subject(&self) -> bool {
        self.what == self.subject.to_string() && self.host.name() == self.subject_host
    }

    // A path with `..` in it could leave the scratch folder again.
    fn made_here(&self, kind: &str, id: &str) -> bool {
        let inside = id
            .strip_prefix(self.scratch)
            .is_some_and(|rest| rest.starts_with('/') && !rest.split('/').any(|part| part == ".."));
        let of = |(is, made): &(LeaveKind, String)| {
            made == id || (*is == LeaveKind::Sandbox && belongs(kind, id, made))
        };
        inside || self.made.iter().any(of)
    }

    // A link in the scratch folder may lead out of it.
    async fn really_inside(&self, id: &str) -> Result<(), EngineError> {
        if !id.starts_with(self.scratch) {
            return Ok(());
        }
        let parent = id
            .rsplit_once('/')
            .map_or(self.scratch, |(parent, _)| parent);
        let real = |path: &str| format!("$(cd -- {} 2>/dev/null && pwd -P && echo .)", quote(path));
        let text = format!(
            "s={}; p={}; printf '%s\\001%s' \"$s\" \"$p\"",
            real(self.scratch),
            real(parent)
        );
        let patience = Duration::from_mins(1);
        let said = script(self.host, "look where the target stands", &text, patience).await?;
        let (scratch, parent) = said.split_once('\u{1}').unwrap_or((&said, ""));
        let (scratch, parent) = (
            scratch.trim_end_matches("\n."),
            parent.trim_end_matches("\n."),
        );
        // What is not there has been taken away already.
        if parent.is_empty()
            || (!scratch.is_empty() && super::preflight::is_inside(parent, scratch))
        {
            return Ok(());
        }
        Err(EngineError::Refused(format!(
            "{} is not destroyed: it stands in {parent}, outside of the scratch folder {scratch}",
            self.what
        )))
    }

    // What a guest would lose for good, or what holds it, may have come since it was shown.
    async fn still_free(&self, kind: &str, id: &str) -> Result<(), EngineError> {
        let look = super::guests::look(kind, id).filter(|_| !self.unproved);
        let Some(look) = look else {
            return Ok(());
        };
        let patience = Duration::from_mins(1);
        let said = script(self.host, "look at the guest again", &look, patience).await?;
        match super::guests::obstacle(&said, id) {
            Some(why) => Err(EngineError::Refused(format!(
                "{} is not destroyed: {why}",
                self.what
            ))),
            None => Ok(()),
        }
    }

    async fn still_the_same(&self) -> Result<(), EngineError> {
        let Some(before) = self.identities.get(self.what) else {
            return Ok(());
        };
        let now = super::named::identity(self.host, self.what).await?;
        let now = now.as_deref().unwrap_or(super::named::NOTHING);
        if now == *before {
            return Ok(());
        }
        Err(EngineError::Refused(format!(
            "{} is not destroyed: it is no longer what was shown (it was {before}, it is {now})",
            self.what
        )))
    }
}

/// Whether `id` belongs to `made`, a name that is as a whole comeback's own: a dataset is a part
/// of its pool, a volume of its group.
fn belongs(kind: &str, id: &str, made: &str) -> bool {
    let rest = match kind {
        "dataset" | "lv" => id.strip_prefix(made),
        _ => return false,
    };
    rest.is_some_and(|rest| rest.starts_with('/') || rest.starts_with('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_a_pool_of_ones_own_is_ones_own() {
        assert!(belongs("dataset", "cb1/data", "cb1"));
        assert!(belongs("dataset", "cb1@first", "cb1"));
        assert!(belongs("lv", "cb1/data", "cb1"));
        for (kind, id) in [
            ("dataset", "cb1x/data"),
            ("dataset", "cb1"),
            ("dataset", "tank/cb1/data"),
            ("dir", "cb1/data"),
        ] {
            assert!(!belongs(kind, id, "cb1"), "{kind}:{id}");
        }
    }

    #[test]
    fn a_word_counts_only_with_the_right_name_and_host() {
        let word = |text: &str, name: &str| {
            let spec: SubjectSpec = text.parse().unwrap();
            Confirmation::new(spec, name)
        };
        assert!(word("dir:/some/data", "data").allows("dir:/some/data", "h1", None));
        assert!(word("dir:/some/data/", "data").allows("dir:/some/data/", "h1", None));
        assert!(word("h1/dir:/some/data", "data").allows("dir:/some/data", "h1", None));
        for (text, name) in [
            ("dir:/some/data", ""),
            ("dir:/some/data", "dat"),
            ("dir:/some/data", "/some/data"),
            ("dir:/some/other", "other"),
            ("subvolume:/some/data", "data"),
            ("h2/dir:/some/data", "data"),
        ] {
            assert!(
                !word(text, name).allows("dir:/some/data", "h1", None),
                "{text}={name}"
            );
        }
        assert!(!word("dir:/", "").allows("dir:/", "h1", None));
        let guest = |name: &str, is: Option<&str>| word("vm:131", name).allows("vm:131", "h1", is);
        assert!(guest("shop-db", Some("shop-db")));
        assert!(!guest("131", Some("shop-db")));
        assert!(!guest("131", None));
        assert!(!guest("", Some("")));
    }
}
