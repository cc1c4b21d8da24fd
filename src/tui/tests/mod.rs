//! Tests of the dashboard as a whole: what is drawn, what keys do.

mod changed_keys;
mod compare_keys;
mod demo;
mod draw;
mod figure_screens;
mod figures;
mod fixture;
mod freeze_keys;
mod hosts_keys;
mod list_keys;
mod log_alone_keys;
mod log_keys;
mod mouse_keys;
pub(super) mod offers;
mod palette_keys;
mod picking_keys;
mod properties;
mod pty;
mod question_screens;
mod recordings_keys;
mod replay_keys;
mod screens;
mod sizes;
mod snapshot;
mod theme_keys;
mod trouble;
mod watching_keys;
