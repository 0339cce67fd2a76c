//! Helm upgrades, uninstalls and installs again; nobody's object goes, and nobody's pod restarts.

use super::{Chart, Cluster, DATABASE, NAMESPACE, known_as_an_owner, listed, operands, started, uninstall};
use crate::harness::{DEFINITION, Space, alone, bash, helm, kubectl};

/// The next release: another flag, a further field in the definition, a further right.
#[track_caller]
fn newer() -> Chart {
    let chart = Chart::copied();
    let version = env!("CARGO_PKG_VERSION");
    chart.edit("Chart.yaml", &format!("\nversion: \"{version}\""), "\nversion: \"99.0.0\"");
    chart.edit("values.yaml", "\n  # concurrency: 64\n", "\n  concurrency: 32\n");
    let definition = "templates/customresourcedefinition-memcacheds.cache.example.com.yaml";
    let text = std::fs::read_to_string(chart.0.join(definition)).unwrap();
    let field = "\n              maxConnections:\n";
    let (before, after) = text.split_once(field).expect("the stored version comes first");
    let further = "\n              note:\n                type: string";
    std::fs::write(chart.0.join(definition), format!("{before}{further}{field}{after}")).unwrap();
    let rule = "- apiGroups:\n  - \"\"\n  resources:\n  - endpoints\n  verbs:\n  - list\n";
    chart.edit("templates/clusterrole-watched.yaml", "\nrules:\n", &format!("\nrules:\n{rule}"));
    chart
}

fn installed(chart: &Chart) {
    chart.helm("install", "").ok();
    kubectl(&["wait", "--for=condition=Established", DEFINITION, "--timeout=30s"]).ok();
    started();
}

fn all(space: &Space) -> String {
    listed(space, "mc,db,deployments,statefulsets,pvc,pods,services")
}

#[test]
fn helm_upgrades_uninstalls_and_installs_again_and_every_object_stays() {
    let _turn = alone();
    let _cluster = Cluster::empty();
    let chart = Chart::copied();
    let space = Space::new("packages");
    installed(&chart);
    // The namespace enforces the restricted standard, and the pods have a priority class that must exist.
    kubectl(&["--namespace", NAMESPACE, "rollout", "status", "deployment", "pointsman", "--timeout=60s"]).ok();
    known_as_an_owner(&space);
    space.memcached("cache", "{replicas: 3}");
    space.apply("apiVersion: cache.example.com/v1alpha1\nkind: Memcached\nmetadata: {name: older}\nspec: {size: 1}\n").ok();
    space.apply(DATABASE).ok();
    for name in ["cache", "older"] {
        space.ready(name);
    }
    space.db("db").ready_within(90);
    let before = all(&space);
    let pods = before.lines().filter(|line| ["Pod cache-", "Pod older-", "Pod db-0"].iter().any(|pod| line.starts_with(pod)));
    assert_eq!(pods.count(), 5, "{before}");

    // A value that nobody knows is refused before anything is changed.
    let refused = newer().helm("upgrade", "replica: 3");
    assert_eq!((refused.code, refused.err.contains("at '': additional properties 'replica' not allowed")), (1, true), "{}", refused.text());

    assert_eq!(newer().helm("upgrade", "").ok(), "deployed 2\n");
    let seen = |object: &[&str], path: &str| kubectl(&[&["get", "--output", &format!("jsonpath={path}")], object].concat()).ok();
    let operator = ["--namespace", NAMESPACE, "deployment", "pointsman"];
    assert_eq!(seen(&operator, "{..env[?(@.name=='POINTSMAN_CONCURRENCY')].value}"), "32");
    assert_eq!(seen(&[DEFINITION], "{.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.note.type}"), "string");
    assert_eq!(seen(&["clusterrole", "pointsman-watched"], "{.rules[0].resources[0]}"), "endpoints");
    // The bundles are the operator's: an upgrade takes them from nobody.
    assert!(!seen(&[DEFINITION], "{.spec.conversion.webhook.clientConfig.caBundle}").is_empty());
    started();
    // A new object shows that the new operator is at work.
    space.memcached("new", "{note: hello}");
    space.ready("new");
    space.kubectl(&["delete", "mc/new"]).ok();
    space.kubectl(&["delete", "deployment/new", "service/new", "--ignore-not-found"]).ok();
    space.kubectl(&["wait", "--for=delete", "pod", "--selector=app.kubernetes.io/instance=new", "--timeout=60s"]).ok();
    assert_eq!(all(&space), before, "an upgrade changed an operand");

    let said = uninstall("--yes");
    assert_eq!(
        (said.code, said.err.lines().nth(1)),
        (1, Some("Type: helm uninstall pointsman --namespace pointsman-system")),
        "{}",
        said.text()
    );
    bash(&format!("{} stop", super::script())).ok();
    helm(&["uninstall", "pointsman"], "").ok();
    assert_eq!(all(&space), before, "removing the release changed an operand");
    // What is left is nothing to be removed while a Database waits for the operator.
    let said = uninstall("");
    assert!(said.code == 1 && said.err.contains(&format!("db/db in namespace {}", space.name)), "{}", said.text());

    installed(&chart);
    for name in ["cache", "older"] {
        space.ready(name);
    }
    space.db("db").ready_within(90);
    space.patch("cache", r#"{"replicas":4}"#).ok();
    space.ready("cache");
    space.patch("cache", r#"{"replicas":3}"#).ok();
    space.ready("cache");
    let kept = |text: &str| {
        text.lines()
            .filter(|line| ["Memcached ", "Database ", "StatefulSet ", "PersistentVolumeClaim "].iter().any(|kind| line.starts_with(kind)))
            .filter_map(|line| line.split_whitespace().nth(2).map(str::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(kept(&all(&space)), kept(&before), "installing again lost an object");
    // Nobody could let go of it once the operator is gone.
    space.db("db").kubectl("delete", &["--timeout=90s"]).ok();
}

/// Upgrades to the next release and back to this one, `rounds` times.
pub fn there_and_back(rounds: u32, objects: u32) {
    let _turn = alone();
    let _cluster = Cluster::empty();
    let (chart, newer) = (Chart::copied(), newer());
    let space = Space::new("rounds");
    installed(&chart);
    known_as_an_owner(&space);
    let names: Vec<String> = (0..objects).map(|number| format!("cache-{number}")).collect();
    for name in &names {
        space.memcached(name, "{replicas: 2}");
    }
    for name in &names {
        space.ready(name);
    }
    let before = operands(&space);
    // No step is made before everything is listed: what a new process does for one object it would have done for all.
    let probe = Space::new("probe");
    for round in 0..rounds {
        for (release, to) in [(&newer, "newer"), (&chart, "older")] {
            release.helm("upgrade", "").ok();
            started();
            let name = format!("{to}-{round}");
            probe.memcached(&name, "{replicas: 0}");
            probe.reaches(&name, "Stopped", 60);
            assert_eq!(operands(&space), before, "round {round}: an upgrade changed an operand");
        }
    }
    println!("{} upgrades of {objects} objects", rounds * 2);
}
