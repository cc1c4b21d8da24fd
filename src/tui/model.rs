//! What the dashboard remembers between two keys. What happened is in the session, not here.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use chrono::FixedOffset;

use crate::event::{AskId, First, Nanos, Order, Question, RunId};
use crate::report::{Sort, Stamps};
use crate::session::{RunView, Session, Wanted};

use super::counted::Counted;
use super::found::Found;
use super::freeze::Frozen;
use super::keys::Keymap;
use super::lanes;
pub use super::layer::{
    Copying, Decision, Dialog, Entry, Form, Layer, Palette, Purpose, Themes, Typing,
};
use super::message::ReplayState;
use super::offer::{HostOffer, MethodOffer, Named, Offer, Picked};
use super::recordings::Recordings;
use super::runlog::At;
use super::theme::Theme;

/// All of it.
#[derive(Debug, Clone)]
pub struct Model {
    /// Styles.
    pub theme: Theme,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// The zone that times of day are shown in.
    pub zone: FixedOffset,
    /// Now, on the session's clock.
    pub now: Nanos,
    /// What fills the screen.
    pub screen: Screen,
    /// What lies over it, the last one on top.
    pub layers: Vec<Layer>,
    /// Questions that are not shown yet, the oldest first.
    pub questions: VecDeque<(AskId, Question)>,
    /// Before a run.
    pub picking: Picking,
    /// During and after it.
    pub watching: Watching,
    /// The comparison.
    pub comparing: Comparing,
    /// How long other disks take.
    pub projecting: Projecting,
    /// The list of recordings.
    pub recordings: Recordings,
    /// Where the replay stands, where this is one.
    pub replay: Option<ReplayState>,
    /// Of which recording the first sight was chosen by what it is.
    pub presented: Option<u64>,
    /// Said on the line at the bottom until the next key.
    pub say: Option<String>,
    /// What keys do.
    pub keys: Keymap,
    /// Whether the mouse is ours, and not the terminal's.
    pub mouse: bool,
    /// How far the operator went in ending the session.
    pub leave: Leave,
    /// What came out of the session, as far as it was made.
    pub figures: Arc<Counted>,
    /// The screen that stands still, where it does. [`Model::now`] stands still with it.
    pub frozen: Option<Frozen>,
}

/// What fills the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// What to run.
    Picking,
    /// What goes on.
    Watching,
    /// What came out.
    Comparing,
    /// How long other disks take.
    Projecting,
    /// What was recorded.
    Recordings,
}

/// How far the operator went in ending the session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Leave {
    /// Not at all.
    #[default]
    No,
    /// It is being stopped and undone.
    Stopping,
    /// The same, and the dashboard ends with it.
    Leaving,
}

/// Before a run.
#[derive(Debug, Clone, Default)]
pub struct Picking {
    /// What can be picked; absent until it is known.
    pub offer: Option<Offer>,
    /// The revision that was asked for last.
    pub revision: u64,
    /// The pane that has the keys.
    pub pane: PickPane,
    /// The host under the cursor.
    pub host: usize,
    /// The subject under the cursor; the first one is the methods' own.
    pub subject: usize,
    /// The method under the cursor, among those that are shown.
    pub method: usize,
    /// Rows of the preview above the screen.
    pub scroll: usize,
    /// Whether all of every command is shown.
    pub whole: bool,
    /// What is picked.
    pub picked: BTreeSet<Picked>,
    /// Of these each two also run at once.
    pub together: Vec<[Picked; 2]>,
    /// One that is to run at once with another, not chosen yet.
    pub half: Option<Picked>,
    /// What the one does that is done first.
    pub first: First,
    /// Only methods with this text are shown.
    pub filter: String,
    /// Repetitions of each.
    pub reps: Reps,
    /// How methods take turns.
    pub order: Order,
    /// Whether a start was sent out and nothing has come back.
    pub starting: bool,
}

/// Repetitions of each method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reps(pub u32);

impl Default for Reps {
    fn default() -> Self {
        Self(3)
    }
}

/// A pane of the picking screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PickPane {
    /// Hosts.
    Hosts,
    /// What is protected there.
    Subject,
    /// Methods.
    #[default]
    Methods,
    /// What would run.
    Preview,
}

