//! The same digests by the programs of a host.

use crate::event::Facts;

use super::{Again, Manifest};

/// Where a host keeps the two lists, so that what differs can be named later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lists {
    /// A folder of the session's own, on the host.
    pub folder: String,
}

fn quote(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| "''".to_owned(), std::borrow::Cow::into_owned)
}

fn gnu(facts: &Facts, tool: &str) -> bool {
    facts
        .tools
        .get(tool)
        .is_some_and(|version| version.contains("GNU"))
}

/// How a host hashes, and finds.
fn made_by(facts: &Facts) -> &'static str {
    if gnu(facts, "find") {
        "find -printf"
    } else {
        "stat"
    }
}

/// The programs of a host, as shell text.
struct Programs {
    files: String,
    meta: &'static str,
    xattrs: &'static str,
}

impl Programs {
    fn of(facts: &Facts) -> Self {
        // Each process writes a file of its own: lines of several would mix in a pipe. Every command
        // stands alone, so that `set -e` sees its status: what cannot be read is never left out.
        let parallel = |command: &str| {
            format!(
                r#"xargs -0 -r -n 256 -P "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)" sh -c 'l=$1; shift; {command} "$@" >>"$l/part.$$"' sh "$l" <"$l/names""#
            )
        };
        let is_gnu = gnu(facts, "find");
        let plain = if is_gnu && gnu(facts, "sha256sum") {
            parallel("sha256sum --")
        } else {
            r#"find . -type f -exec sha256sum {} + >"$l/part.0""#.to_owned()
        };
        // openssl is three times as fast, but does not escape odd names.
        let files = if facts.tools.contains_key("openssl") && is_gnu {
            format!(
                r#"find . -type f -print0 >"$l/names"
find . -type f \( -name '*\\*' -o -name '*
*' -o -name "*$(printf '\r')*" \) -print >"$l/odd"
if [ -s "$l/odd" ]; then
{plain}
else
{fast}
for p in "$l"/part.*; do if [ -e "$p" ]; then sed 's/^\([0-9a-f]*\) \*/\1  /' "$p" >"$p.new"; mv "$p.new" "$p"; fi; done
fi"#,
                fast = parallel("openssl dgst -sha256 -r"),
            )
        } else if is_gnu {
            format!("find . -type f -print0 >\"$l/names\"\n{plain}")
        } else {
            plain
        };
        let meta = if is_gnu {
            r#"find . -mindepth 1 \( -type d -printf 'd %m %U %G 0 %p\0' -o -type l -printf 'l %m %U %G 1 %p -> %l\0' -o -printf '%y %m %U %G %n %p\0' \) >"$l/found"
LC_ALL=C sort -z <"$l/found" >"$l/meta""#
        } else {
            r#"find . -mindepth 1 -type d -exec stat -c '%F %a %u %g 0 %n' {} + >"$l/found"
find . -mindepth 1 -type l -exec stat -c '%F %a %u %g 1 %N' {} + >>"$l/found"
find . -mindepth 1 ! -type d ! -type l -exec stat -c '%F %a %u %g %h %n' {} + >>"$l/found"
LC_ALL=C sort <"$l/found" >"$l/meta""#
        };
        let xattrs = if facts.tools.contains_key("getfattr") && is_gnu {
            r#"find . -mindepth 1 -print0 >"$l/found"
LC_ALL=C sort -z <"$l/found" >"$l/names"
xargs -0 -r getfattr -h -d -m - -e hex -- <"$l/names" >"$l/xattrs"
printf 'xattrs %s\n' "$(sha <"$l/xattrs" | cut -d' ' -f1)""#
        } else {
            "echo 'xattrs no'"
        };
        Self {
            files,
            meta,
            xattrs,
        }
    }
}

/// One digest of standard input, by what is there.
const SHA: &str = r#"sha() { if command -v sha256sum >/dev/null 2>&1; then sha256sum; elif command -v openssl >/dev/null 2>&1; then openssl dgst -sha256 -r; else
p=python3; command -v $p >/dev/null 2>&1 || p=python
$p -c 'import hashlib, sys
h = hashlib.sha256()
for b in iter(lambda: getattr(sys.stdin, "buffer", sys.stdin).read(1 << 20), b""): h.update(b)
print(h.hexdigest())'; fi; }"#;

/// Shell text that prints the digests of a tree and keeps its lists.
#[must_use]
pub fn tree_script(root: &str, lists: &Lists, facts: &Facts) -> String {
    let Programs {
        files,
        meta,
        xattrs,
    } = Programs::of(facts);
    format!(
        r#"set -e
l={lists}
mkdir -p -m 700 -- "$l"
# For a sort of more than memory holds: /tmp may be small, or full.
TMPDIR=$l; export TMPDIR
{SHA}
if [ -L {root} ]; then printf '%s: a link to a folder proves nothing about a copy\n' {root} >&2; exit 1; fi
cd -- {root}
{files}
for p in "$l"/part.*; do if [ -e "$p" ]; then cat "$p"; fi; done >"$l/lines"
LC_ALL=C sort -k2 <"$l/lines" >"$l/files"
rm -f "$l"/part.*
{meta}
find . -type f -exec stat -c '%s %h %d %i' {{}} + >"$l/sizes"
awk '{{ s += $1 }} $2 > 1 && seen[$3 " " $4]++ {{ n++; b += $1 }} END {{ printf "count %d\nbytes %.0f\nagain %d %.0f\n", NR, s, n, b }}' "$l/sizes"
printf 'files %s\n' "$(sha <"$l/files" | cut -d' ' -f1)"
printf 'meta %s\n' "$(sha <"$l/meta" | cut -d' ' -f1)"
{xattrs}
"#,
        lists = quote(&lists.folder),
        root = quote(root),
    )
}

/// Shell text that prints the digest of a file, or of a block device.
#[must_use]
pub fn file_script(path: &str) -> String {
    format!(
        "set -e\n{SHA}\nprintf 'count 1\\n'\nif [ -b {path} ]; then n=$(blockdev --getsize64 {path}); else n=$(stat -c %s -- {path}); fi\nprintf 'bytes %s\\n' \"$n\"\nprintf 'files %s\\n' \"$(sha <{path} | cut -d' ' -f1)\"\n",
        path = quote(path)
    )
}

/// Reads what [`tree_script`] or [`file_script`] printed.
///
/// # Errors
/// What is missing.
pub fn parse(said: &str, facts: &Facts) -> Result<Manifest, String> {
    let word = |key: &str| {
        said.lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))
            .map(str::trim)
    };
    let digest = |key: &str| {
        word(key)
            .filter(|hex| hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .map(ToOwned::to_owned)
    };
    let number = |key: &str| {
        word(key)
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| format!("the host did not tell its number of {key}"))
    };
    let again = word("again").and_then(|again| again.split_once(' '));
    let again = again.and_then(|(names, bytes)| {
        let (names, bytes) = (names.parse().ok()?, bytes.parse().ok()?);
        Some(Again { names, bytes })
    });
    Ok(Manifest {
        files: digest("files").ok_or("the host told no sha256")?,
        meta: digest("meta"),
        xattrs: digest("xattrs"),
        bytes: number("bytes")?,
        count: number("count")?,
        again: again.unwrap_or_default(),
        made_by: made_by(facts).to_owned(),
        file_lines: Vec::new(),
        meta_lines: Vec::new(),
    })
}

