//! The webhooks cannot be called: what works and what stops is what the page says.

use crate::harness::api::minor;
use crate::harness::outage::{NoDefinition, NoOperator, NoService};
use crate::harness::{Answer, Space, Thing, alone, audit, bash, eventually, kubectl, memcached, nobody_elses, operator, repository};
use serde_json::{Value, json};

/// The page's rows: what is typed, and what comes of it.
fn rows() -> Vec<(String, String)> {
    let page = std::fs::read_to_string(repository().join("docs/break-glass.md")).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with("The webhooks cannot be called")).unwrap();
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = section.lines().filter(|line| line.starts_with("| `")).map(cells).collect();
    rows.into_iter().map(|row| (row[0].clone(), row[1].clone())).collect()
}

/// A kind, as the rows speak of it.
struct Kind {
    short: &'static str,
    /// The resource of v1alpha1.
    old: &'static str,
    manifest: fn(&str, &str) -> String,
    /// The finalizers that are its own, as JSON.
    finalizers: &'static str,
}

/// The kind of which the page speaks, and the one of which it holds alike.
const KINDS: [Kind; 2] = [
    Kind { short: "mc", old: "memcacheds.v1alpha1.cache.example.com", manifest: memcached, finalizers: "null" },
    Kind { short: "db", old: "databases.v1alpha1.stable.imaginedata.com", manifest: database, finalizers: r#"["pointsman.dev/database"]"# },
];

fn database(name: &str, spec: &str) -> String {
    let spec = spec.replacen('{', "{databaseName: shop, storage: {size: 1Gi}, ", 1);
    format!("apiVersion: stable.imaginedata.com/v1\nkind: Database\nmetadata: {{name: {name}}}\nspec: {spec}\n")
}

/// What no limit of a field forbids, but a rule in CEL, of each kind.
const FORBIDDEN: (&str, &str) = ("{podTemplate: {metadata: {labels: {pointsman.dev/mine: 'yes'}}}}", "say whose a pod is");

impl Kind {
    fn thing<'a>(&self, space: &'a Space) -> Thing<'a> {
        Thing::of(space, self.short, "one")
    }

    /// Types what a row says, of this kind.
    fn typed(&self, space: &Space, what: &str) -> Answer {
        let ([mc, _], manifest) = (&KINDS, self.manifest);
        match what {
            "`kubectl apply` of a spec that the schema forbids" => space.apply(&manifest("forbidden", "{replicas: -1}")),
            "`kubectl create` of an object" => space.kubectl_with(&["create", "--filename", "-"], &manifest("another", "{}")),
            command => {
                let command = command.trim_matches('`').replace("NAME", "one").replace(mc.old, self.old);
                let command = command.replace(&format!(" {}", mc.short), &format!(" {}", self.short));
                let command = command.strip_prefix("kubectl ").unwrap_or_else(|| panic!("no command: {command}"));
                bash(&format!("kubectl --namespace {} {command}", space.name))
            }
        }
    }

    /// Types every row but those that delete it, which come last.
    #[track_caller]
    fn answers_as_told(&self, space: &Space, rows: &[(String, String)]) {
        for (what, answer) in rows.iter().filter(|(what, _)| !deletes(what)) {
            let said = self.typed(space, what);
            let unreached = ["failed calling webhook", "conversion webhook for"].iter().any(|words| said.err.contains(words));
            let as_told = match answer.as_str() {
                "works" => said.code == 0,
                "refused" => said.code == 1 && said.err.contains("is invalid"),
                "stops" => said.code == 1 && unreached,
                other => panic!("{other} is no answer"),
            };
            assert!(as_told, "{what}, of {} {answer}: {}", self.short, said.text());
        }
        let (spec, words) = FORBIDDEN;
        let said = space.apply(&(self.manifest)("forbidden", spec));
        assert!(said.code == 1 && said.err.contains(words), "{spec}, of {}: {}", self.short, said.text());
        // Whatever a user has put in its place, the operator's own is there again.
        let own = || self.finalizers == "null" || self.thing(space).seen()["metadata"]["finalizers"].to_string().contains("pointsman.dev/");
        eventually(20, "its own finalizer is put back", own);
        let only_its_own = format!(r#"{{"metadata":{{"finalizers":{}}}}}"#, self.finalizers);
        self.thing(space).kubectl("patch", &["--type=merge", "--patch", &only_its_own]).ok();
    }
}

fn deletes(what: &str) -> bool {
    what.contains("kubectl delete")
}

/// Pods that serve.
fn running(space: &Space) -> Vec<String> {
    let uid = "jsonpath={range .items[*]}{.metadata.uid}{\"\\n\"}{end}";
    let running = space.kubectl(&["get", "pods", "--field-selector=status.phase=Running", "--output", uid]).ok();
    running.lines().map(str::to_owned).collect()
}

#[test]
fn without_the_service_works_and_stops_what_the_page_says() {
    let turn = alone();
    let kinds = KINDS.map(|kind| (Space::new(&format!("broken-{}", kind.short)), kind));
    for (space, kind) in &kinds {
        space.apply(&(kind.manifest)("one", "{}")).ok();
    }
    let pods = kinds.each_ref().map(|(space, kind)| {
        kind.thing(space).ready_within(60);
        running(space)
    });
    assert_eq!(pods.each_ref().map(Vec::len), [1, 1]);
    let (outage, rows) = (NoService::deleted(&turn), rows());
    assert_eq!(rows.len(), 11, "{rows:?}");
    for (space, kind) in &kinds {
        kind.answers_as_told(space, &rows);
    }
    assert_eq!(kinds.each_ref().map(|(space, _)| running(space)), pods, "a pod was restarted");
    for (space, kind) in &kinds {
        for (what, answer) in rows.iter().filter(|(what, _)| deletes(what)) {
            let said = kind.typed(space, what);
            assert_eq!((said.code, answer.as_str()), (0, "works"), "{what}, of {}: {}", kind.short, said.text());
        }
        assert!(kind.thing(space).seen().is_null(), "it is still there");
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

/// From this minor on, a patch that cannot be attributed leaves managedFields as they were.
const KEEPS_FIELD_OWNERS: u32 = 37;

/// The hand's own patch may forget who owns which field; that is no reason to leave the object without what guards its data.
#[test]
fn a_finalizer_that_a_hand_took_off_while_nobody_converted_is_put_back() {
    let turn = alone();
    let space = Space::new("unheld");
    let old = json!({ "apiVersion": "stable.imaginedata.com/v1alpha1", "kind": "Database", "metadata": { "name": "db" },
        "spec": { "name": "shop", "storage-size": "1Gi" } });
    space.kubectl_with(&["create", "--filename", "-"], &old.to_string()).ok();
    space.db("db").ready_within(90);
    let meta = || space.object_list(&["db", "--show-managed-fields"])[0]["metadata"].clone();
    let patch = |finalizers: &str| {
        let patch = format!(r#"{{"metadata":{{"finalizers":{finalizers}}}}}"#);
        space.kubectl(&["patch", "db/db", "--type=merge", "--patch", &patch]).ok();
    };
    let outage = NoService::deleted(&turn);
    let before = meta()["managedFields"].clone();
    patch(r#"["example.com/a"]"#);
    let kept = if minor() >= KEEPS_FIELD_OWNERS { before } else { Value::Null };
    assert_eq!(meta()["managedFields"], kept, "docs/break-glass.md says what such a patch costs");
    drop(outage);
    eventually(60, "the finalizer is back", || meta()["finalizers"] == json!(["example.com/a", "pointsman.dev/database"]));
    patch(r#"["pointsman.dev/database"]"#);
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
