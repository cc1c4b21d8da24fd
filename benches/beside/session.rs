//! A session of comeback, as a user gets it: hosts, a method file, the engine, a sink for its events.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use comeback::engine::{
    Connected, Control, GONE_AFTER, Hosts, Missing, Sitting, plan_of, session_id,
};
use comeback::event::{End, Order, Sink, Together};
use comeback::host::facts::{self, Wanted};
use comeback::host::{LocalHost, SharedHost, ssh};
use comeback::method::{Catalogue, HostInfo, Request, bind};
use tokio::runtime::Runtime;

use crate::lab::Lab;

/// This machine, as comeback names it.
pub const HERE: &str = "local";
/// The same machine over SSH on loopback.
pub const LAB: &str = "lab";

/// Once more, as a host of its own.
pub const VAULT: &str = "vault";

/// All hosts, connected and probed, and a folder for method files and state.
pub struct Stage {
    /// What everything runs on, with as many threads as the program has.
    pub runtime: Runtime,
    hosts: Hosts,
    folder: PathBuf,
}

impl Stage {
    /// Connects.
    pub fn open(lab: &Lab) -> Result<Self> {
        let folder = lab.folder().join("comeback");
        fs::create_dir_all(folder.join("methods"))?;
        let runtime = Runtime::new()?;
        let config = ssh::Config {
            file: Some(lab.config().to_owned()),
            ..ssh::Config::from_env()
        };
        let hosts = runtime.block_on(async {
            let remote: SharedHost = ssh::connect(LAB, &config).await?;
            let other: SharedHost = ssh::connect(VAULT, &config).await?;
            let here: SharedHost = Arc::new(LocalHost::new());
            let mut hosts = Hosts::new();
            for host in [here, remote, other] {
                hosts.insert(host.name().to_owned(), probed(host, &folder).await?);
            }
            anyhow::Ok(hosts)
        })?;
        Ok(Self {
            runtime,
            hosts,
            folder,
        })
    }

    /// One of the hosts.
    pub fn host(&self, name: &str) -> Result<&SharedHost> {
        Ok(&self.hosts.get(name).context("no such host")?.host)
    }

    /// A folder for state on either host.
    pub fn state(&self) -> &Path {
        &self.folder
    }

    /// Writes a method file, and runs it once.
    pub fn conduct(&self, method: &str, host: &str, sink: Arc<dyn Sink>) -> Result<End> {
        self.conduct_between(method, host, None, sink)
    }

    /// The same with another host as its target.
    pub fn conduct_between(
        &self,
        method: &str,
        host: &str,
        target: Option<&str>,
        sink: Arc<dyn Sink>,
    ) -> Result<End> {
        let methods = self.folder.join("methods");
        fs::write(methods.join("bench.toml"), method)?;
        let catalogue = Catalogue::load(Some(&methods))?;
        let mut request = Request::each(&[host.to_owned()], &["bench".to_owned()]);
        let target = target.map(|target| ("target".to_owned(), target.to_owned()));
        request.roles.extend(target);
        let known = self
            .hosts
            .iter()
            .map(|(name, known)| (name.clone(), known.info.clone()))
            .collect();
        let bounds = bind(&catalogue, &request, &known)?;
        let plan = plan_of(&bounds, Together::default(), 1, Order::default())?;
        let mut hosts = self.hosts.clone();
        hosts.retain(|name, _| request.hosts().contains(name));
        let sitting = Sitting {
            session: session_id(),
            bounds,
            plan,
            hosts,
            missing: Missing::new(),
            consents: Vec::new(),
            confirmed: Vec::new(),
            sink,
            control: Control::default(),
            asker: std::sync::Arc::new(comeback::event::Nobody),
        };
        Ok(self.runtime.block_on(sitting.conduct()))
    }
}

async fn probed(host: SharedHost, folder: &Path) -> Result<Connected> {
    let wanted = Wanted {
        state: folder.to_str(),
        ..Wanted::default()
    };
    let facts = facts::probe(host.as_ref(), &wanted).await?;
    let info = HostInfo {
        name: host.name().to_owned(),
        address: host.address(),
        login: host.login(),
        facts,
    };
    Ok(Connected {
        info,
        host,
        gone_after: GONE_AFTER,
    })
}

/// A method file that does nothing but these commands, each a timed step.
pub fn method(commands: &[&str]) -> String {
    let head = "title = \"commands, timed\"\nfamily = \"bench\"\nhelp = \"\"\n\
         subject = \"dir\"\nown = \"may\"\nroles = [\"source\"]\nseries = \"full\"\n";
    let steps = commands.iter().enumerate().map(|(at, command)| {
        format!(
            "[[step]]\nname = \"{at}\"\nphase = \"protect\"\nclock = \"host\"\nrun = '{command}'\n"
        )
    });
    steps.fold(head.to_owned(), |text, step| text + &step)
}
