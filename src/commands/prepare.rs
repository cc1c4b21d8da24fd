//! From what was typed to a plan that has been looked at.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cli::RunArgs;
use crate::engine::{Check, Confirmation, Hosts, examine, parse_subject, plan_of};
use crate::event::{Order, Plan};
use crate::method::{Bound, Catalogue, HostInfo, Request, Set, SubjectSpec, bind};

use super::{CommandError, Context, connect};

/// What was typed, read.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub request: Request,
    pub confirmed: Vec<Confirmation>,
    pub reps: u32,
    pub order: Order,
}

/// A plan, and what was found about it.
pub(super) struct Prepared {
    pub hosts: Hosts,
    pub bounds: Vec<Bound>,
    pub plan: Plan,
    pub checks: Vec<Check>,
}

/// Reads the arguments.
///
/// # Errors
/// What was expected.
pub(super) fn read(args: &RunArgs) -> Result<Asked, CommandError> {
    let wrong = |flag: &str, why: String| CommandError::Arguments(format!("{flag}: {why}"));
    let here = ["local".to_owned()];
    let hosts = if args.host.is_empty() {
        &here[..]
    } else {
        &args.host[..]
    };
    let mut request = Request {
        sandbox: args.sandbox.clone(),
        ..Request::each(hosts, &args.method)
    };
    for role in &args.role {
        let (name, host) = role
            .split_once('=')
            .ok_or_else(|| wrong("--role", format!("expected ROLE=HOST, not {role:?}")))?;
        request.roles.insert(name.to_owned(), host.to_owned());
    }
    for text in &args.subject {
        let (host, kind, id) = parse_subject(text).map_err(|why| wrong("--subject", why))?;
        request.subjects.push(SubjectSpec { host, kind, id });
    }
    for set in &args.set {
        request
            .sets
            .push(setting(set).map_err(|why| wrong("--set", why))?);
    }
    let mut confirmed = Vec::new();
    for text in &args.destroy {
        let expected = || {
            wrong(
                "--destroy",
                format!("expected [HOST/]KIND:ID=NAME, not {text:?}"),
            )
        };
        let (subject, name) = text.rsplit_once('=').ok_or_else(expected)?;
        let (host, kind, id) = parse_subject(subject).map_err(|why| wrong("--destroy", why))?;
        confirmed.push(Confirmation {
            host,
            kind,
            id,
            name: name.to_owned(),
        });
    }
    if let Some(sandbox) = args.sandbox.as_ref().filter(|dir| !dir.starts_with('/')) {
        return Err(wrong(
            "--sandbox",
            format!("expected an absolute path, not {sandbox:?}"),
        ));
    }
    Ok(Asked {
        request,
        confirmed,
        reps: args.reps,
        order: args.order.into(),
    })
}

/// Reads `[METHOD.]KEY=VALUE`.
pub(super) fn setting(text: &str) -> Result<Set, String> {
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| format!("expected [METHOD.]KEY=VALUE, not {text:?}"))?;
    let (method, key) = match key.rsplit_once('.') {
        Some((method, key)) => (Some(method.to_owned()), key),
        None => (None, key),
    };
    Ok(Set {
        host: None,
        method,
        key: key.to_owned(),
        value: value.to_owned(),
    })
}

/// All methods.
///
/// # Errors
/// The first file that is wrong.
pub(super) fn catalogue(context: &Context) -> Result<Catalogue, CommandError> {
    Ok(Catalogue::load(Some(&context.paths.methods))?)
}

/// Connects, binds, and looks.
///
/// # Errors
/// Where a host cannot be used, or something asked for does not fit.
pub(super) async fn prepare(
    context: &Arc<Context>,
    catalogue: &Catalogue,
    asked: &Asked,
) -> Result<Prepared, CommandError> {
    let request = &asked.request;
    if request.picks.is_empty() {
        let known: Vec<_> = catalogue
            .all()
            .map(|(method, _)| method.name.as_str())
            .collect();
        return Err(CommandError::Arguments(format!(
            "say which method: --method M, one of {}",
            known.join(", ")
        )));
    }
    for pick in &request.picks {
        catalogue.get(&pick.method)?;
    }
    let mut paths: Vec<String> = request
        .subjects
        .iter()
        .map(|spec| spec.id.clone())
        .collect();
    paths.retain(|path| path.starts_with('/'));
    paths.push(
        request
            .sandbox
            .clone()
            .unwrap_or_else(|| "/var/tmp".to_owned()),
    );
    let hosts = connect::all(context, request.hosts(), &connect::tools(catalogue), &paths).await?;
    on(catalogue, asked, hosts).await
}

/// Binds and looks, on hosts that are connected.
///
/// # Errors
/// Where something asked for does not fit.
pub(super) async fn on(
    catalogue: &Catalogue,
    asked: &Asked,
    hosts: Hosts,
) -> Result<Prepared, CommandError> {
    let infos: BTreeMap<String, HostInfo> = hosts
        .iter()
        .map(|(name, known)| (name.clone(), known.info.clone()))
        .collect();
    let mut bounds = bind(catalogue, &asked.request, &infos)?;
    let mut checks = Vec::new();
    for bound in &mut bounds {
        let check = examine(&hosts, bound, &asked.confirmed).await?;
        bound.binding.subject.marked = check.marked;
        checks.push(check);
    }
    let plan = plan_of(&bounds, asked.reps, asked.order)?;
    Ok(Prepared {
        hosts,
        bounds,
        plan,
        checks,
    })
}
