//! The rules that span an object: its name, its port, its status.

use super::fields::{NAME, NAME_LENGTH};
use crate::kinds::cel::{forbids_saying, forbids_unless};
use kube::core::Rule;

/// Why the port cannot be changed, and what to do instead.
pub const FIXED_PORT: &str = "the port is part of the address that clients hold. Create a second Memcached and move the clients.";

/// Children, and pods after them, carry the name.
pub fn name() -> Rule {
    // An older definition may have let others in; a name never changes, and a rule that fails would freeze the object.
    let rule = format!("oldSelf.hasValue() || self.metadata.name.size() <= {NAME_LENGTH} && self.metadata.name.matches('{NAME}')");
    let text = format!(
        "the name must be at most {NAME_LENGTH} lower-case letters, digits and '-', start with a letter and end with a letter or digit: the Service and the pods carry it"
    );
    // The definition declares metadata.name for this path: `served::with_a_name`.
    forbids_unless(rule, text).field_path(".metadata.name").optional_old_self(true)
}

/// The port is part of the address that clients hold, once there were clients.
pub fn port() -> Rule {
    let ever_ready = "has(self.status) && has(self.status.lastGood) && has(self.status.lastGood.spec.port)";
    let rule = format!("self.spec.port == oldSelf.spec.port || !({ever_ready}) || self.spec.port == self.status.lastGood.spec.port");
    let says = format!("'unsupported: %d -> %d; {FIXED_PORT}'.format([self.status.lastGood.spec.port, self.spec.port])");
    forbids_saying(rule, says).field_path(".spec.port")
}

/// A status may change, and it may not go.
pub fn status_stays() -> Rule {
    forbids_unless("!has(oldSelf.status) || has(self.status)", "the status may not be removed").field_path(".status")
}
