//! The kustomization: the list, one file an object.

use super::manifests::yaml;
use super::places::file_name;
use super::{Files, monitoring, objects};
use serde_json::{Value, json};

/// Every file of the base, by its path there.
pub fn base() -> Files {
    printed(&objects(), "kustomize.config.k8s.io/v1beta1", "Kustomization")
}

/// Every file of the component that adds what a Prometheus operator takes, by its path there.
pub fn component() -> Files {
    printed(&monitoring(), "kustomize.config.k8s.io/v1alpha1", "Component")
}

fn printed(objects: &[Value], version: &str, kind: &str) -> Files {
    let names: Vec<String> = objects.iter().map(file_name).collect();
    let list = json!({ "apiVersion": version, "kind": kind, "resources": names });
    let files = names.iter().cloned().zip(objects.iter().map(yaml));
    files.chain([("kustomization.yaml".to_owned(), yaml(&list))]).collect()
}
