//! What is found wrong on the way through a value, field by field.

/// A field, and what is wrong with it.
pub type Fault = (String, String);

/// What was found so far.
#[derive(Default, Debug)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// All that was found.
    pub fn found(self) -> Vec<Fault> {
        self.0
    }

    /// Unless it is `legal`, the field is at fault.
    pub fn unless(&mut self, legal: bool, field: &str, text: impl FnOnce() -> String) {
        if !legal {
            self.0.push((field.to_owned(), text()));
        }
    }

    /// `word` has to be one of the known ones.
    pub fn word(&mut self, field: &str, word: &str, known: &[&str]) {
        let named: Vec<&str> = known.iter().filter(|word| !word.is_empty()).copied().collect();
        self.unless(known.contains(&word), field, || format!("{word:?} is none of {}", named.join(", ")));
    }

    /// `key` has to be the key of a label.
    pub fn key(&mut self, field: &str, key: &str) {
        self.unless(is_qualified(key), field, || format!("{key:?} is no key; write [prefix/]name of letters, digits, '-', '_' and '.'"));
    }

    /// `value` has to be the value of a label.
    pub fn value(&mut self, field: &str, value: &str) {
        self.unless(is_label_value(value), field, || {
            format!("{value:?} is no value of a label; write at most 63 letters, digits, '-', '_' and '.'")
        });
    }
}

/// Is it the key of a label: a name, with a DNS prefix or without?
pub fn is_qualified(key: &str) -> bool {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    !name.is_empty() && is_label_value(name) && prefix.is_none_or(is_subdomain)
}

/// Is it a DNS label, as a namespace's name?
pub fn is_label(name: &str) -> bool {
    name.len() <= 63 && is_part(name)
}

/// Is it a DNS subdomain, as most objects' names?
pub fn is_subdomain(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_part)
}

fn is_part(text: &str) -> bool {
    let lower: fn(char) -> bool = |c| c.is_ascii_lowercase() || c.is_ascii_digit();
    ends(text, lower) && text.chars().all(|c| lower(c) || c == '-')
}

/// Is it the value of a label?
fn is_label_value(value: &str) -> bool {
    let within = value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    value.is_empty() || value.len() <= 63 && within && ends(value, |c| c.is_ascii_alphanumeric())
}

fn ends(text: &str, legal: fn(char) -> bool) -> bool {
    text.starts_with(legal) && text.ends_with(legal)
}
