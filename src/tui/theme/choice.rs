//! Whether there is to be colour, and so which theme.

use std::ffi::OsStr;

/// When to use colours: the argument of `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColorWhen {
    /// Unless the environment is against it.
    #[default]
    Auto,
    /// Whatever the environment says.
    Always,
    /// Not at all.
    Never,
}

impl ColorWhen {
    /// Whether to use colours, given the values of `NO_COLOR` and `TERM`.
    #[must_use]
    pub fn is_on(self, no_color: Option<&OsStr>, term: Option<&OsStr>) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            // https://no-color.org: an empty value does not count.
            Self::Auto => {
                no_color.is_none_or(OsStr::is_empty) && term.is_none_or(|term| term != "dumb")
            }
        }
    }
}

/// The name of the theme to load: `mono` without colours, else what was asked for, else `default`.
#[must_use]
pub fn choose(has_color: bool, asked: Option<&str>) -> &str {
    match asked {
        _ if !has_color => "mono",
        Some(name) => name,
        None => "default",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_color_counts_where_it_is_not_empty() {
        let term = Some(OsStr::new("xterm"));
        assert!(ColorWhen::Auto.is_on(None, term));
        assert!(ColorWhen::Auto.is_on(Some(OsStr::new("")), term));
        assert!(!ColorWhen::Auto.is_on(Some(OsStr::new("0")), term));
        assert!(!ColorWhen::Auto.is_on(None, Some(OsStr::new("dumb"))));
        assert!(ColorWhen::Always.is_on(Some(OsStr::new("1")), Some(OsStr::new("dumb"))));
        assert!(!ColorWhen::Never.is_on(None, term));
    }

    #[test]
    fn without_colours_the_theme_is_mono() {
        assert_eq!(choose(false, Some("solarized-light")), "mono");
        assert_eq!(choose(true, Some("solarized-light")), "solarized-light");
        assert_eq!(choose(true, None), "default");
    }
}
