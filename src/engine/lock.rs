//! One session at a time has a named or marked subject. The lock is a folder that every user of
//! the host can see, and only its owner can take away.

use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::host::Host;
use crate::host::hashing::hex;

use super::EngineError;
use super::shell::{quote, script};

const PATIENCE: Duration = Duration::from_mins(1);

/// Who has the subject, as the lock's folder says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holder {
    pub who: String,
    pub since: String,
}

/// Where locks stand: gone after a reboot, as their sessions are. The first that has room
/// takes it; another user may have had to take another.
const FOLDERS: &str = "/run/lock /var/lock /tmp /dev/shm";

/// What a subject is locked by: where it is seen, by whatever path or name it is called. A folder, the
/// subvolume or dataset that it is, and the volume that is mounted there are one subject. What is mounted
/// nowhere is locked by its name.
///
/// # Errors
/// Where the host is lost.
pub(super) async fn key(host: &dyn Host, subject: &str) -> Result<String, EngineError> {
    let Some((kind, id)) = subject.split_once(':') else {
        return Ok(subject.to_owned());
    };
    let seen = match kind {
        "dir" | "subvolume" => format!("printf '%s\\n' {}", quote(id)),
        "dataset" => format!(
            "zfs get -H -o value mounted,mountpoint {} 2>/dev/null | tr '\\n' ' ' | sed -n 's/ $//; s/^yes //p'",
            quote(id)
        ),
        "lv" => format!(
            "findmnt -n -o TARGET {} 2>/dev/null | head -n 1",
            quote(&format!("/dev/{id}"))
        ),
        _ => return Ok(subject.to_owned()),
    };
    let text = format!(
        "at=$({seen}); case $at in /*) cd -- \"$at\" 2>/dev/null && pwd -P || printf '%s\\n' \"$at\" ;; esac"
    );
    let at = script(host, "look where the subject is", &text, PATIENCE).await?;
    Ok(if at.is_empty() {
        subject.to_owned()
    } else {
        format!("at:{at}")
    })
}

fn name(key: &str) -> String {
    let digest = hex(&Sha256::digest(key.as_bytes()));
    let short: String = digest.chars().take(16).collect();
    format!("comeback-{short}")
}

/// Takes the lock on a subject, by its key.
///
/// # Errors
/// Where the host is lost or nothing can be written there.
pub(super) async fn take(
    host: &dyn Host,
    key: &str,
    session: &str,
) -> Result<Result<(), Holder>, EngineError> {
    // Whoever finds the folder there but no holder in it meets one that is just being taken. Who
    // could not use the same folder took another at the same time: then both give way.
    let text = format!(
        r#"ours() {{ w=; read -r w _ 2>/dev/null <"$1/holder"; [ "$w" = {session} ]; }}
refuse() {{ ours "$p" && {{ echo taken; exit 0; }}; printf 'refused\n'; cat "$p/holder" 2>/dev/null || printf 'another session\njust now\n'; exit 0; }}
for d in {FOLDERS}; do p="$d"/{name}; [ -d "$p" ] && refuse; done
for d in {FOLDERS}; do
  p="$d"/{name}
  [ -d "$d" ] && [ -w "$d" ] || continue
  if mkdir -m 755 -- "$p" 2>/dev/null; then
    if {{ printf '%s\n%s\n' {session}" of $(id -un) on $(uname -n)" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >"$p/holder" && chmod 644 "$p/holder"; }} 2>/dev/null; then
      for e in {FOLDERS}; do
        if [ -d "$e"/{name} ] && ! ours "$e"/{name}; then
          rm -f -- "$p/holder"; rmdir -- "$p"; p="$e"/{name}; refuse
        fi
      done
      echo taken; exit 0
    fi
    rm -f -- "$p/holder"; rmdir -- "$p"
  elif [ -d "$p" ]; then
    refuse
  fi
done
echo "no lock can be made in any of {FOLDERS}: one of them needs room, and leave for this user to write" >&2; exit 1"#,
        name = name(key),
        session = quote(session),
    );
    let said = script(host, "take the lock", &text, PATIENCE).await?;
    let mut lines = said.lines();
    if lines.next() == Some("taken") {
        return Ok(Ok(()));
    }
    let mut word = || lines.next().unwrap_or("unknown").to_owned();
    Ok(Err(Holder {
        who: word(),
        since: word(),
    }))
}

/// Shell text that prints the lock of a session by its key, or nothing.
pub(super) fn find(key: &str, session: &str) -> String {
    format!(
        r#"for d in {FOLDERS}; do p="$d"/{name}; w=; [ ! -f "$p/holder" ] || read -r w _ 2>/dev/null <"$p/holder"; if [ "$w" = {session} ]; then printf '%s\n' "$p"; break; fi; done"#,
        name = name(key),
        session = quote(session),
    )
}

/// Shell text that gives a found lock back.
pub(super) const UNDO: &str = r#"rm -f -- "$found/holder" && rmdir -- "$found""#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::LocalHost;

    #[tokio::test]
    async fn one_thing_is_one_subject_whatever_it_is_called() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        let link = at.join("link");
        std::fs::create_dir(at.join("it's")).unwrap();
        std::os::unix::fs::symlink(at.join("it's"), &link).unwrap();
        let host = LocalHost::new();
        let real = key(&host, &format!("dir:{}/it's", at.display()))
            .await
            .unwrap();
        for other in [
            format!("subvolume:{}/it's/", at.display()),
            format!("dir:{}", link.display()),
        ] {
            assert_eq!(key(&host, &other).await.unwrap(), real, "{other}");
        }
        // What is not there, and what is mounted nowhere.
        for name in ["lv:none/here", "dataset:none/here", "vm:100"] {
            assert_eq!(key(&host, name).await.unwrap(), name);
        }
    }
}
