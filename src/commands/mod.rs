//! One file a subcommand: each wires the parts below, and holds no logic.

mod asking;
mod board;
mod check;
mod completions;
mod connect;
mod dashboard;
mod desk;
mod error;
mod info;
mod live;
mod methods;
mod offer;
mod output;
mod prepare;
mod project;
mod prompt;
mod recover;
mod replay;
mod report;
mod run;
mod screening;
mod seats;
mod thick;

use std::path::PathBuf;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;

use crate::cli::{Cli, Command};
use crate::config::{Config, ConfigError, Paths};
use crate::event::{Asker, count};
use crate::host::ssh;
use crate::report::{Saved, Wanted, save};
use crate::tui::{Change, Keymap, Message};

use self::asking::Asking;
use self::prompt::Prompt;

pub use error::CommandError;

/// What every command may use.
#[derive(Clone)]
struct Context {
    pub paths: Paths,
    pub config: Config,
    pub theme: Option<String>,
    pub color: crate::cli::Color,
    /// What keys do in the dashboard.
    pub keys: Keymap,
    /// Puts what is asked to the operator.
    pub asking: Arc<Asking>,
    /// How hosts are reached over SSH.
    pub ssh: ssh::Config,
}

impl Context {
    fn new(cli: &Cli) -> Result<Self, CommandError> {
        let paths = Paths::new(cli.config.as_deref())?;
        let config = Config::load(&paths.config, cli.config.is_some())?;
        let keys = keys(&paths, &config)?;
        let asking = Arc::new(Asking::through(Arc::new(Prompt::default())));
        let legacy = config.host.iter();
        Ok(Self {
            theme: cli.theme.clone().or_else(|| config.theme.clone()),
            color: cli.color,
            keys,
            ssh: ssh::Config {
                legacy: legacy
                    .map(|(name, host)| (name.clone(), host.legacy))
                    .collect(),
                asker: Arc::clone(&asking) as Arc<dyn Asker>,
                ..ssh::Config::from_env()
            },
            paths,
            config,
            asking,
        })
    }

    /// The same, where somebody else asks.
    fn asked_by(&self, asker: Arc<dyn Asker>) -> Self {
        let asking = Arc::new(Asking::through(asker));
        let mut context = self.clone();
        context.ssh.asker = Arc::clone(&asking) as Arc<dyn Asker>;
        context.asking = asking;
        context
    }
}

/// The table of keys with what the configuration changes in it.
fn keys(paths: &Paths, config: &Config) -> Result<Keymap, ConfigError> {
    let changes: Vec<Change<'_>> = config
        .key_changes
        .iter()
        .map(|change| Change {
            line: change.line,
            context: change.context.as_deref(),
            action: &change.action,
            keys: &change.keys,
        })
        .collect();
    Keymap::new(&changes).map_err(|why| ConfigError::Wrong {
        file: paths.config.display().to_string(),
        line: why.line,
        why: why.why,
    })
}

/// Where a saved log goes: here, or where this program keeps things.
fn log_folders(paths: &Paths) -> Vec<PathBuf> {
    let here = std::env::current_dir().ok();
    here.into_iter().chain([paths.state.join("logs")]).collect()
}

/// Saves a log, and says where.
async fn save_log(recording: PathBuf, wanted: Wanted, folders: Vec<PathBuf>) -> Message {
    let saved = spawn_blocking(move || save(&recording, &wanted, &folders)).await;
    Message::Say(match saved {
        Ok(Ok(Saved { path, lines })) => {
            format!("Saved {}: {}", count(lines, "line"), path.display())
        }
        Ok(Err(why)) => format!("Not saved: {why}"),
        Err(why) => format!("Not saved: {why}"),
    })
}

/// Does this, unless the operator ends the program first: then nothing that was made is left,
/// for nothing has been made yet.
///
/// # Errors
/// [`CommandError::Stopped`].
async fn interruptible<T>(
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    let stopped = async {
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
            SignalKind::quit(),
        ];
        let mut signals: Vec<_> = kinds
            .into_iter()
            .filter_map(|kind| signal(kind).ok())
            .collect();
        let any = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
        if any.len() == 0 {
            std::future::pending::<()>().await;
        }
        futures_util::future::select_all(any).await;
    };
    tokio::select! {
        done = work => done,
        () = stopped => Err(CommandError::Stopped),
    }
}

/// Does what was asked for, and gives the exit code.
///
/// # Errors
/// [`CommandError`], whose [`CommandError::exit`] is the exit code.
pub async fn dispatch(cli: Cli) -> Result<i32, CommandError> {
    let context = Arc::new(Context::new(&cli)?);
    match cli.command {
        None => dashboard::dashboard(&context, cli.hosts).await,
        Some(Command::Run(args)) => run::run(&context, args).await,
        Some(Command::Check(args)) => interruptible(check::check(&context, args)).await,
        Some(Command::Methods(args)) => methods::methods(&context, args),
        Some(Command::Replay(args)) => replay::replay(&context, args).await,
        Some(Command::Report(args)) => report::report(&args),
        Some(Command::Project(args)) => project::project(&args),
        Some(Command::Recover(args)) => interruptible(recover::recover(&context, args)).await,
        Some(Command::Info) => info::info(&context),
        Some(Command::Completions { shell }) => completions::completions(shell),
    }
}
