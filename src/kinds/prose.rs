//! Prose is kept short: core types come with pages of it, which a schema that is stored eight times leaves out; and a long
//! value is quoted by its beginning.

use schemars::Schema;
use schemars::transform::transform_subschemas;

/// The first `characters` of a text, and a sign where there are more.
pub fn beginning(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Names in a row.
pub fn listed(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

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
