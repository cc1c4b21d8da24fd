//! What would run, what is missing, and why: before anything is changed.

use std::time::Duration;

use crate::event::{BindingId, Bytes, Subject};
use crate::host::{Host, HostError, ask};
use crate::method::{Bound, MethodError, SettingValue};

use super::conduct::Hosts;
use super::guard::Confirmation;
use super::shell::{quote, text_of};
use super::thick::{self, Thick};

/// How long the look at a subject may take: a big tree is counted no longer than this.
const PATIENCE: Duration = Duration::from_mins(1);

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gravity {
    /// Worth knowing.
    Remark,
    /// Something is odd.
    Warning,
    /// It runs where the operator says yes.
    Asked,
    /// It does not run.
    Refused,
}

/// Something that was found before the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How grave.
    pub gravity: Gravity,
    /// In one sentence.
    pub text: String,
}

/// Room that is needed on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomOn {
    /// The host.
    pub host: String,
    /// Bytes that the scratch folder's parent must have free there.
    pub needs: Bytes,
    /// Bytes that are free, where that is known.
    pub free: Option<Bytes>,
}

/// What was found about one binding.
#[derive(Debug, Clone, Default)]
pub struct Check {
    /// The binding.
    pub binding: BindingId,
    /// What was found.
    pub findings: Vec<Finding>,
    /// Bytes of the subject, where they could be counted.
    pub bytes: Option<Bytes>,
    /// Bytes that the scratch folder must have free.
    pub room: Option<Bytes>,
    /// Bytes that are free there.
    pub free: Option<Bytes>,
    /// What is allocated of the subject and what is not, where this method makes bytes of its holes.
    pub thick: Option<Thick>,
    /// Room that it needs on hosts of other roles.
    pub elsewhere: Vec<RoomOn>,
    /// Whether the operator marked the subject on its host.
    pub marked: bool,
    /// The subject's own name, where its id does not tell it.
    pub name: Option<String>,
    /// What destroying the subject would take that no copy brings back.
    pub loses: Vec<String>,
}

impl Check {
    /// Why it does not run; absent where it does.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        self.findings
            .iter()
            .find(|finding| finding.gravity == Gravity::Refused)
            .map(|finding| finding.text.as_str())
    }

    pub(super) fn find(&mut self, gravity: Gravity, text: String) {
        self.findings.push(Finding { gravity, text });
    }
}

/// Looks at one binding. Nothing is changed on any host.
///
/// # Errors
/// Where a host is lost, or a condition of the method is wrong.
pub async fn examine(
    hosts: &Hosts,
    bound: &Bound,
    confirmed: &[Confirmation],
) -> Result<Check, ExamineError> {
    let mut check = Check {
        binding: bound.binding.id.clone(),
        ..Check::default()
    };
    super::needs::examine(bound, &mut check)?;
    for info in bound.hosts.values() {
        if !info.facts.state_writable {
            check.find(
                Gravity::Refused,
                format!(
                    "{}: the state folder {} cannot be made or written; name another in the configuration (host.{}.state)",
                    info.name, info.facts.state, info.name
                ),
            );
        }
    }
    let role = bound.method.roles.first().map_or("source", String::as_str);
    if let Some(known) = hosts.get(bound.host(role)) {
        look(known.host.as_ref(), bound, &mut check).await?;
    }
    super::elsewhere::examine(hosts, bound, &mut check).await?;
    if check.refusal().is_none() {
        super::ahead::examine(hosts, bound, &mut check).await?;
    }
    destroys(bound, confirmed, &mut check)?;
    disks(bound, &mut check);
    Ok(check)
}

/// Why a binding could not be looked at.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ExamineError {
    /// The host is lost.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The method is wrong.
    #[error(transparent)]
    Method(#[from] MethodError),
}

