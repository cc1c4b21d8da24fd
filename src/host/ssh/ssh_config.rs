//! What the ssh configuration says of one name. What the values mean is left to ssh2-config;
//! which lines apply is not: of a block it takes the last value where ssh takes the first, it
//! knows no `Match`, and it tells no line of a mistake.

use std::path::Path;

use ssh2_config::{HostParams, ParseRule, SshConfig, SshParserError};

use super::Config;
use super::fields::Fields;
use super::host_names::listed;
use super::ssh_lines::{self, Line, Match, words};
use super::text::plain;

/// Keywords of which each line counts; of all others the first one does.
const ALL_COUNT: &[&str] = &["identityfile", "certificatefile"];
/// Keywords whose values are taken from the library: what it cannot read is a mistake. It reads
/// others too, but less than ssh does (`AddKeysToAgent ask`).
const TAKEN: &[&str] = &[
    "bindaddress",
    "bindinterface",
    "certificatefile",
    "connecttimeout",
    "hostname",
    "identityfile",
    "port",
    "proxyjump",
    "user",
];

/// What the configuration says of a name.
pub(super) struct Settings {
    /// The values that the library reads.
    pub(super) params: HostParams,
    /// All of them, as text.
    pub(super) fields: Fields,
    matches: Vec<Match>,
}

/// Who is asked for, as `Match` criteria see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    /// As it was named.
    pub(super) named: &'a str,
    /// Its real name.
    pub(super) host: &'a str,
    /// Login name there.
    pub(super) user: &'a str,
    /// Login name here.
    pub(super) local_user: Option<&'a str>,
}

impl Settings {
    /// Reads all files; one that is not there is empty. Not for an async task.
    ///
    /// # Errors
    /// A file cannot be read or understood; the sentence names file and line.
    pub(super) fn read(config: &Config, named: &str) -> Result<Self, String> {
        let (lines, matches) = ssh_lines::read(config, named)?;
        let mut fields = Fields::default();
        let mut first = Vec::new();
        for line in lines {
            if fields.all(&line.keyword).is_none() || ALL_COUNT.contains(&line.keyword.as_str()) {
                fields.add(&line.keyword, &line.words);
                first.push(line);
            }
        }
        Ok(Self {
            params: params(&first, config.home.as_deref())?,
            fields,
            matches,
        })
    }

    /// Nothing, unless a `Match` block may concern the host.
    ///
    /// # Errors
    /// The `Match` line that may: its settings would be missed.
    pub(super) fn check_matches(&self, asked: Asked<'_>) -> Result<(), String> {
        let mut matches = self.matches.iter();
        match matches.find(|one| may_apply(&one.criteria, asked)) {
            None => Ok(()),
            Some(one) => Err(format!(
                "{}: `Match {}` is not followed yet and may concern this host; write its settings \
                 into a `Host` block",
                one.place,
                plain(&one.criteria),
            )),
        }
    }
}

/// The values that the library reads, of lines that all apply.
fn params(lines: &[Line], home: Option<&Path>) -> Result<HostParams, String> {
    let mut text = String::new();
    for line in lines {
        let one = line.written();
        match parse(&one, home) {
            Ok(_) => text.push_str(&one),
            Err(error) if TAKEN.contains(&line.keyword.as_str()) => {
                let why = plain(&error.to_string());
                return Err(format!("{}: {}: {why}", line.place, line.keyword));
            }
            Err(_) => {}
        }
    }
    let parsed = parse(&text, home).map_err(|error| plain(&error.to_string()))?;
    let params = parsed.query("any");
    match lines.iter().find(|line| line.keyword == "port") {
        Some(line) if params.port == Some(0) => Err(format!("{}: there is no port 0", line.place)),
        _ => Ok(params),
    }
}

fn parse(text: &str, home: Option<&Path>) -> Result<SshConfig, SshParserError> {
    let mut config = SshConfig::default();
    if let Some(home) = home {
        config = config.home_dir(home);
    }
    config.parse(
        &mut text.as_bytes(),
        ParseRule::ALLOW_UNKNOWN_FIELDS | ParseRule::ALLOW_UNSUPPORTED_FIELDS,
    )
}

