//! The rules that span an object, whatever its kind: its name, its status, what is fixed once it was ready.

use super::cel::{forbids_saying, forbids_unless};
use kube::core::Rule;

/// The pattern of an object's name.
pub const NAME: &str = "^[a-z]([-a-z0-9]*[a-z0-9])?$";
/// The longest name of an object: its children and their pods carry it.
pub const NAME_LENGTH: usize = 52;

/// Children, and pods after them, carry the name: `carriers` are those that a user sees.
pub fn name(carriers: &str) -> Rule {
    // An older definition may have let others in; a name never changes, and a rule that fails would freeze the object.
    let rule = format!("oldSelf.hasValue() || self.metadata.name.size() <= {NAME_LENGTH} && self.metadata.name.matches('{NAME}')");
    let text = format!(
        "the name must be at most {NAME_LENGTH} lower-case letters, digits and '-', start with a letter and end with a letter or digit: {carriers} carry it"
    );
    // The definition declares metadata.name for this path: `served::with_a_name`.
    forbids_unless(rule, text).field_path(".metadata.name").optional_old_self(true)
}

/// A status may change, and it may not go.
pub fn status_stays() -> Rule {
    forbids_unless("!has(oldSelf.status) || has(self.status)", "the status may not be removed").field_path(".status")
}

/// A field that cannot be changed once the object was ready. `kept` is its name in the stored version, as the status keeps
/// it; `form` is how its value is printed: `%d` or `%s`.
pub fn fixed(field: &str, kept: &str, form: &str, why: &str) -> Rule {
    let ever_ready = format!("has(self.status) && has(self.status.lastGood) && has(self.status.lastGood.spec.{kept})");
    let rule =
        format!("self.spec.{field} == oldSelf.spec.{field} || !({ever_ready}) || self.spec.{field} == self.status.lastGood.spec.{kept}");
    let says = format!("'unsupported: {form} -> {form}; {why}'.format([self.status.lastGood.spec.{kept}, self.spec.{field}])");
    forbids_saying(rule, says).field_path(format!(".spec.{field}"))
}
