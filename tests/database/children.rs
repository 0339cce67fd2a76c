//! What is rendered, child by child, and what a change of the plan does to the pods.

use super::{golden, plan};
use k8s_openapi::ByteString;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::batch::v1::{CronJob, Job};
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Secret, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use pointsman::controller::kept;
use pointsman::kinds::children::{Slot, is_written_by};
use pointsman::kinds::database::children;
use pointsman::kinds::database::children::configuration::{self, Learned, quoted};
use pointsman::kinds::database::children::credentials::{ENTROPY, SALT};
use pointsman::kinds::database::children::jobs::{self, Attempt};
use pointsman::kinds::database::children::secrets::{self, Credentials};
use pointsman::kinds::database::children::topology::Topology;
use pointsman::kinds::database::children::{claims, network, scripts, servers};
use pointsman::kinds::database::object::v1::Database;
use pointsman::kinds::database::plan::Plan;
use pointsman::kinds::database::reports::results::Context;
use pointsman::kinds::order::{Child, ChildKind};
use pointsman::kinds::rendered::{RENDERED, Rendered};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

fn object(plan: &Plan) -> Database {
    let mut object = Database::new("db", plan.spec());
    object.metadata.namespace = Some("shop".to_owned());
    object.metadata.uid = Some("uid-of-db".to_owned());
    object
}

fn learned() -> Learned {
    let contexts = [("max_connections", Context::Postmaster), ("work_mem", Context::User), ("Max_WAL_Senders", Context::Postmaster)];
    let contexts = contexts.map(|(name, context)| (name.to_owned(), context)).into();
    Learned { contexts, libraries: ["pg_cron".to_owned()].into(), room: None }
}

fn most() -> Value {
    json!({
        "image": "docker.io/library/postgres:17.2", "port": 6432, "replicas": 3,
        "storage": { "size": "1.5Ti", "storageClassName": "fast" },
        "parameters": { "work_mem": "8MB", "max_connections": "200", "timezone": "Europe/Berlin", "app.motto": "it's \\ \"so\"",
            "Max_WAL_Senders": "64", "shared_preload_libraries": "auto_explain, \"pg_stat_statements\"" },
        "extensions": [{ "name": "uuid-ossp" }, { "name": "pg_cron" }],
        "backup": { "schedule": "30 2 * * mon-fri", "timeZone": "Europe/Berlin", "retain": 14, "storage": { "size": "2Ti", "storageClassName": "slow" } },
        "restoreFrom": { "claimName": "older-backups", "file": "backup-20260101T000000Z" },
        "service": { "type": "LoadBalancer", "annotations": { "example.com/a": "b" }, "loadBalancerSourceRanges": ["203.0.113.0/24"] },
        "resources": { "requests": { "cpu": "0.5", "memory": "1Gi" }, "limits": { "memory": "1Gi" } },
        "podTemplate": {
            "metadata": { "labels": { "team": "shop" }, "annotations": { "example.com/inject": "false" } },
            "spec": { "nodeSelector": { "disk": "ssd" }, "serviceAccountName": "puller", "imagePullSecrets": [{ "name": "registry" }],
                "tolerations": [{ "operator": "Exists" }],
                "affinity": { "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [
                    { "matchExpressions": [{ "key": "zone", "operator": "In", "values": ["a", "b"] }] }] } } },
                "topologySpreadConstraints": [{ "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 1 }] },
        },
    })
}

