//! A target, with all that the ssh configuration says about reaching it.

use std::path::PathBuf;
use std::time::Duration;

use ssh2_config::HostParams;

use super::algorithms::Wishes;
use super::config::Config;
use super::expand::{self, Tokens};
use super::fields::Fields;
use super::host_names::Names;
use super::introduce::Introductions;
use super::jump;
use super::methods::Methods;
use super::notes::Notes;
use super::policy::Policy;
use super::prompts::Operator;
use super::ssh_config::{Asked, Settings};
use super::stage::Stage;
use super::target::Target;
use super::text::plain;

/// The longest wait for a TCP connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The longest `ConnectTimeout` that is followed.
const CONNECT_LONGEST: Duration = Duration::from_mins(2);

/// How a host is reached and who logs in with what.
#[derive(Debug, Clone)]
pub(super) struct Route {
    /// As the operator wrote it, for messages.
    pub(super) shown: String,
    /// The name alone.
    pub(super) named: String,
    /// The real name or address.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    /// The hosts through which it is reached, in order; they have none of their own.
    pub(super) jumps: Vec<Route>,
    pub(super) family: Family,
    /// Limit of the TCP connection.
    pub(super) connect: Duration,
    /// Under which names its key is known.
    pub(super) names: Names,
    pub(super) known_hosts: Vec<PathBuf>,
    pub(super) global_known_hosts: Vec<PathBuf>,
    /// The ssh-agent's socket.
    pub(super) agent: Option<PathBuf>,
    pub(super) identities: Vec<PathBuf>,
    /// The key files were named in the configuration.
    pub(super) explicit: bool,
    /// No other keys than `identities`, even if the agent has some.
    pub(super) identities_only: bool,
    /// Certificates for keys, where the configuration names some.
    pub(super) certificates: Vec<PathBuf>,
    /// Ways to log in.
    pub(super) methods: Methods,
    /// How host keys are judged and kept.
    pub(super) policy: Policy,
    /// Which algorithms it is offered.
    pub(super) wishes: Wishes,
    /// Who is asked, and what they have said.
    pub(super) operator: Operator,
    /// What they have said of keys that are not known.
    pub(super) introductions: Introductions,
    /// What there is to tell of its connections.
    pub(super) notes: Notes,
    /// Who hears what is being done to reach it.
    pub(super) stage: Stage,
    /// Keywords about the login that are set and not followed: told if it fails.
    pub(super) login_notes: Vec<&'static str>,
}

/// `AddressFamily`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Any,
    V4,
    V6,
}

/// Keywords that change where a connection goes, or whom it trusts, each with the value that
/// means nothing. They are refused: passing over them would reach the wrong machine, or trust
/// a key that the operator does not.
const REFUSED: &[(&str, &str)] = &[
    ("ProxyCommand", "none"),
    ("CanonicalizeHostname", "no"),
    ("KnownHostsCommand", "none"),
    ("RefuseConnection", ""),
];

impl Route {
    /// Looks a target up, and all hosts on the way to it. Reads files: not for an async task.
    ///
    /// # Errors
    /// What is wrong with the configuration, or not followed yet, by name.
    pub(super) fn resolve(target: &Target, config: &Config) -> Result<Self, String> {
        jump::resolve(target, config)
    }

