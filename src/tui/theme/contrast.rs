//! Whether every theme can be read: by its contrast, and without colour vision.
//!
//! Contrasts are those of WCAG 2.1. Words need 4.5 : 1 (its success criterion 1.4.3, AA); signs
//! and shapes 3 : 1 (1.4.11). What is muted or still to come is there to be looked up, and gets by
//! with 3 : 1 as well; a line that only divides has to be seen, no more. On the row under the
//! cursor, which stands out by its ground and moves away with a key, each may lose a quarter.

use palette::color_difference::Ciede2000;
use palette::{IntoColor, Lab, LinSrgb, Srgb};
use ratatui::style::{Color, Modifier};

use super::depth::{contrast, rgb};
use super::*;

/// What a role is drawn as, and so how much contrast it needs.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Words,
    Quiet,
    Shape,
    Line,
}

fn kind(role: Role) -> Kind {
    match role {
        Role::Muted | Role::Pending | Role::LogTime => Kind::Quiet,
        Role::BorderFocus
        | Role::Gauge
        | Role::GaugeEstimated
        | Role::Spark
        | Role::Series1
        | Role::Series2
        | Role::Series3
        | Role::Series4 => Kind::Shape,
        Role::Border | Role::GaugeTrack => Kind::Line,
        _ => Kind::Words,
    }
}

fn least(kind: Kind) -> f32 {
    match kind {
        Kind::Words => 4.5,
        Kind::Quiet | Kind::Shape => 3.0,
        Kind::Line => 1.5,
    }
}

/// The themes that set a ground; what the others look like is up to the terminal.
fn grounded() -> Vec<Theme> {
    let all = BUILT_IN
        .iter()
        .map(|(name, _)| Theme::load(name, &[]).unwrap());
    all.filter(|theme| theme.ground().is_some()).collect()
}

/// Contrast of a role on the ground, or on the row under the cursor.
fn of(theme: &Theme, role: Role, under: Role) -> f32 {
    let text = theme.style(Role::Text);
    let style = text.patch(theme.style(under)).patch(theme.style(role));
    let colour = |colour: Option<Color>| rgb(colour.unwrap()).unwrap();
    contrast(colour(style.fg), colour(style.bg))
}

#[test]
fn every_role_of_every_theme_with_a_ground_can_be_read_on_it() {
    assert!(grounded().len() >= 8);
    for theme in grounded() {
        // The row under the cursor has a test of its own.
        for (role, name, _) in ROLES.iter().filter(|(role, ..)| *role != Role::Selection) {
            let found = of(&theme, *role, Role::Text);
            let least = least(kind(*role));
            assert!(
                found >= least,
                "{}: {name} has {found:.2}, not {least}",
                theme.name
            );
            let style = theme.style(*role);
            assert!(
                !style.add_modifier.contains(Modifier::DIM),
                "{}: {name} is dim",
                theme.name
            );
        }
    }
}

#[test]
fn the_row_under_the_cursor_stands_out_and_can_be_read() {
    for theme in grounded() {
        let selection = theme.style(Role::Selection);
        let stands_out = contrast(
            rgb(selection.bg.unwrap()).unwrap(),
            rgb(theme.ground().unwrap()).unwrap(),
        );
        assert!(stands_out >= 1.12, "{}: {stands_out:.2}", theme.name);
        for (role, name, _) in ROLES {
            // Where the row has a colour of its own, it is for all of it.
            let role = if selection.fg.is_some() {
                Role::Selection
            } else {
                *role
            };
            if theme.style(role).bg.is_some() && role != Role::Selection {
                continue;
            }
            let least = least(kind(role)) * 0.75;
            let found = of(&theme, role, Role::Selection);
            let is_line = kind(role) == Kind::Line;
            assert!(
                found >= least || is_line,
                "{}: {name} has {found:.2}",
                theme.name
            );
        }
    }
}

#[test]
fn high_contrast_is_what_it_says() {
    let theme = Theme::load("high-contrast", &[]).unwrap();
    for (role, name, _) in ROLES {
        // Success criterion 1.4.6, AAA.
        let found = of(&theme, *role, Role::Text);
        assert!(found >= 7.0, "{name} has {found:.2}");
    }
}

#[test]
fn in_fewer_colours_every_role_can_still_be_read() {
    for theme in grounded() {
        // The steps between 256 colours are coarse, and 16 leave little choice.
        for (depth, share, most) in [(Depth::Indexed, 0.8, 4.5), (Depth::Sixteen, 1.0, 3.0)] {
            let shown = theme.clone().shown_in(depth);
            for (role, name, _) in ROLES {
                let found = of(&shown, *role, Role::Text);
                let least = (least(kind(*role)) * share).min(most);
                let name = format!("{} in {depth:?}: {name}", theme.name);
                assert!(found >= least, "{name} has {found:.2}, not {least:.2}");
                let style = shown.style(*role);
                for colour in [style.fg, style.bg].into_iter().flatten() {
                    let is_shown = match depth {
                        Depth::Sixteen => !matches!(colour, Color::Rgb(..) | Color::Indexed(16..)),
                        _ => !matches!(colour, Color::Rgb(..)),
                    };
                    assert!(is_shown, "{name}: {colour:?}");
                }
            }
        }
    }
}

