//! What can be picked on the hosts that are connected.

use std::collections::BTreeMap;

use crate::engine::{Check, Gravity, Hosts, examine, preview};
use crate::event::Facts;
use crate::method::{Bound, Catalogue, HostInfo, Kind, Method, Pick, Request, Set, bind};
use crate::tui::{MethodOffer, PreviewLine, Room, SettingKind, SettingOffer};

/// (host, method, setting) → value, as the operator changed it.
pub(super) type Changed = BTreeMap<(String, String, String), String>;

/// All that can be picked on a host.
pub(super) async fn methods(
    catalogue: &Catalogue,
    host: &str,
    hosts: &Hosts,
    changed: &Changed,
) -> Vec<MethodOffer> {
    let infos: BTreeMap<String, HostInfo> = hosts
        .iter()
        .map(|(name, known)| (name.clone(), known.info.clone()))
        .collect();
    let mut methods = Vec::new();
    for (method, _) in catalogue.all() {
        methods.push(one(catalogue, method, host, hosts, &infos, changed).await);
    }
    methods
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
pub(super) fn sets(changed: &Changed, picks: &[Pick]) -> Vec<Set> {
    let picked = |host: &String, method: &String| {
        picks
            .iter()
            .any(|pick| pick.host == *host && pick.method == *method)
    };
    changed
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

/// Which hosts play a method's further roles: those that the operator chose, else the first other
/// one that is there.
pub(super) fn roles(
    method: &Method,
    host: &str,
    hosts: &Hosts,
    changed: &Changed,
) -> BTreeMap<String, String> {
    let further = method.roles.iter().skip(1).filter(|role| *role != "here");
    let other = hosts.keys().find(|name| *name != host);
    further
        .filter_map(|role| {
            let key = (host.to_owned(), method.name.clone(), setting_of(role));
            let chosen = changed.get(&key).filter(|name| hosts.contains_key(*name));
            Some((role.clone(), chosen.or(other)?.clone()))
        })
        .collect()
}

async fn one(
    catalogue: &Catalogue,
    method: &Method,
    host: &str,
    hosts: &Hosts,
    infos: &BTreeMap<String, HostInfo>,
    changed: &Changed,
) -> MethodOffer {
    let mut offer = MethodOffer {
        name: method.name.clone(),
        title: method.title.clone(),
        family: method.family.clone(),
        host: host.to_owned(),
        subject: format!("a {} of its own", method.subject),
        runnable: Ok(()),
        preview: Vec::new(),
        warnings: Vec::new(),
        room: Vec::new(),
        named: Vec::new(),
        settings: settings(method, host, changed),
    };
    let mut request = Request::each(&[host.to_owned()], std::slice::from_ref(&method.name));
    request.sets = sets(changed, &request.picks);
    request.roles = roles(method, host, hosts, changed);
    let further = method.roles.iter().skip(1).filter(|role| *role != "here");
    for role in further {
        let Some(chosen) = request.roles.get(role) else {
            offer.runnable = Err(format!(
                "it needs another host as its {role}: name two when you start comeback"
            ));
            return offer;
        };
        offer.subject = format!("{}, {role} {chosen}", offer.subject);
        offer.settings.push(SettingOffer {
            name: setting_of(role),
            value: chosen.clone(),
            help: format!("the host that is its {role}"),
            kind: SettingKind::Choice(hosts.keys().cloned().collect()),
            problem: None,
        });
    }
    let bound = match bind(catalogue, &request, infos) {
        Ok(mut bounds) if !bounds.is_empty() => bounds.remove(0),
        Ok(_) => return offer,
        Err(why) => {
            offer.runnable = Err(why.to_string());
            return offer;
        }
    };
    match examine(hosts, &bound, &[]).await {
        Ok(check) => found(&mut offer, &bound, &check),
        Err(why) => offer.runnable = Err(why.to_string()),
    }
    match preview(&bound) {
        Ok(steps) => {
            offer.preview = steps
                .into_iter()
                .map(|step| PreviewLine {
                    phase: step.phase,
                    name: step.name,
                    command: step.command,
                    destroys: step.destroys.map(|destroys| destroys.what),
                })
                .collect();
        }
        Err(why) => offer.runnable = Err(why.to_string()),
    }
    offer
}

fn found(offer: &mut MethodOffer, bound: &Bound, check: &Check) {
    if let Some(why) = check.refusal() {
        offer.runnable = Err(why.to_owned());
    }
    offer.warnings = check
        .findings
        .iter()
        .filter(|finding| finding.gravity != Gravity::Refused)
        .map(|finding| finding.text.clone())
        .collect();
    if let Some(needs) = check.room {
        offer.room.push(Room {
            at: bound.sandbox.clone(),
            needs,
            free: check.free,
        });
    }
}

fn settings(method: &Method, host: &str, changed: &Changed) -> Vec<SettingOffer> {
    method
        .settings
        .iter()
        .map(|(name, setting)| {
            let key = (host.to_owned(), method.name.clone(), name.clone());
            let typed = changed.get(&key);
            SettingOffer {
                name: name.clone(),
                value: typed
                    .cloned()
                    .unwrap_or_else(|| setting.default.to_string()),
                help: setting.help.clone(),
                kind: kind(&setting.kind),
                problem: typed.and_then(|text| setting.kind.parse(text).err()),
            }
        })
        .collect()
}

fn kind(kind: &Kind) -> SettingKind {
    match kind {
        Kind::Text | Kind::List => SettingKind::Text,
        Kind::Number => SettingKind::Number,
        Kind::Bytes => SettingKind::Bytes,
        Kind::Duration => SettingKind::Duration,
        Kind::Flag => SettingKind::Flag,
        Kind::Choice(all) => SettingKind::Choice(all.clone()),
    }
}
