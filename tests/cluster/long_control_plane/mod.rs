//! The same for longer, and with more objects.

mod carrier;
mod edits;
mod kills;
mod meshes;
mod migrate;
mod rest;
mod thousand;
mod wait;
