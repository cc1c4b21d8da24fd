//! What can be picked on the hosts that are connected.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::engine::{
    Check, Confirmation, Gravity, Hosts, POOLS_EVERY, examine, learn, own_id, placement,
    pool_reads, preview,
};
use crate::event::{Binding, Facts, Place, Placement};
use crate::method::{
    Bound, Catalogue, HostInfo, Kind, Method, MethodError, Own, Pick, Request, Set, SubjectSpec,
    bind,
};
use crate::recording::Past;
use crate::tui::{MethodOffer, Named, PreviewLine, Room, SettingOffer};

use super::Context;

/// What the operator wants otherwise than it comes.
#[derive(Clone, Default)]
pub(super) struct Wishes {
    /// (host, method, setting) → value.
    pub changed: BTreeMap<(String, String, String), String>,
    /// Host → subject.
    pub protect: BTreeMap<String, SubjectSpec>,
}

/// All that can be picked on a host, each with its binding where it has one.
pub(super) async fn methods(
    context: &Context,
    catalogue: &Catalogue,
    host: &str,
    hosts: &Hosts,
    wishes: &Wishes,
) -> Vec<(MethodOffer, Option<Binding>)> {
    let infos: BTreeMap<String, HostInfo> = hosts
        .iter()
        .map(|(name, known)| (name.clone(), known.info.clone()))
        .collect();
    let mut methods = Vec::new();
    for (method, _) in catalogue.all() {
        let mut working = Working {
            catalogue,
            hosts,
            infos: &infos,
            wishes,
            offer: blank(method, host, wishes),
        };
        let binding = match working.bound(method, host) {
            Ok(mut bound) => {
                working.offer.machines = machines(&infos, bound.binding.roles.values());
                // Who is lost is told by the look that follows.
                let _ = learn(hosts, &mut bound).await;
                match working.look(&bound).await {
                    Ok(marked) => bound.binding.subject.marked = marked,
                    Err(why) => working.offer.runnable = Err(why),
                }
                if bound.binding.subject.own {
                    bound.binding.subject.id = own_id(&bound);
                }
                Some(bound.binding)
            }
            Err(why) => {
                working.offer.runnable = Err(why);
                None
            }
        };
        let mut offer = working.offer;
        let needed = || offer.machines.keys();
        if let Some(name) = needed().find(|name| context.config.host(name).read_only) {
            offer.runnable = Err(format!("{name} is read-only by the configuration"));
        }
        methods.push((offer, binding));
    }
    methods
}

/// Which machine each of these hosts is: what its facts tell, else its name.
fn machines<'a>(
    infos: &BTreeMap<String, HostInfo>,
    hosts: impl Iterator<Item = &'a String>,
) -> BTreeMap<String, String> {
    let told = |host: &String| {
        let machine = infos.get(host).map(|info| info.facts.machine.clone());
        machine.filter(|machine| !machine.is_empty())
    };
    hosts
        .map(|host| (host.clone(), told(host).unwrap_or_else(|| host.clone())))
        .collect()
}

/// Whether the subject that was chosen bears the mark, by what was found about the methods.
pub(super) fn is_marked(methods: &[(MethodOffer, Option<Binding>)]) -> bool {
    let bindings = methods.iter().filter_map(|(_, binding)| binding.as_ref());
    bindings.into_iter().any(|binding| binding.subject.marked)
}

/// A host in one line.
pub(super) fn line(facts: &Facts) -> String {
    let mut parts = vec![
        facts.system.clone(),
        facts.kernel.clone(),
        format!("{} cpus", facts.cpus),
        facts.memory.to_string(),
    ];
    parts.extend(facts.connection.iter().cloned());
    parts.join(" · ")
}

/// What the operator changed, as settings of a request.
pub(super) fn sets(wishes: &Wishes, picks: &[Pick]) -> Vec<Set> {
    let picked = |host: &String, method: &String| {
        picks
            .iter()
            .any(|pick| pick.host == *host && pick.method == *method)
    };
    wishes
        .changed
        .iter()
        .filter(|((host, method, key), _)| picked(host, method) && role_of(key).is_none())
        .map(|((host, method, key), value)| Set {
            host: Some(host.clone()),
            method: Some(method.clone()),
            key: key.clone(),
            value: value.clone(),
        })
        .collect()
}

