//! What takes more than the right to write an object, by policies that the API server judges itself: they hold with the webhook
//! away, and nobody who only reaches the operator can forge who asks.

use super::protection::{Kind, authorized, is_protected, kinds, policy};
use super::rights::ANSWERS;
use crate::kinds::annotations::{ANSWER, PROTECTED};
use crate::kinds::guarded::{Guarded, Right, Values};
use crate::kinds::intervention::SUBJECTS;
use crate::kinds::order::ChildKind;
use crate::kinds::verb::{Risk, Verb};
use serde_json::{Value, json};

/// One policy for each kind, with its binding.
pub(super) fn policies() -> Vec<Value> {
    kinds().iter().flat_map(guards).collect()
}

fn guards(kind: &Kind) -> [Value; 2] {
    let rule = json!({ "apiGroups": [kind.group], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": [kind.plural] });
    let mut validations: Vec<Value> = kind.guarded.iter().map(|guarded| field(kind, guarded)).collect();
    validations.extend([protection(kind), answers(kind)]);
    validations.extend((0..SUBJECTS).map(adoption));
    let spec = json!({
        "failurePolicy": "Fail",
        "matchConstraints": { "matchPolicy": "Equivalent", "resourceRules": [rule] },
        "variables": variables(),
        "validations": validations,
    });
    policy(&format!("guarded-{}.pointsman.dev", kind.path), spec, None)
}

/// What the validations share: is the object new, what is answered, and what stands in the way of the children.
fn variables() -> Vec<Value> {
    let annotation = |object: &str| format!("{object}.metadata.?annotations['{ANSWER}'].orValue('')");
    let resources: Vec<String> =
        ChildKind::ALL.iter().map(|kind| format!("'{}': ['{}', '{}']", kind.name(), kind.group(), kind.plural())).collect();
    let given = format!("!variables.isNew && {0} != {1} ? {0} : ''", annotation("object"), annotation("oldObject"));
    let variables = [
        ("isNew", "request.operation == 'CREATE'".to_owned()),
        ("answer", given),
        ("subjects", format!("variables.answer.startsWith('{}-') ? {} : []", Verb::Adopt.word(), asked("subjects"))),
        ("resources", format!("{{{}}}", resources.join(", "))),
    ];
    variables.map(|(name, expression)| json!({ "name": name, "expression": expression })).into()
}

/// A list of the open question of an object that is there. Not by a variable: of one that is optional, nothing is selected.
fn asked(list: &str) -> String {
    format!("oldObject.?status.?intervention.?{list}.orValue([])")
}

/// May the writer do what a right says?
fn may(kind: &Kind, right: Right) -> String {
    match right {
        Right::CreatePods => authorized("", "pods", "", "create"),
        Right::CreateServices => authorized("", "services", "", "create"),
        Right::Answer => authorized(&kind.group, &kind.plural, ".name(request.name)", "answer"),
    }
}

/// What somebody who may not needs, in words.
fn needs(kind: &Kind, right: Right) -> String {
    match right {
        Right::CreatePods => "takes the right to create pods in this namespace".to_owned(),
        Right::CreateServices => "takes the right to create services in this namespace".to_owned(),
        Right::Answer => format!("takes the right to answer {}, which the ClusterRole {ANSWERS} gives", kind.plural),
    }
}

/// A field of the spec, where it gets a value that takes more.
fn field(kind: &Kind, guarded: &Guarded) -> Value {
    let at = |object: &str| format!("{object}.{}", guarded.field.replace('.', ".?"));
    let (new, old) = (at("object"), at("oldObject"));
    let (value, made) = match guarded.values {
        Values::All => (format!("{new}.hasValue()"), "variables.isNew || "),
        Values::AllBut(default) => (format!("{new}.orValue('{default}') != '{default}'"), "variables.isNew || "),
        Values::Only(value) => (format!("!variables.isNew && {new}.orValue('') == '{value}'"), ""),
    };
    let title = match guarded.values {
        Values::Only(value) => format!("{}={value}", guarded.field),
        Values::All | Values::AllBut(_) => guarded.field.to_owned(),
    };
    json!({
        "expression": format!("!({value} && ({made}{new} != {old})) || {}", may(kind, guarded.right)),
        "message": format!("{title} {}: {}", needs(kind, guarded.right), guarded.why),
        "reason": "Forbidden",
    })
}

/// The protection, where it is taken off.
fn protection(kind: &Kind) -> Value {
    let (before, after) = (is_protected("oldObject"), is_protected("object"));
    json!({
        "expression": format!("variables.isNew || !({before}) || {after} || {}", may(kind, Right::Answer)),
        "message": format!("taking {PROTECTED} off {}: without it the object can be deleted", needs(kind, Right::Answer)),
        "reason": "Forbidden",
    })
}

/// An answer at the risk of data: what a verb can cost is known without the status, which somebody else may have written. Only
/// keeping the volumes costs nothing as a rule; where it does, the question says so.
fn answers(kind: &Kind) -> Value {
    let risky = Verb::ALL.iter().filter(|verb| verb.risk() == Risk::DataLoss && **verb != Verb::KeepVolumes);
    let mut given: Vec<String> = risky.map(|verb| format!("variables.answer.startsWith('{}-')", verb.word())).collect();
    let keep = Verb::KeepVolumes.word();
    let costs = format!("{}.exists(offer, offer.verb == '{keep}' && offer.risk == 'DataLoss')", asked("answers"));
    given.push(format!("variables.answer.startsWith('{keep}-') && {costs}"));
    json!({
        "expression": format!("!({}) || {}", given.join(" || "), may(kind, Right::Answer)),
        "messageExpression": format!("variables.answer + ' can lose data for good, so it {}'", needs(kind, Right::Answer)),
        "message": format!("an answer that can lose data for good {}", needs(kind, Right::Answer)),
        "reason": "Forbidden",
    })
}

/// Whoever lets an object be taken over must be allowed to overwrite it, and to delete it: both are done later. One subject for
/// each validation, since the API server lets one expression ask for two rights.
fn adoption(index: usize) -> Value {
    let subject = format!("variables.subjects[{index}]");
    let of = |part: usize| format!("variables.resources[{subject}.kind][{part}]");
    let named = format!("authorizer.group({}).resource({}).namespace(request.namespace).name({subject}.name)", of(0), of(1));
    let may = |verb: &str| format!("{named}.check('{verb}').allowed()");
    json!({
        "expression": format!("variables.subjects.size() <= {index} || ({} && {})", may("update"), may("delete")),
        "messageExpression": format!(
            "variables.answer + ' overwrites ' + {subject}.kind + ' ' + {subject}.name + ' and deletes it later: that takes the right to update and to delete it'"
        ),
        "message": "what is taken over is overwritten, and deleted later: that takes the right to update and to delete it",
        "reason": "Forbidden",
    })
}
