//! What a style is for.

/// What a style is for. A theme names these, never a widget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Everything that has no role of its own.
    Text,
    /// What is there to be looked up, not to be read.
    Muted,
    /// What the eye should find first on a quiet screen.
    Accent,
    /// Titles of panes and dialogs.
    Title,
    /// Frames.
    Border,
    /// The frame of the pane that has the keys.
    BorderFocus,
    /// The row under the cursor.
    Selection,
    /// Names of keys.
    Key,
    /// Ended well, proved, up.
    Ok,
    /// Odd, but going on.
    Warn,
    /// Went wrong.
    Error,
    /// Worth knowing.
    Info,
    /// Going on now.
    Running,
    /// Still to come.
    Pending,
    /// What is destroyed.
    Destroys,
    /// A badge: same disk.
    Badge,
    /// The filled part of a bar whose figure is exact.
    Gauge,
    /// The filled part of a bar whose figure is an estimate.
    GaugeEstimated,
    /// The empty part of a bar.
    GaugeTrack,
    /// Rates over time.
    Spark,
    /// The first of several that are drawn together.
    Series1,
    /// The second of several that are drawn together.
    Series2,
    /// The third of several that are drawn together.
    Series3,
    /// The fourth of several that are drawn together.
    Series4,
    /// Output of commands.
    Log,
    /// What a command wrote to standard error.
    LogStderr,
    /// Times in front of lines.
    LogTime,
    /// The command itself, in front of its output.
    LogCommand,
    /// What a search found.
    LogMatch,
    /// The match that the search stands at.
    LogMatchCurrent,
}

/// Every role: its name in a theme file, and what it is for.
pub const ROLES: &[(Role, &str, &str)] = &[
    (Role::Text, "text", "everything that has no role of its own"),
    (
        Role::Muted,
        "muted",
        "what is there to be looked up, not to be read",
    ),
    (
        Role::Accent,
        "accent",
        "what the eye should find first on a quiet screen",
    ),
    (Role::Title, "title", "titles of panes and dialogs"),
    (Role::Border, "border", "frames"),
    (
        Role::BorderFocus,
        "border.focus",
        "the frame of the pane that has the keys",
    ),
    (Role::Selection, "selection", "the row under the cursor"),
    (Role::Key, "key", "names of keys"),
    (Role::Ok, "ok", "ended well, proved, up"),
    (Role::Warn, "warn", "odd, but going on"),
    (Role::Error, "error", "went wrong"),
    (Role::Info, "info", "worth knowing"),
    (Role::Running, "running", "going on now"),
    (Role::Pending, "pending", "still to come"),
    (Role::Destroys, "destroys", "what is destroyed"),
    (Role::Badge, "badge", "a badge: same disk"),
    (
        Role::Gauge,
        "gauge",
        "the filled part of a bar whose figure is exact",
    ),
    (
        Role::GaugeEstimated,
        "gauge.estimated",
        "the filled part of a bar whose figure is an estimate",
    ),
    (Role::GaugeTrack, "gauge.track", "the empty part of a bar"),
    (Role::Spark, "spark", "rates over time"),
    (
        Role::Series1,
        "series.1",
        "the first of several that are drawn together",
    ),
    (
        Role::Series2,
        "series.2",
        "the second of several that are drawn together",
    ),
    (
        Role::Series3,
        "series.3",
        "the third of several that are drawn together",
    ),
    (
        Role::Series4,
        "series.4",
        "the fourth of several that are drawn together",
    ),
    (Role::Log, "log", "output of commands"),
    (
        Role::LogStderr,
        "log.stderr",
        "what a command wrote to standard error",
    ),
    (Role::LogTime, "log.time", "times in front of lines"),
    (
        Role::LogCommand,
        "log.command",
        "the command itself, in front of its output",
    ),
    (Role::LogMatch, "log.match", "what a search found"),
    (
        Role::LogMatchCurrent,
        "log.match.current",
        "the match that the search stands at",
    ),
];

/// What series are drawn in, in turns.
const SERIES: [Role; 4] = [Role::Series1, Role::Series2, Role::Series3, Role::Series4];

impl Role {
    /// Of a series among several that are drawn together, by its place. After four they begin
    /// anew: the sign of a series (`signs::of_series`) goes with it.
    #[must_use]
    pub fn series(at: usize) -> Self {
        SERIES.get(at % SERIES.len()).copied().unwrap_or(Self::Text)
    }

    /// The role of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        ROLES
            .iter()
            .find(|(_, known, _)| *known == name)
            .map(|(role, ..)| *role)
    }

    /// Its name in a theme file.
    #[must_use]
    pub fn name(self) -> &'static str {
        ROLES
            .iter()
            .find(|(role, ..)| *role == self)
            .map_or("text", |(_, name, _)| name)
    }

    /// The role that stands in where a theme does not have this one: the name without its last
    /// part, at last `text`.
    #[must_use]
    pub fn fallback(self) -> Option<Self> {
        let shorter = self.name().rsplit_once('.');
        shorter
            .and_then(|(shorter, _)| Self::named(shorter))
            .or((self != Self::Text).then_some(Self::Text))
    }
}
