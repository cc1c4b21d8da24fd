//! `comeback recover`

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinSet;

use crate::cli::RecoverArgs;
use crate::engine::{Recovery, Source, called, still_out};
use crate::event::{Intended, LeaveId};
use crate::host::ssh::Stage;
use crate::session::clean;

use super::{CommandError, Context, connect, output, report};

/// Names what is left and nothing else; takes it away when asked. Hosts are looked at at the same
/// time: one that cannot be reached holds up no other. What is going to be taken away is said
/// before it is.
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
        work.spawn(async move { on_host(&context, &turns, &name, source, args.remove).await });
    }
    let mut exit = 0;
    while let Some(joined) = work.join_next().await {
        let code = match joined {
            Ok(Ok(code)) => code,
            Ok(Err(why)) => {
                output::talk(&format!("comeback: {why}"));
                why.exit()
            }
            // The others are not left in the middle.
            Err(panic) => {
                output::talk(&format!("comeback: {panic}"));
                1
            }
        };
        exit = exit.max(code);
    }
    Ok(exit)
}

/// Machines that are worked on: two names of one have the same journals.
type Turns = Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>;

async fn on_host(
    context: &Context,
    turns: &Turns,
    name: &str,
    source: Source,
    remove: bool,
) -> Result<i32, CommandError> {
    if remove && context.config.host(name).read_only {
        return Err(CommandError::Refused(format!(
            "{name} is read-only by the configuration {}: nothing is taken away there",
            context.paths.config.display()
        )));
    }
    let connected = connect::probe(context, name, &[], &[], &Stage::default()).await?;
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
        output::data(&format!("{name}: nothing is left\n"))?;
    }
    let mut exit = 0;
    for recovery in &mut found {
        output::data(&listed(recovery))?;
        if remove {
            let said = recovery.remove().await;
            if said.iter().any(|(_, result)| result.is_err()) {
                exit = 1;
            }
            output::data(&removed(name, &said))?;
        }
    }
    Ok(exit)
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
    text.push_str(if recovery.foreign {
        " is another user's; it is left alone\n"
    } else if recovery.alive {
        " goes on; it is left alone\n"
    } else {
        "\n"
    });
    for running in &recovery.running {
        let _ = writeln!(text, "  runs     {}", clean(&called(running)));
        if !running.stake.is_empty() {
            let _ = writeln!(text, "           at stake: {}", clean(&running.stake));
        }
    }
    for left in &recovery.left {
        let found: Vec<_> = left.found.lines().collect();
        let kind = format!("{:?}", left.intended.kind).to_lowercase();
        let _ = writeln!(
            text,
            "  {kind:<8} {}  {}",
            clean(&left.intended.name),
            clean(&found.join(" "))
        );
        let _ = writeln!(text, "           undo: {}", clean(&left.intended.undo));
        if !left.back.is_empty() {
            let _ = writeln!(
                text,
                "           before that, bring back: {}",
                clean(&left.back)
            );
        }
    }
    if !recovery.alive
        && !recovery.foreign
        && recovery.left.is_empty()
        && recovery.running.is_empty()
    {
        text.push_str("  only its state folder\n");
    }
    text
}

fn removed(host: &str, said: &[(String, Result<(), String>)]) -> String {
    let mut text = String::new();
    for (name, result) in said {
        let _ = match result {
            Ok(()) => writeln!(text, "  removed  {} on {host}", clean(name)),
            Err(why) => writeln!(text, "  stays    {} on {host}: {}", clean(name), clean(why)),
        };
    }
    text
}
