//! What was asked for: which method where, on what, with which settings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use super::model::Need;
use super::{Method, SubjectKind};
use crate::event::Facts;

/// A host, as far as a method may know it.
#[derive(Debug, Clone, Default)]
pub struct HostInfo {
    /// As the operator named it.
    pub name: String,
    /// Where other hosts reach it.
    pub address: Option<String>,
    /// As whom and on which port.
    pub login: Option<(String, u16)>,
    /// What it is.
    pub facts: Facts,
}

impl HostInfo {
    /// Facts in which none of these programs is missing: where one is, the method does not run,
    /// and that is to be said, not that a template lacks a value.
    pub(super) fn facts_with(&self, needs: &[Need]) -> Facts {
        let mut facts = self.facts.clone();
        for need in needs {
            facts.tools.entry(need.tool.clone()).or_default();
        }
        facts
    }
}

/// A subject that the operator named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectSpec {
    /// Its host; every host where absent.
    pub host: Option<String>,
    /// What it is.
    pub kind: SubjectKind,
    /// Path, name or number.
    pub id: String,
}

/// `[HOST/]KIND:ID`.
impl FromStr for SubjectSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            let kinds: Vec<_> = SubjectKind::ALL.iter().map(|kind| kind.name()).collect();
            format!(
                "expected [HOST/]KIND:ID with KIND one of {}, not {text:?}",
                kinds.join(", ")
            )
        };
        let (head, id) = text.split_once(':').ok_or_else(expected)?;
        let (host, kind) = match head.rsplit_once('/') {
            Some((host, kind)) => (Some(host.to_owned()), kind),
            None => (None, head),
        };
        let kind = SubjectKind::ALL
            .into_iter()
            .find(|known| known.name() == kind)
            .ok_or_else(expected)?;
        if id.is_empty() || host.as_ref().is_some_and(String::is_empty) || id.contains('\0') {
            return Err(expected());
        }
        Ok(Self {
            host,
            kind,
            id: id.to_owned(),
        })
    }
}

impl SubjectSpec {
    /// Whether its id can name something of its kind.
    ///
    /// # Errors
    /// What was expected.
    pub fn is_well_formed(&self) -> Result<(), String> {
        match self.kind {
            SubjectKind::Dir | SubjectKind::Subvolume if !self.id.starts_with('/') => Err(format!(
                "the subject {:?} must be an absolute path",
                self.id
            )),
            SubjectKind::Dataset if !is_dataset(&self.id) => Err(format!(
                "the subject {:?} must be a dataset as `zfs list` names it: POOL/NAME",
                self.id
            )),
            SubjectKind::Lv if !is_volume(&self.id) => Err(format!(
                "the subject {:?} must be a volume with its group: GROUP/NAME",
                self.id
            )),
            SubjectKind::Vmdk
                if !(self.id.starts_with('/') && self.id.as_bytes().ends_with(b".vmdk")) =>
            {
                Err(format!(
                    "the subject {:?} must be the absolute path of a disk's descriptor: /vmfs/volumes/DATASTORE/FOLDER/NAME.vmdk",
                    self.id
                ))
            }
            SubjectKind::Vm | SubjectKind::Ct
                if self.id.is_empty() || !self.id.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                Err(format!(
                    "the subject {:?} must be a guest's number, such as 131",
                    self.id
                ))
            }
            _ => Ok(()),
        }
    }
}

// Snapshots and bookmarks are none. ZFS allows blanks in names, which its own output does not quote.
fn is_dataset(id: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_.:-".contains(c))
    };
    id.split('/').all(part)
}

// As lvm(8) has names; no option begins with a sign that a name may begin with.
fn is_volume(id: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric() || "_.+".contains(c))
            && !matches!(part, "." | "..")
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_.+-".contains(c))
    };
    id.split_once('/')
        .is_some_and(|(group, name)| part(group) && part(name))
}

/// `KIND:ID`, without its host.
impl fmt::Display for SubjectSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.id)
    }
}

/// What was asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Which method runs where.
    pub picks: Vec<Pick>,
    /// Picks of which each two also run at once.
    pub together: Vec<[Pick; 2]>,
    /// Role → host, for roles other than the first, where a pick says nothing else.
    pub roles: BTreeMap<String, String>,
    /// Subjects.
    pub subjects: Vec<SubjectSpec>,
    /// Parent of scratch folders.
    pub sandbox: Option<String>,
    /// Settings.
    pub sets: Vec<Set>,
    /// Hosts that cannot be used: what needs one of them is left out.
    pub without: BTreeSet<String>,
}

