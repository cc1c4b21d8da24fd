//! From what was typed to a plan that has been looked at.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;

use crate::cli::{Pair, RunArgs};
use crate::engine::{
    Check, Confirmation, ExamineError, Hosts, Missing, examine, examine_pairs, learn, plan_of,
};
use crate::event::{First, Order, Plan, Together};
use crate::method::{Bound, Catalogue, HostInfo, Request, Set, bind, pairs};

use super::{CommandError, Context, connect, output};

/// What was typed, read.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub request: Request,
    pub confirmed: Vec<Confirmation>,
    pub reps: u32,
    pub order: Order,
    /// What the one of two at once does that is done first.
    pub first: First,
}

/// A plan, and what was found about it.
pub(super) struct Prepared {
    pub hosts: Hosts,
    /// Hosts that were asked for and cannot be used.
    pub missing: Missing,
    /// What was asked for and needs one of them: method, host, and why.
    pub left_out: Vec<(String, String, String)>,
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
        ..Request::each(hosts, &methods(args)?)
    };
    for pair in &args.together {
        request.at_once(&pair.0);
    }
    for role in &args.role {
        let (name, host) = role
            .split_once('=')
            .ok_or_else(|| wrong("--role", format!("expected ROLE=HOST, not {role:?}")))?;
        request.roles.insert(name.to_owned(), host.to_owned());
    }
    for text in &args.subject {
        let spec = text.parse().map_err(|why| wrong("--subject", why))?;
        request.subjects.push(spec);
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
        let spec = subject.parse().map_err(|why| wrong("--destroy", why))?;
        confirmed.push(Confirmation::new(spec, name));
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
        first: first(args)?,
    })
}

/// The methods that are named, also as one of a pair: each by itself is what the pair is compared with.
fn methods(args: &RunArgs) -> Result<Vec<String>, CommandError> {
    let mut all = args.method.clone();
    for Pair([one, other]) in &args.together {
        if one == other {
            return Err(CommandError::Arguments(format!(
                "--together: expected two different methods, not {one} twice"
            )));
        }
        for method in [one, other] {
            if !all.contains(method) {
                all.push(method.clone());
            }
        }
    }
    Ok(all)
}

fn first(args: &RunArgs) -> Result<First, CommandError> {
    match (args.restart, args.together.is_empty()) {
        (false, _) => Ok(First::Waits),
        (true, false) => Ok(First::Restarts),
        (true, true) => Err(CommandError::Arguments(
            "--restart is about two methods at once: say which, --together METHOD,METHOD"
                .to_owned(),
        )),
    }
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

/// Connects, binds, and looks. Hosts that cannot be used are told, and the others go on.
///
/// # Errors
/// Where no host can be used, or something asked for does not fit.
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
    let tools = connect::tools(catalogue);
    let (hosts, missing) = connect::all(context, request.hosts(), &tools, &paths).await;
    let mut prepared = on(catalogue, asked, hosts, missing).await?;
    super::thick::tell(context, &mut prepared).await;
    let mut told: Vec<_> = prepared.missing.values().cloned().collect();
    // Where nothing is left to run, one of them is what the command ends with.
    let last = told.pop_if(|_| prepared.bounds.is_empty());
    for why in told {
        output::talk(&format!("comeback: {why}"));
    }
    match last {
        Some(why) => Err(why.into()),
        None => Ok(prepared),
    }
}

/// Binds and looks, on hosts that are connected; what needs a missing one is left out.
///
/// # Errors
/// Where something asked for does not fit.
pub(super) async fn on(
    catalogue: &Catalogue,
    asked: &Asked,
    mut hosts: Hosts,
    mut missing: Missing,
) -> Result<Prepared, CommandError> {
    let infos: BTreeMap<String, HostInfo> = hosts
        .iter()
        .map(|(name, known)| (name.clone(), known.info.clone()))
        .collect();
    let mut request = asked.request.clone();
    request.without = missing.keys().cloned().collect();
    let mut looked = Vec::new();
    let mut bounds = bind(catalogue, &request, &infos)?;
    // A pair is one turn more.
    let turns = bounds.len() + pairs(&request, &bounds).len();
    let runs = asked
        .reps
        .saturating_mul(u32::try_from(turns).unwrap_or(u32::MAX));
    for bound in &mut bounds {
        bound.runs = runs;
        // Who is lost is told by the look that follows.
        let _ = learn(&hosts, bound).await;
    }
    let looks = join_all(
        bounds
            .iter()
            .map(|bound| examine(&hosts, bound, &asked.confirmed)),
    );
    for (check, bound) in looks.await.into_iter().zip(&bounds) {
        match check {
            Ok(check) => looked.push((bound.clone(), check)),
            // Lost since it was connected.
            Err(ExamineError::Host(why)) => {
                // A method on two hosts may have lost either.
                let host = if hosts.contains_key(why.host()) {
                    why.host()
                } else {
                    bound.binding.host()
                };
                missing.entry(host.to_owned()).or_insert(why);
            }
            Err(why) => return Err(why.into()),
        }
    }
    hosts.retain(|name, _| !missing.contains_key(name));
    looked.retain(|(bound, _)| {
        let mut needs = bound.hosts.values();
        needs.all(|info| hosts.contains_key(&info.name))
    });
    let (mut bounds, mut checks) = (Vec::new(), Vec::new());
    for (mut bound, check) in looked {
        bound.binding.subject.marked = check.marked;
        bounds.push(bound);
        checks.push(check);
    }
    let together = Together {
        pairs: pairs(&request, &bounds),
        first: asked.first,
    };
    examine_pairs(&together.pairs, &bounds, &mut checks)?;
    let plan = plan_of(&bounds, together, asked.reps, asked.order)?;
    Ok(Prepared {
        left_out: left_out(catalogue, &asked.request, &missing)?,
        hosts,
        missing,
        bounds,
        plan,
        checks,
    })
}

fn left_out(
    catalogue: &Catalogue,
    request: &Request,
    missing: &Missing,
) -> Result<Vec<(String, String, String)>, CommandError> {
    let mut all = Vec::new();
    for pick in &request.picks {
        let method = catalogue.get(&pick.method)?;
        let needs = request.hosts_of(&method, pick);
        if let Some(why) = needs.iter().find_map(|host| missing.get(host)) {
            all.push((pick.method.clone(), pick.host.clone(), why.to_string()));
        }
    }
    Ok(all)
}
