//! Method files: a procedure to measure, as a page of TOML.
//!
//! Every command that touches a host stands in a method file, readable before it runs.
//! `docs/methods.md` describes the format.

mod action;
mod ahead;
mod bind;
mod bound;
mod catalogue;
mod check;
mod expand;
mod fragment;
mod head;
mod leaves;
mod load;
mod model;
mod names;
mod order;
mod pipe;
mod placement;
mod pool;
mod request;
mod setting;
mod template;
mod timed;
mod typed;
mod written;

pub use action::{Action, Hash, HashOf, Payload, SpaceRead, Wait, WaitFor};
pub use ahead::CheckDef;
pub use bind::{bind, pairs};
pub use bound::{Bound, ExpandedStep, RunNames};
pub use catalogue::{Catalogue, Origin};
pub use leaves::Leaves;
pub use model::{
    Background, ClockDef, Each, FigureDef, Method, Need, Own, Secret, Step, SubjectKind, ThickDef,
    Until,
};
pub use order::order_runs;
pub use pipe::{Member, Pipe, SHA256, THROUGH, UNSEEN};
pub use placement::{PlaceOf, PlacementDef};
pub use pool::PoolDef;
pub use request::{HostInfo, Pick, Request, Set, SubjectSpec};
pub use setting::{Kind, Setting, SettingValue};
pub use template::{AGREED, FOUND, Templates, unknown_value};

/// Why a method file, or what was asked of it, is wrong.
#[derive(Debug, Clone, thiserror::Error)]
pub enum MethodError {
    /// The file cannot be read.
    #[error("{file}: {why}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
    /// The file is wrong.
    #[error("{file}:{line}: {why}")]
    Wrong {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong, what was expected.
        why: String,
    },
    /// No such method.
    #[error("no method is called {name:?}; there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A setting, role or subject does not fit the method.
    #[error("{method}: {why}")]
    Unfit {
        /// The method.
        method: String,
        /// What does not fit, what was expected.
        why: String,
    },
    /// A template could not be filled in.
    #[error("{method}, step {step:?}: {why}")]
    Template {
        /// The method.
        method: String,
        /// The step.
        step: String,
        /// Why.
        why: String,
    },
}
