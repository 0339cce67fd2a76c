//! What Memcached means, unit by unit: children, drift, older renderings, questions, judgements.

mod answers;
mod conditions;
mod judgements;
mod pod_rules;
#[path = "../support/mod.rs"]
mod support;

use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;
use pointsman::kinds::annotations::ANSWER;
use pointsman::kinds::children::Slot;
use pointsman::kinds::memcached::v1::{MemcachedSpec, MemcachedStatus};
use pointsman::kinds::memcached::{Children, Memcached, children, counts, plan};
use pointsman::kinds::order::{ChildKind, Order};
use pointsman::kinds::pod_template::{PodPlacement, PodTemplate};
use pointsman::kinds::read::read;
use pointsman::kinds::{Decision, Observation, Settings, decide};
use serde_json::{Value, json};
use std::sync::Arc;
use support::run::Run;
use support::world::{Live, World, turn};
use support::{BAD_IMAGE, IMAGE, Object, from_json, object, schema};

fn spec(replicas: i32) -> MemcachedSpec {
    MemcachedSpec { replicas, image: Some(IMAGE.to_owned()), ..MemcachedSpec::default() }
}

/// The same text as in the golden file; `UPDATE_GOLDEN=1` writes it.
fn golden(name: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is made");
        std::fs::write(&path, text).expect("the golden file is written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}; UPDATE_GOLDEN=1 writes it", path.display()));
    assert_eq!(text, kept, "{name}");
}

/// A run whose object was left alone until it rests.
fn settled(spec: MemcachedSpec) -> Run {
    settled_in("shop", spec)
}

fn settled_in(namespace: &str, spec: MemcachedSpec) -> Run {
    let mut run = begun_in(namespace, spec);
    until_rest(&mut run);
    run
}

fn begun_in(namespace: &str, spec: MemcachedSpec) -> Run {
    let mut object = object("cache", spec);
    object.metadata.namespace = Some(namespace.to_owned());
    let mut run = Run::of(World::of(object), 1, 0);
    run.crashes = 0;
    run
}

fn until_rest(run: &mut Run) {
    for _ in 0..200 {
        let wrote = run.look();
        let can = run.world.possible();
        if let Some(next) = can.first() {
            run.world.happen(*next);
        } else if !wrote && run.is_at_rest() {
            break;
        }
        run.world.now += SignedDuration::from_secs(5);
    }
    assert_eq!(run.faults, Vec::<String>::new());
}

fn edit(run: &mut Run, change: impl FnOnce(&mut Object)) {
    let object = Arc::make_mut(run.world.object.as_mut().expect("the object"));
    change(object);
    object.metadata.generation = object.metadata.generation.map(|generation| generation + 1);
}

fn status(run: &Run) -> MemcachedStatus {
    run.world.object.as_ref().and_then(|object| object.status.clone()).expect("a status")
}

fn children_of(run: &Run) -> Children {
    let world = &run.world;
    Children {
        deployment: support::writes::slot(world.deployment.as_ref(), world.owner()),
        service: support::writes::slot(world.service.as_ref(), world.owner()),
        budget: support::writes::slot(world.budget.as_ref(), world.owner()),
        pods: world.pods.clone(),
    }
}

fn looked(run: &Run) -> Decision<Memcached> {
    looked_at(run, children_of(run))
}

fn looked_at(run: &Run, children: Children) -> Decision<Memcached> {
    let object = run.world.object.as_ref().expect("the object");
    decide::<Memcached>(Observation::new((**object).clone(), children, run.settings.clone(), None, run.world.now))
}

