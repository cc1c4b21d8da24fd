//! A step that was begun.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::control::{Control, Over};
use super::output::Teller;
use super::place::{At, Inner};
use super::stop::{StopProof, Stopper};
use super::wire::Line;
use super::{Caps, Heard, Launch, PATIENCE};
use crate::host::sh::{COMMON, CONTROL, LAUNCH, MEMBERS, STAGE};
use crate::host::{Exit, HostError};

/// What waits to be taken: 2 MiB.
const QUEUE: usize = 32;

/// A step that was begun.
pub struct Job {
    stopper: Stopper,
    /// Until it is followed.
    teller: Option<(Teller, Option<Control>)>,
    heard: mpsc::Receiver<Heard>,
}

impl Job {
    pub(super) fn new(at: At, caps: Caps, control: Option<Control>, at_join: bool) -> Self {
        let (tx, heard) = mpsc::channel(QUEUE);
        let mut job = Self {
            stopper: Stopper::new(&at),
            teller: Some((Teller::new(at, caps, tx), control)),
            heard,
        };
        if !at_join {
            job.follow();
        }
        job
    }

    fn follow(&mut self) {
        if let Some((teller, control)) = self.teller.take() {
            tokio::spawn(teller.run(control));
        }
    }

    /// What is heard next; nothing after [`Heard::Ended`]. Dropping the job stops the
    /// following, not the command. Safe to cancel.
    pub async fn next(&mut self) -> Option<Heard> {
        self.follow();
        self.heard.recv().await
    }

    /// Ends the step through a channel of its own, while `next` tells the rest.
    pub async fn stop(&self, patience: Duration) -> StopProof {
        self.stopper.stop(patience).await
    }

    /// The same, to be kept elsewhere.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }
}

/// Begins a step.
pub(super) async fn launch(
    inner: Arc<Inner>,
    step: &str,
    command: &str,
    launch: Launch,
) -> Result<Job, HostError> {
    let at = inner.at(step)?;
    let (input, command_bytes) = input_of(command, &launch);
    let at_join = launch.load || launch.at_join;
    let caps = launch.caps;
    let flag = |set: bool| if set { "yes" } else { "" };
    let vars = || {
        launch
            .told(at.vars.clone())?
            .set("sh", &inner.shell)?
            .set("clock", &inner.clock().source.to_string())?
            .set("load", flag(launch.load))?
            .set("detach", flag(at_join))
    };
    let script = vars()
        .map_err(|error| inner.refused(error.to_string()))?
        .number("cmd_bytes", command_bytes)
        .number("all_bytes", input.len() as u64)
        .number("keep", caps.head)
        .number("limit", caps.file.max(caps.head))
        .script(&[COMMON, MEMBERS, CONTROL, STAGE, LAUNCH]);
    let mut control = at.control(&script).await?;
    let mut stdin = control.take_stdin();
    let feed = async move {
        // A shell that ended breaks this pipe; it has said why.
        let _ = stdin.write_all(&input).await;
        let _ = stdin.shutdown().await;
    };
    let first = async {
        let (line, ()) = tokio::join!(control.line(), feed);
        line
    };
    match timeout(PATIENCE, first).await {
        Ok(Ok(Line::Refused(why))) => Err(inner.refused(format!(
            "step {step}: {why} Its state folder is {}; `state` in the configuration sets another",
            inner.dir
        ))),
        Ok(Ok(Line::Started)) if at_join => Ok(Job::new(at, caps, None, true)),
        Ok(Ok(Line::Started)) => Ok(Job::new(at, caps, Some(control), false)),
        // A shell that ends by itself has said that it began.
        Ok(Err(over @ Over::Exit(Exit::Code(_), _))) => {
            Err(inner.refused(format!("step {step} could not be begun: {over}")))
        }
        // Whether it was begun is found out when the host answers again.
        Ok(Ok(_) | Err(_)) | Err(_) => Ok(Job::new(at, caps, None, false)),
    }
}

/// What the host reads to put a step into its folder, and how much of it is the command.
pub(super) fn input_of(command: &str, launch: &Launch) -> (Vec<u8>, u64) {
    // A newline at the end, so that a text that ends in a comment or a here-document is whole.
    let mut input = format!("{command}\n").into_bytes();
    let command_bytes = input.len() as u64;
    if let Some(stdin) = &launch.stdin {
        input.extend_from_slice(stdin);
    }
    (input, command_bytes)
}

/// Follows a step that was begun before.
pub(super) fn attach(inner: &Arc<Inner>, step: &str, caps: Caps) -> Result<Job, HostError> {
    Ok(Job::new(inner.at(step)?, caps, None, true))
}
