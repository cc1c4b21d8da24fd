use ratatui::style::{Color, Modifier};

use super::*;

fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let dirs = vec![dir.path().join("missing"), dir.path().to_owned()];
    (dir, dirs)
}

fn error_of(text: &str) -> String {
    let (_dir, dirs) = folder(&[("mine.toml", text)]);
    Theme::load("mine", &dirs).unwrap_err().to_string()
}

#[test]
fn every_built_in_theme_loads() {
    for (name, _) in BUILT_IN {
        let theme = Theme::load(name, &[]).unwrap();
        assert_eq!(theme.has_color(), *name != "mono", "{name}");
    }
}

#[test]
fn the_default_theme_sets_no_background_and_only_the_terminals_colours() {
    let theme = Theme::load("default", &[]).unwrap();
    for (role, name, _) in ROLES {
        let style = theme.style(*role);
        assert_eq!(style.bg, None, "{name}");
        assert!(
            !matches!(style.fg, Some(Color::Rgb(..) | Color::Indexed(_))),
            "{name}"
        );
    }
}

#[test]
fn in_mono_what_must_stand_out_does() {
    let theme = Theme::load("mono", &[]).unwrap();
    let has = |role, modifier| theme.style(role).add_modifier.contains(modifier);
    assert!(has(Role::Selection, Modifier::REVERSED));
    assert!(has(Role::LogMatch, Modifier::REVERSED));
    for role in [
        Role::Running,
        Role::Error,
        Role::Destroys,
        Role::BorderFocus,
    ] {
        assert!(has(role, Modifier::BOLD), "{}", role.name());
    }
}

#[test]
fn a_role_falls_back_by_its_name() {
    let (_dir, dirs) = folder(&[("mine.toml", "text = 'red'\nlog = 'blue'")]);
    let theme = Theme::load("mine", &dirs).unwrap();
    assert_eq!(theme.style(Role::LogMatchCurrent).fg, Some(Color::Blue));
    assert_eq!(theme.style(Role::Accent).fg, Some(Color::Red));
}

#[test]
fn a_theme_inherits_roles_and_palette() {
    let (_dir, dirs) = folder(&[
        (
            "base.toml",
            "ok = 'leaf'\nwarn = 'leaf'\n[palette]\nleaf = '#00ff00'",
        ),
        (
            "mine.toml",
            "inherits = 'base'\nwarn = { fg = 'sun', modifiers = ['bold'] }\n[palette]\nsun = '220'\nleaf = 'green'",
        ),
    ]);
    let theme = Theme::load("mine", &dirs).unwrap();
    assert_eq!(theme.style(Role::Ok).fg, Some(Color::Green));
    assert_eq!(theme.style(Role::Warn).fg, Some(Color::Indexed(220)));
    assert_eq!(theme.style(Role::Warn).add_modifier, Modifier::BOLD);
}

#[test]
fn a_users_theme_stands_in_for_a_built_in_one() {
    let (_dir, dirs) = folder(&[("default.toml", "ok = 'blue'")]);
    assert_eq!(
        Theme::load("default", &dirs).unwrap().style(Role::Ok).fg,
        Some(Color::Blue)
    );
    assert!(Theme::names(&dirs).contains(&"mono".to_owned()));
}

#[test]
fn what_is_wrong_is_named_with_file_line_and_key() {
    let text = error_of("ok = 'green'\n\n\"log.match\" = 'blu'");
    assert!(
        text.contains("mine.toml, line 3, key \"log.match\": \"blu\" is no colour"),
        "{text}"
    );
    let text = error_of("\nwarning = 'red'");
    assert!(
        text.contains("line 2, key \"warning\": there is no role"),
        "{text}"
    );
    let text = error_of("ok = { fg = 'green', modifier = ['bold'] }");
    assert!(text.contains("line 1, key \"ok.modifier\""), "{text}");
    let text = error_of("ok = { modifiers = ['blinking'] }");
    assert!(
        text.contains("key \"ok.modifiers\": a modifier is one of: bold"),
        "{text}"
    );
    let text = error_of("ok = 3");
    assert!(text.contains("key \"ok\": expected a colour"), "{text}");
    let text = error_of("[palette]\nred = '#12'");
    assert!(
        text.contains("line 2, key \"palette.red\": \"#12\" is no colour"),
        "{text}"
    );
    let text = error_of("ok = 'green'\nok = 'red'");
    assert!(text.contains("line 2"), "{text}");
}

#[test]
fn a_missing_or_circular_base_is_an_error() {
    let text = error_of("inherits = 'nothing'");
    assert!(
        text.contains("key \"inherits\": there is no theme \"nothing\""),
        "{text}"
    );
    let text = error_of("inherits = 'mine'");
    assert!(text.contains("is this a circle?"), "{text}");
    let text = Theme::load("../mine", &[]).unwrap_err().to_string();
    assert!(
        text.contains("there are: catppuccin-latte, catppuccin-mocha, default"),
        "{text}"
    );
}

#[test]
fn the_documentation_names_every_role() {
    let documented = include_str!("../../../docs/themes.md");
    for (_, name, what) in ROLES {
        assert!(
            documented.contains(&format!("| `{name}` | {what} |")),
            "{name}: {what}"
        );
    }
    for (name, _) in BUILT_IN {
        assert!(documented.contains(&format!("`{name}`")), "{name}");
    }
}
