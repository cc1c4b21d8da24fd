//! The lines of the ssh configuration that apply to a name, in order: the operator's file and
//! then the machine's, with what they include.

use std::path::{Path, PathBuf};

use wildmatch::WildMatch;

use super::Config;
use super::lines;
use super::text::plain;

/// Files may include others so deep, as for ssh.
const DEPTH: usize = 16;
/// So many lines that apply are read at most.
const MOST_LINES: usize = 100_000;
/// Keywords with one value: of two, one would be missed.
const SINGLE: &[&str] = &[
    "batchmode",
    "connecttimeout",
    "hashknownhosts",
    "hostkeyalias",
    "hostname",
    "identitiesonly",
    "identityfile",
    "port",
    "proxyjump",
    "stricthostkeychecking",
    "user",
];

/// A `Match` line, whose block is not followed.
pub(super) struct Match {
    /// `file:line`.
    pub(super) place: String,
    pub(super) criteria: String,
}

/// Reads all files; one that is not there is empty.
///
/// # Errors
/// A file cannot be read or understood; the sentence names file and line.
pub(super) fn read(config: &Config, named: &str) -> Result<(Vec<Line>, Vec<Match>), String> {
    let mut reader = Reader {
        named,
        home: config.home.as_deref(),
        lines: Vec::new(),
        matches: Vec::new(),
    };
    let ssh = config.home.as_ref().map(|home| home.join(".ssh"));
    if let Some(file) = &config.file {
        nobody_elses(file)?;
        reader.file(file, ssh.as_deref(), true, 0)?;
    }
    if let Some(file) = &config.system_file {
        reader.file(file, file.parent(), false, 0)?;
    }
    Ok((reader.lines, reader.matches))
}

/// A line that applies.
pub(super) struct Line {
    /// `file:line`.
    pub(super) place: String,
    /// In lower case.
    pub(super) keyword: String,
    pub(super) words: Vec<String>,
}

struct Reader<'a> {
    named: &'a str,
    home: Option<&'a Path>,
    lines: Vec<Line>,
    matches: Vec<Match>,
}

impl Reader<'_> {
    /// Reads a file, whose relative includes are below `base`; `~` means the home in files of
    /// the operator alone.
    fn file(
        &mut self,
        path: &Path,
        base: Option<&Path>,
        tilde: bool,
        depth: usize,
    ) -> Result<(), String> {
        let mut all = Vec::new();
        lines::each(path, |number, line| {
            all.push((number, String::from_utf8_lossy(line).into_owned()));
        })?;
        let mut applies = true;
        for (number, line) in all {
            let place = format!("{}:{number}", path.display());
            let Some((keyword, rest)) = split(&line) else {
                continue;
            };
            let words = words(rest).ok_or_else(|| format!("{place}: a quote is not closed"))?;
            let wrong = match words.len() {
                0 => Some("no value"),
                1 => None,
                _ => SINGLE
                    .contains(&keyword.as_str())
                    .then_some("more than one value"),
            };
            if let Some(wrong) = wrong {
                return Err(format!("{place}: `{}` has {wrong}", plain(&keyword)));
            }
            match keyword.as_str() {
                "host" => applies = hosts(&words, self.named),
                "match" => {
                    applies =
                        matches!(words.as_slice(), [only] if only.eq_ignore_ascii_case("all"));
                    if !applies {
                        let criteria = rest.to_owned();
                        self.matches.push(Match { place, criteria });
                    }
                }
                _ if !applies => {}
                "include" => {
                    for word in &words {
                        let files = included(word, base, self.home.filter(|_| tilde))
                            .map_err(|why| format!("{place}: Include {}: {why}", plain(word)))?;
                        if depth == DEPTH {
                            return Err(format!("{place}: files include each other too deep"));
                        }
                        for file in files {
                            self.file(&file, base, tilde, depth + 1)?;
                        }
                    }
                }
                _ if self.lines.len() == MOST_LINES => {
                    return Err(format!("{place}: more than {MOST_LINES} lines apply"));
                }
                _ => self.lines.push(Line {
                    place,
                    keyword,
                    words,
                }),
            }
        }
        Ok(())
    }
}

