//! Fragments: steps, pools, looks ahead, places and what is left, which methods share.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::MethodError;
use super::ahead::{CheckDef, CheckEntry};
use super::leaves::LeavesEntry;
use super::placement::{PlacementDef, PlacementEntry};
use super::pool::{PoolDef, PoolEntry};
use super::written::{OneOrMany, StepDef};

/// A part of a method or fragment, and where it stands.
#[derive(Clone)]
pub(super) struct Placed<T> {
    pub def: T,
    pub file: String,
    pub line: usize,
}

impl<T> Placed<T> {
    /// That it is wrong.
    pub(super) fn wrong(&self, why: String) -> MethodError {
        MethodError::Wrong {
            file: self.file.clone(),
            line: self.line,
            why,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FragmentDef {
    params: Vec<String>,
    /// Shell texts that several of its steps and looks hold.
    #[serde(default)]
    shared: BTreeMap<String, String>,
    #[serde(default)]
    step: Vec<Spanned<StepDef>>,
    #[serde(default)]
    pool: Vec<Spanned<PoolEntry>>,
    #[serde(default)]
    check: Vec<Spanned<CheckEntry>>,
    #[serde(default)]
    leaves: Vec<LeavesEntry>,
    placement: Option<PlacementEntry>,
}

/// Fragments by name, as text.
pub(super) type Fragments = BTreeMap<String, (String, String)>;

/// Line of a byte offset, from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    memchr::memchr_iter(b'\n', before).count() + 1
}

fn placed<T>(file: &str, text: &str, all: Vec<Spanned<T>>) -> impl Iterator<Item = Placed<T>> {
    all.into_iter().map(move |one| Placed {
        line: line_of(text, one.span().start),
        file: file.to_owned(),
        def: one.into_inner(),
    })
}

/// Puts the steps of fragments in the place of `use`.
pub(super) fn steps(
    file: &str,
    text: &str,
    steps: Vec<Spanned<StepDef>>,
    fragments: &Fragments,
) -> Result<Vec<Placed<StepDef>>, MethodError> {
    let mut all = Vec::new();
    for mut step in placed(file, text, steps) {
        let using = &step.def;
        let Some(name) = &using.fragment else {
            leaves(&mut step, fragments)?;
            all.push(step);
            continue;
        };
        let (path, source, fragment) = open(&step, name, &using.with, fragments)?;
        if fragment.step.is_empty() {
            return Err(step.wrong(format!("the fragment {name:?} holds no steps")));
        }
        for mut inner in placed(path, source, fragment.step) {
            if inner.def.fragment.is_some() {
                return Err(step.wrong(NO_USE.to_owned()));
            }
            let def = &mut inner.def;
            names(def, &using.with);
            def.with.clone_from(&using.with);
            def.phase = def.phase.or(using.phase);
            def.on = def.on.take().or_else(|| using.on.clone());
            def.series = def.series.take().or_else(|| using.series.clone());
            def.when = both(using.when.as_ref(), def.when.take());
            leaves(&mut inner, fragments)?;
            all.push(inner);
        }
    }
    Ok(all)
}

/// Puts what is left by fragments in the place of `use`: what they are given is known in all of
/// the step.
fn leaves(step: &mut Placed<StepDef>, fragments: &Fragments) -> Result<(), MethodError> {
    let Some(written) = step.def.leaves.take() else {
        return Ok(());
    };
    let mut all = Vec::new();
    for entry in written.0 {
        let Some(name) = &entry.fragment else {
            all.push(entry);
            continue;
        };
        let (_, _, fragment) = open(step, name, &entry.with, fragments)?;
        if fragment.leaves.is_empty() {
            return Err(step.wrong(format!("the fragment {name:?} leaves nothing")));
        }
        for mut one in fragment.leaves {
            if let Some(id) = &mut one.id {
                put(id, &entry.with);
            }
            one.when = both(entry.when.as_ref(), one.when.take());
            all.push(one);
        }
        for (param, value) in &entry.with {
            let other = step.def.with.insert(param.clone(), value.clone());
            if other.is_some_and(|other| other != *value) {
                return Err(step.wrong(format!("leaves: with.{param} is given twice")));
            }
        }
    }
    step.def.leaves = Some(OneOrMany(all));
    Ok(())
}

/// Puts the looks ahead of fragments in the place of `use`.
pub(super) fn checks(
    file: &str,
    text: &str,
    checks: Vec<Spanned<CheckEntry>>,
    fragments: &Fragments,
) -> Result<Vec<Placed<CheckDef>>, MethodError> {
    let mut all = Vec::new();
    for check in placed(file, text, checks) {
        let using = &check.def;
        let Some(name) = &using.fragment else {
            all.push(whole(check)?);
            continue;
        };
        if using.run.is_some() {
            return Err(check.wrong("run is that of the fragment".to_owned()));
        }
        let (path, source, fragment) = open(&check, name, &using.with, fragments)?;
        if fragment.check.is_empty() {
            return Err(check.wrong(format!("the fragment {name:?} holds no checks")));
        }
        for mut inner in placed(path, source, fragment.check) {
            if inner.def.fragment.is_some() {
                return Err(check.wrong(NO_USE.to_owned()));
            }
            let def = &mut inner.def;
            def.with.clone_from(&using.with);
            def.on = def.on.take().or_else(|| using.on.clone());
            def.when = both(using.when.as_ref(), def.when.take());
            // What it is given stands where it is used.
            all.push(Placed {
                def: whole(inner)?.def,
                file: check.file.clone(),
                line: check.line,
            });
        }
    }
    Ok(all)
}

/// The placement of a method, or that of a fragment in the place of `use`.
pub(super) fn placement(
    file: &str,
    text: &str,
    placement: Option<Spanned<PlacementEntry>>,
    fragments: &Fragments,
) -> Result<Option<Placed<PlacementDef>>, MethodError> {
    let Some(entry) = placed(file, text, placement.into_iter().collect()).next() else {
        return Ok(None);
    };
    let using = &entry.def;
    let Some(name) = &using.fragment else {
        return whole(entry).map(Some);
    };
    let (_, _, fragment) = open(&entry, name, &using.with, fragments)?;
    let Some(mut inner) = fragment.placement else {
        return Err(entry.wrong(format!("the fragment {name:?} holds no placement")));
    };
    inner.with.clone_from(&using.with);
    whole(Placed {
        def: inner,
        file: entry.file.clone(),
        line: entry.line,
    })
    .map(Some)
}

/// Puts the pools of fragments in the place of `use`.
pub(super) fn pools(
    file: &str,
    text: &str,
    pools: Vec<Spanned<PoolEntry>>,
    fragments: &Fragments,
) -> Result<Vec<Placed<PoolDef>>, MethodError> {
    let mut all = Vec::new();
    for pool in placed(file, text, pools) {
        let using = &pool.def;
        let Some(name) = &using.fragment else {
            all.push(whole(pool)?);
            continue;
        };
        if using.name.is_some() || using.read.is_some() {
            return Err(pool.wrong("name and read are those of the fragment".to_owned()));
        }
        let (path, source, fragment) = open(&pool, name, &using.with, fragments)?;
        if fragment.pool.is_empty() {
            return Err(pool.wrong(format!("the fragment {name:?} holds no pools")));
        }
        for mut inner in placed(path, source, fragment.pool) {
            if inner.def.fragment.is_some() {
                return Err(pool.wrong(NO_USE.to_owned()));
            }
            let def = &mut inner.def;
            def.with.clone_from(&using.with);
            def.on = def.on.take().or_else(|| using.on.clone());
            def.when = both(using.when.as_ref(), def.when.take());
            // Who uses it knows better how full it may be.
            def.limit = using.limit.or(def.limit);
            def.floor = using.floor.clone().or_else(|| def.floor.take());
            // What it is given, where it is and when stand where it is used.
            all.push(Placed {
                def: whole(inner)?.def,
                file: pool.file.clone(),
                line: pool.line,
            });
        }
    }
    Ok(all)
}

const NO_USE: &str = "a fragment uses no fragments";

fn whole<T, E: TryInto<T, Error = String>>(entry: Placed<E>) -> Result<Placed<T>, MethodError> {
    let Placed { def, file, line } = entry;
    match def.try_into() {
        Ok(def) => Ok(Placed { def, file, line }),
        Err(why) => Err(MethodError::Wrong { file, line, why }),
    }
}

/// The condition of who uses a fragment, and the one within it.
fn both(outer: Option<&String>, inner: Option<String>) -> Option<String> {
    match (outer, inner) {
        (Some(outer), Some(inner)) => Some(format!("({outer}) and ({inner})")),
        (outer, inner) => inner.or_else(|| outer.cloned()),
    }
}

/// Puts params into the names of a fragment's step, so that it can be used more than once.
fn names(def: &mut StepDef, with: &BTreeMap<String, String>) {
    let put = |name: &mut String| put(name, with);
    def.name.iter_mut().for_each(put);
    def.undoes.iter_mut().for_each(put);
    def.proves.iter_mut().for_each(put);
    def.join.iter_mut().for_each(put);
    let gives = std::mem::take(&mut def.gives).into_iter();
    def.gives = gives
        .map(|(mut name, from)| {
            put(&mut name);
            (name, from)
        })
        .collect();
    if let Some(relies_on) = def.destroys.as_mut().and_then(|def| def.relies_on.as_mut()) {
        put(relies_on);
    }
    for leaves in def.leaves.iter_mut().flat_map(|leaves| &mut leaves.0) {
        leaves.id.iter_mut().for_each(put);
        // What a fragment is given goes on to one that it uses for what it leaves.
        leaves.with.values_mut().for_each(put);
    }
}

fn put(name: &mut String, with: &BTreeMap<String, String>) {
    for (param, value) in with {
        *name = name.replace(&format!("{{{{ {param} }}}}"), value);
    }
}

/// Puts shared texts in the place of `{{ shared.NAME }}`, as they are: they are the method's own shell, and no value.
fn share(fragment: &mut FragmentDef) {
    let steps = fragment.step.iter_mut().map(|step| &mut step.as_mut().run);
    let checks = fragment.check.iter_mut();
    let runs = steps.chain(checks.map(|check| &mut check.as_mut().run));
    for run in runs.flatten() {
        for (name, text) in &fragment.shared {
            *run = run.replace(&format!("{{{{ shared.{name} }}}}"), text);
        }
    }
}

/// A fragment with its path and text, for who uses it with the values that it takes.
fn open<'a, T>(
    using: &Placed<T>,
    name: &str,
    with: &BTreeMap<String, String>,
    fragments: &'a Fragments,
) -> Result<(&'a str, &'a str, FragmentDef), MethodError> {
    let Some((path, source)) = fragments.get(name) else {
        let known: Vec<_> = fragments.keys().map(String::as_str).collect();
        return Err(using.wrong(format!(
            "no fragment is called {name:?}; there are: {}",
            known.join(", ")
        )));
    };
    let mut fragment: FragmentDef =
        toml::from_str(source).map_err(|why| super::load::toml_error(path, source, &why))?;
    share(&mut fragment);
    let params = &fragment.params;
    if let Some(param) = params.iter().find(|param| !with.contains_key(*param)) {
        return Err(using.wrong(format!("the fragment needs with.{param}")));
    }
    if let Some(extra) = with.keys().find(|name| !params.contains(name)) {
        let takes = match params.as_slice() {
            [] => "nothing".to_owned(),
            params => params.join(", "),
        };
        return Err(using.wrong(format!("the fragment takes no {extra:?}; it takes {takes}")));
    }
    Ok((path, source, fragment))
}
