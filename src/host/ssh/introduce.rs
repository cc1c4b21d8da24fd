//! Makes the operator and a host that is not known known to each other: one question a host,
//! however many connections wait for it, and none of them open meanwhile. A server that waits
//! for a login closes the connection after a while and counts it against its limits until then.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::host_key::HostKey;
use super::known_hosts;
use super::learn::learn;
use super::policy::Strict;
use super::prompts::Operator;
use super::route::Route;
use super::text::plain;
use super::trust::{Doubt, Stranger, Trust};
use crate::event::{Question, QuestionKind};
use crate::host::HostError;

/// Which keys the operator has taken in this run of the program, and what is being asked. All
/// hosts of a run share it, as clones.
#[derive(Clone, Default)]
pub struct Introductions(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Keys that are in no file, by the name of the host.
    taken: HashMap<String, Vec<HostKey>>,
    /// One at a time for each name.
    doors: HashMap<String, Arc<tokio::sync::Mutex<Option<Answered>>>>,
}

/// The last answer about a host.
struct Answered {
    when: Instant,
    key: HostKey,
    yes: bool,
}

impl fmt::Debug for Introductions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Introductions").finish_non_exhaustive()
    }
}

impl Introductions {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn taken(&self, name: &str) -> Vec<HostKey> {
        self.lock().taken.get(name).cloned().unwrap_or_default()
    }

    fn take(&self, name: &str, key: HostKey) {
        self.lock()
            .taken
            .entry(name.to_owned())
            .or_default()
            .push(key);
    }

    fn door(&self, name: &str) -> Arc<tokio::sync::Mutex<Option<Answered>>> {
        Arc::clone(self.lock().doors.entry(name.to_owned()).or_default())
    }
}

/// What is known of a host by now: the files are read anew for each connection, as a key may
/// have been added meanwhile.
///
/// # Errors
/// [`HostError::Untrusted`]: a file cannot be read.
pub(super) async fn recall(route: &Route) -> Result<Trust, HostError> {
    let taken = route.introductions.taken(&route.names.exact);
    let cloned = route.clone();
    let read = tokio::task::spawn_blocking(move || Trust::read(&cloned, taken));
    let why = match read.await {
        Ok(Ok(trust)) => return Ok(trust),
        Ok(Err(why)) => why,
        Err(panic) => panic.to_string(),
    };
    Err(untrusted(
        route,
        format!("whether its key is known cannot be told: {why}"),
    ))
}

/// Asks the operator about a key that is not known, unless the ssh configuration answers, and
/// keeps it. Then the host can be connected to again: it has to show the same key.
///
/// # Errors
/// [`HostError::Untrusted`]: no, or nobody is there.
pub(super) async fn introduce(
    route: &Route,
    operator: &Operator,
    stranger: Stranger,
) -> Result<(), HostError> {
    let since = Instant::now();
    let door = route.introductions.door(&route.names.exact);
    let mut answered = door.lock().await;
    // Somebody else may have asked meanwhile, or written the line.
    if let Some(last) = answered.as_ref()
        && last.when >= since
        && last.key == stranger.key
        && !last.yes
    {
        return Err(untrusted(route, refused(&stranger)));
    }
    let stranger = match recall(route).await?.judge(&stranger.key, None) {
        Ok(()) => return Ok(()),
        Err(Doubt::Refused(why)) => return Err(untrusted(route, why)),
        // What was seen with a certificate says more.
        Err(Doubt::Unknown(_)) => stranger,
    };
    let quiet = route.policy.batch || !operator.is_there();
    let silently = match route.policy.strict {
        Strict::Yes => return Err(untrusted(route, stranger.refusal)),
        Strict::AcceptNew | Strict::Off if !stranger.garbled => true,
        _ if quiet => return Err(untrusted(route, stranger.refusal)),
        _ => false,
    };
    let yes = silently || ask(route, operator, &stranger).await;
    *answered = Some(Answered {
        when: Instant::now(),
        key: stranger.key.clone(),
        yes,
    });
    if !yes {
        return Err(untrusted(route, refused(&stranger)));
    }
    keep(route, stranger.key, silently).await;
    Ok(())
}

async fn ask(route: &Route, operator: &Operator, stranger: &Stranger) -> bool {
    let files = [
        route.known_hosts.as_slice(),
        route.global_known_hosts.as_slice(),
    ]
    .concat();
    let key = stranger.key.clone();
    let others = tokio::task::spawn_blocking(move || known_hosts::other_names(&files, &key));
    let others = others.await.unwrap_or_default();
    let question = question(route, stranger, &others);
    operator.confirms(question).await
}

fn question(route: &Route, stranger: &Stranger, others: &[String]) -> Question {
    let key = &stranger.key;
    let mut lines = vec![
        format!("{} port {} shows", plain(&route.host), route.port),
        key.shown(),
    ];
    lines.extend(stranger.known.iter().cloned());
    if others.is_empty() {
        lines.push("This key is known by no other name.".to_owned());
    } else {
        lines.push(format!(
            "This key is known by other names: {}",
            others.join(", ")
        ));
    }
    lines.push(format!(
        "To compare, on the host: ssh-keygen -lf {}",
        key.usual_file()
    ));
    lines.push(match written(route) {
        Some(file) => format!(
            "Yes writes it to {} as {}",
            file.display(),
            route.names.exact
        ),
        None => "Yes holds until this program ends: no file of known hosts is set".to_owned(),
    });
    Question {
        title: format!("{}: the host key is not known", route.shown),
        lines,
        kind: QuestionKind::YesNo {
            yes: "trust it".to_owned(),
        },
    }
}

/// The file that keeps a key.
fn written(route: &Route) -> Option<&Path> {
    let file = route.known_hosts.first()?.as_path();
    (file != Path::new("/dev/null")).then_some(file)
}

/// Writes the line. Where it cannot, the key is good until the program ends, as for ssh it is
/// for the connection.
async fn keep(route: &Route, key: HostKey, silently: bool) {
    let name = route.names.exact.clone();
    let wrote = match written(route).map(Path::to_owned) {
        None => Ok("for this run".to_owned()),
        Some(file) => {
            let (names, key, hash) = (route.names.clone(), key.clone(), route.policy.hash);
            let shown = format!("written to {}", file.display());
            tokio::task::spawn_blocking(move || learn(&file, &names, &key, hash))
                .await
                .unwrap_or_else(|panic| Err(panic.to_string()))
                .map(|()| shown)
        }
    };
    let shown = key.shown();
    let how = match &wrote {
        Ok(how) => how.clone(),
        Err(why) => format!("for this run alone: {why}"),
    };
    if silently {
        route.notes.remark(format!(
            "host key {shown} taken without a question, as StrictHostKeyChecking has it; {how}"
        ));
    } else if wrote.is_err() {
        route.notes.remark(format!("host key {shown} taken {how}"));
    }
    if wrote.is_err() || written(route).is_none() {
        route.introductions.take(&name, key);
    }
}

fn refused(stranger: &Stranger) -> String {
    format!("the host key {} was not trusted", stranger.key.shown())
}

fn untrusted(route: &Route, why: String) -> HostError {
    HostError::Untrusted {
        host: route.shown.clone(),
        why,
    }
}
