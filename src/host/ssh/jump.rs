//! `ProxyJump`: the hosts through which a host is reached, as ssh finds them.
//!
//! Each jump host is looked up in the ssh configuration like any other, with a user, port, keys
//! and known hosts of its own. The first of a list may itself have a `ProxyJump`; those behind
//! it are reached through the ones before them.

use super::config::Config;
use super::expand::Tokens;
use super::route::Route;
use super::target::{Target, TargetError};
use super::text::plain;
use crate::host::HostError;

/// More in a row are a mistake in the configuration.
const JUMPS: usize = 16;

/// Looks a target up, with all hosts on the way to it.
///
/// # Errors
/// What is wrong with the configuration; where it goes in a circle, through whom.
pub(super) fn resolve(target: &Target, config: &Config) -> Result<Route, String> {
    find(target, config, &mut Vec::new())
}

/// `path` holds the hosts that are being looked up, from the target on.
fn find(target: &Target, config: &Config, path: &mut Vec<Route>) -> Result<Route, String> {
    let (mut route, jumps) = if path.is_empty() {
        Route::alone(target, config)?
    } else {
        alone(target, config)?
    };
    let same = |other: &Route| {
        (&other.host, other.port, &other.user) == (&route.host, route.port, &route.user)
    };
    if path.iter().any(same) || path.len() > JUMPS {
        let names: Vec<&str> = path
            .iter()
            .chain([&route])
            .map(|route| route.shown.as_str())
            .collect();
        return Err(format!(
            "ProxyJump in the ssh configuration goes in a circle: {}; set `ProxyJump none` for \
             the host that is reached directly",
            names.join(" through ")
        ));
    }
    path.push(route.clone());
    for (index, jump) in jumps.iter().enumerate() {
        let mut hop = match index {
            0 => find(jump, config, path)?,
            _ => alone(jump, config)?.0,
        };
        route.jumps.append(&mut hop.jumps);
        route.jumps.push(hop);
    }
    path.pop();
    Ok(route)
}

fn alone(jump: &Target, config: &Config) -> Result<(Route, Vec<Target>), String> {
    let found = Route::alone(jump, config);
    let (mut route, jumps) = found.map_err(|why| format!("jump host {jump}: {why}"))?;
    route.stage = route.stage.through(&route.shown);
    Ok((route, jumps))
}

/// The hosts that a `ProxyJump` names, in the order in which they are passed.
///
/// # Errors
/// Which one is none.
pub(super) fn parse(given: Option<&[String]>, tokens: &Tokens<'_>) -> Result<Vec<Target>, String> {
    let given = given.unwrap_or_default();
    if matches!(given, [only] if only.eq_ignore_ascii_case("none")) {
        return Ok(Vec::new());
    }
    given
        .iter()
        .map(|text| one(text, tokens))
        .collect::<Result<_, _>>()
        .map_err(|why| format!("ProxyJump in the ssh configuration: {why}"))
}

/// `[user@]host[:port]` or `ssh://[user@]host[:port]`.
fn one(text: &str, tokens: &Tokens<'_>) -> Result<Target, String> {
    let text = tokens.jump(text.trim())?;
    let target = match text.split_once("://") {
        Some(("ssh", rest)) => rest.strip_suffix('/').unwrap_or(rest),
        Some((scheme, _)) => {
            return Err(format!(
                "a jump host is `host` or `ssh://host`, not `{}://…`",
                plain(scheme)
            ));
        }
        None => &text,
    };
    let parsed: Result<Target, TargetError> = target.parse();
    parsed.map_err(|error| error.to_string())
}

