//! What a host has that methods could protect: looked for in the usual places, read alone.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use crate::event::{Facts, FilesystemFact};
use crate::host::{Host, HostError, ask};
use crate::method::{SubjectKind, SubjectSpec};

use super::shell::quote;

/// How long the look may take; the host itself ends it a little earlier.
const PATIENCE: Duration = Duration::from_secs(12);
/// The same on the host, in seconds.
const LIMIT: u32 = 8;
/// Nobody chooses from more.
const MOST: usize = 200;

/// File systems that answer by themselves: no dead server makes them wait.
const LOCAL: [&str; 12] = [
    "bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "reiserfs", "ufs", "vfat", "xfs",
    "zfs",
];
/// Folders that people keep data in.
const USUAL: [&str; 4] = ["/home", "/srv", "/etc", "/var/www"];
/// Folders in which a marked one may stand.
const AROUND: [&str; 9] = [
    "/", "/data", "/home", "/media", "/mnt", "/opt", "/srv", "/var/lib", "/var/tmp",
];
/// Mounts that hold the system, not data.
const SYSTEM: [&str; 9] = [
    "/boot", "/dev", "/nix", "/proc", "/run", "/snap", "/sys", "/tmp", "/usr",
];

/// A subject that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSubject {
    /// What it is.
    pub kind: SubjectKind,
    /// Its path or name.
    pub id: String,
    /// Whether the operator marked it as one that may be changed.
    pub marked: bool,
    /// What is known of it, in a few words.
    pub about: String,
}

/// Looks for subjects of these kinds, the marked ones first. What is of a kind that cannot be
/// looked for is named by the operator.
///
/// # Errors
/// Where the host is lost, or does not answer in time.
pub async fn subjects(
    host: &dyn Host,
    facts: &Facts,
    kinds: &BTreeSet<SubjectKind>,
) -> Result<Vec<FoundSubject>, HostError> {
    let known = |kind: &SubjectKind| {
        matches!(kind, SubjectKind::Dir | SubjectKind::Subvolume) || !list(kind.name()).is_empty()
    };
    if !kinds.iter().any(known) {
        return Ok(Vec::new());
    }
    let answer = ask(host, &script(facts, kinds), b"", 1 << 17, PATIENCE).await?;
    Ok(read(&String::from_utf8_lossy(&answer.out), facts, kinds))
}

fn holds_data(fs: &FilesystemFact) -> bool {
    let is_system = |at: &str| SYSTEM.iter().any(|of| super::preflight::is_inside(at, of));
    LOCAL.contains(&fs.kind.as_str()) && fs.at != "/" && !is_system(&fs.at)
}

/// Shell text that lists what there is of a kind, a line `KIND plain|marked ID<TAB>BYTES` each.
/// Empty for kinds that are found by where they are mounted, or not at all.
fn list(kind: &str) -> Cow<'static, str> {
    let text = match kind {
        "dataset" => {
            "if command -v zfs >/dev/null 2>&1; then { zfs get -H -t filesystem -o name,value,source comeback:subject; echo; zfs list -Hp -t filesystem -o name,used,mounted; } 2>/dev/null |
awk -F '\\t' 'NF == 0 { second = 1; next } !second { if ($2 == \"on\" && $3 == \"local\") mark[$1] = 1; next } $3 == \"yes\" { print \"dataset \" (($1 in mark) ? \"marked\" : \"plain\") \" \" $1 \"\\t\" $2 }'; fi
"
        }
        "lv" => {
            "if command -v lvs >/dev/null 2>&1; then lvs --noheadings --nosuffix --units b --separator '|' -o vg_name,lv_name,lv_attr,lv_size,lv_tags 2>/dev/null |
awk -F '|' '{ sub(/^ +/, \"\", $1) } $3 ~ /^V/ { print \"lv \" ((\",\" $5 \",\" ~ /,comeback,/) ? \"marked\" : \"plain\") \" \" $1 \"/\" $2 \"\\t\" $4 }'; fi
"
        }
        "vmdk" => return Cow::Owned(super::machines::list()),
        _ => super::guests::list(kind),
    };
    Cow::Borrowed(text)
}

