//! `config.toml`, and where things live.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::base_strategy::{BaseStrategy, Xdg};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

mod keys;

pub use keys::KeyChange;

/// What the operator configured.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Name of the theme.
    pub theme: Option<String>,
    /// Settings of hosts, by the name that is typed.
    pub host: BTreeMap<String, HostConfig>,
    /// Whether the dashboard takes the mouse.
    pub mouse: bool,
    /// Keys of the operator's own.
    #[serde(skip)]
    pub key_changes: Vec<KeyChange>,
    /// They are read with their lines, apart from this.
    keys: IgnoredAny,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            theme: None,
            host: BTreeMap::new(),
            mouse: true,
            key_changes: Vec::new(),
            keys: IgnoredAny,
        }
    }
}

/// Settings of one host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostConfig {
    /// Probing alone.
    pub read_only: bool,
    /// State folder on it; where it is absent, the usual one.
    pub state: Option<String>,
    /// The command through which everything runs there, e.g. `sudo -n`.
    pub r#become: Option<String>,
    /// Use the old algorithms too, which are weak.
    pub legacy: bool,
    /// How long a lost connection is tried again before the host counts as gone, e.g. `5min`.
    #[serde(deserialize_with = "duration")]
    pub gone_after: Option<Duration>,
}

fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(from)?;
    let parsed = humantime::parse_duration(&text);
    parsed.map(Some).map_err(|why| {
        serde::de::Error::custom(format!(
            "expected a duration like 5min, not {text:?}: {why}"
        ))
    })
}

/// Where things live on this machine.
#[derive(Debug, Clone)]
pub struct Paths {
    /// Home folder.
    pub home: PathBuf,
    /// `config.toml`.
    pub config: PathBuf,
    /// The user's method files.
    pub methods: PathBuf,
    /// The user's themes.
    pub themes: PathBuf,
    /// Recordings.
    pub recordings: PathBuf,
    /// What else is kept: logs that were saved where the current folder takes none.
    pub state: PathBuf,
}

/// Why the configuration cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ConfigError {
    /// There is no home folder.
    #[error("there is no home folder: set HOME")]
    Home,
    /// It cannot be read.
    #[error("{file}: {why}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
    /// It is wrong.
    #[error("{file}:{line}: {why}")]
    Wrong {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
}

impl Paths {
    /// After the XDG base directory specification; `--config FILE` moves the configuration.
    ///
    /// # Errors
    /// Where there is no home folder.
    pub fn new(config: Option<&Path>) -> Result<Self, ConfigError> {
        let xdg = Xdg::new().map_err(|_why| ConfigError::Home)?;
        let folder = xdg.config_dir().join("comeback");
        Ok(Self {
            home: xdg.home_dir().to_path_buf(),
            config: config.map_or_else(|| folder.join("config.toml"), Path::to_path_buf),
            methods: folder.join("methods"),
            themes: folder.join("themes"),
            recordings: xdg.data_dir().join("comeback").join("recordings"),
            state: xdg
                .state_dir()
                .unwrap_or_else(|| xdg.data_dir())
                .join("comeback"),
        })
    }
}

impl Config {
    /// Reads a file. A missing one is empty, unless it was named.
    ///
    /// # Errors
    /// Names the file and line.
    pub fn load(path: &Path, named: bool) -> Result<Self, ConfigError> {
        let file = path.display().to_string();
        let text = match crate::page::read(path) {
            Ok(text) => text,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound && !named => {
                return Ok(Self::default());
            }
            Err(why) => {
                return Err(ConfigError::Read {
                    file,
                    why: why.to_string(),
                });
            }
        };
        let mut config: Self = toml::from_str(&text).map_err(|why: toml::de::Error| {
            let at = why.span().map_or(0, |span| span.start);
            ConfigError::Wrong {
                file: file.clone(),
                line: line_of(&text, at),
                why: why.message().replace('\n', "; "),
            }
        })?;
        config.key_changes = keys::read(&text).map_err(|(line, why)| ConfigError::Wrong {
            file: file.clone(),
            line,
            why,
        })?;
        for (host, settings) in &config.host {
            if let Some(state) = settings
                .state
                .as_ref()
                .filter(|path| !path.starts_with('/'))
            {
                let at = |line: &str| {
                    line.trim_start().starts_with("state") && line.contains(state.as_str())
                };
                return Err(ConfigError::Wrong {
                    file,
                    line: text.lines().position(at).unwrap_or_default() + 1,
                    why: format!("state of host {host}: expected an absolute path, not {state:?}"),
                });
            }
        }
        Ok(config)
    }

    /// Settings of a host: those of what was typed, else of the name in it, so that
    /// `root@nas:22` is still the `nas` that is read-only.
    #[must_use]
    pub fn host(&self, typed: &str) -> HostConfig {
        let bare = bare_name(typed);
        let found = self.host.get(typed).or_else(|| self.host.get(bare));
        found.cloned().unwrap_or_default()
    }
}

/// The line of a byte, from 1.
fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// The name in `[user@]name[:port]`.
fn bare_name(typed: &str) -> &str {
    let name = typed.rsplit_once('@').map_or(typed, |(_, name)| name);
    match name.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or(inner),
        None => name.split(':').next().unwrap_or(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_name_or_a_port_does_not_lift_what_is_set_for_a_host() {
        let text = "[host.nas]\nread_only = true\n[host.\"ann@nas\"]\n[host.\"fe80::1\"]\nread_only = true\n";
        let config: Config = toml::from_str(text).unwrap();
        for typed in ["nas", "root@nas", "root@nas:2222", "nas:22", "[fe80::1]:22"] {
            assert!(config.host(typed).read_only, "{typed}");
        }
        assert!(!config.host("ann@nas").read_only);
        assert!(!config.host("nas2").read_only);
    }

    #[test]
    fn a_wrong_key_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, "theme = \"mono\"\n\n[host.nas]\nbecoming = true\n").unwrap();
        let error = Config::load(&path, false).unwrap_err().to_string();
        assert!(
            error.contains("config.toml:4:") && error.contains("becoming"),
            "{error}"
        );
    }

    #[test]
    fn how_long_a_host_may_be_away_is_a_duration() {
        let config = |text: &str| toml::from_str::<Config>(text);
        let known = config("[host.nas]\ngone_after = \"5min\"\n").unwrap();
        assert_eq!(known.host("nas").gone_after, Some(Duration::from_mins(5)));
        assert_eq!(known.host("tin").gone_after, None);
        let why = config("[host.nas]\ngone_after = \"soon\"\n").unwrap_err();
        assert!(why.to_string().contains("a duration like 5min"), "{why}");
    }

    #[test]
    fn a_state_folder_is_an_absolute_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, "[host.nas]\nlegacy = true\nstate = \"rel/ative\"\n").unwrap();
        let error = Config::load(&path, false).unwrap_err().to_string();
        assert!(
            error.contains("config.toml:3:") && error.contains("absolute"),
            "{error}"
        );
    }

    #[test]
    fn a_missing_file_is_empty_unless_it_was_named() {
        let path = Path::new("/nowhere/config.toml");
        assert!(Config::load(path, false).unwrap().host.is_empty());
        assert!(Config::load(path, true).is_err());
    }
}
