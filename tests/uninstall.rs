//! What an uninstallation decides and says; the texts are golden files.

#[path = "support/golden.rs"]
mod golden;

use kube::core::{ApiResource, GroupVersionKind};
use pointsman::uninstall::{Consent, Definition, Found, Object, Part, Verdict, decide};

const TELL: Consent = Consent { yes: false, objects: false };
const REMOVE: Consent = Consent { yes: true, objects: false };
const REMOVE_ALL: Consent = Consent { yes: true, objects: true };

fn part(kind: &str, namespace: Option<&str>, name: &str) -> Part {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", kind));
    Part {
        resource,
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
        uid: format!("uid of {name}"),
        release: None,
        others: Vec::new(),
    }
}

fn object(namespace: &str, name: &str) -> Object {
    let (namespace, name, uid) = (namespace.to_owned(), name.to_owned(), format!("uid of {name}"));
    Object { namespace, name, uid, finalizers: String::new(), held: false, protected: false }
}

fn definition(objects: Result<Vec<Object>, String>) -> Definition {
    Definition {
        part: part("CustomResourceDefinition", None, "caches.example.com"),
        resource: ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Cache")),
        short: "mc".to_owned(),
        earlier: Vec::new(),
        objects,
    }
}

fn installed(objects: Result<Vec<Object>, String>) -> Found {
    let parts = vec![
        part("ValidatingWebhookConfiguration", None, "pointsman"),
        part("Deployment", Some("pointsman-system"), "pointsman"),
        part("Namespace", None, "pointsman-system"),
        part("ClusterRole", None, "pointsman"),
    ];
    Found { parts, definitions: vec![definition(objects)] }
}

/// Without objects of users, and with these in the operator's namespace.
fn inhabited(others: &[&str]) -> Found {
    let mut found = installed(Ok(Vec::new()));
    found.parts[2].others = others.iter().map(|&other| other.to_owned()).collect();
    found
}

fn two() -> Vec<Object> {
    vec![object("bank", "sessions"), object("shop", "cache")]
}

/// What is said, and the titles of what goes.
fn said(found: &Found, consent: Consent) -> (String, Vec<String>) {
    match decide(found, consent) {
        Verdict::Refused(text) | Verdict::Told(text) => (text, Vec::new()),
        Verdict::Removed { objects, parts, said } => {
            let objects = objects.into_iter().map(|(_, object)| object.name);
            (said, objects.chain(parts.into_iter().map(|part| part.resource.kind)).collect())
        }
    }
}

#[test]
fn every_text_is_the_golden_one() {
    let held = vec![Object { held: true, ..object("shop", "orders") }];
    let stuck = vec![Object { finalizers: "example.com/a, example.com/b".to_owned(), ..object("shop", "cache") }, object("shop", "other")];
    let protected = vec![Object { protected: true, ..object("shop", "cache") }, object("shop", "other")];
    let mut by_helm = installed(Ok(two()));
    by_helm.parts[1].release = Some(("own-name".to_owned(), "platform".to_owned()));
    let many = (0..25).map(|number| object("shop", &format!("cache-{number}"))).collect();
    let at_home = vec![Object { protected: true, ..object("pointsman-system", "mine") }, object("shop", "cache")];
    let kept = inhabited(&["PersistentVolumeClaim orders-backups", "Pod a-neighbour"]);
    let crowded: Vec<String> = (0..25).map(|number| format!("Pod pod-{number}")).collect();
    let crowded = inhabited(&crowded.iter().map(String::as_str).collect::<Vec<_>>());
    let left = Found { parts: Vec::new(), ..installed(Ok(two())) };
    let mut earlier = installed(Ok(two()));
    earlier.definitions[0].earlier = vec!["v1alpha1".to_owned()];
    let left_earlier = Found { parts: Vec::new(), ..earlier.clone() };
    let left_held = Found { parts: Vec::new(), ..installed(Ok(held.clone())) };
    let cases = [
        ("nothing", said(&Found::default(), TELL)),
        ("told-empty", said(&installed(Ok(Vec::new())), TELL)),
        ("told-with-objects", said(&installed(Ok(two())), TELL)),
        ("told-with-removal", said(&installed(Ok(two())), Consent { objects: true, ..TELL })),
        ("told-many", said(&installed(Ok(many)), TELL)),
        ("refused-unlisted", said(&installed(Err("conversion webhook failed".to_owned())), TELL)),
        ("told-only-definitions", said(&left, TELL)),
        ("told-in-its-namespace", said(&installed(Ok(at_home.clone())), TELL)),
        ("removed-in-its-namespace", said(&installed(Ok(at_home)), REMOVE)),
        ("told-with-claims", said(&kept, TELL)),
        ("told-with-many-pods", said(&crowded, TELL)),
        ("removed-with-claims", said(&kept, REMOVE)),
        ("removed-empty", said(&installed(Ok(Vec::new())), REMOVE)),
        ("removed-with-objects", said(&installed(Ok(two())), REMOVE)),
        ("removed-all", said(&installed(Ok(two())), REMOVE_ALL)),
        ("refused-held", said(&installed(Ok(held.clone())), REMOVE_ALL)),
        ("refused-held-by-nobody", said(&left_held, REMOVE)),
        ("refused-unconverted", said(&earlier, REMOVE)),
        ("refused-unconverted-by-nobody", said(&left_earlier, REMOVE)),
        ("refused-stuck", said(&installed(Ok(stuck)), REMOVE_ALL)),
        ("refused-protected", said(&installed(Ok(protected)), REMOVE_ALL)),
        ("refused-helm", said(&by_helm, REMOVE)),
    ];
    golden::compare("uninstall", cases.iter().map(|(name, (text, _))| (*name, text.as_str())));
}