// A path may hold line ends, of which each is a \u{1} here: what stands below it must not be
// taken for an answer.
// One look: is the scratch parent there, is the subject there, where do they stand, how big is it?
async fn look(host: &dyn Host, bound: &Bound, check: &mut Check) -> Result<(), ExamineError> {
    let subject = &bound.binding.subject;
    let named = Some(subject)
        .filter(|subject| !subject.own)
        .and_then(|subject| super::named::look(&subject.kind, &subject.id));
    let scratch = quote(&bound.sandbox);
    let mut text = format!(
        "s={scratch}; if [ ! -d \"$s\" ]; then echo none; elif [ ! -w \"$s\" ]; then echo closed; else echo open; fi\n(cd -- \"$s\" 2>/dev/null && pwd -P) | tr '\\n' '\\001'; echo\ndf -Pk -- \"$s\" 2>/dev/null | awk 'NR == 2 {{ print $4 }}' | grep . || echo 0\n"
    );
    if let Some(look) = &named {
        text.push_str(look);
        if thick::applies(bound)? {
            text.push_str(&thick::look(&subject.kind, &subject.id));
        }
    }
    let answer = ask(host, &text, b"", 1 << 16, PATIENCE).await?;
    let said = text_of(&answer.out);
    let mut lines = said.lines();
    let mut next = || lines.next().unwrap_or_default().to_owned();
    // A line end in a path comes as another character.
    let path = |line: String| {
        line.strip_suffix('\u{1}')
            .unwrap_or(&line)
            .replace('\u{1}', "\n")
    };
    let (state, scratch_at, free) = (next(), path(next()), next());
    match state.as_str() {
        "open" => {}
        "none" => check.find(
            Gravity::Refused,
            format!(
                "{}: the scratch folder's parent {} is not there; make it, or say --sandbox DIR",
                host.name(),
                bound.sandbox
            ),
        ),
        _ => check.find(
            Gravity::Refused,
            format!(
                "{}: nothing can be written in {}; say --sandbox DIR",
                host.name(),
                bound.sandbox
            ),
        ),
    }
    if named.is_some() {
        let (state, at, mark, size) = (next(), path(next()), next(), next());
        let id = &subject.id;
        if let Some(why) = super::named::refusal(&state, id, &at) {
            check.find(Gravity::Refused, format!("{}: {why}", host.name()));
        }
        check.marked = mark == "marked";
        check.bytes = size.parse().ok().map(|kib: u64| Bytes(kib * 1024));
        for line in std::iter::from_fn(|| lines.next()) {
            match line.split_once(' ') {
                Some(("name", name)) => check.name = Some(name.to_owned()),
                Some(("loses", what)) => check.loses.push(what.trim().to_owned()),
                Some(("extent", said)) => thick::told(bound, said, check),
                Some(("remark", what)) => {
                    check.find(Gravity::Remark, format!("{}: {what}", host.name()));
                }
                _ => {}
            }
        }
        overlap(&at, &scratch_at, check);
        let role = bound.method.roles.first().map_or("source", String::as_str);
        if let Some(info) = bound.hosts.get(role)
            && is_inside(&info.facts.state, &at)
            && !at.is_empty()
        {
            check.find(
                Gravity::Refused,
                format!(
                    "{}: the state folder {} stands in the subject {at}, which is only read",
                    host.name(),
                    info.facts.state
                ),
            );
        }
        if check.bytes.is_none() && check.refusal().is_none() {
            check.find(
                Gravity::Warning,
                format!("{}: {id} could not be counted within 20 s; whether it fits into {} is not known", host.name(), bound.sandbox),
            );
        }
    } else if let Some(SettingValue::Bytes(size)) = bound.settings.get("size") {
        check.bytes = Some(Bytes(*size));
    }
    room(
        bound,
        check,
        free.parse().ok().map(|kib: u64| Bytes(kib * 1024)),
        host.name(),
    );
    Ok(())
}

