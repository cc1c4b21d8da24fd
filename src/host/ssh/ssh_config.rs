//! `~/.ssh/config`, read by ssh2-config, and what that library leaves open: `Match` blocks,
//! the line of a mistake, and that within a block too the first value counts.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ssh2_config::{HostParams, ParseRule, SshConfig, SshParserError};
use wildmatch::WildMatch;

use super::text::plain;

/// A parsed configuration file.
pub(super) struct File {
    path: String,
    parsed: SshConfig,
    matches: Vec<Match>,
}

/// A `Match` line, whose block is not followed.
struct Match {
    line: usize,
    criteria: String,
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

impl File {
    /// Reads and parses a file; one that is not there is empty.
    ///
    /// # Errors
    /// The file cannot be read or understood; the sentence names file and line.
    pub(super) fn read(path: &Path, home: Option<&Path>) -> Result<Self, String> {
        let shown = path.display().to_string();
        let text = match std::fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("cannot read {shown}: {error}")),
        };
        let (text, matches) = prepare(&text);
        let parsed = parse(&text, home).map_err(|error| {
            let place = place_of(&text, home).map_or_else(String::new, |line| format!(":{line}"));
            format!("{shown}{place}: {}", plain(&error.to_string()))
        })?;
        Ok(Self {
            path: shown,
            parsed,
            matches,
        })
    }

    /// What the `Host` blocks say of a name.
    pub(super) fn query(&self, named: &str) -> HostParams {
        self.parsed.query(named)
    }

    /// All `CertificateFile`s for a name: they add up, but `query` tells the first alone.
    pub(super) fn certificates(&self, named: &str) -> Vec<PathBuf> {
        self.parsed
            .get_hosts()
            .iter()
            .filter(|host| host.intersects(named))
            .filter_map(|host| host.params.certificate_file.clone())
            .collect()
    }

    /// Nothing, unless a `Match` block may concern the host.
    ///
    /// # Errors
    /// The `Match` line that may: its settings would be missed.
    pub(super) fn check_matches(&self, asked: Asked<'_>) -> Result<(), String> {
        let remedy = "write its settings into a `Host` block";
        for one in &self.matches {
            if may_apply(&one.criteria, asked) {
                return Err(format!(
                    "{}:{}: `Match {}` is not followed yet and may concern this host; {remedy}",
                    self.path,
                    one.line,
                    plain(&one.criteria),
                ));
            }
        }
        // Within an included file the library takes the block for a part of the one before.
        for host in self.parsed.get_hosts() {
            for (field, criteria) in &host.params.ignored_fields {
                if field.eq_ignore_ascii_case("match") {
                    return Err(format!(
                        "{}: a file that it includes has `Match {}`, which is not followed yet; \
                         {remedy}",
                        self.path,
                        plain(&criteria.join(" ")),
                    ));
                }
            }
        }
        Ok(())
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

/// The line of the first mistake, which the library does not tell: the first line with which
/// the text cannot be parsed.
fn place_of(text: &str, home: Option<&Path>) -> Option<usize> {
    let mut so_far = String::new();
    for line in text.lines() {
        so_far.push_str(line);
        so_far.push('\n');
        if parse(&so_far, home).is_err() {
            return Some(
                so_far
                    .lines()
                    .filter(|line| !line.starts_with(ADDED))
                    .count(),
            );
        }
    }
    None
}

/// Marks a line that `prepare` added, so that lines can be counted without it; blanks before a
/// keyword mean nothing.
const ADDED: &str = "\t \t";

/// Puts each `Match` block out of reach, and repeats the block's header before a keyword that
/// the block already has: within a block the library takes the last value, ssh the first.
fn prepare(text: &str) -> (String, Vec<Match>) {
    let mut out = String::new();
    let mut matches = Vec::new();
    let mut header = "Host *".to_owned();
    let mut seen: Vec<String> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let keyword = keyword(line);
        match keyword.as_str() {
            "host" => {
                line.trim().clone_into(&mut header);
                seen.clear();
            }
            "match" => {
                let criteria = arguments(line);
                seen.clear();
                if criteria.eq_ignore_ascii_case("all") {
                    "Host *".clone_into(&mut header);
                } else {
                    matches.push(Match {
                        line: index + 1,
                        criteria,
                    });
                    // A pattern that matches no name.
                    "Host !*".clone_into(&mut header);
                }
                out.push_str(&header);
                out.push('\n');
                continue;
            }
            "" | "include" | "identityfile" => {}
            _ if seen.contains(&keyword) => {
                out.push_str(ADDED);
                out.push_str(&header);
                out.push('\n');
                seen.clear();
                seen.push(keyword);
            }
            _ => seen.push(keyword),
        }
        out.push_str(line);
        out.push('\n');
    }
    (out, matches)
}

/// A line's first word in lower case; empty where it is blank or a comment.
fn keyword(line: &str) -> String {
    let line = line.trim_start();
    if line.starts_with('#') {
        return String::new();
    }
    line.split(|c: char| c.is_whitespace() || c == '=')
        .next()
        .unwrap_or_default()
        .to_lowercase()
}

