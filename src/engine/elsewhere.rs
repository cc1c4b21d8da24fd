//! What is looked at on the hosts of other roles than the first.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::event::Bytes;
use crate::host::{Exit, Host, HostError, ask};
use crate::method::{Bound, MethodError, RunNames, unknown_value};

use super::conduct::Hosts;
use super::direct;
use super::preflight::{Check, ExamineError, Gravity, RoomOn};
use super::preview::{Doing, doing};
use super::shell::{quote, text_of};

/// How long a look may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Looks at them. Nothing is changed.
pub(super) async fn examine(
    hosts: &Hosts,
    bound: &Bound,
    check: &mut Check,
) -> Result<(), ExamineError> {
    for role in bound.method.room_on.keys() {
        if let Some(known) = hosts.get(bound.host(role)) {
            room(known.host.as_ref(), role, bound, check).await?;
        }
    }
    for (from, to) in direct_pairs(bound)? {
        reach(hosts, &from, &to, check).await?;
    }
    Ok(())
}

/// Which host is to reach which other by itself.
fn direct_pairs(bound: &Bound) -> Result<BTreeSet<(String, String)>, MethodError> {
    let names = RunNames::unknown(&bound.sandbox);
    let mut values = BTreeMap::new();
    let mut pairs = BTreeSet::new();
    for step in &bound.steps {
        if step.step.is_stream() {
            let context = bound.context(&names, &values, step.item.as_ref(), &step.step);
            if let Doing::Stream(stream) = doing(bound, step, &context, 1)?
                && let (Some(_), [from, to]) = (&stream.direct, &stream.segments[..])
            {
                pairs.insert((from.host.clone(), to.host.clone()));
            }
        }
        let given = step.step.gives.keys();
        values.extend(given.map(|name| (name.clone(), unknown_value(name))));
    }
    Ok(pairs)
}

/// Whether one host can log into another with what it has.
async fn reach(hosts: &Hosts, from: &str, to: &str, check: &mut Check) -> Result<(), HostError> {
    let (Some(sender), Some(receiver)) = (hosts.get(from), hosts.get(to)) else {
        return Ok(());
    };
    if let Some(became) = receiver.host.became() {
        check.find(
            Gravity::Refused,
            format!(
                "{from} cannot send to {to} directly: commands on {to} run through `{}` (become), \
                 and {from} would log in without it; send through this machine (via = here), or \
                 name {to} by the user whose rights are needed",
                became.by
            ),
        );
        return Ok(());
    }
    if receiver.info.address.is_none() || receiver.info.login.is_none() {
        check.find(
            Gravity::Refused,
            format!(
                "{from} cannot reach {to} directly: this machine has no name for others; send \
                 through it (via = here)"
            ),
        );
        return Ok(());
    }
    let ssh = direct::ssh(&receiver.info);
    let answer = ask(
        sender.host.as_ref(),
        &format!("{ssh} true"),
        b"",
        8192,
        PATIENCE,
    )
    .await?;
    if answer.exit != Exit::Code(0) {
        let said = text_of(&answer.err);
        let said = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        let why: String = said
            .unwrap_or("it says no reason")
            .chars()
            .filter(|c| !c.is_control())
            .take(300)
            .collect();
        check.find(
            Gravity::Refused,
            format!(
                "{from} cannot log into {to} by itself ({ssh} true: {why}); give it a key and the \
                 host key of {to}, or send through this machine (via = here)"
            ),
        );
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
    let free = free.map(|kib| kib.saturating_mul(1024));
    if let Some(needed) = needed {
        check.elsewhere.push(RoomOn {
            host: name.to_owned(),
            needs: Bytes(needed),
            free: free.map(Bytes),
        });
    }
    if let (Some(free), Some(needed)) = (free, needed)
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