#[test]
fn a_definition_with_objects_stays_until_that_is_wished() {
    assert!(!said(&installed(Ok(two())), REMOVE).1.contains(&"CustomResourceDefinition".to_owned()));
    assert_eq!(
        said(&installed(Ok(two())), REMOVE_ALL).1,
        ["sessions", "cache", "ValidatingWebhookConfiguration", "Deployment", "ClusterRole", "CustomResourceDefinition", "Namespace"]
    );
}

#[test]
fn what_only_the_operator_converts_keeps_it() {
    let mut found = installed(Ok(two()));
    found.definitions[0].earlier = vec!["v1alpha1".to_owned()];
    assert_eq!(said(&found, REMOVE).1, Vec::<String>::new());
    assert_eq!(said(&found, REMOVE_ALL).1.len(), 7, "nothing stays that had to be converted");
    found.definitions[0].objects = Ok(Vec::new());
    assert_eq!(said(&found, REMOVE).1.len(), 5, "there is nothing to convert");
}

#[test]
fn a_namespace_stays_with_what_stays_in_it() {
    let at_home = || installed(Ok(vec![object("pointsman-system", "mine")]));
    assert_eq!(said(&at_home(), REMOVE).1, ["ValidatingWebhookConfiguration", "Deployment", "ClusterRole"]);
    assert_eq!(said(&at_home(), REMOVE_ALL).1.last().expect("parts"), "Namespace");
}

#[test]
fn a_namespace_stays_with_claims_and_with_pods_of_others() {
    for other in ["PersistentVolumeClaim orders-backups", "Pod a-neighbour"] {
        for consent in [REMOVE, REMOVE_ALL] {
            let gone = said(&inhabited(&[other]), consent).1;
            assert!(gone.contains(&"CustomResourceDefinition".to_owned()) && !gone.contains(&"Namespace".to_owned()), "{other}: {gone:?}");
        }
    }
}

#[test]
fn nothing_goes_that_nobody_agreed_to() {
    let held = Object { held: true, ..object("shop", "orders") };
    let protected = Object { protected: true, ..object("shop", "cache") };
    for consent in [TELL, REMOVE, REMOVE_ALL] {
        assert_eq!(said(&installed(Ok(vec![held.clone()])), consent).1, Vec::<String>::new(), "{consent:?} lets go what is held");
        assert_eq!(said(&installed(Err("no".to_owned())), consent).1, Vec::<String>::new(), "{consent:?} lets go what nobody knows");
    }
    for consent in [TELL, Consent { objects: true, ..TELL }] {
        assert_eq!(said(&installed(Ok(two())), consent).1, Vec::<String>::new());
    }
    // A protected object stays with its definition; it stands in the way only of removing objects.
    assert!(!said(&installed(Ok(vec![protected])), REMOVE).1.contains(&"CustomResourceDefinition".to_owned()));
}
