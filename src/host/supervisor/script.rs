//! The shell texts, with their variables set: the only place where a value becomes shell.

use super::HostError;

pub(super) const COMMON: &str = include_str!("../sh/common.sh");
pub(super) const MEMBERS: &str = include_str!("../sh/members.sh");
pub(super) const CONTROL: &str = include_str!("../sh/control.sh");
pub(super) const CLOCK: &str = include_str!("../sh/clock.sh");
pub(super) const PREPARE: &str = include_str!("../sh/prepare.sh");
pub(super) const LAUNCH: &str = include_str!("../sh/launch.sh");
pub(super) const ATTACH: &str = include_str!("../sh/attach.sh");
pub(super) const FOLLOW: &str = include_str!("../sh/follow.sh");
pub(super) const FETCH: &str = include_str!("../sh/fetch.sh");
pub(super) const STOP: &str = include_str!("../sh/stop.sh");
pub(super) const KEEPER: &str = include_str!("../sh/keeper.sh");
pub(super) const LIST: &str = include_str!("../sh/list.sh");
pub(super) const FINISH: &str = include_str!("../sh/finish.sh");
const RUN: &str = include_str!("../sh/run.sh");

/// The longest step id in bytes, after [`folder`]: with a suffix it must be a file name.
const LONGEST: usize = 200;

/// The supervisor itself, as it is put on the host.
pub(super) fn supervisor() -> String {
    [COMMON, MEMBERS, RUN].concat()
}

/// Variables of a script, each quoted.
#[derive(Debug, Clone, Default)]
pub(super) struct Vars(String);

impl Vars {
    /// Sets a variable.
    ///
    /// # Errors
    /// Where the value holds a NUL byte: no shell can.
    pub(super) fn set(mut self, name: &str, value: &str) -> Result<Self, shlex::QuoteError> {
        let value = shlex::try_quote(value)?;
        self.0.push_str(name);
        self.0.push('=');
        self.0.push_str(&value);
        self.0.push('\n');
        Ok(self)
    }

    /// Sets a word that needs no quotes.
    pub(super) fn word(mut self, name: &str, value: &'static str) -> Self {
        self.0.push_str(name);
        self.0.push('=');
        self.0.push_str(value);
        self.0.push('\n');
        self
    }

    /// Sets a number.
    pub(super) fn number(mut self, name: &str, value: u64) -> Self {
        self.0.push_str(name);
        self.0.push('=');
        self.0.push_str(&value.to_string());
        self.0.push('\n');
        self
    }

    /// The whole script.
    pub(super) fn script(&self, parts: &[&str]) -> String {
        let mut script = self.0.clone();
        for part in parts {
            script.push_str(part);
        }
        script
    }
}

/// A step's id as a folder name that needs no quoting anywhere, not even in a pattern:
/// letters, digits, `.`, `_` and `-` stay, every other byte becomes `%` and two digits.
pub(super) fn folder(step: &str) -> Result<String, String> {
    let mut name = String::new();
    for (at, byte) in step.bytes().enumerate() {
        let plain =
            byte.is_ascii_alphanumeric() || byte == b'_' || (at > 0 && matches!(byte, b'.' | b'-'));
        if plain {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    if name.is_empty() || name.len() > LONGEST {
        return Err(format!(
            "the step id {name:.40} is {} bytes long, expected 1 to {LONGEST}",
            name.len()
        ));
    }
    Ok(name)
}

/// The step id of a folder.
pub(super) fn step_of(folder: &str) -> String {
    let mut bytes = Vec::with_capacity(folder.len());
    let mut rest = folder.bytes();
    while let Some(byte) = rest.next() {
        let hex = (byte == b'%').then(|| {
            let digits = [rest.next()?, rest.next()?];
            u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()
        });
        match hex {
            None => bytes.push(byte),
            Some(hex) => bytes.extend(hex),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The last part of the session's folder, by which its processes are known; the folder must
/// be one that may be removed in the end.
pub(super) fn session_of(dir: &str) -> Result<&str, String> {
    let name = dir.rsplit('/').next().unwrap_or_default();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if dir.starts_with('/')
        && dir.matches('/').count() > 1
        && !dir.contains('\0')
        && !name.is_empty()
        && !name.starts_with('.')
        && name.bytes().all(plain)
    {
        Ok(name)
    } else {
        Err(format!(
            "{dir:?} cannot be the folder of a session: expected an absolute path that ends in \
             the session's id"
        ))
    }
}

/// An error about this host.
pub(super) fn refused(host: &str, why: impl Into<String>) -> HostError {
    HostError::Refused {
        host: host.to_owned(),
        why: why.into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_step_id_of_any_kind_is_a_plain_folder() {
        assert_eq!(folder("r1-backup.2").unwrap(), "r1-backup.2");
        assert_eq!(folder("../x y").unwrap(), "%2E.%2Fx%20y");
        assert_eq!(folder("-rf").unwrap(), "%2Drf");
        assert!(folder("").is_err());
        assert!(folder(&"x".repeat(300)).is_err());
    }

    #[test]
    fn a_session_folder_is_never_one_that_matters() {
        assert_eq!(session_of("/var/lib/comeback/cb-1").unwrap(), "cb-1");
        for dir in [
            "",
            "/",
            "/x",
            "x/y",
            "/var/lib/",
            "/var/lib/..",
            "/a/b c",
            "/a/$(b)",
        ] {
            assert!(session_of(dir).is_err(), "{dir}");
        }
    }

    proptest! {
        #[test]
        fn step_ids_come_back(step in "\\PC{1,40}") {
            prop_assume!(step.len() < 60);
            let name = folder(&step).unwrap();
            prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"%._-".contains(&b)));
            prop_assert_eq!(step_of(&name), step);
        }

        #[test]
        fn any_folder_name_can_be_read(name in "\\PC{0,20}") {
            step_of(&name);
        }
    }
}
