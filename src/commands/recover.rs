//! `comeback recover`

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinSet;

use crate::cli::RecoverArgs;
use crate::engine::{Recovery, Source, still_out};
use crate::event::{Intended, LeaveId};

use super::{CommandError, Context, connect, interruptible, output, report};

/// Names what is left and nothing else; takes it away when asked. Hosts are looked at at the same
/// time, and told as they are done: one that cannot be reached holds up no other.
pub(super) async fn recover(
    context: &Arc<Context>,
    args: RecoverArgs,
) -> Result<i32, CommandError> {
    let mut wanted: BTreeMap<String, Source> = BTreeMap::new();
    if let Some(file) = &args.file {
        wanted.extend(of_recording(file)?);
    } else if args.host.is_empty() {
        wanted.insert("local".to_owned(), Source::Journals);
    } else {
        let hosts = args.host.iter().cloned();
        wanted.extend(hosts.map(|host| (host, Source::Journals)));
    }
    let turns = Arc::new(Turns::default());
    let mut work = JoinSet::new();
    for (name, source) in wanted {
        let (context, turns) = (Arc::clone(context), Arc::clone(&turns));
        work.spawn(async move {
            let mut told = Told::default();
            let done = on_host(&context, &turns, &name, source, args.remove, &mut told).await;
            if let Err(why) = &done {
                told.exit = told.exit.max(why.exit());
            }
            (told, done)
        });
    }
    let mut exit = 0;
    while let Some(joined) = work.join_next().await {
        let (told, done) = joined.map_err(|why| CommandError::Terminal(why.to_string()))?;
        output::data(&told.text)?;
        if let Err(why) = done {
            output::talk(&format!("comeback: {why}"));
        }
        exit = exit.max(told.exit);
    }
    Ok(exit)
}

/// What is said of one host, and the exit code.
#[derive(Default)]
struct Told {
    text: String,
    exit: i32,
}

/// Machines that are worked on: two names of one have the same journals.
type Turns = Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>;

async fn on_host(
    context: &Context,
    turns: &Turns,
    name: &str,
    source: Source,
    remove: bool,
    told: &mut Told,
) -> Result<(), CommandError> {
    let probe = async { Ok(connect::probe(context, name, &[], &[]).await?) };
    let connected = interruptible(probe).await?;
    let machine = match connected.info.facts.machine.as_str() {
        "" => name.to_owned(),
        machine => machine.to_owned(),
    };
    let turn = {
        let mut all = turns.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(machine).or_default())
    };
    let _turn = turn.lock().await;
    let mut found = still_out(&connected, source).await?;
    if found.is_empty() {
        let _ = writeln!(told.text, "{name}: nothing is left");
    }
    for recovery in &mut found {
        told.text.push_str(&listed(recovery));
        if remove {
            let said = recovery.remove().await;
            if said.iter().any(|(_, result)| result.is_err()) {
                told.exit = 1;
            }
            told.text.push_str(&removed(&said));
        }
    }
    Ok(())
}

fn of_recording(file: &Path) -> Result<Vec<(String, Source)>, CommandError> {
    let session = report::load(file)?;
    let Some(header) = &session.header else {
        return Err(CommandError::Arguments(format!(
            "{}: it has no header",
            file.display()
        )));
    };
    let mut all = Vec::new();
    for (at, (host, facts)) in header.facts.iter().enumerate() {
        let mut open: Vec<(LeaveId, Intended)> = session
            .ledger
            .still_out()
            .filter(|left| left.intended.host == *host)
            .map(|left| (left.leave.clone(), left.intended.clone()))
            .collect();
        open.reverse();
        let source = Source::Recording {
            session: header.session.to_string(),
            at,
            state: facts.state.clone(),
            open,
        };
        all.push((host.clone(), source));
    }
    Ok(all)
}

fn listed(recovery: &Recovery) -> String {
    let mut text = format!("{}: session {}", recovery.host, recovery.session);
    text.push_str(if recovery.alive {
        " goes on; it is left alone\n"
    } else {
        "\n"
    });
    for step in &recovery.running {
        let _ = writeln!(text, "  runs     step {step}");
    }
    for left in &recovery.left {
        let found: Vec<_> = left.found.lines().collect();
        let kind = format!("{:?}", left.intended.kind).to_lowercase();
        let _ = writeln!(
            text,
            "  {kind:<8} {}  {}",
            left.intended.name,
            clean(&found.join(" "))
        );
        let _ = writeln!(text, "           undo: {}", clean(&left.intended.undo));
    }
    if !recovery.alive && recovery.left.is_empty() && recovery.running.is_empty() {
        text.push_str("  only its state folder\n");
    }
    text
}

fn removed(said: &[(String, Result<(), String>)]) -> String {
    let mut text = String::new();
    for (name, result) in said {
        let _ = match result {
            Ok(()) => writeln!(text, "  removed  {}", clean(name)),
            Err(why) => writeln!(text, "  stays    {}: {}", clean(name), clean(why)),
        };
    }
    text
}

fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