/// During and after a run.
#[derive(Debug, Clone, Default)]
pub struct Watching {
    /// The pane that has the keys.
    pub pane: Pane,
    /// Whether it is shown alone.
    pub zoom: bool,
    /// Which of medians and bytes is shown where they share a pane.
    pub figures: Figures,
    /// Whether one host is shown where several have room side by side.
    pub one: bool,
    /// The host that is looked at; where none is chosen, one that has something to do.
    pub host: Option<String>,
    /// The run that is looked at; the one that goes on where none is chosen.
    pub run: Option<RunId>,
    /// The step under the cursor; the one that goes on where none is chosen.
    pub step: Option<usize>,
    /// The log.
    pub log: LogView,
    /// The row of the medians under the cursor, and the first time that is shown.
    pub median: (usize, usize),
    /// The row of the bytes under the cursor.
    pub bytes: usize,
}

impl Watching {
    /// For another session: from its begin, the way this one was looked at.
    #[must_use]
    pub fn afresh(&self) -> Self {
        Self {
            figures: self.figures,
            one: self.one,
            log: LogView {
                wrap: self.log.wrap,
                times: self.log.times,
                ..LogView::default()
            },
            ..Self::default()
        }
    }
}

/// A pane of the watching screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pane {
    /// Methods × repetitions.
    Plan,
    /// Steps of a run.
    Steps,
    /// Their output.
    #[default]
    Log,
    /// What came out so far.
    Medians,
    /// Where every byte went.
    Bytes,
}

impl Pane {
    /// All, in the order of Tab.
    pub const ALL: [Self; 5] = [
        Self::Plan,
        Self::Steps,
        Self::Log,
        Self::Medians,
        Self::Bytes,
    ];
}

/// Which of two panes that share their room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Figures {
    /// Medians.
    #[default]
    Medians,
    /// Bytes.
    Bytes,
}

/// How the log is looked at.
#[derive(Debug, Clone, Default)]
pub struct LogView {
    /// The first row that is shown, and of which run; the end is followed where there is none.
    pub top: Option<(RunId, At)>,
    /// Cells of each line left of the pane. It outlives following; another log begins at 0.
    pub left: usize,
    /// Whether long lines are wrapped.
    pub wrap: bool,
    /// What stands in front of lines.
    pub times: Stamps,
    /// The one step whose log fills the screen.
    pub alone: Option<Alone>,
    /// What is searched for.
    pub search: Option<Found>,
    /// Only lines that have this are shown.
    pub filter: Option<Found>,
    /// The line that the search stands at, and of which run.
    pub hit: Option<(RunId, At)>,
}

/// A step whose log is looked at alone, and how to get back from there.
#[derive(Debug, Clone)]
pub struct Alone {
    /// Its run.
    pub run: RunId,
    /// Its place in the run.
    pub step: usize,
    /// The pane that had the keys.
    pub pane: Pane,
    /// Whether that was shown alone.
    pub zoom: bool,
    /// Where the log stood.
    pub top: Option<(RunId, At)>,
    /// Cells of each line that were left of the pane.
    pub left: usize,
}

impl LogView {
    /// The step of a run that is looked at alone.
    #[must_use]
    pub fn alone_in(&self, run: &RunView) -> Option<usize> {
        let alone = self.alone.as_ref().filter(|alone| alone.run == run.run)?;
        Some(alone.step).filter(|step| *step < run.steps.len())
    }
}

/// The comparison.
#[derive(Debug, Clone, Default)]
pub struct Comparing {
    /// What is compared: all times together, then each by its place.
    pub time: usize,
    /// Rows above the screen.
    pub scroll: usize,
    /// Columns of the table left of the screen.
    pub left: usize,
    /// By which column its rows are sorted; as planned where there is none.
    pub sort: Option<Sort>,
}

/// How long other disks take.
#[derive(Debug, Clone, Default)]
pub struct Projecting {
    /// What is asked.
    pub wanted: Wanted,
    /// The disks, as they were typed.
    pub typed: String,
    /// Rows above the screen.
    pub scroll: usize,
    /// The screen to go back to.
    pub from: Option<Screen>,
}

impl Model {
    /// Before anything is known.
    #[must_use]
    pub fn new(theme: Theme, size: (u16, u16), zone: FixedOffset) -> Self {
        Self {
            theme,
            size,
            zone,
            now: Nanos::default(),
            screen: Screen::Picking,
            layers: Vec::new(),
            questions: VecDeque::new(),
            picking: Picking::default(),
            watching: Watching::default(),
            comparing: Comparing::default(),
            projecting: Projecting::default(),
            recordings: Recordings::default(),
            replay: None,
            presented: None,
            say: None,
            keys: Keymap::default(),
            mouse: false,
            leave: Leave::No,
            figures: Arc::default(),
            frozen: None,
        }
    }

