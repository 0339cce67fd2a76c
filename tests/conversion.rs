//! Conversion loses nothing: random objects of every kind survive the way to the other version and back.

#[path = "conversion/objects.rs"]
mod objects;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{CustomResourceDefinition, JSONSchemaProps};
use objects::{Counts, Dice, draw, fields, filled, spec_schema};
use pointsman::kinds::carrier::{Field, Fields};
use pointsman::kinds::{Served, Visitor, database, visit};
use serde_json::{Value, json};

const SEED: u64 = 20_260_101;
const OBJECTS: usize = 10_000;
const STORED: &str = "v1";
const OLDER: &str = "v1alpha1";

type Convert<'a> = &'a dyn Fn(&Value, &str) -> Value;

/// A kind as a conversion knows it.
struct Kind {
    name: String,
    definition: CustomResourceDefinition,
    fields: &'static Fields,
}

impl Kind {
    fn of(definition: CustomResourceDefinition, fields: &'static Fields) -> Self {
        Kind { name: definition.spec.names.kind.clone(), definition, fields }
    }

    fn convert(&self, spec: &Value, version: &str) -> Value {
        self.fields.convert(spec, version).expect("a known version")
    }
}

/// Every kind, those included that nobody serves yet.
fn kinds() -> Vec<Kind> {
    struct Each(Vec<Kind>);
    impl Visitor for Each {
        fn kind<K: Served>(&mut self) {
            self.0.push(Kind::of(K::definition(), K::FIELDS));
        }
    }
    let mut each = Each(Vec::new());
    visit(&mut each);
    let unserved = Kind::of(database::Database::definition(), &database::object::convert::FIELDS);
    if each.0.iter().all(|kind| kind.name != unserved.name) {
        each.0.push(unserved);
    }
    each.0
}

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

/// The fields of a value that a schema does not declare.
fn undeclared(schema: &JSONSchemaProps, value: &Value, path: &str) -> Vec<String> {
    let inner = |(name, value): (&String, &Value)| {
        let path = format!("{path}.{name}");
        match (schema.properties.as_ref().and_then(|known| known.get(name)), &schema.additional_properties) {
            (Some(known), _) => undeclared(known, value, &path),
            (None, Some(_)) => Vec::new(),
            (None, None) => vec![path],
        }
    };
    value.as_object().into_iter().flatten().flat_map(inner).collect()
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

#[test]
fn ten_thousand_objects_survive_both_round_trips() {
    for kind in kinds() {
        for version in [STORED, OLDER] {
            let mut counts = Counts::new();
            let specs = specs(&kind.definition, version, OBJECTS, &mut counts);
            let lost = specs.iter().find(|spec| !survives(&|spec, version| kind.convert(spec, version), spec, version));
            assert!(lost.is_none(), "{} {version} does not survive: {}", kind.name, lost.unwrap_or(&Value::Null));
            let both = counts.values().filter(|(set, unset)| *set > 0 && *unset > 0).count();
            println!(
                "{} {version}: {OBJECTS} objects of seed {SEED}; {} fields, {both} of them both set and unset",
                kind.name,
                counts.len()
            );
            for field in fields(&spec_schema(&kind.definition, version), version, 2) {
                let (set, unset) = counts.get(&field).copied().unwrap_or_default();
                assert!(set > 100, "{field} is set in {set} objects only");
                println!("  {field}: set in {set}, unset in {unset}");
            }
        }
    }
}

/// Each field is lost in its turn; the check has to notice each.
#[test]
fn a_converter_that_drops_any_field_is_noticed() {
    for kind in kinds() {
        for version in [STORED, OLDER] {
            let specs = specs(&kind.definition, version, 500, &mut Counts::new());
            for other in [STORED, OLDER] {
                let losable = fields(&spec_schema(&kind.definition, other), "", 2);
                assert!(losable.len() > 5, "{losable:?}");
                for field in losable {
                    let convert = |spec: &Value, version: &str| {
                        let spec = kind.convert(spec, version);
                        if version == other { without(spec, &field) } else { spec }
                    };
                    let noticed = specs.iter().any(|spec| !survives(&convert, spec, version));
                    assert!(noticed, "{} {version}: nobody misses {field} of {other}", kind.name);
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

/// A field that the other version's schema does not declare breaks server-side apply.
#[test]
fn conversion_is_total_and_emits_declared_fields_only() {
    for kind in kinds() {
        for (version, other) in [(STORED, OLDER), (OLDER, STORED)] {
            let schema = spec_schema(&kind.definition, other);
            for spec in specs(&kind.definition, version, 1000, &mut Counts::new()) {
                assert_eq!(undeclared(&schema, &kind.convert(&spec, other), "spec"), Vec::<String>::new(), "{} {other}", kind.name);
            }
            for odd in [
                Value::Null,
                json!({}),
                json!([]),
                json!("text"),
                json!({ "v1": 5 }),
                json!({ "v1": null }),
                json!({ "v1": { "storage": 5 } }),
            ] {
                let spec = kind.convert(&odd, other);
                assert_eq!(undeclared(&schema, &spec, "spec"), Vec::<String>::new(), "{odd} is converted to {other}");
            }
            let defaults = filled(&spec_schema(&kind.definition, STORED), json!({}));
            let empty = kind.convert(&Value::Null, STORED);
            assert_eq!(empty, defaults, "an object of {OLDER} without a spec has every default in {STORED}");
        }
    }
}

#[test]
fn every_field_of_the_stored_version_is_called_and_owned_by_its_name_in_the_other() {
    for kind in kinds() {
        let stored = spec_schema(&kind.definition, STORED);
        let older = spec_schema(&kind.definition, OLDER);
        let mut found = 0;
        for field in fields(&stored, "", 2).iter().map(|field| field.trim_start_matches('/').replace('/', ".")) {
            // A part of a field that is carried whole, and a field whose parts stand in different places, are no rows.
            if let Some(part) = kind.fields.rows.iter().map(Field::path).find(|path| *path == field) {
                let path = kind.fields.field_in(OLDER, &format!("spec.{part}"));
                let said = path.split('.').skip(1).try_fold(older.clone(), |schema, name| schema.properties?.remove(name));
                assert!(said.is_some(), "{}: {OLDER} has no {path}", kind.name);
                let set = |path: &str| path.rsplit('.').fold(json!({}), |inner, name| json!({ format!("f:{name}"): inner }));
                let owned = kind.fields.owned(&set(&path), OLDER).expect("a known version");
                assert_eq!(owned, set(&format!("spec.{part}")), "{}: {path}", kind.name);
                assert_eq!(kind.fields.field_in(OLDER, &format!("spec.{part}[a]")), format!("{path}[a]"));
                assert_eq!(kind.fields.field_in(STORED, &format!("spec.{part}")), format!("spec.{part}"));
                found += 1;
            }
        }
        assert_eq!(found, kind.fields.rows.len(), "{}: each row is a field of {STORED}", kind.name);
    }
}