/// Every child, with the name of its golden file.
fn rendered(plan: &Plan) -> Vec<(String, Rendered)> {
    let (object, learned) = (object(plan), learned());
    let claims = (0..plan.replicas.unsigned_abs()).map(|ordinal| (ordinal, format!("uid-of-claim-{ordinal}"))).collect();
    let topology = Topology::first(&object, claims).known("7300000000000000001");
    let credentials = Credentials::of(&[[1; ENTROPY + SALT], [2; ENTROPY + SALT], [3; ENTROPY + SALT]]);
    let (first, again) = (
        Attempt { seconds: 600, ..Attempt::default() },
        Attempt { question: Some("k7m2q".to_owned()), seconds: 600, ..Attempt::default() },
    );
    let mut children = vec![
        ("internal", secrets::internal(&object, &credentials)),
        ("application", secrets::application(&object, plan, &credentials)),
        ("scripts", scripts::config_map("shop")),
        ("config", configuration::at_start(&object, plan, &learned)),
        ("settings", configuration::reloaded(&object, plan, &learned)),
        ("topology", topology.config_map(&object)),
        ("data", claims::data(&object, plan, 0)),
        ("backups", claims::backups(&object, plan)),
        ("primary", network::primary(&object, plan, Some(0))),
        ("read-only", network::read_only(&object, plan, Some(0), plan.replicas > 1)),
        ("pods", network::pods(&object, plan)),
        ("servers", servers::stateful_set(&object, plan, &learned, &plan.storage.size.spelling)),
        ("init", jobs::init(&object, plan, &first)),
        ("probe", jobs::probe(&object, plan, &first)),
        ("snapshot", jobs::snapshot(&object, plan, Some(0), &again)),
        ("generation", jobs::generation(&object, plan, &topology.peers, 7, &first)),
    ];
    children.extend(network::budget(&object, plan).map(|budget| ("budget", budget)));
    children.extend(plan.restore_from.iter().map(|from| ("restore", jobs::restore(&object, plan, from, &again))));
    children.extend(jobs::backups(&object, plan, false).map(|backups| ("schedule", backups)));
    children.into_iter().map(|(name, child)| (name.to_owned(), child)).collect()
}

/// As a golden file holds it: the scripts have tests of their own.
fn shown(child: &Rendered) -> String {
    let mut value = child.object.clone();
    value["metadata"]["annotations"][RENDERED] = json!("DIGEST");
    if child.child.name == scripts::name() {
        value["data"].as_object_mut().expect("files").values_mut().for_each(|text| *text = json!("TEXT"));
    }
    let text = serde_json::to_string_pretty(&value).expect("JSON") + "\n";
    text.replace(scripts::name(), "pointsman-database-scripts-DIGEST")
}

#[test]
fn what_a_map_holds_is_told_by_the_watch_alone() {
    let whole: ConfigMap = serde_json::from_value(scripts::config_map("shop").object).expect("a ConfigMap");
    let is_ours = |map: &ConfigMap| scripts::seen(Slot::Ours(Arc::new(map.clone()))).ours().is_some();
    let mut stripped = whole.clone();
    kept::child(&mut stripped);
    assert_eq!((stripped.data.is_none(), is_ours(&whole), is_ours(&stripped)), (true, true, true));
    // It says of itself that it held them.
    let mut empty = stripped.clone();
    kept::child(&mut empty);
    assert!(!is_ours(&empty));
    let mut mutable = whole;
    mutable.immutable = None;
    assert!(!is_ours(&mutable));
}

#[test]
fn what_others_write_into_a_map_of_ours_is_held_up_to_a_bound() {
    let texts = [("ours", 300), ("large", 400_000), ("larger", 500_000)].map(|(name, length)| (name.to_owned(), "a".repeat(length)));
    let mut map = ConfigMap {
        data: Some(texts.into()),
        binary_data: Some([("binary".to_owned(), ByteString(vec![1]))].into()),
        ..ConfigMap::default()
    };
    kept::child(&mut map);
    let lengths: Vec<usize> = map.data.iter().flatten().map(|(_, text)| text.len()).collect();
    assert_eq!((lengths, map.binary_data), (vec![400_000, 300], None));
    let names = (0..100_000).map(|number| (number.to_string(), String::new()));
    let mut map = ConfigMap { data: Some(names.collect()), ..ConfigMap::default() };
    kept::child(&mut map);
    assert!((5_000..9_000).contains(&map.data.iter().flatten().count()));
}

