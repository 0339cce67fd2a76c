//! Prose is kept short: core types come with pages of it, which a schema that is stored eight times leaves out; and a long
//! value is quoted by its beginning, a long log by what it says of errors.

use schemars::Schema;
use schemars::transform::transform_subschemas;

/// The first `characters` of a text, and a sign where there are more.
pub fn beginning(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// How a line of a log says that it is about an error, and not about what follows from one.
const ERRORS: [&str; 5] = ["error:", "Error:", "ERROR:", "FATAL:", "PANIC:"];

/// Why a program ended, by its log: all of it, where that has no more than so many characters. Else the last whole lines, as
/// many as fit: of those about an error where there are any, of all where not.
pub fn cause(log: &str, characters: usize) -> String {
    if log.chars().count() <= characters {
        return log.to_owned();
    }
    let is_error = |line: &&str| ERRORS.iter().any(|word| line.contains(word));
    let any = log.lines().any(|line| is_error(&line));
    let told: Vec<&str> = log.lines().filter(|line| !any || is_error(line)).collect();
    let mut room = characters;
    let fits = |line: &&&str| {
        let left = room.checked_sub(line.chars().count() + 1);
        room = left.unwrap_or(room);
        left.is_some()
    };
    let mut lines: Vec<&str> = told.iter().rev().take_while(fits).copied().collect();
    lines.reverse();
    if lines.is_empty() { beginning(told.last().copied().unwrap_or_default(), characters) } else { lines.join("\n") }
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
    fn a_log_is_quoted_by_whole_lines_that_say_why_it_ends() {
        let log = "LOG: starts\nFATAL: a client\nPANIC: no room\nLOG: ends";
        assert_eq!(cause(log, 100), log);
        assert_eq!(cause(log, 40), "FATAL: a client\nPANIC: no room");
        assert_eq!(cause(log, 30), "PANIC: no room");
        assert_eq!(cause(log, 10), "PANIC: no ...");
        let log = "LOG: starts\nLOG: goes on\nLOG: ends";
        assert_eq!(cause(log, 24), "LOG: goes on\nLOG: ends");
        assert_eq!(cause("", 10), "");
    }
}