/// Shell text that prints the first differences of two pairs of lists, or of the lists of files alone.
#[must_use]
pub fn compare_script(before: &Lists, after: &Lists, meta: bool) -> String {
    let lists = if meta { "files meta" } else { "files" };
    format!(
        r#"a={a}; b={b}
TMPDIR=$a; export TMPDIR
for f in {lists}; do
  tr '\0' '\n' <"$a/$f" | LC_ALL=C sort >"$a/$f.lines"; tr '\0' '\n' <"$b/$f" | LC_ALL=C sort >"$b/$f.lines"
  LC_ALL=C comm -23 "$a/$f.lines" "$b/$f.lines" | sed 's/^/was /' | head -n 5
  LC_ALL=C comm -13 "$a/$f.lines" "$b/$f.lines" | sed 's/^/is /' | head -n 5
done"#,
        a = quote(&before.folder),
        b = quote(&after.folder),
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;
    use std::process::Command;

    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::host::hashing::{Counted, hash_tree};

    fn odd_tree(root: &Path) {
        let files: [(&str, &[u8]); 7] = [
            ("plain", b"a"),
            ("-rf", b"leading dash"),
            ("quote's \"double\" $(id)", b"b"),
            ("umlaut \u{e4} \u{2028}", b""),
            ("sub/b", b"c"),
            ("sub.x", b"d"),
            ("sub/a", &[7; 9_000]),
        ];
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::fs::create_dir_all(root.join("empty")).unwrap();
        for (name, bytes) in files {
            std::fs::write(root.join(name), bytes).unwrap();
        }
        std::fs::hard_link(root.join("plain"), root.join("hard")).unwrap();
        symlink("nowhere at all", root.join("link")).unwrap();
        std::fs::set_permissions(root.join("plain"), std::fs::Permissions::from_mode(0o4640))
            .unwrap();
    }

    fn gnu_facts(openssl: bool) -> Facts {
        let mut facts = Facts::default();
        let mut tools = vec!["find", "sha256sum"];
        if openssl {
            tools.push("openssl");
        }
        for tool in tools {
            facts.tools.insert(tool.to_owned(), "GNU".to_owned());
        }
        facts
    }

    fn by_shell(root: &Path, facts: &Facts) -> Manifest {
        let lists = tempfile::tempdir().unwrap();
        let lists = Lists {
            folder: lists.path().join("l").display().to_string(),
        };
        let script = tree_script(&root.display().to_string(), &lists, facts);
        let out = Command::new("/bin/sh")
            .args(["-c", &script])
            .output()
            .unwrap();
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        parse(&String::from_utf8_lossy(&out.stdout), facts).unwrap()
    }

    fn agree(root: &Path) {
        let ours = hash_tree(root, 3, &CancellationToken::new(), &Counted::default()).unwrap();
        for openssl in [false, true] {
            let theirs = by_shell(root, &gnu_facts(openssl));
            assert_eq!(theirs.files, ours.files, "openssl: {openssl}");
            assert_eq!(theirs.meta, ours.meta, "openssl: {openssl}");
            assert_eq!((theirs.count, theirs.bytes), (ours.count, ours.bytes));
            assert_eq!(theirs.again, ours.again, "openssl: {openssl}");
        }
        let article = "find . -type f -exec sha256sum {} + | LC_ALL=C sort -k2 | sha256sum";
        let out = Command::new("sh")
            .args(["-c", article])
            .current_dir(root)
            .output()
            .unwrap();
        assert!(String::from_utf8_lossy(&out.stdout).starts_with(&ours.files));
    }

    #[test]
    fn this_process_and_the_shell_agree() {
        let root = tempfile::tempdir().unwrap();
        odd_tree(root.path());
        agree(root.path());
        std::fs::write(root.path().join("back\\slash"), b"e").unwrap();
        std::fs::write(root.path().join("new\nline"), b"f").unwrap();
        agree(root.path());
    }

    #[test]
    fn a_file_of_several_names_counts_once() {
        let root = tempfile::tempdir().unwrap();
        let (inside, outside) = (root.path().join("in"), root.path().join("out"));
        std::fs::create_dir_all(inside.join("sub")).unwrap();
        std::fs::write(&outside, [1; 300]).unwrap();
        std::fs::hard_link(&outside, inside.join("its other name is elsewhere")).unwrap();
        std::fs::write(inside.join("a"), [2; 5000]).unwrap();
        for name in ["b", "sub/c"] {
            std::fs::hard_link(inside.join("a"), inside.join(name)).unwrap();
        }
        agree(&inside);
        let (stop, counted) = (CancellationToken::new(), Counted::default());
        let is = hash_tree(&inside, 2, &stop, &counted).unwrap();
        assert_eq!((is.count, is.bytes), (4, 15_300));
        assert_eq!(is.once(), (2, 5300));
        assert_eq!(is.of_files().once(), (4, 15_300));
    }

    /// As long as a path may be, and more of them than one command takes.
    #[test]
    fn thousands_of_names_of_any_length_are_hashed() {
        let root = tempfile::tempdir().unwrap();
        let part = "p".repeat(250);
        let mut deep = root.path().to_owned();
        while deep.as_os_str().len() + part.len() + 1 < 4096 - 256 {
            deep.push(&part);
        }
        std::fs::create_dir_all(&deep).unwrap();
        let room = 4095 - deep.as_os_str().len() - 1;
        for n in 0..2000 {
            let name = format!("{n:04}{}", "n".repeat(room.min(255) - 4));
            std::fs::write(deep.join(name), n.to_string()).unwrap();
        }
        agree(root.path());
        let lists = by_shell(root.path(), &Facts::default());
        assert_eq!((lists.count, lists.again), (2000, Again::default()));
    }

    #[test]
    fn what_may_not_be_read_is_never_left_out() {
        let me = Command::new("id").arg("-u").output().unwrap();
        if me.stdout != b"0\n" {
            eprintln!("SKIPPED: only root can run something as somebody else");
            return;
        }
        for (name, hide) in [("closed", "closed"), ("sub/closed", "sub")] {
            let root = tempfile::tempdir().unwrap();
            odd_tree(root.path());
            let lists = tempfile::tempdir().unwrap();
            std::fs::write(root.path().join(name), b"secret").unwrap();
            let open = std::fs::Permissions::from_mode(0o777);
            std::fs::set_permissions(root.path(), open.clone()).unwrap();
            std::fs::set_permissions(lists.path(), open).unwrap();
            let closed = std::fs::Permissions::from_mode(0o000);
            std::fs::set_permissions(root.path().join(hide), closed).unwrap();
            let folder = lists.path().join("l").display().to_string();
            for facts in [gnu_facts(true), gnu_facts(false), Facts::default()] {
                let lists = Lists {
                    folder: folder.clone(),
                };
                let script = tree_script(&root.path().display().to_string(), &lists, &facts);
                let out = Command::new("setpriv")
                    .args([
                        "--reuid=65534",
                        "--regid=65534",
                        "--clear-groups",
                        "sh",
                        "-c",
                        &script,
                    ])
                    .output()
                    .unwrap();
                assert!(
                    !out.status.success(),
                    "{name}: {}",
                    String::from_utf8_lossy(&out.stdout)
                );
                let said = String::from_utf8_lossy(&out.stderr);
                assert!(said.contains(hide), "{name}: {said}");
                Command::new("rm").args(["-rf", &folder]).status().unwrap();
            }
        }
    }

    #[test]
    fn an_empty_tree_has_a_manifest() {
        let root = tempfile::tempdir().unwrap();
        agree(root.path());
    }

    type Change = fn(&Path);

    #[test]
    fn every_kind_of_change_is_seen_and_named() {
        let before = tempfile::tempdir().unwrap();
        odd_tree(before.path());
        let was = hash_tree(
            before.path(),
            2,
            &CancellationToken::new(),
            &Counted::default(),
        )
        .unwrap();
        let changes: [(&str, Change); 6] = [
            ("sub/a", |root| {
                std::fs::write(root.join("sub/a"), [8; 9_000]).unwrap();
            }),
            ("-rf", |root| {
                std::fs::remove_file(root.join("-rf")).unwrap();
            }),
            ("empty", |root| {
                std::fs::remove_dir(root.join("empty")).unwrap();
            }),
            ("link", |root| {
                std::fs::remove_file(root.join("link")).unwrap();
                symlink("elsewhere", root.join("link")).unwrap();
            }),
            ("sub/b", |root| {
                let mode = std::fs::Permissions::from_mode(0o600);
                std::fs::set_permissions(root.join("sub/b"), mode).unwrap();
            }),
            ("hard", |root| {
                std::fs::remove_file(root.join("hard")).unwrap();
                std::fs::write(root.join("hard"), b"a").unwrap();
                let mode = std::fs::Permissions::from_mode(0o4640);
                std::fs::set_permissions(root.join("hard"), mode).unwrap();
            }),
        ];
        for (name, change) in changes {
            let after = tempfile::tempdir().unwrap();
            odd_tree(after.path());
            let is = hash_tree(
                after.path(),
                2,
                &CancellationToken::new(),
                &Counted::default(),
            )
            .unwrap();
            assert!(was.same_as(&is));
            change(after.path());
            let is = hash_tree(
                after.path(),
                2,
                &CancellationToken::new(),
                &Counted::default(),
            )
            .unwrap();
            assert!(!was.same_as(&is), "{name}");
            let said = was.differences(&is, 5).join("; ");
            assert!(said.contains(name), "{name}: {said}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let error = hash_tree(
            Path::new("/nowhere"),
            1,
            &CancellationToken::new(),
            &Counted::default(),
        )
        .unwrap_err();
        assert!(error.to_string().contains("/nowhere"));
    }

    #[test]
    fn answers_are_not_trusted() {
        assert!(parse("files xyz\nbytes 1\ncount 1", &Facts::default()).is_err());
        assert!(parse("", &Facts::default()).is_err());
        let hex = "0".repeat(64);
        assert!(
            parse(
                &format!("files {hex}\nbytes -1\ncount 1"),
                &Facts::default()
            )
            .is_err()
        );
    }
}
