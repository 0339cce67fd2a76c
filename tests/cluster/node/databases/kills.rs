//! The operator is killed after each write that it makes for a Database with rows: nothing is lost, and nothing is done twice.

use super::Base;
use crate::harness::{Space, alone, audit, kills, kubectl, processes};
use std::cell::RefCell;

const NAMESPACE: &str = "pointsman-system";
const ROWS: &str = "SELECT count(*) || ' ' || md5(string_agg(n::text, ',' ORDER BY n)) FROM kept";

pub fn after_each_write() {
    let _turn = alone();
    let ended = RefCell::new(String::new());
    // At once: the next write comes two seconds later.
    let kill = |write: &audit::Entry| {
        let (leader, uid) = write.pod();
        processes::kill(&processes::first_of(uid, "pointsman"));
        ended.replace(leader.to_owned());
    };
    // A container that is started again waits longer each time; another pod does not.
    let follow = || drop(kubectl(&["--namespace", NAMESPACE, "delete", "pod", &ended.borrow(), "--force", "--grace-period=0"]));
    let (calm, killed) = (Space::new("calm"), Space::new("killed"));
    let kept = RefCell::new(String::new());
    kills::come_to_the_same_end(&calm, &killed, kill, follow, |space, step| {
        let base = Base::of(space, "db");
        match step {
            "create" => {
                base.comes();
                base.sql("db", "CREATE TABLE kept AS SELECT n FROM generate_series(1, 5000) AS n").ok();
                kept.replace(base.sql("db", ROWS).ok());
            }
            "delete" => {
                let maps = space.object_list(&["configmaps"]);
                let manifest = maps.iter().find_map(|map| map["data"]["restore.yaml"].as_str()).expect("a tombstone");
                space.apply(manifest).ok();
                base.comes();
                base.answers("db", ROWS, kept.borrow().trim());
                // Both lives end alike, with what they left.
                base.becomes(r#"{"deletionPolicy":"Delete"}"#);
                base.goes();
            }
            _ => (0..3).for_each(|ordinal| base.answers(&base.server(ordinal), ROWS, kept.borrow().trim())),
        }
    });
}
