//! One file a subcommand: each wires the parts below, and holds no logic.

mod check;
mod completions;
mod connect;
mod dashboard;
mod error;
mod info;
mod live;
mod methods;
mod offer;
mod output;
mod prepare;
mod recover;
mod replay;
mod report;
mod run;

use std::sync::Arc;

use crate::cli::{Cli, Command};
use crate::config::{Config, Paths};

pub use error::CommandError;

/// What every command may use.
pub(crate) struct Context {
    pub paths: Paths,
    pub config: Config,
    pub theme: Option<String>,
    pub color: crate::cli::Color,
}

/// Does what was asked for, and gives the exit code.
///
/// # Errors
/// [`CommandError`], whose [`CommandError::exit`] is the exit code.
pub async fn dispatch(cli: Cli) -> Result<i32, CommandError> {
    let paths = Paths::new(cli.config.as_deref())?;
    let config = Config::load(&paths.config, cli.config.is_some())?;
    let theme = cli.theme.or_else(|| config.theme.clone());
    let context = Arc::new(Context {
        paths,
        config,
        theme,
        color: cli.color,
    });
    match cli.command {
        None => dashboard::dashboard(&context, cli.hosts).await,
        Some(Command::Run(args)) => run::run(&context, args).await,
        Some(Command::Check(args)) => check::check(&context, args).await,
        Some(Command::Methods(args)) => methods::methods(&context, args),
        Some(Command::Replay(args)) => replay::replay(&context, args).await,
        Some(Command::Report(args)) => report::report(&args),
        Some(Command::Recover(args)) => recover::recover(&context, args).await,
        Some(Command::Info) => info::info(&context),
        Some(Command::Completions { shell }) => completions::completions(shell),
    }
}
