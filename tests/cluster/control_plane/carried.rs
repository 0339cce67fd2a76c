//! Writes through v1alpha1 that would lose what it cannot say, for any kind: each is refused.

use super::attempts::{Attempt, Verb};
use super::refusal_cases::{Case, Says};
use crate::harness::Space;
use crate::harness::carrier::Versions;
use serde_json::{Value, json};

const SERVER_SIDE: [&str; 3] = ["apply", "--server-side", "--force-conflicts"];

/// The object whose export is old, and the one that v1 was applied to server-side.
const EXPORTED: &str = "exported";
const APPLIED: &str = "applied";

/// A kind, and what its cases are made with.
#[derive(Clone, Debug)]
pub struct Carried {
    /// The kind.
    pub kind: &'static Versions,
    /// An object that carries nothing, and its spec in v1alpha1.
    pub plain: (&'static str, Value),
    /// An object that carries something, and its spec in v1alpha1 without it.
    pub rich: (&'static str, Value),
    /// A field of v1, to be carried.
    pub added: Value,
    /// A field of v1 with a value of another type.
    pub mistyped: Value,
    /// A name that is no field of v1.
    pub unknown: &'static str,
}

impl Carried {
    /// What the API server takes no carrier of.
    fn kept() -> Says {
        Says::Rule("spec.v1", vec!["v1alpha1 carries the fields of v1 unchanged; change them through "])
    }

    /// The carrier added, changed, removed, dropped, empty, of a wrong type, and with an unknown field.
    pub fn on_objects(&self) -> Vec<Case> {
        let strict = &[Verb::Create, Verb::Apply, Verb::ServerSide, Verb::Replace];
        let unknown = json!({ "v1": { self.unknown: 9 } });
        [
            self.all("carrier-dropped", &[Verb::Replace], &self.rich, &json!({}), &Self::kept()),
            self.all("carrier-changed", Verb::CHANGING, &self.rich, &json!({ "v1": self.added }), &Self::kept()),
            self.all("carrier-removed", &[Verb::Patch], &self.rich, &json!({ "v1": null }), &Self::kept()),
            self.all("carrier-added", Verb::CHANGING, &self.plain, &json!({ "v1": self.added }), &Self::kept()),
            self.all("carrier-empty", Verb::WRITING, &self.plain, &json!({ "v1": {} }), &Says::Printed),
            self.all("carrier-wrong-type", Verb::WRITING, &self.plain, &json!({ "v1": self.mistyped }), &Says::Printed),
            self.all("carrier-unknown-field", strict, &self.plain, &unknown, &Says::Printed),
        ]
        .concat()
    }

    fn all(&self, case: &str, verbs: &[Verb], (name, spec): &(&'static str, Value), change: &Value, says: &Says) -> Vec<Case> {
        let attempt = |verb: &Verb| Attempt::write(case, *verb, (self.kind, "v1alpha1", name), spec, change);
        verbs.iter().map(|verb| Case { attempt: attempt(verb), says: says.clone() }).collect()
    }

    /// An export made before v1 changed a field, written back after it.
    #[track_caller]
    pub fn old_exports(&self, space: &Space, change: &Value) -> Vec<Case> {
        let export = space.object(&self.kind.resource("v1alpha1", EXPORTED));
        let patch = json!({ "spec": change }).to_string();
        space.kubectl(&["patch", &self.kind.resource("v1", EXPORTED), "--type=merge", "--patch", &patch]).ok();
        let kept = self.kind.manifest("v1alpha1", EXPORTED, &export["spec"]);
        let mut versioned = kept.clone();
        versioned["metadata"]["resourceVersion"] = export["metadata"]["resourceVersion"].clone();
        let case = |(verb, arguments): (&str, &[&str])| Case {
            attempt: Attempt::manifest(&format!("old-export.{verb}"), arguments, &kept),
            says: Self::kept(),
        };
        let mut cases = [("apply", &["apply"][..]), ("replace", &["replace"]), ("apply-server-side", &SERVER_SIDE)].map(case).to_vec();
        let stale = Attempt::manifest("old-export-with-its-version.replace", &["replace"], &versioned);
        cases.push(Case { attempt: stale, says: Says::Printed });
        cases
    }

    /// Applies v1 server-side, to an object of its own.
    #[track_caller]
    pub fn applied(&self, space: &Space, spec: &Value) {
        let manifest = self.kind.manifest("v1", APPLIED, spec).to_string();
        space.kubectl_with(&["apply", "--server-side", "--filename", "-"], &manifest).ok();
    }

    /// The manager that applied v1's fields leaves them out: that would remove them.
    pub fn same_manager(&self) -> Case {
        let attempt =
            Attempt::manifest("same-manager.apply-server-side", &SERVER_SIDE, &self.kind.manifest("v1alpha1", APPLIED, &self.plain.1));
        Case { attempt, says: Self::kept() }
    }
}
