//! What the cluster is asked to do: the cluster's vocabulary, with the object inside.

use json_patch::{Patch, PatchOperation, TestOperation};
use jsonptr::PointerBuf;
use k8s_openapi::api::{apps, core, policy};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;

/// One write to the API server.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Server-side apply of the fields that we own.
    Apply {
        /// The child.
        child: ChildRef,
        /// The fields that we own, without status.
        object: Value,
        /// The uid that the object must have; absent for the first apply, which is then not forced.
        uid: Option<String>,
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
    },
}

impl Order {
    /// The child that the order is about.
    pub fn child(&self) -> &ChildRef {
        match self {
            Order::Apply { child, .. } | Order::Patch { child, .. } | Order::Delete { child, .. } => child,
        }
    }
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
    Service: core::v1::Service, "v1", "services";
    Deployment: apps::v1::Deployment, "apps/v1", "deployments";
    PodDisruptionBudget: policy::v1::PodDisruptionBudget, "policy/v1", "poddisruptionbudgets";
    Pod: core::v1::Pod, "v1", "pods";
}

impl ChildKind {
    /// The kind's name.
    pub fn name(self) -> String {
        format!("{self:?}")
    }
    /// The API group, empty for the core group.
    pub fn group(self) -> &'static str {
        self.api_version().split_once('/').map_or("", |(group, _)| group)
    }
}

/// A typed object that can be somebody's child.
pub trait Child:
    kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope> + DeserializeOwned + Clone + Debug + Send + Sync + 'static
{
    /// Which kind it is.
    const KIND: ChildKind;
}
