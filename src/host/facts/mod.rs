//! What a host is: probed, never assumed.

mod clock;

pub use self::clock::{ClockSource, HostClock};
mod quick;
pub use quick::probe;
