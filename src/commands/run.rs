//! `comeback run`

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::signal::unix::{SignalKind, signal};

use crate::cli::RunArgs;
use crate::engine::{Control, Gravity, Sitting, consents, session_id};
use crate::event::{Act, ActKind, Asker, SessionId, Sink, What};
use crate::method::Bound;
use crate::recording::{Writer, subject_around};
use crate::session::{LeftState, Session, clean};

use super::live::Live;
use super::prepare::{self, Asked, Prepared};
use super::{CommandError, Context, check, interruptible, output};

/// Runs methods without the dashboard, and reports.
pub(super) async fn run(context: &Arc<Context>, args: RunArgs) -> Result<i32, CommandError> {
    let asked = prepare::read(&args)?;
    if let Some(file) = args.record.as_ref().filter(|file| file.exists()) {
        return Err(CommandError::Arguments(format!(
            "{}: it exists; a recording never overwrites a file, name another",
            file.display()
        )));
    }
    let catalogue = prepare::catalogue(context)?;
    let prepared = interruptible(prepare::prepare(context, &catalogue, &asked)).await?;
    if args.dry_run {
        output::data(&check::dry_run(&prepared))?;
        let refused = prepared.checks.iter().any(|one| one.refusal().is_some());
        return Ok(check::exit(&prepared, refused));
    }
    allowed(context, &args, &prepared)?;
    let session = session_id();
    let file = args
        .record
        .clone()
        .unwrap_or_else(|| recording_file(context, &session));
    let writer = Writer::create(&file)?;
    let fold = Arc::new(Mutex::new(Session::default()));
    let live = Arc::new(Live::new(writer, Arc::clone(&fold), args.events));
    let control = Control::default();
    context
        .asking
        .tell_to(Some(Arc::clone(&live) as Arc<dyn Sink>));
    let asker = Arc::clone(&context.asking) as Arc<dyn Asker>;
    let signals = tokio::spawn(stop_on_signal(control.clone(), Arc::clone(&live)));
    let sink: Arc<dyn Sink> = Arc::clone(&live) as Arc<dyn Sink>;
    let end = sitting(session, prepared, &asked, sink, control, asker)
        .conduct()
        .await;
    signals.abort();
    context.asking.tell_to(None);
    let fold = fold.lock().unwrap_or_else(PoisonError::into_inner);
    if !args.events {
        output::data(&super::report::rendered(args.format, &[&*fold]))?;
    }
    output::talk(&format!(
        "comeback: {}; recording: {}",
        end.reason,
        file.display()
    ));
    if let Some(text) = left(&fold, &file) {
        output::talk(&text);
    }
    Ok(end.exit)
}

/// What is still on hosts, and what takes it away.
pub(super) fn left(session: &Session, file: &Path) -> Option<String> {
    let mut names: Vec<String> = session
        .ledger
        .still_out()
        .filter_map(|left| match &left.state {
            LeftState::Kept(why) => Some(format!(
                "comeback: {}: {} is kept ({}): {why}",
                left.intended.host,
                left.intended.name,
                clean(left.found.as_deref().unwrap_or("it may be there"))
            )),
            LeftState::Intended | LeftState::Found(_) => Some(format!(
                "comeback: {}: {} may be there",
                left.intended.host, left.intended.name
            )),
            LeftState::Undone => None,
        })
        .collect();
    if names.is_empty() {
        return None;
    }
    names.push(format!(
        "comeback: `comeback recover {file}` says what is left and how it is undone; with --remove it takes it away",
        file = file.display()
    ));
    Some(names.join("\n"))
}

/// A new recording in the data folder.
pub(super) fn recording_file(context: &Context, session: &SessionId) -> PathBuf {
    let day = chrono::Local::now().format("%Y-%m-%d-%H%M%S");
    context
        .paths
        .recordings
        .join(format!("{day}-{session}.jsonl"))
}

/// Everything that a session needs.
pub(super) fn sitting(
    session: SessionId,
    prepared: Prepared,
    asked: &Asked,
    sink: Arc<dyn Sink>,
    control: Control,
    asker: Arc<dyn Asker>,
) -> Sitting {
    Sitting {
        session,
        consents: consents(&prepared.bounds, &prepared.checks),
        bounds: prepared.bounds,
        plan: prepared.plan,
        hosts: prepared.hosts,
        missing: prepared.missing,
        confirmed: asked.confirmed.clone(),
        sink,
        control,
        asker,
    }
}

fn allowed(context: &Context, args: &RunArgs, prepared: &Prepared) -> Result<(), CommandError> {
    if args.read_only {
        return Err(CommandError::Refused(
            "--read-only allows probing alone; `comeback check` shows what would run".to_owned(),
        ));
    }
    if let Some(name) = prepared
        .hosts
        .keys()
        .find(|name| context.config.host(name).read_only)
    {
        return Err(CommandError::Refused(format!(
            "{name} is read-only by the configuration {}",
            context.paths.config.display()
        )));
    }
    let record = args
        .record
        .clone()
        .unwrap_or_else(|| context.paths.recordings.join("x"));
    for (method, host, why) in &prepared.left_out {
        output::talk(&format!("comeback: {method} on {host} is left out: {why}"));
    }
    outside_of_subjects(&record, &prepared.bounds)?;
    for (bound, check) in prepared.bounds.iter().zip(&prepared.checks) {
        if let Some(why) = check.refusal() {
            return Err(CommandError::Refused(format!(
                "{}: {why}",
                bound.method.name
            )));
        }
        for finding in &check.findings {
            if finding.gravity == Gravity::Warning {
                output::talk(&format!(
                    "comeback: {}: {}",
                    bound.method.name, finding.text
                ));
            }
        }
    }
    Ok(())
}

// The first signal stops the run and undoes what may be undone; that takes as long as it takes.
async fn stop_on_signal(control: Control, live: Arc<Live>) {
    let (Ok(mut int), Ok(mut term), Ok(mut hup), Ok(mut quit)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
        signal(SignalKind::hangup()),
        signal(SignalKind::quit()),
    ) else {
        return;
    };
    loop {
        let name = tokio::select! {
            _ = int.recv() => "SIGINT",
            _ = term.recv() => "SIGTERM",
            _ = hup.recv() => "SIGHUP",
            _ = quit.recv() => "SIGQUIT",
        };
        if !control.is_stopped() {
            live.tell(What::Act(Act {
                act: ActKind::Stop,
                text: name.to_owned(),
            }));
            output::talk(&format!(
                "comeback: {name}: stopping, and taking away what this session made"
            ));
            for subject in live.stake().touched {
                output::talk(&format!(
                    "comeback: {subject} is not back: it stays as it is, and its copy stays, too"
                ));
            }
        }
        control.stop();
    }
}

/// A recording in a subject of this machine would change what is only read.
pub(super) fn outside_of_subjects(record: &Path, bounds: &[Bound]) -> Result<(), CommandError> {
    let bindings = bounds.iter().map(|bound| &bound.binding);
    subject_around(record, bindings).map_or(Ok(()), |subject| {
        Err(CommandError::Refused(format!(
            "the recording {} would stand in the subject {}, which is only read; say --record FILE outside of it",
            record.display(),
            subject.id
        )))
    })
}
