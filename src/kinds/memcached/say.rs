//! What is said of a Memcached, phase by phase.

use super::counts::counts;
use super::words::Phase;
use super::{Memcached, trouble, v1};
use crate::kinds::claims::{self, CHILDREN_READY};
use crate::kinds::look::Look;
use crate::kinds::order::ChildKind;
use crate::kinds::pods::counted;
use crate::kinds::questions::drift;
use crate::kinds::status::{Because, Declared, WaitingFor};
use crate::kinds::telling::{Tells, Told, behind, person, typed};
use kube::ResourceExt;

/// The condition that says whether it serves.
pub const AVAILABLE: Declared = Declared {
    name: claims::AVAILABLE,
    meaning: "at least one pod serves",
    holds: &[Because::Word("PodsServe")],
    fails: &[Because::Word("NoPodServes")],
};

impl Tells for Memcached {
    fn told(look: &Look<'_, Self>, phase: Phase) -> Told {
        Told { message: message(look, phase), waiting_for: waiting_for(look, phase) }
    }

    fn serving(look: &Look<'_, Self>) -> (bool, &'static str, &'static str) {
        match counts(look.seen).available {
            1.. => (true, "PodsServe", "at least one pod serves"),
            _ => (false, "NoPodServes", "no pod serves"),
        }
    }

    fn ready(phase: Phase) -> Option<&'static str> {
        match phase {
            Phase::Ready => Some(CHILDREN_READY),
            Phase::Stopped => Some("AllStopped"),
            Phase::Pending
            | Phase::Creating
            | Phase::Scaling
            | Phase::Updating
            | Phase::Degraded
            | Phase::RollingBack
            | Phase::RolledBack
            | Phase::Paused
            | Phase::HumanIntervention
            | Phase::Deleting => None,
        }
    }
}

fn message(look: &Look<'_, Memcached>, phase: Phase) -> String {
    let pods = counted(look.replicas());
    let trouble = trouble::waiting_for(look.seen).into_iter().next();
    let trouble = trouble.map(|trouble| behind(&trouble.kind, &trouble.name, &trouble.what)).unwrap_or_default();
    match phase {
        Phase::Pending | Phase::Paused | Phase::HumanIntervention => String::new(),
        Phase::Creating => format!("creating {pods}{trouble}"),
        Phase::Ready => format!("{pods} ready"),
        Phase::Scaling => format!("scaling to {pods}{trouble}"),
        Phase::Updating => format!("updating {pods}, one at a time{trouble}"),
        Phase::Degraded => {
            let drift = drift(look).into_iter().next();
            let drift = drift.map(|drift| behind(&drift.kind, &drift.name, &drift.words));
            format!("repairing: {pods} wanted{}", drift.unwrap_or(trouble))
        }
        Phase::Stopped => typed::<Memcached>("stopped; to start:", &look.seen.object, "scale", "--replicas=1"),
        Phase::RollingBack => format!("rolling {pods} back to what was ready last{trouble}"),
        Phase::RolledBack => typed::<Memcached>("rolled back; the spec asks for what failed:", &look.seen.object, "edit", ""),
        Phase::Deleting => going(&look.seen.object),
    }
}

fn going(object: &v1::Memcached) -> String {
    // The garbage collector's own: under them the children go first, or are let go.
    let holds = object.finalizers().iter().find(|name| !["foregroundDeletion", "orphan"].contains(&name.as_str()));
    match holds {
        None => "being deleted; its owner references remove the children".to_owned(),
        Some(name) => format!("being deleted; its children stay while a finalizer holds it: {name}"),
    }
}

fn waiting_for(look: &Look<'_, Memcached>, phase: Phase) -> Vec<WaitingFor> {
    match phase {
        Phase::Creating | Phase::Scaling | Phase::Updating | Phase::Degraded | Phase::RollingBack => {
            let what = format!("{} of this generation to be ready", counted(look.replicas()));
            let workload = WaitingFor { kind: ChildKind::Deployment.name(), name: look.seen.object.name_any(), what };
            std::iter::once(workload).chain(trouble::waiting_for(look.seen)).collect()
        }
        Phase::RolledBack => vec![person("another spec")],
        Phase::Pending | Phase::Ready | Phase::Stopped | Phase::Deleting | Phase::Paused | Phase::HumanIntervention => Vec::new(),
    }
}
