//! All methods: built in, and the user's, which add to or replace them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::fragment::Fragments;
use super::{Method, MethodError, load};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../methods/", $name, ".toml")))),*]
    };
}

const BUILT_IN: &[(&str, &str)] = files![
    "files-cp",
    "files-tar",
    "files-rsync",
    "files-stream",
    "copy-local",
    "copy-nfs",
    "copy-scp",
    "copy-sftp",
    "copy-pscp",
    "copy-rsync",
    "copy-compress",
    "copy-http",
    "copy-ftp",
    "copy-datastore",
    "restic",
    "borg",
    "esxi-clone",
    "esxi-ftp",
    "esxi-scp",
    "btrfs-snapshot",
    "btrfs-send",
    "btrfs-replicate",
    "btrfs-experiment",
    "zfs-snapshot",
    "zfs-send",
    "zfs-replicate",
    "zfs-experiment",
    "lvm-thin-snapshot",
    "lvm-thin-experiment",
    "pve-snapshot",
    "pve-vzdump",
    "pve-pbs",
    "pve-ct",
];

const FRAGMENTS: &[(&str, &str)] = files![
    "fragments/btrfs-fill",
    "fragments/btrfs-many",
    "fragments/btrfs-pool",
    "fragments/btrfs-need",
    "fragments/btrfs-ready",
    "fragments/btrfs-room",
    "fragments/btrfs-theirs",
    "fragments/caches-dropped",
    "fragments/carried",
    "fragments/curl-list",
    "fragments/disk",
    "fragments/disk-back",
    "fragments/disk-lost",
    "fragments/disk-there",
    "fragments/esxi-back",
    "fragments/esxi-firewall",
    "fragments/esxi-flat",
    "fragments/esxi-machine",
    "fragments/files-back",
    "fragments/files-there",
    "fragments/folder-there",
    "fragments/folder-outside",
    "fragments/free-port",
    "fragments/ftpd",
    "fragments/http-named",
    "fragments/ftp-named",
    "fragments/httpd",
    "fragments/load",
    "fragments/load-fits",
    "fragments/login",
    "fragments/only-files",
    "fragments/read-back",
    "fragments/rsync-named",
    "fragments/there",
    "fragments/lvm-thin-fill",
    "fragments/lvm-thin-many",
    "fragments/lvm-thin-named",
    "fragments/lvm-thin-pool",
    "fragments/lvm-thin-proved",
    "fragments/lvm-thin-rollback",
    "fragments/lvm-thin-used",
    "fragments/moved",
    "fragments/pve-inside",
    "fragments/pve-allocated",
    "fragments/pve-archive",
    "fragments/pve-asked",
    "fragments/pve-backups",
    "fragments/pve-box",
    "fragments/pve-fill",
    "fragments/pve-full",
    "fragments/pve-guest",
    "fragments/pve-lock",
    "fragments/pve-memory",
    "fragments/pve-number",
    "fragments/pve-payload",
    "fragments/pve-pbs-made",
    "fragments/pve-pbs-proved",
    "fragments/pve-pbs-size",
    "fragments/pve-pieces",
    "fragments/pve-place",
    "fragments/pve-read",
    "fragments/pve-restore",
    "fragments/pve-room",
    "fragments/pve-same",
    "fragments/pve-stray",
    "fragments/pve-uncached",
    "fragments/pve-usable",
    "fragments/pve-vma-proved",
    "fragments/pve-was",
    "fragments/sandbox-fill",
    "fragments/scratch-folder",
    "fragments/scp-paths",
    "fragments/store-password",
    "fragments/store-size",
    "fragments/tree",
    "fragments/tree-back-size",
    "fragments/tree-proved",
    "fragments/tree-size",
    "fragments/tree-there",
    "fragments/zfs-fill",
    "fragments/zfs-many",
    "fragments/zfs-pool",
    "fragments/zfs-ready",
    "fragments/zfs-theirs",
];

/// Where a method comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Part of the program.
    BuiltIn,
    /// A file of the user's.
    File(PathBuf),
}

/// Methods by name.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    methods: BTreeMap<String, (Arc<Method>, Origin)>,
}

impl Catalogue {
    /// The built-in methods, and those in the user's folder where there is one.
    ///
    /// # Errors
    /// The first file that is wrong, with its line.
    pub fn load(user: Option<&Path>) -> Result<Self, MethodError> {
        let mut fragments: Fragments = FRAGMENTS
            .iter()
            .map(|(name, text)| {
                let short = name.strip_prefix("fragments/").unwrap_or(name);
                (
                    short.to_owned(),
                    (format!("methods/{name}.toml"), (*text).to_owned()),
                )
            })
            .collect();
        let mut catalogue = Self::default();
        if let Some(folder) = user {
            for (name, path) in toml_files(&folder.join("fragments"))? {
                fragments.insert(name, (path.display().to_string(), read(&path)?));
            }
        }
        for (name, text) in BUILT_IN {
            let method = load::load(name, &format!("methods/{name}.toml"), text, &fragments)?;
            catalogue
                .methods
                .insert((*name).to_owned(), (Arc::new(method), Origin::BuiltIn));
        }
        if let Some(folder) = user {
            for (name, path) in toml_files(folder)? {
                let text = read(&path)?;
                let method = load::load(&name, &path.display().to_string(), &text, &fragments)?;
                catalogue
                    .methods
                    .insert(name, (Arc::new(method), Origin::File(path)));
            }
        }
        Ok(catalogue)
    }

    /// A method.
    ///
    /// # Errors
    /// [`MethodError::Unknown`], with what there is.
    pub fn get(&self, name: &str) -> Result<Arc<Method>, MethodError> {
        self.methods
            .get(name)
            .map(|(method, _)| Arc::clone(method))
            .ok_or_else(|| MethodError::Unknown {
                name: name.to_owned(),
                known: self
                    .methods
                    .keys()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }

    /// All methods, by name.
    pub fn all(&self) -> impl Iterator<Item = (&Arc<Method>, &Origin)> {
        self.methods
            .values()
            .map(|(method, origin)| (method, origin))
    }
}

fn read(path: &Path) -> Result<String, MethodError> {
    crate::page::read(path).map_err(|why| MethodError::Read {
        file: path.display().to_string(),
        why: why.to_string(),
    })
}

// A folder that is not there holds no files; one that cannot be read is an error.
fn toml_files(folder: &Path) -> Result<Vec<(String, PathBuf)>, MethodError> {
    let wrong = |why: std::io::Error| MethodError::Read {
        file: folder.display().to_string(),
        why: why.to_string(),
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return Err(wrong(why)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(wrong)?.path();
        if path.extension().is_some_and(|ext| ext == "toml")
            && let Some(name) = path.file_stem().and_then(|stem| stem.to_str())
        {
            files.push((name.to_owned(), path.clone()));
        }
    }
    files.sort();
    Ok(files)
}
