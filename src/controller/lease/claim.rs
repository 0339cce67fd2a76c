//! What stands in the Lease, read and written as Kubernetes' own components do it, so that other tools understand it.
//!
//! A Lease that was read is written over the version that was read; where there was none, it is made.

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::ObjectMeta;
use std::collections::BTreeMap;
use std::time::Duration;

/// The Lease's name.
pub const NAME: &str = "pointsman";

/// The duration, in seconds, of a Lease that was given back.
const GIVEN_BACK: i32 = 1;

/// What is known of the Lease.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// It was not read yet.
    Nothing,
    /// There is none.
    Absent,
    /// It stood so.
    There(Box<Lease>),
}

impl Seen {
    /// The Lease, where there is one.
    pub fn lease(&self) -> Option<&Lease> {
        match self {
            Seen::There(lease) => Some(lease),
            Seen::Nothing | Seen::Absent => None,
        }
    }

    /// What tells one Lease from another of the same name.
    pub fn uid(&self) -> Option<&String> {
        self.lease()?.metadata.uid.as_ref()
    }

    /// What tells one state of the Lease from every other: one that was made anew starts its versions anew.
    pub fn version(&self) -> Option<(Option<&String>, Option<&String>)> {
        self.lease().map(|lease| (lease.metadata.uid.as_ref(), lease.metadata.resource_version.as_ref()))
    }
}

/// The labels of what the operator makes for itself: a part of the installation, which goes with it.
pub fn installed() -> BTreeMap<String, String> {
    ["app.kubernetes.io/name", "app.kubernetes.io/part-of"].map(|key| (key.to_owned(), "pointsman".to_owned())).into()
}

/// Who holds it.
pub fn holder(lease: &Lease) -> Option<&str> {
    lease.spec.as_ref()?.holder_identity.as_deref().filter(|holder| !holder.is_empty())
}

/// Was it given back by its last holder?
pub fn is_given_back(lease: &Lease) -> bool {
    let given = |spec: &LeaseSpec| spec.lease_duration_seconds == Some(GIVEN_BACK) && spec.renew_time.is_some();
    holder(lease).is_none() && lease.spec.as_ref().is_some_and(given)
}

/// Is it held by nobody, though nobody gave it back? Then it was never held, or somebody emptied it, or put another in its place.
pub fn is_empty(lease: &Lease) -> bool {
    holder(lease).is_none() && !is_given_back(lease)
}

/// How long its holder says that it lasts: another release, or another setting, may give it longer than ours does.
pub fn announced(lease: &Lease) -> Duration {
    let seconds = lease.spec.as_ref().and_then(|spec| spec.lease_duration_seconds);
    seconds.and_then(|seconds| u64::try_from(seconds).ok()).map_or(Duration::ZERO, Duration::from_secs)
}

/// Taken by `identity`.
pub fn made(before: Option<&Lease>, identity: &str, lasts: Duration, wall: Timestamp) -> Lease {
    changed(before, |old| LeaseSpec {
        holder_identity: Some(identity.to_owned()),
        lease_duration_seconds: seconds(lasts),
        acquire_time: Some(MicroTime(wall)),
        renew_time: Some(MicroTime(wall)),
        lease_transitions: Some(before.map_or(0, |_| old.lease_transitions.unwrap_or_default().saturating_add(1))),
        ..old
    })
}

/// Held on by its holder.
pub fn renewed(before: Option<&Lease>, lasts: Duration, wall: Timestamp) -> Lease {
    changed(before, |old| LeaseSpec { lease_duration_seconds: seconds(lasts), renew_time: Some(MicroTime(wall)), ..old })
}

/// Held by nobody.
pub fn given_back(before: Option<&Lease>, wall: Timestamp) -> Lease {
    let now = Some(MicroTime(wall));
    changed(before, |old| LeaseSpec {
        holder_identity: None,
        lease_duration_seconds: Some(GIVEN_BACK),
        acquire_time: now.clone(),
        renew_time: now,
        ..old
    })
}

fn changed(before: Option<&Lease>, change: impl FnOnce(LeaseSpec) -> LeaseSpec) -> Lease {
    let new = || ObjectMeta { name: Some(NAME.to_owned()), labels: Some(installed()), ..ObjectMeta::default() };
    let metadata = before.map_or_else(new, |before| before.metadata.clone());
    let spec = before.and_then(|before| before.spec.clone()).unwrap_or_default();
    Lease { metadata, spec: Some(change(spec)) }
}

fn seconds(duration: Duration) -> Option<i32> {
    i32::try_from(duration.as_secs()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    #[test]
    fn fields_are_set_as_other_tools_expect_them() {
        let lasts = Duration::from_secs(15);
        let fields = |lease: &Lease| {
            let spec = lease.spec.clone().expect("a spec");
            let time = |time: Option<MicroTime>| time.map(|time| time.0.as_second());
            (spec.holder_identity, spec.lease_duration_seconds, time(spec.acquire_time), time(spec.renew_time), spec.lease_transitions)
        };
        let first = made(None, "a", lasts, at(1));
        assert_eq!(fields(&first), (Some("a".to_owned()), Some(15), Some(1), Some(1), Some(0)));
        assert_eq!(first.metadata.name.as_deref(), Some(NAME));
        let renewed = renewed(Some(&first), lasts, at(2));
        assert_eq!(fields(&renewed), (Some("a".to_owned()), Some(15), Some(1), Some(2), Some(0)));
        let back = given_back(Some(&renewed), at(3));
        assert_eq!(fields(&back), (None, Some(1), Some(3), Some(3), Some(0)));
        let emptied = Lease { spec: Some(LeaseSpec { holder_identity: None, ..renewed.spec.clone().unwrap() }), ..renewed.clone() };
        let all = [&first, &renewed, &back, &emptied, &Lease::default()];
        assert_eq!(all.map(is_given_back), [false, false, true, false, false]);
        assert_eq!(all.map(is_empty), [false, false, false, true, true]);
        assert_eq!(fields(&made(Some(&back), "b", lasts, at(4))), (Some("b".to_owned()), Some(15), Some(4), Some(4), Some(1)));
    }

    #[test]
    fn what_others_wrote_beside_it_stays() {
        let labels = Some([("team".to_owned(), "payments".to_owned())].into());
        let metadata = ObjectMeta { resource_version: Some("7".to_owned()), labels, ..ObjectMeta::default() };
        let before = Lease { metadata: metadata.clone(), spec: None };
        for lease in [made(Some(&before), "a", Duration::from_secs(15), at(1)), given_back(Some(&before), at(1))] {
            assert_eq!(lease.metadata, metadata);
        }
        assert_eq!(holder(&before), None);
    }
}
