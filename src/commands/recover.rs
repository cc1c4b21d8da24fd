//! `comeback recover`

use std::fmt::Write;
use std::path::Path;

use crate::cli::RecoverArgs;
use crate::engine::{Recovery, Source, still_out};
use crate::event::{Intended, LeaveId};

use super::{CommandError, Context, connect, interruptible, output, report};

/// Names what is left and nothing else; takes it away when asked.
pub(super) async fn recover(context: &Context, args: RecoverArgs) -> Result<i32, CommandError> {
    let mut wanted: Vec<(String, Source)> = Vec::new();
    if let Some(file) = &args.file {
        wanted.extend(of_recording(file)?);
    } else {
        let hosts = if args.host.is_empty() {
            vec!["local".to_owned()]
        } else {
            args.host.clone()
        };
        wanted.extend(hosts.into_iter().map(|host| (host, Source::Journals)));
    }
    let mut exit = 0;
    for (name, source) in wanted {
        let connected =
            interruptible(async { Ok(connect::probe(context, &name, &[], &[]).await?) }).await?;
        let mut found = still_out(&connected, source).await?;
        if found.is_empty() {
            output::data(&format!("{name}: nothing is left\n"))?;
        }
        for recovery in &mut found {
            output::data(&listed(recovery))?;
            if args.remove {
                let said = recovery.remove().await;
                if said.iter().any(|(_, result)| result.is_err()) {
                    exit = 1;
                }
                output::data(&removed(&said))?;
            }
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
