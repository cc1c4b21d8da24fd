//! How full the pools of a run are, read as it goes on. Before one is full the run is stopped.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use minijinja::Value;
use tokio::task::JoinSet;

use crate::event::{Bytes, EndState, Fill, Level, Pool, RunId, What};
use crate::host::SharedHost;
use crate::method::{Bound, MethodError, PoolDef, RunNames};

use super::ending::Halt;
use super::run::Run;
use super::shell::script;
use super::teller::{About, Teller};

/// Time between two readings.
pub const POOLS_EVERY: Duration = Duration::from_secs(5);
/// How long one reading may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// How the fill of a pool is read.
#[derive(Debug, Clone)]
pub struct PoolRead {
    /// The host it is on.
    pub host: String,
    /// As its operator knows it.
    pub pool: String,
    /// The exact shell text.
    pub command: String,
    limit: Option<f64>,
    floor: Option<u64>,
}

/// The pools of a binding, with how they are read; of what is not known yet with `‹name›`.
///
/// # Errors
/// Where a template cannot be filled in.
pub fn pool_reads(bound: &Bound) -> Result<Vec<PoolRead>, MethodError> {
    reads(bound, &RunNames::unknown(&bound.sandbox))
}

fn reads(bound: &Bound, names: &RunNames) -> Result<Vec<PoolRead>, MethodError> {
    let mut all = Vec::new();
    for def in &bound.method.pools {
        if bound.needed(def.when.as_deref())? {
            all.push(
                read_of(bound, def, &bound.head_context(names, &def.with)).map_err(|why| {
                    MethodError::Unfit {
                        method: bound.method.name.clone(),
                        why: format!("pool {:?}: {why}", def.name),
                    }
                })?,
            );
        }
    }
    Ok(all)
}

fn read_of(bound: &Bound, def: &PoolDef, context: &Value) -> Result<PoolRead, String> {
    let first = bound.method.roles.first();
    let role = def.on.as_ref().or(first).map_or("", String::as_str);
    Ok(PoolRead {
        host: bound.host(role).to_owned(),
        pool: bound.templates.text(&def.name, context)?,
        command: bound.templates.shell(&def.read, context)?,
        limit: def.limit,
        floor: def.floor()?,
    })
}

impl PoolRead {
    /// Why a run may not go on with a pool that is so full.
    fn too_full(&self, pool: &Pool) -> Option<String> {
        let of = |what: &str, fill: Fill| {
            let percent = fill.percent()?;
            let limit = self.limit.filter(|limit| percent >= *limit)?;
            Some(format!(
                "{what}{} on {} is {percent:.1} % full, and {limit} % is where a run has to stop",
                self.pool, self.host
            ))
        };
        let short = self.floor.filter(|floor| pool.data.free().0 < *floor);
        of("", pool.data)
            .or_else(|| of("the metadata of ", pool.metadata?))
            .or_else(|| {
                Some(format!(
                    "{} on {} has {} free, and a run has to leave {}",
                    self.pool,
                    self.host,
                    pool.data.free(),
                    Bytes(short?)
                ))
            })
    }
}

/// What was read, understood: used and total of the data, then of the metadata.
fn fills(said: &str) -> Result<Option<(Fill, Option<Fill>)>, String> {
    let numbers: Result<Vec<u64>, _> = said.split_whitespace().map(str::parse).collect();
    let fill = |used: u64, total: u64| Fill {
        used: Bytes(used),
        total: Bytes(total),
    };
    match numbers.as_deref() {
        Ok([]) => Ok(None),
        Ok([used, total]) => Ok(Some((fill(*used, *total), None))),
        Ok([used, total, meta, all]) => Ok(Some((fill(*used, *total), Some(fill(*meta, *all))))),
        _ => Err(format!(
            "not available, because {:?} are not 2 or 4 numbers of bytes",
            said.trim()
        )),
    }
}

/// Watches the pools of one run.
#[derive(Default)]
pub(super) struct Pools {
    readers: JoinSet<()>,
    stance: Arc<Stance>,
}

/// Whether a pool that is too full may stop the run.
#[derive(Default)]
struct Stance(Mutex<Course>);

