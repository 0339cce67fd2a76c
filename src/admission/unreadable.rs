//! An object that does not decode: which fields are to blame.

use crate::kinds::{Served, Violation};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Every field of the spec that does not decode by itself; where none is found, the first fault.
pub(super) fn unreadable<K: Served>(object: &RawValue, first: &serde_json::Error) -> Vec<Violation> {
    // Positions in what we put together mean nothing to the writer.
    let text = |fault: &serde_json::Error| fault.to_string().split(" at line ").next().unwrap_or_default().to_owned();
    let whole = vec![Violation::invalid("spec", format!("this object is not readable: {}", text(first)))];
    let Ok(Value::Object(mut fields)) = serde_json::from_str(object.get()) else { return whole };
    let Some(Value::Object(spec)) = fields.remove("spec") else { return whole };
    fields.remove("status");
    let fault = |fields: &mut Map<String, Value>, spec: Map<String, Value>| {
        fields.insert("spec".to_owned(), Value::Object(spec));
        let fault = serde_json::from_value::<K::Object>(Value::Object(fields.clone())).err()?;
        // That another field is missing is not this one's fault.
        Some(text(&fault)).filter(|text| !text.starts_with("missing field"))
    };
    if fault(&mut fields, Map::new()).is_some() {
        return whole;
    }
    // Each field is tried with as little beside it as can be: there may be many.
    fields.retain(|field, _| ["apiVersion", "kind"].contains(&field.as_str()));
    let mut alone = |(field, value): (String, Value)| {
        Some(Violation::invalid(&format!("spec.{field}"), fault(&mut fields, Map::from_iter([(field.clone(), value)]))?))
    };
    let found: Vec<Violation> = spec.into_iter().filter_map(&mut alone).collect();
    if found.is_empty() { whole } else { found }
}
