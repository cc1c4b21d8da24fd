//! Hosts, connected and probed.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::engine::{Connected, Hosts};
use crate::host::facts::{self, Wanted};
use crate::host::{HostError, LocalHost, SharedHost, ssh};
use crate::method::{Catalogue, HostInfo};

use super::Context;

/// A host by its name: `local`, or one over SSH.
pub(super) async fn reach(name: &str) -> Result<SharedHost, HostError> {
    if name == "local" {
        return Ok(Arc::new(LocalHost::new()));
    }
    let config = ssh::Config::from_env();
    let host: SharedHost = ssh::connect(name, &config).await?;
    Ok(host)
}

/// Connects a host, and asks what it is: programs that methods need, where paths stand.
pub(super) async fn probe(
    context: &Context,
    name: &str,
    tools: &[String],
    paths: &[String],
) -> Result<Connected, HostError> {
    let host = reach(name).await?;
    let configured = context.config.host(name).state;
    let wanted = Wanted {
        tools,
        paths,
        state: configured.as_deref(),
    };
    let known = facts::probe(host.as_ref(), &wanted).await?;
    let info = HostInfo {
        name: name.to_owned(),
        address: host.address(),
        login: host.login(),
        facts: known,
    };
    Ok(Connected { info, host })
}

/// Connects all of them at once.
///
/// # Errors
/// The first that cannot be used.
pub(super) async fn all(
    context: &Arc<Context>,
    names: BTreeSet<String>,
    tools: &[String],
    paths: &[String],
) -> Result<Hosts, HostError> {
    let mut joins = JoinSet::new();
    for name in names {
        let (context, tools, paths) = (Arc::clone(context), tools.to_vec(), paths.to_vec());
        joins.spawn(async move {
            let connected = probe(&context, &name, &tools, &paths).await;
            (name, connected)
        });
    }
    let mut hosts = Hosts::new();
    while let Some(joined) = joins.join_next().await {
        if let Ok((name, connected)) = joined {
            hosts.insert(name, connected?);
        }
    }
    Ok(hosts)
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
