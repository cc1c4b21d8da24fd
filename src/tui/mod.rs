//! The dashboard: a view of a session, and the keys to drive one.
//!
//! A [`Model`] is what it remembers, [`update`] takes one [`Message`] and answers with
//! [`Effect`]s, [`view`] draws. [`run`] is the loop around them: it owns the terminal, and draws
//! only when something has changed.

mod app;
mod chapters;
mod clipboard;
mod contexts;
mod counted;
mod estimate;
mod forecast;
mod format;
mod found;
mod freeze;
mod given;
mod input;
mod keys;
mod lanes;
mod layer;
mod layout;
mod message;
mod method_rows;
mod model;
mod odd;
mod offer;
mod palette;
mod query;
mod recordings;
mod runlog;
mod screens;
mod signals;
mod signs;
mod terminal;
mod text;
mod theme;
mod times;
mod update;
mod view;
mod widgets;

#[cfg(test)]
mod tests;

pub use app::run;
pub use counted::Counted;
pub use given::{Channels, Feed, Start};
pub use keys::{Action, Bind, Bound, Change, Chord, Context, KEYS, Keymap, KeysError};
pub use message::{Effect, Ended, Found, Message, Player, ReplayState};
pub use model::Model;
pub use offer::{
    Choice, HostOffer, MethodOffer, Named, Offer, Picked, PreviewLine, Room, SettingOffer,
    SubjectOffer,
};
pub use terminal::{Terminal, TuiError, available};
pub use theme::{BUILT_IN, ColorWhen, Depth, ROLES, Role, Shelf, Theme, ThemeError, choose};
pub use update::update;
pub use view::view;
