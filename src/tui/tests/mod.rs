//! Tests of the dashboard as a whole: what is drawn, what keys do.

mod compare_keys;
mod demo;
mod draw;
mod fixture;
mod log_keys;
mod offers;
mod picking_keys;
mod properties;
mod pty;
mod screens;
mod sizes;
mod snapshot;
mod theme_keys;
mod watching_keys;
