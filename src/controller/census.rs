//! The objects of one kind, told at a scrape out of the cache that there is anyway.

use super::lease::Leadership;
use super::observe;
use super::site::Site;
use crate::kinds::status::of_types;
use crate::kinds::{Served, question};
use crate::machine::Word;
use crate::telemetry::scrape::{self, Sighting};
use kube::core::object::HasStatus;
use kube::{Resource, ResourceExt};
use std::sync::Arc;

/// What is told of the objects of one kind.
pub(super) struct Census<K: Served> {
    pub(super) site: Arc<Site<K>>,
    pub(super) leadership: Leadership,
}

impl<K: Served> scrape::Census for Census<K> {
    fn leads(&self) -> bool {
        self.leadership.leads()
    }

    fn controller(&self) -> &'static str {
        K::PATH
    }

    fn waiting(&self) -> usize {
        self.site.queue.waiting()
    }

    fn each(&self, tell: &mut dyn FnMut(&Sighting<'_>)) {
        let (kind, start, now) = (K::Object::kind(&()), K::START.text(), observe::clock().now.as_second());
        for object in self.site.caches.objects.all() {
            let status = object.status();
            // One that nobody has looked at yet stands where the lifecycle starts, since it was made.
            let state = status.and_then(|status| status.state.as_deref()).unwrap_or(&start);
            let time = status.and_then(|status| status.state_time.as_ref()).or(object.meta().creation_timestamp.as_ref());
            let asked = question::<K>(object.as_ref()).map(|question| question.reason.word());
            let all = status.map(|status| status.conditions.as_slice()).unwrap_or_default();
            let conditions: Vec<(&str, bool)> =
                of_types(K::CONDITIONS, all).map(|(condition, holds)| (condition.type_.as_str(), holds)).collect();
            tell(&Sighting {
                kind: &kind,
                namespace: object.meta().namespace.as_deref().unwrap_or_default(),
                name: &object.name_any(),
                state,
                entered: time.map_or(now, |time| time.0.as_second()),
                now,
                deadline: status.and_then(|status| status.deadline_time.as_ref()).map(|deadline| deadline.0.as_second()),
                question: asked.as_deref(),
                conditions: &conditions,
            });
        }
    }
}