/// What comes first.
#[derive(Default)]
enum Course {
    /// The pool: a run that fills it is stopped.
    #[default]
    Stops,
    /// What somebody named, and the run has destroyed: bringing it back.
    BringsBack,
    /// The same, and it was said that a pool is too full.
    Warned,
    /// A pool was too full, and why.
    Reached(String),
}

/// What a pool that is too full asks for.
#[derive(Debug, PartialEq, Eq)]
enum Asks {
    Stop,
    Warning,
    Nothing,
}

impl Stance {
    fn lock(&self) -> MutexGuard<'_, Course> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn too_full(&self, why: &str) -> Asks {
        let mut course = self.lock();
        let (next, asks) = match &*course {
            Course::Stops => (Course::Reached(why.to_owned()), Asks::Stop),
            Course::BringsBack => (Course::Warned, Asks::Warning),
            Course::Warned | Course::Reached(_) => return Asks::Nothing,
        };
        *course = next;
        asks
    }
}

impl Pools {
    /// Why the run was stopped, where a pool was too full.
    pub fn reached(&self) -> Option<String> {
        match &*self.stance.lock() {
            Course::Reached(why) => Some(why.clone()),
            _ => None,
        }
    }

    /// What somebody named is about to be destroyed: from here on bringing it back comes first.
    /// False where a pool has stopped the run already.
    pub fn bring_back(&self) -> bool {
        let mut course = self.stance.lock();
        if let Course::Stops = *course {
            *course = Course::BringsBack;
        }
        !matches!(*course, Course::Reached(_))
    }

    /// Whether the run is bringing back what somebody named.
    pub fn brings_back(&self) -> bool {
        matches!(*self.stance.lock(), Course::BringsBack | Course::Warned)
    }
}

/// Reads one pool, again and again.
struct Reader {
    read: PoolRead,
    host: SharedHost,
    run: RunId,
    teller: Teller,
    last: Option<Pool>,
    told: bool,
}

impl Reader {
    fn warn(&self, why: &str) {
        let about = About {
            run: Some(&self.run),
            ..About::default()
        };
        let text = format!("{why}; what was destroyed is brought back first");
        self.teller.note(Level::Warning, text, about);
    }

    /// Reads once, tells where it has changed, and says why the run may not go on.
    async fn once(&mut self) -> Option<String> {
        // A host that is away is the business of the step that needs it.
        let said = script(
            self.host.as_ref(),
            "read how full a pool is",
            &self.read.command,
            PATIENCE,
        );
        match said
            .await
            .map_err(|why| why.to_string())
            .and_then(|said| fills(&said))
        {
            Ok(None) => None,
            Ok(Some((data, metadata))) => {
                let pool = Pool {
                    host: self.read.host.clone(),
                    pool: self.read.pool.clone(),
                    data,
                    metadata,
                };
                let why = self.read.too_full(&pool);
                if self.last.as_ref() != Some(&pool) {
                    self.teller.tell(What::Pool(pool.clone()));
                    self.last = Some(pool);
                }
                why
            }
            Err(why) => {
                if !std::mem::replace(&mut self.told, true) {
                    let text = format!("how full {} is: {why}", self.read.pool);
                    let about = About {
                        run: Some(&self.run),
                        ..About::default()
                    };
                    self.teller.note(Level::Remark, text, about);
                }
                None
            }
        }
    }
}

