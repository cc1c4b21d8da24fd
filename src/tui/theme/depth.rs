//! How many colours the terminal shows, and the nearest ones where it shows few.

use std::ffi::{OsStr, OsString};

use palette::color_difference::EuclideanDistance;
use palette::color_difference::Wcag21RelativeContrast;
use palette::{IntoColor, Oklab, Srgb};
use ratatui::style::Color;

/// How many colours the terminal shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Depth {
    /// The 16 that have names.
    Sixteen,
    /// 256 by number.
    Indexed,
    /// All.
    #[default]
    True,
}

/// Terminals that show all colours, and do not always say so in `COLORTERM` (SSH drops it).
const TRUE: [&str; 6] = [
    "alacritty",
    "contour",
    "foot",
    "ghostty",
    "kitty",
    "wezterm",
];
/// Words on a ground have at least this contrast where 16 colours have to do.
const READABLE: f32 = 3.0;

impl Depth {
    /// What these variables of the environment say of the terminal.
    #[must_use]
    pub fn of(env: impl Fn(&str) -> Option<OsString>) -> Self {
        let is_set = |name| env(name).is_some_and(|value| !value.is_empty());
        let term = env("TERM").unwrap_or_default();
        let term = term.to_string_lossy();
        // GNU screen hands COLORTERM on from the terminal around it, and shows 256 colours itself.
        let is_screen = is_set("STY") && !is_set("TMUX");
        let says_true = env("COLORTERM").is_some_and(|value| {
            let all = [OsStr::new("truecolor"), OsStr::new("24bit")];
            all.contains(&value.as_os_str())
        });
        let is_true = says_true
            || term.ends_with("-direct")
            || TRUE
                .iter()
                .any(|name| term.trim_start_matches("xterm-").starts_with(name));
        if is_true && !is_screen {
            Self::True
        } else if is_true || term.contains("256color") {
            Self::Indexed
        } else {
            Self::Sixteen
        }
    }

    /// The nearest colour that the terminal shows.
    pub(super) fn nearest(self, colour: Color, ground: Option<Color>) -> Color {
        let is_named = !matches!(colour, Color::Rgb(..) | Color::Indexed(16..));
        let is_shown = match self {
            Self::True => true,
            Self::Indexed => !matches!(colour, Color::Rgb(..)),
            Self::Sixteen => is_named,
        };
        let Some(wanted) = rgb(colour).filter(|_| !is_shown) else {
            return colour;
        };
        if self == Self::Indexed {
            // Not the first 16: the user may have given them any colour.
            return closest(wanted, (16..=255).map(Color::Indexed)).unwrap_or(colour);
        }
        let ground = ground.and_then(rgb);
        let is_readable = |candidate: &Color| {
            ground.is_none_or(|ground| {
                rgb(*candidate).is_some_and(|own| contrast(own, ground) >= READABLE)
            })
        };
        let readable = SIXTEEN
            .iter()
            .map(|(colour, _)| *colour)
            .filter(is_readable);
        closest(wanted, readable).unwrap_or(colour)
    }
}

fn closest(wanted: Srgb<u8>, among: impl Iterator<Item = Color>) -> Option<Color> {
    let wanted = perceived(wanted);
    let far = |colour: &Color| {
        rgb(*colour).map_or(f32::MAX, |own| perceived(own).distance_squared(wanted))
    };
    among.min_by(|one, other| far(one).total_cmp(&far(other)))
}

fn perceived(colour: Srgb<u8>) -> Oklab {
    colour.into_linear::<f32>().into_color()
}

/// The contrast of two colours as WCAG 2.1 has it: from 1 to 21.
pub(super) fn contrast(one: Srgb<u8>, other: Srgb<u8>) -> f32 {
    one.into_format::<f32>()
        .relative_contrast(other.into_format::<f32>())
}

