//! Whether two sessions have the same figures, without a look at them.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Of the last change that figures are made of: no other change in this process has the same. It is
/// no part of what a session holds.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamp(u64);

impl Stamp {
    /// Of one more change, whatever the session.
    pub(super) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}
