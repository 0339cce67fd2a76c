//! Keys and bundles that somebody spoils are right again within seconds.

use crate::harness::certificates::{SECRET, address, believed, presented, secret, stored, text};
use crate::harness::outage::{NoOperator, is_judged};
use crate::harness::{
    Alone, DEFINITION, Space, WEBHOOK, alone, audit, bash, bash_with, eventually, kubectl, kubectl_with, operator, scraped_value,
};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde_json::{Value, json};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The definition of Database, as kubectl takes it.
const DATABASES: &str = "customresourcedefinition/databases.stable.imaginedata.com";
/// Takes the bundle out of a definition.
const UNBUNDLED: &str = r#"[{"op":"remove","path":"/spec/conversion/webhook/clientConfig/caBundle"}]"#;

/// Every way in: the webhooks and the conversions.
fn answers(space: &Space) -> bool {
    let database = json!({ "apiVersion": "stable.imaginedata.com/v1alpha1", "kind": "Database", "metadata": { "name": "probe" },
        "spec": { "name": "shop", "storage-size": "1Gi" } });
    let tried = space.kubectl_with(&["create", "--dry-run=server", "--filename", "-"], &database.to_string());
    is_judged() && tried.code == 0 && space.kubectl(&["get", "memcacheds.v1alpha1.cache.example.com"]).code == 0
}

/// The stored authority, certificate and key; nothing where one of them is none.
fn keys() -> Option<[String; 3]> {
    let parts = ["ca.crt", "tls.crt", "tls.key"].map(|key| text(&stored(key)));
    parts.iter().all(|part| part.starts_with("-----BEGIN ")).then_some(parts)
}