    /// Where the replay stands that is on the screen.
    #[must_use]
    pub fn replay_shown(&self) -> Option<&ReplayState> {
        let now = self.replay.as_ref()?;
        let frozen = self
            .frozen
            .as_ref()
            .and_then(|frozen| frozen.replay.as_ref());
        Some(frozen.unwrap_or(now))
    }

    /// The run that is looked at: the chosen one, else the one of the chosen host, else one that
    /// goes on, else the first.
    #[must_use]
    pub fn run<'a>(&self, session: &'a Session) -> Option<&'a RunView> {
        let chosen = self.watching.run.as_ref();
        let host = self.watching.host.as_ref();
        chosen
            .and_then(|run| session.run_view(run))
            .or_else(|| lanes::of_host(session, host?))
            .or_else(|| lanes::followed(session))
            .or_else(|| session.runs.first())
    }

    /// The run whose log is looked at.
    #[must_use]
    pub fn log_run<'a>(&self, session: &'a Session) -> Option<&'a RunView> {
        let log = &self.watching.log;
        let alone = log.alone.as_ref().map(|alone| &alone.run);
        let run = alone.or(log.top.as_ref().map(|(run, _)| run));
        run.and_then(|run| session.run_view(run))
            .or_else(|| self.run(session))
    }
}

impl Picking {
    /// The host under the cursor.
    #[must_use]
    pub fn host(&self) -> Option<&HostOffer> {
        self.offer.as_ref()?.hosts.get(self.host)
    }

    /// Its name.
    #[must_use]
    pub fn host_name(&self) -> Option<&str> {
        self.host().map(|host| host.name.as_str())
    }

    /// All methods of the host under the cursor.
    #[must_use]
    pub fn here(&self) -> Vec<&MethodOffer> {
        let offer = self.offer.iter().flat_map(|offer| &offer.methods);
        let host = self.host_name();
        offer
            .filter(|method| Some(method.host.as_str()) == host)
            .collect()
    }

    /// The methods that are shown: those of the host under the cursor that pass the filter.
    #[must_use]
    pub fn shown(&self) -> Vec<&MethodOffer> {
        let wanted = self.filter.to_lowercase();
        let passes = |method: &&MethodOffer| {
            [&method.name, &method.title, &method.family]
                .iter()
                .any(|text| text.to_lowercase().contains(&wanted))
        };
        self.here().into_iter().filter(passes).collect()
    }

    /// The method under the cursor.
    #[must_use]
    pub fn current(&self) -> Option<&MethodOffer> {
        self.shown().get(self.method).copied()
    }

    /// All methods that are picked and can run, in the order of the offer.
    #[must_use]
    pub fn chosen(&self) -> Vec<&MethodOffer> {
        let Some(offer) = &self.offer else {
            return Vec::new();
        };
        let is_chosen = |method: &&MethodOffer| {
            method.runnable.is_ok() && self.picked.contains(&method.picked())
        };
        offer.methods.iter().filter(is_chosen).collect()
    }

    /// Of the chosen methods those of which two also run at once.
    #[must_use]
    pub fn pairs(&self) -> Vec<[Picked; 2]> {
        let chosen: Vec<Picked> = self.chosen().iter().map(|method| method.picked()).collect();
        let is_whole = |pair: &&[Picked; 2]| pair.iter().all(|one| chosen.contains(one));
        self.together.iter().filter(is_whole).cloned().collect()
    }

    /// Named subjects that the chosen methods destroy, each once.
    #[must_use]
    pub fn named(&self) -> Vec<Named> {
        let all: BTreeSet<Named> = self
            .chosen()
            .into_iter()
            .flat_map(|method| method.named.iter().cloned())
            .collect();
        all.into_iter().collect()
    }

    /// Whether the offer answers what was asked last.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.offer
            .as_ref()
            .is_some_and(|offer| offer.revision >= self.revision)
    }
}

/// Whether a session goes on: something may be running, or still has to be undone.
#[must_use]
pub fn is_active(session: &Session) -> bool {
    session.header.is_some() && session.end.is_none()
}
