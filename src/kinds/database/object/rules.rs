//! The rules that span an object, and why what cannot be changed cannot.

use crate::kinds::object_rules;
use kube::core::Rule;

/// Why the database's name cannot be changed, and what to do instead.
pub const FIXED_NAME: &str =
    "every client connects by that name. Create a second Database with the new name and restoreFrom a backup of this one.";
/// Why the port cannot be changed, and what to do instead.
pub const FIXED_PORT: &str = "the port is part of the address that clients hold. Create a second Database and move the clients.";

/// Children, and pods after them, carry the name.
pub fn name() -> Rule {
    object_rules::name("the Services and the pods")
}
