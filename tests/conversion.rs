//! Conversion loses nothing: random objects of every kind survive the way to the other version and back.

#[path = "conversion/objects.rs"]
mod objects;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use objects::{Counts, Dice, draw, fields, filled, spec_schema};
use pointsman::kinds::{Served, Visitor, visit};
use serde_json::{Value, json};

const SEED: u64 = 20_260_101;
const OBJECTS: usize = 10_000;
const STORED: &str = "v1";
const OLDER: &str = "v1alpha1";

type Convert<'a> = &'a dyn Fn(&Value, &str) -> Value;

/// One object of `version` goes to the other version and back.
fn survives(convert: Convert, spec: &Value, version: &str) -> bool {
    let other = if version == STORED { OLDER } else { STORED };
    convert(&convert(spec, other), version) == *spec
}

/// `count` specs of `version`, as the API server hands them to a conversion: with its defaults.
fn specs(definition: &CustomResourceDefinition, version: &str, count: usize, counts: &mut Counts) -> Vec<Value> {
    let schema = spec_schema(definition, version);
    let mut dice = Dice::new(SEED);
    let stored = spec_schema(definition, STORED);
    let mut one = || {
        let spec = filled(&schema, draw(&schema, version, &mut dice, counts));
        if version == STORED { spec } else { legal_carrier(&filled(&stored, json!({})), spec) }
    };
    (0..count).map(|_| one()).collect()
}

/// The carrier holds nothing that equals a default, and is absent rather than empty: rules of the schema.
fn legal_carrier(defaults: &Value, mut spec: Value) -> Value {
    if let Some(carrier) = spec.get_mut(STORED).and_then(Value::as_object_mut) {
        carrier.retain(|field, value| defaults.get(field) != Some(value));
        if carrier.is_empty() {
            spec.as_object_mut().expect("a spec is an object").remove(STORED);
        }
    }
    spec
}

struct Survive;

impl Visitor for Survive {
    fn kind<K: Served>(&mut self) {
        let definition = K::definition();
        let convert = |spec: &Value, version: &str| K::convert(spec, version).expect("a known version");
        for version in [STORED, OLDER] {
            let mut counts = Counts::new();
            let specs = specs(&definition, version, OBJECTS, &mut counts);
            let lost = specs.iter().find(|spec| !survives(&convert, spec, version));
            assert!(lost.is_none(), "{} {version} does not survive: {}", K::PATH, lost.unwrap_or(&Value::Null));
            let both = counts.values().filter(|(set, unset)| *set > 0 && *unset > 0).count();
            println!("{} {version}: {OBJECTS} objects of seed {SEED}; {} fields, {both} of them both set and unset", K::PATH, counts.len());
            for field in fields(&spec_schema(&definition, version), version, 2) {
                let (set, unset) = counts.get(&field).copied().unwrap_or_default();
                assert!(set > 100, "{field} is set in {set} objects only");
                println!("  {field}: set in {set}, unset in {unset}");
            }
        }
    }
}

#[test]
fn ten_thousand_objects_survive_both_round_trips() {
    visit(&mut Survive);
}

/// Loses one field each time; the check has to notice each.
struct Lose;

impl Visitor for Lose {
    fn kind<K: Served>(&mut self) {
        let definition = K::definition();
        for version in [STORED, OLDER] {
            let specs = specs(&definition, version, 500, &mut Counts::new());
            for other in [STORED, OLDER] {
                let losable = fields(&spec_schema(&definition, other), "", 2);
                assert!(losable.len() > 5, "{losable:?}");
                for field in losable {
                    let convert = |spec: &Value, version: &str| {
                        let spec = K::convert(spec, version).expect("a known version");
                        if version == other { without(spec, &field) } else { spec }
                    };
                    let noticed = specs.iter().any(|spec| !survives(&convert, spec, version));
                    assert!(noticed, "{} {version}: nobody misses {field} of {other}", K::PATH);
                }
            }
        }
    }
}

fn without(mut spec: Value, field: &str) -> Value {
    let (parent, name) = field.rsplit_once('/').expect("a path starts with /");
    if let Some(parent) = spec.pointer_mut(parent).and_then(Value::as_object_mut) {
        parent.remove(name);
    }
    spec
}

#[test]
fn a_converter_that_drops_any_field_is_noticed() {
    visit(&mut Lose);
}

/// Emits nothing that the other version's schema does not declare: such a field breaks server-side apply.
struct Declared;

impl Visitor for Declared {
    fn kind<K: Served>(&mut self) {
        let definition = K::definition();
        for (version, other) in [(STORED, OLDER), (OLDER, STORED)] {
            let schema = spec_schema(&definition, other);
            for spec in specs(&definition, version, 1000, &mut Counts::new()) {
                let spec = K::convert(&spec, other).expect("a known version");
                let known = schema.properties.as_ref().expect("a spec has fields");
                let stray = spec.as_object().expect("a spec is an object").keys().find(|field| !known.contains_key(*field));
                assert_eq!(stray, None, "{} {other}", K::PATH);
            }
            for odd in [Value::Null, json!({}), json!([]), json!("text"), json!({ "v1": 5 }), json!({ "v1": null })] {
                assert!(K::convert(&odd, other).is_some(), "{odd} is converted to {other}");
            }
            let defaults = filled(&spec_schema(&definition, STORED), json!({}));
            let empty = K::convert(&Value::Null, STORED).expect("a known version");
            assert_eq!(empty, defaults, "an object of {OLDER} without a spec has every default in {STORED}");
        }
    }
}

#[test]
fn conversion_is_total_and_emits_declared_fields_only() {
    visit(&mut Declared);
}
