//! What there is to tell of a host's connections, beside what goes wrong.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::agreed::Agreed;

/// So many remarks are kept.
const MOST: usize = 20;

/// Written by whoever connects, read by whoever shows the host; clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    remarks: Vec<String>,
    agreed: Option<Agreed>,
}

impl Notes {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a remark, once.
    pub(super) fn remark(&self, text: String) {
        let remarks = &mut self.lock().remarks;
        if remarks.len() < MOST && !remarks.contains(&text) {
            remarks.push(text);
        }
    }

    /// All remarks so far, in order.
    pub(super) fn remarks(&self) -> Vec<String> {
        self.lock().remarks.clone()
    }

    /// The newest connection has agreed on this.
    pub(super) fn agree(&self, agreed: Agreed) {
        self.lock().agreed = Some(agreed);
    }

    pub(super) fn agreed(&self) -> Option<Agreed> {
        self.lock().agreed.clone()
    }
}
