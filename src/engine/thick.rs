//! Holes: what of a subject is allocated, and what a copy by a method that knows no holes would come to.

use crate::event::Bytes;
use crate::method::{Bound, MethodError};

use super::preflight::{Check, Gravity};
use super::shell::quote;

/// A subject whose holes become bytes with this method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thick {
    /// What is allocated for it.
    pub allocated: Bytes,
    /// What a reader of it sees, and the copy has.
    pub logical: Bytes,
}

impl Thick {
    /// Bytes that are moved and stored for holes.
    #[must_use]
    pub fn extra(self) -> Bytes {
        Bytes(self.logical.0.saturating_sub(self.allocated.0))
    }
}

/// Shell text that prints `extent`, and the KiB that are allocated and those that a reader sees; nothing where the kind has no such
/// figures, or the count takes too long.
pub(super) fn look(kind: &str, id: &str) -> String {
    let id = quote(id);
    match kind {
        "dir" | "subvolume" => format!(
            "p=; if command -v timeout >/dev/null 2>&1; then p='timeout 20'; fi
a=$($p du -sk -- {id} 2>/dev/null | awk '{{ print $1 }}'); l=$($p du -sk --apparent-size -- {id} 2>/dev/null | awk '{{ print $1 }}')
[ -n \"$l\" ] || l=$($p find {id} -type f -exec stat -c %s {{}} + 2>/dev/null | awk '{{ n += $1 }} END {{ printf \"%.0f\\n\", n / 1024 }}')
[ -z \"$a\" ] || echo \"extent $a $l\"
"
        ),
        "vmdk" => format!(
            "d={id}; a=$(du -k \"${{d%.vmdk}}-flat.vmdk\" 2>/dev/null | awk '{{ print $1 }}'); [ -z \"$a\" ] || echo \"extent $a $(sed -n 's/^RW \\([0-9]*\\) .*/\\1/p' \"$d\" | awk '{{ s += $1 }} END {{ printf \"%.0f\\n\", s / 2 }}')\"
"
        ),
        _ => String::new(),
    }
}

/// Whether holes become bytes with this method and these settings.
pub(super) fn applies(bound: &Bound) -> Result<bool, MethodError> {
    match &bound.method.thick {
        Some(thick) => bound.needed(thick.when.as_deref()),
        None => Ok(false),
    }
}

/// Takes what the [`look`] printed behind its first word. A tenth is what small files and folders make by themselves.
pub(super) fn told(bound: &Bound, said: &str, check: &mut Check) {
    let mut kib = said.split_whitespace().map(|word| word.parse().ok());
    let (Some(Some(allocated)), Some(Some(logical))) = (kib.next(), kib.next()) else {
        return;
    };
    let bytes = |kib: u64| Bytes(kib.saturating_mul(1024));
    let thick = Thick {
        allocated: bytes(allocated),
        logical: bytes(logical),
    };
    if thick.extra().0 <= thick.logical.0 / 10 {
        return;
    }
    // What is made of it has no holes.
    check.bytes = Some(thick.logical);
    check.thick = Some(thick);
    let instead = bound
        .method
        .thick
        .as_ref()
        .map_or("", |thick| &thick.instead);
    check.find(
        Gravity::Warning,
        format!(
            "{} holds {}, of which {} are allocated; this method makes bytes of its holes: {} more to move and to store. What keeps them: {instead}",
            bound.binding.subject.id,
            thick.logical,
            thick.allocated,
            thick.extra(),
        ),
    );
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn holes_are_not_allocated() {
        let folder = tempfile::tempdir().unwrap();
        let file = std::fs::File::create(folder.path().join("it's")).unwrap();
        file.set_len(64 << 20).unwrap();
        let text = look("dir", &folder.path().display().to_string());
        let done = Command::new("/bin/sh")
            .args(["-c", &text])
            .output()
            .unwrap();
        let said = String::from_utf8(done.stdout).unwrap();
        let figures: Vec<u64> = said
            .trim()
            .strip_prefix("extent ")
            .unwrap()
            .split(' ')
            .map(|word| word.parse().unwrap())
            .collect();
        assert!(figures[0] < 1024, "{said}");
        assert!((65_536..65_600).contains(&figures[1]), "{said}");
        assert_eq!(look("lv", "a/b"), "");
    }
}
