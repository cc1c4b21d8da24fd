//! Another theme, while the dashboard goes on.

use super::super::message::{Effect, Message, ThemeWish};
use super::super::model::{Layer, Model, Screen};
use super::super::theme::{Depth, Shelf};
use super::super::update;
use super::fixture::Tale;
use super::press::press;
use super::snapshot::{SIZES, check, draw, model, styles, text};
use crate::event::ProgressKind;
use crate::session::Session;

/// Presses keys; what goes out for themes is done, as the loop does it.
fn keys(model: &mut Model, session: &Session, shelf: &Shelf, keys: &str) {
    for effect in press(model, session, keys) {
        let Effect::Themes(wish) = effect else {
            panic!("{effect:?}");
        };
        let (all, wrong) = shelf.all();
        update(model, session, Message::Themes(wish, all, wrong));
    }
}

fn shelf() -> Shelf {
    Shelf {
        has_color: true,
        ..Shelf::default()
    }
}

fn watching() -> (Tale, Model) {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = model();
    model.screen = Screen::Watching;
    model.now = tale.now();
    (tale, model)
}

#[test]
fn one_key_takes_the_next_theme_and_all_come_round() {
    let (tale, mut model) = watching();
    let mut seen = vec![model.theme.name.clone()];
    loop {
        keys(&mut model, &tale.session, &shelf(), "T");
        assert_eq!(model.say, Some(format!("Theme: {}", model.theme.name)));
        if model.theme.name == seen[0] {
            break;
        }
        seen.push(model.theme.name.clone());
    }
    assert_eq!(seen.len(), super::super::theme::BUILT_IN.len());
}

#[test]
fn in_the_list_a_theme_is_tried_at_once() {
    let (tale, mut model) = watching();
    keys(&mut model, &tale.session, &shelf(), "<c-t>");
    // Each theme is shown in its own colours, also the ones of which `mono` has none.
    for (width, height) in SIZES {
        model.size = (width, height);
        let screen = draw(&model, &tale.session, model.size, "default");
        check(&screen, "default");
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => "snapshots" }, {
            insta::assert_snapshot!(format!("themes-{width}x{height}"), format!("{}\n-- default --\n{}", text(&screen), styles(&screen)));
        });
    }
    model.size = (120, 40);
    keys(&mut model, &tale.session, &shelf(), "j");
    assert_eq!(model.theme.name, "dracula");
    keys(&mut model, &tale.session, &shelf(), "<esc>");
    assert_eq!(
        (model.theme.name.as_str(), model.layers.len()),
        ("default", 0)
    );
    keys(&mut model, &tale.session, &shelf(), "<c-t>");
    keys(&mut model, &tale.session, &shelf(), "jjjjj<enter>");
    assert_eq!((model.theme.name.as_str(), model.layers.len()), ("nord", 0));
    let bar = text(&draw(&model, &tale.session, (120, 40), "nord"));
    assert!(bar.contains("theme = \"nord\" in config.toml"), "{bar}");
}

#[test]
fn what_is_wrong_with_a_users_theme_stands_in_the_list() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("mine.toml"),
        "text = 'red'\nokay = 'green'\n",
    )
    .unwrap();
    std::fs::write(
        folder.path().join("other.toml"),
        "inherits = 'nord'\nok = '#00ff00'\n",
    )
    .unwrap();
    let shelf = Shelf {
        dirs: vec![folder.path().to_owned()],
        ..shelf()
    };
    let (tale, mut model) = watching();
    keys(&mut model, &tale.session, &shelf, "<c-t>");
    let screen = text(&draw(&model, &tale.session, (120, 40), "default"));
    assert!(
        screen.contains(" other ") && !screen.contains(" mine "),
        "{screen}"
    );
    assert!(
        screen.contains("line 2") && screen.contains("okay"),
        "{screen}"
    );
    // It was mended meanwhile.
    std::fs::write(folder.path().join("mine.toml"), "text = 'red'\n").unwrap();
    keys(&mut model, &tale.session, &shelf, "<esc>");
    keys(&mut model, &tale.session, &shelf, "<c-t>");
    let screen = text(&draw(&model, &tale.session, (120, 40), "default"));
    assert!(screen.contains(" mine "), "{screen}");
}

#[test]
fn without_colours_there_is_none_to_choose() {
    let (tale, mut model) = watching();
    let shelf = Shelf::default();
    model.theme = shelf.load(Some("nord")).unwrap();
    assert_eq!(model.theme.name, "mono");
    keys(&mut model, &tale.session, &shelf, "T");
    assert_eq!(model.theme.name, "mono");
    assert!(
        model
            .say
            .as_ref()
            .is_some_and(|say| say.contains("colours are off"))
    );
    keys(&mut model, &tale.session, &shelf, "<c-t>");
    let Some(Layer::Themes(themes)) = model.layers.last() else {
        panic!("no list");
    };
    assert_eq!(themes.all.len(), 1);
}

#[test]
fn a_list_of_themes_fits_where_there_is_little_room() {
    let (tale, mut model) = watching();
    model.size = (40, 10);
    keys(&mut model, &tale.session, &shelf(), "<c-t>");
    keys(&mut model, &tale.session, &shelf(), "G");
    let screen = text(&draw(&model, &tale.session, (40, 10), "default"));
    assert!(screen.contains("▸ tokyo-night"), "{screen}");
}

#[test]
fn every_theme_is_under_every_cell_in_any_depth() {
    let (tale, mut model) = watching();
    for (name, _) in super::super::theme::BUILT_IN {
        check(&draw(&model, &tale.session, (120, 40), name), name);
    }
    for depth in [Depth::Sixteen, Depth::Indexed] {
        let shelf = Shelf { depth, ..shelf() };
        model.theme = shelf.load(Some("dracula")).unwrap();
        let effects = press(&mut model, &tale.session, "T");
        assert_eq!(effects, [Effect::Themes(ThemeWish::Next)]);
        let (all, _) = shelf.all();
        update(
            &mut model,
            &tale.session,
            Message::Themes(ThemeWish::Next, all, Vec::new()),
        );
        assert_eq!(model.theme, shelf.load(Some("gruvbox-dark")).unwrap());
    }
}
