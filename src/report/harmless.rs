//! Rows with nothing in them that could act on a terminal.

use crate::event::{Place, Placement};
use crate::session::{Row, Series, TimeColumn, clean};

use super::sheet::cleaned;

fn clean_all<'a>(texts: impl IntoIterator<Item = &'a mut String>) {
    for text in texts {
        if let std::borrow::Cow::Owned(harmless) = clean(text) {
            *text = harmless;
        }
    }
}

pub(super) fn clean_row(row: &mut Row) {
    clean_all([
        &mut row.session,
        &mut row.host,
        &mut row.machine,
        &mut row.method,
        &mut row.series,
        &mut row.binding,
        &mut row.subject.kind,
        &mut row.subject.id,
        &mut row.by,
        &mut row.share,
    ]);
    clean_all(&mut row.remarks);
    row.settings = clean_map(&row.settings);
    row.labels = clean_map(&row.labels);
    row.mixed = row
        .mixed
        .iter()
        .map(|(key, values)| {
            (
                cleaned(key),
                values.iter().map(|text| cleaned(text)).collect(),
            )
        })
        .collect();
    for TimeColumn { series, .. } in &mut row.times {
        clean_series(series);
    }
    row.space.iter_mut().for_each(clean_series);
    if let Some(Placement { original, copy }) = &mut row.placement {
        clean_place(original);
        clean_place(copy);
    }
}

fn clean_map(map: &std::collections::BTreeMap<String, String>) -> crate::event::Labels {
    map.iter()
        .map(|(key, value)| (cleaned(key), cleaned(value)))
        .collect()
}

fn clean_series(series: &mut Series) {
    clean_all([&mut series.name, &mut series.unit]);
    series.labels = clean_map(&series.labels);
}

fn clean_place(place: &mut Place) {
    clean_all([
        &mut place.host,
        &mut place.filesystem,
        &mut place.source,
        &mut place.at,
    ]);
    clean_all(&mut place.disks);
}
