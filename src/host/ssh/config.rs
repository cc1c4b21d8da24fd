//! Where the operator's own SSH files are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::introduce::Introductions;
use super::secrets::Secrets;
use super::stage::Stage;
use super::target::Target;
use crate::event::{Asker, Nobody};

/// Where to look for what OpenSSH keeps for an operator. The program takes
/// [`Config::from_env`]; a test brings files of its own.
#[derive(Clone)]
pub struct Config {
    /// The home folder, which `~` stands for.
    pub home: Option<PathBuf>,
    /// The configuration file; one that is not there is empty.
    pub file: Option<PathBuf>,
    /// The machine's configuration file, which comes after it.
    pub system_file: Option<PathBuf>,
    /// Known hosts, where the configuration file names none.
    pub known_hosts: Vec<PathBuf>,
    /// Known hosts of the whole machine, where the configuration file names none.
    pub global_known_hosts: Vec<PathBuf>,
    /// Private keys, where the configuration file names none; those that are not there are
    /// passed over.
    pub identities: Vec<PathBuf>,
    /// The ssh-agent's socket.
    pub agent: Option<PathBuf>,
    /// Login name, where neither the target nor the configuration file has one.
    pub user: Option<String>,
    /// Whether the old algorithms are used too, by the hosts' names: the whole target counts, as
    /// it is typed, else the name in it.
    pub legacy: BTreeMap<String, bool>,
    /// Who answers what a login asks: an unknown host key, a passphrase, a password.
    pub asker: Arc<dyn Asker>,
    /// What has been answered, for all hosts of this configuration.
    pub secrets: Arc<Secrets>,
    /// What has been answered about unknown host keys.
    pub introductions: Introductions,
    /// Who hears what is being done to reach a host.
    pub stage: Stage,
}

impl Default for Config {
    /// No files, and nobody to ask.
    fn default() -> Self {
        Self {
            home: None,
            file: None,
            system_file: None,
            known_hosts: Vec::new(),
            global_known_hosts: Vec::new(),
            identities: Vec::new(),
            agent: None,
            user: None,
            legacy: BTreeMap::new(),
            asker: Arc::new(Nobody),
            secrets: Arc::default(),
            introductions: Introductions::default(),
            stage: Stage::default(),
        }
    }
}

impl Config {
    /// As ssh has it: under `HOME`, with `SSH_AUTH_SOCK` and `USER` (or `LOGNAME`, or who this is by
    /// the password file).
    #[must_use]
    pub fn from_env() -> Self {
        let var = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let home = var("HOME").map(PathBuf::from);
        let user = var("USER").or_else(|| var("LOGNAME"));
        Self {
            agent: var("SSH_AUTH_SOCK").map(PathBuf::from),
            user: user.and_then(|user| user.into_string().ok()).or_else(login),
            system_file: Some("/etc/ssh/ssh_config".into()),
            global_known_hosts: vec![
                "/etc/ssh/ssh_known_hosts".into(),
                "/etc/ssh/ssh_known_hosts2".into(),
            ],
            ..home.as_deref().map(Self::in_home).unwrap_or_default()
        }
    }

    /// The usual files of a home folder, and nothing from the environment.
    #[must_use]
    pub fn in_home(home: &Path) -> Self {
        let ssh = home.join(".ssh");
        Self {
            home: Some(home.to_owned()),
            file: Some(ssh.join("config")),
            known_hosts: vec![ssh.join("known_hosts"), ssh.join("known_hosts2")],
            identities: ["id_ed25519", "id_ecdsa", "id_rsa"]
                .iter()
                .map(|name| ssh.join(name))
                .collect(),
            ..Self::default()
        }
    }

    /// Whether the old algorithms are used with a host.
    pub(super) fn is_legacy(&self, target: &Target) -> bool {
        let set = self.legacy.get(&target.to_string());
        let set = set.or_else(|| self.legacy.get(&target.name));
        set.copied().unwrap_or_default()
    }
}

/// The login name of this process's user.
fn login() -> Option<String> {
    let me = rustix::process::getuid().as_raw().to_string();
    let file = std::fs::read_to_string("/etc/passwd").ok()?;
    file.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == me).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_for_a_whole_target_wins_over_its_name() {
        let set = [("nas", true), ("ann@nas:22", false), ("bob@tin", true)];
        let config = Config {
            legacy: set.map(|(name, is)| (name.to_owned(), is)).into(),
            ..Config::default()
        };
        for (typed, is) in [
            ("nas", true),
            ("ann@nas", true),
            ("nas:2222", true),
            ("ann@nas:22", false),
            ("bob@tin", true),
            ("tin", false),
        ] {
            assert_eq!(config.is_legacy(&typed.parse().unwrap()), is, "{typed}");
        }
    }
}
