//! What every condition says: a reason of its own, and what is so.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use pointsman::kinds::Served;
use pointsman::kinds::claims::declared;

/// Words of a text that says how something is decided, in place of what is so.
const HOW: [&str; 7] =
    ["decides", "the annotation", "counts once", "depends on", "question is open", "was ordered", "is what the spec asks for"];

/// Sentences for everything that is wrong with the conditions of one status.
pub fn wrong<K: Served>(conditions: &[Condition]) -> Vec<String> {
    let declared = declared::<K>();
    let mut wrong = Vec::new();
    let (told, wanted): (Vec<_>, Vec<_>) = (conditions.iter().map(|it| &*it.type_).collect(), declared.iter().map(|it| it.name).collect());
    if told != wanted {
        wrong.push(format!("the conditions are {told:?}, not {wanted:?}"));
    }
    for Condition { type_, status, reason, message, .. } in conditions {
        let own = declared.iter().find(|declared| declared.name == type_);
        if !own.is_some_and(|own| own.gives::<K>(status == "True", reason)) {
            wrong.push(format!("{type_}={status} has no reason {reason} of its own"));
        }
        if message.is_empty() {
            wrong.push(format!("{type_}={status} says nothing"));
        }
        if let Some(how) = HOW.iter().find(|how| message.contains(*how)) {
            wrong.push(format!("{type_}={status} says how it is decided ({how}), not what is so: {message}"));
        }
    }
    wrong
}
