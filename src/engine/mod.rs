//! Runs a plan and says what happened; the only part that acts on hosts.
//!
//! A [`Sitting`] is everything that one session needs: hosts, bound methods, a sink for its
//! events. [`Sitting::conduct`] takes its runs, each host in a queue of its own, keeps the ledger,
//! and undoes it.

mod acted;
mod action;
mod ahead;
mod at_once;
mod away;
mod background;
mod between;
mod carry;
mod clocks;
mod closing;
mod command;
mod conduct;
mod consent;
mod control;
mod course;
mod direct;
mod elsewhere;
mod ending;
mod error;
mod figures;
mod guard;
mod guests;
mod hashed_here;
mod hashing;
mod hearing;
mod journal;
mod leaving;
mod lock;
mod machines;
mod mask;
mod named;
mod node;
mod opening;
mod outcome;
mod output;
mod pair;
mod payload;
mod piping;
mod placing;
mod pools;
mod preflight;
mod preview;
mod queue;
mod reading;
mod recover;
mod run;
mod secrets;
mod shared;
mod shell;
mod space;
mod stake;
mod stream;
mod subjects;
mod tasks;
mod teller;
mod thick;
mod waiting;

pub use ahead::checks;
pub use at_once::examine_pairs;
pub use away::GONE_AFTER;
pub use conduct::{Connected, Hosts, Missing, Sitting, session_id};
pub use consent::{Consent, consents};
pub use control::Control;
pub use error::EngineError;
pub use guard::Confirmation;
pub use placing::learn;
pub use pools::{POOLS_EVERY, PoolRead, pool_reads};
pub use preflight::{Check, ExamineError, Finding, Gravity, RoomOn, examine};
pub use preview::{own_id, placement, plan_of, preview};
pub use recover::{Leftover, Recovery, Source, called, still_out};
pub use subjects::{FoundSubject, subjects};
pub use thick::Thick;
