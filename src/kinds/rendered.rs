//! A child as it is wanted: the fields that we own, and no others.

use super::digest;
use super::order::{Child, ChildKind, ChildRef};
use super::pod_template::Strings;
use kube::{Resource, ResourceExt};
use serde_json::{Value, json};
use std::fmt;

/// On each child: a digest of all that was rendered, so that a field which is no longer wanted is missed.
pub const RENDERED: &str = "pointsman.dev/rendered";

/// The field manager of the children.
pub const MANAGER: &str = "pointsman";

/// On everything that we own: what it is watched by.
pub const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "pointsman");

/// On each child: the name of the object that it belongs to.
pub const INSTANCE: &str = "app.kubernetes.io/instance";

/// On each child: the kind of the object that it belongs to.
pub const KIND: &str = "pointsman.dev/kind";

/// On a claim of dumps that an earlier object has left, and that was taken over: no policy of the new one deletes it.
pub const ADOPTED: &str = "pointsman.dev/adopted";

/// On what must outlive its owner's end for a while: the uid of the object that it belongs to.
pub const OWNER_UID: &str = "pointsman.dev/owner-uid";

/// On what every object of a kind in a namespace shares, and none of them owns: the kind.
pub const SHARED_BY: &str = "pointsman.dev/shared-by";

/// One rendered child.
#[derive(Clone, PartialEq)]
pub struct Rendered {
    /// Which child.
    pub child: ChildRef,
    /// Its fields.
    pub object: Value,
}

impl Rendered {
    /// A child of `owner` with the fields of `body`: the garbage collector removes it when its owner is gone.
    pub fn owned<T: Child>(owner: &impl Resource<DynamicType = ()>, name: &str, labels: &Strings, body: Value) -> Self {
        let mut rendered = Self::of::<T>(owner, name, labels, body);
        rendered.object["metadata"]["ownerReferences"] = json!([reference(owner)]);
        rendered
    }

    /// A child of `owner` that the garbage collector knows nothing of: it stays until the operator removes it.
    pub fn kept<T: Child>(owner: &impl Resource<DynamicType = ()>, name: &str, labels: &Strings, body: Value) -> Self {
        let mut labels = labels.clone();
        labels.insert(OWNER_UID.to_owned(), owner.uid().unwrap_or_default());
        Self::of::<T>(owner, name, &labels, body)
    }

    /// What every object of the kind `O` in `namespace` shares: it stays until none of them needs it.
    pub fn shared<T: Child, O: Resource<DynamicType = ()>>(namespace: &str, name: &str, labels: &Strings, body: Value) -> Self {
        let mut labels = labels.clone();
        labels.insert(SHARED_BY.to_owned(), O::kind(&()).into_owned());
        Self::within::<T>(Some(namespace), name, &labels, body)
    }

    /// The same child, with annotations of its own; what rendered it has counted them in its body.
    #[must_use]
    pub fn annotated(mut self, annotations: &Strings) -> Self {
        for (key, value) in annotations {
            self.object["metadata"]["annotations"][key] = json!(value);
        }
        self
    }

    fn of<T: Child>(owner: &impl Resource<DynamicType = ()>, name: &str, labels: &Strings, body: Value) -> Self {
        Self::within::<T>(owner.namespace().as_deref(), name, labels, body)
    }

    fn within<T: Child>(namespace: Option<&str>, name: &str, labels: &Strings, mut body: Value) -> Self {
        let digest = digest::of(&body);
        body["apiVersion"] = json!(T::KIND.api_version());
        body["kind"] = json!(T::KIND.name());
        body["metadata"] = json!({
            "name": name,
            "namespace": namespace,
            "labels": labels,
            "annotations": { RENDERED: digest },
        });
        Rendered { child: ChildRef { kind: T::KIND, name: name.to_owned() }, object: body }
    }
}

/// A Secret's values are shown nowhere.
impl fmt::Debug for Rendered {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("Rendered");
        shown.field("child", &self.child);
        if self.child.kind == ChildKind::Secret {
            return shown.field("metadata", &self.object["metadata"]).finish_non_exhaustive();
        }
        shown.field("object", &self.object).finish()
    }
}

fn reference<O: Resource<DynamicType = ()>>(owner: &O) -> Value {
    json!({
        "apiVersion": O::api_version(&()),
        "kind": O::kind(&()),
        "name": owner.name_any(),
        "uid": owner.uid(),
        "controller": true,
        "blockOwnerDeletion": true,
    })
}
