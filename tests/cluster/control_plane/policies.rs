//! Policies of an administrator that change what the operator writes, or refuse it: no fight, and no silence.

use super::databases::create;
use crate::harness::policy::{Does, Policies, Rule};
use crate::harness::{Space, audit, eventually_or, shared};
use serde_json::{Value, json};

/// What the policies of platform teams add: labels, annotations, tolerations, a limit of storage, when images are pulled.
const ADDITIONS: [Rule; 5] = [
    Rule {
        name: "labels",
        resources: "apiGroups: ['', apps, batch, policy], apiVersions: [v1], resources: [services, configmaps, secrets, \
                    persistentvolumeclaims, pods, deployments, statefulsets, jobs, cronjobs, poddisruptionbudgets]",
        does: Does::Adds(r#"Object{metadata: Object.metadata{labels: {"example.com/team": "shop"}}}"#),
    },
    Rule { name: "templates", resources: WITH_PODS, does: Does::Adds(TEMPLATE) },
    Rule { name: "tolerations", resources: WITH_PODS, does: Does::Patches(TOLERATION) },
    Rule {
        name: "schedules",
        resources: "apiGroups: [batch], apiVersions: [v1], resources: [cronjobs]",
        does: Does::Adds(
            r#"Object{spec: Object.spec{jobTemplate: Object.spec.jobTemplate{metadata: Object.spec.jobTemplate.metadata{
labels: {"example.com/team": "shop"}}}}}"#,
        ),
    },
    Rule {
        name: "services",
        resources: "apiGroups: [''], apiVersions: [v1], resources: [services]",
        does: Does::Adds(r#"Object{metadata: Object.metadata{annotations: {"example.com/topology": "local"}}}"#),
    },
];

const WITH_PODS: &str = "apiGroups: [apps, batch], apiVersions: [v1], resources: [deployments, statefulsets, jobs]";

const TEMPLATE: &str = r#"Object{spec: Object.spec{template: Object.spec.template{
metadata: Object.spec.template.metadata{labels: {"example.com/team": "shop"}, annotations: {"example.com/checked": "yes"}},
spec: Object.spec.template.spec{containers: object.spec.template.spec.containers.map(one, Object.spec.template.spec.containers{
name: one.name, imagePullPolicy: "Always",
resources: Object.spec.template.spec.containers.resources{requests: {"ephemeral-storage": "0"}, limits: {"ephemeral-storage": "2Gi"}}
})}}}}"#;

const TOLERATION: &str = r#"has(object.spec.template.spec.tolerations) ? [] : [JSONPatch{op: "add", path: "/spec/template/spec/tolerations",
value: [Object.spec.template.spec.tolerations{key: "example.com/dedicated", operator: "Exists"}]}]"#;

