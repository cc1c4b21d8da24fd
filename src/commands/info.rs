//! `comeback info`

use std::fmt::Write;

use crate::event::FORMAT;

use super::{CommandError, Context, output};

/// Versions, and where things live.
pub(super) fn info(context: &Context) -> Result<i32, CommandError> {
    let paths = &context.paths;
    let there = |path: &std::path::Path| if path.exists() { "" } else { "  (not there)" };
    let mut text = format!(
        "comeback {}\nrecordings written as {FORMAT}\n",
        env!("CARGO_PKG_VERSION")
    );
    for (name, path) in [
        ("configuration", &paths.config),
        ("methods", &paths.methods),
        ("themes", &paths.themes),
        ("recordings", &paths.recordings),
        ("state", &paths.state),
    ] {
        let _ = writeln!(text, "{name:<14} {}{}", path.display(), there(path));
    }
    output::data(&text)?;
    Ok(0)
}
