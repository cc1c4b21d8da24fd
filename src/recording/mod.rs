//! Events to a file and back: a recording is the whole of a session.
//!
//! `docs/recording.md` describes the format.

mod folder;
mod history;
mod lines;
mod load;
mod player;
mod reader;
mod summary;
mod writer;

pub use folder::{files, recordings};
pub use history::{Earlier, History, Past};
pub use load::{Warning, load};
pub use player::{Player, Seek};
pub use reader::{ReadError, Reader};
pub use summary::{BoundSummary, CopyBytes, HostSummary, Outcome, RunSummary, Summary};
pub use writer::{CreateError, Writer};

/// Longest line of a recording, in bytes.
pub const MOST_LINE: usize = 1 << 20;
/// Longest first line: the header has the whole plan and the facts of every host.
pub const MOST_HEADER: usize = 16 << 20;
