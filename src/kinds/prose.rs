//! Prose is kept short: core types come with pages of it, which a schema that is stored eight times leaves out; and a long
//! value is quoted by its beginning, a long log by its end.

use schemars::Schema;
use schemars::transform::transform_subschemas;

/// The first `characters` of a text, and a sign where there are more.
pub fn beginning(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The last lines of a text, as many as fit into so many characters: a program says at its end why it ends. Of a line that does
/// not fit, the beginning.
pub fn ending(text: &str, characters: usize) -> String {
    let mut room = characters;
    let fits = |line: &&str| {
        let left = room.checked_sub(line.chars().count() + 1);
        room = left.unwrap_or(room);
        left.is_some()
    };
    let mut lines: Vec<&str> = text.lines().rev().take_while(fits).collect();
    lines.reverse();
    if lines.is_empty() { beginning(text.lines().last().unwrap_or_default(), characters) } else { lines.join("\n") }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_quoted_by_whole_lines_from_its_end() {
        let log = "LOG: starts\nPANIC: no room\nLOG: ends";
        assert_eq!(ending(log, 100), log);
        assert_eq!(ending(log, 25), "PANIC: no room\nLOG: ends");
        assert_eq!(ending(log, 24), "LOG: ends");
        assert_eq!(ending("WORD: one long sentence", 10), "WORD: one ...");
        assert_eq!(ending("", 10), "");
    }
}
