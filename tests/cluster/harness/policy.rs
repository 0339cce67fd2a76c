//! Policies of an administrator, in force in one namespace as long as they are held.

use super::{Space, eventually, kubectl, kubectl_with};

/// What a policy does, and to what.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// How it is called, beside its namespace.
    pub name: &'static str,
    /// `[{apiGroups: ..., ...}]`: what it is for; when created and when updated.
    pub resources: &'static str,
    /// The rest of the policy's spec.
    pub does: Does,
}

/// What a policy does.
#[derive(Clone, Copy, Debug)]
pub enum Does {
    /// Changes an object as an expression of `ApplyConfiguration` says.
    Adds(&'static str),
    /// Changes an object as an expression of `JSONPatch` says.
    Patches(&'static str),
    /// Refuses an object for which an expression is false, in these words.
    Refuses(&'static str, &'static str),
}

/// Policies that are in force; they go when this is dropped.
#[derive(Debug)]
pub struct Policies(Vec<[String; 2]>);

impl Policies {
    /// Makes them, and waits until the API server goes by all of them.
    #[track_caller]
    pub fn in_force(space: &Space, rules: &[Rule], shows: impl Fn() -> bool) -> Self {
        let mut made = Vec::new();
        for rule in rules {
            let name = format!("{}-{}", space.name, rule.name);
            let (kind, spec) = match rule.does {
                Does::Adds(expression) => ("Mutating", mutation("ApplyConfiguration", "applyConfiguration", expression)),
                Does::Patches(expression) => ("Mutating", mutation("JSONPatch", "jsonPatch", expression)),
                Does::Refuses(expression, words) => {
                    ("Validating", format!("  validations:\n  - expression: >-\n      {expression}\n    message: {words:?}\n"))
                }
            };
            let (version, binding) = match kind {
                "Validating" => ("v1", ", validationActions: [Deny]"),
                _ => ("v1beta1", ""),
            };
            let manifest = format!(
                "apiVersion: admissionregistration.k8s.io/{version}\nkind: {kind}AdmissionPolicy\nmetadata: {{name: {name}}}\nspec:\n  \
                 matchConstraints:\n    namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {}}}}}\n    \
                 resourceRules: [{{{}, operations: [CREATE, UPDATE]}}]\n  failurePolicy: Fail\n{spec}---\n\
                 apiVersion: admissionregistration.k8s.io/{version}\nkind: {kind}AdmissionPolicyBinding\nmetadata: {{name: {name}}}\n\
                 spec: {{policyName: {name}{binding}}}\n",
                space.name, rule.resources,
            );
            kubectl_with(&["apply", "--filename", "-"], &manifest).ok();
            made.push([format!("{}admissionpolicy", kind.to_lowercase()), name]);
        }
        let policies = Policies(made);
        eventually(30, "the policies are in force", shows);
        policies
    }
}

fn mutation(kind: &str, field: &str, expression: &str) -> String {
    format!(
        "  reinvocationPolicy: IfNeeded\n  mutations:\n  - patchType: {kind}\n    {field}:\n      expression: >-\n        {}\n",
        expression.replace('\n', "\n        ")
    )
}

impl Drop for Policies {
    fn drop(&mut self) {
        for [kind, name] in &self.0 {
            kubectl(&["delete", "--ignore-not-found", &format!("{kind}/{name}"), &format!("{kind}binding/{name}")]);
        }
    }
}