/// A method's further roles are offered as settings, by a name that no setting can have.
fn setting_of(role: &str) -> String {
    format!("{role} host")
}

fn role_of(setting: &str) -> Option<&str> {
    setting.strip_suffix(" host")
}

/// Who plays a further role where nobody was chosen: the first other host, or, where it can, the same.
fn stand_in(method: &Method, role: &String, other: Option<&String>, host: &str) -> Option<String> {
    if method.optional.contains(role) {
        return Some(host.to_owned());
    }
    other.cloned()
}

/// Which hosts play a method's further roles: those that the operator chose, else the first other
/// one that is there.
pub(super) fn roles(
    method: &Method,
    host: &str,
    hosts: &Hosts,
    wishes: &Wishes,
) -> BTreeMap<String, String> {
    let further = method.roles.iter().skip(1).filter(|role| *role != "here");
    let other = hosts.keys().find(|name| *name != host);
    further
        .filter_map(|role| {
            let key = (host.to_owned(), method.name.clone(), setting_of(role));
            let chosen = wishes
                .changed
                .get(&key)
                .filter(|name| hosts.contains_key(*name));
            let other = stand_in(method, role, other, host);
            Some((role.clone(), chosen.cloned().or(other)?))
        })
        .collect()
}

/// What is known of a method before anybody has looked.
fn blank(method: &Method, host: &str, wishes: &Wishes) -> MethodOffer {
    MethodOffer {
        name: method.name.clone(),
        title: method.title.clone(),
        family: method.family.clone(),
        host: host.to_owned(),
        machines: BTreeMap::new(),
        kind: method.subject,
        own: method.own,
        subject: match wishes.protect.get(host) {
            Some(spec) => spec.to_string(),
            None => format!("a {} of its own", method.subject),
        },
        runnable: Ok(()),
        preview: Arc::default(),
        warnings: Vec::new(),
        placement: None,
        room: Vec::new(),
        past: Past::Unread,
        named: Vec::new(),
        settings: settings(method, host, wishes),
    }
}

/// A method that is being worked out.
struct Working<'a> {
    catalogue: &'a Catalogue,
    hosts: &'a Hosts,
    infos: &'a BTreeMap<String, HostInfo>,
    wishes: &'a Wishes,
    offer: MethodOffer,
}

