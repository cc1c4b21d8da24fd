//! `comeback replay`

use std::path::Path;
use std::sync::{Arc, Mutex};

use tokio::sync::{mpsc, watch};

use crate::cli::ReplayArgs;
use crate::session::Session;
use crate::tui::{self, Channels, Effect, Feed, Start};

use super::screening::Screening;
use super::{CommandError, Context, dashboard, output, report};

/// Replays a recording in the dashboard, or as text; without one, shows which there are.
pub(super) async fn replay(context: &Context, args: ReplayArgs) -> Result<i32, CommandError> {
    if !(args.speed.is_finite() && args.speed > 0.0) {
        return Err(CommandError::Arguments(format!(
            "--speed: expected a number above 0, not {}",
            args.speed
        )));
    }
    match &args.file {
        Some(file) if args.plain => {
            let session = report::load(file)?;
            output::data(&crate::report::story(&session))?;
            Ok(0)
        }
        file => watch(context, file.as_deref(), args.speed).await,
    }
}

async fn watch(context: &Context, file: Option<&Path>, speed: f64) -> Result<i32, CommandError> {
    let shelf = dashboard::shelf(context);
    let theme = shelf.load(context.theme.as_deref())?;
    let session = Arc::new(Mutex::new(Session::default()));
    let (messages, to_board) = mpsc::channel(64);
    let (effects, mut wanted) = mpsc::channel(64);
    let (pulse, changes) = watch::channel(0);
    let mut screening = Screening::new(context, Arc::clone(&session), messages, pulse);
    let feed = Feed::replay(session, changes, screening.state());
    let terminal = dashboard::terminal(context, "--plain shows the recording as text")?;
    let feed = if let Some(file) = file {
        screening.open(file, speed)?;
        feed
    } else {
        screening.take(Effect::Recordings).await;
        feed.from_list()
    };
    let screening = tokio::spawn(async move {
        while let Some(effect) = wanted.recv().await {
            screening.take(effect).await;
        }
    });
    let start = Start {
        theme,
        shelf,
        zone: dashboard::zone(),
        offer: None,
        keys: context.keys.clone(),
        mouse: context.config.mouse,
    };
    let channels = Channels {
        messages: to_board,
        effects,
    };
    let ended = tui::run(terminal, feed, start, channels).await;
    screening.abort();
    Ok(dashboard::exit(ended?, 0))
}
