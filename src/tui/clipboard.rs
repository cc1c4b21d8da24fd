//! The terminal's clipboard, by OSC 52: it works through SSH, since the terminal itself takes the
//! text out of what is written to it. What is copied is base64 there, and never acts on anything.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Most bytes that are copied: as base64 they are 100,000 characters, which most terminals take.
pub(super) const MOST: usize = 74_994;

/// The sequence that gives a text to the clipboard.
pub(super) fn sequence(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(text))
}

/// Gives a text to the multiplexer around this program. tmux does not listen to OSC 52 from inside
/// unless it is told to, but passes on what its own command gives it. Nobody waits for it.
pub(super) fn tell_tmux(text: String) {
    if std::env::var_os("TMUX").is_none() {
        return;
    }
    // Whether it is there or not, the sequence has been written, too.
    let _ = std::thread::Builder::new()
        .name("clipboard".to_owned())
        .spawn(move || load_buffer(&text));
}

fn load_buffer(text: &str) -> io::Result<()> {
    let mut tmux = Command::new("tmux")
        .args(["load-buffer", "-w", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    if let Some(mut stdin) = tmux.stdin.take() {
        stdin.write_all(text.as_bytes())?;
    }
    tmux.wait().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_text_can_end_the_sequence() {
        let sequence = sequence("a\u{7}\u{1b}\\\u{9c}b");
        let inside = sequence.strip_prefix("\u{1b}]52;c;").unwrap();
        let inside = inside.strip_suffix('\u{7}').unwrap();
        assert!(
            inside
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
        );
        assert_eq!(
            STANDARD.decode(inside).unwrap(),
            "a\u{7}\u{1b}\\\u{9c}b".as_bytes()
        );
        assert!(STANDARD.encode("x".repeat(MOST)).len() <= 100_000);
    }
}
