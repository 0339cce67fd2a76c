//! What a thousand objects cost the operator.

use super::{Used, used};
use crate::control_plane::counts::{settled, started_anew};
use crate::harness::{Space, alone, audit, operator};
use std::time::Instant;

const COUNT: usize = 1000;

#[test]
fn a_thousand_objects_become_ready_and_rest() {
    let _turn = alone();
    let space = Space::new("thousand");
    operator(&["restart"]);
    let idle = used().cpu;
    let (started, mark) = (Instant::now(), audit::mark());
    settled(&space, COUNT);
    let took = started.elapsed().as_secs_f64();
    let Used { cpu, peak, .. } = used();
    println!("{COUNT} objects from create to Ready: {took:.0} s, {:.1} CPU seconds, peak memory {peak:.0} MiB", cpu - idle);
    let per_object = |what: &str| audit::writes(mark, &space.name).iter().filter(|entry| entry.what() == what).count();
    for child in ["patch deployments", "patch services"] {
        assert_eq!(per_object(child), COUNT, "{child}");
    }
    assert_eq!(per_object("create events"), 2 * COUNT);
    assert!(cpu - idle < 120.0 && peak < 512.0, "{:.1} CPU seconds, {peak:.0} MiB", cpu - idle);
    let mark = audit::mark();
    started_anew(COUNT);
    std::thread::sleep(std::time::Duration::from_secs(5));
    let Used { cpu, peak, .. } = used();
    println!("started anew with {COUNT} settled objects: {cpu:.1} CPU seconds, peak memory {peak:.0} MiB");
    assert_eq!(audit::writes(mark, &space.name).len(), 0);
}
