//! `docs/keys.md`.

use std::fmt::Write as _;

use super::{Chord, Context, Keymap};

const HEAD: &str = "\
# Keys

Made from the table in `src/tui/keys/table.rs`; a test compares. In the dashboard, `?` shows the keys of the place you
are in, and `:` everything that can be done there, to be found by typing. Where two tables name a key, the more special
one holds: the pane that has the keys, then its screen, then the rest.

## Keys of your own

`[keys]` in the configuration (`comeback info` says where it is) gives an action other keys, in every table that has
it; `[keys.CONTEXT]` in that table alone. The names are those of the tables below. What is given replaces the keys that
are listed here; an empty list takes them away.

```toml
mouse = false               # M in the dashboard turns it on and off

[keys]
stop = [\"X\"]
page-down = [\"PgDn\", \"Ctrl-F\"]

[keys.replay]
hold = [\"Space\", \"p\"]
```

A key is a character as it is typed (`x`, `X`, `+`), `Ctrl-` with a letter, `F1` to `F12`, or one of `Space`, `Enter`,
`Esc`, `Tab`, `Shift-Tab`, `Backspace`, `Delete`, `Insert`, `Home`, `End`, `PgUp`, `PgDn`, `Up`, `Down`, `Left`,
`Right`. The tables `entry`, `palette` and `always`, where most keys are text, change only where they are named, and
take no characters. A name that is not known, a key that would do two things in one table, and a place without a key for
`accept` or `back` are errors, with their line. `quit = []` is none: `Ctrl-C`, in the table `always`, still leaves; without
that one, it is.
";

pub(super) fn page() -> String {
    let mut page = HEAD.to_owned();
    let map = Keymap::default();
    for context in Context::ALL {
        let _ = write!(
            page,
            "\n## {} (`{}`)\n\n| keys | action | |\n|---|---|---|\n",
            context.title(),
            context.name()
        );
        for row in map.rows(&[*context]) {
            let keys: Vec<String> = row.keys.iter().map(code).collect();
            let (action, help) = (row.bind.action.name(), row.bind.help);
            let _ = writeln!(page, "| {} | `{action}` | {help} |", keys.join(" "));
        }
    }
    page
}

fn code(key: &Chord) -> String {
    match key.to_string().as_str() {
        // It would end the cell.
        "|" => "`\\|`".to_owned(),
        name => format!("`{name}`"),
    }
}
