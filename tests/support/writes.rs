//! The pretend API server: how it takes the operator's orders.

use super::apply::{default, merge};
use super::world::{Live, World, controller, is_ours};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use pointsman::kinds::children::Slot;
use pointsman::kinds::order::{Child, ChildKind, Fate, Order, Refusal, Trial};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

impl World {
    /// Carries an order out: `Ok(true)` where it changed something. A write to a stranger is a fault.
    pub fn perform(&mut self, order: &Order, faults: &mut Vec<String>) -> Result<bool, Refusal> {
        self.serial += 1;
        let owner = self.owner().to_owned();
        let by = Writer { owner: owner.clone(), serial: self.serial, quota: self.quota, adopts: self.adopts() };
        let done = match order {
            Order::Apply { child, object, uid, .. } => match child.kind {
                ChildKind::Deployment => {
                    apply(self.deployment.as_ref(), object, uid.as_ref(), &by).map(|new| new.map(|new| self.set_deployment(new)).is_some())
                }
                ChildKind::Service => apply(self.service.as_ref(), object, uid.as_ref(), &Writer { quota: false, ..by.clone() })
                    .map(|new| new.map(|new| self.service = Some(new)).is_some()),
                ChildKind::PodDisruptionBudget => apply(self.budget.as_ref(), object, uid.as_ref(), &Writer { quota: false, ..by.clone() })
                    .map(|new| new.map(|new| self.budget = Some(new)).is_some()),
                ChildKind::Secret
                | ChildKind::ConfigMap
                | ChildKind::PersistentVolumeClaim
                | ChildKind::StatefulSet
                | ChildKind::Job
                | ChildKind::CronJob
                | ChildKind::Pod => Err((format!("nobody applies a {}", child.kind.name()), false)),
            },
            Order::Patch { patch, .. } => self.patch(patch, &owner),
            Order::Create { .. } | Order::Own { .. } => unreachable!("the kind gives no such order"),
            Order::Delete { child, uid, resource_version, .. } => self.delete(child.kind, &child.name, uid, resource_version, &owner),
        };
        done.map_err(|(words, conflict)| {
            if words.contains("TAKEN OVER") {
                faults.push(format!("a foreign object was written to: {order:?}"));
            }
            Refusal { child: order.child().cloned(), words, fate: if conflict { Fate::Taken } else { Fate::Refused } }
        })
    }

    /// The uids of strangers' objects that a person has let us take over.
    fn adopts(&self) -> Vec<String> {
        let status = self.object.as_ref().and_then(|object| object.status.as_ref());
        status.iter().flat_map(|status| &status.adopted).filter_map(|adopted| adopted.uid.clone()).collect()
    }

    /// What a dry run of these orders would say: every third stranger's object cannot be taken over.
    pub fn attempt(orders: &[Order]) -> Trial {
        let refuses = |order: &&Order| matches!(order, Order::Apply { uid: Some(uid), .. } if is_stubborn(uid));
        match orders.iter().find(refuses) {
            None => Trial::Passed,
            Some(order) => {
                Trial::Failed(Refusal { child: order.child().cloned(), words: "field is immutable".to_owned(), fate: Fate::Refused })
            }
        }
    }

    fn patch(&mut self, patch: &json_patch::Patch, owner: &str) -> Result<bool, Refused> {
        let live = self.deployment.clone().ok_or(("not found".to_owned(), false))?;
        let mut value = json!(*live.it);
        json_patch::patch(&mut value, patch).map_err(|fault| (fault.to_string(), false))?;
        if !is_ours(&live.it.metadata, owner) {
            return Err(("TAKEN OVER".to_owned(), true));
        }
        let it: Deployment = super::from_json(value);
        self.set_deployment(Live { it: Arc::new(it), owned: live.owned });
        Ok(true)
    }

