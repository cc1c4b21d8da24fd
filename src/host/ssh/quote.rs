//! The command line that runs a script, whatever the login shell is.
//!
//! A server hands the line to the user's login shell. That may be sh, bash, zsh or `BusyBox` ash,
//! but also fish or csh (root's shell on older `FreeBSD`), which read backslashes, `!` and line
//! breaks within quotes in their own ways. So this does not use a quoting library, which knows
//! POSIX shells only.

use std::fmt::Write;

use super::preamble::SAY;

/// The longest line that every server takes: Dropbear's limit is 9000 bytes.
const SHORT: usize = 8000;

/// What a server is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// The line for the login shell.
    pub(super) line: String,
    /// What it reads before anything else: the script, where it is too long for a line.
    pub(super) first: Vec<u8>,
}

/// How a script is run, by a server that takes long lines or not.
///
/// # Errors
/// The script holds a NUL byte, which no argument can.
pub(super) fn asked(script: &str, long: bool) -> Result<Asked, &'static str> {
    let line = command(script)?;
    if long || line.len() <= SHORT {
        let first = Vec::new();
        return Ok(Asked { line, first });
    }
    // A shell reads a line from a pipe byte by byte, so what comes behind it is the script's. One
    // that broke off is not run.
    let read = r#"IFS= read -r script && eval "$(printf %b "$script")""#;
    Ok(Asked {
        line: format!("exec /bin/sh -c '{SAY}{read}'"),
        first: format!("{}\n", octal(script)).into_bytes(),
    })
}

/// The line that has the login shell become `/bin/sh -c script`, which first says that it has
/// begun.
///
/// # Errors
/// The script holds a NUL byte, which no argument can.
pub(super) fn command(script: &str) -> Result<String, &'static str> {
    if script.contains('\0') {
        return Err("the script holds a NUL byte");
    }
    Ok(if script.contains(['\n', '\r']) {
        format!("exec /bin/sh -c '{SAY}{}'", encoded(script))
    } else {
        format!("exec /bin/sh -c '{SAY}{}'", quoted(script))
    })
}

/// Text within single quotes. What any of the shells would not take literally there stands
/// outside of them, behind a backslash, where all of them do.
fn quoted(script: &str) -> String {
    let mut out = String::with_capacity(script.len());
    for c in script.chars() {
        match c {
            '\'' | '\\' | '!' => {
                out.push_str("'\\");
                out.push(c);
                out.push('\'');
            }
            other => out.push(other),
        }
    }
    out
}

/// csh takes no line break within quotes, and nothing but quotes can hold one for sh. So the
/// inner sh is given text without any, out of which it makes the script.
fn encoded(script: &str) -> String {
    format!("eval \"$(printf %b \"{}\")\"", octal(script))
}

/// Text of plain characters, out of which `printf %b` makes the script.
fn octal(script: &str) -> String {
    let mut out = String::with_capacity(script.len() * 2);
    for byte in script.bytes() {
        match byte {
            b'\'' | b'"' | b'$' | b'`' | b'\\' | b'!' | 0..=31 | 127.. => {
                // Three digits always, or the next character could be taken for one.
                let _ = write!(out, "\\0{byte:03o}");
            }
            other => out.push(char::from(other)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::preamble::MARK;
    use super::*;
    use proptest::prelude::*;
    use std::path::Path;
    use std::process::{Command, Output};

    /// Every login shell that is installed here, as sshd would call it.
    fn shells() -> Vec<Vec<&'static str>> {
        let known: [&[&str]; 8] = [
            &["/bin/sh"],
            &["/bin/bash"],
            &["/bin/dash"],
            &["/usr/bin/zsh"],
            &["/usr/bin/fish"],
            &["/bin/tcsh"],
            &["/bin/csh"],
            &["/usr/bin/busybox", "ash"],
        ];
        known
            .iter()
            .filter(|shell| Path::new(shell[0]).exists())
            .map(|shell| shell.to_vec())
            .collect()
    }

    fn run(shell: &[&str], line: &str) -> Output {
        Command::new(shell[0])
            .args(&shell[1..])
            .args(["-c", line])
            .env("HOME", "/nonexistent")
            .output()
            .unwrap()
    }

    fn same_in_every_shell(script: &str) {
        let wanted = run(&["/bin/sh"], script);
        for shell in shells() {
            let got = run(&shell, &command(script).unwrap());
            let wanted_out = [MARK, &wanted.stdout].concat();
            assert_eq!(got.stdout, wanted_out, "{shell:?}: {script:?}");
            assert!(got.stderr.starts_with(MARK), "{shell:?}: {script:?}");
            assert_eq!(
                got.status.code(),
                wanted.status.code(),
                "{shell:?}: {script:?}"
            );
        }
    }

    #[test]
    fn odd_scripts_reach_sh_as_they_are() {
        for script in [
            "printf '%s|' 'a b' \"c'd\" '\\' '\\\\' '!x' \"$HOME\" `echo hi` {a,b} '*' '#'",
            "echo 'a\\nb' 'it'\\''s' \"\\$x\" '%s %d 100%'\necho two\ncat <<E\n$((1+2)) \\$v ! é\nE\n",
            "exit 3",
            "x='!'; echo \"$x!!\" ^a^b^ \t tab",
            "\n\n# a comment\necho \"a\\\\b\" 'ä€' \n\n",
            "echo carriage\\\r return",
            "echo '; rm -rf /nonexistent; $(reboot) `reboot`' \"&& false\"; false || exit 7",
            "",
        ] {
            same_in_every_shell(script);
        }
    }

    #[test]
    fn a_script_that_is_too_long_for_a_line_is_read_first() {
        use std::io::Write as _;

        let script = format!(
            "# {}\nprintf '%s|' 'a\\nb' \"it's \\$x\" é\ncat; exit 3\n",
            "long ".repeat(2000)
        );
        assert!(asked(&script, true).unwrap().first.is_empty());
        let asked = asked(&script, false).unwrap();
        assert!(asked.line.len() <= SHORT);
        for shell in shells() {
            for whole in [true, false] {
                let mut child = Command::new(shell[0])
                    .args(&shell[1..])
                    .args(["-c", &asked.line])
                    .env("HOME", "/nonexistent")
                    .stdin(std::process::Stdio::piped())
                    .stdout(std::process::Stdio::piped())
                    .stderr(std::process::Stdio::null())
                    .spawn()
                    .unwrap();
                let mut stdin = child.stdin.take().unwrap();
                let (text, _) = asked.first.split_at(asked.first.len() - 1);
                let sent = if whole {
                    [&asked.first, &b"the rest\0"[..]].concat()
                } else {
                    text.to_vec()
                };
                let _ = stdin.write_all(&sent);
                drop(stdin);
                let got = child.wait_with_output().unwrap();
                let expected: &[u8] = if whole {
                    "a\\nb|it's $x|é|the rest\0".as_bytes()
                } else {
                    b""
                };
                assert_eq!(got.stdout, [MARK, expected].concat(), "{shell:?}");
                assert_eq!(
                    got.status.code(),
                    Some(if whole { 3 } else { 1 }),
                    "{shell:?}"
                );
            }
        }
    }

    #[test]
    fn a_nul_byte_is_refused() {
        assert!(command("echo \0").is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn any_text_comes_through(text in "[ -~\n\té€]{0,60}") {
            let quoted = text.replace('\'', "'\\''");
            same_in_every_shell(&format!("printf %s '{quoted}'"));
        }
    }
}
