//! Every field of the spec has its row in the change table, and an edit of it does what the row says.

use pointsman::kinds::memcached::v1::{KeptSpec, MemcachedSpec};
use pointsman::kinds::memcached::{Memcached, fields, plan};
use pointsman::kinds::pod_template::{PodMetadata, PodTemplate};
use pointsman::kinds::{Kind, Known, Served, Visitor, visit};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const IMAGE: &str = "docker.io/library/memcached:1.6";

/// The properties of the spec of v1, as the API server knows them.
fn properties<K: Served>() -> BTreeMap<String, Value> {
    let definition = serde_json::to_value(K::definition()).expect("a definition is JSON");
    let versions = definition["spec"]["versions"].as_array().expect("versions are a list").clone();
    let v1 = versions.into_iter().find(|version| version["name"] == "v1").expect("v1 is there");
    let spec = &v1["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
    serde_json::from_value(spec.clone()).expect("properties are a map")
}

/// Another legal value for each field; the match of names is what a new field breaks.
fn edited(field: &str) -> MemcachedSpec {
    let mut spec = MemcachedSpec::default();
    match field {
        "replicas" => spec.replicas = 2,
        "image" => spec.image = Some("docker.io/library/memcached:1.5".to_owned()),
        "memory" => spec.memory = "128Mi".into(),
        "maxItemSize" => spec.max_item_size = "2Mi".into(),
        "maxConnections" => spec.max_connections = 2048,
        "port" => spec.port = 11311,
        "resources" => drop(spec.resources.requests.insert("cpu".to_owned(), "60m".into())),
        "podTemplate" => {
            let metadata = PodMetadata { labels: [("team".to_owned(), "shop".to_owned())].into(), ..PodMetadata::default() };
            spec.pod_template = Some(PodTemplate { metadata: Some(metadata), spec: None });
        }
        other => panic!("spec.{other} has no edit in this test"),
    }
    spec
}

fn plan(spec: &MemcachedSpec) -> plan::Plan {
    plan::parse(spec, IMAGE).expect("a legal spec")
}

#[test]
fn every_field_of_the_spec_has_exactly_one_row() {
    struct Rows(usize);
    impl Visitor for Rows {
        fn kind<K: Served>(&mut self) {
            let rows: Vec<String> = K::changes_table().iter().map(|row| row.field.replace("spec.", "")).collect();
            let fields: BTreeSet<String> = properties::<K>().into_keys().collect();
            assert_eq!(rows.iter().cloned().collect::<BTreeSet<_>>(), fields, "{}", K::PATH);
            assert_eq!(rows.len(), fields.len(), "{}: a field has two rows", K::PATH);
            self.0 += rows.len();
        }
    }
    let mut rows = Rows(0);
    visit(&mut rows);
    assert!(rows.0 >= 20, "{} rows: a kind was not looked at", rows.0);
}

#[test]
fn an_edit_of_one_field_raises_what_its_row_says() {
    let before = plan(&MemcachedSpec::default());
    let known = Known::<Memcached> { last_good: Some(before.clone()), applied: Some(before), ..Known::NOTHING };
    for row in Memcached::changes_table() {
        let wanted = plan(&edited(row.field.strip_prefix("spec.").expect("rows are about the spec")));
        match (Memcached::changes(&known, &wanted), row.raises) {
            (Ok(raised), Ok(event)) => assert_eq!(raised, BTreeSet::from([event]), "{}", row.field),
            (Err(faults), Err(why)) => {
                assert_eq!(faults.len(), 1, "{}", row.field);
                assert_eq!(faults[0].field, row.field);
                assert!(faults[0].text.starts_with("unsupported: ") && faults[0].text.ends_with(why), "{}", faults[0].text);
            }
            (got, row_says) => panic!("{}: the row says {row_says:?}, the edit gives {got:?}", row.field),
        }
    }
}

#[test]
fn before_the_first_ready_every_field_may_change() {
    let known = Known::<Memcached> { applied: Some(plan(&MemcachedSpec::default())), ..Known::NOTHING };
    for row in Memcached::changes_table() {
        let wanted = plan(&edited(row.field.strip_prefix("spec.").expect("rows are about the spec")));
        let raised = Memcached::changes(&known, &wanted).unwrap_or_else(|faults| panic!("{}: {faults:?}", row.field));
        assert_eq!(raised.len(), 1, "{}", row.field);
    }
}

#[test]
fn what_is_kept_says_the_same_as_what_was_written() {
    for field in properties::<Memcached>().keys() {
        let written = plan(&edited(field));
        let kept = Memcached::parse(&KeptSpec(written.spec()), "").expect("what was kept parses without a default image");
        assert_eq!(kept, written, "spec.{field}");
    }
}

#[test]
fn the_plan_and_the_schema_agree_on_every_bound() {
    let properties = properties::<Memcached>();
    let parses = |field: &str, value: Value, memory: &str| {
        let mut spec = json!(MemcachedSpec::default());
        spec["memory"] = json!(memory);
        spec[field] = value;
        plan::parse(&serde_json::from_value(spec).expect("a spec of the right types"), IMAGE).map_err(|faults| faults[0].field.clone())
    };
    for field in ["replicas", "maxConnections", "port"] {
        let bound = |name: &str| properties[field][name].as_f64().unwrap_or_else(|| panic!("{field} has a {name}"));
        for (value, legal) in
            [(bound("minimum") - 1.0, false), (bound("minimum"), true), (bound("maximum"), true), (bound("maximum") + 1.0, false)]
        {
            #[expect(clippy::cast_possible_truncation, reason = "bounds are whole numbers of 32 bits")]
            let got = parses(field, json!(value as i64), "64Mi");
            assert_eq!(got.is_ok(), legal, "{field}: {value} {got:?}");
        }
    }
    let cases = [
        ("memory", json!("8Mi"), true),
        ("memory", json!("8388607"), false),
        ("memory", json!(8_388_608), true),
        ("memory", json!("256Gi"), true),
        ("memory", json!("274877906945"), false),
        ("memory", json!("0"), false),
        ("memory", json!("-1Mi"), false),
        ("memory", json!("1E"), false),
        ("memory", json!("1.5Gi"), true),
        ("memory", json!("1Ki"), false),
        ("memory", json!("many"), false),
        ("maxItemSize", json!("512Ki"), true),
        ("maxItemSize", json!("524287"), false),
        ("maxItemSize", json!("128Mi"), true),
        ("maxItemSize", json!("129Mi"), false),
        ("maxItemSize", json!("513Ki"), false),
        ("maxItemSize", json!("1536Ki"), true),
    ];
    for (field, value, legal) in cases {
        let got = parses(field, value.clone(), "256Mi");
        assert_eq!(got.is_ok(), legal, "{field}: {value} {got:?}");
        assert!(got.is_ok() || got == Err(format!("spec.{field}")), "{field}: {value} {got:?}");
    }
    assert!(parses("maxItemSize", json!("4Mi"), "8Mi").is_ok(), "half of memory is legal");
    assert_eq!(parses("maxItemSize", json!("4608Ki"), "8Mi"), Err("spec.maxItemSize".to_owned()), "over half of memory is not");
    let schema = Value::from_iter(properties).to_string();
    for bound in [fields::MEMORY.0, fields::MEMORY.1, fields::ITEM.0, fields::ITEM.1] {
        assert!(schema.contains(&format!("quantity('{bound}')")), "the schema holds {bound}");
    }
}
