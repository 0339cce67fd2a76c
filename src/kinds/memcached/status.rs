//! What the status remembers of a Memcached, and where it is found.

use super::Memcached;
use super::counts::counts;
use super::plan::Plan;
use super::v1::KeptSpec;
use super::words::{Effect, Event, Phase};
use crate::kinds::look::Look;
use crate::kinds::passage::Remembered;
use crate::kinds::status::{Endpoint, Status};
use crate::kinds::workload::Workload;
use kube::ResourceExt;

impl Remembered for Memcached {
    const APPLY: Effect = Effect::ApplyChildren;
    const GOOD: Phase = Phase::Ready;
    const DRIFT: Event = Event::ChildrenDrifted;

    fn kept(plan: &Plan) -> KeptSpec {
        KeptSpec(plan.spec())
    }

    fn live_template(look: &Look<'_, Self>) -> Option<String> {
        look.children.deployment.ours().map(Workload::template)
    }

    fn counted(look: &Look<'_, Self>) -> (i32, i32) {
        let counts = counts(look.seen);
        (counts.total, counts.ready)
    }

    fn place(status: &mut Status<KeptSpec>, look: &Look<'_, Self>, target: &Plan) {
        let object = &look.seen.object;
        let (name, namespace) = (object.name_any(), object.namespace().unwrap_or_default());
        status.image = Some(target.template.image.clone());
        if let Ok(wanted) = &look.wanted {
            status.default_image = object.spec.image.is_none().then(|| wanted.template.image.clone());
        }
        status.endpoints = vec![Endpoint { name: "memcached".to_owned(), address: format!("{name}.{namespace}.svc:{}", target.port) }];
    }
}
