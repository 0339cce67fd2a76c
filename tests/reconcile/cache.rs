//! A cache fed by hand: what a list leaves out is gone, groups follow labels, versions are known.

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::core::ObjectMeta;
use kube::runtime::watcher::Event;
use pointsman::controller::cache::{Cache, Change, Key};
use pointsman::controller::listing::Scope;
use std::cell::RefCell;

fn pod(namespace: &str, name: &str, group: &str, version: u64) -> Pod {
    let labels = [("group".to_owned(), group.to_owned())].into();
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some(namespace.to_owned()),
        resource_version: Some(version.to_string()),
        labels: Some(labels),
        ..ObjectMeta::default()
    };
    Pod { metadata, ..Pod::default() }
}

fn names(cache: &Cache<Pod>, group: &str) -> Vec<String> {
    cache.members("shop", group).iter().map(|pod| pod.name_any()).collect()
}

fn scope(namespace: &str) -> Scope {
    Scope::Namespace(namespace.to_owned())
}

fn listed(cache: &Cache<Pod>, of: &Scope, pods: Vec<Pod>, tell: &dyn Fn(&Pod, Change)) -> bool {
    cache.take(of, Event::Init, tell);
    for pod in pods {
        cache.take(of, Event::InitApply(pod), tell);
    }
    cache.take(of, Event::InitDone, tell)
}

#[test]
fn what_a_list_leaves_out_is_told_as_gone_and_other_namespaces_are_left_alone() {
    let cache = Cache::new(&[scope("shop"), scope("bank")]);
    let told = RefCell::new(Vec::new());
    let tell = |pod: &Pod, change: Change| told.borrow_mut().push((pod.name_any(), change));
    assert!(listed(&cache, &scope("shop"), vec![pod("shop", "a", "g", 5), pod("shop", "b", "g", 3)], &tell));
    assert!(!cache.synced());
    assert!(listed(&cache, &scope("bank"), vec![pod("bank", "c", "g", 4)], &tell));
    assert!(cache.synced());
    told.borrow_mut().clear();
    assert!(!listed(&cache, &scope("shop"), vec![pod("shop", "a", "g", 5)], &tell), "only the first list counts");
    assert_eq!(*told.borrow(), [("a".to_owned(), Change::Stands), ("b".to_owned(), Change::Gone)]);
    assert!(cache.get(&Key { namespace: "bank".into(), name: "c".into() }).is_some());
}

#[test]
fn a_cache_knows_its_newest_version_by_namespace_and_not_before_its_list_is_whole() {
    let cache = Cache::new(&[scope("shop"), scope("bank")]);
    let tell = |_: &Pod, _: Change| {};
    cache.take(&scope("shop"), Event::Init, &tell);
    cache.take(&scope("shop"), Event::InitApply(pod("shop", "a", "g", 9)), &tell);
    assert_eq!(cache.newest("shop"), 0);
    cache.take(&scope("shop"), Event::InitDone, &tell);
    assert_eq!((cache.newest("shop"), cache.newest("bank")), (9, 0));
    cache.take(&scope("shop"), Event::Delete(pod("shop", "a", "g", 12)), &tell);
    assert_eq!(cache.newest("shop"), 12);
    // An API server that was restored to an older moment counts on from there.
    listed(&cache, &scope("shop"), vec![pod("shop", "a", "g", 7)], &tell);
    assert_eq!(cache.newest("shop"), 7);
}

#[test]
fn an_object_is_found_under_the_label_that_it_carries_now() {
    let cache = Cache::grouped(&[Scope::Cluster], |pod: &Pod| pod.labels().get("group"));
    let tell = |_: &Pod, _: Change| {};
    cache.take(&Scope::Cluster, Event::Apply(pod("shop", "a", "red", 1)), &tell);
    assert_eq!((names(&cache, "red"), names(&cache, "blue")), (vec!["a".to_owned()], vec![]));
    cache.take(&Scope::Cluster, Event::Apply(pod("shop", "a", "blue", 2)), &tell);
    assert_eq!((names(&cache, "red"), names(&cache, "blue")), (vec![], vec!["a".to_owned()]));
    cache.take(&Scope::Cluster, Event::Delete(pod("shop", "a", "blue", 3)), &tell);
    assert_eq!(names(&cache, "blue"), [""; 0]);
}

#[test]
fn who_loses_an_object_to_another_hears_of_it() {
    let cache = Cache::grouped(&[Scope::Cluster], |pod: &Pod| pod.labels().get("group"));
    let told = RefCell::new(Vec::new());
    let tell = |pod: &Pod, change| told.borrow_mut().push((pod.labels()["group"].clone(), change));
    for (group, version) in [("red", 1), ("red", 2), ("blue", 3)] {
        cache.take(&Scope::Cluster, Event::Apply(pod("shop", "a", group, version)), &tell);
    }
    let red = || ("red".to_owned(), Change::Stands);
    assert_eq!(told.into_inner(), [red(), red(), red(), ("blue".to_owned(), Change::Stands)]);
}
