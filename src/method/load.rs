//! A method file, read and checked: what is wrong is said before anything runs.

use std::collections::BTreeMap;

use toml::Spanned;

use super::MethodError;
use super::check::Known;
use super::fragment::{self, Fragments, line_of};
use super::head::{check_clock, check_head, check_setting_name};
use super::model::Method;
use super::typed::typed;
use super::written::MethodDef;

/// A TOML error with its line.
pub(super) fn toml_error(file: &str, text: &str, why: &toml::de::Error) -> MethodError {
    let line = why.span().map_or(1, |span| line_of(text, span.start));
    MethodError::Wrong {
        file: file.to_owned(),
        line,
        why: why.message().replace('\n', "; "),
    }
}

/// Reads and checks one file.
pub(super) fn load(
    name: &str,
    file: &str,
    text: &str,
    fragments: &Fragments,
) -> Result<Method, MethodError> {
    let def: MethodDef = toml::from_str(text).map_err(|why| toml_error(file, text, &why))?;
    let placed = fragment::steps(file, text, def.step, fragments)?;
    let pools = fragment::pools(file, text, def.pool, fragments)?;
    let checks = fragment::checks(file, text, def.check, fragments)?;
    let placement = fragment::placement(file, text, def.placement, fragments)?;
    let roles = def.roles;
    let first_role = roles.first().cloned().unwrap_or_default();
    let mut steps = Vec::new();
    for step in placed {
        let def = typed(&step, &first_role).map_err(|why| step.wrong(why))?;
        steps.push((def, step.file));
    }
    let lines = Lines { text, file };
    let method = Method {
        name: name.to_owned(),
        title: def.title,
        family: def.family,
        help: def.help,
        subject: def.subject,
        own: def.own,
        roles,
        optional: def.optional,
        needs: def.needs.into_iter().map(|need| need.0).collect(),
        series: def.series,
        settings: def
            .settings
            .iter()
            .map(|(k, v)| (k.clone(), v.get_ref().clone()))
            .collect(),
        names: def.names,
        steps: steps.iter().map(|(step, _)| step.clone()).collect(),
        clocks: def
            .clock
            .iter()
            .map(|clock| clock.get_ref().clone())
            .collect(),
        figures: def
            .figure
            .iter()
            .map(|figure| figure.get_ref().clone())
            .collect(),
        checks: checks.iter().map(|check| check.def.clone()).collect(),
        pools: pools.iter().map(|pool| pool.def.clone()).collect(),
        labels: def.labels,
        room: def.room,
        room_on: def.room_on,
        thick: def.thick,
        placement: placement.as_ref().map(|placement| placement.def.clone()),
    };
    check_head(&method).map_err(|why| lines.top(why))?;
    for (name, setting) in &def.settings {
        check_setting_name(name).map_err(|why| lines.at(setting, format!("setting {why}")))?;
    }
    let mut known = Known::new(&method).map_err(|why| lines.top(why))?;
    for (step, at_file) in &steps {
        known.step(step).map_err(|why| MethodError::Wrong {
            file: at_file.clone(),
            line: step.line,
            why: format!("step {:?}: {why}", step.name),
        })?;
    }
    for clock in &def.clock {
        check_clock(&method, clock.get_ref()).map_err(|why| lines.at(clock, why))?;
        known
            .series(clock.get_ref().series.as_ref())
            .map_err(|why| lines.at(clock, why))?;
    }
    for check in &checks {
        let checked = check.def.check(&method, &known.templates);
        checked.map_err(|why| check.wrong(format!("check: {why}")))?;
    }
    if let Some(placement) = &placement {
        let checked = placement.def.check(&method, &known.templates);
        checked.map_err(|why| placement.wrong(format!("placement: {why}")))?;
    }
    for pool in &pools {
        let checked = pool.def.check(&method, &known.templates);
        checked.map_err(|why| pool.wrong(format!("pool {:?}: {why}", pool.def.name)))?;
    }
    for figure in &def.figure {
        let names = known.templates.expression_names(&figure.get_ref().value);
        names.map_err(|why| lines.at(figure, format!("value: {why}")))?;
        let when = figure.get_ref().when.as_deref();
        known
            .when(when, &BTreeMap::new())
            .map_err(|why| lines.at(figure, why))?;
        known
            .series(figure.get_ref().series.as_ref())
            .map_err(|why| lines.at(figure, why))?;
    }
    Ok(method)
}

struct Lines<'a> {
    text: &'a str,
    file: &'a str,
}

impl Lines<'_> {
    fn at<T>(&self, what: &Spanned<T>, why: String) -> MethodError {
        let line = line_of(self.text, what.span().start);
        MethodError::Wrong {
            file: self.file.to_owned(),
            line,
            why,
        }
    }

    fn top(&self, why: String) -> MethodError {
        MethodError::Wrong {
            file: self.file.to_owned(),
            line: 1,
            why,
        }
    }
}
