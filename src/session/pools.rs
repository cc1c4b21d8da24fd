//! How full the pools of the hosts were and are.

use crate::event::{Fill, Nanos, Pool};

/// Pools that are kept: nobody watches more.
const MOST: usize = 200;

/// All pools, in the order in which they were first told of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pools {
    all: Vec<PoolView>,
}

/// A pool.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolView {
    /// As it was first.
    pub first: Pool,
    /// As it was last.
    pub latest: Pool,
    /// When that was.
    pub at: Nanos,
    /// The most that was taken of its data.
    pub most: Fill,
}

impl Pools {
    /// Takes what a pool was.
    pub(super) fn apply(&mut self, t: Nanos, pool: &Pool) {
        let is_it =
            |view: &&mut PoolView| view.latest.host == pool.host && view.latest.pool == pool.pool;
        if let Some(view) = self.all.iter_mut().find(is_it) {
            if pool.data.used > view.most.used {
                view.most = pool.data;
            }
            view.latest = pool.clone();
            view.at = t;
        } else if self.all.len() < MOST {
            self.all.push(PoolView {
                first: pool.clone(),
                latest: pool.clone(),
                at: t,
                most: pool.data,
            });
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &PoolView> {
        self.all.iter()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Bytes;

    fn pool(name: &str, used: u64) -> Pool {
        Pool {
            host: "nas".into(),
            pool: name.into(),
            data: Fill {
                used: Bytes(used),
                total: Bytes(200),
            },
            metadata: None,
        }
    }

    #[test]
    fn the_first_the_last_and_the_most_are_kept() {
        let mut pools = Pools::default();
        for (at, name, used) in [
            (1, "tank", 20),
            (2, "tank", 120),
            (3, "vault", 5),
            (4, "tank", 30),
        ] {
            pools.apply(Nanos(at), &pool(name, used));
        }
        let all: Vec<_> = pools.iter().collect();
        assert_eq!(all.len(), 2);
        let tank = all[0];
        assert_eq!(
            (
                tank.first.data.used,
                tank.most.used,
                tank.latest.data.used,
                tank.at
            ),
            (Bytes(20), Bytes(120), Bytes(30), Nanos(4))
        );
        assert_eq!(tank.most.percent(), Some(60.0));
        assert_eq!(tank.latest.data.free(), Bytes(170));
    }

    #[test]
    fn a_room_of_no_size_has_no_percent() {
        let none = Fill {
            used: Bytes(0),
            total: Bytes(0),
        };
        assert_eq!(none.percent(), None);
    }

    #[test]
    fn a_flood_of_pools_is_not_kept() {
        let mut pools = Pools::default();
        for at in 0..1000 {
            pools.apply(Nanos(at), &pool(&format!("p{at}"), 1));
        }
        assert_eq!(pools.iter().count(), MOST);
    }
}