impl Line {
    /// As the library reads it.
    fn written(&self) -> String {
        let mut line = self.keyword.clone();
        for word in &self.words {
            // It knows neither `none` here nor units.
            let seconds = match self.keyword.as_str() {
                "connecttimeout" => seconds(word).map(|seconds| seconds.to_string()),
                _ => None,
            };
            let word = seconds.as_deref().unwrap_or(word);
            let bare = |c: char| !c.is_whitespace() && !['#', '"', '\\'].contains(&c);
            line.push(' ');
            if !word.is_empty() && word.chars().all(bare) {
                line.push_str(word);
            } else {
                let word = word.replace('\\', "\\\\").replace('"', "\\\"");
                line.extend(["\"", &word, "\""]);
            }
        }
        line.push('\n');
        line
    }
}

/// A time as ssh writes it, such as `90`, `1m30s` or `none`, in seconds.
fn seconds(text: &str) -> Option<u64> {
    if text.eq_ignore_ascii_case("none") {
        return Some(0);
    }
    let mut total: u64 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit());
        let (digits, tail) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        let mut chars = tail.chars();
        let unit = match chars.next().map(|c| c.to_ascii_lowercase()) {
            None | Some('s') => 1,
            Some('m') => 60,
            Some('h') => 3600,
            Some('d') => 86_400,
            Some('w') => 604_800,
            Some(_) => return None,
        };
        let one = digits.parse::<u64>().ok()?.checked_mul(unit)?;
        total = total.checked_add(one)?;
        rest = chars.as_str();
    }
    Some(total)
}

