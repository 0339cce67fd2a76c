//! What the API server would refuse in the resources of a container.

use super::faults::{Fault, Faults, is_qualified};
use super::pod_template::Resources;
use super::quantity::Quantity;

/// The resources of a container that need no prefix.
const RESOURCES: &[&str] = &["cpu", "memory", "ephemeral-storage"];

/// Every amount of a container's resources that is not legal.
pub fn illegal_amounts(Resources { limits, requests }: &Resources) -> Vec<Fault> {
    let mut faults = Faults::default();
    for (list, amounts) in [("limits", limits), ("requests", requests)] {
        for (name, amount) in amounts {
            let at = format!("{list}[{name}]");
            let page = name.strip_prefix("hugepages-").map(|size| Quantity::from(size).units().unwrap_or_default());
            let device = name.contains('/') && is_qualified(name) && !name.starts_with("requests.");
            faults.unless(RESOURCES.contains(&name.as_str()) || device || page.is_some_and(|size| size > 0), &at, || {
                format!("{name:?} is no resource of a container; write {}, hugepages-SIZE or prefix/name", RESOURCES.join(", "))
            });
            let text = amount.to_string();
            faults.unless(amount.nanos().is_some_and(|nanos| nanos >= 0), &at, || {
                format!("{text:?} is not a quantity of at least 0, as 50m or 1")
            });
            if let Some(size) = page.filter(|size| *size > 0) {
                let pages = amount.units().is_some_and(|units| units % size == 0);
                faults.unless(pages, &at, || format!("{amount} is no whole number of pages of {}", name.trim_start_matches("hugepages-")));
            }
            if !RESOURCES.contains(&name.as_str()) {
                undivided(&mut faults, &at, amount, limits.get(name));
            }
        }
    }
    for (name, request) in requests {
        if let Some(limit) = limits.get(name) {
            faults.unless(limit.nanos() >= request.nanos(), &format!("requests[{name}]"), || {
                format!("{request} is over the limit {limit}; what is guaranteed may not be more than what is allowed")
            });
        }
    }
    faults.found()
}

/// Of devices and huge pages, a container has what it asks for, in whole pieces.
fn undivided(faults: &mut Faults, at: &str, amount: &Quantity, limit: Option<&Quantity>) {
    let whole = amount.nanos().is_none_or(|nanos| nanos % 1_000_000_000 == 0);
    faults.unless(whole, at, || format!("{amount} is no whole number"));
    let same = limit.is_some_and(|limit| limit.nanos() == amount.nanos());
    faults.unless(same, at, || "limits and requests must be the same; name it in limits, the request follows".into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn amounts_are_of_known_resources_and_devices_are_whole() {
        let found = |resources: Value| -> Vec<String> {
            let resources: Resources = serde_json::from_value(resources).expect("resources");
            illegal_amounts(&resources).into_iter().map(|(field, text)| format!("{field}: {text}")).collect()
        };
        let device = json!({ "limits": { "cpu": "1", "example.com/gpu": "1", "hugepages-2Mi": "4Mi" } });
        assert_eq!(found(device), Vec::<String>::new());
        for name in ["foo", "", "storage", "pods", "requests.example.com/gpu", "hugepages-foo", "hugepages-a b"] {
            let found = found(json!({ "limits": { name: "1" } }));
            assert!(found.len() == 1 && found[0].contains("is no resource of a container"), "{found:?}");
        }
        assert!(found(json!({ "requests": { "example.com/gpu": "1" } }))[0].contains("must be the same"));
        assert!(found(json!({ "limits": { "hugepages-2Mi": "3Mi" } }))[0].contains("no whole number of pages of 2Mi"));
        assert!(found(json!({ "limits": { "cpu": "50m\n" } }))[0].contains("\"50m\\n\" is not a quantity"));
        assert!(found(json!({ "limits": { "example.com/gpu": "1500m" } }))[0].contains("no whole number"));
        assert!(found(json!({ "limits": { "cpu": "1" }, "requests": { "cpu": "2" } }))[0].contains("is over the limit"));
    }
}
