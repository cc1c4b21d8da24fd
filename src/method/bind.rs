//! Methods bound to their subjects, their roles to hosts, their settings to values.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::bound::Bound;
use super::setting::effective;
use super::template::Templates;
use super::{Catalogue, HostInfo, Method, MethodError, Own, Pick, Request};
use crate::event::{Binding, BindingId, Subject};

/// Binds every method to every host; what needs one of [`Request::without`] is left out.
///
/// # Errors
/// Where a method is unknown, or a role, subject or setting does not fit it.
pub fn bind(
    catalogue: &Catalogue,
    request: &Request,
    infos: &BTreeMap<String, HostInfo>,
) -> Result<Vec<Bound>, MethodError> {
    let mut all = Vec::new();
    check_sets(catalogue, request)?;
    check_roles(catalogue, request)?;
    check_subjects(request)?;
    for pick in &request.picks {
        let method = catalogue.get(&pick.method)?;
        if !request
            .hosts_of(&method, pick)
            .is_disjoint(&request.without)
        {
            continue;
        }
        let id = format!("b{}", all.len() + 1);
        all.push(bind_one(&method, id.into(), pick, request, infos)?);
    }
    Ok(all)
}

/// Which of these run at once, as the request has it; a pair of which one is left out does not.
#[must_use]
pub fn pairs(request: &Request, bounds: &[Bound]) -> Vec<[BindingId; 2]> {
    let id = |pick: &Pick| {
        let is_it = |bound: &&Bound| {
            let host = bound.method.roles.first();
            let host = host.and_then(|role| request.host_of(0, role, pick));
            let first = bound.method.roles.first();
            bound.method.name == pick.method && first.map(|role| bound.host(role)) == host
        };
        Some(bounds.iter().find(is_it)?.binding.id.clone())
    };
    let both = |[one, other]: &[Pick; 2]| Some([id(one)?, id(other)?]);
    request.together.iter().filter_map(both).collect()
}

// A setting that no method of the request has is a slip of the pen.
fn check_sets(catalogue: &Catalogue, request: &Request) -> Result<(), MethodError> {
    for set in &request.sets {
        if let Some(name) = set.method.as_ref()
            && !request.methods().contains(name.as_str())
        {
            return Err(MethodError::Unfit {
                method: name.clone(),
                why: format!(
                    "the setting {:?} is set, but this method does not run",
                    set.key
                ),
            });
        }
        let names = set
            .method
            .as_deref()
            .map_or_else(|| request.methods(), |name| [name].into());
        let methods: Vec<Arc<Method>> = names
            .iter()
            .map(|name| catalogue.get(name))
            .collect::<Result<_, _>>()?;
        if !methods
            .iter()
            .any(|method| method.settings.contains_key(&set.key))
        {
            let known: BTreeSet<_> = methods
                .iter()
                .flat_map(|method| method.settings.keys())
                .map(String::as_str)
                .collect();
            return Err(MethodError::Unfit {
                method: names.into_iter().collect::<Vec<_>>().join(", "),
                why: format!(
                    "no setting is called {:?}; there are: {}",
                    set.key,
                    known.into_iter().collect::<Vec<_>>().join(", ")
                ),
            });
        }
    }
    Ok(())
}

fn unfit_all(request: &Request, why: String) -> MethodError {
    let names: Vec<_> = request.methods().into_iter().collect();
    MethodError::Unfit {
        method: names.join(", "),
        why,
    }
}

// So is a role.
fn check_roles(catalogue: &Catalogue, request: &Request) -> Result<(), MethodError> {
    let mut known = BTreeSet::new();
    for name in request.methods() {
        known.extend(catalogue.get(name)?.roles.iter().cloned());
    }
    match request.roles.keys().find(|role| !known.contains(*role)) {
        None => Ok(()),
        Some(role) => Err(unfit_all(
            request,
            format!(
                "no role is called {role:?}; there are: {}",
                known.into_iter().collect::<Vec<_>>().join(", ")
            ),
        )),
    }
}

