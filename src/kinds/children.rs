//! Children as they are seen: ours in full, a stranger's by name only.

use super::digest;
use super::intervention::Subject;
use super::order::{Child, ChildKind, ChildRef};
use super::pod_template::Strings;
use super::reading::{Readable, Reading};
use super::rendered::{INSTANCE, KIND, OWNER_UID, SHARED_BY};
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::{Resource, ResourceExt};
use serde_json::{Value, json};
use std::fmt::{self, Debug};
use std::sync::Arc;

/// What stands under one name. What a Secret holds is not shown.
#[derive(Clone)]
pub enum Slot<T> {
    /// Nothing.
    Free,
    /// Our child.
    Ours(Arc<T>),
    /// Our child by its owner reference, or by the owner's uid in a label, but our label was taken from it: seen by name only.
    Unlabelled {
        /// Its uid.
        uid: String,
        /// Are there no labels at all?
        bare: bool,
    },
    /// Somebody else's object that a person has let us take over.
    Adopted {
        /// Its uid.
        uid: String,
    },
    /// Somebody else's object. It is never written to.
    Foreign {
        /// Its uid.
        uid: String,
        /// Who controls it, in words; nothing where nobody does.
        owner: Option<String>,
        /// Was it left behind by an earlier object of this name and kind? Nobody controls it, and its labels say so.
        left: bool,
    },
}

impl<T> Slot<T> {
    /// Our child, if it is there and seen in full.
    pub fn ours(&self) -> Option<&T> {
        match self {
            Slot::Ours(child) => Some(child),
            Slot::Free | Slot::Unlabelled { .. } | Slot::Adopted { .. } | Slot::Foreign { .. } => None,
        }
    }

    /// The uid of a stranger's object that a person has let us take over.
    pub fn adopted(&self) -> Option<&str> {
        match self {
            Slot::Adopted { uid } => Some(uid),
            Slot::Free | Slot::Ours(_) | Slot::Unlabelled { .. } | Slot::Foreign { .. } => None,
        }
    }

    /// The same, where a stranger's object may be taken over if its uid is among these.
    #[must_use]
    pub fn adopting(self, uids: &[Subject]) -> Self {
        match self {
            Slot::Foreign { uid, .. } if uids.iter().any(|adopted| adopted.uid.as_ref() == Some(&uid)) => Slot::Adopted { uid },
            Slot::Free | Slot::Ours(_) | Slot::Unlabelled { .. } | Slot::Adopted { .. } | Slot::Foreign { .. } => self,
        }
    }
}

impl<T: Child> Slot<T> {
    /// The uid that a forced apply must carry.
    pub fn uid(&self) -> Option<String> {
        match self {
            Slot::Ours(child) => child.uid(),
            Slot::Unlabelled { uid, .. } | Slot::Adopted { uid } => Some(uid.clone()),
            Slot::Free | Slot::Foreign { .. } => None,
        }
    }
}

impl<T: Child> Debug for Slot<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slot::Free => out.write_str("Free"),
            Slot::Ours(child) if T::KIND.is_secret() => write!(out, "Ours({:?}, not shown)", child.meta().uid),
            Slot::Ours(child) => out.debug_tuple("Ours").field(child).finish(),
            Slot::Unlabelled { uid, bare } => out.debug_struct("Unlabelled").field("uid", uid).field("bare", bare).finish(),
            Slot::Adopted { uid } => out.debug_struct("Adopted").field("uid", uid).finish(),
            Slot::Foreign { uid, owner, left } => {
                out.debug_struct("Foreign").field("uid", uid).field("owner", owner).field("left", left).finish()
            }
        }
    }
}

/// A slot of any type.
pub trait Place {
    /// The kind of child that it is for.
    fn kind(&self) -> ChildKind;
    /// Our child, if it is there and seen in full.
    fn live(&self) -> Option<Value>;
    /// The uid of somebody else's object, and who controls it, if anybody does.
    fn stranger(&self) -> Option<(&str, Option<&str>)>;
    /// The uid of a stranger's object that a person has let us take over.
    fn adopted(&self) -> Option<&str>;
    /// The uid of our child, where our label was taken from it; and are there no labels at all?
    fn unlabelled(&self) -> Option<(&str, bool)>;
}

impl<T: Child> Place for Slot<T> {
    fn kind(&self) -> ChildKind {
        T::KIND
    }
    fn live(&self) -> Option<Value> {
        self.ours().map(|child| json!(child))
    }
    fn stranger(&self) -> Option<(&str, Option<&str>)> {
        match self {
            Slot::Foreign { uid, owner, .. } => Some((uid, owner.as_deref())),
            Slot::Free | Slot::Ours(_) | Slot::Unlabelled { .. } | Slot::Adopted { .. } => None,
        }
    }
    fn adopted(&self) -> Option<&str> {
        Slot::adopted(self)
    }
    fn unlabelled(&self) -> Option<(&str, bool)> {
        match self {
            Slot::Unlabelled { uid, bare } => Some((uid, *bare)),
            Slot::Free | Slot::Ours(_) | Slot::Adopted { .. } | Slot::Foreign { .. } => None,
        }
    }
}

