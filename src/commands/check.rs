//! `comeback check`, and the dry run.

use std::fmt::Write;
use std::sync::Arc;

use crate::cli::RunArgs;
use crate::engine::{Gravity, POOLS_EVERY, checks, pool_reads};
use crate::event::{BindingId, Facts, Plan, PlannedRun};
use crate::method::Bound;
use crate::session::clean;

use super::prepare::{self, Prepared};
use super::{CommandError, Context, output};

/// Facts of the hosts; what would run, what is missing, and why.
pub(super) async fn check(context: &Arc<Context>, mut args: RunArgs) -> Result<i32, CommandError> {
    let catalogue = prepare::catalogue(context)?;
    let every = args.method.is_empty() && args.together.is_empty();
    if every {
        let dirs = args.subject.is_empty();
        args.method = catalogue
            .all()
            .filter(|(method, _)| !dirs || method.own != crate::method::Own::Never)
            .filter(|(method, _)| method.is_for_one_host() || !args.role.is_empty())
            .filter(|(method, _)| dirs || method.own != crate::method::Own::Always)
            .map(|(method, _)| method.name.clone())
            .collect();
    }
    let asked = prepare::read(&args)?;
    let prepared = prepare::prepare(context, &catalogue, &asked).await?;
    let mut text = String::new();
    for (name, known) in &prepared.hosts {
        text.push_str(&facts(name, &known.info.facts));
    }
    for (name, why) in &prepared.missing {
        let phase = why.phase().map(|phase| format!("{phase}: "));
        let why = clean(why.why());
        let _ = writeln!(
            text,
            "{name}\n  {:<10}  {}{why}",
            "down",
            phase.unwrap_or_default()
        );
    }
    text.push_str(&at_once(&prepared.plan));
    text.push_str(&findings(&prepared));
    output::data(&text)?;
    // Asked for every method, what cannot run is news; asked for one, it is the answer.
    let refused = prepared
        .checks
        .iter()
        .any(|check| check.refusal().is_some());
    Ok(exit(&prepared, refused && !every))
}

/// The exit code of a look alone.
pub(super) fn exit(prepared: &Prepared, refused: bool) -> i32 {
    match (refused, prepared.missing.is_empty()) {
        (true, _) => 4,
        (false, false) => 3,
        (false, true) => 0,
    }
}

fn facts(name: &str, facts: &Facts) -> String {
    let mut text = format!("{name}\n");
    let mut line = |key: &str, value: String| {
        let _ = writeln!(text, "  {key:<10}  {value}");
    };
    line("system", format!("{}, {}", facts.system, facts.kernel));
    line("cpu", format!("{} × {}", facts.cpus, facts.cpu));
    line("memory", facts.memory.to_string());
    let user = format!("{} ({})", facts.user, facts.uid);
    line(
        "login",
        match &facts.became {
            Some(became) if became.login == facts.user => {
                format!("{user}, and stays so by {}", became.by)
            }
            Some(became) => format!("{}, becomes {user} by {}", became.login, became.by),
            None => user,
        },
    );
    line(
        "clock",
        format!("{}, {} s", facts.clock_source, facts.clock_resolution),
    );
    if facts.legacy {
        line(
            "ssh",
            "old, weak algorithms are allowed (legacy)".to_owned(),
        );
    }
    if let Some(differs) = facts.clock_differs() {
        line("clock", format!("{differs}: durations hold, dates do not"));
    }
    for remark in &facts.connection {
        line("ssh", remark.clone());
    }
    line("state", facts.state.clone());
    for disk in &facts.disks {
        line(
            "disk",
            format!("{} {} {}", disk.name, disk.size, disk.model),
        );
    }
    for fs in &facts.filesystems {
        line(
            "mounted",
            format!(
                "{} {} on {}, {} of {} free",
                fs.source, fs.kind, fs.at, fs.free, fs.size
            ),
        );
    }
    for (tool, version) in &facts.tools {
        line("program", format!("{tool}  {version}"));
    }
    text
}

