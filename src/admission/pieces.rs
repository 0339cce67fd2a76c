//! How much a text of JSON becomes in memory, told without taking it apart: a list or an object of one small value takes more
//! than a hundred times its text.

/// What an object may come to, a list or an object counting for [`CONTAINER`] values: about 4 MiB. The largest objects that the
/// definitions allow come to less than a tenth of it, with their managedFields and their history.
const ENOUGH: usize = 64 * 1024;
/// How many values take as much room as a list or an object of one.
const CONTAINER: usize = 10;

/// What is said of more.
pub const TOO_MANY: &str = "it has too many lists, objects and values";

/// Does this JSON come to more than an object may?
pub fn are_too_many(text: &str) -> bool {
    let (mut values, mut quoted, mut escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => values += CONTAINER,
            b',' => values += 1,
            _ => {}
        }
        if values > ENOUGH {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_small_as_text_and_large_in_memory_is_found() {
        assert!(are_too_many(&format!("[{}]", vec!["[0]"; 7_000].join(","))));
        assert!(are_too_many(&format!("[{}]", vec!["0"; 70_000].join(","))));
        assert!(!are_too_many(&format!("[{}]", vec!["[0]"; 5_000].join(","))));
    }

    #[test]
    fn what_is_quoted_is_one_value() {
        assert!(!are_too_many(&format!("{{\"a\":\"{}\"}}", "[,\\\"{".repeat(100_000))));
        assert!(are_too_many(&format!("{{\"a\\\\\":[{}]}}", vec!["[]"; 7_000].join(","))));
    }
}
