//! Every write that is refused, by the layer that answers it.

use super::attempts::{Attempt, Verb};
use crate::harness::carrier::MEMCACHED;
use serde_json::{Value, json};

/// What a refusal has to say.
#[derive(Clone, Debug)]
pub enum Says {
    /// Decoding, the schema or kubectl itself answers: in their own words.
    Printed,
    /// A rule of ours: the field, then these words.
    Rule(&'static str, Vec<&'static str>),
    /// No release makes this change: the field, from, to.
    Unsupported(&'static str, &'static str, &'static str),
    /// Not now: the field, from, to.
    Busy(&'static str, &'static str, &'static str),
}

/// A write that is refused.
#[derive(Clone, Debug)]
pub struct Case {
    /// How it is made.
    pub attempt: Attempt,
    /// What is said.
    pub says: Says,
}

/// A case that a rule of ours answers.
pub fn rule(attempt: Attempt, field: &'static str, words: &[&'static str]) -> Case {
    Case { attempt, says: Says::Rule(field, words.to_vec()) }
}

/// What `cache` is written with, through v1.
pub fn base() -> Value {
    json!({ "replicas": 3, "memory": "128Mi" })
}

/// What `classic` is written with, through v1alpha1.
pub fn classic() -> Value {
    json!({ "size": 3 })
}

const TEXT_OF_MEMORY: [&str; 2] = ["8Mi", "256Gi"];

/// Every case of a spec.
pub fn cases() -> Vec<Case> {
    [
        v1_by_the_schema(),
        v1_by_our_rules(),
        pods_that_would_be_refused(),
        names(),
        changes(),
        v1alpha1_by_the_schema(),
        v1alpha1_by_our_rules(),
    ]
    .concat()
}

fn on_cache(name: &str, verbs: &[Verb], change: Value, says: &Says) -> Vec<Case> {
    all(name, verbs, "v1", "cache", base(), change, says)
}

fn on_classic(name: &str, verbs: &[Verb], change: Value, says: &Says) -> Vec<Case> {
    all(name, verbs, "v1alpha1", "classic", classic(), change, says)
}

#[expect(clippy::needless_pass_by_value, reason = "the tables below are read more easily")]
fn all(name: &str, verbs: &[Verb], version: &str, object: &str, spec: Value, change: Value, says: &Says) -> Vec<Case> {
    let case =
        |verb: &Verb| Case { attempt: Attempt::write(name, *verb, (&MEMCACHED, version, object), &spec, &change), says: says.clone() };
    verbs.iter().map(case).collect()
}

fn v1_by_the_schema() -> Vec<Case> {
    let says = &Says::Printed;
    // `kubectl patch` asks for no strict decoding: it warns and changes nothing.
    let strict = &[Verb::Create, Verb::Apply, Verb::ServerSide, Verb::Replace];
    [
        on_cache("unknown-field", strict, json!({ "maxConections": 9 }), says),
        on_cache("replicas-1000", &[&[Verb::Create], Verb::COUNTING].concat(), json!({ "replicas": 1000 }), says),
        on_cache("replicas-minus-1", &[&[Verb::Create], Verb::COUNTING].concat(), json!({ "replicas": -1 }), says),
        on_cache("image-too-long", Verb::WRITING, json!({ "image": "a".repeat(513) }), says),
        on_cache("memory-is-a-list", Verb::WRITING, json!({ "memory": ["64Mi"] }), says),
        on_cache("port-80", Verb::WRITING, json!({ "port": 80 }), says),
        on_cache("several-at-once", Verb::WRITING, json!({ "port": 80, "memory": "1Ki", "maxItemSize": "700Ki", "image": "A" }), says),
    ]
    .concat()
}

fn v1_by_our_rules() -> Vec<Case> {
    let rule = |field, words: &[&'static str]| Says::Rule(field, words.to_vec());
    let memory = |value: &'static str| rule("spec.memory", &[&[value][..], &TEXT_OF_MEMORY].concat());
    let label = json!({ "podTemplate": { "metadata": { "labels": { "app.kubernetes.io/name": "mine" } } } });
    [
        on_cache("memory-1e", Verb::WRITING, json!({ "memory": "1E" }), &memory("1E")),
        on_cache("memory-0", Verb::WRITING, json!({ "memory": 0 }), &memory("0")),
        on_cache("memory-negative", Verb::WRITING, json!({ "memory": "-1Mi" }), &memory("-1Mi")),
        on_cache("memory-1ki", Verb::WRITING, json!({ "memory": "1Ki" }), &memory("1Ki")),
        on_cache("memory-no-quantity", Verb::WRITING, json!({ "memory": "lots" }), &memory("lots")),
        on_cache("image-empty", Verb::WRITING, json!({ "image": "" }), &rule("spec.image", &["\"\" is", "for example"])),
        on_cache(
            "image-with-a-line-break",
            Verb::WRITING,
            json!({ "image": "memcached:1.6\n" }),
            &rule("spec.image", &["memcached:1.6\\n", "for example"]),
        ),
        on_cache(
            "image-malformed",
            Verb::WRITING,
            json!({ "image": "Memcached:1.6:2" }),
            &rule("spec.image", &["Memcached:1.6:2", "for example"]),
        ),
        on_cache(
            "item-over-half",
            Verb::WRITING,
            json!({ "maxItemSize": "65Mi" }),
            &rule("spec.maxItemSize", &["65Mi", "half of memory 128Mi"]),
        ),
        on_cache(
            "item-no-multiple",
            Verb::WRITING,
            json!({ "maxItemSize": "700Ki" }),
            &rule("spec.maxItemSize", &["700Ki", "multiple of 512Ki"]),
        ),
        on_cache("item-no-quantity", Verb::WRITING, json!({ "maxItemSize": "big" }), &rule("spec.maxItemSize", &["big", "512Ki to 128Mi"])),
        on_cache(
            "memory-requested",
            Verb::WRITING,
            json!({ "resources": { "requests": { "memory": "1Gi" } } }),
            &rule("spec.resources", &["spec.memory", "change those instead"]),
        ),
        on_cache(
            "memory-limited",
            Verb::WRITING,
            json!({ "resources": { "limits": { "memory": "1Gi" } } }),
            &rule("spec.resources", &["spec.memory", "change those instead"]),
        ),
        on_cache(
            "label-reserved",
            Verb::WRITING,
            label,
            &rule("spec.podTemplate.metadata.labels", &["kubernetes.io", "prefix of your own"]),
        ),
    ]
    .concat()
}

fn names() -> Vec<Case> {
    let says = Says::Rule("metadata.name", vec!["at most 52", "start with a letter"]);
    let named = |case: &str, name: &str| all(case, &[Verb::Apply, Verb::ServerSide], "v1", name, base(), json!({}), &says);
    let old = |case: &str, name: &str| all(case, &[Verb::Apply, Verb::ServerSide], "v1alpha1", name, classic(), json!({}), &says);
    let long = "a".repeat(62);
    let created = Attempt::write("name-too-long", Verb::Create, (&MEMCACHED, "v1", &long[4..]), &base(), &json!({}));
    [
        named("name-too-long", &long),
        vec![Case { attempt: created, says: says.clone() }],
        named("name-with-a-digit-first", "1st-cache"),
        named("name-with-a-dot", "cache.shop"),
        old("name-too-long-v1alpha1", &long),
    ]
    .concat()
}

fn changes() -> Vec<Case> {
    let port = Says::Unsupported("spec.port", "11211", "11311");
    let count = |change, verbs, version, name| {
        all(
            name,
            verbs,
            version,
            "leaving",
            base(),
            change,
            &Says::Busy(if version == "v1" { "spec.replicas" } else { "spec.size" }, "3", "5"),
        )
    };
    let image = json!({ "image": "docker.io/library/memcached:1.6.38" });
    [
        on_cache("port-after-ready", Verb::CHANGING, json!({ "port": 11311 }), &port),
        count(json!({ "replicas": 5 }), Verb::COUNTING, "v1", "count-while-deleting"),
        count(json!({ "size": 5 }), &[Verb::Patch], "v1alpha1", "size-while-deleting"),
        all(
            "image-while-deleting",
            Verb::CHANGING,
            "v1",
            "leaving",
            base(),
            image,
            &Says::Busy("spec.image", "(none)", "docker.io/library/memcached:1.6.38"),
        ),
    ]
    .concat()
}

fn v1alpha1_by_the_schema() -> Vec<Case> {
    let says = &Says::Printed;
    let strict = &[Verb::Create, Verb::Apply, Verb::ServerSide, Verb::Replace];
    let with_scale = [&[Verb::Create], Verb::COUNTING].concat();
    [
        on_classic("unknown-field-v1alpha1", strict, json!({ "replicas": 3 }), says),
        on_classic("size-string", Verb::WRITING, json!({ "size": "3" }), says),
        on_classic("size-minus-1", &with_scale, json!({ "size": -1 }), says),
        on_classic("size-1000", &with_scale, json!({ "size": 1000 }), says),
        on_classic("size-fractional", Verb::WRITING, json!({ "size": 2.5 }), says),
        on_classic("size-2-to-the-40", Verb::WRITING, json!({ "size": 1_u64 << 40 }), says),
    ]
    .concat()
}

/// The API server takes such a spec, and would refuse every pod of it.
fn pods_that_would_be_refused() -> Vec<Case> {
    let rule = |field, words: &[&'static str]| Says::Rule(field, words.to_vec());
    let patched = |name, change, says: &Says| on_cache(name, &[Verb::Patch], change, says);
    [
        patched(
            "request-over-limit",
            json!({ "resources": { "limits": { "cpu": "20m" } } }),
            &rule("spec.resources.requests[cpu]", &["50m is over the limit 20m"]),
        ),
        patched(
            "label-no-key",
            json!({ "podTemplate": { "metadata": { "labels": { "a b": "c" } } } }),
            &rule("spec.podTemplate.metadata.labels", &["\"a b\" is no key"]),
        ),
        patched(
            "toleration-no-effect",
            json!({ "podTemplate": { "spec": { "tolerations": [{ "operator": "Exists", "effect": "Sometimes" }] } } }),
            &rule("spec.podTemplate.spec.tolerations[0].effect", &["\"Sometimes\" is none of NoSchedule"]),
        ),
        patched(
            "spread-no-key",
            json!({ "podTemplate": { "spec": { "topologySpreadConstraints": [
                { "maxSkew": 1, "topologyKey": "the zone", "whenUnsatisfiable": "DoNotSchedule" }] } } }),
            &rule("spec.podTemplate.spec.topologySpreadConstraints[0].topologyKey", &["\"the zone\" is no key"]),
        ),
        patched("node-label-no-value", json!({ "podTemplate": { "spec": { "nodeSelector": { "disk": "fast ssd" } } } }), &Says::Printed),
        patched("account-no-name", json!({ "podTemplate": { "spec": { "serviceAccountName": "My Account" } } }), &Says::Printed),
    ]
    .concat()
}

fn v1alpha1_by_our_rules() -> Vec<Case> {
    let created = |name, change, says| all(name, &[Verb::Create], "v1alpha1", "classic", classic(), change, says);
    [
        created("carrier-says-a-default", json!({ "v1": { "memory": "64Mi" } }), &Says::Rule("spec.v1.memory", vec!["leave out"])),
        created(
            "carrier-says-the-default-resources",
            json!({ "v1": { "resources": { "requests": { "cpu": "50m" } } } }),
            &Says::Rule("spec.v1.resources", vec!["leave out"]),
        ),
        created(
            "carrier-item-over-half",
            json!({ "v1": { "maxItemSize": "40Mi" } }),
            &Says::Rule("spec.v1.maxItemSize", vec!["40Mi", "half of memory 64Mi"]),
        ),
        created("carrier-memory-1ki", json!({ "v1": { "memory": "1Ki" } }), &Says::Rule("spec.v1.memory", vec!["1Ki", "8Mi"])),
    ]
    .concat()
}
