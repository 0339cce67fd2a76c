//! What the operator may do, rule by rule, and which rule allowed what it did.

use super::audit::{self, OPERATOR};
use super::stored;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// A verb on a resource, as one rule of a role grants it: a wide one is another than a narrow one with the same verb.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    verb: String,
    resource: String,
    group: String,
    /// The one object that it is about; any where there is none.
    name: Option<String>,
    /// The one namespace where it holds; everywhere where there is none.
    namespace: Option<String>,
}

/// A call of the operator's, as far as rights go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call(Right);

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = if self.group.is_empty() { "the core group" } else { &self.group };
        write!(f, "{} {} of {group}", self.verb, self.resource)?;
        self.name.iter().try_for_each(|name| write!(f, " named {name}"))?;
        match &self.namespace {
            Some(namespace) => write!(f, " in {namespace}"),
            None => write!(f, " everywhere"),
        }
    }
}

impl Right {
    /// Does it show Secrets that it does not name, or that are not in a namespace of ours?
    pub fn shows_secrets_of_others(&self) -> bool {
        let is_wide = self.name.is_none() || self.namespace.is_none();
        is_wide && self.resource == "secrets" && ["list", "watch"].contains(&&*self.verb)
    }

    fn allows(&self, Call(asked): &Call) -> bool {
        let same = (&self.verb, &self.resource, &self.group) == (&asked.verb, &asked.resource, &asked.group);
        let within = |limit: &Option<String>, place: &Option<String>| limit.is_none() || limit == place;
        same && within(&self.name, &asked.name) && within(&self.namespace, &asked.namespace)
    }

    /// The smaller, the narrower.
    fn width(&self) -> (bool, bool) {
        (self.name.is_none(), self.namespace.is_none())
    }
}

impl Call {
    fn of(entry: &audit::Entry, verb: &str) -> Self {
        let word = |key: &str| entry.0["objectRef"][key].as_str().map(str::to_owned);
        let group = word("apiGroup").unwrap_or_default();
        // What a create names stands in no rule: the API server does not know it yet when it asks for the right.
        let name = word("name").filter(|_| verb != "create");
        Call(Right { verb: verb.to_owned(), resource: entry.resource(), group, name, namespace: word("namespace") })
    }
}

/// Every right that a binding gives to the operator, once for each rule that grants it.
#[track_caller]
pub fn granted() -> Vec<Right> {
    let bindings = [&["clusterrolebindings"][..], &["rolebindings", "--all-namespaces"]].map(stored);
    let all = bindings.iter().flat_map(|list| list["items"].as_array().unwrap());
    all.filter(|binding| binds_the_operator(binding)).flat_map(rights_of).collect()
}

fn binds_the_operator(binding: &Value) -> bool {
    let subjects = binding["subjects"].as_array().cloned().unwrap_or_default();
    let user = |subject: &Value| {
        let word = |key: &str| subject[key].as_str().unwrap_or_default();
        format!("system:serviceaccount:{}:{}", word("namespace"), word("name"))
    };
    subjects.iter().any(|subject| user(subject) == OPERATOR)
}

fn rights_of(binding: &Value) -> Vec<Right> {
    let namespace = binding["metadata"]["namespace"].as_str();
    let role = ["kind", "name"].map(|key| binding["roleRef"][key].as_str().unwrap());
    let role = stored(&[&role[..], &["--namespace", namespace.unwrap_or("default")]].concat());
    role["rules"].as_array().unwrap().iter().flat_map(|rule| rights(rule, namespace)).collect()
}

fn rights(rule: &Value, namespace: Option<&str>) -> Vec<Right> {
    let words = |key: &str| rule[key].as_array().into_iter().flatten().map(|word| word.as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let mut names: Vec<Option<String>> = words("resourceNames").into_iter().map(Some).collect();
    if names.is_empty() {
        names.push(None);
    }
    let mut rights = Vec::new();
    for (group, resource) in words("apiGroups").iter().flat_map(|group| words("resources").into_iter().map(move |one| (group, one))) {
        for (verb, name) in words("verbs").iter().flat_map(|verb| names.iter().map(move |name| (verb, name))) {
            let (group, namespace) = (group.clone(), namespace.map(str::to_owned));
            rights.push(Right { verb: verb.clone(), resource: resource.clone(), group, name: name.clone(), namespace });
        }
    }
    rights
}

/// The rights that the calls used: each counts for the narrowest that allows it. And the calls that none allows.
pub fn used<'a>(granted: &'a [Right], calls: &'a BTreeSet<Call>) -> (BTreeSet<&'a Right>, Vec<String>) {
    let (mut used, mut allowed_by_none) = (BTreeSet::new(), Vec::new());
    for call in calls {
        match granted.iter().filter(|right| right.allows(call)).min_by_key(|right| right.width()) {
            Some(right) => _ = used.insert(right),
            None => allowed_by_none.push(call.0.to_string()),
        }
    }
    (used, allowed_by_none)
}

/// All that was asked since the cluster began; and each call that was denied.
pub fn asked() -> (BTreeSet<Call>, Vec<String>) {
    let (mut calls, mut denied) = (BTreeSet::new(), Vec::new());
    audit::all_by_operator(|entry| {
        let call = Call::of(entry, &entry.verb());
        if is_denied(entry) {
            denied.push(format!("{}: {}", call.0, entry.0["requestURI"]));
        } else if entry.0["objectRef"].is_object() {
            calls.insert(call);
            // An apply that makes its object is asked for that right too.
            if entry.verb() == "patch" && entry.code() == 201 {
                calls.insert(Call::of(entry, "create"));
            }
        }
    });
    (calls, denied)
}

/// Denied as a whole, or for a part of what it asked: to own, or to make what it applied.
fn is_denied(entry: &audit::Entry) -> bool {
    let message = entry.0["responseStatus"]["message"].as_str().unwrap_or_default();
    let in_part = entry.code() == 403 && (message.contains(OPERATOR) || message.contains("cannot set"));
    in_part || entry.0["annotations"]["authorization.k8s.io/decision"] == "forbid"
}
