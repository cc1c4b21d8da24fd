//! The table itself.

use crossterm::event::KeyCode;

use super::{Action, Bind, Chord, Context};

const fn key(c: char) -> Chord {
    plain(KeyCode::Char(c))
}

const fn ctrl(c: char) -> Chord {
    Chord {
        code: KeyCode::Char(c),
        ctrl: true,
    }
}

const fn plain(code: KeyCode) -> Chord {
    Chord { code, ctrl: false }
}

const fn bind(
    context: Context,
    action: Action,
    keys: &'static [Chord],
    help: &'static str,
    bar: &'static str,
) -> Bind {
    Bind {
        context,
        action,
        keys,
        help,
        bar,
    }
}

const ENTER: Chord = plain(KeyCode::Enter);
const ESC: Chord = plain(KeyCode::Esc);
const TAB: Chord = plain(KeyCode::Tab);
const BACK_TAB: Chord = plain(KeyCode::BackTab);

/// All keys. Within a context, the order is that of the help and of the command bar.
#[rustfmt::skip]
pub const KEYS: &[Bind] = &[
    bind(Context::Picking, Action::Start, &[ENTER], "start what is picked; asks for the name of what it destroys", "start"),

    bind(Context::Subject, Action::Mark, &[key(' ')], "protect the subject under the cursor", "choose"),

    bind(Context::Methods, Action::Mark, &[key(' ')], "pick the method, or not", "pick"),
    bind(Context::Methods, Action::AtOnce, &[key('t')], "also run the method at once with another one that is marked so, or not", ""),
    bind(Context::Methods, Action::Settings, &[key('e')], "edit the method's settings", "settings"),
    bind(Context::Methods, Action::Filter, &[key('/')], "show only methods with a text", "filter"),

    bind(Context::Picking, Action::More, &[key('+'), key('=')], "one repetition more", "+/- repetitions"),
    bind(Context::Picking, Action::Less, &[key('-')], "one repetition less", ""),
    bind(Context::Picking, Action::Order, &[key('o')], "methods take turns, or one after the other", "order"),
    bind(Context::Picking, Action::First, &[key('a')], "of two at once, the one that is done first waits, or is started again", ""),
    bind(Context::Picking, Action::Subject, &[key('u')], "type another subject, KIND:ID", "other subject"),
    bind(Context::Picking, Action::Whole, &[key('d')], "all of every command, or its first rows", "all commands"),
    bind(Context::Picking, Action::Refresh, &[key('r')], "probe the hosts again", "probe again"),
    bind(Context::Picking, Action::NextPane, &[TAB], "to the next pane", "pane"),
    bind(Context::Picking, Action::PreviousPane, &[BACK_TAB], "to the pane before", ""),

    bind(Context::Settings, Action::Accept, &[ENTER, key(' ')], "edit the value, or take the next one", "edit"),
    bind(Context::Settings, Action::Right, &[plain(KeyCode::Right), key('l')], "the next one of its choices", "next choice"),
    bind(Context::Settings, Action::Left, &[plain(KeyCode::Left), key('h')], "the choice before", ""),
    bind(Context::Settings, Action::Reset, &[key('r'), plain(KeyCode::Delete), plain(KeyCode::Backspace)], "back to its default", "default"),
    bind(Context::Settings, Action::Back, &[ESC, key('q'), key('e')], "close the settings", "close"),

    bind(Context::Steps, Action::Open, &[ENTER], "the log of the step in full screen", "log of the step"),

    bind(Context::Log, Action::Search, &[key('/')], "search the log", "search"),
    bind(Context::Log, Action::FilterLog, &[key('&')], "show only lines with a text; all of them where it is empty", "filter"),
    bind(Context::Log, Action::Copy, &[key('y')], "copy a line, a match, the command or all of it", "copy"),
    bind(Context::Log, Action::Save, &[key('s')], "save the whole log of the step or run to a file", "save"),
    bind(Context::Log, Action::Open, &[ENTER], "the log of the step at the top in full screen", ""),
    bind(Context::Log, Action::FarLeft, &[key('H')], "half a page to the left", ""),
    bind(Context::Log, Action::FarRight, &[key('L')], "half a page to the right", ""),

    bind(Context::Live, Action::Stop, &[key('x')], "stop the run and undo it; asks first", "stop"),
    bind(Context::Live, Action::Pause, &[key('p')], "pause after this run, or go on", "pause after run"),
    bind(Context::Live, Action::Marker, &[key('m')], "put a marker into the recording", "marker"),

    bind(Context::Over, Action::Again, &[key('r')], "pick and run again", "run again"),

    bind(Context::Replay, Action::Hold, &[key(' ')], "hold the replay, or go on", "hold"),
    bind(Context::Replay, Action::Faster, &[key('+'), key('=')], "faster", "+/- speed"),
    bind(Context::Replay, Action::Slower, &[key('-')], "slower", ""),

    bind(Context::Replay, Action::Rewind, &[key(',')], "10 seconds back", ",/. back, on"),
    bind(Context::Replay, Action::Advance, &[key('.')], "10 seconds on", ""),
    bind(Context::Replay, Action::StepBack, &[key('<')], "hold at the moment before at which something happened", ""),
    bind(Context::Replay, Action::StepOn, &[key('>')], "hold at the next moment at which something happened", ""),
    bind(Context::Replay, Action::NextChapter, &[key('}')], "to the next chapter", "{/} chapter"),
    bind(Context::Replay, Action::PreviousChapter, &[key('{')], "to the chapter before", ""),
    bind(Context::Replay, Action::Chapters, &[key('C')], "all chapters: runs, the steps of the one in sight, failures, markers", "chapters"),
    bind(Context::Replay, Action::GoTo, &[key('@')], "to a time that is typed: 1:30, 1:02:03, 45 or 50%", "go to"),
    bind(Context::Replay, Action::Cut, &[key('i')], "pass over times in which nothing happened, or show them as long as they were", "idle"),
    bind(Context::Replay, Action::Loop, &[key('o')], "begin anew after the end, or stay there", "loop"),
    bind(Context::Replay, Action::Restart, &[key('0')], "to the beginning", ""),
    bind(Context::Replay, Action::Finish, &[key('$')], "to the end", ""),

    bind(Context::Chapters, Action::Accept, &[ENTER], "go to the chapter under the cursor", "go there"),
    bind(Context::Chapters, Action::Back, &[ESC, key('C')], "close the chapters", "close"),

    bind(Context::Recordings, Action::Accept, &[ENTER], "show the recording under the cursor", "show"),
    bind(Context::Recordings, Action::Filter, &[key('/')], "show only recordings with a text: in their date, hosts, methods, result or file", "filter"),
    bind(Context::Recordings, Action::Delete, &[key('d'), plain(KeyCode::Delete)], "delete the recording under the cursor; asks first", "delete"),
    bind(Context::Recordings, Action::Refresh, &[key('r')], "look through the folder again", ""),
    bind(Context::Recordings, Action::Back, &[ESC, key('R')], "back to where you came from; first show all again", "back"),

    bind(Context::Watching, Action::Search, &[key('/')], "search the log", "search log"),
    bind(Context::Watching, Action::NextMatch, &[key('n')], "to the next match", ""),
    bind(Context::Watching, Action::PreviousMatch, &[key('N')], "to the match before", ""),
    bind(Context::Watching, Action::NextPane, &[TAB], "to the next pane; one that has no room is shown alone", "pane"),
    bind(Context::Watching, Action::PreviousPane, &[BACK_TAB], "to the pane before", ""),
    bind(Context::Watching, Action::Compare, &[key('c')], "compare the methods", "compare"),
    bind(Context::Watching, Action::Project, &[key('P')], "how long other disks take, by what was measured", ""),
    bind(Context::Watching, Action::Notes, &[key('!')], "all warnings and remarks", "notes"),
    bind(Context::Watching, Action::Follow, &[key('f')], "follow the run that goes on, and the end of its log", "follow"),
    bind(Context::Watching, Action::Zoom, &[key('z')], "show the pane alone, or all", "zoom"),
    bind(Context::Watching, Action::Swap, &[key('b')], "to the medians, or to the bytes", "bytes"),
    bind(Context::Watching, Action::Beside, &[key('v')], "hosts side by side, or one", "hosts"),
    bind(Context::Watching, Action::Freeze, &[ctrl('f')], "the screen stands still, to read or copy, while the run goes on; again: it goes on", "freeze"),
    bind(Context::Watching, Action::Wrap, &[key('w')], "wrap long lines of the log, or not", ""),
    bind(Context::Watching, Action::Timestamps, &[key('t')], "before the log's lines: time of day, since the step began, since the line before, nothing", ""),
    bind(Context::Watching, Action::PreviousRun, &[key('[')], "look at the run before, on this host", ""),
    bind(Context::Watching, Action::NextRun, &[key(']')], "look at the next run, on this host", ""),
    bind(Context::Watching, Action::Back, &[ESC], "let a frozen screen go on; all panes; clear search and filter; back to the run that goes on", "back"),

    bind(Context::Compare, Action::Compare, &[key('c'), ESC], "back to the run", "back"),
    bind(Context::Compare, Action::NextPane, &[TAB], "all times, or each by itself", "times"),
    bind(Context::Compare, Action::PreviousPane, &[BACK_TAB], "the time before", ""),
    bind(Context::Compare, Action::Freeze, &[ctrl('f')], "the screen stands still, or goes on", ""),
    bind(Context::Compare, Action::Sort, &[key('s')], "sort by the next column; after the last one as planned", "sort"),
    bind(Context::Compare, Action::SortTurned, &[key('S')], "sort the other way round", ""),
    bind(Context::Compare, Action::Left, &[plain(KeyCode::Left), key('h')], "columns of the table to the left", ""),
    bind(Context::Compare, Action::Right, &[plain(KeyCode::Right), key('l')], "columns of the table to the right", ""),
    bind(Context::Compare, Action::Project, &[key('P')], "how long other disks take, by what was measured", ""),
    bind(Context::Compare, Action::Notes, &[key('!')], "all warnings and remarks", "notes"),

    bind(Context::Project, Action::Disks, &[key('d')], "type the disks: 50GB 400GiB, 4x50GB", "disks"),
    bind(Context::Project, Action::Pipeline, &[key('p')], "type two methods, one behind the other: A,B", "pipeline"),
    bind(Context::Project, Action::Project, &[key('P'), ESC], "back to where you came from", "back"),
    bind(Context::Project, Action::Notes, &[key('!')], "all warnings and remarks", "notes"),

    bind(Context::Themes, Action::Accept, &[ENTER], "keep this theme", "keep"),
    bind(Context::Themes, Action::NextTheme, &[key('T'), TAB], "the next one", ""),
    bind(Context::Themes, Action::Back, &[ESC, key('q')], "back to the theme before", "as before"),
    bind(Context::Copying, Action::CopyLine, &[key('y'), ENTER], "copy the marked line", "line"),
    bind(Context::Copying, Action::CopyMatch, &[key('m')], "copy what was searched for, as it stands in the marked line", "match"),
    bind(Context::Copying, Action::CopyCommand, &[key('c')], "copy the exact command of the step", "command"),
    bind(Context::Copying, Action::CopyLog, &[key('a')], "copy all that the step has printed, up to 73 KiB of its end", "all of the step"),
    bind(Context::Copying, Action::Back, &[ESC, key('q')], "copy nothing", "cancel"),

    bind(Context::Palette, Action::Accept, &[ENTER], "do it", "do it"),
    bind(Context::Palette, Action::Back, &[ESC], "do nothing", "close"),
    bind(Context::Palette, Action::Up, &[plain(KeyCode::Up), BACK_TAB, ctrl('p')], "up", ""),
    bind(Context::Palette, Action::Down, &[plain(KeyCode::Down), TAB, ctrl('n')], "down", ""),
    bind(Context::Palette, Action::PageUp, &[plain(KeyCode::PageUp)], "a page up", ""),
    bind(Context::Palette, Action::PageDown, &[plain(KeyCode::PageDown)], "a page down", ""),

    bind(Context::Overlay, Action::Back, &[ESC, key('q'), key('?'), key('!'), ENTER], "close it", "close"),

    bind(Context::Dialog, Action::Accept, &[ENTER], "take the choice under the cursor", "take"),
    bind(Context::Dialog, Action::Left, &[plain(KeyCode::Left), plain(KeyCode::Up), key('h'), key('k'), BACK_TAB], "the choice before", ""),
    bind(Context::Dialog, Action::Right, &[plain(KeyCode::Right), plain(KeyCode::Down), key('l'), key('j'), TAB], "the next choice", "choose"),
    bind(Context::Dialog, Action::Back, &[ESC, key('q'), key('n')], "change nothing", "cancel"),

    bind(Context::Entry, Action::Accept, &[ENTER], "take what was typed", "done"),
    bind(Context::Entry, Action::Back, &[ESC], "forget it", "cancel"),
    bind(Context::Entry, Action::Syntax, &[ctrl('r')], "in a search or filter of the log: text, or a regular expression", ""),

    bind(Context::Lists, Action::Up, &[plain(KeyCode::Up), key('k')], "up", ""),
    bind(Context::Lists, Action::Down, &[plain(KeyCode::Down), key('j')], "down", ""),
    bind(Context::Lists, Action::Left, &[plain(KeyCode::Left), key('h')], "left", ""),
    bind(Context::Lists, Action::Right, &[plain(KeyCode::Right), key('l')], "right", ""),
    bind(Context::Lists, Action::PageUp, &[plain(KeyCode::PageUp), ctrl('u')], "a page up", ""),
    bind(Context::Lists, Action::PageDown, &[plain(KeyCode::PageDown), ctrl('d')], "a page down", ""),
    bind(Context::Lists, Action::Top, &[key('g'), plain(KeyCode::Home)], "to the first row; in a log: to its first line", ""),
    bind(Context::Lists, Action::Bottom, &[key('G'), plain(KeyCode::End)], "to the last row; in a log: to its last line, and follow it", ""),

    bind(Context::Everywhere, Action::Help, &[key('?'), plain(KeyCode::F(1))], "this help", "help"),
    bind(Context::Everywhere, Action::NextTheme, &[key('T')], "the next theme", ""),
    bind(Context::Everywhere, Action::Theme, &[ctrl('t')], "choose a theme from a list; each is tried at once", ""),
    bind(Context::Everywhere, Action::Recordings, &[key('R')], "the list of recordings, where no run goes on", "recordings"),
    bind(Context::Everywhere, Action::Palette, &[key(':')], "all that can be done here, by name", ""),
    bind(Context::Everywhere, Action::Mouse, &[key('M')], "the mouse, or not: without it the terminal selects text", ""),
    bind(Context::Everywhere, Action::Quit, &[key('q')], "leave; asks while a run goes on", "quit"),

    bind(Context::Always, Action::Quit, &[ctrl('c')], "leave; asks while a run goes on", ""),
    bind(Context::Always, Action::Suspend, &[ctrl('z')], "put the dashboard into the background", ""),
];
