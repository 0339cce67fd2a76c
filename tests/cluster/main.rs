//! The operator on a real cluster, driven by real `kubectl`. `tests/run` starts the cluster.
//!
//! Tests stand in modules named after the tier they need: `control_plane`, `node`; what takes long is
//! in `long_control_plane` and `long_node`. `packages` and `long_packages` need a control plane without an operator: they
//! install one. `rights` and `passwords` look back at all that a tier's tests made the operator do. Each test has a namespace of its own;
//! one that stops the operator takes the cluster for itself ([`harness::alone`]).

mod control_plane;
mod harness;
mod long_control_plane;
mod long_node;
mod long_packages;
mod node;
mod packages;
mod passwords;
mod rights;
