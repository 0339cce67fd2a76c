//! Core types come with pages of prose; in a schema that is stored eight times it is left out.

use schemars::Schema;
use schemars::transform::transform_subschemas;

/// Removes every description below this schema.
pub fn strip(schema: &mut Schema) {
    transform_subschemas(
        &mut |inner: &mut Schema| {
            inner.remove("description");
            strip(inner);
        },
        schema,
    );
}
