//! What a method itself looks at before anything is made, and what it tells of it.

use std::time::Duration;

use tokio::time::timeout;

use crate::host::{Exit, ask};
use crate::method::{Bound, MethodError, RunNames};

use super::conduct::Hosts;
use super::preflight::{Check, ExamineError, Gravity};
use super::shell::text_of;

/// How long a look may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// The looks of a binding: host and exact shell text of each.
///
/// # Errors
/// Where a template cannot be filled in.
pub fn checks(bound: &Bound) -> Result<Vec<(String, String)>, MethodError> {
    let first = bound.method.roles.first();
    let names = RunNames::unknown(&bound.sandbox);
    let mut all = Vec::new();
    for def in &bound.method.checks {
        if !bound.needed(def.when.as_deref())? {
            continue;
        }
        let context = bound.head_context(&names, &def.with);
        let text = bound.templates.shell(&def.run, &context);
        let text = text.map_err(|why| MethodError::Unfit {
            method: bound.method.name.clone(),
            why: format!("check: {why}"),
        })?;
        let role = def.on.as_ref().or(first).map_or("", String::as_str);
        all.push((bound.host(role).to_owned(), text));
    }
    Ok(all)
}

/// Looks. What a check says on its error stream is why the method does not run; the lines that it
/// prints are `remark …`, `warning …`, or `ask …`: a question that the operator answers before anything is begun.
pub(super) async fn examine(
    hosts: &Hosts,
    bound: &Bound,
    check: &mut Check,
) -> Result<(), ExamineError> {
    for (name, text) in checks(bound)? {
        let Some(known) = hosts.get(&name) else {
            continue;
        };
        // A look that takes too long is the method's affair; a host that is lost is that of all.
        let asked = ask(known.host.as_ref(), &text, b"", 8192, PATIENCE * 2);
        let Ok(answer) = timeout(PATIENCE, asked).await else {
            let limit = PATIENCE.as_secs();
            let why = format!(
                "{name}: what it looks at before could not be looked through in {limit} s, so it is not begun"
            );
            check.find(Gravity::Refused, why);
            break;
        };
        let answer = answer?;
        for (gravity, what) in text_of(&answer.out).lines().filter_map(told) {
            check.find(gravity, format!("{name}: {}", plain(what)));
        }
        if answer.exit == Exit::Code(0) {
            continue;
        }
        let said = text_of(&answer.err);
        let why = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        let why = why.unwrap_or("the method's own look failed, and says no reason");
        check.find(Gravity::Refused, format!("{name}: {}", plain(why)));
        break;
    }
    Ok(())
}

/// A line that a look prints.
fn told(line: &str) -> Option<(Gravity, &str)> {
    match line.split_once(' ')? {
        ("remark", what) => Some((Gravity::Remark, what)),
        ("warning", what) => Some((Gravity::Warning, what)),
        ("ask", what) => Some((Gravity::Asked, what)),
        _ => None,
    }
}

/// Of bounded length, and without control characters.
fn plain(said: &str) -> String {
    let said = said.chars().filter(|c| !c.is_control());
    said.take(500).collect()
}
