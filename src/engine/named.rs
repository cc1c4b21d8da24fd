//! How a subject that somebody named is looked at, by what its kind has: where it stands, whether it
//! bears the mark, how big it is, whether it is still the same. All texts only read.

use std::time::Duration;

use crate::host::Host;

use super::EngineError;
use super::shell::{quote, script};

/// How long a look at one property may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// The identity of what is not there.
pub(super) const NOTHING: &str = "nothing";

/// Shell text that prints four lines: `open` or what is wrong, where it stands in the file system
/// (with line ends as `\u{1}`; empty where it does not), `marked` or `plain`, and KiB or `unknown`.
/// Nothing where subjects of the kind cannot be looked at.
/// More lines come of guests: see [`guests::look`](super::guests::look).
pub(super) fn look(kind: &str, id: &str) -> Option<String> {
    let (plain, id) = (id, quote(id));
    Some(match kind {
        "dir" | "subvolume" => format!(
            "d={id}; if [ -L \"${{d%/}}\" ]; then echo link; elif [ ! -d \"$d\" ]; then echo none; elif [ ! -r \"$d\" ]; then echo closed; else echo open; fi
(cd -- \"$d\" 2>/dev/null && pwd -P) | tr '\\n' '\\001'; echo
[ -e \"$d/.comeback-subject\" ] && echo marked || echo plain
if command -v timeout >/dev/null 2>&1; then timeout 20 du -sk -- \"$d\" 2>/dev/null; else du -sk -- \"$d\" 2>/dev/null; fi | awk '{{ print $1 }}' | grep . || echo unknown
"
        ),
        // A mark that came down from the parent, or with a received stream, was not set for this one.
        "dataset" => format!(
            "d={id}; case $(zfs get -H -o value type,mounted,mountpoint \"$d\" 2>/dev/null | tr '\\n' ,) in filesystem,yes,/*) echo open ;; filesystem,yes,*) echo legacy ;; filesystem,*) echo unmounted ;; ?*) echo volume ;; *) echo none ;; esac
zfs get -H -o value mountpoint \"$d\" 2>/dev/null | grep '^/' | tr '\\n' '\\001'; echo
[ \"$(zfs get -H -o value,source comeback:subject \"$d\" 2>/dev/null)\" = \"on	local\" ] && echo marked || echo plain
zfs get -Hp -o value referenced \"$d\" 2>/dev/null | awk '{{ printf \"%.0f\\n\", $1 / 1024 }}' | grep . || echo unknown
"
        ),
        "lv" => format!(
            "d={id}; case $(lvs --noheadings -o lv_attr \"$d\" 2>/dev/null | tr -d ' ') in V*) echo open ;; ?*) echo thick ;; *) echo none ;; esac
findmnt -n -o TARGET \"/dev/$d\" 2>/dev/null | head -n 1 | tr '\\n' '\\001'; echo
case ,$(lvs --noheadings -o lv_tags \"$d\" 2>/dev/null | tr -d ' '), in *,comeback,*) echo marked ;; *) echo plain ;; esac
lvs --noheadings --nosuffix --units k -o lv_size \"$d\" 2>/dev/null | awk '{{ printf \"%.0f\\n\", $1 }}' | grep . || echo unknown
"
        ),
        "vmdk" => super::machines::look(plain),
        _ => return super::guests::look(kind, plain),
    })
}

/// Why a subject cannot be used, by the first line of the [`look`]; nothing where it can.
pub(super) fn refusal(state: &str, id: &str, at: &str) -> Option<String> {
    Some(match state {
        "open" => return None,
        "none" => format!("the subject {id} is not there"),
        // A copy of a link is no copy of what it leads to.
        "link" => format!("the subject {id} is a symbolic link; name the directory itself: {at}"),
        "unmounted" => format!(
            "the subject {id} is not mounted, so that nothing in it can be read; say `zfs mount {id}` there"
        ),
        "legacy" => format!(
            "the subject {id} is mounted by hand or by /etc/fstab (mountpoint=legacy), so that nobody can tell where a snapshot of it is seen; say `zfs set mountpoint=/DIR {id}` there, or name the folder as dir:DIR"
        ),
        "volume" => {
            format!("the subject {id} is no file system but a volume; name a file system")
        }
        "thick" => format!("the subject {id} is no thin volume; snapshots are made of thin ones"),
        _ => super::guests::refusal(state, id)
            .or_else(|| super::machines::refusal(state, id))
            .unwrap_or_else(|| format!("the subject {id} cannot be read")),
    })
}

/// What a target is, as opposed to what it is called: another one of the same name is another one.
/// Nothing where nobody can tell for its kind.
///
/// # Errors
/// Where the host is lost or cannot look.
pub(super) async fn identity(host: &dyn Host, what: &str) -> Result<Option<String>, EngineError> {
    let Some((kind, id)) = what.split_once(':') else {
        return Ok(None);
    };
    let (plain, id) = (id, quote(id));
    let text = match kind {
        "dir" | "subvolume" => format!(
            "i='device %d, inode %i'; if [ -L {id} ]; then stat -c \"link: $i\" -- {id}; stat -L -c \"to $i\" -- {id} 2>/dev/null || :; elif [ -e {id} ]; then stat -c \"$i\" -- {id}; else echo nothing; fi"
        ),
        "dataset" => format!(
            "zfs get -Hp -o value guid {id} 2>/dev/null | sed 's/^/guid /' | grep . || echo nothing"
        ),
        "lv" => format!(
            "lvs --noheadings -o lv_uuid {id} 2>/dev/null | sed 's/^ */UUID /' | grep . || echo nothing"
        ),
        _ => match super::guests::identity(kind, plain) {
            Some(text) => text,
            None => return Ok(None),
        },
    };
    script(host, "look at the target again", &text, PATIENCE)
        .await
        .map(Some)
}

/// The name that the operator has to type for what an id does not name; nothing where it does.
///
/// # Errors
/// Where the host is lost or cannot look.
pub(super) async fn name(host: &dyn Host, what: &str) -> Result<Option<String>, EngineError> {
    let text = what
        .split_once(':')
        .and_then(|(kind, id)| super::guests::name(kind, id));
    match text {
        Some(text) => script(host, "look at the guest's name", &text, PATIENCE)
            .await
            .map(Some),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_says_what_to_do() {
        assert_eq!(refusal("open", "tank/x", ""), None);
        let said = refusal("legacy", "tank/x", "").unwrap();
        assert!(said.contains("zfs set mountpoint=/DIR tank/x"), "{said}");
        let said = refusal("unmounted", "tank/x", "").unwrap();
        assert!(said.contains("zfs mount tank/x"), "{said}");
        assert!(
            refusal("", "tank/x", "")
                .unwrap()
                .contains("cannot be read")
        );
    }

    #[test]
    fn kinds_that_cannot_be_looked_at_are_not() {
        assert!(look("tape", "disk").is_none());
        for kind in ["dir", "dataset", "lv", "vmdk"] {
            let text = look(kind, "it's").unwrap();
            assert!(
                text.contains("\"it's\"") || text.contains("'it'\\''s'"),
                "{text}"
            );
        }
    }
}
