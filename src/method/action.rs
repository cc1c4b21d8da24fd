//! What a step does: exactly one of these.

use serde::Deserialize;

use super::pipe::Pipe;

/// What a step does.
#[derive(Debug, Clone)]
pub enum Action {
    /// A command on a role.
    Run(String),
    /// One command's output into another's input.
    Pipe(Pipe),
    /// Until something is there.
    Wait(Wait),
    /// One file or a tree's manifest, kept under a name or compared with one.
    Hash(Hash),
    /// A byte figure, read when it has settled.
    Space(SpaceRead),
    /// Seeded bytes that do not compress, or a change set.
    Payload(Payload),
    /// The end of a background step.
    Join(String),
}

impl Action {
    /// As in a method file.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Run(_) => "run",
            Self::Pipe(_) => "pipe",
            Self::Wait(_) => "wait",
            Self::Hash(_) => "hash",
            Self::Space(_) => "space",
            Self::Payload(_) => "payload",
            Self::Join(_) => "join",
        }
    }
}

/// A wait, and how long at most.
#[derive(Debug, Clone)]
pub struct Wait {
    /// For what.
    pub what: WaitFor,
    /// Seconds, at most.
    pub limit: f64,
}

/// For what is waited.
#[derive(Debug, Clone)]
pub enum WaitFor {
    /// A port of a role's address answers with a banner.
    Port {
        /// Port, a template.
        port: String,
        /// How the banner begins.
        banner: String,
    },
    /// A command succeeds.
    Until(String),
    /// A time, in seconds, has passed.
    Time(f64),
}

/// A hash of a file or tree.
#[derive(Debug, Clone)]
pub struct Hash {
    /// Of what.
    pub of: HashOf,
    /// Its path, or the shell text that tells: a template.
    pub path: String,
    /// Of what share of the subject it is, in words, a template; the whole where absent.
    pub share: Option<String>,
    /// Keep it under this name, or compare it with what is kept under this name.
    pub keep: Result<String, String>,
}

/// What a hash is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashOf {
    /// One file, or all bytes of a device.
    File,
    /// All that is in a folder.
    Tree,
    /// The files of a folder: their names and contents, which is all that some protocols carry.
    Files,
    /// What cannot be read from its host: a command asks whoever can, and prints what a
    /// manifest's script does.
    Told,
}

impl HashOf {
    /// Whether it is of a folder.
    #[must_use]
    pub fn is_folder(self) -> bool {
        matches!(self, Self::Tree | Self::Files)
    }
}

/// A byte figure: shell texts that print a number.
#[derive(Debug, Clone, Default)]
pub struct SpaceRead {
    /// Run before reading, so that the figure is true.
    pub settle: Option<String>,
    /// Bytes as the reader of the files sees them.
    pub logical: Option<String>,
    /// Bytes that are allocated.
    pub stored: Option<String>,
    /// Bytes that only a snapshot keeps.
    pub held: Option<String>,
    /// Seconds within which two readings must agree.
    pub limit: f64,
}

/// Payload.
#[derive(Debug, Clone)]
pub enum Payload {
    /// A new tree of seeded files.
    Tree {
        /// Folder, a template; it must not be there.
        path: String,
        /// Bytes in all, a template.
        size: String,
        /// Number of files, a template.
        files: String,
    },
    /// A change set in a tree made by [`Payload::Tree`].
    Change {
        /// Folder, a template.
        path: String,
        /// Percent of the files that are overwritten in place.
        overwrite: f64,
        /// Percent of the files that are deleted.
        delete: f64,
        /// Percent of the files that are created.
        create: f64,
    },
}

/// Actions as they stand in a file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct WaitDef {
    port: Option<String>,
    banner: Option<String>,
    until: Option<String>,
    time: Option<String>,
    limit: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct HashDef {
    tree: Option<String>,
    files: Option<String>,
    file: Option<String>,
    told: Option<String>,
    share: Option<String>,
    #[serde(rename = "as")]
    keep: Option<String>,
    like: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SpaceDef {
    settle: Option<String>,
    logical: Option<String>,
    stored: Option<String>,
    held: Option<String>,
    limit: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PayloadDef {
    tree: Option<String>,
    size: Option<String>,
    files: Option<String>,
    change: Option<String>,
    overwrite: Option<f64>,
    delete: Option<f64>,
    create: Option<f64>,
}

fn seconds(text: Option<&String>, default: f64) -> Result<f64, String> {
    text.map_or(Ok(default), |text| {
        humantime::parse_duration(text)
            .map(|length| length.as_secs_f64())
            .map_err(|_why| format!("expected a duration such as 2s or 5min, not {text:?}"))
    })
}

impl TryFrom<WaitDef> for Wait {
    type Error = String;

    fn try_from(def: WaitDef) -> Result<Self, String> {
        let limit = seconds(def.limit.as_ref(), 600.0)?;
        let what = match (def.port, def.until, def.time) {
            (Some(port), None, None) => WaitFor::Port {
                port,
                banner: def.banner.unwrap_or_default(),
            },
            (None, Some(until), None) => WaitFor::Until(until),
            (None, None, Some(time)) => WaitFor::Time(seconds(Some(&time), 0.0)?),
            _ => return Err("wait has exactly one of port, until, time".to_owned()),
        };
        Ok(Self { what, limit })
    }
}

impl TryFrom<HashDef> for Hash {
    type Error = String;

    fn try_from(def: HashDef) -> Result<Self, String> {
        let (path, of) = match (def.tree, def.files, def.file, def.told) {
            (Some(path), None, None, None) => (path, HashOf::Tree),
            (None, Some(path), None, None) => (path, HashOf::Files),
            (None, None, Some(path), None) => (path, HashOf::File),
            (None, None, None, Some(text)) => (text, HashOf::Told),
            _ => return Err("hash has exactly one of tree, files, file, told".to_owned()),
        };
        let keep = match (def.keep, def.like) {
            (Some(name), None) => Ok(name),
            (None, Some(name)) => Err(name),
            _ => return Err("hash has exactly one of as (keep it), like (compare it)".to_owned()),
        };
        Ok(Self {
            of,
            path,
            share: def.share,
            keep,
        })
    }
}

impl TryFrom<SpaceDef> for SpaceRead {
    type Error = String;

    fn try_from(def: SpaceDef) -> Result<Self, String> {
        if def.logical.is_none() && def.stored.is_none() && def.held.is_none() {
            return Err("space has at least one of logical, stored, held".to_owned());
        }
        Ok(Self {
            settle: def.settle,
            logical: def.logical,
            stored: def.stored,
            held: def.held,
            limit: seconds(def.limit.as_ref(), 30.0)?,
        })
    }
}

impl TryFrom<PayloadDef> for Payload {
    type Error = String;

    fn try_from(def: PayloadDef) -> Result<Self, String> {
        match (def.tree, def.size, def.files, def.change) {
            (Some(path), Some(size), Some(files), None) => Ok(Self::Tree { path, size, files }),
            (None, None, None, Some(path)) => {
                let share = |given: Option<f64>| {
                    let percent = given.unwrap_or(0.0);
                    if (0.0..=100.0).contains(&percent) {
                        Ok(percent)
                    } else {
                        Err(format!(
                            "expected a percentage from 0 to 100, not {percent}"
                        ))
                    }
                };
                Ok(Self::Change {
                    path,
                    overwrite: share(def.overwrite)?,
                    delete: share(def.delete)?,
                    create: share(def.create)?,
                })
            }
            _ => Err(
                "payload has tree, size and files, or change with overwrite, delete, create"
                    .to_owned(),
            ),
        }
    }
}