// A subject on a host where nothing runs would be left out in silence.
fn check_subjects(request: &Request) -> Result<(), MethodError> {
    let hosts = request.hosts();
    for spec in &request.subjects {
        if let Some(host) = spec.host.as_ref().filter(|host| !hosts.contains(*host)) {
            return Err(unfit_all(
                request,
                format!(
                    "the subject {} is on {host:?}, where nothing runs; say --host {host}",
                    spec.id
                ),
            ));
        }
    }
    Ok(())
}

fn bind_one(
    method: &Arc<Method>,
    id: BindingId,
    pick: &Pick,
    request: &Request,
    infos: &BTreeMap<String, HostInfo>,
) -> Result<Bound, MethodError> {
    let unfit = |why: String| MethodError::Unfit {
        method: method.name.clone(),
        why,
    };
    let host = pick.host.as_str();
    let mut hosts = BTreeMap::new();
    for (at, role) in method.roles.iter().enumerate() {
        let name = request
            .host_of(at, role, pick)
            .or_else(|| method.optional.contains(role).then_some(host))
            .ok_or_else(|| unfit(format!("who is {role}? say --role {role}=HOST")))?;
        let info = infos
            .get(name)
            .ok_or_else(|| unfit(format!("role {role}: the host {name:?} is not connected")))?;
        hosts.insert(role.clone(), info.clone());
    }
    let set: BTreeMap<String, String> = request
        .sets
        .iter()
        .filter(|set| {
            set.host.as_ref().is_none_or(|on| on == host)
                && set.method.as_ref().is_none_or(|of| *of == method.name)
                && method.settings.contains_key(&set.key)
        })
        .map(|set| (set.key.clone(), set.value.clone()))
        .collect();
    let settings = effective(&method.settings, &set).map_err(unfit)?;
    let subject = subject(method, host, request).map_err(unfit)?;
    let binding = Binding {
        id,
        method: method.name.clone(),
        title: method.title.clone(),
        family: method.family.clone(),
        roles: hosts
            .iter()
            .map(|(role, info)| (role.clone(), info.name.clone()))
            .collect(),
        subject,
        settings: settings
            .iter()
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect(),
        ..Binding::default()
    };
    let sandbox = request
        .sandbox
        .clone()
        .unwrap_or_else(|| "/var/tmp".to_owned());
    let mut bound = Bound {
        method: Arc::clone(method),
        binding,
        settings,
        hosts,
        sandbox,
        steps: Vec::new(),
        runs: 1,
        templates: Templates::default(),
    };
    bound.steps = bound.expand()?;
    bound.binding.labels = bound.labels()?;
    Ok(bound)
}

fn subject(method: &Method, host: &str, request: &Request) -> Result<Subject, String> {
    let kind = method.subject;
    let mut here = request
        .subjects
        .iter()
        .filter(|spec| spec.host.as_ref().is_none_or(|named| named == host));
    let own = || Subject {
        kind: kind.to_string(),
        own: true,
        ..Subject::default()
    };
    let Some(first) = here.next() else {
        return match method.own {
            Own::Never => Err(format!("it needs a subject; say --subject {kind}:ID")),
            Own::May | Own::Always => Ok(own()),
        };
    };
    if method.own == Own::Always {
        return Err(format!(
            "it makes its own subject and takes no other; {}:{} was named",
            first.kind, first.id
        ));
    }
    if let Some(other) = here.next() {
        return Err(format!(
            "one subject at a time; {}:{} was named as well",
            other.kind, other.id
        ));
    }
    if first.kind != kind {
        return Err(format!(
            "its subject is a {kind}, not a {} ({})",
            first.kind, first.id
        ));
    }
    first.is_well_formed()?;
    Ok(Subject {
        kind: kind.to_string(),
        id: first.id.clone(),
        own: false,
        marked: false,
    })
}