    /// Looks a target up, and the names of the jump hosts before it.
    ///
    /// # Errors
    /// What is wrong with the configuration, or not followed yet, by name.
    pub(super) fn alone(target: &Target, config: &Config) -> Result<(Self, Vec<Target>), String> {
        let settings = Settings::read(config, &target.name)?;
        let (params, fields) = (Some(&settings.params), &settings.fields);

        let host = match params.and_then(|params| params.host_name.as_deref()) {
            Some(text) => expand::host_name(text, &target.name)
                .map_err(|why| format!("HostName in the ssh configuration: {why}"))?,
            None => target.name.clone(),
        }
        .to_lowercase();
        let user = target
            .user
            .clone()
            .or_else(|| params.and_then(|params| params.user.clone()))
            .or_else(|| config.user.clone())
            .ok_or("no login name: write user@host, or set User in the ssh configuration")?;
        settings.check_matches(Asked {
            named: &target.name,
            host: &host,
            user: &user,
            local_user: config.user.as_deref(),
        })?;
        refuse(params, fields)?;

        let port = target.port.or(params.and_then(|params| params.port));
        let port = port.unwrap_or(22);
        let names = Names::new(&host, port, fields.first("HostKeyAlias"));
        let tokens = Tokens {
            home: config.home.as_deref(),
            host: &host,
            key: &names.exact,
            named: &target.name,
            port,
            remote_user: &user,
            local_user: config.user.as_deref(),
        };
        let files = |keyword, otherwise: &[PathBuf]| match fields.all(keyword) {
            None => Ok(otherwise.to_vec()),
            Some([only]) if only.eq_ignore_ascii_case("none") => Ok(Vec::new()),
            Some(paths) => paths
                .iter()
                .map(|path| tokens.path(path))
                .collect::<Result<_, _>>()
                .map_err(|why| format!("{keyword} in the ssh configuration: {why}")),
        };
        let known_hosts = files("UserKnownHostsFile", &config.known_hosts)?;
        let global_known_hosts = files("GlobalKnownHostsFile", &config.global_known_hosts)?;
        let given = params.and_then(|params| params.identity_file.as_deref());
        let identities = identities(given, &tokens)?;
        let agent = agent(fields.first("IdentityAgent"), config, &tokens)?;
        let given = params.and_then(|params| params.proxy_jump.as_deref());
        let jumps = jump::parse(given, &tokens)?;
        if !jumps.is_empty() && fields.all("ProxyCommand").is_some() {
            return Err(
                "both `ProxyCommand none` and `ProxyJump` in the ssh configuration concern this \
                 host; write `ProxyJump none` in place of the first, or leave it out"
                    .to_owned(),
            );
        }
        let route = Self {
            shown: target.to_string(),
            named: target.name.clone(),
            family: family(fields.first("AddressFamily"))?,
            connect: params
                .and_then(|params| params.connect_timeout)
                .filter(|limit| !limit.is_zero())
                .map_or(CONNECT, |limit| limit.min(CONNECT_LONGEST)),
            known_hosts,
            global_known_hosts,
            agent,
            explicit: identities.is_some(),
            identities: identities.unwrap_or_else(|| config.identities.clone()),
            identities_only: fields.flag("IdentitiesOnly")?,
            certificates: files("CertificateFile", &[])?,
            methods: Methods::read(fields)?,
            policy: Policy::new(fields, &tokens)?,
            wishes: Wishes::new(config.is_legacy(target), fields),
            operator: Operator::new(config),
            introductions: config.introductions.clone(),
            notes: Notes::default(),
            stage: config.stage.clone(),
            login_notes: login_notes(fields),
            jumps: Vec::new(),
            names,
            host,
            port,
            user,
        };
        Ok((route, jumps))
    }

    /// What the operator should know of this host's connections, a sentence each.
    pub(super) fn remarks(&self) -> Vec<String> {
        let mut remarks = self.notes.remarks();
        if let Some(agreed) = self.notes.agreed().filter(|_| self.wishes.legacy) {
            remarks.push(if agreed.old.is_empty() {
                "legacy = true is not needed: nothing old was agreed on".to_owned()
            } else {
                format!("legacy = true: weak {}", agreed.old.join(", "))
            });
        }
        remarks
    }

    /// The command line with which the operator reaches the same host.
    pub(super) fn ssh(&self) -> String {
        let port = match self.port {
            22 => String::new(),
            port => format!("-p {port} "),
        };
        format!("ssh {port}{}@{}", self.user, self.named)
    }
}