/// The text that is run. It lists, and writes nothing but its answer.
fn script(facts: &Facts, kinds: &BTreeSet<SubjectKind>) -> String {
    let words = |all: &mut dyn Iterator<Item = &str>| all.map(quote).collect::<Vec<_>>().join(" ");
    let mounts = || {
        facts
            .filesystems
            .iter()
            .filter(|fs| holds_data(fs))
            .take(64)
    };
    let data = words(&mut mounts().map(|fs| fs.at.as_str()));
    let btrfs = facts.filesystems.iter().filter(|fs| fs.kind == "btrfs");
    let btrfs = words(&mut btrfs.take(16).map(|fs| fs.at.as_str()));
    let (usual, around) = (
        words(&mut USUAL.into_iter()),
        words(&mut AROUND.into_iter()),
    );
    let mut inner = String::from(
        "say() { case $2 in *'\n'*) return ;; esac
[ -d \"$2\" ] && [ -r \"$2\" ] && [ ! -L \"$2\" ] || return 0
m=plain; [ -e \"$2/.comeback-subject\" ] && m=marked
printf '%s %s %s\\n' \"$1\" \"$m\" \"$2\"; }
",
    );
    if kinds.contains(&SubjectKind::Dir) {
        let _ = writeln!(
            inner,
            "for p in {around} {data} \"${{HOME:-/}}\"; do for f in \"${{p%/}}\"/.comeback-subject \"${{p%/}}\"/*/.comeback-subject; do [ -e \"$f\" ] && say dir \"${{f%/.comeback-subject}}\"; done; done
for p in {data} \"${{HOME:-/}}\" {usual}; do [ \"$p\" != / ] && [ \"$(ls -A \"$p\" 2>/dev/null | head -n 1)\" ] && say dir \"$p\"; done"
        );
    }
    if kinds.contains(&SubjectKind::Subvolume) && !btrfs.is_empty() {
        // The root of a subvolume is inode 256, for every user.
        let _ = writeln!(
            inner,
            "all=$(for p in {btrfs}; do find \"$p\" -xdev -maxdepth 2 -type d -inum 256 2>/dev/null; done)
each() {{ printf '%s\\n' \"$all\" | while IFS= read -r p; do \"$1\" \"$p\"; done; }}
marked() {{ [ ! -e \"$1/.comeback-subject\" ] || say subvolume \"$1\"; }}
any() {{ say subvolume \"$1\"; }}
each marked; each any"
        );
    }
    for kind in kinds {
        inner.push_str(&list(kind.name()));
    }
    format!(
        "p=; if timeout {LIMIT} true 2>/dev/null; then p='timeout {LIMIT}'; fi\n$p /bin/sh -c {}\n",
        quote(&inner)
    )
}

/// What it said; a line that is cut off or odd is passed over.
fn read(said: &str, facts: &Facts, kinds: &BTreeSet<SubjectKind>) -> Vec<FoundSubject> {
    let mut found: BTreeMap<(bool, SubjectKind, String), FoundSubject> = BTreeMap::new();
    for line in said.split_inclusive('\n') {
        let Some(line) = line.strip_suffix('\n') else {
            continue;
        };
        let mut words = line.splitn(3, ' ');
        let (Some(kind), Some(mark), Some(id)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let kind = kinds.iter().find(|known| known.name() == kind);
        let Some(kind) = kind.copied() else {
            continue;
        };
        let marked = mark == "marked";
        let (id, about) = match kind {
            SubjectKind::Dir | SubjectKind::Subvolume => {
                // `//srv` where the parent is the root.
                let at = format!("/{}", id.trim_matches('/'));
                let about = about(&at, facts);
                (
                    if id.starts_with('/') {
                        at
                    } else {
                        id.to_owned()
                    },
                    about,
                )
            }
            _ => {
                let mut parts = id.split('\t');
                let id = parts.next().unwrap_or_default();
                let bytes = parts.next().and_then(|bytes| bytes.trim().parse().ok());
                let bytes = bytes.map(|bytes| crate::event::Bytes(bytes).to_string());
                let more = parts.next().map(ToOwned::to_owned);
                let about: Vec<_> = bytes.into_iter().chain(more).collect();
                (id.to_owned(), about.join(", "))
            }
        };
        let spec = SubjectSpec {
            host: None,
            kind,
            id: id.clone(),
        };
        if spec.is_well_formed().is_err() || id.contains(char::REPLACEMENT_CHARACTER) {
            continue;
        }
        let subject = FoundSubject {
            kind,
            id: id.clone(),
            marked,
            about,
        };
        found.insert((!marked, kind, id), subject);
    }
    // The marked ones stand in front, wherever they were said.
    found.into_values().take(MOST).collect()
}

/// What is mounted at a path, and how much of it is used.
fn about(path: &str, facts: &Facts) -> String {
    let fs = facts.filesystems.iter().rev().find(|fs| fs.at == path);
    fs.map_or_else(String::new, |fs| {
        let used = crate::event::Bytes(fs.size.0.saturating_sub(fs.free.0));
        format!("{}, {used} used", fs.kind)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Bytes;
    use crate::host::LocalHost;

    fn kinds(all: &[SubjectKind]) -> BTreeSet<SubjectKind> {
        all.iter().copied().collect()
    }

    fn mounted(at: &str, kind: &str) -> FilesystemFact {
        FilesystemFact {
            source: "/dev/x".into(),
            kind: kind.into(),
            size: Bytes(3 << 30),
            free: Bytes(1 << 30),
            at: at.into(),
        }
    }

    #[test]
    fn marked_ones_come_first_and_each_once() {
        let facts = Facts {
            filesystems: vec![mounted("/srv", "ext4")],
            ..Facts::default()
        };
        let said = "dir plain /srv\ndir marked /srv/a b\ndir plain /srv\nlv plain /x\ndir marked rel\ndir\ndir plain /cut";
        let found = read(said, &facts, &kinds(&[SubjectKind::Dir]));
        let shown: Vec<_> = found
            .iter()
            .map(|one| (one.id.as_str(), one.marked, one.about.as_str()))
            .collect();
        assert_eq!(
            shown,
            [
                ("/srv/a b", true, ""),
                ("/srv", false, "ext4, 2.00 GiB used")
            ]
        );
    }

    #[test]
    fn there_are_never_more_than_so_many() {
        let said: Vec<_> = (0..5000).map(|n| format!("dir plain /d{n}\n")).collect();
        let said = said.concat() + "dir marked /mine\n";
        let found = read(&said, &Facts::default(), &kinds(&[SubjectKind::Dir]));
        assert_eq!(found.len(), MOST);
        assert_eq!(found[0].id, "/mine");
    }

    #[test]
    fn marked_subvolumes_are_said_first() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for name in ["a", "b c", "bin"] {
            std::fs::create_dir(base.join(name)).unwrap();
        }
        std::fs::write(base.join("b c/.comeback-subject"), "").unwrap();
        // As `find` says it on Btrfs.
        let find = base.join("bin/find");
        let says = format!(
            "#!/bin/sh\nprintf '%s\\n' '{0}/a' '{0}/b c'\n",
            base.display()
        );
        std::fs::write(&find, says).unwrap();
        std::fs::set_permissions(&find, std::fs::Permissions::from_mode(0o700)).unwrap();
        let facts = Facts {
            filesystems: vec![mounted("/srv", "btrfs")],
            ..Facts::default()
        };
        let path = std::env::var("PATH").unwrap_or_default();
        let said = std::process::Command::new("/bin/sh")
            .args(["-c", &script(&facts, &kinds(&[SubjectKind::Subvolume]))])
            .env("PATH", format!("{}:{path}", base.join("bin").display()))
            .output()
            .unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        let lines: Vec<_> = said.lines().collect();
        let line = |mark: &str, name: &str| format!("subvolume {mark} {}/{name}", base.display());
        assert_eq!(lines[..2], [line("marked", "b c"), line("plain", "a")]);
    }

    #[tokio::test]
    async fn a_marked_folder_is_found_where_data_is_mounted() {
        // What is mounted in /tmp is no data.
        let folder = tempfile::Builder::new()
            .prefix("subjects-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let base = folder.path().canonicalize().unwrap();
        let data = base.join("it's data");
        for made in [&data, &base.join("plain")] {
            std::fs::create_dir(made).unwrap();
        }
        std::fs::write(data.join(".comeback-subject"), "").unwrap();
        let facts = Facts {
            filesystems: vec![mounted(base.to_str().unwrap(), "ext4")],
            ..Facts::default()
        };
        let found = subjects(&LocalHost::new(), &facts, &kinds(&[SubjectKind::Dir]))
            .await
            .unwrap();
        let one = |end: &str| found.iter().find(|one| one.id.ends_with(end));
        assert!(one("it's data").unwrap().marked, "{found:?}");
        assert!(!one(base.to_str().unwrap()).unwrap().marked);
        assert!(one("plain").is_none());
    }
}