fn findings(prepared: &Prepared) -> String {
    let mut text = String::new();
    for (bound, check) in prepared.bounds.iter().zip(&prepared.checks) {
        let verdict = if check.refusal().is_some() {
            "cannot run"
        } else {
            "can run"
        };
        let _ = writeln!(
            text,
            "{} on {}: {verdict}",
            bound.method.name,
            bound.binding.host()
        );
        if let Some(room) = check.room {
            let _ = writeln!(text, "  needs {room} in {}", bound.sandbox);
        }
        for finding in &check.findings {
            let sign = match finding.gravity {
                Gravity::Remark => "-",
                Gravity::Warning => "!",
                Gravity::Asked => "?",
                Gravity::Refused => "x",
            };
            let _ = writeln!(text, "  {sign} {}", finding.text);
        }
    }
    for (method, host, why) in &prepared.left_out {
        let _ = writeln!(text, "{method} on {host}: cannot run\n  x {}", clean(why));
    }
    text
}

/// What is looked at before a method runs, and how full the pools are while it does, as exact shell.
pub(super) fn looks(bound: &Bound) -> String {
    let mut text = String::new();
    for (host, command) in checks(bound).unwrap_or_default() {
        let name = &bound.method.name;
        let _ = writeln!(
            text,
            "# before {name} runs · whether it can · on {host}\n{command}\n"
        );
    }
    for read in pool_reads(bound).unwrap_or_default() {
        let _ = writeln!(
            text,
            "# while {} runs · how full {} is, every {} s · on {}\n{}\n",
            bound.method.name,
            read.pool,
            POOLS_EVERY.as_secs(),
            read.host,
            read.command
        );
    }
    text
}

/// What also runs at once, and the order of all.
fn at_once(plan: &Plan) -> String {
    let mut text = String::new();
    let name = |id: &BindingId| {
        let mut all = plan.bindings.iter();
        let binding = all.find(|binding| binding.id == *id);
        binding.map_or("", |binding| binding.method.as_str())
    };
    for [one, other] in &plan.together.pairs {
        let _ = writeln!(
            text,
            "# at once: {} and {}, {} ×; {}",
            name(one),
            name(other),
            plan.reps,
            plan.together.first
        );
    }
    if !text.is_empty() {
        let is_pair = |one: &PlannedRun, next: &PlannedRun| one.beside.as_ref() == Some(&next.run);
        let turns = plan.runs.chunk_by(is_pair).map(|turn| {
            let names: Vec<&str> = turn.iter().map(|run| name(&run.binding)).collect();
            names.join(" + ")
        });
        let turns: Vec<String> = turns.collect();
        let _ = writeln!(text, "# order: {}\n", turns.join(" · "));
    }
    text
}

/// Every command that would run, as exact shell.
pub(super) fn dry_run(prepared: &Prepared) -> String {
    let mut text = String::new();
    for binding in &prepared.plan.bindings {
        let _ = writeln!(
            text,
            "# {} · {} · {}\n# repetitions {}, order {}",
            binding.method,
            binding.host(),
            binding.subject,
            prepared.plan.reps,
            prepared.plan.order
        );
        for step in &binding.steps {
            let _ = write!(
                text,
                "\n# {} · {} · on {}",
                step.phase, step.name, step.host
            );
            if let Some(destroys) = &step.destroys {
                let _ = write!(text, " · DESTROYS {}", destroys.what);
                if let Some(copy) = &destroys.relies_on {
                    let proof = if destroys.unproved {
                        ""
                    } else {
                        "the proof of "
                    };
                    let untested = if destroys.unproved {
                        ", which nothing can test before"
                    } else {
                        ""
                    };
                    let _ = write!(text, ", relies on {proof}{copy}{untested}");
                }
            }
            let _ = writeln!(text, "\n{}", step.command);
        }
        text.push('\n');
    }
    for bound in &prepared.bounds {
        text.push_str(&looks(bound));
    }
    text.push_str(&at_once(&prepared.plan));
    text.push_str(&findings(prepared));
    text
}
