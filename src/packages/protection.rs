//! What keeps protected objects, by policies that the API server judges itself: they hold with the operator away.

use super::manifests::definitions;
use super::manifests::labels;
use crate::kinds::annotations::PROTECTED;
use crate::kinds::guarded::Guarded;
use crate::kinds::of_each;
use serde_json::{Value, json};

/// On a definition: it may be deleted, and every object of its kind with it.
pub const DELETABLE: &str = "pointsman.dev/deletable";

/// One policy that guards the objects themselves, one a kind that guards their namespaces, one that guards the definitions;
/// each with its binding.
pub(super) fn policies() -> Vec<Value> {
    let kinds = kinds();
    let mut policies = vec![objects(&kinds)];
    policies.extend(kinds.iter().map(namespaces));
    policies.push(all_of_a_kind());
    policies.into_iter().flatten().collect()
}

/// A kind, as policies name it.
pub(super) struct Kind {
    name: String,
    pub(super) path: &'static str,
    short: &'static str,
    pub(super) group: String,
    pub(super) plural: String,
    pub(super) guarded: &'static [Guarded],
}

/// Every kind.
pub(super) fn kinds() -> Vec<Kind> {
    of_each!(K: Kind => {
        let spec = K::definition().spec;
        let (group, plural, name) = (spec.group, spec.names.plural, spec.names.kind);
        Kind { path: K::PATH, short: K::SHORT, group, plural, name, guarded: K::GUARDED }
    })
}

/// `DELETE` of a protected object.
fn objects(kinds: &[Kind]) -> [Value; 2] {
    let rule = |kind: &Kind| deletion(&kind.group, "v1", &kind.plural);
    let shorts: Vec<String> = kinds.iter().map(|kind| format!("'{}': '{}'", kind.plural, kind.short)).collect();
    let short = format!("{{{}}}[request.resource.resource]", shorts.join(", "));
    let (name, place) = ("oldObject.metadata.name", "oldObject.metadata.namespace");
    let lifted = format!("'kubectl annotate %s/%s -n %s {PROTECTED}-'.format([{short}, {name}, {place}])");
    let validation = json!({
        "expression": format!("!({})", is_protected("oldObject")),
        "messageExpression": format!("'protected: ' + {name} + ' carries {PROTECTED}=true. To delete it, first: ' + {lifted}"),
        "message": format!("the object carries {PROTECTED}=true; take that off first"),
        "reason": "Forbidden",
    });
    let constraints = json!({ "matchPolicy": "Equivalent", "resourceRules": kinds.iter().map(rule).collect::<Vec<_>>() });
    policy(
        "protected.pointsman.dev",
        json!({ "failurePolicy": "Fail", "matchConstraints": constraints, "validations": [validation] }),
        None,
    )
}

/// `DELETE` of a namespace that holds a protected object: each object there is a parameter of the policy.
///
/// The policy must not fail where its parameters are unknown: without the definition, no namespace of the cluster could be
/// deleted any more.
fn namespaces(kind: &Kind) -> [Value; 2] {
    let name = "params.metadata.name";
    let lifted = format!("'kubectl annotate {}/%s -n %s {PROTECTED}-'.format([{name}, request.name])", kind.short);
    let holds = format!("'the namespace holds the protected {} ' + {name} + ', which would go with it. To delete it, first: '", kind.name);
    let validation = json!({
        "expression": format!("!({})", is_protected("params")),
        "messageExpression": format!("{holds} + {lifted}"),
        "message": format!("the namespace holds a protected {}", kind.name),
        "reason": "Forbidden",
    });
    let spec = json!({
        "failurePolicy": "Ignore",
        "paramKind": { "apiVersion": format!("{}/v1", kind.group), "kind": kind.name },
        "matchConstraints": { "matchPolicy": "Equivalent", "resourceRules": [deletion("", "v1", "namespaces")] },
        "validations": [validation],
    });
    let parameters = json!({ "selector": {}, "parameterNotFoundAction": "Allow" });
    policy(&format!("protected-namespace-{}.pointsman.dev", kind.path), spec, Some(parameters))
}

/// `DELETE` of one of our definitions: every object of its kind would go with it, and no admission is asked about those.
fn all_of_a_kind() -> [Value; 2] {
    let names: Vec<Value> = definitions().into_iter().map(|mut definition| definition["metadata"]["name"].take()).collect();
    let rule = deletion("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    let name = "oldObject.metadata.name";
    // Not by `resourceNames`: who deletes a collection names none.
    let ours = json!([{ "name": "definitions-of-pointsman", "expression": format!("{name} in {}", json!(names)) }]);
    let validation = json!({
        "expression": format!("oldObject.metadata.?annotations['{DELETABLE}'].orValue('') == 'true'"),
        "messageExpression": format!("'every object of this kind would be deleted with it. If that is meant, first: kubectl annotate crd/%s {DELETABLE}=true'.format([{name}])"),
        "message": "every object of this kind would be deleted with it",
        "reason": "Forbidden",
    });
    let constraints = json!({ "matchPolicy": "Equivalent", "resourceRules": [rule] });
    policy(
        "protected-definition.pointsman.dev",
        json!({ "failurePolicy": "Fail", "matchConstraints": constraints, "matchConditions": ours, "validations": [validation] }),
        None,
    )
}

pub(super) fn is_protected(object: &str) -> String {
    format!("{object}.metadata.?annotations['{PROTECTED}'].orValue('') == 'true'")
}

/// May the writer do this in the namespace of the request? `more` narrows it: to a name, or a subresource.
pub(super) fn authorized(group: &str, plural: &str, more: &str, verb: &str) -> String {
    format!("authorizer.group('{group}').resource('{plural}').namespace(request.namespace){more}.check('{verb}').allowed()")
}

fn deletion(group: &str, version: &str, plural: &str) -> Value {
    json!({ "apiGroups": [group], "apiVersions": [version], "operations": ["DELETE"], "resources": [plural], "scope": "*" })
}

/// A policy and the binding that puts it in force.
pub(super) fn policy(name: &str, spec: Value, parameters: Option<Value>) -> [Value; 2] {
    let object = |kind: &str, spec: Value| json!({ "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": { "name": name, "labels": labels() }, "spec": spec });
    let mut binding = json!({ "policyName": name, "validationActions": ["Deny"] });
    if let Some(parameters) = parameters {
        binding["paramRef"] = parameters;
    }
    [object("ValidatingAdmissionPolicy", spec), object("ValidatingAdmissionPolicyBinding", binding)]
}
