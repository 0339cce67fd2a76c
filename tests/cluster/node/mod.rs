//! Real pods with real memcached in them.

mod broken;
pub mod certificates;
pub mod databases;
mod long_older;
mod long_turns;
mod memory;
pub mod ready;
mod stuck;
pub mod turns;
