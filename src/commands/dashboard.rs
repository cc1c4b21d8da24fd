//! `comeback [HOST…]`

use std::sync::{Arc, Mutex};

use chrono::{FixedOffset, Local, Offset};
use tokio::sync::{mpsc, watch};

use crate::cli::Color;
use crate::session::Session;
use crate::tui::{self, Channels, ColorWhen, Depth, Ended, Feed, Shelf, Start, Terminal};

use super::board::Board;
use super::desk::Desk;
use super::screening::Screening;
use super::{CommandError, Context, output, prepare};

/// The dashboard; without a host, of this machine.
pub(super) async fn dashboard(
    context: &Arc<Context>,
    hosts: Vec<String>,
) -> Result<i32, CommandError> {
    let shelf = shelf(context);
    let theme = shelf.load(context.theme.as_deref())?;
    let terminal = terminal(context, "`comeback run` works without one")?;
    let catalogue = prepare::catalogue(context)?;
    let names = if hosts.is_empty() {
        vec!["local".to_owned()]
    } else {
        hosts
    };
    let session = Arc::new(Mutex::new(Session::default()));
    let (messages, to_board) = mpsc::channel(64);
    let (effects, from_board) = mpsc::channel(64);
    let (pulse, changes) = watch::channel(0);
    let board = Board::new(messages.clone());
    let screening = Screening::new(
        context,
        Arc::clone(&session),
        messages.clone(),
        pulse.clone(),
    );
    let replay = screening.state();
    let desk = Desk::new(
        context.asked_by(Arc::new(board.clone())),
        catalogue,
        names,
        Arc::clone(&session),
        (messages, pulse),
        board,
        screening,
    );
    let desk = tokio::spawn(desk.serve(from_board));
    let start = Start {
        theme,
        shelf,
        zone: zone(),
        offer: None,
        keys: context.keys.clone(),
        mouse: context.config.mouse,
    };
    let feed = Feed::replay(session, changes, replay);
    let ended = tui::run(
        terminal,
        feed,
        start,
        Channels {
            messages: to_board,
            effects,
        },
    )
    .await;
    // What the session left is undone before the program ends, whatever ended the dashboard.
    let desk = desk
        .await
        .map_err(|why| CommandError::Broken(why.to_string()))?;
    // It may have been deleted from the list.
    if let Some(file) = desk.file.filter(|file| file.exists()) {
        output::talk(&format!("comeback: recording: {}", file.display()));
    }
    for (_, text) in desk.left.iter().filter(|(file, _)| file.exists()) {
        output::talk(text);
    }
    match ended.map_err(CommandError::from) {
        Ok(ended) => Ok(exit(ended, desk.exit)),
        // Both are told, and of their exit codes the highest.
        Err(why) if desk.exit > why.exit() => {
            output::talk(&format!("comeback: {why}"));
            Ok(desk.exit)
        }
        Err(why) => Err(why),
    }
}

/// The exit code of a dashboard that ended so: whatever it showed, a signal stops it.
pub(super) fn exit(ended: Ended, done: i32) -> i32 {
    match ended {
        Ended::Quit | Ended::Abandoned => done,
        Ended::Interrupted | Ended::Terminated | Ended::HungUp => done.max(130),
    }
}

/// The terminal, or a sentence that says what works without one.
pub(super) fn terminal(context: &Context, hint: &str) -> Result<Terminal, CommandError> {
    tui::available().map_err(|why| CommandError::Terminal(format!("{why}; {hint}")))?;
    Ok(Terminal::open(has_color(context))?)
}

fn has_color(context: &Context) -> bool {
    let when = match context.color {
        Color::Auto => ColorWhen::Auto,
        Color::Always => ColorWhen::Always,
        Color::Never => ColorWhen::Never,
    };
    when.is_on(
        std::env::var_os("NO_COLOR").as_deref(),
        std::env::var_os("TERM").as_deref(),
    )
}

/// The themes that there are, in the colours that the terminal shows.
pub(super) fn shelf(context: &Context) -> Shelf {
    Shelf {
        dirs: vec![context.paths.themes.clone()],
        has_color: has_color(context),
        depth: Depth::of(|name| std::env::var_os(name)),
    }
}

/// This machine's time zone, now.
pub(super) fn zone() -> FixedOffset {
    Local::now().offset().fix()
}
