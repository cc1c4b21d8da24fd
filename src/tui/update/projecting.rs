//! Keys of the screen that tells how long other disks take, and what is typed there.

use crate::method::{Kind, SettingValue};
use crate::session::Session;

use super::super::counted;
use super::super::keys::Action;
use super::super::layout;
use super::super::message::Effect;
use super::super::model::{Entry, Layer, Model, Purpose, Screen};
use super::super::screens::projecting;
use super::{picking, watching};

/// More disks than these are a typing error.
const MOST_DISKS: usize = 1_000;

/// Opens it.
pub(super) fn enter(model: &mut Model) {
    model.projecting.from = Some(model.screen);
    model.screen = Screen::Projecting;
}

pub(super) fn act(model: &mut Model, session: &Session, action: Action) -> Vec<Effect> {
    let [_, body, _] = layout::frame(model);
    let page = layout::inner_height(body).max(1);
    match action {
        Action::Project | Action::Back => {
            model.screen = model.projecting.from.take().unwrap_or(Screen::Watching);
        }
        Action::Disks => {
            let title = "Disks (50GB 400GiB, 4x50GB); empty: one as big as what was measured";
            let before = model.projecting.typed.clone();
            watching::entry(model, Purpose::Disks, title, before);
        }
        Action::Pipeline => {
            let title = "Two methods, one behind the other (A,B); empty: those measured together";
            let pair = &model.projecting.wanted.pipeline;
            let before = pair.as_ref().map_or(String::new(), |pair| pair.join(","));
            watching::entry(model, Purpose::Pipeline, title, before);
        }
        _ => {}
    }
    let most = projecting::rows(model, session).saturating_sub(page);
    let scroll = model.projecting.scroll.min(most);
    model.projecting.scroll = picking::moved(scroll, most + 1, page, action);
    Vec::new()
}

/// Takes the disks that were typed, or says what is wrong with them.
pub(super) fn disks(model: &mut Model, entry: Box<Entry>, text: &str) {
    match read(text) {
        Ok(disks) => {
            model.projecting.wanted.disks = disks;
            text.trim().clone_into(&mut model.projecting.typed);
            model.projecting.scroll = 0;
        }
        Err(why) => wrong(model, entry, why),
    }
}

/// Takes two methods that were typed, or says what is wrong with them.
pub(super) fn pipeline(model: &mut Model, session: &Session, entry: Box<Entry>, text: &str) {
    let mut wanted = model.projecting.wanted.clone();
    wanted.pipeline = match text.split(',').map(str::trim).collect::<Vec<_>>()[..] {
        [""] => None,
        [one, other] if !one.is_empty() && !other.is_empty() => {
            Some([one.to_owned(), other.to_owned()])
        }
        _ => {
            let why = format!("Expected two methods such as esxi-clone,copy-ftp, not {text:?}.");
            return wrong(model, entry, why);
        }
    };
    let figures = counted::seen(model, session);
    if let Err(why) = &*figures.projected(session, &wanted) {
        return wrong(model, entry, why.to_string());
    }
    model.projecting.wanted = wanted;
    model.projecting.scroll = 0;
}

fn wrong(model: &mut Model, mut entry: Box<Entry>, why: String) {
    entry.problem = Some(why);
    model.layers.push(Layer::Entry(entry));
}

/// Sizes, also several of one size: `4x50GB`.
fn read(text: &str) -> Result<Vec<u64>, String> {
    let mut all = Vec::new();
    let words = text.split([' ', ',']).filter(|word| !word.is_empty());
    for word in words {
        let expected = || {
            format!("Expected sizes such as 50GB, 400GiB or 4x50GB, below 16 EiB, not {word:?}.")
        };
        let (times, size) = match word.split_once(['x', '×']) {
            Some((times, size)) => (times.parse().map_err(|_why| expected())?, size),
            None => (1, word),
        };
        let bytes = match Kind::Bytes.parse(size) {
            Ok(SettingValue::Bytes(bytes)) if bytes > 0 && times > 0 => bytes,
            _ => return Err(expected()),
        };
        if times > MOST_DISKS - all.len() {
            return Err(format!("These are more than {MOST_DISKS} disks."));
        }
        all.extend(std::iter::repeat_n(bytes, times));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_are_read_one_by_one_and_by_number() {
        assert!(read("").unwrap().is_empty());
        assert_eq!(read(" 2x1KiB, 3KB ").unwrap(), [1024, 1024, 3000]);
        for wrong in [
            "much",
            "0x1KiB",
            "0",
            "-1GB",
            "x",
            "1x",
            "999x1B 2x1B",
            "99999999999999999999x1B",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
