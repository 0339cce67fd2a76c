//! The webhooks cannot be called: what works and what stops is what the page says.

use crate::harness::outage::{NoDefinition, NoOperator, NoService};
use crate::harness::{Answer, Space, alone, audit, bash, eventually, kubectl, memcached, nobody_elses, operator, repository};
use serde_json::{Value, json};

/// The page's rows: what is typed, and what comes of it.
fn rows() -> Vec<(String, String)> {
    let page = std::fs::read_to_string(repository().join("docs/break-glass.md")).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with("The webhooks cannot be called")).unwrap();
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = section.lines().filter(|line| line.starts_with("| `")).map(cells).collect();
    rows.into_iter().map(|row| (row[0].clone(), row[1].clone())).collect()
}

/// Types what a row says.
fn typed(space: &Space, what: &str) -> Answer {
    match what {
        "`kubectl apply` of a spec that the schema forbids" => space.apply(&memcached("forbidden", "{replicas: -1}")),
        "`kubectl create` of an object" => space.kubectl_with(&["create", "--filename", "-"], &memcached("another", "{}")),
        command => {
            let command = command.trim_matches('`').replace("NAME", "cache");
            let command = command.strip_prefix("kubectl ").unwrap_or_else(|| panic!("no command: {command}"));
            bash(&format!("kubectl --namespace {} {command}", space.name))
        }
    }
}

#[test]
fn without_the_service_works_and_stops_what_the_page_says() {
    let turn = alone();
    let space = Space::new("broken");
    space.memcached("cache", "{}");
    space.ready("cache");
    let pods = space.object_list(&["pods"]).len();
    let outage = NoService::deleted(&turn);
    let rows = rows();
    assert_eq!(rows.len(), 11, "{rows:?}");
    // What deletes the object comes last.
    let (deletions, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(what, _)| what.contains("kubectl delete"));
    for (what, answer) in others {
        let said = typed(&space, &what);
        let as_told = match answer.as_str() {
            "works" => said.code == 0,
            "refused" => said.code == 1 && said.err.contains("is invalid"),
            "stops" => said.code == 1 && (said.err.contains("failed calling webhook") || said.err.contains("conversion webhook for")),
            other => panic!("{other} is no answer"),
        };
        assert!(as_told, "{what} {answer}: {}", said.text());
    }
    assert_eq!(space.object_list(&["pods"]).len(), pods);
    space.kubectl(&["patch", "mc/cache", "--type=merge", "--patch", r#"{"metadata":{"finalizers":null}}"#]).ok();
    for (what, answer) in deletions {
        assert_eq!((typed(&space, &what).code, answer.as_str()), (0, "works"), "{what}");
    }
    drop(outage);
}

#[test]
fn without_the_conversion_the_operator_wipes_no_managed_fields() {
    let turn = alone();
    let space = Space::new("unconverted");
    let old =
        json!({ "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "metadata": { "name": "cache" }, "spec": { "size": 2 } });
    space.kubectl_with(&["create", "--filename", "-"], &old.to_string()).ok();
    space.ready("cache");
    let fields = || space.object_list(&["mc", "--show-managed-fields"])[0]["metadata"]["managedFields"].clone();
    let people = |fields: &Value| {
        fields.as_array().into_iter().flatten().filter(|entry| entry["manager"] != "pointsman-status").cloned().collect::<Vec<_>>()
    };
    let before = fields();
    assert!(people(&before).iter().any(|entry| entry["apiVersion"] == "cache.example.com/v1alpha1"), "{before}");
    let outage = NoService::deleted(&turn);
    let mark = audit::mark();
    space.kubectl(&["scale", "deployment/cache", "--replicas=3"]).ok();
    let failed = || {
        let entries = audit::within(mark, &space.name);
        entries.iter().filter(|entry| entry.by_operator() && entry.what() == "patch memcacheds/status" && entry.code() >= 500).count()
    };
    eventually(30, "a status was to be written and could not be", || failed() >= 1);
    assert_eq!(fields(), before, "nothing was written, nothing was wiped");
    drop(outage);
    space.kubectl(&["label", "mc/cache", "example.com/after=outage"]).ok();
    space.ready("cache");
    assert_eq!(people(&fields()).len(), people(&before).len() + 1, "the label's writer is one more: {}", fields());
    assert!(people(&before).iter().all(|entry| people(&fields()).contains(entry)), "{}", fields());
}

#[test]
fn namespaces_elsewhere_are_deleted_where_the_definition_is_gone() {
    let turn = alone();
    nobody_elses();
    let away = NoOperator::stopped(&turn);
    let definition = NoDefinition::deleted(&away);
    let elsewhere = Space::new("elsewhere");
    kubectl(&["create", "configmap", "--namespace", &elsewhere.name, "something"]).ok();
    kubectl(&["delete", "namespace", &elsewhere.name, "--timeout=60s"]).ok();
    drop(definition);
    drop(away);
    assert!(operator(&["logs"]).contains("pointsman runs"));
}
