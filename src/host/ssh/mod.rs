//! A host over SSH, by russh.
//!
//! What is trusted is decided strictly: an unknown host key is asked about, and refused where
//! nobody is there; a changed one is refused; each with what to do about it.
//!
//! russh tells its packets to the `log` crate at debug level, signatures and prompts among them:
//! whoever installs a logger leaves `russh` at info.

mod agreed;
mod algorithms;
mod certificate;
mod channel;
#[cfg(test)]
mod compared;
mod config;
mod connection;
mod expand;
mod fields;
mod gate;
mod handshake;
mod host_key;
mod host_names;
mod introduce;
mod jump;
mod keys;
mod known_hosts;
mod learn;
mod lines;
mod link;
mod login;
mod methods;
mod notes;
mod offering;
mod offers;
mod patience;
mod policy;
mod pool;
mod preamble;
mod prompts;
mod publickey;
mod questions;
mod quote;
mod refusal;
mod route;
mod secrets;
mod ssh_config;
mod ssh_lines;
mod stage;
mod target;
pub(super) mod text;
mod transport;
mod trust;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::sh::with_environment;
use super::{Channel, Host, HostError};
use channel::NotStarted;
use connection::NoChannel;
use pool::{Lease, Pool};
use route::Route;

pub use agreed::Agreed;
pub use config::Config;
pub use introduce::Introductions;
pub use secrets::Secrets;
pub use stage::Stage;
pub use target::{Target, TargetError};

/// How long a host may refuse a channel, or lose connections, before a command is given up.
const CHANNEL: Duration = Duration::from_secs(10);
/// The same while other commands have its channels. Not for ever: some run as long as the
/// session.
const BUSY: Duration = Duration::from_mins(1);
/// The first pause before it is asked again; each is twice the one before.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest one.
const PAUSE_LONGEST: Duration = Duration::from_secs(1);

/// A host over SSH. It connects by itself when a command needs it.
pub struct SshHost {
    named: String,
    pool: Pool,
}

/// Looks a target up, connects to it and logs in.
///
/// # Errors
/// [`HostError::Refused`] where the target or the ssh configuration is wrong or holds what is
/// not followed yet; else which phase of connecting failed, and why.
pub async fn connect(target: &str, config: &Config) -> Result<Arc<SshHost>, HostError> {
    let refused = |why: String| HostError::Refused {
        host: text::plain(target),
        why,
    };
    let parsed: Target = target
        .parse()
        .map_err(|error: TargetError| refused(error.to_string()))?;
    let config = config.clone();
    let route = tokio::task::spawn_blocking(move || Route::resolve(&parsed, &config))
        .await
        .map_err(|panic| refused(panic.to_string()))?
        .map_err(refused)?;
    let pool = Pool::new(route);
    pool.lease().await?.done();
    Ok(Arc::new(SshHost {
        named: target.to_owned(),
        pool,
    }))
}

impl Host for SshHost {
    fn name(&self) -> &str {
        &self.named
    }

    fn address(&self) -> Option<String> {
        Some(self.pool.route().host.clone())
    }

    fn login(&self) -> Option<(String, u16)> {
        let route = self.pool.route();
        Some((route.user.clone(), route.port))
    }

    fn exec<'a>(&'a self, script: &'a str) -> BoxFuture<'a, Result<Channel, HostError>> {
        self.run(script, || self.pool.lease()).boxed()
    }

    fn exec_beside<'a>(&'a self, script: &'a str) -> BoxFuture<'a, Result<Channel, HostError>> {
        self.run(script, || self.pool.lease_beside()).boxed()
    }
}

impl SshHost {
    /// What its newest connection has agreed on.
    #[must_use]
    pub fn agreed(&self) -> Option<Agreed> {
        self.pool.route().notes.agreed()
    }

    /// What the operator should know of how it was connected to, a sentence each: a host key
    /// that was taken without a question or could not be kept, algorithms that are weak; those of
    /// the jump hosts before it come first, with their names.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let route = self.pool.route();
        let named = |jump: &Route| {
            let name = jump.shown.clone();
            let remarks = jump.remarks().into_iter();
            remarks.map(move |remark| format!("jump host {name}: {remark}"))
        };
        let mut remarks: Vec<String> = route.jumps.iter().flat_map(named).collect();
        remarks.extend(route.remarks());
        remarks
    }

    async fn run<L>(&self, script: &str, lease: impl Fn() -> L) -> Result<Channel, HostError>
    where
        L: Future<Output = Result<Lease, HostError>>,
    {
        let script = with_environment(script);
        let mut asked = None;
        let mut pause = PAUSE;
        let mut lost = false;
        let (channel, lease) = loop {
            let lease = lease().await?;
            // The wait for other commands does not count.
            let asked = *asked.get_or_insert_with(Instant::now);
            match lease.connection().channel().await {
                Ok(channel) => break (channel, lease),
                Err(NoChannel::Full(reason)) => {
                    let limit = if lease.full() { BUSY } else { CHANNEL };
                    if asked.elapsed() + pause > limit {
                        return Err(self.down(format!(
                            "the host opened no channel within {} s ({reason}); is `MaxSessions` \
                             very low there, or are many commands left behind?",
                            limit.as_secs()
                        )));
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_LONGEST);
                }
                // It was lost while nobody looked. Nothing has been sent: the command can go
                // to another one.
                Err(NoChannel::Lost(_)) if !lost => {
                    lost = true;
                    lease.lost();
                }
                Err(NoChannel::Lost(why)) => {
                    lease.lost();
                    return Err(self.down(why));
                }
            }
        };
        let long = lease.connection().long_commands;
        let asked = quote::asked(&script, long).map_err(|why| HostError::Refused {
            host: self.named.clone(),
            why: why.to_owned(),
        })?;
        channel::start(channel, asked, lease)
            .await
            .map_err(|error| match error {
                NotStarted::Refused(why) => HostError::Refused {
                    host: self.named.clone(),
                    why: format!(
                        "exec: the host lets this user in, but runs no commands: {why}; give the user a \
                         login shell there and no forced command (`command=` in authorized_keys, \
                         `ForceCommand`), or name another user"
                    ),
                },
                NotStarted::Lost(why) => self.down(why),
            })
    }

    fn down(&self, why: String) -> HostError {
        HostError::Down {
            host: self.named.clone(),
            phase: "exec",
            why,
        }
    }
}
