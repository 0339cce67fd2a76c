//! Real pods with real memcached in them.

mod memory;
mod older;
pub mod ready;
mod stuck;
