//! Random objects, drawn from a version's own schema: a field that is added is drawn from then on.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A sequence of numbers that one seed determines.
pub struct Dice(u64);

impl Dice {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Dice(seed)
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}

/// How often each field was set, and how often it was not.
pub type Counts = BTreeMap<String, (u32, u32)>;

/// The schema of `spec` in `version`.
pub fn spec_schema(definition: &CustomResourceDefinition, version: &str) -> JSONSchemaProps {
    let version = definition.spec.versions.iter().find(|known| known.name == version).expect("the version is served");
    let schema = version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_ref()).expect("it has a schema");
    schema.properties.as_ref().expect("it has properties")["spec"].clone()
}

/// The fields of a schema, those of nested objects included, as far down as `depth`.
pub fn fields(schema: &JSONSchemaProps, path: &str, depth: usize) -> Vec<String> {
    let mut all = Vec::new();
    for (name, inner) in schema.properties.iter().flatten() {
        let path = format!("{path}/{name}");
        all.push(path.clone());
        if depth > 1 {
            all.extend(fields(inner, &path, depth - 1));
        }
    }
    all
}

/// A value that has the schema's shape, each optional field set or not.
pub fn draw(schema: &JSONSchemaProps, path: &str, dice: &mut Dice, counts: &mut Counts) -> Value {
    if schema.x_kubernetes_int_or_string == Some(true) {
        return if dice.roll(4) == 0 { json!(1 + dice.roll(1 << 30)) } else { json!(format!("{}Mi", 1 + dice.roll(4096))) };
    }
    match schema.type_.as_deref() {
        Some("integer" | "number") => number(schema, dice),
        Some("boolean") => json!(dice.roll(2) == 0),
        Some("array") => {
            let Some(JSONSchemaPropsOrArray::Schema(inner)) = &schema.items else { return json!([]) };
            (0..=dice.roll(2)).map(|_| draw(inner, &format!("{path}[]"), dice, counts)).collect()
        }
        Some("object") => Value::Object(object(schema, path, dice, counts)),
        _ => word(dice),
    }
}

fn object(schema: &JSONSchemaProps, path: &str, dice: &mut Dice, counts: &mut Counts) -> Map<String, Value> {
    let mut object = Map::new();
    let required = |name: &String| schema.required.as_ref().is_some_and(|required| required.contains(name));
    for (name, inner) in schema.properties.iter().flatten() {
        let path = format!("{path}/{name}");
        let set = required(name) || dice.roll(2) == 0;
        let count = counts.entry(path.clone()).or_default();
        if set {
            count.0 += 1;
            object.insert(name.clone(), draw(inner, &path, dice, counts));
        } else {
            count.1 += 1;
        }
    }
    if let Some(JSONSchemaPropsOrBool::Schema(inner)) = &schema.additional_properties {
        for _ in 0..dice.roll(3) {
            object.insert(format!("example.com/{}", dice.roll(100)), draw(inner, &format!("{path}/*"), dice, counts));
        }
    }
    object
}

fn number(schema: &JSONSchemaProps, dice: &mut Dice) -> Value {
    // Bounds of these schemas are whole numbers, and far from what a double cannot hold.
    #[expect(clippy::cast_possible_truncation)]
    let bound = |bound: Option<f64>, default: i64| bound.map_or(default, |bound| bound as i64);
    let (least, most) = (bound(schema.minimum, 0), bound(schema.maximum, 1 << 31));
    json!(least + i64::try_from(dice.roll((most - least + 1).unsigned_abs())).expect("within the bounds"))
}

fn word(dice: &mut Dice) -> Value {
    const WORDS: [&str; 6] = ["a", "registry.example.com/image:1.6", "", "tägliche Sorge", "\"quoted\\\"", "0"];
    json!(WORDS[usize::try_from(dice.roll(6)).expect("six")])
}

/// What the API server does on a write: every default of the schema where a field is absent.
pub fn filled(schema: &JSONSchemaProps, mut value: Value) -> Value {
    if let Value::Object(object) = &mut value {
        for (name, inner) in schema.properties.iter().flatten() {
            let default = inner.default.as_ref().map(|default| default.0.clone());
            if let Some(present) = object.remove(name).or(default) {
                object.insert(name.clone(), filled(inner, present));
            }
        }
    }
    value
}
