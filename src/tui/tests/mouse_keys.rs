//! The mouse: it scrolls and points, and never decides.

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use proptest::prelude::*;

use super::super::message::{Effect, Message};
use super::super::model::{Layer, Model, Pane, PickPane, Screen};
use super::super::{layout, update};
use super::fixture::Tale;
use super::offers::offer;
use super::press::press;
use super::snapshot::{draw, model, text};
use crate::event::ProgressKind;
use crate::session::Session;

const SIZE: (u16, u16) = (120, 40);

fn watching() -> (Tale, Model) {
    let (tale, _) = Tale::restoring(ProgressKind::Exact);
    let mut model = model();
    model.size = SIZE;
    model.screen = Screen::Watching;
    model.now = tale.now();
    (tale, model)
}

fn mouse(
    model: &mut Model,
    session: &Session,
    kind: MouseEventKind,
    at: (u16, u16),
) -> Vec<Effect> {
    let event = MouseEvent {
        kind,
        column: at.0,
        row: at.1,
        modifiers: KeyModifiers::NONE,
    };
    update(model, session, Message::Mouse(event))
}

fn click(model: &mut Model, session: &Session, at: (u16, u16)) -> Vec<Effect> {
    mouse(model, session, MouseEventKind::Down(MouseButton::Left), at)
}

/// Where a text stands on the screen.
fn place(model: &Model, session: &Session, what: &str) -> (u16, u16) {
    let shown = text(&draw(model, session, SIZE, "mono"));
    let found = shown.lines().enumerate().find_map(|(y, line)| {
        let at = line.find(what)?;
        let x = super::super::text::width(line.get(..at)?);
        Some((u16::try_from(x).unwrap(), u16::try_from(y).unwrap()))
    });
    found.unwrap_or_else(|| panic!("{what} in {shown}"))
}

#[test]
fn the_wheel_scrolls_what_is_under_it_and_takes_no_keys() {
    let (tale, mut model) = watching();
    model.watching.pane = Pane::Steps;
    let log = place(&model, &tale.session, "progress 51%");
    mouse(&mut model, &tale.session, MouseEventKind::ScrollUp, log);
    assert!(model.watching.log.top.is_some());
    assert_eq!(
        (model.watching.pane, model.watching.step),
        (Pane::Steps, None)
    );
    mouse(&mut model, &tale.session, MouseEventKind::ScrollDown, log);
    let bytes = layout::watching(&model, &tale.session).bytes.unwrap();
    mouse(
        &mut model,
        &tale.session,
        MouseEventKind::ScrollDown,
        (bytes.x + 2, bytes.y + 1),
    );
    assert_eq!(model.watching.pane, Pane::Steps);
    press(&mut model, &tale.session, "?");
    mouse(
        &mut model,
        &tale.session,
        MouseEventKind::ScrollDown,
        (60, 20),
    );
    assert!(
        matches!(model.layers.last(), Some(Layer::Help(3))),
        "{:?}",
        model.layers
    );
}

#[test]
fn a_click_puts_the_cursor_on_a_row() {
    let (tale, mut model) = watching();
    let step = place(&model, &tale.session, "archive proved");
    click(&mut model, &tale.session, step);
    assert_eq!(
        (model.watching.pane, model.watching.step),
        (Pane::Steps, Some(1))
    );
    let method = place(&model, &tale.session, "guest-archive");
    assert!(method.0 < 34, "in the plan");
    click(&mut model, &tale.session, method);
    assert_eq!(model.watching.pane, Pane::Plan);
    let run = model.run(&tale.session).unwrap();
    let binding = tale.session.binding(&run.binding).unwrap();
    assert_eq!(binding.method, "guest-archive");
    press(&mut model, &tale.session, "f");
    let line = place(&model, &tale.session, "progress 51%");
    click(&mut model, &tale.session, line);
    assert!(model.watching.pane == Pane::Log && model.layers.is_empty());
    click(&mut model, &tale.session, line);
    let effects = press(&mut model, &tale.session, "y");
    assert_eq!(
        effects,
        [Effect::Copy(
            "progress 51% (read 8904000000 bytes, duration 28 sec)".to_owned()
        )]
    );
}

