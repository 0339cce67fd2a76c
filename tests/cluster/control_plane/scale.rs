//! Autoscalers and `kubectl scale` drive a Memcached through either version.

use crate::harness::{Answer, Space, eventually, kubectl, shared};
use serde_json::Value;

/// A real `HorizontalPodAutoscaler`. No metrics are there; the least count is enforced without them.
fn autoscaler(version: &str) -> String {
    format!(
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: cache}}\n\
         spec:\n  minReplicas: 4\n  maxReplicas: 6\n\
         \x20 scaleTargetRef: {{apiVersion: cache.example.com/{version}, kind: Memcached, name: cache}}\n\
         \x20 metrics: [{{type: Resource, resource: {{name: cpu, target: {{type: Utilization, averageUtilization: 80}}}}}}]\n"
    )
}

#[track_caller]
fn taken_to_four(space: &Space) {
    eventually(60, "the autoscaler asks for four", || space.object("mc/cache")["spec"]["replicas"] == 4);
    space.ready("cache");
    let deployment = space.object("deployment/cache");
    assert_eq!((&deployment["spec"]["replicas"], &deployment["status"]["availableReplicas"]), (&4.into(), &4.into()), "{deployment}");
    eventually(30, "the autoscaler can scale", || {
        let conditions = space.object("hpa/cache")["status"]["conditions"].clone();
        let able = conditions.as_array().is_some_and(|all| all.iter().any(|one| one["type"] == "AbleToScale" && one["status"] == "True"));
        able && !conditions.to_string().contains("selector is required")
    });
}

#[test]
fn an_autoscaler_takes_three_pods_to_four_through_either_version() {
    let _turn = shared();
    std::thread::scope(|scope| {
        for version in ["v1", "v1alpha1"] {
            scope.spawn(move || {
                let space = Space::new(&format!("hpa-{version}"));
                space.memcached("cache", "{replicas: 3}");
                space.ready("cache");
                space.apply(&autoscaler(version)).ok();
                taken_to_four(&space);
                let moves = space.history("cache");
                assert_eq!(moves[moves.len() - 2..], ["Ready -ReplicasChanged-> Scaling", "Scaling -ChildrenReady-> Ready"]);
            });
        }
    });
}

#[test]
fn kubectl_autoscale_finds_the_pods_by_the_selector() {
    let _turn = shared();
    let space = Space::new("autoscale");
    space.memcached("cache", "{replicas: 3}");
    space.ready("cache");
    space.kubectl(&["autoscale", "mc/cache", "--min=4", "--max=6", "--cpu-percent=80"]).ok();
    taken_to_four(&space);
    for version in ["v1", "v1alpha1"] {
        let scale = scale_of(&space, version);
        let selector = scale["status"]["selector"].as_str().unwrap().to_owned();
        assert_eq!(scale["status"]["replicas"], 4, "{scale}");
        assert_eq!(space.object_list(&["pods", "--selector", &selector]).len(), 4, "{selector}");
    }
}

fn scale_of(space: &Space, version: &str) -> Value {
    let path = format!("/apis/cache.example.com/{version}/namespaces/{}/memcacheds/cache/scale", space.name);
    serde_json::from_str(&kubectl(&["get", "--raw", &path]).ok()).unwrap()
}

#[test]
fn kubectl_scale_works_through_either_versions_own_subresource() {
    let _turn = shared();
    let space = Space::new("scale");
    space.memcached("cache", "{replicas: 1, memory: 128Mi}");
    space.ready("cache");
    let through = |version: &str, replicas: &str| -> Answer {
        space.kubectl(&["scale", &format!("memcacheds.{version}.cache.example.com/cache"), &format!("--replicas={replicas}")])
    };
    for (version, replicas) in [("v1alpha1", 3), ("v1", 2), ("v1alpha1", 0), ("v1alpha1", 1)] {
        through(version, &replicas.to_string()).ok();
        space.ready("cache");
        assert_eq!(space.object("deployment/cache")["spec"]["replicas"], replicas, "through {version}");
        for version in ["v1", "v1alpha1"] {
            assert_eq!(scale_of(&space, version)["spec"]["replicas"].as_i64().unwrap_or_default(), replicas, "read through {version}");
        }
    }
    assert_eq!(space.object("mc/cache")["spec"]["memory"], "128Mi", "scaling through v1alpha1 lost a field of v1");
    for version in ["v1", "v1alpha1"] {
        let answer = through(version, "1000");
        assert!(answer.code == 1 && answer.err.contains("less than or equal to 100"), "{}", answer.text());
    }
}
