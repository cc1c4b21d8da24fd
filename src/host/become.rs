//! A host on which scripts run as another user than the one who logged in.
//!
//! Whatever asks the host (supervisor, facts, hashing, guard) sees that user alone. The command
//! (`sudo -n`, `doas -n`, `sudo -n -u backup`) is the operator's own text, and part of a shell
//! line as it is written. It must take a command and its arguments, and hand on input, output
//! and status.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::time::timeout;

use super::sh::{BECOME, COMMON, Vars, with_environment};
use super::ssh::text::plain;
use super::{Answer, Channel, Host, HostError, SharedHost, ask};
use crate::event::Became;

/// How long the command may take to let a script begin.
const LIMIT: Duration = Duration::from_secs(10);

/// What the host may need beyond that.
const BEYOND: Duration = Duration::from_secs(10);

/// How much of what the trial says is kept.
const ANSWER: usize = 1 << 16;

/// What makes a line of the trial ours.
const MARK: &str = "comeback:become";

/// The status of the trial, by which is seen that one comes through at all.
const STATUS: &str = "7";

/// A host through a command that makes another user of the one who logged in.
pub struct Become {
    host: SharedHost,
    became: Became,
}

impl Become {
    /// The same host through `command`, after it was tried there.
    ///
    /// # Errors
    /// [`HostError::Refused`] where no script runs through it: what was tried, what it said,
    /// and what to do. [`HostError::Down`] where the host is lost.
    pub async fn through(host: SharedHost, command: &str) -> Result<SharedHost, HostError> {
        let command = command.trim();
        let login = trial(&*host, command, LIMIT).await?;
        let by = command.to_owned();
        Ok(Arc::new(Self {
            host,
            became: Became { login, by },
        }))
    }

    /// What the user who logged in runs.
    fn line(&self, script: &str) -> Result<String, HostError> {
        // The command may clear the environment, so the script makes its own again.
        let script = with_environment(script);
        let script = shlex::try_quote(&script).map_err(|_nul| HostError::Refused {
            host: self.name().to_owned(),
            why: "the script holds a NUL byte".to_owned(),
        })?;
        Ok(format!("{} /bin/sh -c {script}", self.became.by))
    }
}

impl Host for Become {
    fn name(&self) -> &str {
        self.host.name()
    }

    fn address(&self) -> Option<String> {
        self.host.address()
    }

    fn exec<'a>(&'a self, script: &'a str) -> BoxFuture<'a, Result<Channel, HostError>> {
        async move { self.host.exec(&self.line(script)?).await }.boxed()
    }

    fn exec_beside<'a>(&'a self, script: &'a str) -> BoxFuture<'a, Result<Channel, HostError>> {
        async move { self.host.exec_beside(&self.line(script)?).await }.boxed()
    }

    fn became(&self) -> Option<Became> {
        Some(self.became.clone())
    }
}

/// Runs a small script through the command, without a terminal, and says who logged in.
async fn trial(host: &dyn Host, command: &str, limit: Duration) -> Result<String, HostError> {
    let refused = |why: String| HostError::Refused {
        host: host.name().to_owned(),
        why: format!("become: {why}"),
    };
    let who = format!("echo '{MARK} as' \"$(id -u)\"\nexit {STATUS}");
    let set = || {
        Vars::default()
            .set("mark", MARK)?
            .set("command", command)?
            .set("who", &with_environment(&who))
    };
    let script = set()
        .map_err(|_nul| refused(format!("{command:?} holds a NUL byte")))?
        .number("limit", limit.as_secs())
        .script(&[COMMON, BECOME]);
    let patience = limit + BEYOND;
    let Ok(answer) = timeout(patience, ask(host, &script, b"", ANSWER, patience * 2)).await else {
        return Err(refused(hangs(command, limit)));
    };
    let heard = Heard::of(&answer?);
    let user = heard.login.as_deref().unwrap_or("the user who logged in");
    match (&heard.uid, heard.status.as_deref()) {
        (Some(_), Some(STATUS)) => Ok(heard.login.unwrap_or_default()),
        (Some(_), _) => Err(refused(format!(
            "`{}` hides how a command ended (a script with status {STATUS} ended with {}); use \
             one that hands the status on, such as `sudo -n`",
            plain(command),
            heard.status.as_deref().unwrap_or("none"),
        ))),
        // Ended from outside, as `become.sh` does after its limit.
        (None, Some("143")) => Err(refused(hangs(command, limit))),
        (None, Some("127")) => Err(refused(format!(
            "`{}` is not there for {user}: it said {:?}; install it, or log in as the user whose \
             rights are needed",
            plain(command),
            heard.said,
        ))),
        (None, _) => Err(refused(format!(
            "`{}` runs nothing for {user}: it said {:?}; let {user} run it without a password \
             (for sudo, a line such as `{} ALL=(ALL) NOPASSWD: ALL` in the host's sudoers), or log \
             in as the user whose rights are needed",
            plain(command),
            heard.said,
            heard.login.as_deref().unwrap_or("ann"),
        ))),
    }
}

fn hangs(command: &str, limit: Duration) -> String {
    format!(
        "`{}` did not begin within {} s; if it asks for a password, which nobody can type there, \
         use one that does not ask (`sudo -n`, with NOPASSWD in the host's sudoers), or log in as \
         the user whose rights are needed",
        plain(command),
        limit.as_secs()
    )
}

