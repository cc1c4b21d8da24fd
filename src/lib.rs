//! How fast does your data come back?
//!
//! The engine says what happened, as a stream of [`event`]s; a [`recording`] is that stream in a
//! file, a [`session`] is that stream folded; dashboards, reports and replays are views of a
//! session.

pub mod cli;
pub mod commands;
pub mod config;
pub mod engine;
pub mod event;
pub mod host;
pub mod method;
pub mod page;
pub mod progress;
pub mod recording;
pub mod report;
pub mod session;
pub mod tui;
