//! `comeback completions`

use clap::CommandFactory;

use crate::cli::Cli;

use super::{CommandError, output};

/// Completions for a shell.
pub(super) fn completions(shell: clap_complete::Shell) -> Result<i32, CommandError> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "comeback", &mut bytes);
    output::data(&String::from_utf8_lossy(&bytes))?;
    Ok(0)
}
