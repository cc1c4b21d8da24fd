use std::sync::mpsc::sync_channel;

use clap::Parser as _;

use super::*;
use crate::cli::Cli;

/// Nothing is read before `go` is told, for there is one thread to read with.
#[test]
fn earlier_runs_are_read_no_more_while_one_goes_on_and_anew_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "").unwrap();
    let cli = Cli::parse_from(["comeback", "--config", config.to_str().unwrap()]);
    let mut context = Context::new(&cli).unwrap();
    context.paths.recordings = folder.path().to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    runtime.block_on(async {
        let (go, gone) = sync_channel::<()>(1);
        tokio::task::spawn_blocking(move || gone.recv());
        let mut seats = Seats::new(Arc::new(context), Arc::default(), Vec::new());
        seats.leave_history();
        go.send(()).unwrap();
        let seen = seats.next().await;
        assert!(matches!(seen, Seen::History(None)));
        assert!(!seats.hear(seen) && seats.history.is_none());
        seats.read_history();
        let seen = seats.next().await;
        assert!(matches!(seen, Seen::History(Some(_))));
        assert!(seats.hear(seen) && seats.history.is_some());
    });
}