/// What would be missed, by name.
fn refuse(params: Option<&HostParams>, fields: &Fields) -> Result<(), String> {
    let not_yet = |keyword: &str, value: &str| {
        Err(format!(
            "`{keyword} {}` in the ssh configuration is not followed yet",
            plain(value)
        ))
    };
    for (keyword, nothing) in REFUSED {
        if let Some(arguments) = fields.all(keyword)
            && !arguments
                .first()
                .is_some_and(|first| first.eq_ignore_ascii_case(nothing))
        {
            return not_yet(keyword, &arguments.join(" "));
        }
    }
    let Some(params) = params else {
        return Ok(());
    };
    if let Some(address) = &params.bind_address {
        return not_yet("BindAddress", address);
    }
    if let Some(interface) = &params.bind_interface {
        return not_yet("BindInterface", interface);
    }
    Ok(())
}

/// The key files that are named; none where `IdentityFile none` says so.
fn identities(
    given: Option<&[PathBuf]>,
    tokens: &Tokens<'_>,
) -> Result<Option<Vec<PathBuf>>, String> {
    given
        .map(|paths| {
            paths
                .iter()
                .filter(|path| path.as_os_str() != "none")
                .map(|path| tokens.path(&path.to_string_lossy()))
                .collect::<Result<_, _>>()
                .map_err(|why| format!("IdentityFile in the ssh configuration: {why}"))
        })
        .transpose()
}

/// `IdentityAgent`: `none`, `SSH_AUTH_SOCK`, `$VARIABLE` or a path.
fn agent(
    given: Option<&str>,
    config: &Config,
    tokens: &Tokens<'_>,
) -> Result<Option<PathBuf>, String> {
    match given {
        None | Some("SSH_AUTH_SOCK") => Ok(config.agent.clone()),
        Some("none") => Ok(None),
        Some(text) => {
            let text = match text.strip_prefix('$') {
                Some(name) if !name.starts_with('{') => format!("${{{name}}}"),
                _ => text.to_owned(),
            };
            tokens
                .path(&text)
                .map(Some)
                .map_err(|why| format!("IdentityAgent in the ssh configuration: {why}"))
        }
    }
}

fn family(given: Option<&str>) -> Result<Family, String> {
    match given.map(str::to_lowercase).as_deref() {
        None | Some("any") => Ok(Family::Any),
        Some("inet") => Ok(Family::V4),
        Some("inet6") => Ok(Family::V6),
        Some(other) => Err(format!(
            "AddressFamily in the ssh configuration is any, inet or inet6, not `{}`",
            plain(other)
        )),
    }
}

