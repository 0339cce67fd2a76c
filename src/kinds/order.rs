//! What the cluster is asked to do: the cluster's vocabulary, with the object inside.

use json_patch::{Patch, PatchOperation, TestOperation};
use jsonptr::PointerBuf;
use k8s_openapi::api::{apps, batch, core, policy};
use kube::{Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::{self, Debug};

/// One write to the API server. What it writes into a Secret, or creates, is never shown.
#[derive(Clone, PartialEq)]
pub enum Order {
    /// Server-side apply of the fields that we own.
    Apply {
        /// The child.
        child: ChildRef,
        /// The fields that we own, without status.
        object: Value,
        /// The uid that the object must have; absent for the first apply, which is then not forced.
        uid: Option<String>,
        /// Is it somebody else's object, of whose spec nothing is to stay?
        whole: bool,
    },
    /// The making of an object that must never be overwritten, as a Secret, a claim or a Job: one that is there already stays.
    Create {
        /// The child.
        child: ChildRef,
        /// The whole object.
        object: Value,
    },
    /// A json-patch of the object itself, for its finalizer alone. It goes first, and where it comes to nothing no other order is
    /// carried out.
    Own {
        /// The operations; that the object is still in the version that was decided on is tested in front of them.
        patch: Patch,
    },
    /// A json-patch with `test` operations, for a write that must touch nothing else.
    Patch {
        /// The child.
        child: ChildRef,
        /// The operations, tests first.
        patch: Patch,
    },
    /// Removal of exactly this object in exactly this version.
    Delete {
        /// The child.
        child: ChildRef,
        /// The uid that the object must have.
        uid: String,
        /// The resourceVersion that the object must have.
        resource_version: String,
        /// What becomes of what it owns.
        cascade: Cascade,
    },
}

/// What becomes of the objects that a removed object owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cascade {
    /// They go after it.
    #[default]
    Background,
    /// They go before it.
    Foreground,
    /// They stay.
    Orphan,
}

impl Order {
    /// The child that the order is about; nothing where it is about the object itself.
    pub fn child(&self) -> Option<&ChildRef> {
        match self {
            Order::Apply { child, .. } | Order::Create { child, .. } | Order::Patch { child, .. } | Order::Delete { child, .. } => {
                Some(child)
            }
            Order::Own { .. } => None,
        }
    }
}

impl Debug for Order {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn shown<'a>(child: &ChildRef, content: &'a dyn Debug) -> &'a dyn Debug {
            if child.kind.is_secret() { &"not shown" } else { content }
        }
        match self {
            Order::Apply { child, object, uid, whole } => {
                let mut apply = out.debug_struct("Apply");
                apply.field("child", child).field("object", shown(child, object)).field("uid", uid).field("whole", whole).finish()
            }
            Order::Create { child, .. } => out.debug_struct("Create").field("child", child).finish_non_exhaustive(),
            Order::Own { patch } => out.debug_struct("Own").field("patch", patch).finish(),
            Order::Patch { child, patch } => out.debug_struct("Patch").field("child", child).field("patch", shown(child, patch)).finish(),
            Order::Delete { child, uid, resource_version, cascade } => {
                let mut delete = out.debug_struct("Delete");
                delete.field("child", child).field("uid", uid).field("resource_version", resource_version);
                delete.field("cascade", cascade).finish()
            }
        }
    }
}

/// An order that came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The child that the order was about; nothing where it was about the object itself.
    pub child: Option<ChildRef>,
    /// The API server's words, or ours.
    pub words: String,
    /// What became of it.
    pub fate: Fate,
}

impl Refusal {
    /// The kind and the name of what the order was about: a child of `object`, or `object` itself.
    pub fn about(&self, object: &impl Resource<DynamicType = ()>) -> (String, String) {
        named(self.child.as_ref(), object)
    }
}

/// The kind and the name of a child, or of `object` itself.
pub fn named<O: Resource<DynamicType = ()>>(child: Option<&ChildRef>, object: &O) -> (String, String) {
    match child {
        Some(child) => (child.kind.name(), child.name.clone()),
        None => (O::kind(&()).into_owned(), object.name_any()),
    }
}

/// What becomes of an order that comes to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The API server refuses it.
    Refused,
    /// The name is somebody else's.
    Taken,
    /// It was carried out, and somebody changed it back.
    Undone,
}

/// What a dry run of orders said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trial {
    /// Nobody has tried.
    #[default]
    Untried,
    /// All would be carried out.
    Passed,
    /// One would be refused.
    Failed(Refusal),
}

