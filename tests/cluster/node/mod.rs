//! Real pods with real memcached in them.

mod memory;
pub mod ready;
mod stuck;
