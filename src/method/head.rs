//! What stands above the steps of a method, checked: roles, rooms, labels, needs, settings, clocks.

use super::check::GIVEN;
use super::model::{Method, Need};
use super::template::{AGREED, FOUND, Templates};

pub(super) fn check_head(method: &Method) -> Result<(), String> {
    const ROLES: [&str; 6] = ["source", "target", "server", "client", "guest", "here"];
    if method.roles.is_empty() {
        return Err("roles: at least one is needed".to_owned());
    }
    if let Some(role) = method
        .roles
        .iter()
        .find(|role| !ROLES.contains(&role.as_str()))
    {
        return Err(format!(
            "roles: unknown role {role:?}; expected one of {}",
            ROLES.join(", ")
        ));
    }
    let others = method.roles.get(1..).unwrap_or_default();
    let told = method.optional.iter().map(|role| ("optional", role));
    let mut told = told.chain(method.room_on.keys().map(|role| ("room-on", role)));
    if let Some((key, role)) = told.find(|(_, role)| !others.contains(role)) {
        return Err(format!("{key}: {role:?} is no other role of this method"));
    }
    if method.steps.is_empty() {
        return Err("a method needs at least one [[step]]".to_owned());
    }
    let templates = Templates::default();
    for room in method.room.iter().chain(method.room_on.values()) {
        let names = templates
            .expression_names(room)
            .map_err(|why| format!("room: {why}"))?;
        let known = |name: &String| {
            ["bytes", "own"].contains(&name.as_str()) || method.settings.contains_key(name)
        };
        if let Some(name) = names.iter().find(|name| !known(name)) {
            return Err(format!(
                "room: {name:?} is neither a setting nor bytes nor own"
            ));
        }
    }
    for (label, text) in &method.labels {
        let names = templates
            .names(text)
            .map_err(|why| format!("labels.{label}: {why}"))?;
        let known = |name: &String| {
            ["facts", "own"].contains(&name.as_str()) || method.settings.contains_key(name)
        };
        if let Some(name) = names.iter().find(|name| !known(name)) {
            return Err(format!(
                "labels.{label}: {name:?} is neither a setting nor a fact nor own"
            ));
        }
    }
    if let Some(need) = method.needs.iter().find(|need| !role_known(method, need)) {
        return Err(format!("needs: {} is on no role of this method", need.tool));
    }
    Ok(())
}

fn role_known(method: &Method, need: &Need) -> bool {
    need.on
        .as_ref()
        .is_none_or(|role| method.roles.contains(role))
}

pub(super) fn check_setting_name(name: &str) -> Result<(), String> {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !plain {
        return Err(format!("{name:?}: expected small letters, digits and _"));
    }
    if GIVEN.contains(&name) || [AGREED, FOUND, "vmid"].contains(&name) {
        return Err(format!("{name:?}: this name has a meaning of its own"));
    }
    Ok(())
}

pub(super) fn check_clock(method: &Method, clock: &super::ClockDef) -> Result<(), String> {
    for end in [&clock.from, &clock.to] {
        let fits = method.steps.iter().any(|step| {
            end.strip_prefix(step.name.as_str())
                .is_some_and(|rest| rest.starts_with(' '))
        });
        if !fits {
            return Err(format!(
                "clock {:?}: {end:?} names no step; expected \"STEP start\", \"STEP end\" or \"STEP MARK\"",
                clock.name
            ));
        }
    }
    Ok(())
}
