//! Hosts, connected and probed.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::engine::{Connected, GONE_AFTER, Hosts, Missing};
use crate::host::facts::{self, Wanted};
use crate::host::{Become, HostError, LocalHost, SharedHost, ssh};
use crate::method::{Catalogue, HostInfo};

use super::Context;

/// A host by its name, `local` or one over SSH, and what there is to know of the connection.
async fn reach(context: &Context, name: &str) -> Result<(SharedHost, Vec<String>), HostError> {
    if name == "local" {
        return Ok((Arc::new(LocalHost::new()), Vec::new()));
    }
    let host = ssh::connect(name, &context.ssh).await?;
    let remarks = host.remarks();
    Ok((host, remarks))
}

/// Connects a host, and asks what it is: programs that methods need, where paths stand.
pub(super) async fn probe(
    context: &Context,
    name: &str,
    tools: &[String],
    paths: &[String],
) -> Result<Connected, HostError> {
    let (mut host, connection) = reach(context, name).await?;
    let configured = context.config.host(name);
    if let Some(command) = &configured.r#become {
        host = Become::through(host, command).await?;
    }
    let wanted = Wanted {
        tools,
        paths,
        state: configured.state.as_deref(),
    };
    let mut known = facts::probe(host.as_ref(), &wanted).await?;
    known.legacy = configured.legacy;
    known.connection = connection;
    let info = HostInfo {
        name: name.to_owned(),
        address: host.address(),
        login: host.login(),
        facts: known,
    };
    Ok(Connected {
        info,
        host,
        gone_after: configured.gone_after.unwrap_or(GONE_AFTER),
    })
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
            let connected = probe(&context, &name, &tools, &paths).await;
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
