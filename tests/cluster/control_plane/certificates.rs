//! Keys and bundles that somebody spoils are right again within seconds.

use crate::harness::{Space, alone, eventually, kubectl, memcached};

const DEFINITION: &str = "customresourcedefinition/memcacheds.cache.example.com";
const WEBHOOKS: &str = "validatingwebhookconfiguration/pointsman";
const SECRET: [&str; 4] = ["--namespace", "pointsman-system", "secret", "pointsman-certificates"];

/// Both ways in: the webhook and the conversion.
fn answers(space: &Space) -> bool {
    let judged = space.kubectl_with(&["create", "--dry-run=server", "--filename", "-"], &memcached("probe", "{}"));
    let converted = space.kubectl(&["get", "memcacheds.v1alpha1.cache.example.com"]);
    judged.code == 0 && judged.err.contains("Warning: mc/probe: ") && converted.code == 0
}

fn bundles() -> (String, String) {
    let bundle = |object: &str, path: &str| kubectl(&["get", object, "--output", &format!("jsonpath={path}")]).ok();
    (bundle(DEFINITION, "{.spec.conversion.webhook.clientConfig.caBundle}"), bundle(WEBHOOKS, "{.webhooks[0].clientConfig.caBundle}"))
}

/// The stored authority, certificate and key, as the Secret encodes them; nothing where one of them is none.
fn stored() -> Option<Vec<String>> {
    let [namespace, of, secret, name] = SECRET;
    let keys = "jsonpath={.data.ca\\.crt} {.data.tls\\.crt} {.data.tls\\.key}";
    let stored = kubectl(&[namespace, of, "get", secret, name, "--ignore-not-found", "--output", keys]).ok();
    // "-----BEGIN "
    let parts: Vec<String> = stored.split(' ').filter(|part| part.starts_with("LS0tLS1CRUdJTi")).map(str::to_owned).collect();
    (parts.len() == 3).then_some(parts)
}

#[test]
fn spoilt_keys_and_bundles_are_mended() {
    let _turn = alone();
    let space = Space::new("certificates");
    space.memcached("cache", "{}");
    space.ready("cache");
    let (before, keys) = (bundles(), stored().expect("keys"));
    let [namespace, of, secret, name] = SECRET;
    for spoil in [
        vec!["patch", WEBHOOKS, "--type=json", "--patch", r#"[{"op":"remove","path":"/webhooks/0/clientConfig/caBundle"}]"#],
        vec!["patch", DEFINITION, "--type=json", "--patch", r#"[{"op":"remove","path":"/spec/conversion/webhook/clientConfig/caBundle"}]"#],
        vec![namespace, of, "delete", secret, name],
        vec![namespace, of, "patch", secret, name, "--type=merge", "--patch", r#"{"data":{"tls.crt":"bm9uc2Vuc2U="}}"#],
    ] {
        kubectl(&spoil).ok();
        // Seen and mended; the answer before that would tell nothing.
        std::thread::sleep(std::time::Duration::from_millis(300));
        eventually(30, &format!("everything answers after {spoil:?}"), || answers(&space));
        eventually(30, &format!("the bundles are there again after {spoil:?}"), || bundles() == before);
        eventually(30, &format!("keys of the same authority are stored after {spoil:?}"), || stored().is_some_and(|now| now[0] == keys[0]));
    }
    assert!(!before.0.is_empty() && before.0 == before.1);
}