#[test]
fn a_claim_of_dumps_that_waits_for_a_user_gets_its_volume_by_the_first_job() {
    let plan = plan(&json!({}));
    let job = |binds| jobs::init(&object(&plan), &plan, &Attempt { seconds: 600, binds, ..Attempt::default() }).object;
    let mounts = |job: &Value| job["spec"]["template"]["spec"]["volumes"].to_string().contains("db-backups");
    assert_eq!((mounts(&job(true)), mounts(&job(false))), (true, false));
    assert_eq!(job(true)["metadata"]["annotations"][jobs::ASKED], job(false)["metadata"]["annotations"][jobs::ASKED], "it is the same Job");
}

#[test]
fn children_are_rendered_as_in_the_golden_files() {
    let mut texts = Vec::new();
    for (size, fields) in [("least", json!({})), ("most", most())] {
        let plan = plan(&fields);
        let all = rendered(&plan);
        texts.extend(all.iter().map(|(name, child)| (format!("{size}-{name}"), shown(child))));
    }
    golden::compare("database/children", texts.iter().map(|(name, text)| (name.as_str(), text.as_str())));
}

/// A field that the API does not have would be lost on the way through its type.
#[test]
fn every_field_is_one_of_the_api() {
    fn through<T: Child>(value: &Value) -> Value {
        json!(serde_json::from_value::<T>(value.clone()).expect("an object of this kind"))
    }
    for (name, child) in rendered(&plan(&most())) {
        let value = &child.object;
        let read = match child.child.kind {
            ChildKind::Secret => through::<Secret>(value),
            ChildKind::ConfigMap => through::<ConfigMap>(value),
            ChildKind::PersistentVolumeClaim => through::<PersistentVolumeClaim>(value),
            ChildKind::Service => through::<Service>(value),
            ChildKind::StatefulSet => through::<StatefulSet>(value),
            ChildKind::PodDisruptionBudget => through::<PodDisruptionBudget>(value),
            ChildKind::Job => through::<Job>(value),
            ChildKind::CronJob => through::<CronJob>(value),
            ChildKind::Deployment | ChildKind::Pod => panic!("{name} is no child of a Database"),
        };
        assert_eq!(&read, value, "{name}");
    }
}

/// The pod templates of the servers and of every Job.
fn pod_templates(plan: &Plan) -> Vec<(String, Value)> {
    let template =
        |value: &Value| ["/spec/template", "/spec/jobTemplate/spec/template"].into_iter().find_map(|at| value.pointer(at).cloned());
    rendered(plan).iter().filter_map(|(name, child)| Some((name.clone(), template(&child.object)?))).collect()
}

#[test]
fn every_pod_is_restricted_and_mounts_each_volume_once() {
    let templates = pod_templates(&plan(&most()));
    assert_eq!(templates.len(), 7);
    for (name, template) in templates {
        let (spec, container) = (&template["spec"], &template["spec"]["containers"][0]);
        assert_eq!(spec["securityContext"]["runAsNonRoot"], true, "{name}");
        assert_eq!(spec["securityContext"]["seccompProfile"]["type"], "RuntimeDefault", "{name}");
        assert_eq!(spec["automountServiceAccountToken"], false, "{name}");
        let inside = json!({ "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": { "drop": ["ALL"] } });
        assert_eq!(container["securityContext"], inside, "{name}");
        let names = |list: &Value| list.as_array().expect("a list").iter().map(|item| item["name"].clone().to_string()).collect::<Vec<_>>();
        let (volumes, mounts) = (names(&spec["volumes"]), names(&container["volumeMounts"]));
        let once: BTreeSet<&String> = mounts.iter().collect();
        assert_eq!(once.len(), mounts.len(), "{name} mounts a volume twice");
        let brought: Vec<&&String> = once.iter().filter(|mount| !volumes.contains(mount)).collect();
        assert_eq!(brought.len(), usize::from(name == "servers"), "{name}: {brought:?}");
    }
}