impl Working<'_> {
    /// Binds it as a run would.
    fn bound(&mut self, method: &Method, host: &str) -> Result<Bound, String> {
        let subject = self.wishes.protect.get(host);
        let pick = Pick {
            roles: roles(method, host, self.hosts, self.wishes),
            ..Pick::new(host, &method.name)
        };
        let further = method.roles.iter().skip(1).filter(|role| *role != "here");
        for role in further {
            let Some(chosen) = pick.roles.get(role) else {
                return Err(format!(
                    "it needs another host as its {role}: name two when you start comeback"
                ));
            };
            if chosen != host {
                self.offer.subject = format!("{}, {role} {chosen}", self.offer.subject);
            }
            let other = self.hosts.keys().find(|name| *name != host);
            self.offer.settings.push(SettingOffer {
                name: setting_of(role),
                value: chosen.clone(),
                default: stand_in(method, role, other, host).unwrap_or_default(),
                help: format!("the host that is its {role}"),
                kind: Kind::Choice(self.hosts.keys().cloned().collect()),
                problem: None,
            });
        }
        if method.own == Own::Never && subject.is_none() {
            return Err(format!("choose a {} for it first", method.subject));
        }
        let picks = vec![pick];
        let request = Request {
            sets: sets(self.wishes, &picks),
            picks,
            subjects: subject.cloned().into_iter().collect(),
            ..Request::default()
        };
        let mut bounds = bind(self.catalogue, &request, self.infos).map_err(|why| match why {
            // Whose name it is stands beside it.
            MethodError::Unfit { why, .. } => why,
            why => why.to_string(),
        })?;
        bounds
            .pop()
            .ok_or_else(|| "it needs a host that is not there".to_owned())
    }

    /// Looks at what it would do, and at what there is; says whether the subject is marked.
    async fn look(&mut self, bound: &Bound) -> Result<bool, String> {
        let steps = preview(bound).map_err(|why| why.to_string())?;
        let subject = &bound.binding.subject;
        // The name is asked for before the start: here it counts as typed.
        let spec = self.wishes.protect.get(&self.offer.host);
        let mut words = Vec::new();
        if let Some(spec) = spec.filter(|_| !subject.own)
            && let Some(known) = self.hosts.get(bound.binding.host())
        {
            let name = Confirmation::name_of(known.host.as_ref(), spec).await;
            let name = name.map_err(|why| why.to_string())?;
            words.extend(name.map(|name| Confirmation::new(spec.clone(), &name)));
        }
        let check = examine(self.hosts, bound, &words)
            .await
            .map_err(|why| why.to_string())?;
        let destroyed = steps.iter().filter(|step| {
            let what = step.destroys.as_ref().map(|destroys| &destroys.what);
            !subject.own && what == Some(&subject.to_string())
        });
        let named: BTreeSet<Named> = destroyed
            .flat_map(|step| {
                words.iter().map(|word| Named {
                    host: step.host.clone(),
                    what: subject.to_string(),
                    name: word.name.clone(),
                })
            })
            .collect();
        self.offer.named = named.into_iter().collect();
        if !subject.own {
            let mark = if check.marked { "marked" } else { "only read" };
            self.offer.subject = format!("{} ({mark})", self.offer.subject);
        }
        let lines = steps.into_iter().map(|step| PreviewLine {
            phase: Some(step.phase),
            name: step.name,
            command: step.command,
            destroys: step.destroys.map(|destroys| destroys.what),
        });
        let reads = pool_reads(bound).map_err(|why| why.to_string())?;
        let reads = reads.into_iter().map(|read| PreviewLine {
            phase: None,
            name: format!("how full {} is", read.pool),
            command: format!(
                "# every {} s while it runs, on {}\n{}",
                POOLS_EVERY.as_secs(),
                read.host,
                read.command
            ),
            destroys: None,
        });
        self.offer.preview = Arc::new(lines.chain(reads).collect());
        self.offer.placement = placement(bound).map(|placement| self.with_models(placement));
        self.found(bound, &check);
        match check.refusal() {
            Some(why) => Err(why.to_owned()),
            None => Ok(check.marked),
        }
    }

    fn found(&mut self, bound: &Bound, check: &Check) {
        let placed = self.offer.placement.as_ref();
        let same = placed.and_then(|placed| placed.same_disk(&self.offer.machines));
        let is_said = same == Some(true);
        self.offer.warnings = check
            .findings
            .iter()
            .filter(|finding| finding.gravity != Gravity::Refused)
            // The badge says it.
            .filter(|finding| !(is_said && finding.text.starts_with("same disk")))
            .map(|finding| finding.text.clone())
            .collect();
        if let Some(needs) = check.room {
            self.offer.room.push(Room {
                at: bound.sandbox.clone(),
                needs,
                free: check.free,
            });
        }
        let elsewhere = check.elsewhere.iter().map(|room| Room {
            at: format!("{} of {}", bound.sandbox, room.host),
            needs: room.needs,
            free: room.free,
        });
        self.offer.room.extend(elsewhere);
    }

    /// Disks by what is printed on them, too.
    fn with_models(&self, placement: Placement) -> Placement {
        let named = |mut place: Place| {
            let facts = self.infos.get(&place.host).map(|info| &info.facts);
            for disk in &mut place.disks {
                let known =
                    facts.and_then(|facts| facts.disks.iter().find(|one| one.name == *disk));
                if let Some(known) = known.filter(|known| !known.model.trim().is_empty()) {
                    *disk = format!("{} ({})", known.model.trim(), known.name);
                }
            }
            place
        };
        Placement {
            original: named(placement.original),
            copy: named(placement.copy),
        }
    }
}

fn settings(method: &Method, host: &str, wishes: &Wishes) -> Vec<SettingOffer> {
    method
        .settings
        .iter()
        .map(|(name, setting)| {
            let key = (host.to_owned(), method.name.clone(), name.clone());
            let typed = wishes.changed.get(&key);
            let default = setting.default.to_string();
            SettingOffer {
                name: name.clone(),
                value: typed.cloned().unwrap_or_else(|| default.clone()),
                default,
                help: setting.help.clone(),
                kind: setting.kind.clone(),
                problem: typed.and_then(|text| setting.kind.parse(text).err()),
            }
        })
        .collect()
}