    fn delete(&mut self, kind: ChildKind, name: &str, uid: &str, version: &str, owner: &str) -> Result<bool, Refused> {
        let same = |meta: &ObjectMeta| meta.uid.as_deref() == Some(uid) && meta.resource_version.as_deref() == Some(version);
        if kind == ChildKind::Pod {
            let Some(at) = self.pods.iter().position(|pod| pod.name_any() == name) else { return Ok(false) };
            if !same(&self.pods[at].metadata) {
                return Err(("the pod has changed".to_owned(), false));
            }
            self.pods.remove(at);
            return Ok(true);
        }
        let Some(budget) = &self.budget else { return Ok(false) };
        if !same(&budget.it.metadata) {
            return Err(("the object has changed".to_owned(), false));
        }
        if !is_ours(&budget.it.metadata, owner) {
            return Err(("TAKEN OVER".to_owned(), true));
        }
        self.budget = None;
        Ok(true)
    }
}

type Refused = (String, bool);

/// Who writes, and how the API server takes it.
#[derive(Clone)]
struct Writer {
    owner: String,
    serial: i64,
    quota: bool,
    adopts: Vec<String>,
}

fn is_stubborn(uid: &str) -> bool {
    uid.strip_prefix("stranger-").and_then(|serial| serial.parse::<i64>().ok()).is_some_and(|serial| serial % 3 == 0)
}

fn apply<T: Child + Serialize>(
    live: Option<&Live<T>>,
    new: &Value,
    uid: Option<&String>,
    Writer { owner, serial, quota, adopts }: &Writer,
) -> Result<Option<Live<T>>, Refused> {
    let Some(live) = live else {
        if uid.is_some() {
            return Err(("uid mismatch: no existing object was found".to_owned(), false));
        }
        if *quota {
            return Err(("exceeded quota: deployments".to_owned(), false));
        }
        let mut object = new.clone();
        default(&mut object);
        object["metadata"]["uid"] = json!(format!("{:?}-{serial}", T::KIND));
        object["metadata"]["resourceVersion"] = json!(serial.to_string());
        return Ok(Some(Live { it: Arc::new(super::from_json(object)), owned: Arc::new(new.clone()) }));
    };
    let meta = live.it.meta();
    if uid.is_some_and(|uid| meta.uid.as_ref() != Some(uid)) {
        return Err(("uid mismatch".to_owned(), false));
    }
    if !is_ours(meta, owner) && uid.is_some_and(|uid| adopts.contains(uid) && is_stubborn(uid)) {
        return Err(("field is immutable".to_owned(), false));
    }
    if !is_ours(meta, owner) && !uid.is_some_and(|uid| adopts.contains(uid)) {
        return Err(if uid.is_some() { ("TAKEN OVER".to_owned(), true) } else { ("conflict with another manager".to_owned(), true) });
    }
    let before = json!(*live.it);
    let mut after = before.clone();
    merge(&mut after, &live.owned, new);
    default(&mut after);
    let it: T = super::from_json(after);
    if json!(it) == before {
        return Ok(None);
    }
    let mut it = it;
    it.meta_mut().resource_version = Some(serial.to_string());
    Ok(Some(Live { it: Arc::new(it), owned: Arc::new(new.clone()) }))
}

/// What stands under a name, as the caches show it to the owner of this uid.
pub fn slot<T: Child>(live: Option<&Live<T>>, owner: &str) -> Slot<T> {
    let Some(live) = live else { return Slot::Free };
    let meta = live.it.meta();
    let uid = meta.uid.clone().unwrap_or_default();
    if !is_ours(meta, owner) {
        let owner = controller(meta).map(|owner| format!("{}/{}", owner.kind, owner.name));
        return Slot::Foreign { uid, owner, left: false };
    }
    if meta.labels.as_ref().is_some_and(|labels| labels.contains_key("app.kubernetes.io/managed-by")) {
        Slot::Ours(live.it.clone())
    } else {
        Slot::Unlabelled { uid, bare: meta.labels.as_ref().is_none_or(BTreeMap::is_empty) }
    }
}

/// Somebody else's object under our name.
pub fn stranger<T: Child>(serial: i64) -> Live<T> {
    let object = json!({ "metadata": { "name": "cache", "namespace": "shop", "uid": format!("stranger-{serial}"), "resourceVersion": serial.to_string() } });
    Live { it: Arc::new(super::from_json(object)), owned: Arc::new(Value::Null) }
}
