//! Real pods with real memcached in them.

mod broken;
pub mod certificates;
pub mod databases;
mod memory;
mod older;
pub mod ready;
mod stuck;
pub mod turns;