/// What went wrong at a jump host, with where it leads.
pub(super) fn on_the_way(error: HostError, to: &Route) -> HostError {
    error.and(&format!(", on the way to {}", to.shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> (tempfile::TempDir, Config) {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".ssh")).unwrap();
        std::fs::write(home.path().join(".ssh/config"), text).unwrap();
        let config = Config {
            user: Some("ann".into()),
            ..Config::in_home(home.path())
        };
        (home, config)
    }

    /// The hops as `user@host:port`, the target last.
    fn hops(text: &str, target: &str) -> Result<String, String> {
        let (_home, config) = config(text);
        let route = resolve(&target.parse().unwrap(), &config)?;
        assert!(route.jumps.iter().all(|jump| jump.jumps.is_empty()));
        let all = route.jumps.iter().chain([&route]);
        let all: Vec<_> = all
            .map(|hop| format!("{}@{}:{}", hop.user, hop.host, hop.port))
            .collect();
        Ok(all.join(" "))
    }

    #[test]
    fn each_jump_host_is_looked_up_like_any_other() {
        let text = "
            Host nas
              ProxyJump bob@inner:2200,ssh://[fe80::1]:22
              User root
            Host inner
              HostName 10.0.0.7
              ProxyJump outer
            Host outer
              HostName outer.example.org
              Port 443
              User jumper
            Host fe80*
              ProxyJump never
            ";
        assert_eq!(
            hops(text, "nas").unwrap(),
            "jumper@outer.example.org:443 bob@10.0.0.7:2200 ann@fe80::1:22 root@nas:22"
        );
        assert_eq!(hops(text, "outer").unwrap(), "jumper@outer.example.org:443");
    }

    #[test]
    fn none_is_none_and_the_first_value_counts() {
        let text = "Host gate\nProxyJump none\nHost *\nProxyJump gate\n";
        assert_eq!(hops(text, "gate").unwrap(), "ann@gate:22");
        assert_eq!(hops(text, "nas").unwrap(), "ann@gate:22 ann@nas:22");
    }

    #[test]
    fn tokens_are_put_in() {
        let text = "Host nas\nHostName nas.lab\nPort 2222\nProxyJump %r@gate-%h\n";
        assert_eq!(
            hops(text, "bob@nas").unwrap(),
            "bob@gate-nas.lab:22 bob@nas.lab:2222"
        );
    }

    #[test]
    fn a_circle_is_refused_by_name() {
        let error = hops("Host *\nProxyJump gate\n", "nas").unwrap_err();
        assert!(error.contains("nas through gate through gate"), "{error}");
        let text = "Host a\nProxyJump b\nHost b\nProxyJump c\nHost c\nProxyJump ssh://a\n";
        let error = hops(text, "a").unwrap_err();
        assert!(error.contains("a through b through c through a"), "{error}");
        let error = hops("Host *\nProxyJump x%n\n", "a").unwrap_err();
        assert!(
            error.contains("circle: a through xa through xxa"),
            "{error}"
        );
        // Another user or port is another place.
        let text = "Host a\nProxyJump bob@a\n";
        assert!(hops(text, "ann@a").is_err());
        let text = "Host a\nProxyJump b:2222\nHost b\nHostName a\n";
        assert_eq!(hops(text, "a").unwrap(), "ann@a:2222 ann@a:22");
    }

    #[test]
    fn what_is_no_host_is_named() {
        for (jump, says) in [
            ("http://gate", "http://"),
            ("gate,,other", "is empty"),
            ("gate:ssh", "port"),
            ("-oProxyCommand=x", "dash"),
            ("gate%C", "%C"),
        ] {
            let error = hops(&format!("Host nas\nProxyJump {jump}\n"), "nas").unwrap_err();
            assert!(
                error.contains("ProxyJump") && error.contains(says),
                "{error}"
            );
        }
        let text = "Host nas\nProxyJump gate\nHost gate\nProxyCommand nc %h %p\n";
        let error = hops(text, "nas").unwrap_err();
        assert!(error.contains("jump host gate: `ProxyCommand"), "{error}");
        // Which of the two counts depends on their order.
        let text = "Host nas\nProxyCommand none\nHost *\nProxyJump gate\n";
        assert!(hops(text, "nas").unwrap_err().contains("ProxyCommand none"));
    }
}