#[test]
fn spoilt_keys_and_bundles_are_mended() {
    let _turn = alone();
    let space = Space::new("certificates");
    space.memcached("cache", "{}");
    space.ready("cache");
    // An authority that was stored a moment ago is not presented yet.
    let is_presented = || keys().is_some_and(|[_, leaf, _]| leaf.trim() == presented(&address()).trim());
    eventually(60, "the stored keys are presented", is_presented);
    let [authority, ..] = keys().expect("keys");
    // A former authority may still be on its way out.
    let whole = || {
        let bundles = believed();
        bundles.iter().all(|bundle| *bundle == bundles[0] && bundle.contains(&authority))
    };
    let [namespace, of, secret, name] = SECRET;
    for spoil in [
        vec!["patch", WEBHOOK, "--type=json", "--patch", r#"[{"op":"remove","path":"/webhooks/0/clientConfig/caBundle"}]"#],
        vec!["patch", WEBHOOK, "--type=json", "--patch", r#"[{"op":"remove","path":"/webhooks/1/clientConfig/caBundle"}]"#],
        vec!["patch", DEFINITION, "--type=json", "--patch", UNBUNDLED],
        vec!["patch", DATABASES, "--type=json", "--patch", UNBUNDLED],
        vec![
            "patch",
            DATABASES,
            "--type=json",
            "--patch",
            r#"[{"op":"remove","path":"/spec/conversion/webhook/clientConfig/service/path"}]"#,
        ],
        vec![
            "patch",
            WEBHOOK,
            "--type=json",
            "--patch",
            r#"[{"op":"replace","path":"/webhooks/0/clientConfig/service/path","value":"/elsewhere"}]"#,
        ],
        vec![namespace, of, "delete", secret, name],
        vec![namespace, of, "patch", secret, name, "--type=merge", "--patch", r#"{"data":{"tls.crt":"bm9uc2Vuc2U="}}"#],
        vec![namespace, of, "patch", secret, name, "--type=merge", "--patch", r#"{"data":{"ca.crt":"bm9uc2Vuc2U="}}"#],
        vec![
            "patch",
            WEBHOOK,
            "--type=json",
            "--patch",
            r#"[{"op":"replace","path":"/webhooks/0/clientConfig/caBundle","value":"bm9uc2Vuc2U="}]"#,
        ],
    ] {
        kubectl(&spoil).ok();
        // Seen and mended; the answer before that would tell nothing.
        std::thread::sleep(std::time::Duration::from_millis(300));
        eventually(30, &format!("everything answers after {spoil:?}"), || answers(&space));
        eventually(30, &format!("the bundles are there again after {spoil:?}"), whole);
        eventually(30, &format!("keys of the same authority are stored after {spoil:?}"), || {
            keys().is_some_and(|[now, ..]| now == authority)
        });
    }
}

#[test]
fn nobody_is_heard_who_does_not_know_the_path_that_the_api_server_was_told() {
    let _turn = alone();
    let space = Space::new("callers");
    let object = |size: &str| {
        json!({ "apiVersion": "stable.imaginedata.com/v1", "kind": "Database", "metadata": { "name": "forged", "namespace": space.name, "uid": "1" },
            "spec": { "databaseName": "shop", "storage": { "size": size } } })
    };
    let kind = json!({ "group": "stable.imaginedata.com", "version": "v1", "kind": "Database" });
    let review = json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "1", "kind": kind, "requestKind": kind, "operation": "UPDATE", "name": "forged", "namespace": space.name,
        "userInfo": { "username": "nobody" }, "object": object("2Gi"), "oldObject": object("1Gi") } });
    let called = |path: &str| {
        let to = format!("https://{}{path}", address());
        let line = format!("curl --silent --insecure --max-time 10 --header 'content-type: application/json' --data @- {to}");
        bash_with(&line, &review.to_string()).ok()
    };
    eventually(60, "everything answers", || answers(&space));
    let mark = audit::mark();
    let lists = "jsonpath={range .webhooks[*]}{.clientConfig.service.path}{'\\n'}{end}";
    let paths = kubectl(&["get", WEBHOOK, "--output", lists]).ok();
    let path = paths.lines().find(|path| path.starts_with("/validate/database/")).expect("the operator's path");
    let guessed = format!("{}0", &path[..path.len() - 1]);
    let guessed = if guessed == path { format!("{}1", &path[..path.len() - 1]) } else { guessed };
    for other in ["/validate/database", "/validate/database/", &guessed, &path.replace("database", "memcached"), "/convert", "/"] {
        assert_eq!(called(other), format!("nothing is served at {other}\n"));
    }
    let answer: Value = serde_json::from_str(&called(path)).expect("a review");
    assert_eq!((&answer["kind"], &answer["response"]["uid"]), (&json!("AdmissionReview"), &json!("1")), "{answer:#}");
    let asked: Vec<String> = audit::within(mark, &space.name)
        .iter()
        .filter(|entry| entry.by_operator() && entry.verb() == "get")
        .map(audit::Entry::what)
        .collect();
    assert_eq!(asked, Vec::<String>::new(), "a review asks the API server for nothing");
}

/// The operator may not write definitions any more, whatever its role says, so what is spoilt there stays so.
struct NobodyMends;

impl NobodyMends {
    const NAME: &str = "nobody-mends";

    #[track_caller]
    fn definitions(_alone: &Alone) -> Self {
        let rule = json!({ "apiGroups": ["apiextensions.k8s.io"], "apiVersions": ["*"], "operations": ["UPDATE"],
            "resources": ["customresourcedefinitions"] });
        let expression = format!("request.userInfo.username != '{}'", audit::OPERATOR);
        let object = |kind: &str, spec: Value| json!({ "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": { "name": Self::NAME }, "spec": spec });
        let policy = json!({ "failurePolicy": "Fail", "matchConstraints": { "resourceRules": [rule] },
            "validations": [{ "expression": expression, "message": "not now" }] });
        let binding = json!({ "policyName": Self::NAME, "validationActions": ["Deny"] });
        let both = [("ValidatingAdmissionPolicy", policy), ("ValidatingAdmissionPolicyBinding", binding)];
        let objects: Vec<Value> = both.into_iter().map(|(kind, spec)| object(kind, spec)).collect();
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects });
        kubectl_with(&["apply", "--filename", "-"], &list.to_string()).ok();
        NobodyMends
    }
}

impl Drop for NobodyMends {
    fn drop(&mut self) {
        kubectl(&["delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", Self::NAME]);
    }
}

/// When a certificate ends, as openssl says it; in seconds since 1970.
#[track_caller]
fn ends(certificate: &str) -> String {
    let line = format!("date --date \"$(openssl x509 -noout -enddate <<<'{certificate}' | cut -d= -f2)\" +%s");
    bash(&line).ok().trim().to_owned()
}

