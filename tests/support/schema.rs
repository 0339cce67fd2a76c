//! The structural part of a schema, checked as the API server would: types, lengths, required fields.

use serde_json::Value;

/// A sentence for each field of `value` that `schema` does not take.
pub fn refused(value: &Value, schema: &Value, path: &str, faults: &mut Vec<String>) {
    let length = |name: &str| schema[name].as_u64().and_then(|most| usize::try_from(most).ok());
    match value {
        Value::Object(fields) => {
            let free = schema["x-kubernetes-preserve-unknown-fields"] == true
                || schema["properties"].is_null() && schema["additionalProperties"].is_null();
            let missing =
                schema["required"].as_array().into_iter().flatten().filter(|name| !fields.contains_key(name.as_str().unwrap_or_default()));
            faults.extend(missing.map(|name| format!("{path}.{name} is required")));
            for (name, inner) in fields.iter().filter(|_| !free) {
                match (schema["properties"].get(name), schema.get("additionalProperties")) {
                    (Some(known), _) | (None, Some(known)) => refused(inner, known, &format!("{path}.{name}"), faults),
                    (None, None) => faults.push(format!("{path}.{name} is not in the schema")),
                }
            }
        }
        Value::Array(items) => {
            if length("maxItems").is_some_and(|most| items.len() > most) {
                faults.push(format!("{path} has {} items", items.len()));
            }
            for item in items {
                refused(item, &schema["items"], &format!("{path}[]"), faults);
            }
        }
        Value::String(text) => {
            if length("maxLength").is_some_and(|most| text.chars().count() > most) {
                faults.push(format!("{path} is {} characters long", text.chars().count()));
            }
            let words: Vec<&Value> = schema["enum"].as_array().into_iter().flatten().collect();
            if !words.is_empty() && !words.contains(&value) {
                faults.push(format!("{path} is {text}, which is no word of the schema"));
            }
        }
        Value::Null => faults.push(format!("{path} is null")),
        Value::Bool(_) | Value::Number(_) => {}
    }
    let kind = match value {
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::Null => return,
    };
    if schema["type"].as_str().is_some_and(|wanted| wanted != kind) {
        faults.push(format!("{path} is of type {kind}, not {}", schema["type"]));
    }
}

/// The schema of the status of a definition's stored version.
pub fn of_status(definition: &impl serde::Serialize) -> Value {
    let definition = serde_json::to_value(definition).expect("a definition is JSON");
    let versions = definition["spec"]["versions"].as_array().expect("versions").clone();
    let stored = versions.into_iter().find(|version| version["storage"] == true).expect("one version is stored");
    stored["schema"]["openAPIV3Schema"]["properties"]["status"].clone()
}
