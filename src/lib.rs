//! pointsman: a Kubernetes operator that is an explicit finite-state machine.
//!
//! ```text
//! main ─┬─> program ─┬─> controller ─┬─> kinds ──> machine
//!       │            └─> admission ──┤
//!       ├─> migrate ─────────────────┤
//!       └─> uninstall ───────────────┴─> packages ──> kinds
//! bin/generate ────────────────────────> packages
//! ```
//!
//! `machine` knows how any lifecycle steps; `kinds` knows what one resource means; both are pure:
//! values in, values out. `packages` lists what an installation consists of, and is pure too. The edges do all the talking: `controller` watches and acts,
//! `admission` answers the API server; `uninstall` and `migrate` are verbs at a prompt. The edges never use each other; nothing points up.

pub mod admission;
pub mod config;
pub mod controller;
pub mod kinds;
pub mod machine;
pub mod migrate;
pub mod packages;
pub mod program;
pub mod telemetry;
pub mod uninstall;
