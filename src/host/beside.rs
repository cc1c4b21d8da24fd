//! A host whose commands wait for no others there.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Channel, Host, HostError, SharedHost};
use crate::event::Became;

/// A host of which all commands run as by [`Host::exec_beside`].
pub(super) struct Beside(SharedHost);

impl Beside {
    pub(super) fn of(host: &SharedHost) -> SharedHost {
        Arc::new(Self(Arc::clone(host)))
    }
}

impl Host for Beside {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn address(&self) -> Option<String> {
        self.0.address()
    }

    fn login(&self) -> Option<(String, u16)> {
        self.0.login()
    }

    fn exec<'a>(&'a self, script: &'a str) -> BoxFuture<'a, Result<Channel, HostError>> {
        self.0.exec_beside(script)
    }

    fn is_local(&self) -> bool {
        self.0.is_local()
    }

    fn became(&self) -> Option<Became> {
        self.0.became()
    }
}
