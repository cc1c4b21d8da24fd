//! `comeback project`

use crate::cli::ProjectArgs;
use crate::report::render_projection_width;
use crate::session::{Projection, Wanted};

use super::{CommandError, output, report};

/// How long for other disks, by a recording's rates.
pub(super) fn project(args: &ProjectArgs) -> Result<i32, CommandError> {
    let session = report::load(&args.file)?;
    let wanted = Wanted {
        disks: args.disk.clone(),
        pipeline: args.pipeline.clone().map(|pair| pair.0),
    };
    let projection = Projection::of(&session, &wanted)?;
    let width = report::width();
    output::data(&render_projection_width(
        args.format.into(),
        &projection,
        width,
    ))?;
    Ok(0)
}
