//! The lab's machine with a sandbox in it, and what was there before anything had run.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use crate::events::Recording;
use crate::going::wait_until;
use crate::vm::Vm;
use crate::world::{Ended, World};

/// A world whose host `lab` is a machine of its own.
pub struct Sandboxed {
    pub world: World,
    pub vm: Vm,
    before: String,
}

impl Sandboxed {
    /// Nothing where the lab was not built.
    pub fn new() -> Option<Self> {
        let world = World::new();
        let vm = Vm::start(&world, "lab")?;
        vm.sh("mkdir -p /root/box");
        let before = vm.there();
        Some(Self { world, vm, before })
    }

    /// What is there now is what is there to begin with: something that a test prepared.
    pub fn begin_here(&mut self) {
        self.before = self.vm.there();
    }

    pub fn assert_nothing_left(&self) {
        self.vm.assert_there(&self.before);
    }

    /// `run` on it, into a recording of this name.
    pub fn arguments(&self, record: &str, more: &[&str]) -> Vec<String> {
        let record = self.world.text(record);
        let fixed = [
            "run",
            "--host",
            "lab",
            "--sandbox",
            "/root/box",
            "--record",
            &record,
        ];
        fixed.iter().chain(more).map(ToString::to_string).collect()
    }

    pub fn run(&self, record: &str, more: &[&str]) -> (Ended, Recording) {
        let arguments = self.arguments(record, more);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let ended = self.world.run(&arguments);
        (ended, Recording::read(&self.world.path(record)))
    }

    /// What methods say of a subject that is refused before anything is made.
    pub fn assert_refused(&self, subject: &str, methods: &[&str]) -> String {
        let fixed = "check --host lab --sandbox /root/box --subject";
        let mut all: Vec<_> = fixed.split(' ').collect();
        all.push(subject);
        all.extend(methods);
        let refused = self.world.run(&all);
        let said = refused.out + &refused.err;
        assert!([2, 4].contains(&refused.code), "{subject}: {said}");
        self.assert_nothing_left();
        said
    }

    /// Takes away what is left, from the journal on the host alone; once more is without harm.
    pub fn recover(&self) {
        wait_until("it is recovered", || {
            let done = self.world.run(&["recover", "--host", "lab", "--remove"]);
            assert!(
                done.code == 0 || done.out.contains("goes on"),
                "{}\n{}",
                done.out,
                done.err
            );
            done.code == 0
        });
        let again = self.world.run(&["recover", "--host", "lab", "--remove"]);
        assert_eq!(again.out, "lab: nothing is left\n");
        self.assert_nothing_left();
    }
}

/// Each of the load's two writers made so many writes of 4 KiB a second, or fewer, in all three runs.
pub fn assert_rate(recording: &Recording, writes: f64) {
    let all = recording.values("bandwidth");
    let most = 2.0 * writes * 4096.0;
    let fits = |bandwidth: &f64| (1.0..most * 1.05).contains(bandwidth);
    assert!(all.len() == 3 && all.iter().all(fits), "{all:?}");
}

/// Whatever a run left has been undone.
pub fn assert_all_undone(recording: &Recording) {
    let leaves = recording.leaves();
    assert!(!leaves.is_empty());
    for (name, state, _) in &leaves {
        assert_eq!(state, "undone", "{name}");
    }
}
