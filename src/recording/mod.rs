//! Events to a file and back: a recording is the whole of a session.
//!
//! `docs/recording.md` describes the format.

mod chapters;
mod folder;
mod history;
mod idle;
mod lines;
mod load;
mod place;
mod player;
mod reader;
mod reel;
mod source;
mod summary;
mod writer;

pub use chapters::{Chapter, ChapterKind};
pub use folder::{DeleteError, delete, files, recordings};
pub use history::{Earlier, History, Past};
pub use idle::Idle;
pub use load::{Warning, load};
pub use place::subject_around;
pub use player::{Change, Player, Standing};
pub use reader::{ReadError, Reader};
pub use reel::{Events, Reading, Reel};
pub use summary::{BoundSummary, CopyBytes, HostSummary, Outcome, RunSummary, Summary};
pub use writer::{CreateError, Writer};

/// Longest line of a recording, in bytes.
pub const MOST_LINE: usize = 1 << 20;
/// Longest first line: the header has the whole plan and the facts of every host.
pub const MOST_HEADER: usize = 16 << 20;
