//! The printed rule of the stored state, evaluated as the API server would.

/// Does `rule` let the state go from `old` to `new`?
pub fn allows(rule: &str, old: Option<&str>, new: &str) -> bool {
    rule.split(" || ").any(|arm| arm.split(" && ").all(|term| is_true(term, old.unwrap_or_default(), new)))
}

fn is_true(term: &str, old: &str, new: &str) -> bool {
    if let Some(inner) = term.strip_prefix("!(") {
        return !is_true(inner.strip_suffix(')').expect("closed"), old, new);
    }
    let value = |text: &str| match text {
        "self" => new.to_owned(),
        "oldSelf.orValue('')" => old.to_owned(),
        quoted => {
            quoted.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or_else(|| panic!("not a value: {quoted}")).to_owned()
        }
    };
    if let Some((left, right)) = term.split_once(" == ") {
        value(left) == value(right)
    } else if let Some((left, right)) = term.split_once(" != ") {
        value(left) != value(right)
    } else if let Some((left, list)) = term.split_once(" in [") {
        list.strip_suffix(']').expect("closed").split(", ").any(|item| value(item) == value(left))
    } else {
        panic!("not a term: {term}")
    }
}
