//! What is looked at on the hosts of other roles than the first.

use std::time::Duration;

use crate::event::Bytes;
use crate::host::{Host, HostError, ask};
use crate::method::Bound;

use super::conduct::Hosts;
use super::preflight::{Check, Gravity};
use super::shell::{quote, text_of};

/// How long a look may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Looks at them. Nothing is changed.
pub(super) async fn examine(
    hosts: &Hosts,
    bound: &Bound,
    check: &mut Check,
) -> Result<(), HostError> {
    for role in bound.method.room_on.keys() {
        if let Some(known) = hosts.get(bound.host(role)) {
            room(known.host.as_ref(), role, bound, check).await?;
        }
    }
    Ok(())
}

/// Whether the scratch folder's parent is there, can be written, and has room.
async fn room(
    host: &dyn Host,
    role: &str,
    bound: &Bound,
    check: &mut Check,
) -> Result<(), HostError> {
    let text = format!(
        "s={}; if [ ! -d \"$s\" ]; then echo none; elif [ ! -w \"$s\" ]; then echo closed; else echo open; fi\n\
         df -Pk -- \"$s\" 2>/dev/null | awk 'NR == 2 {{ print $4 }}'\n",
        quote(&bound.sandbox)
    );
    let answer = ask(host, &text, b"", 4096, PATIENCE).await?;
    let said = text_of(&answer.out);
    let mut lines = said.lines();
    let (name, at) = (host.name(), &bound.sandbox);
    match lines.next() {
        Some("open") => {}
        Some("none") => {
            check.find(
                Gravity::Refused,
                format!(
                    "{name}: the folder {at}, for the copy, is not there; make it, or say --sandbox DIR"
                ),
            );
            return Ok(());
        }
        _ => {
            check.find(
                Gravity::Refused,
                format!("{name}: nothing can be written in {at}; say --sandbox DIR"),
            );
            return Ok(());
        }
    }
    let free: Option<u64> = lines.next().and_then(|kib| kib.trim().parse().ok());
    let needed = check.bytes.and_then(|bytes| {
        let copy = bound.room_on(role, bytes.0)?;
        // Two roles of one host share its room.
        let first = bound.method.roles.first()?;
        let rest = (bound.host(first) == bound.host(role)).then(|| bound.room(bytes.0));
        copy.checked_add(rest.flatten().unwrap_or(0))
    });
    if let (Some(free), Some(needed)) = (free.map(|kib| kib.saturating_mul(1024)), needed)
        && free < needed
    {
        check.find(
            Gravity::Refused,
            format!(
                "{name}: {at} has {} free; the run needs {} there",
                Bytes(free),
                Bytes(needed)
            ),
        );
    }
    Ok(())
}