/// The 16 colours of some terminals: ground, then red, green, yellow, magenta, cyan, and the text.
type Terminal = (&'static str, [u32; 7]);
const TERMINALS: [Terminal; 6] = [
    (
        "xterm, dark",
        [
            0x00_0000, 0xcd_0000, 0x00_cd00, 0xcd_cd00, 0xcd_00cd, 0x00_cdcd, 0xe5_e5e5,
        ],
    ),
    (
        "Linux console",
        [
            0x00_0000, 0xaa_0000, 0x00_aa00, 0xaa_5500, 0xaa_00aa, 0x00_aaaa, 0xaa_aaaa,
        ],
    ),
    (
        "GNOME, dark",
        [
            0x17_1421, 0xc0_1c28, 0x26_a269, 0xa2_734c, 0xa3_47ba, 0x2a_a1b3, 0xd0_cfcc,
        ],
    ),
    (
        "Windows Terminal",
        [
            0x0c_0c0c, 0xc5_0f1f, 0x13_a10e, 0xc1_9c00, 0x88_1798, 0x3a_96dd, 0xcc_cccc,
        ],
    ),
    (
        "Tango, light",
        [
            0xff_ffff, 0xcc_0000, 0x4e_9a06, 0xc4_a000, 0x75_507b, 0x06_989a, 0x2e_3436,
        ],
    ),
    (
        "VS Code, light",
        [
            0xff_ffff, 0xcd_3131, 0x10_7c10, 0x94_9800, 0xbc_05bc, 0x05_98bc, 0x33_3333,
        ],
    ),
];

fn hex(value: u32) -> Srgb<u8> {
    let [_, red, green, blue] = value.to_be_bytes();
    Srgb::new(red, green, blue)
}

/// What `default` looks like is up to the terminal; it may only use what terminals of both kinds
/// show. A state is never told by its colour alone, so that 2.4 : 1 is asked for: the yellow of
/// light terminals and the magenta of one dark one have little more.
#[test]
fn the_default_theme_can_be_read_on_dark_and_on_light_terminals() {
    let theme = Theme::load("default", &[]).unwrap();
    for (terminal, [ground, red, green, yellow, magenta, cyan, _]) in TERMINALS {
        for (role, name, _) in ROLES {
            let colour = match theme.style(*role).fg {
                None => continue,
                Some(Color::Red) => red,
                Some(Color::Green) => green,
                Some(Color::Yellow) => yellow,
                Some(Color::Magenta) => magenta,
                Some(Color::Cyan) => cyan,
                Some(other) => panic!("{name} is {other:?}, which some terminal cannot show"),
            };
            let found = contrast(hex(colour), hex(ground));
            assert!(found >= 2.4, "{terminal}: {name} has {found:.2}");
        }
    }
}

/// What eyes see that lack one kind of cones, by G. M. Machado, M. M. Oliveira and L. A. F.
/// Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE
/// Transactions on Visualization and Computer Graphics 15 (6), 2009, severity 1.0; on linear RGB.
type Eyes = (&'static str, [[f32; 3]; 3]);
const EYES: [Eyes; 4] = [
    (
        "all cones",
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    ),
    (
        "protanopia",
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ),
    (
        "tritanopia",
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ),
];

fn seen(colour: Srgb<u8>, eyes: &[[f32; 3]; 3]) -> Lab {
    let light: LinSrgb = colour.into_linear();
    let [red, green, blue] = eyes.map(|[red, green, blue]| {
        let cones = red * light.red + green * light.green + blue * light.blue;
        cones.clamp(0.0, 1.0)
    });
    LinSrgb::new(red, green, blue).into_color()
}

/// The least distance (CIEDE2000) of any two, for any eyes.
fn apart(colours: [Srgb<u8>; 4]) -> (f32, String) {
    let mut least = (f32::MAX, String::new());
    for (whose, eyes) in &EYES {
        for (at, one) in colours.iter().enumerate() {
            for (other_at, other) in colours.iter().enumerate().skip(at + 1) {
                let distance = seen(*one, eyes).difference(seen(*other, eyes));
                if distance < least.0 {
                    least = (
                        distance,
                        format!("{} and {} for {whose}", at + 1, other_at + 1),
                    );
                }
            }
        }
    }
    least
}

/// A difference of 2.3 is just noticed side by side; thin lines far from each other need several
/// times as much.
#[test]
fn series_are_told_apart_whatever_the_eyes() {
    for theme in grounded() {
        let colours =
            [0, 1, 2, 3].map(|at| rgb(theme.style(Role::series(at)).fg.unwrap()).unwrap());
        let (distance, which) = apart(colours);
        assert!(
            distance >= 15.0,
            "{}: {which} are only {distance:.1} apart",
            theme.name
        );
    }
    for (terminal, [.., yellow, magenta, cyan, text]) in TERMINALS {
        let (distance, which) = apart([cyan, yellow, magenta, text].map(hex));
        // Terminals choose these colours, not we; that of the Linux console is the least.
        assert!(
            distance >= 5.0,
            "default on {terminal}: {which} are only {distance:.1} apart"
        );
    }
}

#[test]
fn series_are_told_apart_without_any_colour() {
    let signs: std::collections::BTreeSet<_> = (0..4).map(crate::tui::signs::of_series).collect();
    assert_eq!(signs.len(), 4);
    let pair = |at| (crate::tui::signs::of_series(at), Role::series(at));
    let pairs: std::collections::BTreeSet<_> = (0..12).map(pair).collect();
    assert_eq!(pairs.len(), 12);
}

#[test]
fn every_theme_with_a_ground_says_every_role_and_whose_palette_it_is() {
    for theme in grounded() {
        for (role, name, _) in ROLES {
            assert!(theme.styles.contains_key(role), "{}: {name}", theme.name);
        }
        let (_, file) = BUILT_IN
            .iter()
            .find(|(name, _)| *name == theme.name)
            .unwrap();
        let is_ours = theme.name == "high-contrast";
        assert!(is_ours || file.contains("MIT licence"), "{}", theme.name);
    }
}
