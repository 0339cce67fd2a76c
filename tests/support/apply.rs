//! Server-side apply, as far as one writer and the defaults of the API server need it.

use serde_json::{Value, json};

/// Puts `new` into `live`; what stood in `old`, the apply before, and is not wanted any more goes.
pub fn merge(live: &mut Value, old: &Value, new: &Value) {
    let named = |list: &[Value]| !list.is_empty() && list.iter().all(|item| item["name"].is_string());
    match (live, new) {
        (Value::Object(live), Value::Object(new)) => {
            let given_up = old.as_object().into_iter().flatten().map(|(key, _)| key).filter(|key| !new.contains_key(*key));
            for key in given_up {
                live.remove(key);
            }
            for (key, value) in new {
                match live.get_mut(key) {
                    Some(inner) => merge(inner, &old[key], value),
                    None => drop(live.insert(key.clone(), value.clone())),
                }
            }
        }
        (Value::Array(live), Value::Array(new)) if named(new) && named(live) => {
            for item in new {
                let before = old.as_array().into_iter().flatten().find(|other| other["name"] == item["name"]);
                match live.iter_mut().find(|other| other["name"] == item["name"]) {
                    Some(inner) => merge(inner, before.unwrap_or(&Value::Null), item),
                    None => live.push(item.clone()),
                }
            }
        }
        (live, new) => *live = new.clone(),
    }
}

/// What the API server adds to a Deployment or a Service that does not say it.
pub fn default(object: &mut Value) {
    let defaults = match object["kind"].as_str() {
        Some("Deployment") => json!({ "spec": {
            "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
            "template": { "spec": { "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "terminationGracePeriodSeconds": 30 } },
        } }),
        Some("Service") => json!({ "spec": { "type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster" } }),
        _ => return,
    };
    fill(object, &defaults);
    for container in object["spec"]["template"]["spec"]["containers"].as_array_mut().into_iter().flatten() {
        fill(container, &json!({ "imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log" }));
        for probe in ["readinessProbe", "livenessProbe"] {
            fill(&mut container[probe], &json!({ "successThreshold": 1 }));
        }
    }
}

fn fill(value: &mut Value, defaults: &Value) {
    let Value::Object(defaults) = defaults else { return };
    for (key, default) in defaults {
        match value.get_mut(key) {
            Some(inner) => fill(inner, default),
            None => value[key] = default.clone(),
        }
    }
}
