//! `~`, `%` tokens and `${VARIABLE}` in the values of an ssh configuration (`ssh_config(5)`,
//! TOKENS and ENVIRONMENT VARIABLES).

use std::path::{Path, PathBuf};

/// What the tokens stand for.
#[derive(Debug, Clone)]
pub(super) struct Tokens<'a> {
    /// `%d` and `~`.
    pub(super) home: Option<&'a Path>,
    /// `%h`: the host's real name.
    pub(super) host: &'a str,
    /// `%k`: the name of its key.
    pub(super) key: &'a str,
    /// `%n`: the host as it was named.
    pub(super) named: &'a str,
    /// `%p`.
    pub(super) port: u16,
    /// `%r`: the login name there.
    pub(super) remote_user: &'a str,
    /// `%u`: the login name here.
    pub(super) local_user: Option<&'a str>,
}

impl Tokens<'_> {
    /// A path with all of them put in.
    ///
    /// # Errors
    /// What cannot be put in, named.
    pub(super) fn path(&self, text: &str) -> Result<PathBuf, String> {
        let text = match text.strip_prefix('~') {
            None => text.to_owned(),
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                format!("{}{rest}", self.home()?)
            }
            Some(_) => return Err(format!("`{text}`: another user's home is not looked up")),
        };
        variables(&self.tokens(&text)?).map(PathBuf::from)
    }

    /// A jump host, which knows but `%h`, `%n`, `%p` and `%r`.
    ///
    /// # Errors
    /// Another token.
    pub(super) fn jump(&self, text: &str) -> Result<String, String> {
        tokens(text, |token| {
            Ok(match token {
                'h' => self.host.to_owned(),
                'n' => self.named.to_owned(),
                'p' => self.port.to_string(),
                'r' => self.remote_user.to_owned(),
                other => return Err(format!("`%{other}` in `{text}` is not known to ssh")),
            })
        })
    }

    fn tokens(&self, text: &str) -> Result<String, String> {
        tokens(text, |token| {
            Ok(match token {
                'd' => self.home()?,
                'h' => self.host.to_owned(),
                'i' => rustix::process::getuid().as_raw().to_string(),
                'k' => self.key.to_owned(),
                'n' => self.named.to_owned(),
                'p' => self.port.to_string(),
                'r' => self.remote_user.to_owned(),
                'u' => self
                    .local_user
                    .ok_or("`%u`: no USER in the environment")?
                    .to_owned(),
                other => return Err(format!("`%{other}` in `{text}` is not followed yet")),
            })
        })
    }

    fn home(&self) -> Result<String, String> {
        self.home
            .and_then(Path::to_str)
            .map(str::to_owned)
            .ok_or_else(|| "`~`: no HOME in the environment".to_owned())
    }
}

/// `HostName` knows but `%h`, the name that was given.
///
/// # Errors
/// Another token.
pub(super) fn host_name(text: &str, named: &str) -> Result<String, String> {
    tokens(text, |token| match token {
        'h' => Ok(named.to_owned()),
        other => Err(format!("`%{other}` in `{text}` is not known to ssh")),
    })
}

fn variables(text: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, tail) = after
            .split_once('}')
            .ok_or_else(|| format!("`{text}`: the `}}` is missing"))?;
        out.push_str(before);
        out.push_str(&std::env::var(name).map_err(|_unset| format!("`${{{name}}}` is not set"))?);
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

fn tokens(text: &str, value: impl Fn(char) -> Result<String, String>) -> Result<String, String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('%') => out.push('%'),
            Some(token) => out.push_str(&value(token)?),
            None => return Err(format!("`{text}` ends in the middle of a token")),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: Tokens<'_> = Tokens {
        home: None,
        host: "10.0.0.7",
        key: "nas",
        named: "box",
        port: 2222,
        remote_user: "root",
        local_user: Some("ann"),
    };

    #[test]
    fn tokens_and_the_home_are_put_in() {
        let tokens = Tokens {
            home: Some(Path::new("/home/ann")),
            ..TOKENS
        };
        for (text, wanted) in [
            ("~/.ssh/%n-%h-%p", "/home/ann/.ssh/box-10.0.0.7-2222"),
            ("~", "/home/ann"),
            ("%d/%r%%%u/%k", "/home/ann/root%ann/nas"),
            ("/a b/~", "/a b/~"),
        ] {
            assert_eq!(tokens.path(text).unwrap(), Path::new(wanted), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_put_in_is_named() {
        for (text, named) in [
            ("~/x", "HOME"),
            ("~bob/x", "~bob"),
            ("%C", "%C"),
            ("50%", "50%"),
            ("${COMEBACK_TEST_UNSET}/x", "COMEBACK_TEST_UNSET"),
            ("${HOME", "}"),
        ] {
            let error = TOKENS.path(text).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
    }

    #[test]
    fn variables_are_put_in() {
        let path = TOKENS.path("/x${PATH}y").unwrap();
        let wanted = format!("/x{}y", std::env::var("PATH").unwrap());
        assert_eq!(path, Path::new(&wanted));
    }

    #[test]
    fn a_host_name_takes_the_name_that_was_given() {
        assert_eq!(host_name("%h.lab", "box").unwrap(), "box.lab");
        assert!(host_name("%p", "box").is_err());
    }
}
