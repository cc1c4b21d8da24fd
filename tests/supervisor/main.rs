//! The supervisor on real shells: dash, bash and `BusyBox`'s, with connections that break.
#![cfg(test)]

mod basics;
mod bench;
mod cable;
mod floods;
mod links;
#[path = "../support/small.rs"]
mod machine;
#[path = "../support/shells.rs"]
mod shells;
mod small;
mod stops;
mod streams;