/// What follows a line's first word.
fn arguments(line: &str) -> String {
    line.trim()
        .split_once(|c: char| c.is_whitespace() || c == '=')
        .map_or("", |(_, rest)| {
            rest.trim_start_matches([' ', '\t', '=']).trim()
        })
        .to_owned()
}

/// Whether a `Match` may apply: false only where one of its criteria surely fails.
fn may_apply(criteria: &str, asked: Asked<'_>) -> bool {
    let Some(words) = shlex::split(criteria) else {
        return true;
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (negated, word) = match word.strip_prefix('!') {
            Some(word) => (true, word),
            None => (false, word.as_str()),
        };
        let word = word.to_lowercase();
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

/// Whether a pattern list (comma-separated, with negation) has a name.
fn listed(patterns: &str, name: &str) -> bool {
    let mut found = false;
    for pattern in patterns.split(',') {
        match pattern.strip_prefix('!') {
            Some(pattern) if WildMatch::new_case_insensitive(pattern).matches(name) => {
                return false;
            }
            Some(_) => {}
            None => found |= WildMatch::new_case_insensitive(pattern).matches(name),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Asked<'_> = Asked {
        named: "box",
        host: "10.0.0.7",
        user: "root",
        local_user: Some("ann"),
    };

    fn file(text: &str) -> (tempfile::TempDir, Result<File, String>) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(".ssh/config");
        std::fs::create_dir(home.path().join(".ssh")).unwrap();
        std::fs::write(&path, text).unwrap();
        let file = File::read(&path, Some(home.path()));
        (home, file)
    }

    #[test]
    fn the_first_value_counts_between_blocks_and_within_one() {
        let (_home, file) = file(
            "Host box\n  Port 2201\n  port=2202\n  User ann\n  Port 2203\nHost *\n  Port 22\n  User bob\n",
        );
        let params = file.unwrap().query("box");
        assert_eq!(params.port, Some(2201));
        assert_eq!(params.user.as_deref(), Some("ann"));
    }

    #[test]
    fn identity_files_add_up() {
        let (_home, file) =
            file("Host box\nIdentityFile /a\nIdentityFile /b\nHost *\nIdentityFile /c\n");
        let files = file.unwrap().query("box").identity_file.unwrap();
        assert_eq!(files, ["/a", "/b", "/c"].map(std::path::PathBuf::from));
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
            let (_home, file) = file(&format!(
                "Host box\nPort 2201\nMatch {criteria}\nUser eve\n"
            ));
            let file = file.unwrap();
            assert_eq!(file.check_matches(ASKED), Ok(()), "{criteria}");
            assert_eq!(file.query("box").user, None, "{criteria}");
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
            "\"unclosed",
        ] {
            let (home, file) = file(&format!("# mine\nMatch {criteria}\nUser eve\n"));
            let error = file.unwrap().check_matches(ASKED).unwrap_err();
            let place = format!("{}:2:", home.path().join(".ssh/config").display());
            assert!(error.contains(&place), "{error}");
            assert!(error.contains("Match"), "{error}");
        }
    }

    #[test]
    fn match_all_is_a_block_for_every_host() {
        let (_home, file) = file("Host other\nPort 1\nMatch all\nUser eve\n");
        let file = file.unwrap();
        assert_eq!(file.check_matches(ASKED), Ok(()));
        assert_eq!(file.query("box").user.as_deref(), Some("eve"));
        assert_eq!(file.query("box").port, None);
    }

    #[test]
    fn included_files_are_followed_and_a_match_in_one_is_named() {
        let (home, parsed) = file("Include extra\n");
        drop(parsed);
        let path = home.path().join(".ssh/config");
        let extra = home.path().join(".ssh/extra");
        std::fs::write(&extra, "Host box\n  Port 2200\n").unwrap();
        let parsed = File::read(&path, Some(home.path())).unwrap();
        assert_eq!(parsed.query("box").port, Some(2200));
        assert_eq!(parsed.check_matches(ASKED), Ok(()));
        std::fs::write(&extra, "Host box\n  Port 2200\nMatch user eve\nPort 1\n").unwrap();
        let parsed = File::read(&path, Some(home.path())).unwrap();
        let error = parsed.check_matches(ASKED).unwrap_err();
        assert!(error.contains("Match user eve"), "{error}");
    }

    #[test]
    fn a_mistake_is_told_with_its_line() {
        let (home, file) = file("Host box\n  User ann\n  User bob\n\n  Port twenty\n");
        let error = file.err().unwrap();
        let place = format!("{}:5: ", home.path().join(".ssh/config").display());
        assert!(error.starts_with(&place), "{error}");
    }

    #[test]
    fn a_missing_file_is_empty_and_an_unreadable_one_is_named() {
        let home = tempfile::tempdir().unwrap();
        let file = File::read(&home.path().join("none"), None).unwrap();
        assert_eq!(file.query("box").port, None);
        let error = File::read(home.path(), None).err().unwrap();
        assert!(
            error.contains(&home.path().display().to_string()),
            "{error}"
        );
    }
}