/// The files that an `Include` names, in order.
fn included(word: &str, base: Option<&Path>, home: Option<&Path>) -> Result<Vec<PathBuf>, String> {
    let escaped = |folder: &Path| glob::Pattern::escape(&folder.to_string_lossy());
    let pattern = match word.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let home = home.ok_or("there is no home that `~` could mean here")?;
            format!("{}{rest}", escaped(home))
        }
        Some(_) => return Err("another user's home is not looked up".to_owned()),
        None if word.starts_with('/') => word.to_owned(),
        None => {
            let base = base.ok_or("there is no folder that it could be relative to")?;
            format!("{}/{word}", escaped(base))
        }
    };
    let options = glob::MatchOptions {
        require_literal_separator: true,
        require_literal_leading_dot: true,
        ..glob::MatchOptions::default()
    };
    glob::glob_with(&pattern, options)
        .map_err(|error| error.to_string())?
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())
}

/// A line's keyword in lower case, and what follows it; nothing where it is blank or a comment.
fn split(line: &str) -> Option<(String, &str)> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (keyword, rest) = line
        .split_once(|c: char| c.is_whitespace() || c == '=')
        .map_or((line, ""), |(keyword, _)| {
            (keyword, line.strip_prefix(keyword).unwrap_or_default())
        });
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('=').unwrap_or(rest).trim_start();
    Some((keyword.trim_matches('"').to_lowercase(), rest))
}

/// The words of a line, without quotes and the comment behind them; nothing where a quote is
/// not closed. As `argv_split` of OpenSSH.
pub(super) fn words(text: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    let mut chars = text.chars().peekable();
    loop {
        while chars.next_if(|c| [' ', '\t'].contains(c)).is_some() {}
        if chars.peek().is_none_or(|c| *c == '#') {
            return Some(all);
        }
        let mut word = String::new();
        let mut quote = None;
        loop {
            match (chars.next(), quote) {
                (None, Some(_)) => return None,
                (None | Some(' ' | '\t'), None) => break,
                (Some('\\'), _) => {
                    let escaped =
                        |c: &char| ['\'', '"', '\\'].contains(c) || (*c == ' ' && quote.is_none());
                    word.push(chars.next_if(escaped).unwrap_or('\\'));
                }
                (Some(c @ ('"' | '\'')), None) => quote = Some(c),
                (Some(c), Some(open)) if c == open => quote = None,
                (Some(c), _) => word.push(c),
            }
        }
        all.push(word);
    }
}

/// Whether a `Host` line names a host: one pattern does, and none that is negated.
fn hosts(patterns: &[String], name: &str) -> bool {
    let mut found = false;
    for pattern in patterns {
        match pattern.strip_prefix('!') {
            Some(pattern) if WildMatch::new(pattern).matches(name) => return false,
            Some(_) => {}
            None => found |= WildMatch::new(pattern).matches(name),
        }
    }
    found
}

/// Whether nobody else could have written the operator's file: it says where logins go, and which
/// host keys are known. ssh takes no other either.
fn nobody_elses(file: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;

    let Ok(about) = std::fs::metadata(file) else {
        return Ok(());
    };
    let me = rustix::process::getuid().as_raw();
    let of_another = about.uid() != 0 && about.uid() != me;
    if about.is_file() && (of_another || about.mode() & 0o022 != 0) {
        return Err(format!(
            "{file}: others may write it, so it is not used, as ssh has it; own it, and run: \
             chmod 600 {file}",
            file = file.display()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_ssh() {
        for (text, wanted) in [
            ("a  b\tc", &["a", "b", "c"][..]),
            ("\"a b\" 'c d' # e", &["a b", "c d"]),
            ("a#b #c", &["a#b"]),
            (r#"a\ b "c\"d" e\f"#, &["a b", "c\"d", "e\\f"]),
            ("x\"y z\"", &["xy z"]),
            ("\"\"", &[""]),
        ] {
            assert_eq!(words(text).unwrap(), wanted, "{text}");
        }
        assert_eq!(words("\"open"), None);
    }

    #[test]
    fn a_file_that_others_may_write_is_not_used() {
        use std::os::unix::fs::PermissionsExt;

        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("config");
        std::fs::write(&file, "Host box\n").unwrap();
        for (mode, good) in [(0o600, true), (0o644, true), (0o664, false), (0o646, false)] {
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
            assert_eq!(nobody_elses(&file).is_ok(), good, "{mode:o}");
        }
        assert!(nobody_elses(&home.path().join("none")).is_ok());
    }
}
