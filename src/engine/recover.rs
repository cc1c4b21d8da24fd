//! What sessions left on a host, found again from its journals or a recording, and taken away
//! when asked: twice in a row does no harm.

use std::sync::Arc;
use std::time::Duration;

use crate::event::{Intended, LeaveId};
use crate::host::supervisor::{Journal, Running, Supervisor};

use super::command::PATIENCE;
use super::conduct::{Connected, session_folder};
use super::journal::{self, OURS};
use super::shell::{quote, script};
use super::{EngineError, leaving, undo};

/// Where it is read what may be left.
#[derive(Debug, Clone)]
pub enum Source {
    /// The journals of all sessions on the host.
    Journals,
    /// A recording, and the journal of its session where there is one.
    Recording {
        /// The session.
        session: String,
        /// Which of its hosts this is, from 0.
        at: usize,
        /// Its state folder there.
        state: String,
        /// What its ledger has not seen undone, in the order in which it was made.
        open: Vec<(LeaveId, Intended)>,
    },
}

/// Something that is still there.
#[derive(Debug, Clone)]
pub struct Leftover {
    /// Its id.
    pub leave: LeaveId,
    /// How to undo it.
    pub intended: Intended,
    /// What `find` printed.
    pub found: String,
    /// How the subject is brought back from it, as long as it is not there: until then it stays.
    pub back: String,
}

/// What one session left on one host.
pub struct Recovery {
    /// The session.
    pub session: String,
    /// The host.
    pub host: String,
    /// A program goes on with it: nothing of it is touched.
    pub alive: bool,
    /// Its folder is another user's: what stands in it is neither read nor run.
    pub foreign: bool,
    /// Steps that still run, although nobody follows them.
    pub running: Vec<Running>,
    /// What is still there, newest first.
    pub left: Vec<Leftover>,
    /// Its state folder is there.
    folder: bool,
    connected: Connected,
    supervisor: Supervisor,
}

const LOOK: Duration = Duration::from_mins(2);

/// How a step that runs is called.
#[must_use]
pub fn called(running: &Running) -> String {
    match running.title.as_str() {
        "" => format!("step {}", running.step),
        title => format!("step {}, {title}", running.step),
    }
}

/// Looks for what is still there.
///
/// # Errors
/// Where the host is lost, or its state folder cannot be read.
pub async fn still_out(
    connected: &Connected,
    source: Source,
) -> Result<Vec<Recovery>, EngineError> {
    let host = connected.host.as_ref();
    let mut all = Vec::new();
    match source {
        Source::Journals => {
            let state = &connected.info.facts.state;
            for found in sessions(connected, state).await? {
                all.push(match found.open {
                    Some(open) => look(connected, state, found.session, open).await?,
                    None => Recovery::foreign(connected, state, found.session),
                });
            }
        }
        Source::Recording {
            session,
            at,
            state,
            mut open,
        } => {
            let session = session_folder(&session, at);
            for (leave, intended) in journal::read(host, &format!("{state}/{session}")).await? {
                if !open.iter().any(|(known, _)| *known == leave) {
                    open.push((leave, intended));
                }
            }
            if is_session(&session) {
                all.push(look(connected, &state, session, open).await?);
            }
        }
    }
    all.retain(|one| one.alive || !one.left.is_empty() || !one.running.is_empty() || one.folder);
    Ok(all)
}

fn is_session(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("cb-") else {
        return false;
    };
    let (id, host) = rest.split_once('-').unwrap_or((rest, "0"));
    id.len() == 8
        && id.bytes().all(|byte| byte.is_ascii_hexdigit())
        && !host.is_empty()
        && host.bytes().all(|byte| byte.is_ascii_digit())
}

/// A session's folder.
struct Found {
    session: String,
    /// What its journal says; absent where it is another user's.
    open: Option<Vec<(LeaveId, Intended)>>,
}

