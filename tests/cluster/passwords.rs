//! No password of any database that was made in this run was told by the operator: seen at the end, in its whole log and in
//! every body that it sent.

use crate::harness::passwords::{remembered, sent, telling};
use crate::harness::{alone, audit};
use crate::rights::whole_log;

#[test]
fn no_password_was_told_by_the_operator_and_a_planted_one_is_seen() {
    let _turn = alone();
    let secrets = remembered();
    assert!(secrets.len() >= 12, "{} were written down", secrets.len());
    let (mut bodies, mut kinds) = (0_usize, std::collections::BTreeSet::new());
    audit::all_by_operator(|entry| {
        let Some(body) = sent(entry) else { return };
        assert_eq!(telling(&body, &secrets).len(), 0, "a password is in the body of {} {}", entry.what(), entry.name());
        bodies += 1;
        kinds.insert(entry.resource());
    });
    let looked_through = ["configmaps", "jobs", "statefulsets", "databases/status", "persistentvolumeclaims", "events", "services"];
    let missed: Vec<&&str> = looked_through.iter().filter(|kind| !kinds.contains(**kind)).collect();
    assert!(missed.is_empty() && !kinds.contains("secrets"), "{missed:?} were not looked through; {kinds:?} were");
    let log = whole_log();
    assert_eq!(telling(&log, &secrets).len(), 0, "a password is in the operator's log");
    let planted = format!("{log}\nINFO the password is {} now", secrets[0]);
    assert_eq!(telling(&planted, &secrets).len(), 1);
    println!("{} secrets were looked for in {bodies} bodies", secrets.len());
}
