//! What a host is: probed in one round trip, never assumed.

mod clock;
mod parse;
mod probe;

pub use self::clock::{ClockSource, HostClock};
pub use self::probe::{overhead, probe, script};
