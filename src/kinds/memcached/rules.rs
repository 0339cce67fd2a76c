//! The rules that span an object: its name and its port.

use crate::kinds::object_rules;
use kube::core::Rule;

/// Why the port cannot be changed, and what to do instead.
pub const FIXED_PORT: &str = "the port is part of the address that clients hold. Create a second Memcached and move the clients.";

/// Children, and pods after them, carry the name.
pub fn name() -> Rule {
    object_rules::name("the Service and the pods")
}

/// The port is part of the address that clients hold, once there were clients.
pub fn port() -> Rule {
    object_rules::fixed("port", "port", "%d", FIXED_PORT)
}
