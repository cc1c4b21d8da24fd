//! Names on a host: a step's folder, a session's.

use std::fmt::Write;

/// The longest step id in bytes, after [`folder`]: with a suffix it must be a file name.
const LONGEST: usize = 200;

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
            let _ = write!(name, "%{byte:02X}");
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
