//! A method, checked.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use super::action::Action;
use super::ahead::CheckDef;
use super::pool::PoolDef;
use super::setting::Setting;
use crate::event::{Clock, Phase};

/// A procedure to measure.
#[derive(Debug, Clone)]
pub struct Method {
    /// Name of its file, without `.toml`.
    pub name: String,
    /// In one line.
    pub title: String,
    /// Which kind of system it belongs to.
    pub family: String,
    /// A paragraph for those who choose.
    pub help: String,
    /// What is protected.
    pub subject: SubjectKind,
    /// Whether it can make its own subject.
    pub own: Own,
    /// Hosts it acts on.
    pub roles: Vec<String>,
    /// Further roles that the first host plays where nobody is named for them.
    pub optional: Vec<String>,
    /// Programs it needs, by role, and when.
    pub needs: Vec<Need>,
    /// Series of a run, a template.
    pub series: String,
    /// Settings.
    pub settings: BTreeMap<String, Setting>,
    /// Names for what its templates write more than once, templates themselves.
    pub names: BTreeMap<String, String>,
    /// Steps, in their order.
    pub steps: Vec<Step>,
    /// Clocks between steps.
    pub clocks: Vec<ClockDef>,
    /// Computed figures.
    pub figures: Vec<FigureDef>,
    /// What is looked at before anything is made.
    pub checks: Vec<CheckDef>,
    /// Pools that are watched while it runs.
    pub pools: Vec<PoolDef>,
    /// Labels of every run, templates over settings and facts.
    pub labels: BTreeMap<String, String>,
    /// Bytes that the scratch folder must have free: an expression in which `bytes` is the
    /// size of the subject.
    pub room: Option<String>,
    /// The same on the host of another role.
    pub room_on: BTreeMap<String, String>,
    /// Where holes of the subject become bytes on their way.
    pub thick: Option<ThickDef>,
    /// Where the original and the copy stand.
    pub placement: Option<super::placement::PlacementDef>,
}

/// What is protected and brought back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubjectKind {
    /// A directory.
    Dir,
    /// A Btrfs subvolume.
    Subvolume,
    /// A ZFS dataset.
    Dataset,
    /// A logical volume.
    Lv,
    /// A virtual machine.
    Vm,
    /// A container.
    Ct,
    /// A disk of `VMware`.
    Vmdk,
}

impl SubjectKind {
    /// As it is typed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dir => "dir",
            Self::Subvolume => "subvolume",
            Self::Dataset => "dataset",
            Self::Lv => "lv",
            Self::Vm => "vm",
            Self::Ct => "ct",
            Self::Vmdk => "vmdk",
        }
    }

    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Dir,
        Self::Subvolume,
        Self::Dataset,
        Self::Lv,
        Self::Vm,
        Self::Ct,
        Self::Vmdk,
    ];
}

impl fmt::Display for SubjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Whether a method can make its own subject.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Own {
    /// It needs one that is there.
    #[default]
    Never,
    /// Where none is named.
    May,
    /// It takes no other.
    Always,
}

impl Method {
    /// Whether one host can play all of its roles with nobody named for them.
    #[must_use]
    pub fn is_for_one_host(&self) -> bool {
        let mut further = self.roles.iter().skip(1);
        further.all(|role| self.optional.contains(role))
    }
}

/// A program that a method needs.
#[derive(Debug, Clone)]
pub struct Need {
    /// Its name; `root` is the right, not a program.
    pub tool: String,
    /// On which role; the first one where absent.
    pub on: Option<String>,
    /// Only where this holds.
    pub when: Option<String>,
}

