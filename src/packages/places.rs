//! Where the chart's values go into the objects of the list: one row a place, and nothing else of a chart is written by hand.

use super::manifests::NAMESPACE;
use super::protection::DELETABLE;
use super::rights::{EDIT, VIEW, WATCHED};
use serde_json::{Value, json};

/// Where one value goes.
pub(super) struct Place {
    /// The object's kind and name.
    of: (&'static str, &'static str),
    /// Where in the object, as a JSON pointer; `-` stands for the end of a list.
    pub(super) at: &'static str,
    /// The value's path in `values.yaml`.
    pub(super) value: &'static str,
    /// How it is written there.
    pub(super) write: Write,
}

/// How a value is written.
#[derive(Clone, Copy)]
pub(super) enum Write {
    /// As a number.
    Number,
    /// As a string.
    Text,
    /// As a string, where it is not empty.
    TextIfAny,
    /// As a map or a list.
    Tree,
    /// As a map or a list, where it is not empty.
    TreeIfAny,
    /// What the object says stands there where the value is true, and these texts where it is not.
    Switch(&'static [(&'static str, &'static str)]),
    /// By an expression of its own.
    Expression(&'static str),
    /// As environment variables: every setting that is given.
    Settings,
}

const OPERATOR: (&str, &str) = ("Deployment", "pointsman");
const SERVICE: (&str, &str) = ("Service", "pointsman");
const IMAGE: &str =
    r#"printf "%s/%s:%s" .Values.image.registry .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote"#;

#[rustfmt::skip]
const PLACES: &[Place] = &[
    place(OPERATOR, "/spec/replicas", "replicas", Write::Number),
    place(OPERATOR, "/spec/template/spec/containers/0/image", "image", Write::Expression(IMAGE)),
    place(OPERATOR, "/spec/template/spec/containers/0/imagePullPolicy", "image.pullPolicy", Write::Text),
    place(OPERATOR, "/spec/template/spec/imagePullSecrets", "imagePullSecrets", Write::TreeIfAny),
    place(OPERATOR, "/spec/template/spec/containers/0/env/-", "settings", Write::Settings),
    place(OPERATOR, "/spec/template/spec/containers/0/resources", "resources", Write::Tree),
    place(OPERATOR, "/spec/template/spec/nodeSelector", "nodeSelector", Write::TreeIfAny),
    place(OPERATOR, "/spec/template/spec/tolerations", "tolerations", Write::TreeIfAny),
    place(OPERATOR, "/spec/template/spec/affinity", "affinity", Write::TreeIfAny),
    place(OPERATOR, "/spec/template/spec/priorityClassName", "priorityClassName", Write::TextIfAny),
    place(SERVICE, "/spec/ipFamilyPolicy", "service.ipFamilyPolicy", Write::Text),
    place(SERVICE, "/spec/ipFamilies", "service.ipFamilies", Write::TreeIfAny),
    place(("CustomResourceDefinition", ""), "/metadata/annotations", "crds.keep", Write::Switch(&[(DELETABLE, "true")])),
    place(("RoleBinding", WATCHED), "/metadata/namespace", "watchNamespaces", Write::Expression(". | quote")),
];

/// What an object depends on: its kind, its name, where not every one of the kind does, and the condition.
const CONDITIONS: &[(&str, &str, &str)] = &[
    ("Namespace", "", ".Values.namespace.create"),
    ("CustomResourceDefinition", "", ".Values.crds.install"),
    ("PriorityClass", "", r#"eq .Values.priorityClassName "pointsman""#),
    ("PodDisruptionBudget", "", ".Values.podDisruptionBudget.enabled"),
    ("NetworkPolicy", "", ".Values.networkPolicy.enabled"),
    ("PodMonitor", "", ".Values.podMonitor.enabled"),
    ("PrometheusRule", "", ".Values.prometheusRule.enabled"),
    ("ClusterRole", VIEW, ".Values.rbac.aggregate"),
    ("ClusterRole", EDIT, ".Values.rbac.aggregate"),
];

const fn place(of: (&'static str, &'static str), at: &'static str, value: &'static str, write: Write) -> Place {
    Place { of, at, value, write }
}

/// The places in one object; an empty name in a row is every name.
pub(super) fn places(object: &Value) -> impl Iterator<Item = &'static Place> {
    let (kind, name) = (object["kind"].clone(), object["metadata"]["name"].clone());
    PLACES.iter().filter(move |place| kind == place.of.0 && (place.of.1.is_empty() || name == place.of.1))
}

/// What an object depends on, as an expression; nothing where it is always there.
pub(super) fn condition(object: &Value) -> Option<&'static str> {
    let of = |kind: &str, name: &str| object["kind"] == *kind && (name.is_empty() || object["metadata"]["name"] == *name);
    CONDITIONS.iter().find(|(kind, name, _)| of(kind, name)).map(|(_, _, condition)| *condition)
}

/// What the objects say in the place of a value.
pub(super) fn said(objects: &[Value], value: &str) -> Option<Value> {
    let read = |object: &Value| {
        let place = places(object).find(|place| place.value == value)?;
        let said = object.pointer(place.at.trim_end_matches("/-"))?;
        Some(if matches!(place.write, Write::Switch(_)) { json!(true) } else { said.clone() })
    };
    objects.iter().find_map(read)
}

/// The name of an object's file: its kind, and its name where the kind does not tell it apart.
pub(super) fn file_name(object: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (kind, name) = (word(&object["kind"]).to_lowercase(), word(&object["metadata"]["name"]));
    if name == "pointsman" || name == NAMESPACE {
        return format!("{kind}.yaml");
    }
    format!("{kind}-{}.yaml", name.strip_prefix("pointsman-").unwrap_or(&name))
}