// A journal holds shell text. Whoever may write there could have it run by the one who recovers.
async fn sessions(connected: &Connected, state: &str) -> Result<Vec<Found>, EngineError> {
    let text = format!(
        r#"for d in {}/cb-*; do
  [ -d "$d" ] || continue
  if {OURS}; then printf '#%s\n' "${{d##*/}}"; [ ! -f "$d/journal" ] || cat -- "$d/journal"; else printf '!%s\n' "${{d##*/}}"; fi
done"#,
        quote(state)
    );
    let said = script(connected.host.as_ref(), "read the journals", &text, LOOK).await?;
    let mut all: Vec<(String, Option<String>)> = Vec::new();
    for line in said.lines() {
        if let Some(session) = line.strip_prefix('#') {
            all.push((session.to_owned(), Some(String::new())));
        } else if let Some(session) = line.strip_prefix('!') {
            all.push((session.to_owned(), None));
        } else if let Some((_, Some(text))) = all.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    all.retain(|(session, _)| is_session(session));
    let found = all.into_iter().map(|(session, text)| Found {
        session,
        open: text.map(|text| journal::parse(&text)),
    });
    Ok(found.collect())
}

async fn look(
    connected: &Connected,
    state: &str,
    session: String,
    open: Vec<(LeaveId, Intended)>,
) -> Result<Recovery, EngineError> {
    let supervisor = Supervisor::new(Arc::clone(&connected.host), format!("{state}/{session}"));
    let living = supervisor.living().await?;
    let dir = quote(supervisor.dir());
    let text = format!("if [ -d {dir} ]; then printf '%s\\n' {dir}; fi");
    let folder = leaving::look(connected.host.as_ref(), &text).await?;
    let mut recovery = Recovery {
        session,
        host: connected.info.name.clone(),
        alive: living.kept,
        foreign: false,
        running: living.running,
        left: Vec::new(),
        folder: !folder.is_empty(),
        connected: connected.clone(),
        supervisor,
    };
    for (leave, intended) in open.into_iter().rev() {
        // What cannot be looked for may be there, and holds up nothing else.
        let found = match leaving::look(connected.host.as_ref(), &intended.find).await {
            Err(EngineError::Script { why, .. }) => format!("(it cannot be looked for: {why})"),
            found => found?,
        };
        if !found.is_empty() {
            let back = match undo::way_back(connected.host.as_ref(), &intended, &found).await {
                Err(EngineError::Script { why, .. }) => format!("(nobody can tell: {why})"),
                back => back?,
            };
            recovery.left.push(Leftover {
                leave,
                intended,
                found,
                back,
            });
        }
    }
    Ok(recovery)
}

impl Recovery {
    fn foreign(connected: &Connected, state: &str, session: String) -> Self {
        let host = Arc::clone(&connected.host);
        Self {
            host: connected.info.name.clone(),
            alive: false,
            foreign: true,
            running: Vec::new(),
            left: Vec::new(),
            folder: true,
            connected: connected.clone(),
            supervisor: Supervisor::new(host, format!("{state}/{session}")),
            session,
        }
    }

    /// Ends what runs, takes away what is left, newest first, and says of each what came of it.
    pub async fn remove(&mut self) -> Vec<(String, Result<(), String>)> {
        let mut said = Vec::new();
        if self.foreign {
            let why = "its folder is another user's; log in as that user".to_owned();
            return vec![(format!("session {}", self.session), Err(why))];
        }
        if self.alive {
            let why = "a program goes on with it; stop it there".to_owned();
            return vec![(format!("session {}", self.session), Err(why))];
        }
        for running in &self.running {
            let result = self.stop(running).await;
            said.push((format!("the running {}", called(running)), result));
        }
        if said.iter().any(|(_, result)| result.is_err()) {
            return said;
        }
        let mut kept = Vec::new();
        let mut blocked: Option<String> = None;
        for left in std::mem::take(&mut self.left) {
            let name = format!("{} {}", left.intended.name, left.found.replace('\n', " "));
            let result = match &blocked {
                // What was made before may carry what could not be taken away.
                Some(by) if left.intended.kind.holds_data() => Err(format!("{by} is still there")),
                _ => self.take_away(&left).await.map_err(|why| why.to_string()),
            };
            if result.is_err() {
                blocked.get_or_insert(left.intended.name.clone());
                kept.push(left);
            }
            said.push((name, result));
        }
        self.left = kept;
        if self.left.is_empty() {
            let result = self
                .supervisor
                .finish(Journal::Remove)
                .await
                .map_err(|why| why.to_string());
            said.push((format!("state folder of {}", self.session), result));
        }
        said
    }

    // What brings back what somebody named is ended by nobody but the one who says so.
    async fn stop(&self, running: &Running) -> Result<(), String> {
        if !running.stake.is_empty() {
            let ends = match running.ends.as_str() {
                "" => String::new(),
                ends => format!(", or end it all the same: `{ends}` there"),
            };
            return Err(format!(
                "{}; wait for its end, then recover again{ends}",
                running.stake
            ));
        }
        let stopper = self
            .supervisor
            .stopper(&running.step)
            .map_err(|why| why.to_string())?;
        let proof = stopper.stop(PATIENCE).await;
        if proof.gone {
            Ok(())
        } else {
            Err(format!("still there: {}", proof.left.join(", ")))
        }
    }

    async fn take_away(&self, left: &Leftover) -> Result<(), EngineError> {
        let (host, dir) = (self.connected.host.as_ref(), self.supervisor.dir());
        undo::take_away(host, dir, &left.leave, &left.intended).await
    }
}