/// Of a claim that is only mounted read-only a kubelet still changes owner and modes, where its source does not say so too.
#[test]
fn a_claim_that_is_only_read_is_so_at_its_source() {
    let mut read = BTreeSet::new();
    for (name, template) in pod_templates(&plan(&most())) {
        let list = |value: &Value| value.as_array().expect("a list").clone();
        for volume in list(&template["spec"]["volumes"]).iter().filter(|volume| !volume["persistentVolumeClaim"].is_null()) {
            let mounts = list(&template["spec"]["containers"][0]["volumeMounts"]);
            let mut mounts = mounts.iter().filter(|mount| mount["name"] == volume["name"]);
            let is_read = mounts.all(|mount| mount["readOnly"] == true);
            assert_eq!(volume["persistentVolumeClaim"]["readOnly"] == true, is_read, "{name}: {volume}");
            read.extend(is_read.then(|| name.clone()));
        }
    }
    assert_eq!(read.into_iter().collect::<Vec<_>>(), ["restore"], "who reads dumps only");
}

/// What a pod mounts and reads stands in the table of the scripts, and every script that runs is there.
#[test]
fn pods_are_as_the_scripts_want_them() {
    let interface = include_str!("../../src/kinds/database/scripts/README.md");
    for (name, template) in pod_templates(&plan(&most())) {
        let container = &template["spec"]["containers"][0];
        let list = |field: &str| container[field].as_array().expect("a list").clone();
        for mount in list("volumeMounts") {
            let path = mount["mountPath"].as_str().expect("a path");
            // The servers' own configuration includes it; no script knows of it.
            assert!(path == "/pointsman/settings" || interface.contains(&format!("`{path}`")), "{name} mounts {path}");
        }
        for variable in list("env") {
            let variable = variable["name"].as_str().expect("a name");
            assert!(interface.contains(&format!("`{variable}`")), "{name} sets {variable}");
        }
        let script = container["command"][1].as_str().expect("a script").rsplit('/').next().expect("a name").to_owned();
        assert!(interface.contains(&format!("`{script}`")), "{name} runs {script}");
    }
}

#[test]
fn no_secret_stands_outside_the_secrets() {
    for (name, child) in rendered(&plan(&most())) {
        let text = child.object.to_string();
        let holds = ["SCRAM", &"01".repeat(ENTROPY), &"02".repeat(ENTROPY), &"03".repeat(ENTROPY)].iter().any(|value| text.contains(value));
        assert!(!holds, "{name}");
        let values = child.object["data"].as_object().filter(|_| child.child.kind == ChildKind::Secret).into_iter().flatten();
        let shown = format!("{child:?}");
        for (key, value) in values {
            assert!(!shown.contains(value.as_str().expect("a text")), "{name} shows {key}");
        }
    }
}

/// A Service or a budget that selects servers must not find a Job's pod.
#[test]
fn a_job_is_no_server() {
    let plan = plan(&most());
    let selector = children::selector(&object(&plan));
    for (name, template) in pod_templates(&plan) {
        let labels = &template["metadata"]["labels"];
        let selected = selector.iter().all(|(key, value)| labels[key] == json!(value));
        assert_eq!(selected, name == "servers", "{name}");
        assert_eq!(labels["app.kubernetes.io/managed-by"], "pointsman", "{name} is not watched");
    }
}

fn template_of(fields: &Value) -> Value {
    let plan = plan(fields);
    servers::stateful_set(&object(&plan), &plan, &learned(), &plan.storage.size.spelling).object["spec"]["template"].clone()
}

#[test]
fn only_what_a_start_reads_restarts_servers() {
    let before = template_of(&json!({}));
    let quiet = [
        json!({ "parameters": { "work_mem": "8MB" } }),
        json!({ "replicas": 16 }),
        json!({ "storage": { "size": "5Ti" } }),
        json!({ "service": { "type": "NodePort" }, "backup": { "schedule": "0 2 * * *" }, "deletionPolicy": "Retain" }),
        json!({ "extensions": [{ "name": "pg_trgm" }] }),
    ];
    for fields in quiet {
        assert_eq!(template_of(&fields), before, "{fields}");
    }
    let loud = [
        json!({ "parameters": { "max_connections": "300" } }),
        json!({ "parameters": { "unheard.of": "1" } }),
        json!({ "extensions": [{ "name": "pg_cron" }] }),
        json!({ "image": "docker.io/library/postgres:17.3" }),
        json!({ "resources": { "requests": { "cpu": "1" } } }),
        json!({ "podTemplate": { "spec": { "nodeSelector": { "disk": "ssd" } } } }),
    ];
    for fields in loud {
        assert_ne!(template_of(&fields), before, "{fields}");
    }
}