#[test]
fn a_click_on_a_choice_only_points_at_it() {
    let (tale, mut model) = watching();
    press(&mut model, &tale.session, "x");
    let choice = place(&model, &tale.session, "stop and undo");
    for _ in 0..3 {
        assert!(click(&mut model, &tale.session, choice).is_empty());
    }
    let Some(Layer::Dialog(dialog)) = model.layers.last() else {
        panic!("it is gone");
    };
    assert_eq!(dialog.at, 1);
    assert_eq!(press(&mut model, &tale.session, "<enter>"), [Effect::Stop]);
}

#[test]
fn a_click_in_the_palette_points_too() {
    let (tale, mut model) = watching();
    press(&mut model, &tale.session, ":");
    let row = place(&model, &tale.session, "  timestamps");
    assert!(click(&mut model, &tale.session, row).is_empty());
    press(&mut model, &tale.session, "<enter>");
    assert_eq!(model.watching.log.times, crate::report::Stamps::SinceBegin);
}

#[test]
fn what_is_picked_is_pointed_at() {
    let (mut model, session) = (model(), Session::default());
    model.size = SIZE;
    update(&mut model, &session, Message::Offer(Box::new(offer())));
    let second = place(&model, &session, "[ ] guest-archive");
    click(&mut model, &session, second);
    assert_eq!(
        (model.picking.pane, model.picking.method),
        (PickPane::Methods, 1)
    );
    assert!(model.picking.picked.is_empty(), "it is not picked by that");
}

#[test]
fn the_mouse_is_given_back_by_a_key() {
    let (tale, mut model) = watching();
    model.mouse = true;
    assert_eq!(
        press(&mut model, &tale.session, "M"),
        [Effect::Mouse(false)]
    );
    assert!(model.say.as_ref().unwrap().contains("selects text"));
    assert_eq!(press(&mut model, &tale.session, "M"), [Effect::Mouse(true)]);
}

proptest! {
    #[test]
    fn no_click_anywhere_decides_anything(
        x in 0_u16..130, y in 0_u16..45, wide in 20_u16..130, high in 5_u16..45,
        layer in 0_usize..6, wheel in any::<bool>(),
    ) {
        let (tale, mut model) = watching();
        model.size = (wide, high);
        let keys = ["", "x", ":", "?", "y", "<enter>"][layer];
        press(&mut model, &tale.session, keys);
        let kind = if wheel { MouseEventKind::ScrollDown } else { MouseEventKind::Down(MouseButton::Left) };
        prop_assert_eq!(mouse(&mut model, &tale.session, kind, (x, y)), []);
        draw(&model, &tale.session, (wide, high), "mono");
    }
}

/// A reason that takes several rows is one method, whichever of its rows is clicked.
#[test]
fn titles_and_reasons_stand_there_in_full_and_each_row_is_its_methods() {
    let session = Session::default();
    for size in [(120, 40), (200, 60)] {
        let mut model = model();
        model.size = size;
        update(&mut model, &session, Message::Offer(Box::new(offer())));
        let area = layout::picking(&model).methods;
        let buffer = draw(&model, &session, size, "mono");
        let inside: Vec<String> = (area.y + 1..area.bottom() - 1)
            .map(|y| {
                let cells = area.x + 1..area.right() - 1;
                cells.map(|x| buffer[(x, y)].symbol()).collect()
            })
            .collect();
        let words = inside.join(" ");
        let words: Vec<&str> = words.split_whitespace().collect();
        for says in [
            "proxmox-backup-client is missing: apt install proxmox-backup-client",
            "vzdump, then qmrestore in its place",
        ] {
            let says: Vec<&str> = says.split(' ').collect();
            let mut at = words.iter();
            assert!(
                says.iter().all(|word| at.any(|shown| shown == word)),
                "{size:?} {says:?}: {inside:?}"
            );
        }
        let mut below = None;
        for (row, y) in inside.iter().zip(area.y + 1..) {
            let names = [
                "guest-snapshot",
                "guest-archive",
                "guest-store",
                "guest-copy",
            ];
            below = names.iter().position(|name| row.contains(name)).or(below);
            click(&mut model, &session, (area.x + 3, y));
            let is_last = row.trim().is_empty();
            assert!(
                is_last || Some(model.picking.method) == below,
                "{size:?} {row:?}"
            );
        }
    }
}
