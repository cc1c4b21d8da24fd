//! Where files of this program may stand: in no subject that is only read.

use std::path::{Path, PathBuf};

use crate::event::{Binding, Subject};

/// The subject of this machine that a file would stand in, of those that these bindings name.
/// What methods make themselves is theirs to change.
pub fn subject_around<'b>(
    file: &Path,
    bindings: impl IntoIterator<Item = &'b Binding>,
) -> Option<&'b Subject> {
    let file = real(file);
    let here = bindings
        .into_iter()
        .filter(|binding| binding.host() == "local");
    here.map(|binding| &binding.subject).find(|subject| {
        let is_path = matches!(subject.kind.as_str(), "dir" | "subvolume");
        // What is not there is told by the look at the host.
        let at = Path::new(&subject.id).canonicalize();
        is_path && !subject.own && at.is_ok_and(|at| file.starts_with(at))
    })
}

/// The part of a path that is there, without links.
fn real(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = path.ancestors().find_map(|path| path.canonicalize().ok());
    there.unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn no_file_stands_in_what_is_only_read() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        std::os::unix::fs::symlink(&data, folder.path().join("link")).unwrap();
        let binding = |host: &str, kind: &str, own: bool| Binding {
            roles: BTreeMap::from([("source".into(), host.into())]),
            subject: Subject {
                kind: kind.into(),
                id: data.display().to_string(),
                own,
                marked: false,
            },
            ..Binding::default()
        };
        let is_in = |file: &str, binding: &Binding| {
            subject_around(&folder.path().join(file), [binding]).is_some()
        };
        for kind in ["dir", "subvolume"] {
            let read = binding("local", kind, false);
            for inside in ["data", "data/a", "data/new/a", "link/new/a"] {
                assert!(is_in(inside, &read), "{kind} {inside}");
            }
            for outside in ["a", "data-2/a", "new/data/a"] {
                assert!(!is_in(outside, &read), "{kind} {outside}");
            }
            assert!(!is_in("data/a", &binding("local", kind, true)), "its own");
            assert!(!is_in("data/a", &binding("nas", kind, false)));
        }
        assert!(!is_in("data/a", &binding("local", "rbd-image", false)));
    }
}
