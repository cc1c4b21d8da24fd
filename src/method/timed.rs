//! What a step may be that is timed by the task that it becomes on a node of Proxmox VE.

use super::{Action, Step};
use crate::event::Clock;

/// It is one command: its process is the task's parent, which ends the task in order when it is
/// told to end. A shell between them would end first.
pub(super) fn check(step: &Step) -> Result<(), String> {
    if step.clock != Some(Clock::Task) {
        return Ok(());
    }
    let Action::Run(run) = &step.action else {
        return Err(format!(
            "clock: a task is what a run becomes, not a {}",
            step.action.name()
        ));
    };
    if step.background.is_some() {
        return Err("clock: a background step has no task of its own".to_owned());
    }
    if shell_in(run) {
        return Err(
            "run: what is timed by its task is one command, without ; & | < > or a second line"
                .to_owned(),
        );
    }
    Ok(())
}

/// Whether a command is more than one program and its words. What is filled in is quoted.
fn shell_in(run: &str) -> bool {
    let mut rest = run.trim();
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once('{') {
        plain.push_str(before);
        let end = match after.chars().next() {
            Some('{') => "}}",
            Some('%') => "%}",
            _ => "}",
        };
        rest = after.split_once(end).map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    plain.contains([';', '&', '|', '<', '>', '\n', '`', '('])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_is_one_program() {
        for one in [
            "vzdump {{ vmid }} --mode {{ mode }}{% if a > 1 %} --x{% endif %}",
            "qm set {{ a | b }}\n",
        ] {
            assert!(!shell_in(one), "{one}");
        }
        for more in ["a; b", "a && {{ b }}", "a | b", "a >b", "a\nb", "a $(b)"] {
            assert!(shell_in(more), "{more}");
        }
    }
}