/// What the trial said.
#[derive(Default)]
struct Heard {
    /// Who logged in.
    login: Option<String>,
    /// Who the script was.
    uid: Option<String>,
    /// How it ended.
    status: Option<String>,
    /// What else was said, on either stream.
    said: String,
}

impl Heard {
    fn of(answer: &Answer) -> Self {
        let mut heard = Self::default();
        let mut said = String::from_utf8_lossy(&answer.err).into_owned();
        for line in String::from_utf8_lossy(&answer.out).lines() {
            let ours = line
                .strip_prefix(MARK)
                .and_then(|line| line.trim_start().split_once(' '));
            match ours {
                Some(("login", name)) => heard.login = Some(plain(name)),
                Some(("as", uid)) => heard.uid = Some(plain(uid)),
                Some(("status", status)) => heard.status = Some(plain(status)),
                _ => {
                    said.push('\n');
                    said.push_str(line);
                }
            }
        }
        heard.said = plain(&said);
        heard
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::host::{Exit, LocalHost, Said};

    const PATIENCE: Duration = Duration::from_secs(30);

    fn local() -> SharedHost {
        Arc::new(LocalHost::new())
    }

    async fn refused(command: &str, limit: u64) -> String {
        let tried = trial(&*local(), command, Duration::from_secs(limit)).await;
        match tried {
            Err(HostError::Refused { why, .. }) => why,
            other => panic!("{command}: {other:?}"),
        }
    }

    #[tokio::test]
    async fn scripts_pass_through_as_they_are() {
        for command in ["env -i", "X='a b' env --", "cd / && exec env -i A=1"] {
            let host = Become::through(local(), command).await.unwrap();
            assert!(!host.is_local());
            assert_eq!(host.name(), "local");
            assert_eq!(host.became().unwrap().by, command);
            let script = "# it's \"$HOME\" \\ `date`\nprintf '%s|' 'a\n'\\''b' \"\\$x\" \"$LC_ALL\"\ncat; echo \"$PATH\" >&2; exit 5";
            let answer = ask(&*host, script, b"\0in\n", 1 << 16, PATIENCE)
                .await
                .unwrap();
            assert_eq!(answer.out, b"a\n'b|$x|C|\0in\n", "{command}");
            assert!(answer.err.ends_with(b"/usr/sbin:/usr/bin:/sbin:/bin\n"));
            assert_eq!(answer.exit, Exit::Code(5));
        }
    }

    /// A system takes 128 KiB as one argument, and on its way to a login shell each byte that
    /// means something to a shell becomes five.
    #[test]
    fn the_longest_scripts_fit_into_an_argument() {
        use crate::host::facts::{Wanted, scripts};

        let path = |n| format!("/srv/{}/it's \"$(a)\" `b` \\ {n}\n", "x".repeat(100));
        let paths: Vec<String> = (0..500).map(path).collect();
        let wanted = Wanted {
            paths: &paths,
            ..Wanted::default()
        };
        let all = scripts(&wanted).unwrap();
        assert!(all.len() > 1);
        for script in all {
            let script = with_environment(&script);
            let line = with_environment(&shlex::try_quote(&script).unwrap());
            let cost = |byte: u8| match byte {
                b'\'' | b'"' | b'$' | b'`' | b'\\' | b'!' | 0..=31 | 127.. => 5,
                _ => 1,
            };
            let bytes: usize = line.bytes().map(cost).sum();
            assert!(bytes < 100 << 10, "{} bytes become {bytes}", script.len());
        }
    }

    #[tokio::test]
    async fn what_is_fed_line_by_line_is_heard_at_once() {
        let host = Become::through(local(), "env").await.unwrap();
        let mut channel = host
            .exec("while read -r line; do echo \"<$line>\"; done")
            .await
            .unwrap();
        for _ in 0..3 {
            channel.stdin.write_all(b"x\n").await.unwrap();
            channel.stdin.flush().await.unwrap();
            assert_eq!(
                channel.output.recv().await,
                Some(Said::Out(b"<x>\n".to_vec()))
            );
        }
        drop(channel.stdin);
        assert_eq!(channel.output.recv().await, Some(Said::Exit(Exit::Code(0))));
    }

    #[tokio::test]
    async fn a_command_that_does_not_work_is_named_with_what_it_said() {
        let why = refused("echo 'a \u{1b}[31mpassword is required' >&2; false", 5).await;
        for word in ["become: `echo", "a  [31mpassword is required", "NOPASSWD"] {
            assert!(why.contains(word), "{word}: {why}");
        }
        let why = refused("no-such-sudo -n", 5).await;
        assert!(
            why.contains("no-such-sudo") && why.contains("install"),
            "{why}"
        );
        let why = refused("hide() { \"$@\"; :; }; hide", 5).await;
        assert!(why.contains("hides how a command ended"), "{why}");
        assert!(refused("a\0b", 5).await.contains("NUL"));
    }

    #[tokio::test]
    async fn one_that_asks_for_a_password_has_no_terminal_and_a_limit() {
        let begun = std::time::Instant::now();
        let why = refused(
            "cat; (: </dev/tty) 2>/dev/null && exit 1; sleep 1000; echo",
            1,
        )
        .await;
        assert!(
            why.contains("within 1 s") && why.contains("sudo -n"),
            "{why}"
        );
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}