/// A method on a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pick {
    /// The host of its first role.
    pub host: String,
    /// The method.
    pub method: String,
    /// Role → host, for this pick alone.
    pub roles: BTreeMap<String, String>,
}

impl Pick {
    /// A method on a host.
    #[must_use]
    pub fn new(host: &str, method: &str) -> Self {
        Self {
            host: host.to_owned(),
            method: method.to_owned(),
            roles: BTreeMap::new(),
        }
    }
}

/// A setting that the operator chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    /// On this host only.
    pub host: Option<String>,
    /// Of this method; of every method that has it where none is named.
    pub method: Option<String>,
    /// The setting.
    pub key: String,
    /// Its value, as it was typed.
    pub value: String,
}

impl Request {
    /// Each method on each host.
    #[must_use]
    pub fn each(hosts: &[String], methods: &[String]) -> Self {
        let on = |host: &String| {
            let host = host.clone();
            methods.iter().map(move |method| Pick::new(&host, method))
        };
        Self {
            picks: hosts.iter().flat_map(on).collect(),
            ..Self::default()
        }
    }

    /// On each of its hosts these two methods also run at once.
    pub fn at_once(&mut self, pair: &[String; 2]) {
        let [one, other] = pair;
        let of = |pick: &&Pick| pick.method == *one;
        let ones: Vec<Pick> = self.picks.iter().filter(of).cloned().collect();
        for pick in ones {
            let beside = Pick {
                method: other.clone(),
                ..pick.clone()
            };
            if self.picks.contains(&beside)
                && !self.together.contains(&[pick.clone(), beside.clone()])
            {
                self.together.push([pick, beside]);
            }
        }
    }

    /// All hosts that it names.
    #[must_use]
    pub fn hosts(&self) -> BTreeSet<String> {
        let picked = self
            .picks
            .iter()
            .flat_map(|pick| pick.roles.values().chain([&pick.host]));
        picked.chain(self.roles.values()).cloned().collect()
    }

    /// The hosts that a picked method needs.
    #[must_use]
    pub fn hosts_of(&self, method: &Method, pick: &Pick) -> BTreeSet<String> {
        let roles = method.roles.iter().enumerate();
        let hosts = roles.filter_map(|(at, role)| self.host_of(at, role, pick));
        hosts.map(ToOwned::to_owned).collect()
    }

    /// The host of a picked method's role number `at`, from 0.
    pub(super) fn host_of<'a>(&'a self, at: usize, role: &str, pick: &'a Pick) -> Option<&'a str> {
        match (at, pick.roles.get(role).or_else(|| self.roles.get(role))) {
            (_, Some(name)) => Some(name),
            (0, None) => Some(&pick.host),
            (_, None) => (role == "here").then_some("local"),
        }
    }

    pub(super) fn methods(&self) -> BTreeSet<&str> {
        self.picks.iter().map(|pick| pick.method.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_read_with_and_without_a_host() {
        let read = |text: &str| text.parse::<SubjectSpec>();
        let spec = |host: Option<&str>, kind, id: &str| SubjectSpec {
            host: host.map(str::to_owned),
            kind,
            id: id.to_owned(),
        };
        assert_eq!(
            read("dir:/some/data:x").unwrap(),
            spec(None, SubjectKind::Dir, "/some/data:x")
        );
        assert_eq!(
            read("root@pve1/vm:9001").unwrap(),
            spec(Some("root@pve1"), SubjectKind::Vm, "9001")
        );
        assert_eq!(read("h/dir:/a").unwrap().to_string(), "dir:/a");
        for wrong in ["", "dir", "dir:", "folder:/x", "/dir:/x"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(read("dir:srv").unwrap().is_well_formed().is_err());
        assert!(read("vm:9001").unwrap().is_well_formed().is_ok());
        assert!(read("ct:shop-db").unwrap().is_well_formed().is_err());
    }

    #[test]
    fn a_pick_may_have_a_target_of_its_own() {
        let mut request = Request {
            roles: BTreeMap::from([("target".to_owned(), "nas".to_owned())]),
            ..Request::default()
        };
        let mut pick = Pick::new("pve1", "files-stream");
        assert_eq!(request.host_of(0, "source", &pick), Some("pve1"));
        assert_eq!(request.host_of(1, "target", &pick), Some("nas"));
        pick.roles.insert("target".to_owned(), "tin".to_owned());
        assert_eq!(request.host_of(1, "target", &pick), Some("tin"));
        request.picks.push(pick);
        let hosts: Vec<_> = request.hosts().into_iter().collect();
        assert_eq!(hosts, ["nas", "pve1", "tin"]);
    }
}
