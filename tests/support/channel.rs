//! Running short scripts on a host, and reading what a channel says.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::time::Duration;

use comeback::host::{Answer, Channel, Exit, Host, Said, ask};
use tokio::time::timeout;

/// Long enough for a busy machine; nothing waits so long unless it hangs.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Runs a script without input.
pub async fn run(host: &dyn Host, script: &str) -> Answer {
    ask(host, script, b"", 1 << 20, PATIENCE).await.unwrap()
}

/// The next thing that is said.
pub async fn said(channel: &mut Channel) -> Option<Said> {
    timeout(PATIENCE, channel.output.recv()).await.unwrap()
}

/// All of standard output, and how it ended.
pub async fn rest(channel: &mut Channel) -> (Vec<u8>, Option<Exit>) {
    let mut out = Vec::new();
    let mut exit = None;
    while let Some(said) = said(channel).await {
        assert_eq!(exit, None, "something was said after the exit");
        match said {
            Said::Out(bytes) => out.extend(bytes),
            Said::Err(_) => {}
            Said::Exit(how) => exit = Some(how),
        }
    }
    (out, exit)
}
