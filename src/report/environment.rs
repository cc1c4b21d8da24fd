//! What the figures were measured on.

use std::collections::BTreeSet;

use crate::event::{Facts, count};
use crate::session::Session;

use super::figures::trim;
use super::sheet::cleaned;

/// A host with its facts.
pub(super) struct Host {
    /// Its name; with the session where two recordings differ about it.
    pub name: String,
    pub facts: Facts,
}

/// The hosts of all sessions, each once.
pub(super) fn hosts(sessions: &[&Session]) -> Vec<Host> {
    let mut all: Vec<Host> = Vec::new();
    for session in sessions {
        let used = words(session);
        for (name, host) in &session.hosts {
            let Some(facts) = host.facts.as_ref().map(|facts| harmless(facts, &used)) else {
                continue;
            };
            let mut name = cleaned(name);
            match all.iter().find(|known| known.name == name) {
                Some(known) if known.facts == facts => continue,
                Some(_) => {
                    let header = session.header.as_ref();
                    let session = header.map_or("?", |header| header.session.as_str());
                    name = format!("{name} ({})", cleaned(session));
                }
                None => {}
            }
            all.push(Host { name, facts });
        }
    }
    all
}

/// Every word of every command: a version says something about the figures only where its program
/// took part.
fn words(session: &Session) -> BTreeSet<String> {
    let steps = session.runs.iter().flat_map(|run| &run.steps);
    let commands = steps.map(|step| step.planned.command.as_str());
    let apart = |c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c));
    commands
        .flat_map(|command| command.split(apart))
        .filter(|word| !word.is_empty())
        .map(ToOwned::to_owned)
        .collect()
}

// What a report shows of a host's facts, cleaned; what changes by the minute is left out.
fn harmless(facts: &Facts, used: &BTreeSet<String>) -> Facts {
    Facts {
        system: cleaned(&facts.system),
        kernel: cleaned(&facts.kernel),
        cpu: cleaned(&facts.cpu),
        cpus: facts.cpus,
        memory: facts.memory,
        clock_resolution: facts.clock_resolution,
        clock_source: cleaned(&facts.clock_source),
        overhead: facts.overhead,
        tools: facts
            .tools
            .iter()
            .filter(|(name, _)| used.contains(*name))
            .map(|(name, version)| (cleaned(name), cleaned(version)))
            .collect(),
        disks: facts
            .disks
            .iter()
            .map(|disk| crate::event::DiskFact {
                name: cleaned(&disk.name),
                model: cleaned(&disk.model),
                size: disk.size,
            })
            .collect(),
        ..Facts::default()
    }
}

/// One line about a host: system, kernel, processor, memory, disks, clock, versions.
pub(super) fn line(host: &Host) -> String {
    let facts = &host.facts;
    let mut parts: Vec<String> = [&facts.system, &facts.kernel, &facts.cpu]
        .into_iter()
        .filter(|text| !text.is_empty())
        .cloned()
        .collect();
    if facts.cpus > 0 {
        parts.push(count(facts.cpus, "CPU"));
    }
    if facts.memory.0 > 0 {
        parts.push(format!("{} memory", facts.memory));
    }
    for disk in &facts.disks {
        let model = if disk.model.is_empty() {
            String::new()
        } else {
            format!(" {}", disk.model)
        };
        parts.push(format!("{}{model} {}", disk.name, disk.size));
    }
    if !facts.clock_source.is_empty() {
        parts.push(format!(
            "clock {} to {}",
            facts.clock_source,
            short_time(facts.clock_resolution)
        ));
    }
    if let Some(overhead) = facts.overhead {
        parts.push(format!("an empty step takes {}", short_time(overhead)));
    }
    for (tool, version) in &facts.tools {
        // Many tools begin their version line with their name.
        if version.to_lowercase().starts_with(&tool.to_lowercase()) {
            parts.push(version.clone());
        } else if !version.is_empty() {
            parts.push(format!("{tool} {version}"));
        } else {
            // Without a version it tells nothing.
        }
    }
    parts.join(", ")
}

fn short_time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{} s", trim(s, 3)),
        s if s >= 1e-3 => format!("{} ms", trim(s * 1e3, 3)),
        s if s >= 1e-6 => format!("{} µs", trim(s * 1e6, 3)),
        s => format!("{} ns", trim(s * 1e9, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_times_have_a_unit_of_their_size() {
        assert_eq!(short_time(1.0), "1 s");
        assert_eq!(short_time(0.01), "10 ms");
        assert_eq!(short_time(1e-6), "1 µs");
        assert_eq!(short_time(1e-9), "1 ns");
        assert_eq!(short_time(0.0), "0 ns");
    }
}
