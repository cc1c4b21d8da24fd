//! What screens are made of. Widgets put figures into places; they do not make any.

pub(super) mod bytes;
pub(super) mod command_bar;
pub(super) mod figures;
pub(super) mod gauge;
pub(super) mod header;
pub(super) mod log;
pub(super) mod medians;
pub(super) mod others;
pub(super) mod plan;
pub(super) mod row;
pub(super) mod steps;
pub(super) mod timeline;
pub(super) mod warning;
