//! `[user@]name[:port]`, as an operator types it.

use std::fmt;
use std::str::FromStr;

use super::text::plain;

/// A host as it was named: nothing looked up yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Login name, where one was given.
    pub user: Option<String>,
    /// Host name, address, or a name that only the ssh configuration knows.
    pub name: String,
    /// TCP port, where one was given.
    pub port: Option<u16>,
}

/// What is wrong with a target's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("host `{text}`: {why}; write [user@]name[:port], e.g. root@pve1:2222 or [fe80::1]:22")]
pub struct TargetError {
    text: String,
    why: &'static str,
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        parse(text).map_err(|why| TargetError {
            text: plain(text),
            why,
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        match self.port {
            Some(port) if self.name.contains(':') => write!(f, "[{}]:{port}", self.name),
            Some(port) => write!(f, "{}:{port}", self.name),
            None if self.name.contains(':') => write!(f, "[{}]", self.name),
            None => f.write_str(&self.name),
        }
    }
}

fn parse(text: &str) -> Result<Target, &'static str> {
    if text.is_empty() {
        return Err("it is empty");
    }
    // The last `@` counts, as in ssh: a login name may hold one (user@domain@host).
    let (user, rest) = match text.rsplit_once('@') {
        Some((user, rest)) => (Some(user), rest),
        None => (None, text),
    };
    if let Some(user) = user {
        check(user, &USER)?;
    }
    let (name, port) = if let Some(inner) = rest.strip_prefix('[') {
        let (name, after) = inner.split_once(']').ok_or("the `]` is missing")?;
        match after.strip_prefix(':') {
            Some(port) => (name, Some(port)),
            None if after.is_empty() => (name, None),
            None => return Err("after `]` only :port can follow"),
        }
    } else {
        match rest.split_once(':') {
            Some((_, port)) if port.contains(':') => {
                return Err("an IPv6 address goes in brackets");
            }
            Some((name, port)) => (name, Some(port)),
            None => (rest, None),
        }
    };
    check(name, &NAME)?;
    let port = match port {
        None => None,
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(
            digits
                .parse::<u16>()
                .ok()
                .filter(|port| *port > 0)
                .ok_or("the port is a number from 1 to 65535")?,
        ),
        Some(_) => return Err("the port is a number from 1 to 65535"),
    };
    Ok(Target {
        user: user.map(str::to_owned),
        name: name.to_owned(),
        port,
    })
}

/// What is said when a part is empty, reads as an option, or holds what it cannot hold.
struct Flaws {
    empty: &'static str,
    dash: &'static str,
    odd: &'static str,
}

const USER: Flaws = Flaws {
    empty: "the login name before `@` is empty",
    dash: "the login name begins with a dash",
    odd: "the login name holds a character that none can have",
};

const NAME: Flaws = Flaws {
    empty: "the name is empty",
    dash: "the name begins with a dash",
    odd: "the name holds a character that none can have",
};

/// What OpenSSH refuses as well: a leading dash reads as an option, the rest as shell text,
/// wherever the name is handed on.
fn check(part: &str, flaws: &Flaws) -> Result<(), &'static str> {
    let odd = |c: char| c.is_control() || c.is_whitespace() || "'`\"$\\;&<>|(){}[]/,".contains(c);
    if part.is_empty() {
        Err(flaws.empty)
    } else if part.starts_with('-') {
        Err(flaws.dash)
    } else if part.contains(odd) {
        Err(flaws.odd)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn target(user: Option<&str>, name: &str, port: Option<u16>) -> Target {
        Target {
            user: user.map(str::to_owned),
            name: name.to_owned(),
            port,
        }
    }

    #[test]
    fn every_part_may_be_there_or_not() {
        for (text, wanted) in [
            ("pve1", target(None, "pve1", None)),
            ("root@pve1", target(Some("root"), "pve1", None)),
            ("pve1:2222", target(None, "pve1", Some(2222))),
            ("ann@10.0.0.7:22", target(Some("ann"), "10.0.0.7", Some(22))),
            ("[fe80::1]", target(None, "fe80::1", None)),
            (
                "[fe80::1%eth0]:8022",
                target(None, "fe80::1%eth0", Some(8022)),
            ),
            ("ann@lab@nas", target(Some("ann@lab"), "nas", None)),
        ] {
            let parsed: Target = text.parse().unwrap();
            assert_eq!(parsed, wanted, "{text}");
            assert_eq!(parsed.to_string(), text);
        }
    }

    #[test]
    fn what_cannot_be_a_host_is_refused_in_one_sentence() {
        for (text, why) in [
            ("", "is empty"),
            ("@pve1", "login name before `@` is empty"),
            ("root@", "the name is empty"),
            (":22", "the name is empty"),
            ("pve1:", "the port"),
            ("pve1:0", "the port"),
            ("pve1:65536", "the port"),
            ("pve1:+22", "the port"),
            ("pve1:ssh", "the port"),
            ("-oProxyCommand=x", "begins with a dash"),
            ("-root@pve1", "begins with a dash"),
            ("root@-pve1", "begins with a dash"),
            ("fe80::1", "brackets"),
            ("[fe80::1", "`]` is missing"),
            ("[fe80::1]22", "only :port"),
            ("[]", "the name is empty"),
            ("pve1\nevil", "character"),
            ("pve 1", "character"),
            ("a\tb@pve1", "character"),
            ("pve1;reboot", "character"),
            ("$(x)@pve1", "character"),
        ] {
            let error = text.parse::<Target>().unwrap_err().to_string();
            assert!(error.contains(why), "{text:?}: {error}");
            assert!(!error.contains(char::is_control), "{text:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_taken_is_written_as_it_was_read(text in "\\PC{0,40}") {
            if let Ok(parsed) = text.parse::<Target>() {
                let again: Target = parsed.to_string().parse().unwrap();
                prop_assert_eq!(again, parsed);
            }
        }
    }
}
