//! A pipe on one host whose members each tell their own status.

use std::fmt::Write;

/// Shell text that runs `members` as one pipe, to be run as a step: the outcome then has a
/// status for each, and no `pipefail` is needed. A member is any shell text; one that holds a
/// NUL byte (no shell takes it) fails with status 2.
///
/// The text ends as `pipefail` would have it: with the last status that is not 0.
#[must_use]
pub fn pipe_script(members: &[String]) -> String {
    // The supervisor runs a step's text as a file, and looks for the statuses beside it.
    let mut script = format!("printf '%s\\n' {} >\"$0.n\"\n", members.len());
    for (at, member) in members.iter().enumerate() {
        let quoted = shlex::try_quote(member).unwrap_or("exit 2".into());
        let link = if at + 1 < members.len() { " |\n" } else { "\n" };
        let number = at + 1;
        let _ = write!(
            script,
            "{{ sh -c {quoted}; echo \"$?\" >\"$0.{number}\"; }}{link}"
        );
    }
    script.push_str(concat!(
        "worst=0 at=0\n",
        "read -r all <\"$0.n\" || exit 1\n",
        "while [ \"$at\" -lt \"$all\" ]; do\n",
        "  at=$((at + 1)) status=1\n",
        "  read -r status 2>/dev/null <\"$0.$at\"\n",
        "  [ \"$status\" -eq 0 ] || worst=$status\n",
        "done\n",
        "exit \"$worst\"\n",
    ));
    script
}
