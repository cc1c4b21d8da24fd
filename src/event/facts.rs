//! What is known of a host, and whether it can be reached.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Bytes, Place};

/// What a host is: probed, never assumed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Operating system, as it names itself.
    #[serde(default)]
    pub system: String,
    /// Kernel name and release.
    #[serde(default)]
    pub kernel: String,
    /// Processor model.
    #[serde(default)]
    pub cpu: String,
    /// Processors online.
    #[serde(default)]
    pub cpus: u32,
    /// Memory in all.
    #[serde(default)]
    pub memory: Bytes,
    /// Which running machine it is: the boot id of its kernel, on FreeBSD the UUID of the host.
    /// Hosts that tell the same are one. Empty where that cannot be told.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub machine: String,
    /// Name of the user as whom commands run.
    #[serde(default)]
    pub user: String,
    /// Numeric id of that user.
    #[serde(default)]
    pub uid: u32,
    /// Whether the old, weak SSH algorithms are allowed with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub legacy: bool,
    /// What there is to know of how it is connected to, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connection: Vec<String>,
    /// Who logged in, where commands run through another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub became: Option<Became>,
    /// The state folder that comeback uses on it.
    #[serde(default)]
    pub state: String,
    /// Whether this user can write there.
    #[serde(default)]
    pub state_writable: bool,
    /// Finest step of the clock that steps are timed with there, in seconds.
    #[serde(default)]
    pub clock_resolution: f64,
    /// How the host's clock is read (`EPOCHREALTIME`, `date +%s%N`, …).
    #[serde(default)]
    pub clock_source: String,
    /// Seconds by which its wall clock is ahead of this machine's; absent where they agree
    /// within a few seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_off: Option<i64>,
    /// Median seconds that a supervised `true` takes there; shown, never subtracted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<f64>,
    /// Programs found, with their version line (empty where they tell none).
    #[serde(default)]
    pub tools: BTreeMap<String, String>,
    /// Mounted file systems.
    #[serde(default)]
    pub filesystems: Vec<FilesystemFact>,
    /// Disks.
    #[serde(default)]
    pub disks: Vec<DiskFact>,
    /// Where each path that was asked for stands.
    #[serde(default)]
    pub paths: BTreeMap<String, Place>,
}

impl Facts {
    /// How its wall clock differs from this machine's, in words; absent where both agree.
    #[must_use]
    pub fn clock_differs(&self) -> Option<String> {
        let off = self.clock_off?;
        let amount = match off.unsigned_abs() {
            seconds @ ..120 => format!("{seconds} s"),
            seconds @ ..7200 => format!("{} min", (seconds + 30) / 60),
            seconds @ ..172_800 => format!("{} h", (seconds + 1800) / 3600),
            seconds => format!("{} days", (seconds + 43_200) / 86_400),
        };
        let way = if off < 0 { "behind" } else { "ahead of" };
        Some(format!("about {amount} {way} this machine's"))
    }
}

/// How commands come to run as another user than the one who logged in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Became {
    /// Name of the user who logged in.
    pub login: String,
    /// The command that they run through, as configured.
    pub by: String,
}

/// A mounted file system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FilesystemFact {
    /// What is mounted.
    pub source: String,
    /// Its type.
    pub kind: String,
    /// Size.
    pub size: Bytes,
    /// Available to this user.
    pub free: Bytes,
    /// Mount point.
    pub at: String,
}

/// A disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskFact {
    /// Kernel name.
    pub name: String,
    /// Model, as the disk names itself.
    #[serde(default)]
    pub model: String,
    /// Size.
    pub size: Bytes,
}

/// A change of a host's state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostChange {
    /// The host, as the operator named it.
    pub host: String,
    /// Its state now.
    pub state: HostState,
    /// Which phase of connecting (resolve, connect, host key, login, probe).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Why it is down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Facts, where they came with this change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Facts>,
}

/// State of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostState {
    /// On its way.
    Connecting,
    /// Ready.
    Up,
    /// Gone, or never reached.
    Down,
}