/// Whether one absolute path is the other, or below it.
pub(crate) fn is_inside(inner: &str, outer: &str) -> bool {
    inner
        .strip_prefix(outer.trim_end_matches('/'))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

// A scratch folder in the subject would be copied into itself, and would change what is only read.
fn overlap(subject: &str, scratch: &str, check: &mut Check) {
    if !subject.is_empty() && is_inside(scratch, subject) {
        check.find(Gravity::Refused, format!("the scratch folder would stand in the subject {}, which is only read; say --sandbox DIR outside of it", subject.replace('\u{1}', "\n")));
    }
}

fn room(bound: &Bound, check: &mut Check, free: Option<Bytes>, host: &str) {
    check.free = free;
    let Some(bytes) = check.bytes.filter(|_| bound.method.room.is_some()) else {
        return;
    };
    let Some(needed) = bound.room(bytes.0).map(Bytes) else {
        check.find(
            Gravity::Refused,
            format!(
                "{host}: what {bytes} need in {} is more than can be counted",
                bound.sandbox
            ),
        );
        return;
    };
    check.room = Some(needed);
    if let Some(free) = free.filter(|free| *free < needed) {
        check.find(
            Gravity::Refused,
            format!(
                "{host}: {} has {free} free; the run needs {needed}",
                bound.sandbox
            ),
        );
    }
}

fn destroys(
    bound: &Bound,
    confirmed: &[Confirmation],
    check: &mut Check,
) -> Result<(), MethodError> {
    let subject: &Subject = &bound.binding.subject;
    if subject.own {
        return Ok(());
    }
    for (step, planned) in super::preview::preview(bound)?
        .into_iter()
        .zip(&bound.steps)
    {
        let Some(destroys) = step.destroys else {
            continue;
        };
        let def = planned.step.destroys.as_ref();
        let entirely = def.is_some_and(|def| def.entirely);
        if destroys.what.contains("‹session›") {
            continue;
        }
        let (name, what) = (&step.name, &destroys.what);
        if let Some(copy) = destroys.relies_on.as_ref().filter(|_| destroys.unproved) {
            warn_once(
                check,
                format!(
                    "{what} is brought back from {copy:?}, which nothing can test before; what is written in it meanwhile is lost"
                ),
            );
        }
        if entirely {
            warn_once(
                check,
                format!(
                    "{what} is destroyed: what is written in it after its backup has begun is in no copy, and is lost"
                ),
            );
        }
        if !check.marked || *what != subject.to_string() {
            check.find(
                Gravity::Refused,
                format!("step {name:?} destroys {what}, which bears no mark of comeback"),
            );
        } else if entirely && !check.loses.is_empty() {
            let loses = check.loses.join("; ");
            check.find(
                Gravity::Refused,
                format!("step {name:?} destroys {what}, and no restore would bring back: {loses}"),
            );
        } else if !(confirmed.iter())
            .any(|word| word.allows(what, &step.host, check.name.as_deref()))
        {
            let why = if confirmed.iter().any(|word| word.is_about(what, &step.host)) {
                format!(
                    "step {name:?} destroys {what}; --destroy calls it by a name that is not its own"
                )
            } else {
                format!(
                    "step {name:?} destroys {what}; say --destroy {what}=NAME, with its own name"
                )
            };
            check.find(Gravity::Refused, why);
        }
    }
    Ok(())
}

fn warn_once(check: &mut Check, text: String) {
    if !check.findings.iter().any(|known| known.text == text) {
        check.find(Gravity::Warning, text);
    }
}

fn disks(bound: &Bound, check: &mut Check) {
    let Some(paths) = super::preview::placed_paths(bound) else {
        return;
    };
    let places: Vec<_> = paths
        .iter()
        .filter_map(|(role, path)| bound.hosts.get(role)?.facts.paths.get(path))
        .collect();
    if let [one, other] = &places[..]
        && let Some(disk) = one.disks.iter().find(|disk| other.disks.contains(disk))
    {
        check.find(
            Gravity::Remark,
            format!("same disk: original and copy are both on {disk}; one dead disk takes both"),
        );
    }
}