/// The 16 colours as xterm has them; a user may have others.
const SIXTEEN: [(Color, [u8; 3]); 16] = [
    (Color::Black, [0, 0, 0]),
    (Color::Red, [205, 0, 0]),
    (Color::Green, [0, 205, 0]),
    (Color::Yellow, [205, 205, 0]),
    (Color::Blue, [0, 0, 238]),
    (Color::Magenta, [205, 0, 205]),
    (Color::Cyan, [0, 205, 205]),
    (Color::Gray, [229, 229, 229]),
    (Color::DarkGray, [127, 127, 127]),
    (Color::LightRed, [255, 0, 0]),
    (Color::LightGreen, [0, 255, 0]),
    (Color::LightYellow, [255, 255, 0]),
    (Color::LightBlue, [92, 92, 255]),
    (Color::LightMagenta, [255, 0, 255]),
    (Color::LightCyan, [0, 255, 255]),
    (Color::White, [255, 255, 255]),
];

/// What a colour looks like; none where only the terminal knows.
pub(super) fn rgb(colour: Color) -> Option<Srgb<u8>> {
    let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
    let [red, green, blue] = match colour {
        Color::Rgb(red, green, blue) => [red, green, blue],
        Color::Indexed(n @ 0..16) => SIXTEEN.get(usize::from(n))?.1,
        Color::Indexed(n @ 16..232) => {
            let n = n - 16;
            [level(n / 36), level(n / 6 % 6), level(n % 6)]
        }
        Color::Indexed(n) => [8 + 10 * (n - 232); 3],
        _ => SIXTEEN.iter().find(|(known, _)| *known == colour)?.1,
    };
    Some(Srgb::new(red, green, blue))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(env: &[(&str, &str)]) -> Depth {
        Depth::of(|name| {
            let found = env.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_environment_says_what_the_terminal_shows() {
        assert_eq!(of(&[]), Depth::Sixteen);
        assert_eq!(of(&[("TERM", "linux")]), Depth::Sixteen);
        assert_eq!(of(&[("TERM", "xterm")]), Depth::Sixteen);
        assert_eq!(of(&[("TERM", "xterm-256color")]), Depth::Indexed);
        let gnome = [("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];
        assert_eq!(of(&gnome), Depth::True);
        assert_eq!(
            of(&[("TERM", "xterm"), ("COLORTERM", "yes")]),
            Depth::Sixteen
        );
        for term in [
            "xterm-kitty",
            "foot-extra",
            "xterm-ghostty",
            "xterm-direct",
            "alacritty",
        ] {
            assert_eq!(of(&[("TERM", term)]), Depth::True, "{term}");
        }
        let screen = [("TERM", "screen"), ("COLORTERM", "24bit"), ("STY", "1.pts")];
        assert_eq!(of(&screen), Depth::Indexed);
        let tmux = [
            ("TERM", "screen"),
            ("COLORTERM", "24bit"),
            ("STY", "1.pts"),
            ("TMUX", "/tmp/1"),
        ];
        assert_eq!(of(&tmux), Depth::True);
    }

    #[test]
    fn the_nearest_colour_is_taken() {
        let orange = Color::Rgb(255, 136, 0);
        assert_eq!(Depth::True.nearest(orange, None), orange);
        assert_eq!(Depth::Indexed.nearest(orange, None), Color::Indexed(208));
        assert_eq!(
            Depth::Indexed.nearest(Color::Rgb(48, 48, 48), None),
            Color::Indexed(236)
        );
        assert_eq!(Depth::Indexed.nearest(Color::Red, None), Color::Red);
        assert_eq!(
            Depth::Sixteen.nearest(Color::Rgb(200, 10, 10), None),
            Color::Red
        );
        assert_eq!(
            Depth::Sixteen.nearest(Color::Indexed(51), None),
            Color::LightCyan
        );
        assert_eq!(
            Depth::Sixteen.nearest(Color::Indexed(3), None),
            Color::Indexed(3)
        );
        assert_eq!(Depth::Sixteen.nearest(Color::Reset, None), Color::Reset);
    }

    #[test]
    fn of_16_colours_one_that_can_be_read_is_taken() {
        let yellow = Color::Rgb(223, 200, 20);
        assert_eq!(
            Depth::Sixteen.nearest(yellow, Some(Color::Black)),
            Color::Yellow
        );
        let on_white = Depth::Sixteen.nearest(yellow, Some(Color::White));
        assert!(contrast(rgb(on_white).unwrap(), rgb(Color::White).unwrap()) >= READABLE);
    }
}