impl Run<'_> {
    fn readers(&self) -> Vec<Reader> {
        // What cannot be filled in was refused when the plan was made.
        let reads = reads(self.bound, &self.names).unwrap_or_default();
        let reader = |read: PoolRead| {
            Some(Reader {
                host: self.connected(&read.host).ok()?,
                run: self.planned.run.clone(),
                teller: self.shared.teller.clone(),
                last: None,
                told: false,
                read,
            })
        };
        reads.into_iter().filter_map(reader).collect()
    }

    /// Begins to read the pools. One that is too full stops the run, unless it has destroyed what
    /// somebody named: then bringing that back goes first.
    pub fn watch_pools(&mut self) {
        for mut reader in self.readers() {
            let (control, stance) = (self.control.clone(), Arc::clone(&self.pools.stance));
            self.pools.readers.spawn(async move {
                loop {
                    if let Some(why) = reader.once().await {
                        match stance.too_full(&why) {
                            Asks::Stop => control.stop(),
                            Asks::Warning => reader.warn(&why),
                            Asks::Nothing => {}
                        }
                    }
                    tokio::time::sleep(POOLS_EVERY).await;
                }
            });
        }
    }

    /// A run has failed: a pool that was full before it was read again is the reason.
    pub async fn blame_a_pool(&mut self, halt: &mut Halt) {
        if halt.end != EndState::Failed {
            return;
        }
        for mut reader in self.readers() {
            reader.told = true;
            if self.shared.is_gone(&reader.read.host) {
                continue;
            }
            let Some(why) = reader.once().await else {
                continue;
            };
            if self.pools.stance.too_full(&why) == Asks::Stop {
                halt.cause = Some(match halt.cause.take() {
                    Some(cause) => format!("{cause} ({why})"),
                    None => why,
                });
            }
        }
    }

    /// Reads them once more: after all is taken away.
    pub async fn pools_at_the_end(&mut self) {
        self.pools.readers.shutdown().await;
        for mut reader in self.readers() {
            if !self.shared.is_gone(&reader.read.host) {
                reader.told = true;
                reader.once().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(limit: Option<f64>, floor: Option<u64>) -> PoolRead {
        PoolRead {
            host: "nas".into(),
            pool: "thin pool pve/data".into(),
            command: String::new(),
            limit,
            floor,
        }
    }

    fn pool(said: &str) -> Pool {
        let (data, metadata) = fills(said).unwrap().unwrap();
        Pool {
            host: "nas".into(),
            pool: "thin pool pve/data".into(),
            data,
            metadata,
        }
    }

    #[test]
    fn two_or_four_numbers_are_a_fill_and_nothing_is_none() {
        assert_eq!(pool("5 10\n").data.percent(), Some(50.0));
        assert_eq!(pool(" 5 10 1 4 ").metadata.unwrap().percent(), Some(25.0));
        assert_eq!(fills("\n"), Ok(None));
        for wrong in ["5", "5 10 1", "5 x", "-5 10", "5 10 1 4 6"] {
            assert!(fills(wrong).unwrap_err().contains("2 or 4"), "{wrong}");
        }
    }

    #[test]
    fn a_run_stops_before_data_or_metadata_are_full() {
        let read = read(Some(95.0), None);
        assert_eq!(read.too_full(&pool("94 100 94 100")), None);
        assert_eq!(
            read.too_full(&pool("95 100 1 100")).unwrap(),
            "thin pool pve/data on nas is 95.0 % full, and 95 % is where a run has to stop"
        );
        assert_eq!(
            read.too_full(&pool("5 100 97 100")).unwrap(),
            "the metadata of thin pool pve/data on nas is 97.0 % full, and 95 % is where a run has to stop"
        );
    }

    #[test]
    fn what_was_destroyed_comes_before_a_pool_and_that_is_said_once() {
        let pools = Pools::default();
        assert!(pools.bring_back() && pools.brings_back());
        assert_eq!(pools.stance.too_full("full"), Asks::Warning);
        assert_eq!(pools.stance.too_full("full"), Asks::Nothing);
        assert_eq!(pools.reached(), None);
        assert!(pools.brings_back());
    }

    #[test]
    fn a_run_that_a_pool_has_stopped_destroys_nothing_any_more() {
        let pools = Pools::default();
        assert_eq!(pools.stance.too_full("full"), Asks::Stop);
        assert_eq!(pools.stance.too_full("fuller"), Asks::Nothing);
        assert!(!pools.bring_back());
        assert_eq!(pools.reached().as_deref(), Some("full"));
    }

    #[test]
    fn a_run_leaves_what_has_to_stay_free() {
        let read = read(None, Some(2 << 20));
        assert_eq!(read.too_full(&pool("1 2097153")), None);
        assert_eq!(
            read.too_full(&pool("1048576 2097152")).unwrap(),
            "thin pool pve/data on nas has 1.00 MiB free, and a run has to leave 2.00 MiB"
        );
    }
}
