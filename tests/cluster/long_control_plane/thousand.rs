//! What a thousand objects cost the operator.

use crate::control_plane::counts::{settled, started_anew};
use crate::harness::outage::process;
use crate::harness::{Space, alone, audit, operator};
use std::time::Instant;

const COUNT: usize = 1000;

/// CPU seconds that the operator has used, and the most memory that it ever held, in MiB.
fn used() -> (f64, f64) {
    let pid = process("operator");
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // The program's name is in brackets and may hold blanks; user and system time are the 14th and 15th field.
    let fields: Vec<f64> = stat.rsplit(") ").next().unwrap().split(' ').map(|field| field.parse().unwrap_or_default()).collect();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: f64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    // Linux shows times to programs in hundredths of a second.
    ((fields[11] + fields[12]) / 100.0, peak / 1024.0)
}

#[test]
fn a_thousand_objects_become_ready_and_rest() {
    let _turn = alone();
    let space = Space::new("thousand");
    operator(&["restart"]);
    let (idle, _) = used();
    let (started, mark) = (Instant::now(), audit::mark());
    settled(&space, COUNT);
    let took = started.elapsed().as_secs_f64();
    let (cpu, peak) = used();
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
    let (cpu, peak) = used();
    println!("started anew with {COUNT} settled objects: {cpu:.1} CPU seconds, peak memory {peak:.0} MiB");
    assert_eq!(audit::writes(mark, &space.name).len(), 0);
}
