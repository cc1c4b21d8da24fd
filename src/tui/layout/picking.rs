//! Where the panes of the picking screen stand.

use ratatui::layout::{Constraint, Layout, Rect};

use super::super::method_rows::MethodRows;
use super::super::model::{self, Model, PickPane};
use super::super::offer::MethodOffer;
use super::{VERY_WIDE, WIDE, frame};

/// The picking screen. What has no place is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Picking {
    /// Hosts.
    pub hosts: Rect,
    /// What is protected.
    pub subject: Rect,
    /// Methods.
    pub methods: Rect,
    /// Repetitions, order, what it comes to.
    pub how: Rect,
    /// What would run.
    pub preview: Rect,
}

/// Narrower than this, the lists of the picking screen do not stand side by side.
const LISTS: u16 = 60;

/// Where the panes of the picking screen stand.
#[must_use]
pub fn picking(model: &Model) -> Picking {
    let [_, body, _] = frame(model);
    let (hosts, subject, column) = match body.width {
        ..LISTS => (0, 0, 0),
        LISTS..WIDE => (18, 27, 0),
        WIDE..VERY_WIDE => (32, 36, 0),
        // What these do not need, methods have: their titles, and why one cannot run.
        _ => (36, 42, 44),
    };
    let methods = body.width.saturating_sub(hosts + subject + column);
    // Two thirds of the screen stay to what would run.
    let most = usize::from(body.height / 3).saturating_sub(2);
    let need = longest_list(&model.picking, methods, most);
    let need = u16::try_from(need + 2).unwrap_or(u16::MAX);
    let how = match body.height {
        0..12 => 1,
        12..18 => 2,
        _ => 3,
    };
    let is_wide = body.width >= VERY_WIDE;
    let lists = need
        .max(if is_wide { 8 } else { 4 })
        .min((body.height / 2).max(4))
        .min(body.height.saturating_sub(4));
    let [top, band, preview] = Layout::vertical([
        Constraint::Length(lists),
        Constraint::Length(if is_wide { 0 } else { how }),
        Constraint::Fill(1),
    ])
    .areas(body);
    let none = Rect::ZERO;
    let pane = model.picking.pane;
    // Where there is little room, what has the keys gets it.
    if pane == PickPane::Preview && (body.width < LISTS || body.height < 12) {
        let [how, preview] =
            Layout::vertical([Constraint::Length(band.height), Constraint::Fill(1)]).areas(body);
        return Picking {
            hosts: none,
            subject: none,
            methods: none,
            how,
            preview,
        };
    }
    if body.width < LISTS {
        let only = |own: PickPane| if pane == own { top } else { none };
        return Picking {
            hosts: only(PickPane::Hosts),
            subject: only(PickPane::Subject),
            methods: only(PickPane::Methods),
            how: band,
            preview,
        };
    }
    let [hosts, subject, methods, column] = Layout::horizontal([
        Constraint::Length(hosts),
        Constraint::Length(subject),
        Constraint::Fill(1),
        Constraint::Length(column),
    ])
    .areas(top);
    Picking {
        hosts,
        subject,
        methods,
        how: if is_wide { column } else { band },
        preview,
    }
}

/// Whether what is picked has a pane of its own.
#[must_use]
pub fn has_how_pane(model: &Model) -> bool {
    model.size.0 >= VERY_WIDE
}

/// As many rows as the longest list of any host needs, so that nothing moves with the cursor; what
/// is said of methods in full where that is not too many.
fn longest_list(picking: &model::Picking, methods: u16, most: usize) -> usize {
    let Some(offer) = &picking.offer else {
        return 0;
    };
    let inner = usize::from(methods.saturating_sub(2));
    let of = |host: &str| {
        let here = offer.methods.iter().filter(|method| method.host == host);
        let here: Vec<&MethodOffer> = here.collect();
        let whole = MethodRows::whole(&here, inner).need(&here);
        if whole <= most { whole } else { here.len() }
    };
    let lists = offer
        .hosts
        .iter()
        .flat_map(|host| [of(&host.name), host.subjects.len() + 1]);
    lists.max().unwrap_or_default().max(offer.hosts.len())
}