fn login_notes(fields: &Fields) -> Vec<&'static str> {
    ["PKCS11Provider", "SecurityKeyProvider"]
        .into_iter()
        .filter(|keyword| fields.all(keyword).is_some())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Resolves a target with this text as `~/.ssh/config`; paths are shown under `~`.
    fn resolve(text: &str, target: &str) -> Result<Route, String> {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".ssh")).unwrap();
        std::fs::write(home.path().join(".ssh/config"), text).unwrap();
        let config = Config {
            agent: Some("/run/agent".into()),
            user: Some("ann".into()),
            ..Config::in_home(home.path())
        };
        let short = |paths: Vec<PathBuf>| {
            paths
                .into_iter()
                .map(|path| match path.strip_prefix(home.path()) {
                    Ok(rest) => PathBuf::from("~").join(rest),
                    Err(_) => path,
                })
                .collect()
        };
        Route::resolve(&target.parse().unwrap(), &config).map(|route| Route {
            known_hosts: short(route.known_hosts),
            identities: short(route.identities),
            ..route
        })
    }

    fn paths(all: &[&str]) -> Vec<PathBuf> {
        all.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn without_a_configuration_the_usual_files_and_the_local_user_are_taken() {
        let route = resolve("", "Nas").unwrap();
        assert_eq!((route.host.as_str(), route.port), ("nas", 22));
        assert_eq!(route.user, "ann");
        assert_eq!(route.names, Names::new("nas", 22, None));
        assert_eq!(
            route.known_hosts,
            paths(&["~/.ssh/known_hosts", "~/.ssh/known_hosts2"])
        );
        assert_eq!(
            route.identities,
            paths(&["~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa"])
        );
        assert!(!route.explicit && !route.identities_only && !route.wishes.legacy);
        assert_eq!(route.agent, Some("/run/agent".into()));
        assert_eq!(route.connect, Duration::from_secs(10));
        assert_eq!(route.ssh(), "ssh ann@Nas");
    }

    #[test]
    fn the_configuration_fills_in_what_the_target_does_not_say() {
        let text = "
            Host nas*
              HostName %h.lab
              Port 2222
              User root
              IdentitiesOnly yes
              IdentityFile ~/.ssh/%r_key
              UserKnownHostsFile ~/kh \"~/k h\"
              HostKeyAlias storage
              IdentityAgent none
              AddressFamily inet
              ConnectTimeout 3
              GlobalKnownHostsFile /dev/null
            Host *
              User nobody
            ";
        let route = resolve(text, "nas1").unwrap();
        assert_eq!(route.host, "nas1.lab");
        assert_eq!((route.port, route.user.as_str()), (2222, "root"));
        assert_eq!(route.names, Names::new("", 0, Some("storage")));
        assert_eq!(route.identities, paths(&["~/.ssh/root_key"]));
        assert_eq!(route.known_hosts, paths(&["~/kh", "~/k h"]));
        assert_eq!(route.global_known_hosts, paths(&["/dev/null"]));
        assert!(route.explicit && route.identities_only);
        assert_eq!(route.agent, None);
        assert_eq!(route.family, Family::V4);
        assert_eq!(route.connect, Duration::from_secs(3));

        let route = resolve(text, "bob@nas1:8022").unwrap();
        assert_eq!((route.port, route.user.as_str()), (8022, "bob"));
        assert_eq!(route.ssh(), "ssh -p 8022 bob@nas1");
        assert_eq!(resolve(text, "other").unwrap().user, "nobody");
    }

    #[test]
    fn what_is_not_followed_is_refused_by_name_where_it_concerns_the_host() {
        for setting in [
            "ProxyCommand nc %h %p",
            "CanonicalizeHostname yes",
            "KnownHostsCommand /bin/keys",
            "BindAddress 10.0.0.1",
            "BindInterface eth1",
            "RefuseConnection \"not here\"",
        ] {
            let keyword = setting.split(' ').next().unwrap();
            let text = format!("Host nas\n  {setting}\n");
            let error = resolve(&text, "nas").unwrap_err();
            assert!(error.contains(keyword), "{setting}: {error}");
            assert!(resolve(&text, "other").is_ok(), "{setting}");
        }
        let none = "Host *\nProxyJump none\nProxyCommand none\nCanonicalizeHostname no\n";
        assert!(resolve(none, "nas").is_ok());
    }

    #[test]
    fn a_match_that_may_concern_the_host_is_refused() {
        let error = resolve(
            "Match host 10.*\nUser eve\nHost nas\nHostName 10.0.0.7\n",
            "nas",
        );
        assert!(error.unwrap_err().contains("config:1: `Match host 10.*`"));
        assert!(resolve("Match user eve\nPort 1\n", "nas").is_ok());
    }

    #[test]
    fn values_that_mean_nothing_are_told() {
        for (setting, says) in [
            ("HostName %p", "HostName"),
            ("IdentitiesOnly maybe", "IdentitiesOnly"),
            ("AddressFamily ipx", "AddressFamily"),
            ("UserKnownHostsFile ~bob/kh", "UserKnownHostsFile"),
            ("IdentityFile /keys/%Q", "IdentityFile"),
            ("IdentityAgent $COMEBACK_TEST_UNSET", "IdentityAgent"),
        ] {
            let error = resolve(&format!("Host nas\n{setting}\n"), "nas").unwrap_err();
            assert!(error.contains(says), "{setting}: {error}");
        }
    }

    #[test]
    fn without_any_login_name_one_is_asked_for() {
        let target: Target = "nas".parse().unwrap();
        let error = Route::resolve(&target, &Config::default()).unwrap_err();
        assert!(error.contains("user@host"), "{error}");
    }

    #[test]
    fn what_may_explain_a_failure_is_kept_for_its_message() {
        let text = "Host nas\nCiphers 3des-cbc\nPKCS11Provider /p\n";
        let route = resolve(text, "nas").unwrap();
        assert_eq!(route.login_notes, ["PKCS11Provider"]);
    }
}