#[test]
fn the_ends_of_certificates_and_a_bundle_that_does_not_fit_are_scraped() {
    const MISMATCH: &str = "pointsman_certificate_mismatch";
    let turn = alone();
    eventually(60, "the stored keys are presented", || keys().is_some_and(|[_, leaf, _]| leaf.trim() == presented(&address()).trim()));
    let scraped_end = |certificate: &str| {
        scraped_value(&format!(r#"pointsman_certificate_expiry_timestamp_seconds{{certificate="{certificate}"}}"#)).unwrap_or_default()
    };
    assert_eq!(scraped_end("leaf"), ends(&presented(&address())));
    assert_eq!(scraped_end("authority"), ends(&keys().unwrap()[0]));
    eventually(30, "every bundle fits", || scraped_value(MISMATCH).as_deref() == Some("0"));
    let nobody_mends = NobodyMends::definitions(&turn);
    // Until the policy is in force it is mended, and spoilt again.
    eventually(60, "a bundle does not fit, and stays so", || {
        kubectl(&["patch", DATABASES, "--type=json", "--patch", UNBUNDLED]);
        std::thread::sleep(Duration::from_secs(5));
        scraped_value(MISMATCH).as_deref() == Some("1")
    });
    assert!(believed().iter().any(String::is_empty), "there is none that does not fit");
    drop(nobody_mends);
    eventually(30, "every bundle fits again", || scraped_value(MISMATCH).as_deref() == Some("0"));
    assert!(believed().iter().all(|bundle| !bundle.is_empty()));
}

/// cert-manager's part: it writes an authority's certificate, a leaf and its key, and nothing else.
struct Issuer(CertifiedIssuer<'static, KeyPair>);

impl Issuer {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "somebody's authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Issuer(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Stores a leaf that ends so many seconds from now.
    fn issues(&self, seconds: i64) {
        let mut params = CertificateParams::new(["pointsman.pointsman-system.svc", "localhost"].map(str::to_owned).to_vec()).unwrap();
        let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap();
        let at = |seconds: i64| UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap());
        (params.not_before, params.not_after) = (at(now - 86_400).into(), at(now + seconds).into());
        let key = KeyPair::generate().unwrap();
        let leaf = params.signed_by(&key, &self.0).unwrap().pem();
        let encoded = |text: String| BASE64_STANDARD.encode(text);
        let data =
            json!({ "ca.crt": encoded(self.0.pem()), "ca.key": null, "tls.crt": encoded(leaf), "tls.key": encoded(key.serialize_pem()) });
        secret("patch", &["--type=merge", "--patch", &json!({ "data": data }).to_string()]);
    }
}

/// What the replica says of itself; nothing where it is ready.
pub fn unready() -> String {
    let said = bash("curl --silent --write-out '%{http_code}' $POINTSMAN_HEALTH/readyz").ok();
    said.strip_suffix("503").unwrap_or_default().to_owned()
}

#[test]
fn certificates_of_cert_manager_are_presented_and_never_written() {
    let turn = alone();
    let space = Space::new("cert-manager");
    let (life, issuer) = (86_400, Issuer::new());
    // Started again, it makes its own.
    let _own = NoOperator::stopped(&turn);
    operator(&["restart", "--certificates", "cert-manager"]);
    let mark = audit::mark();
    // A new authority, and a new leaf of it, at once: cert-manager knows no overlap.
    issuer.issues(life);
    let until = Instant::now() + Duration::from_secs(20);
    while Instant::now() < until {
        assert!(answers(&space), "a call failed while the authority was exchanged");
    }
    eventually(20, "the issuer's leaf is presented", || presented(&address()).trim() == text(&stored("tls.crt")).trim());
    assert!(answers(&space));
    // A leaf that ends: it is presented while it is believed, and its end is told.
    issuer.issues(10);
    eventually(30, "the replica is not ready", || unready().contains("the presented certificate is not believed"));
    issuer.issues(life);
    eventually(20, "the replica is ready", || unready().is_empty());
    eventually(10, "everything answers", || answers(&space));
    // One that was expired before it came does not take its place.
    issuer.issues(-3_600);
    eventually(20, "it is told", || operator(&["logs"]).contains("the certificate in the Secret pointsman-certificates is not believed"));
    assert!(answers(&space) && unready().is_empty());
    issuer.issues(life);
    let written: Vec<String> = audit::since(mark)
        .iter()
        .filter(|entry| entry.by_operator() && entry.is_write())
        .map(audit::Entry::what)
        .filter(|what| what.contains("secrets"))
        .collect();
    assert_eq!(written, Vec::<String>::new());
}
