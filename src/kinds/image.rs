//! Image references, as container runtimes read them.

use super::cel::{forbids_saying, in_line};
use regex_lite::Regex;
use schemars::{Schema, json_schema};
use std::sync::LazyLock;

/// The longest reference.
const LENGTH: usize = 512;

macro_rules! host {
    () => {
        r"[a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?(:[0-9]+)?"
    };
}
macro_rules! component {
    () => {
        r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"
    };
}
macro_rules! tag_and_digest {
    () => {
        r"(:[A-Za-z0-9_][-A-Za-z0-9_.]{0,127})?(@[a-z0-9]+:[a-f0-9]{32,128})?"
    };
}

/// What a reference looks like.
pub const PATTERN: &str = concat!("^(", host!(), "/)?", component!(), "(/", component!(), ")*", tag_and_digest!(), "$");

/// What a registry looks like, or a registry and a path: with a name behind it, it is a reference.
pub const PREFIX: &str = concat!("^(", host!(), "|", component!(), ")(/", component!(), ")*/*$");

// The pattern is a constant that a test compiles.
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| Regex::new(PATTERN).expect("the image pattern compiles"));

/// Is it a reference?
pub fn is_reference(image: &str) -> bool {
    image.len() <= LENGTH && REFERENCE.is_match(image)
}

/// What is wrong with one that is none.
pub fn text(example: &str) -> String {
    format!("not an image reference; write [registry/]name[:tag][@digest], for example {example}")
}

/// The schema of a field that holds one.
pub fn schema(example: &str) -> Schema {
    let rule = format!("self.matches('{}')", PATTERN.replace('\\', r"\\"));
    let rule = forbids_saying(rule, format!("'\"%s\" is {}'.format([{}])", text(example), in_line("self")));
    json_schema!({ "type": "string", "maxLength": LENGTH, "x-kubernetes-validations": [rule] })
}

#[cfg(test)]
mod tests {
    use super::{PREFIX, Regex, is_reference};

    #[test]
    fn references_are_told_from_other_words() {
        let digest = format!("server@sha256:{}", "0a".repeat(32));
        for image in ["server", "docker.io/library/server:1.6", "localhost:5000/a/b_c:V1", &digest] {
            assert!(is_reference(image), "{image}");
        }
        for image in ["", "Server", "server:", "server:1.6:2", "a b", "server@sha256:12", &"a".repeat(513)] {
            assert!(!is_reference(image), "{image}");
        }
    }

    #[test]
    fn a_prefix_is_what_makes_a_reference_of_a_name() {
        let prefix = Regex::new(PREFIX).expect("the pattern compiles");
        for (text, legal) in [
            ("docker.io", true),
            ("localhost:5000/a/b_c", true),
            ("Mirror.example.com/hub/", true),
            ("a_b", true),
            ("a b", false),
            ("-x", false),
            ("mirror/Hub", false),
            ("mirror:tag/a:1", false),
            ("", false),
        ] {
            assert_eq!((prefix.is_match(text), is_reference(&format!("{}/name", text.trim_end_matches('/')))), (legal, legal), "{text}");
        }
    }
}