/// A patch for the very object of this uid, and not for one that took its name.
pub fn patch_of(uid: Option<&str>, changes: impl IntoIterator<Item = PatchOperation>) -> Patch {
    let uid = TestOperation { path: PointerBuf::from_tokens(["metadata", "uid"]), value: json!(uid) };
    Patch(std::iter::once(PatchOperation::Test(uid)).chain(changes).collect())
}

/// Which child: a kind of the table below, and a name in the owner's namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChildRef {
    /// The kind of the child.
    pub kind: ChildKind,
    /// Its name.
    pub name: String,
}

macro_rules! child_kinds {
    ($($kind:ident: $type:ty, $api_version:literal, $plural:literal;)*) => {
        /// Every kind of object that we may own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ChildKind { $(#[doc = concat!("`", $api_version, "` ", $plural)] $kind),* }

        impl ChildKind {
            /// Every kind, in the order in which children are written.
            pub const ALL: &'static [ChildKind] = &[$(ChildKind::$kind),*];
            /// `group/version`, or `version` for the core group.
            pub fn api_version(self) -> &'static str { match self { $(ChildKind::$kind => $api_version),* } }
            /// The resource's name in paths and rules.
            pub fn plural(self) -> &'static str { match self { $(ChildKind::$kind => $plural),* } }
        }

        $(impl Child for $type { const KIND: ChildKind = ChildKind::$kind; })*
    };
}

child_kinds! {
    Secret: core::v1::Secret, "v1", "secrets";
    ConfigMap: core::v1::ConfigMap, "v1", "configmaps";
    PersistentVolumeClaim: core::v1::PersistentVolumeClaim, "v1", "persistentvolumeclaims";
    Service: core::v1::Service, "v1", "services";
    Deployment: apps::v1::Deployment, "apps/v1", "deployments";
    StatefulSet: apps::v1::StatefulSet, "apps/v1", "statefulsets";
    PodDisruptionBudget: policy::v1::PodDisruptionBudget, "policy/v1", "poddisruptionbudgets";
    Job: batch::v1::Job, "batch/v1", "jobs";
    CronJob: batch::v1::CronJob, "batch/v1", "cronjobs";
    Pod: core::v1::Pod, "v1", "pods";
}

impl ChildKind {
    /// The kind's name.
    pub fn name(self) -> String {
        format!("{self:?}")
    }
    /// Does it serve, and hold nothing that cannot be made again?
    pub fn serves(self) -> bool {
        match self {
            ChildKind::Deployment
            | ChildKind::StatefulSet
            | ChildKind::Service
            | ChildKind::PodDisruptionBudget
            | ChildKind::CronJob
            | ChildKind::Job
            | ChildKind::Pod => true,
            ChildKind::Secret | ChildKind::ConfigMap | ChildKind::PersistentVolumeClaim => false,
        }
    }
    /// Is what it holds never to be shown?
    pub fn is_secret(self) -> bool {
        self == ChildKind::Secret
    }
    /// The API group, empty for the core group.
    pub fn group(self) -> &'static str {
        self.api_version().split_once('/').map_or("", |(group, _)| group)
    }
}

/// A typed object that can be somebody's child.
pub trait Child:
    kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
    + DeserializeOwned
    + Serialize
    + Clone
    + Debug
    + Send
    + Sync
    + 'static
{
    /// Which kind it is.
    const KIND: ChildKind;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_order_writes_into_a_secret_or_creates_is_not_shown() {
        let child = |kind| ChildRef { kind, name: "shop".to_owned() };
        let object = json!({ "stringData": { "password": "hunter2" } });
        let patch =
            serde_json::from_value::<Patch>(json!([{ "op": "add", "path": "/data/password", "value": "hunter2" }])).expect("a patch");
        let hidden = [
            Order::Create { child: child(ChildKind::Secret), object: object.clone() },
            Order::Create { child: child(ChildKind::Job), object: object.clone() },
            Order::Apply { child: child(ChildKind::Secret), object: object.clone(), uid: None, whole: false },
            Order::Patch { child: child(ChildKind::Secret), patch },
        ];
        for order in hidden {
            let shown = format!("{order:?}");
            assert!(!shown.contains("hunter2") && shown.contains("shop"), "{shown}");
        }
        let open = Order::Apply { child: child(ChildKind::ConfigMap), object, uid: None, whole: false };
        assert!(format!("{open:?}").contains("hunter2"));
    }
}
