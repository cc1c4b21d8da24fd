//! What is heard of a step, and how it ended.

use crate::event::{HostStamps, Stream};

/// What is heard of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// At most 64 KiB of output.
    Output {
        /// Which stream.
        stream: Stream,
        /// Offset of its first byte.
        offset: u64,
        /// As they came.
        bytes: Vec<u8>,
    },
    /// Output that is not kept.
    Gap {
        /// Which stream.
        stream: Stream,
        /// Where it begins.
        offset: u64,
        /// How much; absent where nobody counted.
        bytes: Option<u64>,
    },
    /// The connection is gone; the command is not. It is tried again, for ever.
    LinkLost {
        /// Why.
        why: String,
    },
    /// It is back, and nothing is missing.
    LinkBack,
    /// The step is over: the last that is heard.
    Ended(Outcome),
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Exit status, of each member where it was a pipe; 128 + n after signal n. Empty where it,
    /// or that of a member, is not known.
    pub status: Vec<i32>,
    /// Stamps of the host's clock, right before and after the command.
    pub stamps: Option<HostStamps>,
    /// The finest step of that clock, in seconds.
    pub resolution: f64,
    /// Whether the command was begun.
    pub begun: bool,
    /// Whether nobody knows how it ended: the processes are gone, and there is no status.
    pub lost: bool,
    /// Whether that is so because the machine has started anew since the session began.
    pub restarted: bool,
    /// Processes that outlived the command in its group, and were ended.
    pub survivors: u32,
}

impl Outcome {
    pub(super) fn unknown() -> Self {
        Self {
            status: Vec::new(),
            stamps: None,
            resolution: 0.0,
            begun: true,
            lost: false,
            restarted: false,
            survivors: 0,
        }
    }

    pub(super) fn lost() -> Self {
        Self {
            lost: true,
            ..Self::unknown()
        }
    }

    pub(super) fn restarted() -> Self {
        Self {
            restarted: true,
            ..Self::lost()
        }
    }

    pub(super) fn void() -> Self {
        Self {
            begun: false,
            ..Self::unknown()
        }
    }

    /// Seconds by the host's clock.
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        self.stamps
            .map(|stamps| stamps.end.seconds_since(stamps.start))
    }
}
