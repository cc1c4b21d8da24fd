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

/// What a subject is locked by: one folder is one subject, by whatever path it is named.
///
/// # Errors
/// Where the host is lost.
pub(super) async fn key(host: &dyn Host, subject: &str) -> Result<String, EngineError> {
    let Some((kind @ ("dir" | "subvolume"), path)) = subject.split_once(':') else {
        return Ok(subject.to_owned());
    };
    let text = format!(
        "cd -- {path} 2>/dev/null && pwd -P || printf '%s\\n' {path}",
        path = quote(path)
    );
    let real = script(host, "look where the subject is", &text, PATIENCE).await?;
    Ok(format!("{kind}:{real}"))
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
