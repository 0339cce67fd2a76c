//! Volumes that have grown, and whose file systems grow only when their pods start: not every driver can do that under a pod
//! that runs.

use super::Scene;
use super::ground::{conditions, is_smaller};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::ResourceExt;

/// The condition of a claim that waits for the node.
const PENDING: &str = "FileSystemResizePending";
/// What the claim says of a node that has not begun: one that is at work is waited for, and one that failed fails again.
const WAITS: &str = "NodeResizePending";
/// How long a node may take to begin under the pod: the kubelet looks at its volumes each minute or two.
const MOMENT: SignedDuration = SignedDuration::from_mins(3);

/// The pods that are older than what their claims wait for. One that is younger has started since.
pub fn awaiting<'a>(scene: &Scene<'a>) -> impl Iterator<Item = (u32, &'a Pod)> {
    let wanted = scene.look.target.as_ref().map(|target| (target.storage.size.clone(), scene.count(target)));
    let (claims, now) = (&scene.look.children.claims, scene.look.seen.now);
    scene.members.pods().filter(move |(ordinal, pod)| {
        let claim = usize::try_from(*ordinal).ok().and_then(|ordinal| claims.get(ordinal)?.ours());
        let is_small = |claim: &&PersistentVolumeClaim| {
            wanted.as_ref().is_some_and(|(size, count)| ordinal < count && is_smaller(claim, size))
                && claim.metadata.deletion_timestamp.is_none()
        };
        let since = claim.filter(is_small).and_then(pending_since);
        let is_older = |since| pod.creation_timestamp().is_some_and(|made| made.0 < since);
        since.is_some_and(|since| now.duration_since(since) > MOMENT && is_older(since)) && pod.metadata.deletion_timestamp.is_none()
    })
}

/// Since when a claim waits for a node that has not begun.
fn pending_since(claim: &PersistentVolumeClaim) -> Option<Timestamp> {
    let said = claim.status.as_ref()?.allocated_resource_statuses.as_ref().and_then(|statuses| statuses.get("storage"));
    let pending = conditions(claim).find(|condition| condition.type_ == PENDING)?;
    pending.last_transition_time.as_ref().map(|time| time.0).filter(|_| said.is_none_or(|said| said == WAITS))
}

/// The one whose turn it is: the primary last, and none while another is away.
pub fn next_to_restart<'a>(scene: &Scene<'a>) -> Option<(u32, &'a Pod)> {
    let members = &scene.members;
    let next = awaiting(scene).min_by_key(|(ordinal, _)| members.turn(*ordinal))?;
    let wanted = scene.look.target.as_ref().map_or(0, |target| scene.count(target));
    (0..wanted).all(|ordinal| ordinal == next.0 || members.is_ready(ordinal)).then_some(next)
}
