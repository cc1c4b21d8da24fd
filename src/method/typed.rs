//! A step as it stands in a file, as one that has a name, a phase and exactly one action.

use super::action::Action;
use super::fragment::Placed;
use super::model::Step;
use super::pipe::Pipe;
use super::written::StepDef;

/// The step that a file's step is.
pub(super) fn typed(placed: &Placed<StepDef>, first_role: &str) -> Result<Step, String> {
    let (def, line) = (placed.def.clone(), placed.line);
    let name = def.name.clone().ok_or("a step needs a name")?;
    let say = |why: String| format!("step {name:?}: {why}");
    let phase = def
        .phase
        .ok_or_else(|| say("it needs a phase".to_owned()))?;
    let on = def.on.clone().unwrap_or_else(|| first_role.to_owned());
    let action = action(&def).map_err(say)?;
    let leaves = def.leaves.map(|leaves| leaves.0).unwrap_or_default();
    let leaves = { leaves.into_iter() }
        .map(TryInto::try_into)
        .collect::<Result<_, _>>();
    let leaves = leaves.map_err(say)?;
    Ok(Step {
        phase,
        action,
        on,
        when: def.when,
        each: def.each.map(Box::new),
        clock: def.clock,
        reads: def.reads,
        figures: def.figures,
        gives: def.gives,
        ok: def.ok,
        leaves,
        undoes: def.undoes,
        proves: def.proves,
        destroys: def.destroys.map(Box::new),
        background: def.background,
        until: def.until.map(Box::new),
        expect: def.expect,
        moves: def.moves,
        watch: def.watch.map(Box::new),
        secret: def.secret.map(Box::new),
        stdin: def.stdin,
        series: def.series,
        with: def.with,
        line,
        name,
    })
}

fn action(def: &StepDef) -> Result<Action, String> {
    let mut actions = Vec::new();
    if let Some(run) = &def.run {
        actions.push(Action::Run(run.clone()));
    }
    if let Some(pipe) = &def.pipe {
        actions.push(Action::Pipe(Pipe {
            members: pipe.clone(),
            hashed: def.hashed.clone(),
            via: def.via.clone(),
        }));
    }
    if let Some(wait) = &def.wait {
        actions.push(Action::Wait(wait.clone().try_into()?));
    }
    if let Some(hash) = &def.hash {
        actions.push(Action::Hash(hash.clone().try_into()?));
    }
    if let Some(space) = &def.space {
        actions.push(Action::Space(space.clone().try_into()?));
    }
    if let Some(payload) = &def.payload {
        actions.push(Action::Payload(payload.clone().try_into()?));
    }
    if let Some(join) = &def.join {
        actions.push(Action::Join(join.clone()));
    }
    if def.pipe.is_none() && (def.hashed.is_some() || def.via.is_some()) {
        return Err("hashed and via are for pipe".to_owned());
    }
    let many = actions.len();
    match actions.pop() {
        Some(action) if many == 1 => Ok(action),
        _ => Err(format!(
            "it needs exactly one of run, pipe, wait, hash, space, payload, join, use; it has {many}"
        )),
    }
}
