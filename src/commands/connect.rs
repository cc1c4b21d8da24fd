//! Hosts, connected and probed.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::engine::{Connected, GONE_AFTER, Hosts, Missing};
use crate::event::Facts;
use crate::host::facts::{self, Wanted};
use crate::host::ssh::Stage;
use crate::host::{Become, Host, HostError, LocalHost, SharedHost, ssh};
use crate::method::{Catalogue, HostInfo};

use super::Context;

/// A host by its name, `local` or one over SSH, and what there is to know of the connection.
async fn reach(
    context: &Context,
    name: &str,
    stage: &Stage,
) -> Result<(SharedHost, Vec<String>), HostError> {
    if name == "local" {
        return Ok((Arc::new(LocalHost::new()), Vec::new()));
    }
    let config = ssh::Config {
        stage: stage.clone(),
        ..context.ssh.clone()
    };
    let host = ssh::connect(name, &config).await?;
    let remarks = host.remarks();
    Ok((host, remarks))
}

/// Connects a host, and asks what it is: programs that methods need, where paths stand. What is
/// being done is told as it happens.
pub(super) async fn probe(
    context: &Context,
    name: &str,
    tools: &[String],
    paths: &[String],
    stage: &Stage,
) -> Result<Connected, HostError> {
    let (mut host, connection) = reach(context, name, stage).await?;
    let configured = context.config.host(name);
    if let Some(command) = &configured.r#become {
        stage.tell("becoming another user");
        host = Become::through(host, command).await?;
    }
    stage.tell("probing");
    let facts = look(context, name, host.as_ref(), tools, paths).await?;
    let info = HostInfo {
        name: name.to_owned(),
        address: host.address(),
        login: host.login(),
        facts: Facts {
            connection,
            ..facts
        },
    };
    Ok(Connected {
        info,
        host,
        gone_after: configured.gone_after.unwrap_or(GONE_AFTER),
    })
}

async fn look(
    context: &Context,
    name: &str,
    host: &dyn Host,
    tools: &[String],
    paths: &[String],
) -> Result<Facts, HostError> {
    let configured = context.config.host(name);
    let wanted = Wanted {
        tools,
        paths,
        state: configured.state.as_deref(),
    };
    let facts = facts::probe(host, &wanted).await?;
    Ok(Facts {
        legacy: configured.legacy,
        ..facts
    })
}

/// The same host, once it is known where a path stands there, too; what is no path stands nowhere.
///
/// # Errors
/// Where the host is lost.
pub(super) async fn with_place(
    context: &Context,
    catalogue: &Catalogue,
    known: &Connected,
    path: &str,
) -> Result<Connected, HostError> {
    let mut known = known.clone();
    let facts = &known.info.facts;
    if !path.starts_with('/') || facts.paths.contains_key(path) {
        return Ok(known);
    }
    let paths: Vec<String> = facts
        .paths
        .keys()
        .cloned()
        .chain([path.to_owned()])
        .collect();
    let tools = tools(catalogue);
    let name = known.info.name.clone();
    let facts = look(context, &name, known.host.as_ref(), &tools, &paths).await?;
    known.info.facts = Facts {
        connection: std::mem::take(&mut known.info.facts.connection),
        ..facts
    };
    Ok(known)
}

/// Connects all of them at once: those that can be used, and why the others cannot.
pub(super) async fn all(
    context: &Arc<Context>,
    names: BTreeSet<String>,
    tools: &[String],
    paths: &[String],
) -> (Hosts, Missing) {
    let mut joins = JoinSet::new();
    for name in names.clone() {
        let (context, tools, paths) = (Arc::clone(context), tools.to_vec(), paths.to_vec());
        joins.spawn(async move {
            let connected = probe(&context, &name, &tools, &paths, &Stage::default()).await;
            (name, connected)
        });
    }
    let (mut hosts, mut missing) = (Hosts::new(), Missing::new());
    while let Some(joined) = joins.join_next().await {
        match joined {
            Ok((name, Ok(known))) => {
                hosts.insert(name, known);
            }
            Ok((name, Err(why))) => {
                missing.insert(name, why);
            }
            Err(_broken) => {}
        }
    }
    for host in names {
        if !hosts.contains_key(&host) && !missing.contains_key(&host) {
            let why = "comeback itself broke off while it was connected".to_owned();
            missing.insert(host.clone(), HostError::Refused { host, why });
        }
    }
    (hosts, missing)
}

/// All programs that any method needs.
pub(super) fn tools(catalogue: &Catalogue) -> Vec<String> {
    let all: BTreeSet<String> = catalogue
        .all()
        .flat_map(|(method, _)| method.needs.iter().map(|need| need.tool.clone()))
        .filter(|tool| tool != "root")
        .collect();
    all.into_iter().collect()
}