/// Whether a `Match` may apply: false only where one of its criteria surely fails.
fn may_apply(criteria: &str, asked: Asked<'_>) -> bool {
    let Some(words) = words(criteria) else {
        return true;
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (negated, word) = match word.strip_prefix('!') {
            Some(word) => (true, word),
            None => (false, word.as_str()),
        };
        let word = word.to_lowercase();
        if word == "all" && negated {
            return false;
        }
        if ["all", "canonical", "final"].contains(&word.as_str()) {
            continue;
        }
        let Some(patterns) = words.next() else {
            return true;
        };
        let fails = match word.as_str() {
            // The real name may yet be set by another `Match`: both names must fail.
            "host" if !negated => !listed(patterns, asked.host) && !listed(patterns, asked.named),
            "host" => listed(patterns, asked.host) && listed(patterns, asked.named),
            "originalhost" => listed(patterns, asked.named) == negated,
            "user" => listed(patterns, asked.user) == negated,
            "localuser" => asked
                .local_user
                .is_some_and(|user| listed(patterns, user) == negated),
            _ => false,
        };
        if fails {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    const ASKED: Asked<'_> = Asked {
        named: "box",
        host: "10.0.0.7",
        user: "root",
        local_user: Some("ann"),
    };

    /// What the files, the operator's own first, say of `box`.
    fn read(files: &[(&str, &str)]) -> (tempfile::TempDir, Result<Settings, String>) {
        let home = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let config = Config {
            system_file: Some(home.path().join("etc/ssh_config")),
            ..Config::in_home(home.path())
        };
        let settings = Settings::read(&config, "box");
        (home, settings)
    }

    fn settings(text: &str) -> Settings {
        read(&[(".ssh/config", text)]).1.unwrap()
    }

    #[test]
    fn the_first_value_counts_between_blocks_and_within_one() {
        let params = settings(
            "Host box\n  Port 2201\n  port=2202\n  User ann\n  Port 2203\nHost *\n  Port 22\n  User bob\n",
        )
        .params;
        assert_eq!(params.port, Some(2201));
        assert_eq!(params.user.as_deref(), Some("ann"));
    }

    #[test]
    fn identity_files_add_up() {
        let settings =
            settings("Host box\nIdentityFile /a\nIdentityFile /b\nHost *\nIdentityFile /c\n");
        let files = settings.params.identity_file.unwrap();
        assert_eq!(files, ["/a", "/b", "/c"].map(PathBuf::from));
        assert_eq!(settings.fields.all("IdentityFile").unwrap().len(), 3);
    }

    #[test]
    fn a_match_that_surely_does_not_apply_is_passed_over_with_its_block() {
        for criteria in [
            "host other",
            "originalhost o*",
            "user bob",
            "localuser bob",
            "host *,!box,!10.0.0.7",
            "!user root",
            "host other exec \"test -f /x\"",
        ] {
            let settings = settings(&format!(
                "Host box\nPort 2201\nMatch {criteria}\nUser eve\n"
            ));
            assert_eq!(settings.check_matches(ASKED), Ok(()), "{criteria}");
            assert_eq!(settings.params.user, None, "{criteria}");
        }
    }

    #[test]
    fn a_match_that_may_apply_is_named() {
        for criteria in [
            "host box",
            "host 10.*",
            "originalhost box user root",
            "exec \"true\"",
            "canonical",
            "host",
            "!host other",
            "tagged x",
            "final all",
        ] {
            let text = format!("# mine\nMatch {criteria}\nUser eve\n");
            let (home, settings) = read(&[(".ssh/config", &text)]);
            let error = settings.unwrap().check_matches(ASKED).unwrap_err();
            let place = format!("{}:2:", home.path().join(".ssh/config").display());
            assert!(error.contains(&place), "{error}");
            assert!(error.contains("Match"), "{error}");
        }
    }

    #[test]
    fn match_all_is_a_block_for_every_host() {
        let settings = settings("Host other\nPort 1\nMatch all\nUser eve\n");
        assert_eq!(settings.check_matches(ASKED), Ok(()));
        assert_eq!(settings.params.user.as_deref(), Some("eve"));
        assert_eq!(settings.params.port, None);
    }

    #[test]
    fn included_files_are_followed_where_their_block_applies() {
        let (_home, read) = read(&[
            (
                ".ssh/config",
                "Host other\nInclude never\nHost b*\nInclude conf.d/*.conf ~/more none\nUser ann\n",
            ),
            (".ssh/never", "Port 1\nMatch exec x\n"),
            (".ssh/conf.d/10.conf", "Host elsewhere\nPort 2\n"),
            (".ssh/conf.d/20.conf", "Host box\nPort 2200\nPort 2201\n"),
            (".ssh/conf.d/.30.conf", "Port 3\n"),
            ("more", "HostName 10.0.0.7\nHost x\n"),
        ]);
        let settings = read.unwrap();
        assert_eq!(settings.params.port, Some(2200));
        assert_eq!(settings.params.host_name.as_deref(), Some("10.0.0.7"));
        // A block that was begun in an included file ends with it.
        assert_eq!(settings.params.user.as_deref(), Some("ann"));
        assert_eq!(settings.check_matches(ASKED), Ok(()));
    }

    #[test]
    fn a_match_in_an_included_file_is_named_with_its_own_place() {
        let (home, read) = read(&[
            (".ssh/config", "Include extra\n"),
            (
                ".ssh/extra",
                "Host box\n  Port 2200\nMatch user root\nPort 1\n",
            ),
        ]);
        let error = read.unwrap().check_matches(ASKED).unwrap_err();
        let place = format!("{}:3:", home.path().join(".ssh/extra").display());
        assert!(error.starts_with(&place), "{error}");
    }

    #[test]
    fn the_machines_file_comes_after_the_operators() {
        let (_home, read) = read(&[
            (".ssh/config", "Host box\nPort 2200\n"),
            (
                "etc/ssh_config",
                "Include ssh_config.d/*.conf\nHost *\nPort 1\nHashKnownHosts yes\n    SendEnv LANG LC_*\n",
            ),
            ("etc/ssh_config.d/one.conf", "User ann\n"),
        ]);
        let settings = read.unwrap();
        assert_eq!(settings.params.port, Some(2200));
        assert_eq!(settings.params.user.as_deref(), Some("ann"));
        assert_eq!(settings.fields.flag("HashKnownHosts"), Ok(true));
    }

    #[test]
    fn files_that_include_each_other_end() {
        let (_home, read) = read(&[(".ssh/config", "Include config\n")]);
        let error = read.err().unwrap();
        assert!(error.contains("too deep"), "{error}");
    }

    #[test]
    fn times_have_units() {
        for (text, wanted) in [
            ("90", Some(90)),
            ("1m30s", Some(90)),
            ("1H", Some(3600)),
            ("none", Some(0)),
            ("1x", None),
            ("m", None),
        ] {
            assert_eq!(seconds(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_mistake_is_told_with_its_line_and_what_is_not_used_is_none() {
        let (home, read) = read(&[(
            ".ssh/config",
            "Host box\n  AddKeysToAgent confirm 1h\n  User bob\n\n  Port twenty\n",
        )]);
        let error = read.err().unwrap();
        let place = format!("{}:5: port: ", home.path().join(".ssh/config").display());
        assert!(error.starts_with(&place), "{error}");
    }

    #[test]
    fn a_missing_file_is_empty_and_an_unreadable_one_is_named() {
        let home = tempfile::tempdir().unwrap();
        let config = Config::in_home(home.path());
        assert_eq!(Settings::read(&config, "box").unwrap().params.port, None);
        fs::create_dir_all(home.path().join(".ssh/config")).unwrap();
        let error = Settings::read(&config, "box").err().unwrap();
        assert!(
            error.contains(&home.path().join(".ssh/config").display().to_string()),
            "{error}"
        );
    }
}