#[test]
fn a_job_knows_what_it_was_asked() {
    let job = |fields: &Value| {
        let plan = plan(fields);
        jobs::init(&object(&plan), &plan, &Attempt { seconds: 600, ..Attempt::default() })
    };
    let live = serde_json::from_value(job(&json!({})).object).expect("a Job");
    assert!(jobs::is_asked_so(&live, &job(&json!({ "replicas": 3 }))));
    assert!(!jobs::is_asked_so(&live, &job(&json!({ "extensions": [{ "name": "pg_trgm" }] }))));
    assert!(!jobs::is_asked_so(&live, &job(&json!({ "image": "docker.io/library/postgres:17.3" }))));
}

#[test]
fn nobody_is_selected_where_there_is_no_primary() {
    let plan = plan(&json!({}));
    let object = object(&plan);
    for service in [network::primary(&object, &plan, None), network::read_only(&object, &plan, None, false)] {
        let selector = service.object["spec"]["selector"].as_object().expect("a selector").clone();
        // An empty one would leave the old address, and one of a pod's name alone finds whoever calls himself so.
        assert_eq!(selector["statefulset.kubernetes.io/pod-name"], "Nobody");
        assert!(pointsman::kinds::database::children::selector(&object).iter().all(|(key, value)| selector[key] == json!(value)));
    }
    assert!(network::budget(&object, &plan).is_none());
}

/// As PostgreSQL reads a quoted value (`GUC_scanstr`), and only where nothing but the value stands there.
fn read(text: &str) -> Option<String> {
    let mut rest = text.strip_prefix('\'')?.strip_suffix('\'')?.chars().peekable();
    let mut value = String::new();
    while let Some(c) = rest.next() {
        match c {
            '\n' => return None,
            '\'' => value.push(rest.next_if_eq(&'\'')?),
            '\\' => {
                let digits: String = std::iter::from_fn(|| rest.next_if(|c| ('0'..='7').contains(c))).take(3).collect();
                if digits.is_empty() {
                    value.push(rest.next_if_eq(&'\\')?);
                } else {
                    value.push(char::from(u8::from_str_radix(&digits, 8).ok()?));
                }
            }
            c => value.push(c),
        }
    }
    Some(value)
}

#[test]
fn whatever_a_value_holds_it_stays_one_value() {
    let mut dice = super::dice::Dice::of(7);
    let letters = ['\'', '\\', '\n', '\r', '\t', '"', '#', '=', ' ', 'n', '0', '7', 'é', '\u{7f}', '$', ';'];
    for _ in 0..20_000 {
        let value: String = (0..dice.below(12)).map(|_| dice.pick(&letters)).collect();
        let text = quoted(&value);
        assert_eq!(read(&text).as_ref(), Some(&value), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

#[test]
fn what_was_copied_or_restored_was_not_written_where_it_stands() {
    let made = "2026-01-02T00:00:00Z";
    let written = |manager: &str, time: &str| {
        let meta = json!({ "creationTimestamp": made, "managedFields": [{ "manager": manager, "time": time }] });
        is_written_by(&serde_json::from_value(meta).expect("metadata"), "pointsman")
    };
    assert!(written("pointsman", made) && written("pointsman", "2026-02-02T00:00:00Z"));
    assert!(written("pointsman", "2026-01-01T23:59:30Z"), "a webhook took its time");
    assert!(!written("kubectl-client-side-apply", made), "a copy");
    assert!(!written("pointsman", "2025-02-02T00:00:00Z"), "restored from a backup");
    assert!(!is_written_by(&ObjectMeta::default(), "pointsman"));
}

#[test]
fn a_last_dump_knows_how_long_its_job_may_take() {
    let script = include_str!("../../src/kinds/database/scripts/dump.sh");
    assert!(script.contains(&format!("JOB_SECONDS=${{POINTSMAN_JOB_SECONDS:-{}}}", 2 * jobs::DUMP_SECONDS)));
}
