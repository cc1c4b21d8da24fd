//! The command line that runs a script, whatever the login shell is.
//!
//! A server hands the line to the user's login shell. That may be sh, bash, zsh or `BusyBox` ash,
//! but also fish or csh (root's shell on older `FreeBSD`), which read backslashes, `!` and line
//! breaks within quotes in their own ways. So this does not use a quoting library, which knows
//! POSIX shells only.

use std::fmt::Write;

use super::preamble::SAY;

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
    let mut out = String::with_capacity(script.len() * 2);
    out.push_str("eval \"$(printf %b \"");
    for byte in script.bytes() {
        match byte {
            b'\'' | b'"' | b'$' | b'`' | b'\\' | b'!' | 0..=31 | 127.. => {
                // Three digits always, or the next character could be taken for one.
                let _ = write!(out, "\\0{byte:03o}");
            }
            other => out.push(char::from(other)),
        }
    }
    out.push_str("\")\"");
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
