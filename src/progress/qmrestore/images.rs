//! A backup server's snapshot: one disk after the other, and what was read of them in all.

use super::super::numbers::Printed;
use crate::progress::Finding;

/// The disks of a backup server's snapshot.
#[derive(Debug, Default)]
pub struct Images {
    /// How many are complete.
    pub done: u32,
    /// Bytes of these.
    pub bytes: u64,
    zeros: u64,
    /// Zero bytes of the disk that is being read.
    pub current_zeros: u64,
    seconds: Option<Printed>,
    rate: Option<Printed>,
}

impl Images {
    /// A disk is complete.
    pub fn end(&mut self, bytes: Option<u64>, time: Option<Printed>, rate: Option<Printed>) {
        self.done = self.done.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes.unwrap_or(0));
        self.zeros = self
            .zeros
            .saturating_add(std::mem::take(&mut self.current_zeros));
        self.seconds = match (self.seconds, time) {
            (Some(sum), Some(time)) => Some(Printed {
                value: sum.value + time.value,
                resolution: sum.resolution + time.resolution,
            }),
            (sum, time) => time.or(sum),
        };
        self.rate = rate;
    }

    /// The figures of all disks, once they are complete.
    pub fn sums(self, found: &mut Vec<Finding>) {
        if self.done == 0 {
            return;
        }
        shares(self.bytes, self.zeros, found);
        found.extend(self.seconds.map(|s| Finding::seconds("extract", s)));
        found.extend(self.rate.filter(|_| self.done == 1).map(Finding::rate));
    }
}

/// What was read, how much of it was zeros and so never written.
pub fn shares(read: u64, sparse: u64, found: &mut Vec<Finding>) {
    found.push(Finding::exact_bytes("read", read));
    found.push(Finding::exact_bytes("sparse", sparse));
    found.push(Finding::exact_bytes("written", read.saturating_sub(sparse)));
    if read > 0 {
        let share = Printed::exact(sparse).times(100.0 / read as f64);
        found.push(Finding::figure("sparse_share", share, "%"));
    }
}
