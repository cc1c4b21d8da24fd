//! What the files of a node of Proxmox VE say of its tasks.

use std::time::Duration;

use crate::host::Host;
use crate::progress::task::{Listed, Upid, Verdict, fitting, last_line, listed, same_log, told};

use super::EngineError;
use super::shell::{quote, script};

/// Where a node keeps its tasks.
pub(super) const TASKS: &str = "/var/log/pve/tasks";
/// How long a short look may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// How a task ended: when, and how.
pub(super) struct Over {
    pub end: Option<u64>,
    pub verdict: Verdict,
}

/// The one task since then that a command has become.
pub(super) async fn find(
    host: &dyn Host,
    since: u64,
    command: &str,
    out: &str,
) -> Result<Option<Upid>, EngineError> {
    if let Some(upid) = told(out) {
        return Ok(Some(upid));
    }
    let all = list(host, since).await?;
    let fits = fitting(&all, command);
    if let [one] = fits[..] {
        return Ok(Some(one.upid.clone()));
    }
    // Somebody else's may fit as well: what was printed is the log of one.
    let mut same = Vec::new();
    for one in fits {
        let path = quote(&format!("{TASKS}/{}", one.upid.log()));
        let text = format!("head -c 65536 {path} 2>/dev/null || :");
        let log = script(host, "read the log of a task", &text, PATIENCE).await?;
        if same_log(out, &log) {
            same.push(one.upid.clone());
        }
    }
    Ok(match &same[..] {
        [one] => Some(one.clone()),
        _ => None,
    })
}

/// The node's tasks that began no earlier.
pub(super) async fn list(host: &dyn Host, since: u64) -> Result<Vec<Listed>, EngineError> {
    let text = format!(
        "cat {TASKS}/active {TASKS}/index {TASKS}/index.1 2>/dev/null | awk -F: -v since={since:08X} '$1 == \"UPID\" && ($5 \"\") >= (since \"\")'"
    );
    let said = script(host, "list the node's tasks", &text, PATIENCE).await?;
    Ok(listed(&said))
}

/// Whether its process is there: a number alone proves nothing, it may be used again.
pub(super) async fn lives(host: &dyn Host, upid: &Upid) -> Result<bool, EngineError> {
    let text = format!(
        "line=; {{ read -r line </proc/{}/stat; }} 2>/dev/null; set -- ${{line##*) }}; [ \"${{20-}}\" = {} ] && [ \"$1\" != Z ] && echo lives || :",
        upid.pid, upid.pstart
    );
    let said = script(host, "look at a task's process", &text, PATIENCE).await?;
    Ok(said == "lives")
}

/// What the log of a task says that ended unnoticed.
pub(super) async fn last(host: &dyn Host, upid: &Upid) -> Result<Over, EngineError> {
    let path = quote(&format!("{TASKS}/{}", upid.log()));
    let text = format!("stat -c %Y {path} 2>/dev/null || echo; tail -n 1 {path} 2>/dev/null || :");
    let said = script(host, "read the end of a task's log", &text, PATIENCE).await?;
    let (end, line) = said.split_once('\n').unwrap_or((&said, ""));
    Ok(Over {
        end: end.trim().parse().ok(),
        verdict: last_line(line),
    })
}