/// A step. What few steps have is boxed: there are hundreds of them.
#[derive(Debug, Clone)]
pub struct Step {
    /// Its name, unique in the method.
    pub name: String,
    /// Phase.
    pub phase: Phase,
    /// What it does.
    pub action: Action,
    /// Role it acts on.
    pub on: String,
    /// Only where this holds; settings and facts only.
    pub when: Option<String>,
    /// Repetition.
    pub each: Option<Box<Each>>,
    /// The clock that its duration is a result of; absent where it is none.
    pub clock: Option<Clock>,
    /// Which parser reads its output.
    pub reads: Option<String>,
    /// Figures of its parser that are results.
    pub figures: Vec<String>,
    /// Captured values: name → where from.
    pub gives: BTreeMap<String, String>,
    /// Exit codes that are not failures, beside 0.
    pub ok: Vec<i32>,
    /// What it leaves behind.
    pub leaves: Vec<super::leaves::Leaves>,
    /// The leave that it takes away.
    pub undoes: Option<String>,
    /// The leave that it proves.
    pub proves: Option<String>,
    /// What it destroys.
    pub destroys: Option<Box<DestroysDef>>,
    /// Whether it goes on beside the steps that follow.
    pub background: Option<Background>,
    /// A deliberate interruption.
    pub until: Option<Box<Until>>,
    /// Bytes that it is going to move, a template: an estimate for tools that tell no total.
    pub expect: Option<String>,
    /// Bytes that it has moved when it has ended well, a template or a figure of its parser: they and its time are its rate.
    pub moves: Option<String>,
    /// What prints the bytes done so far, for tools that say nothing.
    pub watch: Option<Box<Watch>>,
    /// A value that is made or asked for.
    pub secret: Option<Box<Secret>>,
    /// What its command reads, a template that may use secrets.
    pub stdin: Option<String>,
    /// Series of its samples, where it is not the run's.
    pub series: Option<String>,
    /// Variables of the fragment it came from.
    pub with: BTreeMap<String, String>,
    /// Line in the file.
    pub line: usize,
}

/// A repetition within a run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Each {
    /// A setting that is a list, or a number of times.
    pub of: String,
    /// Name of the item.
    #[serde(default = "item", rename = "as")]
    pub name: String,
    /// Pause between two, a duration.
    #[serde(default)]
    pub pause: Option<String>,
    /// Steps that stand together and bear the same name here go through the list together.
    #[serde(default)]
    pub group: Option<String>,
}

impl Each {
    /// What makes steps go through a list together: the same group, over the same list.
    #[must_use]
    pub fn group(&self) -> Option<(&str, &str)> {
        let group = self.group.as_deref()?;
        Some((group, self.of.as_str()))
    }
}

fn item() -> String {
    "i".to_owned()
}

/// What a step destroys.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DestroysDef {
    /// `KIND:ID`, a template.
    pub what: String,
    /// The leave that must be proved before.
    #[serde(default)]
    pub relies_on: Option<String>,
    /// Nothing can prove that one before: it has to be there, and the operator's word counts.
    #[serde(default)]
    pub unproved: bool,
    /// It is taken away as a whole, with what no copy holds of it: what was written back would
    /// lack that.
    #[serde(default)]
    pub entirely: bool,
}

/// How a step goes on beside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Background {
    /// Dies with the session.
    Load,
    /// Survives it.
    Task,
}

/// A deliberate interruption.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// After so many bytes, a template.
    pub bytes: String,
}

/// What prints the bytes done so far.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "WatchDef")]
pub struct Watch {
    /// Shell text, a template.
    pub run: String,
    /// Role of the host that they are on; the step's where absent.
    pub on: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum WatchDef {
    Here(String),
    There { on: String, run: String },
}

impl From<WatchDef> for Watch {
    fn from(def: WatchDef) -> Self {
        match def {
            WatchDef::Here(run) => Self { run, on: None },
            WatchDef::There { on, run } => Self { run, on: Some(on) },
        }
    }
}

/// A value that is made or asked for; only `stdin` may use it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Secret {
    /// Its name.
    pub name: String,
    /// The question; made at random where there is none.
    #[serde(default)]
    pub ask: Option<String>,
}

/// A clock between two marks.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockDef {
    /// Its name.
    pub name: String,
    /// `STEP start`, `STEP end` or `STEP MARK`.
    pub from: String,
    /// The same.
    pub to: String,
    /// Series of its samples, where it is not the run's.
    #[serde(default)]
    pub series: Option<String>,
}

/// A figure computed from figures.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureDef {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// An expression over figures; a blank in a figure's name is `_`.
    pub value: String,
    /// Only where this holds; settings, facts and `own` only.
    #[serde(default)]
    pub when: Option<String>,
    /// Series of its samples, where it is not the run's.
    #[serde(default)]
    pub series: Option<String>,
}

/// What is a hole in the subject is moved, and takes room in the copy.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThickDef {
    /// Only where this holds; settings, facts and `own` only.
    #[serde(default)]
    pub when: Option<String>,
    /// What to use instead, in words.
    pub instead: String,
}