#[test]
fn children_are_rendered_as_in_the_golden_files() {
    let placed = PodPlacement { node_selector: [("disk".to_owned(), "ssd".to_owned())].into(), ..PodPlacement::default() };
    let full = MemcachedSpec {
        replicas: 3,
        memory: "1Gi".into(),
        max_connections: 4096,
        pod_template: Some(PodTemplate { metadata: None, spec: Some(placed) }),
        ..spec(3)
    };
    for (name, spec) in [("one", spec(1)), ("full", full)] {
        let object = object("cache", spec);
        let plan = plan::parse(&object.spec, IMAGE).expect("a legal spec");
        for rendered in children::all(&object, &plan) {
            let text = serde_json::to_string_pretty(&rendered.object).expect("JSON") + "\n";
            golden(&format!("children/{name}-{}.json", rendered.child.kind.name().to_lowercase()), &text);
        }
    }
}

#[test]
fn pods_are_restricted_and_take_only_flags_that_every_memcached_knows() {
    let object = object("cache", spec(1));
    let plan = plan::parse(&object.spec, IMAGE).expect("a legal spec");
    let pod = &children::deployment(&object, &plan).object["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
    assert_eq!(
        container["securityContext"],
        json!({ "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": { "drop": ["ALL"] } })
    );
    assert_eq!(container["resources"]["requests"]["memory"], container["resources"]["limits"]["memory"]);
    let args: Vec<&str> = container["args"].as_array().expect("args").iter().filter_map(Value::as_str).collect();
    assert_eq!(args, ["-p", "11211", "-U", "0", "-m", "64", "-I", "1024k", "-c", "1024"]);
    assert!(container.get("command").is_none());
}

#[test]
fn a_field_that_the_user_removes_is_drift_and_defaults_are_not() {
    let placed = PodPlacement { node_selector: [("disk".to_owned(), "ssd".to_owned())].into(), ..PodPlacement::default() };
    let mut run = settled(MemcachedSpec { pod_template: Some(PodTemplate { metadata: None, spec: Some(placed) }), ..spec(2) });
    assert_eq!(looked(&run).orders, Vec::new(), "the API server's defaults are no drift");
    edit(&mut run, |object| object.spec.pod_template = None);
    let kinds: Vec<ChildKind> = looked(&run).orders.iter().map(|order| order.child().expect("a child").kind).collect();
    assert_eq!(kinds, [ChildKind::Deployment]);
}

#[test]
fn an_older_rendering_stands_until_the_spec_changes() {
    let mut run = settled(spec(2));
    run.settings.renderer += 1;
    assert_eq!(looked(&run).orders, Vec::new());
    let newer = looked(&run).status.conditions.into_iter().find(|condition| condition.type_ == "UpToDate").expect("the condition");
    assert_eq!((newer.status.as_str(), newer.reason.as_str()), ("False", "NewerRendering"));
    edit(&mut run, |object| object.spec.replicas = 3);
    let orders = looked(&run).orders;
    let Some(Order::Patch { patch, .. }) =
        orders.iter().find(|order| order.child().is_some_and(|child| child.kind == ChildKind::Deployment))
    else {
        panic!("a count is patched: {orders:?}")
    };
    let operations = json!(patch);
    assert_eq!(
        [&operations[0]["op"], &operations[1]["op"], &operations[2]],
        [&json!("test"), &json!("test"), &json!({ "op": "replace", "path": "/spec/replicas", "value": 3 })]
    );
    edit(&mut run, |object| object.spec.max_connections = 2048);
    assert!(looked(&run).orders.iter().any(|order| matches!(order, Order::Apply { child, .. } if child.kind == ChildKind::Deployment)));
    until_rest(&mut run);
    assert_eq!(status(&run).applied.map(|applied| applied.renderer), Some(run.settings.renderer));
}

#[test]
fn drift_under_an_older_rendering_is_repaired_by_the_new_one() {
    let mut run = settled(spec(2));
    run.settings.renderer += 1;
    let live = run.world.deployment.clone().expect("a Deployment");
    let mut hand = json!(*live.it);
    hand["spec"]["template"]["spec"]["containers"][0]["args"] = json!(["-vv"]);
    run.world.set_deployment(Live { it: Arc::new(from_json(hand)), owned: live.owned });
    let decision = looked(&run);
    assert!(decision.orders.iter().any(|order| matches!(order, Order::Apply { child, .. } if child.kind == ChildKind::Deployment)));
    assert_eq!(decision.status.applied.map(|applied| applied.renderer), Some(run.settings.renderer));
}

#[test]
fn pods_that_came_while_nobody_looked_are_progress() {
    let mut run = settled(spec(3));
    edit(&mut run, |object| object.spec.max_connections = 2048);
    while run.look() {}
    let deadline = status(&run).deadline_time.expect("a deadline").0;
    let advanced = |run: &Run| run.world.deployment.as_ref().is_some_and(|live| counts::Counts::of(&live.it).progress() > 0);
    run.world.prompt = true;
    while !advanced(&run) {
        let next = run.world.possible()[0];
        run.world.happen(next);
    }
    run.world.now = deadline + SignedDuration::from_mins(1);
    let decision = looked(&run);
    assert_eq!((decision.status.state.as_deref(), decision.told), (Some("Updating"), None));
    assert!(decision.status.deadline_time.expect("a deadline").0 > run.world.now);
}

#[test]
fn an_order_that_nobody_was_there_to_give_gets_its_time() {
    let mut run = settled(spec(3));
    edit(&mut run, |object| object.spec.max_connections = 2048);
    // Recorded, and then the operator ended.
    let recorded = looked(&run).status;
    run.world.now = recorded.deadline_time.clone().expect("a deadline").0 + SignedDuration::from_mins(1);
    Arc::make_mut(run.world.object.as_mut().expect("the object")).status = Some(recorded);
    let decision = looked(&run);
    assert!(!decision.orders.is_empty() && decision.told.is_none(), "{decision:?}");
    assert!(decision.status.deadline_time.expect("a deadline").0 > run.world.now);
}

#[test]
fn retry_removes_no_pod_of_somebody_else() {
    let mut run = settled(spec(2));
    edit(&mut run, |object| object.spec.image = Some(BAD_IMAGE.to_owned()));
    until_rest(&mut run);
    let stuck = run.world.pods.iter().find(|pod| json!(***pod).to_string().contains("ImagePullBackOff")).expect("a stuck pod").clone();
    let mut theirs = support::pod("theirs", "theirs", "", false, Some(("ImagePullBackOff", "Back-off pulling image")));
    theirs.metadata.owner_references = None;
    run.world.pods.push(Arc::new(theirs));
    let id = status(&run).intervention.expect("a question").id;
    edit(&mut run, |object| {
        object.metadata.annotations.get_or_insert_default().insert(ANSWER.to_owned(), format!("retry-{id}"));
    });
    let removed: Vec<String> = looked(&run)
        .orders
        .into_iter()
        .filter_map(|order| match order {
            Order::Delete { child, .. } => Some(child.name),
            Order::Apply { .. } | Order::Create { .. } | Order::Own { .. } | Order::Patch { .. } => None,
        })
        .collect();
    assert_eq!(removed, [stuck.name_any()]);
}

#[test]
fn a_label_that_is_lost_under_an_older_rendering_restarts_nobody() {
    let mut run = settled(spec(2));
    run.settings.renderer += 1;
    let of_it = json!({ "op": "test", "path": "/metadata/uid", "value": "of-it" });
    let labels = json!({ "op": "add", "path": "/metadata/labels", "value": { "app.kubernetes.io/managed-by": "pointsman" } });
    let label = json!({ "op": "add", "path": "/metadata/labels/app.kubernetes.io~1managed-by", "value": "pointsman" });
    for (bare, patch) in [(false, json!([of_it, label])), (true, json!([of_it, labels]))] {
        let children = Children { deployment: Slot::Unlabelled { uid: "of-it".to_owned(), bare }, ..children_of(&run) };
        let decision = looked_at(&run, children);
        let patches: Vec<Value> = decision
            .orders
            .iter()
            .map(|order| match order {
                Order::Patch { patch, .. } => json!(patch),
                Order::Apply { .. } | Order::Create { .. } | Order::Own { .. } | Order::Delete { .. } => Value::Null,
            })
            .collect();
        assert_eq!(patches, [patch]);
        let message = decision.status.message.expect("a message");
        let missing = patches[0][1]["path"].as_str().expect("a path");
        assert!(message.contains(&format!("; Deployment cache: {missing} is missing")), "{message}");
    }
}

#[test]
fn an_object_is_read_as_far_as_it_can_be() {
    let good = json!(**settled(spec(2)).world.object.as_ref().expect("the object"));
    let read = |at: &str, value: Value| {
        let mut stored = good.clone();
        *stored.pointer_mut(at).expect("a field") = value;
        read::<Memcached>(&stored).expect("an object")
    };
    assert_eq!(json!(read("/spec/replicas", json!(2))), good);
    // What a later release, a backup or a hand wrote is left out, and nothing beside it.
    let late = json!("9999-12-31T23:59:59Z");
    let without = |at: &str| {
        let mut rest = good.clone();
        let (parent, field) = at.rsplit_once('/').expect("a parent");
        let parent = rest.pointer_mut(parent).expect("the parent");
        let index = field.parse::<usize>().ok();
        match index {
            Some(index) => drop(parent.as_array_mut().expect("a list").remove(index)),
            None => drop(parent.as_object_mut().expect("an object").remove(field)),
        }
        // A field of ours that is lost makes the status one that has to be written.
        if !at.starts_with("/status/conditions") {
            rest["status"].as_object_mut().expect("a status").remove("observedGeneration");
        }
        rest
    };
    for (at, value, lost) in [
        ("/status/conditions", json!("none"), "/status/conditions"),
        ("/status/conditions/2/lastTransitionTime", late.clone(), "/status/conditions/2"),
        ("/status/stateTime", late.clone(), "/status/stateTime"),
        ("/status/history/0/time", late, "/status/history/0"),
        ("/status/lastGood/spec/maxConnections", json!("many"), "/status/lastGood"),
    ] {
        assert_eq!(json!(read(at, value)), without(lost), "{at}");
    }
    let ill = read("/spec/replicas", json!("two"));
    assert!(ill.status.is_some());
    let fault = plan::parse(&ill.spec, IMAGE).expect_err("no plan");
    assert_eq!((fault.len(), fault[0].field.as_str()), (1, "spec"));
    assert!(fault[0].text.starts_with("the stored one cannot be read: invalid type: string"), "{}", fault[0].text);
}

#[test]
fn a_move_through_a_junction_has_one_cause() {
    let mut run = settled(spec(2));
    edit(&mut run, |object| object.spec.max_connections = 1);
    until_rest(&mut run);
    edit(&mut run, |object| object.spec.max_connections = 2048);
    let decision = looked(&run);
    let told = decision.told.expect("a move");
    assert_eq!((told.from.as_str(), told.to.as_str(), told.cause.as_str()), ("HumanIntervention", "Updating", "SpecRenewed"));
    assert_eq!(decision.status.reason, Some(told.cause));
}

#[test]
fn a_question_quotes_the_pod_and_a_count_alone_closes_no_question() {
    let mut run = settled(spec(2));
    edit(&mut run, |object| object.spec.image = Some(BAD_IMAGE.to_owned()));
    until_rest(&mut run);
    let asked = status(&run).intervention.expect("a question");
    assert_eq!(asked.reason.word(), "RolloutStuck");
    assert!(
        asked.evidence.iter().any(|evidence| evidence.kind == "Pod" && evidence.words == "ImagePullBackOff: Back-off pulling image"),
        "{:?}",
        asked.evidence
    );
    assert_eq!(asked.answers[0].command, format!("kubectl annotate mc/cache -n shop {ANSWER}=retry-{} --overwrite", asked.id));
    edit(&mut run, |object| object.spec.replicas = 3);
    until_rest(&mut run);
    assert_eq!(status(&run).intervention.map(|question| question.id), Some(asked.id), "a count alone closes no question");
    edit(&mut run, |object| object.spec.image = Some(IMAGE.to_owned()));
    until_rest(&mut run);
    assert_eq!(status(&run).state.as_deref(), Some("Ready"));
}

#[test]
fn what_failed_of_a_template_that_was_given_up_explains_nothing() {
    let mut run = begun_in("shop", MemcachedSpec { image: Some(BAD_IMAGE.to_owned()), ..spec(1) });
    while run.look() {}
    run.world.happen(run.world.possible()[0]);
    while run.world.pods.is_empty() {
        let next = run.world.possible()[0];
        run.world.happen(next);
    }
    let failed_at = |run: &Run, seconds: i64| {
        let mut children = children_of(run);
        let Slot::Ours(deployment) = &mut children.deployment else { panic!("no Deployment") };
        let failure = json!({ "type": "ReplicaFailure", "status": "True", "message": "no PriorityClass with name nope was found",
            "lastTransitionTime": (run.world.now + SignedDuration::from_secs(seconds)).to_string() });
        let mut live = (**deployment).clone();
        live.status.get_or_insert_default().conditions = Some(vec![support::from_json(failure)]);
        *deployment = Arc::new(live);
        for pod in &mut children.pods {
            Arc::make_mut(pod).metadata.creation_timestamp = Some(Time(run.world.now));
        }
        looked_at(run, children).status.message.expect("a message")
    };
    assert!(failed_at(&run, 5).contains("no PriorityClass"), "{}", failed_at(&run, 5));
    let message = failed_at(&run, -5);
    assert!(message.contains("cannot be pulled") && !message.contains("PriorityClass"), "{message}");
}

#[test]
fn a_count_that_is_held_keeps_no_question_from_its_end() {
    let mut run = settled(spec(2));
    edit(&mut run, |object| object.spec.image = Some(BAD_IMAGE.to_owned()));
    until_rest(&mut run);
    edit(&mut run, |object| object.spec.replicas = 3);
    until_rest(&mut run);
    assert_eq!(status(&run).state.as_deref(), Some("HumanIntervention"));
    // The image appears in its registry.
    for _ in 0..10 {
        for at in 0..run.world.pods.len() {
            run.world.alter(at, |pod| turn(pod, true));
        }
        until_rest(&mut run);
    }
    let status = status(&run);
    assert_eq!((status.state.as_deref(), status.ready_text.as_deref()), (Some("Ready"), Some("3/3")));
    let closed: Vec<_> = status.history.iter().filter(|one| one.from == "HumanIntervention").map(|one| (&*one.to, &*one.cause)).collect();
    assert_eq!(closed[0], ("Scaling", "ObstacleGone"), "{closed:?}");
}

#[test]
fn whatever_is_stored_the_status_fits_its_schema() {
    let mut long = object("cache", MemcachedSpec { image: Some("x/".repeat(5000)), ..spec(-1) });
    long.metadata.annotations = Some([(ANSWER.to_owned(), "a".repeat(9000))].into());
    let name = format!("docker.io/{}:1", "bad".repeat(165));
    let mut stuck = support::pod("cache-1", "uid", "", false, Some(("ImagePullBackOff", &"no ".repeat(2000))));
    for container in stuck.status.iter_mut().flat_map(|status| status.container_statuses.iter_mut().flatten()) {
        container.image.clone_from(&name);
    }
    let schema = schema::of_status(&<Memcached as pointsman::kinds::Served>::definition());
    for object in [long, object("cache", MemcachedSpec { image: Some(name.clone()), ..spec(1) })] {
        let children = Children { deployment: Slot::Free, service: Slot::Free, budget: Slot::Free, pods: vec![Arc::new(stuck.clone())] };
        let now = "2026-01-01T00:00:00Z".parse().expect("a time");
        let decision = decide::<Memcached>(Observation::new(object, children, Settings::of::<Memcached>(), None, now));
        let mut faults = Vec::new();
        schema::refused(&json!(decision.status), &schema, "status", &mut faults);
        assert_eq!(faults, Vec::<String>::new());
    }
}