/// The children of one object.
pub trait Siblings {
    /// The place of every child of the object called `owner`, each with its name, in the order in which children are written.
    fn places(&self, owner: &str) -> Vec<(String, &dyn Place)>;
    /// The same, where objects of these uids may be taken over.
    #[must_use]
    fn adopting(self, adopted: &[Subject]) -> Self;

    /// The place of `child` of the object called `owner`.
    fn place(&self, owner: &str, child: &ChildRef) -> Option<&dyn Place> {
        let mut places = self.places(owner).into_iter();
        places.find_map(|(name, place)| (place.kind() == child.kind && name == child.name).then_some(place))
    }
}

/// Who controls an object.
pub fn controller(object: &impl Resource) -> Option<&OwnerReference> {
    object.owner_references().iter().find(|owner| owner.controller == Some(true))
}

/// The uid that an object's label names as its owner's: on children that have no controller.
pub fn labelled_owner(object: &impl Resource) -> Option<&String> {
    object.meta().labels.as_ref()?.get(OWNER_UID)
}

/// Was it left behind by an object of this name and kind? Nobody controls it, and its labels say so: whoever makes a claim around
/// a volume of dumps says so by the same labels.
pub fn is_left_by(object: &impl Resource, name: &str, kind: &str) -> bool {
    let label = |key: &str| object.meta().labels.as_ref()?.get(key).map(String::as_str);
    controller(object).is_none() && label(KIND) == Some(kind) && label(INSTANCE) == Some(name)
}

/// Is it what every object of a kind in its namespace shares? Nobody controls it, and no object is its owner.
pub fn is_shared(object: &impl Resource) -> bool {
    let labels = object.meta().labels.as_ref();
    labels.is_some_and(|labels| labels.contains_key(SHARED_BY)) && labelled_owner(object).is_none() && controller(object).is_none()
}

/// On a ConfigMap as a watch keeps it, where its data was dropped: a digest of that.
pub const CONTENT_DIGEST: &str = "pointsman.dev/content-digest";

/// A digest of a ConfigMap's data, or of what was dropped of it.
pub fn content_digest(map: &ConfigMap) -> Option<String> {
    let files = map.data.as_ref().map(|data| digest::of_files(data.iter().map(|(name, text)| (name.as_str(), text.as_str()))));
    files.or_else(|| map.annotations().get(CONTENT_DIGEST).cloned())
}

/// Did this field manager write the object where it stands? A copy has other writers, and what was restored from a backup was
/// written long before it was created. Of one creation the API server notes the writer first, and webhooks take their time.
pub fn is_written_by(object: &ObjectMeta, manager: &str) -> bool {
    const WEBHOOKS: SignedDuration = SignedDuration::from_mins(1);
    let Some(created) = &object.creation_timestamp else { return false };
    let its = object.managed_fields.iter().flatten().filter(|entry| entry.manager.as_deref() == Some(manager));
    its.filter_map(|entry| entry.time.as_ref()).any(|time| created.0.duration_since(time.0) <= WEBHOOKS)
}

/// Is the object a child of the one with this uid: by its controller, or, where nobody controls it, by its label?
pub fn belongs(object: &impl Resource, uid: &str) -> bool {
    match controller(object) {
        Some(owner) => owner.uid == uid,
        None => labelled_owner(object).is_some_and(|owner| owner == uid),
    }
}

/// Where an observation finds children; the controller implements it over its caches.
pub trait Lookup {
    /// What stands under `name` in the owner's namespace; of a type that is declared as a child, or as a reading of this name.
    fn slot<T: Child>(&self, name: &str) -> Slot<T>;
    /// What stands under `name` in the owner's namespace, where every object of the kind there shares it.
    fn shared<T: Child>(&self, name: &str) -> Slot<T>;
    /// A thing that the kind declares as a reading.
    fn read<T: Readable>(&self, name: &str) -> Reading<T>;
    /// All things of a kind that is declared as a reading.
    fn read_all<T: Readable>(&self) -> Reading<Vec<Arc<T>>>;
    /// Every child of this type that carries the owner's uid in a label, and that nobody else controls.
    fn all<T: Child>(&self) -> Vec<Arc<T>>;
    /// Every child of this type that carries the owner's uid in a label, and that our label was taken from, each with its name.
    fn unlabelled<T: Child>(&self) -> Vec<(String, Slot<T>)>;
    /// Every object of this type that carries the owner's uid in a label, and that the object of uid `parent` controls: the Jobs
    /// of a child that is a CronJob, say.
    fn below<T: Child>(&self, parent: &str) -> Vec<Arc<T>>;
    /// The pods that carry the owner's selector labels.
    fn pods(&self) -> Vec<Arc<Pod>>;
    /// The pods that carry these labels, among those that [`super::Served::pod_labels`] finds.
    fn labelled_pods(&self, labels: &Strings) -> Vec<Arc<Pod>>;
}

/// A list of child types, visited with each type.
pub trait ChildVisitor {
    /// Called once for each type.
    fn child<T: Child>(&mut self);
    /// The same for a type whose children are made and removed, and never changed.
    fn unchanging<T: Child>(&mut self) {
        self.child::<T>();
    }
    /// The same for a type of which no child can be made again as it was, as volumes are: what is destructive is decided on a
    /// live read of them. They carry the owner's uid in a label.
    fn precious<T: Child>(&mut self) {
        self.child::<T>();
    }
}
