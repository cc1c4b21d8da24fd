//! `[keys]` of the configuration, with the line of each of its entries. What the names mean is the
//! dashboard's business.

use toml::de::{DeTable, DeValue};

/// One entry of `[keys]`, or of a table in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyChange {
    /// Line in the file, from 1.
    pub line: usize,
    /// The table in `[keys]` that it stands in, where it does.
    pub context: Option<String>,
    /// Name of what the keys do.
    pub action: String,
    /// Names of the keys.
    pub keys: Vec<String>,
}

/// Reads `[keys]` out of a file that is TOML.
///
/// # Errors
/// The line, and what is wrong.
pub(super) fn read(text: &str) -> Result<Vec<KeyChange>, (usize, String)> {
    let line = |at: usize| super::line_of(text, at);
    let Ok(file) = DeTable::parse(text) else {
        return Ok(Vec::new());
    };
    let Some((name, value)) = file
        .get_ref()
        .iter()
        .find(|(name, _)| name.get_ref() == "keys")
    else {
        return Ok(Vec::new());
    };
    let DeValue::Table(keys) = value.get_ref() else {
        let why = "keys: expected a table, as [keys]".to_owned();
        return Err((line(name.span().start), why));
    };
    let mut changes = Vec::new();
    for (name, value) in keys {
        let at = line(name.span().start);
        let name = name.get_ref().as_ref();
        match value.get_ref() {
            DeValue::Table(inner) => {
                for (action, value) in inner {
                    let at = line(action.span().start);
                    let action = action.get_ref().as_ref();
                    changes.push(change(at, Some(name), action, value.get_ref())?);
                }
            }
            value => changes.push(change(at, None, name, value)?),
        }
    }
    changes.sort_by_key(|change| change.line);
    Ok(changes)
}

fn change(
    line: usize,
    context: Option<&str>,
    action: &str,
    value: &DeValue<'_>,
) -> Result<KeyChange, (usize, String)> {
    let wrong = || {
        let why = format!("{action}: expected a list of keys, as [\"x\", \"Ctrl-X\"]");
        (line, why)
    };
    let keys = match value {
        DeValue::String(key) => vec![key.to_string()],
        DeValue::Array(keys) => keys
            .iter()
            .map(|key| match key.get_ref() {
                DeValue::String(key) => Ok(key.to_string()),
                _ => Err(wrong()),
            })
            .collect::<Result<_, _>>()?,
        _ => return Err(wrong()),
    };
    Ok(KeyChange {
        line,
        context: context.map(str::to_owned),
        action: action.to_owned(),
        keys,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn entries_have_their_lines() {
        let text = "theme = \"mono\"\n\n[keys]\nstop = \"X\"\n\n[keys.replay]\nhold = [\n  \"Space\",\n]\n";
        let entry = |line, context: Option<&str>, action: &str, key: &str| KeyChange {
            line,
            context: context.map(str::to_owned),
            action: action.to_owned(),
            keys: vec![key.to_owned()],
        };
        let wanted = vec![
            entry(4, None, "stop", "X"),
            entry(7, Some("replay"), "hold", "Space"),
        ];
        assert_eq!(read(text), Ok(wanted));
    }

    #[test]
    fn what_is_no_list_of_keys_is_named_with_its_line() {
        for text in ["\n[keys]\nstop = 3\n", "\n[keys]\nstop = [\"x\", 3]\n"] {
            let (line, why) = read(text).unwrap_err();
            assert_eq!(line, 3, "{text}");
            assert!(why.contains("stop: expected a list of keys"), "{why}");
        }
        assert_eq!(read("keys = 1").unwrap_err().0, 1);
        let (line, why) = read("[keys.log.copy]\nx = 1").unwrap_err();
        assert!(line == 1 && why.contains("copy"), "{why}");
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            entries in proptest::collection::btree_map("[a-z][a-z-]{0,9}", proptest::collection::vec("\\PC{1,8}", 0..4), 0..6),
        ) {
            let table: toml::Table = entries
                .iter()
                .map(|(action, keys)| (action.clone(), toml::Value::from(keys.clone())))
                .collect();
            let mut file = toml::Table::new();
            file.insert("keys".to_owned(), toml::Value::Table(table));
            let text = toml::to_string(&file).unwrap();
            let read = read(&text).unwrap();
            prop_assert_eq!(read.len(), entries.len());
            for change in read {
                prop_assert_eq!(Some(&change.keys), entries.get(&change.action));
                let line = text.lines().nth(change.line - 1).unwrap();
                prop_assert!(line.contains(&change.action), "{} in {}", change.action, text);
            }
        }
    }
}
