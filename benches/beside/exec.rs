//! What it costs to run something on a host whose connection is there already.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use comeback::host::supervisor::{Heard, Journal, Launch, Supervisor};
use comeback::host::{Exit, Host, ask};

use crate::figures::{Row, Table};
use crate::lab::{Lab, seconds};
use crate::session::{HERE, LAB, Stage};

const PATIENCE: Duration = Duration::from_secs(20);

pub fn measure(lab: &Lab, quick: bool) -> Result<Vec<Table>> {
    let rounds = if quick { 5 } else { 200 };
    let stage = Stage::open(lab)?;
    let remote = supervisor(&stage, LAB)?;
    let here = supervisor(&stage, HERE)?;
    let mut rows = [
        Row::new("ssh with ControlMaster"),
        Row::new("comeback, bare"),
        Row::new("comeback, a supervised step"),
        Row::new("comeback, a supervised step here"),
    ];
    for round in 0..rounds {
        let step = format!("s{round}");
        let values = [
            seconds(lab.ssh().arg("true"))?,
            stage
                .runtime
                .block_on(bare(stage.host(LAB)?.as_ref()))?
                .as_secs_f64(),
            stage
                .runtime
                .block_on(supervised(&remote, &step))?
                .as_secs_f64(),
            stage
                .runtime
                .block_on(supervised(&here, &step))?
                .as_secs_f64(),
        ];
        for (row, value) in rows.iter_mut().zip(values) {
            row.values.push(value * 1e3);
        }
    }
    for supervisor in [remote, here] {
        stage.runtime.block_on(supervisor.finish(Journal::Remove))?;
    }
    Ok(vec![Table::new("`true` over SSH, connected: ms", rows)])
}

fn supervisor(stage: &Stage, host: &str) -> Result<Supervisor> {
    let folder = stage.state().join(format!("cb-exec-{host}"));
    let supervisor = Supervisor::new(stage.host(host)?.clone(), folder.display().to_string());
    stage.runtime.block_on(supervisor.prepare())?;
    Ok(supervisor)
}

/// A command on the connection, from the asking to its exit status.
async fn bare(host: &dyn Host) -> Result<Duration> {
    let begin = Instant::now();
    let answer = ask(host, "true", b"", 0, PATIENCE).await?;
    let took = begin.elapsed();
    ensure!(answer.exit == Exit::Code(0), "{:?}", answer.exit);
    Ok(took)
}

/// A step that outlives its connection, from the asking to its end.
async fn supervised(supervisor: &Supervisor, step: &str) -> Result<Duration> {
    let begin = Instant::now();
    let mut job = supervisor.launch(step, "true", Launch::default()).await?;
    loop {
        match tokio::time::timeout(PATIENCE, job.next()).await? {
            Some(Heard::Ended(outcome)) => {
                let took = begin.elapsed();
                ensure!(outcome.status == [0], "{outcome:?}");
                return Ok(took);
            }
            Some(_) => {}
            None => anyhow::bail!("the step has no end"),
        }
    }
}
