//! A recording's lines, read as any script would read them.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::fs;
use std::path::Path;

use serde_json::Value;

/// A leftover: its name, its last state, what `find` printed.
pub type Leave = (String, String, Option<String>);

/// The events of a recording, as far as it was written.
#[derive(Debug, Default)]
pub struct Recording(pub Vec<Value>);

impl Recording {
    /// Reads a file; empty where there is none. A cut last line is left out.
    pub fn read(file: &Path) -> Self {
        let text = fs::read(file).unwrap_or_default();
        let text = String::from_utf8(text).unwrap();
        let lines = text.split_inclusive('\n');
        Self(
            lines
                .filter(|line| line.ends_with('\n'))
                .map(|line| serde_json::from_str(line).unwrap())
                .collect(),
        )
    }

    /// The session's id.
    pub fn session(&self) -> String {
        text(&self.0[0], "session").to_owned()
    }

    /// Events of one kind.
    pub fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.0.iter().filter(move |event| event["ev"] == kind)
    }

    /// All values of a figure, in the order of the runs.
    pub fn values(&self, name: &str) -> Vec<f64> {
        let samples = self.of("sample").filter(|sample| sample["name"] == name);
        samples
            .map(|sample| sample["value"].as_f64().unwrap())
            .collect()
    }

    /// Events of one kind and state.
    pub fn state<'a>(&'a self, kind: &'a str, state: &'a str) -> impl Iterator<Item = &'a Value> {
        self.of(kind).filter(move |event| event["state"] == state)
    }

    /// The exit code that it tells.
    pub fn exit(&self) -> Option<i64> {
        self.of("end").last()?["exit"].as_i64()
    }

    /// The id of the step of this name.
    pub fn step(&self, name: &str) -> String {
        let planned = self
            .state("step", "planned")
            .find(|event| event["name"] == name);
        let planned = planned.unwrap_or_else(|| panic!("no step {name:?} was planned"));
        text(planned, "step").to_owned()
    }

    /// How the step of this name ended.
    pub fn end_of(&self, name: &str) -> &Value {
        let id = self.step(name);
        self.state("step", "ended")
            .find(|event| event["step"] == id.as_str())
            .unwrap_or_else(|| panic!("the step {name:?} has no end"))
    }

    /// What a step of this name wrote to standard output, without gaps: each byte once.
    pub fn out_of(&self, name: &str) -> Vec<u8> {
        use base64::Engine as _;
        let id = self.step(name);
        let mut all = Vec::new();
        for chunk in self.of("log") {
            if chunk["step"] != id.as_str() || chunk["stream"] != "out" {
                continue;
            }
            assert_eq!(chunk["offset"], all.len(), "a byte is missing, or twice");
            match (chunk["text"].as_str(), chunk["base64"].as_str()) {
                (Some(text), _) => all.extend(text.as_bytes()),
                (None, coded) => all.extend(
                    base64::engine::general_purpose::STANDARD
                        .decode(coded.unwrap())
                        .unwrap(),
                ),
            }
        }
        all
    }

    /// Every leftover with its last state, in the order in which they were intended.
    pub fn leaves(&self) -> Vec<Leave> {
        let mut all: Vec<(String, Leave)> = Vec::new();
        for event in self.of("leave") {
            let (id, state) = (text(event, "leave"), text(event, "state"));
            if state == "intended" {
                let name = text(event, "name").to_owned();
                all.push((id.to_owned(), (name, state.to_owned(), None)));
                continue;
            }
            let (_, leave) = all.iter_mut().find(|(known, _)| known == id).unwrap();
            state.clone_into(&mut leave.1);
            if let Some(found) = event["found"].as_str() {
                leave.2 = Some(found.to_owned());
            }
        }
        all.into_iter().map(|(_, leave)| leave).collect()
    }

    /// How the runs ended.
    pub fn ends(&self) -> Vec<&str> {
        self.state("run", "ended")
            .map(|event| text(event, "end"))
            .collect()
    }
}

/// A field that is text.
pub fn text<'a>(event: &'a Value, field: &str) -> &'a str {
    event[field]
        .as_str()
        .unwrap_or_else(|| panic!("no text {field:?} in {event}"))
}
