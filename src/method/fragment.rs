//! Fragments: steps that methods share.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::MethodError;
use super::model::StepDef;

/// A step of a method or fragment, and where it stands.
pub(super) struct Placed {
    pub def: StepDef,
    pub file: String,
    pub line: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FragmentDef {
    params: Vec<String>,
    step: Vec<Spanned<StepDef>>,
}

/// Fragments by name, as text.
pub(super) type Fragments = BTreeMap<String, (String, String)>;

/// Line of a byte offset, from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text.bytes()
        .take(offset)
        .filter(|byte| *byte == b'\n')
        .count()
        + 1
}

/// Puts the steps of fragments in the place of `use`.
pub(super) fn expand(
    file: &str,
    text: &str,
    steps: Vec<Spanned<StepDef>>,
    fragments: &Fragments,
) -> Result<Vec<Placed>, MethodError> {
    let mut all = Vec::new();
    for step in steps {
        let line = line_of(text, step.span().start);
        let def = step.into_inner();
        match &def.fragment {
            None => all.push(Placed {
                def,
                file: file.to_owned(),
                line,
            }),
            Some(name) => {
                let wrong = |why| MethodError::Wrong {
                    file: file.to_owned(),
                    line,
                    why,
                };
                let Some((path, source)) = fragments.get(name) else {
                    let known: Vec<_> = fragments.keys().map(String::as_str).collect();
                    return Err(wrong(format!(
                        "no fragment is called {name:?}; there are: {}",
                        known.join(", ")
                    )));
                };
                all.extend(fill(&def, path, source, &wrong)?);
            }
        }
    }
    Ok(all)
}

/// Puts params into the names of a fragment's step, so that it can be used more than once.
fn names(def: &mut StepDef, with: &BTreeMap<String, String>) {
    let put = |name: &mut String| {
        for (param, value) in with {
            *name = name.replace(&format!("{{{{ {param} }}}}"), value);
        }
    };
    def.name.iter_mut().for_each(put);
    def.undoes.iter_mut().for_each(put);
    def.proves.iter_mut().for_each(put);
    def.join.iter_mut().for_each(put);
    if let Some(relies_on) = def.destroys.as_mut().and_then(|def| def.relies_on.as_mut()) {
        put(relies_on);
    }
    for leaves in def.leaves.iter_mut().flat_map(|leaves| &mut leaves.0) {
        put(&mut leaves.id);
    }
}

fn fill(
    using: &StepDef,
    path: &str,
    source: &str,
    wrong: &dyn Fn(String) -> MethodError,
) -> Result<Vec<Placed>, MethodError> {
    let fragment: FragmentDef =
        toml::from_str(source).map_err(|why| super::check::toml_error(path, source, &why))?;
    for param in &fragment.params {
        if !using.with.contains_key(param) {
            return Err(wrong(format!("the fragment needs with.{param}")));
        }
    }
    if let Some(extra) = using
        .with
        .keys()
        .find(|name| !fragment.params.contains(name))
    {
        return Err(wrong(format!(
            "the fragment takes no {extra:?}; it takes {}",
            fragment.params.join(", ")
        )));
    }
    let mut placed = Vec::new();
    for step in fragment.step {
        let line = line_of(source, step.span().start);
        let mut def = step.into_inner();
        if def.fragment.is_some() {
            return Err(wrong("a fragment uses no fragments".to_owned()));
        }
        names(&mut def, &using.with);
        def.with.clone_from(&using.with);
        def.phase = def.phase.or(using.phase);
        def.on = def.on.or_else(|| using.on.clone());
        def.series = def.series.or_else(|| using.series.clone());
        def.when = match (&using.when, def.when) {
            (Some(outer), Some(inner)) => Some(format!("({outer}) and ({inner})")),
            (outer, inner) => inner.or_else(|| outer.clone()),
        };
        placed.push(Placed {
            def,
            file: path.to_owned(),
            line,
        });
    }
    Ok(placed)
}
