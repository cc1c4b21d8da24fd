//! The lab's machine, and methods on its real file systems.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/going.rs"]
mod going;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/vm.rs"]
mod vm;
#[path = "support/world.rs"]
mod world;

use vm::Vm;
use world::World;

#[test]
fn a_check_finds_its_file_systems() {
    let world = World::new();
    let Some(vm) = Vm::start(&world, "lab") else {
        return;
    };
    let check = world.run(&[
        "check",
        "--host",
        "lab",
        "--method",
        "btrfs-send",
        "--sandbox",
        "/root/box",
    ]);
    println!("{}\n{}", check.out, vm.there());
}
