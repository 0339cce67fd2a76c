//! `pointsman uninstall`: refuses, tells, removes; what users own goes only where that is typed.

use super::{Chart, Cluster, known_as_an_owner, operands, script, started, uninstall};
use crate::harness::{DEFINITION, Space, alone, bash, eventually, kubectl, kubectl_with, repository};

/// As a pipeline does it that knows no Helm in the cluster: rendered, then applied.
#[track_caller]
fn applied(chart: &Chart) {
    let manifests = chart.helm("template", "namespace: {create: true}").ok();
    // The definitions of a moment ago may still be going.
    eventually(30, "everything is applied", || kubectl_with(&["apply", "--filename", "-"], &manifests).code == 0);
    kubectl(&["wait", "--for=condition=Established", DEFINITION, "--timeout=30s"]).ok();
    started();
}

#[test]
fn uninstalling_keeps_objects_until_their_removal_is_typed() {
    let _turn = alone();
    let _cluster = Cluster::empty();
    let (chart, space) = (Chart::copied(), Space::new("removal"));
    applied(&chart);
    known_as_an_owner(&space);
    space.memcached("cache", "{replicas: 2}");
    space.ready("cache");
    let before = operands(&space);

    // An object that waits for the operator stands in the way of all else.
    let finalizers = |list: &str| format!(r#"{{"metadata":{{"finalizers":{list}}}}}"#);
    space.kubectl(&["patch", "mc/cache", "--type=merge", "--patch", &finalizers(r#"["pointsman.dev/database"]"#)]).ok();
    let refused = uninstall("--yes --remove-objects");
    assert_eq!(refused.code, 1, "{}", refused.text());
    assert!(refused.err.contains(&format!("kubectl delete mc/cache --namespace {}", space.name)), "{}", refused.err);
    space.kubectl(&["patch", "mc/cache", "--type=merge", "--patch", &finalizers("null")]).ok();

    // Telling removes nothing.
    let told = uninstall("").ok();
    assert!(
        told.starts_with("Nothing was removed yet. `pointsman uninstall --yes` removes:\n  ValidatingWebhookConfiguration pointsman\n"),
        "{told}"
    );
    assert!(told.contains(&format!("mc/cache in namespace {}", space.name)), "{told}");
    assert_eq!(uninstall("").ok(), told);

    bash(&format!("{} stop", script())).ok();
    let said = uninstall("--yes").ok();
    // What could refuse the rest goes first, then what acts.
    let mut kinds: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("removed ")?.split(' ').next()).collect();
    kinds.dedup();
    let first = ["ValidatingWebhookConfiguration", "ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy", "Deployment"];
    assert!(kinds.starts_with(&first), "{said}");
    assert_eq!(operands(&space), before, "the removal changed an operand");
    let labelled = "clusterroles,clusterrolebindings,roles,rolebindings,deployments,services,priorityclasses,flowschemas,namespaces,secrets,networkpolicies";
    let left =
        ["get", labelled, "--all-namespaces", "--selector=app.kubernetes.io/part-of=pointsman", "--ignore-not-found", "--output=name"];
    assert_eq!(kubectl(&left).ok(), "");

    applied(&chart);
    space.ready("cache");
    let objects = |text: &str| text.lines().filter(|line| !line.starts_with("Pod ")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(objects(&operands(&space)), objects(&before), "installing again changed an object");

    // A protected object stays, whatever is typed.
    space.kubectl(&["annotate", "mc/cache", "pointsman.dev/protected=true"]).ok();
    assert_eq!(uninstall("--yes --remove-objects").code, 1);
    space.kubectl(&["annotate", "mc/cache", "pointsman.dev/protected-"]).ok();
    let said = uninstall("--yes --remove-objects").ok();
    assert!(said.contains("removed CustomResourceDefinition memcacheds.cache.example.com\n"), "{said}");
    assert_eq!(uninstall("").ok(), "Nothing of pointsman is in this cluster.\n");
}

#[test]
fn the_manifests_in_the_docs_are_taken() {
    let _turn = alone();
    let _cluster = Cluster::empty();
    let page = std::fs::read_to_string(repository().join("docs/installing.md")).unwrap();
    let manifests: Vec<&str> = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(manifests.len(), 2, "one for the operator, one for what it runs");
    for manifest in manifests {
        kubectl_with(&["create", "--dry-run=server", "--filename", "-"], manifest).ok();
    }
}

/// The kinds of a Prometheus operator, as far as an API server has to know them; they go when the test ends.
struct PrometheusOperator(String);

impl PrometheusOperator {
    #[track_caller]
    fn installed() -> Self {
        let definition = |kind: &str, plural: &str| {
            format!(
                "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.monitoring.coreos.com}}\n\
                 spec:\n  group: monitoring.coreos.com\n  scope: Namespaced\n  names: {{kind: {kind}, plural: {plural}}}\n  versions:\n  \
                 - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}\n"
            )
        };
        let kinds = PrometheusOperator(definition("PodMonitor", "podmonitors") + &definition("PrometheusRule", "prometheusrules"));
        kubectl_with(&["apply", "--filename", "-"], &kinds.0).ok();
        kubectl_with(&["wait", "--for=condition=Established", "--timeout=30s", "--filename", "-"], &kinds.0).ok();
        kinds
    }
}

impl Drop for PrometheusOperator {
    fn drop(&mut self) {
        kubectl_with(&["delete", "--filename", "-"], &self.0);
    }
}

#[test]
fn what_a_prometheus_operator_takes_goes_with_the_rest() {
    let _turn = alone();
    let _kinds = PrometheusOperator::installed();
    let _cluster = Cluster::empty();
    let chart = Chart::copied();
    let values = "{namespace: {create: true}, podMonitor: {enabled: true}, prometheusRule: {enabled: true}}";
    let manifests = chart.helm("template", values).ok();
    eventually(30, "everything is applied", || kubectl_with(&["apply", "--filename", "-"], &manifests).code == 0);
    let said = uninstall("--yes").ok();
    for kind in ["PodMonitor", "PrometheusRule"] {
        assert!(said.contains(&format!("removed {kind} pointsman in namespace pointsman-system\n")), "{said}");
    }
    let left = ["get", "podmonitors,prometheusrules", "--all-namespaces", "--ignore-not-found", "--output=name"];
    assert_eq!(kubectl(&left).ok(), "");
}

/// Whoever may make a Deployment may call it ours, and make it before an installation is made anew.
#[test]
fn what_is_called_ours_keeps_nobody_from_starting_but_with_rights_of_ours() {
    let _turn = alone();
    let _cluster = Cluster::empty();
    let space = Space::new("called-ours");
    let pods = "metadata: {labels: {of: theirs}}, spec: {containers: [{name: theirs, image: example.com/theirs:1}]}";
    let labels = "labels: {app.kubernetes.io/name: pointsman, app.kubernetes.io/part-of: pointsman}";
    let theirs = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: theirs, {labels}}}\nspec: {{replicas: 0, selector: {{matchLabels: {{of: theirs}}}}, template: {{{pods}}}}}\n"
    );
    space.apply(&theirs).ok();
    // Times are of whole seconds.
    std::thread::sleep(std::time::Duration::from_secs(2));
    applied(&Chart::copied());
    let said = || bash(&format!("{} logs", script())).text();
    assert!(said().contains("has none of its rights: it is not taken for one"), "{}", said());

    let account = format!("--serviceaccount={}:default", space.name);
    kubectl(&["create", "clusterrolebinding", "called-ours", "--clusterrole=pointsman", &account]).ok();
    bash(&format!("{} stop", script())).ok();
    bash(&format!("timeout 10 {} start", script()));
    let refusal = format!("another installation runs in this cluster: the Deployment theirs in namespace {}", space.name);
    eventually(10, "it does not start", || said().contains(&refusal));
    kubectl(&["delete", "clusterrolebinding", "called-ours"]).ok();
    space.kubectl(&["delete", "deployment/theirs"]).ok();
}