#[test]
fn what_policies_add_to_children_stays_and_nothing_is_written_for_it() {
    let _turn = shared();
    let space = Space::new("additions");
    let attempt = ["create", "deployment", "any", "--image=any", "--dry-run=server", "--output=yaml"];
    let shown = || space.kubectl(&attempt).ok();
    let added = ["example.com/team: shop", "example.com/checked", "PullPolicy: Always", "ephemeral-storage: 2Gi", "example.com/dedicated"];
    let _policies = Policies::in_force(&space, &ADDITIONS, || added.iter().all(|words| shown().contains(words)));
    space.memcached("cache", "{replicas: 2}");
    let base = create(&space, "shop", &json!({ "replicas": 2, "backup": { "schedule": "0 3 * * *", "storage": { "size": "1Gi" } } }));
    space.ready("cache");
    base.ready_within(60);
    rests(&space, "once all are ready");
    // Changes of each kind go through, and each is written once.
    space.kubectl(&["scale", "mc/cache", "--replicas=3"]).ok();
    space.patch("cache", r#"{"maxConnections": 2048}"#).ok();
    base.patch(r#"{"parameters": {"work_mem": "8MB"}}"#).ok();
    space.ready("cache");
    base.ready_within(60);
    rests(&space, "after changes");
    for object in ["deployment/cache", "statefulset/shop"] {
        let template = space.object(object)["spec"]["template"].clone();
        let has = |path: &str, value: Value| assert_eq!(template.pointer(path), Some(&value), "{object} {path}: {template:#}");
        has("/metadata/labels/example.com~1team", json!("shop"));
        has("/spec/containers/0/imagePullPolicy", json!("Always"));
        has("/spec/containers/0/resources/limits/ephemeral-storage", json!("2Gi"));
        has("/spec/tolerations/0/key", json!("example.com/dedicated"));
    }
    for (thing, name) in [(space.mc("cache"), "cache"), (base, "shop")] {
        let history = thing.history().join(", ");
        assert!(!history.contains("HumanIntervention") && !history.contains("Degraded"), "{name}: {history}");
    }
}

/// For ten seconds nothing is written.
#[track_caller]
fn rests(space: &Space, when: &str) {
    // What follows from the last move: its Event, and the state of the pods as it is counted.
    std::thread::sleep(std::time::Duration::from_secs(5));
    let mark = audit::mark();
    std::thread::sleep(std::time::Duration::from_secs(10));
    space.unwritten(mark, when);
}

const WORDS: &str = "policy of the platform team: not here";

/// Kubernetes' own controllers make the pods of Jobs. Why they cannot is told by Events, which the operator may not read.
const COMMAND: &str = "no pod of it could be made; to see why: kubectl describe job/shop-probe";

/// What a policy refuses, of which kind that is a child or a pod, and what the status says then.
const REFUSALS: [(Rule, &str, &str); 7] = [
    (refused("deployments", "apiGroups: [apps], apiVersions: [v1], resources: [deployments]"), "mc", WORDS),
    (refused("budgets", "apiGroups: [policy], apiVersions: [v1], resources: [poddisruptionbudgets]"), "mc", WORDS),
    (refused("pods-of-deployments", "apiGroups: [''], apiVersions: [v1], resources: [pods]"), "mc", WORDS),
    (refused("statefulsets", "apiGroups: [apps], apiVersions: [v1], resources: [statefulsets]"), "db", WORDS),
    (refused("claims", "apiGroups: [''], apiVersions: [v1], resources: [persistentvolumeclaims]"), "db", WORDS),
    (refused("jobs", "apiGroups: [batch], apiVersions: [v1], resources: [jobs]"), "db", WORDS),
    (refused("pods-of-jobs", "apiGroups: [''], apiVersions: [v1], resources: [pods]"), "db", COMMAND),
];

const fn refused(name: &'static str, resources: &'static str) -> Rule {
    Rule { name, resources, does: Does::Refuses("false", WORDS) }
}

#[test]
fn a_policy_that_refuses_a_child_is_told_in_its_own_words() {
    let _turn = shared();
    std::thread::scope(|scope| {
        for (rule, kind, words) in &REFUSALS {
            scope.spawn(|| is_told(rule, kind, words));
        }
    });
}

fn is_told(rule: &Rule, kind: &str, words: &str) {
    let space = Space::new("refused");
    // The policy is in force where it refuses something that no operator writes.
    let probe = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "probe" } }).to_string();
    let both = [*rule, refused("probes", "apiGroups: [''], apiVersions: [v1], resources: [configmaps], resourceNames: [probe]")];
    let tried = || space.kubectl_with(&["create", "--dry-run=server", "--filename", "-"], &probe).text().contains(WORDS);
    let policies = Policies::in_force(&space, &both, tried);
    let mark = audit::mark();
    let thing = match kind {
        "mc" => {
            space.memcached("cache", "{replicas: 2}");
            space.mc("cache")
        }
        _ => create(&space, "shop", &json!({ "replicas": 2 })),
    };
    let said = || thing.status().to_string().contains(words);
    eventually_or(30, said, || format!("{}: its status does not say it: {:#}", rule.name, thing.status()));
    let writes: Vec<String> = audit::writes(mark, &space.name).iter().map(audit::Entry::what).collect();
    println!("{}: told after {} writes", rule.name, writes.len());
    assert!(writes.len() <= 40, "{}: {} writes: {writes:?}", rule.name, writes.len());
    // Once it may be there, it is, without an answer of anybody's or by one that is offered.
    drop(policies);
    eventually_or(90, || is_ready(&thing), || format!("{}: {:#}", rule.name, thing.status()));
}

fn is_ready(thing: &crate::harness::Thing<'_>) -> bool {
    if !thing.status()["intervention"].is_null() {
        let _ = thing.answer("retry");
    }
    thing.is_ready_as_asked()
}
