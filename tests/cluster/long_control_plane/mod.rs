//! The same for longer, and with more objects.

mod edits;
mod rest;
mod thousand;
mod wait;
