//! pointsman: a Kubernetes operator that is an explicit finite-state machine.
//!
//! ```text
//! main ──> controller ─┐
//!      └─> admission ──┴──> kinds ──> machine
//! bin/generate ───────────> kinds, machine
//! ```
//!
//! `machine` knows how any lifecycle steps; `kinds` knows what one resource means; both are pure:
//! values in, values out. The two edges do all the talking: `controller` watches and acts,
//! `admission` answers the API server. The edges never use each other; nothing points up.

pub mod admission;
pub mod config;
pub mod controller;
pub mod kinds;
pub mod machine;
pub mod telemetry;
