//! An installation for some namespaces has rights in those alone, and needs no others.

use super::{ACCOUNT, Chart, Cluster, DATABASE, known_as_an_owner, started};
use crate::harness::{Space, alone, audit, eventually, eventually_or, kubectl, operator};

/// What goes with a namespace is in nobody's order, and the rights in it are often the first.
#[test]
fn a_watched_namespace_that_goes_is_not_held_up_and_holds_up_no_other() {
    let _turn = alone();
    let _cluster = Cluster::empty();
    let chart = Chart::copied();
    let (shop, bank) = (Space::new("shop"), Space::new("bank"));
    chart.helm("install", &format!("watchNamespaces: [{}, {}]", shop.name, bank.name)).ok();
    started();
    for space in [&shop, &bank] {
        known_as_an_owner(space);
    }
    shop.apply(DATABASE).ok();
    shop.db("db").ready_within(90);
    shop.kubectl(&["delete", "rolebinding", "pointsman-watched"]).ok();
    kubectl(&["delete", "namespace", &shop.name, "--wait=false"]).ok();
    eventually(60, "the namespace is gone", || kubectl(&["get", "namespace", &shop.name]).code != 0);
    assert!(operator(&["logs"]).contains("the operator's rights in it went first"));
    // A process that begins now can list nothing there, and looks after the other one.
    operator(&["stop"]);
    started();
    bank.apply("apiVersion: cache.example.com/v1\nkind: Memcached\nmetadata: {name: cache}\nspec: {replicas: 2}\n").ok();
    bank.ready("cache");
}

#[test]
fn two_watched_namespaces_work_and_a_third_is_left_alone() {
    let _turn = alone();
    let _cluster = Cluster::empty();
    let (chart, mark) = (Chart::copied(), audit::mark());
    let (shop, bank, other) = (Space::new("shop"), Space::new("bank"), Space::new("other"));
    chart.helm("install", &format!("watchNamespaces: [{}, {}]", shop.name, bank.name)).ok();
    started();
    for space in [&shop, &bank] {
        known_as_an_owner(space);
        let made = space.apply("apiVersion: cache.example.com/v1alpha1\nkind: Memcached\nmetadata: {name: cache}\nspec: {size: 2}\n");
        assert!(!made.err.contains("not watched"), "{}", made.err);
        space.ready("cache");
        space.patch("cache", r#"{"memory":"128Mi"}"#).ok();
        space.ready("cache");
        space.all_told("cache");
        space.kubectl(&["delete", "deployment", "cache"]).ok();
        eventually(30, "what a hand removed is there again", || !space.object("deployment/cache").is_null());
        space.ready("cache");
    }
    shop.apply(DATABASE).ok();
    shop.db("db").ready_within(90);
    shop.db("db").kubectl("delete", &["--timeout=90s"]).ok();
    // It is accepted, so that it can be written before somebody watches; and it says so.
    let warned = other.apply("apiVersion: cache.example.com/v1\nkind: Memcached\nmetadata: {name: cache}\nspec: {}\n");
    assert!(warned.err.contains("Warning: mc/cache: ") && warned.err.contains("watch"), "{}", warned.err);
    other.unwritten(mark, "the operator wrote in a namespace that it does not watch");
    assert!(other.object("mc/cache")["status"].is_null());
    let denied: Vec<String> =
        audit::since(mark).iter().filter(|entry| entry.by_operator() && entry.code() == 403).map(audit::Entry::what).collect();
    assert_eq!(denied, Vec::<String>::new(), "calls of the operator were denied");
    let asked = audit::since(mark).iter().filter(|entry| entry.by_operator()).count();
    assert!(asked > 50, "only {asked} calls of the operator are in the audit log");
    // The rights end where the bindings do.
    let may = |space: &Space, verb: &str, what: &str| space.kubectl(&["auth", "can-i", "--as", ACCOUNT, verb, what]).out == "yes\n";
    for (verb, what) in
        [("patch", "deployments.apps"), ("delete", "pods"), ("list", "memcacheds.cache.example.com"), ("create", "events.events.k8s.io")]
    {
        assert!(may(&shop, verb, what) && may(&bank, verb, what), "{verb} {what}");
        assert!(!may(&other, verb, what), "{verb} {what} in a namespace that is not watched");
    }
    assert_eq!(kubectl(&["get", "clusterrolebinding", "pointsman-watched", "--ignore-not-found"]).ok(), "");
}

#[test]
fn the_webhooks_answer_over_ipv6_with_a_certificate_that_holds() {
    let _turn = alone();
    let _cluster = Cluster::empty();
    Chart::copied().helm("install", "").ok();
    started();
    let port = std::env::var("POINTSMAN_WEBHOOK_PORT").unwrap();
    let of = |field: &str| {
        format!("kubectl get validatingwebhookconfiguration pointsman --output 'jsonpath={{.webhooks[0].clientConfig.{field}}}'")
    };
    let (authority, path) = (format!("{} | base64 -d", of("caBundle")), of("service.path"));
    let name = "pointsman.pointsman-system.svc";
    for address in ["[::1]", "127.0.0.1"] {
        let ask =
            format!("curl --silent --show-error --cacert <({authority}) --resolve {name}:{port}:{address} https://{name}:{port}$({path})");
        // It makes its keys, and the path, once it leads.
        let said = || crate::harness::bash(&ask).text();
        eventually_or(20, || said() == "this path does not answer GET\n", || format!("{address}: {}", said()));
    }
}
