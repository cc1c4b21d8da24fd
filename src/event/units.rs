//! Units are types.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A number of bytes.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    /// In binary units, e.g. `8.97 GiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!(
            "{:.2}",
            bytesize::ByteSize::b(self.0).display().iec()
        ))
    }
}

/// Nanoseconds since the session began, on this machine's monotonic clock.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// As seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// How long after `earlier`; nothing where it is not after.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// A moment of a host's wall clock: nanoseconds since 1970. Stamps are subtracted only
/// within one host's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stamp(pub u64);

impl Stamp {
    /// Seconds from `earlier` to here; negative where the clock was put back.
    #[must_use]
    pub fn seconds_since(self, earlier: Self) -> f64 {
        (i128::from(self.0) - i128::from(earlier.0)) as f64 / 1e9
    }
}

/// How a duration was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// On the machine that did the work.
    Host,
    /// Proxmox's task index: whole seconds.
    Task,
    /// A duration that a tool printed.
    Log,
    /// This machine, monotonic.
    Here,
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Host => "host",
            Self::Task => "task",
            Self::Log => "log",
            Self::Here => "here",
        })
    }
}

/// How a run or step ended. Only the first two enter a median.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndState {
    /// Well.
    Ok,
    /// Well, with warnings.
    Warnings,
    /// Not well.
    Failed,
    /// The operator ended it.
    Stopped,
    /// Nobody knows: the status is missing, the log simply ends.
    Lost,
}

impl EndState {
    /// Whether it counts.
    #[must_use]
    pub fn is_good(self) -> bool {
        matches!(self, Self::Ok | Self::Warnings)
    }

    /// The graver of two.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        self.max(other)
    }
}

impl fmt::Display for EndState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Warnings => "warnings",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Lost => "lost",
        })
    }
}

/// Which part of a method a step belongs to, in the order in which they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Make the subject ready.
    Prepare,
    /// Make the copy.
    Protect,
    /// Prove the copy, count its bytes.
    Account,
    /// What the copy is for.
    Damage,
    /// Bring it back.
    Restore,
    /// Until it answers.
    Ready,
    /// Prove that it is what it was.
    Verify,
    /// Take everything away.
    Cleanup,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Prepare => "prepare",
            Self::Protect => "protect",
            Self::Account => "account",
            Self::Damage => "damage",
            Self::Restore => "restore",
            Self::Ready => "ready",
            Self::Verify => "verify",
            Self::Cleanup => "cleanup",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_show_two_decimals() {
        assert_eq!(Bytes(0).to_string(), "0 B");
        assert_eq!(Bytes(1023).to_string(), "1023 B");
        assert_eq!(Bytes(9_628_654_680).to_string(), "8.97 GiB");
        assert_eq!(Bytes(u64::MAX).to_string(), "16.00 EiB");
    }
}
