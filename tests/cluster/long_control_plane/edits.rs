//! People who edit whatever comes into their minds: no status of the operator's is ever refused.

use crate::harness::moves;
use crate::harness::pool::Pool;
use crate::harness::{Space, audit, eventually, shared};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const NAMES: usize = 10;
const LONG: Duration = Duration::from_mins(2);

/// Small, and the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// One edit. Some are refused, by the webhook or because there is nothing of that name: so it is with people.
fn edit(space: &Space, pool: &Pool, dice: &mut Dice) {
    let name = format!("cache-{}", dice.below(NAMES as u64));
    let value = dice.below(4);
    let mc = format!("mc/{name}");
    let child = format!("{}/{name}", ["deployment", "service", "poddisruptionbudget"][usize::try_from(dice.below(3)).unwrap()]);
    match dice.below(17) {
        0..=2 => drop(space.patch(&name, &format!(r#"{{"replicas":{value}}}"#))),
        3 | 4 => drop(space.patch(&name, &format!(r#"{{"maxConnections":{}}}"#, 1024 + 16 * value))),
        5 => drop(space.patch(&name, &format!(r#"{{"image":"example.com/no-such:{value}"}}"#))),
        6 | 7 => drop(space.patch(&name, r#"{"image":null}"#)),
        8 => drop(space.kubectl(&["delete", &child, "--wait=false"])),
        9 => drop(space.kubectl(&["scale", &format!("deployment/{name}"), &format!("--replicas={value}")])),
        10 => drop(space.kubectl(&["delete", "pods", "--wait=false", "--selector", &format!("app.kubernetes.io/instance={name}")])),
        11 => drop(space.kubectl(&["patch", &child, "--type=merge", "--patch", r#"{"metadata":{"ownerReferences":null}}"#])),
        12 => {
            let command = space.object(&mc)["status"]["intervention"]["answers"][0]["command"].clone();
            command.as_str().map(crate::harness::bash);
        }
        13 => drop(space.kubectl(&["delete", &mc, "--wait=false"])),
        14 => drop(space.apply(&crate::harness::memcached(&name, &format!("{{replicas: {value}, {}}}", pool.field())))),
        15 => pool.close(),
        _ => pool.open(),
    }
}

#[test]
fn no_status_is_refused_whatever_people_do() {
    let _turn = shared();
    let (mark, space) = (audit::mark(), Space::new("edits"));
    let pool = Pool::new(&space);
    let names: Vec<String> = (0..NAMES).map(|number| format!("cache-{number}")).collect();
    for name in &names {
        space.memcached(name, &format!("{{{}}}", pool.field()));
    }
    let (mut dice, mut edits, end) = (Dice(7), 0, Instant::now() + LONG);
    while Instant::now() < end {
        edit(&space, &pool, &mut dice);
        edits += 1;
    }
    heal(&space, &pool, &names);
    let entries = audit::within(mark, &space.name);
    let mut codes: BTreeMap<u64, usize> = BTreeMap::new();
    for entry in moves::status_writes(&entries) {
        *codes.entry(entry.code()).or_default() += 1;
    }
    let moves = moves::stored(&entries);
    let mut seen: BTreeMap<moves::Triple, usize> = BTreeMap::new();
    for one in &moves {
        *seen.entry(one.arrow.clone()).or_default() += 1;
    }
    println!("{edits} edits, {} moves of {} kinds; status writes by code: {codes:?}", moves.len(), seen.len());
    let declared = moves::declared();
    assert!(seen.keys().all(|arrow| declared.contains(arrow)), "{seen:?}");
    assert!(seen.len() >= 15, "too little happened: {seen:?}");
    assert!(codes.keys().all(|code| [200, 404, 409].contains(code)), "a status was refused: {codes:?}");
}

/// After all of that everybody can be made well by a spec, once strangers are out of the way.
fn heal(space: &Space, pool: &Pool, names: &[String]) {
    pool.open();
    for name in names {
        eventually(30, "a deleted object is gone", || {
            space.object(&format!("mc/{name}"))["metadata"]["deletionTimestamp"] == serde_json::Value::Null
        });
        for child in space.object_list(&["deployments,services,poddisruptionbudgets", "--field-selector", &format!("metadata.name={name}")])
        {
            if child["metadata"]["ownerReferences"] == serde_json::Value::Null {
                let child = format!("{}/{name}", child["kind"].as_str().unwrap());
                space.kubectl(&["delete", &child]).ok();
            }
        }
        space.memcached(name, &format!("{{replicas: 2, maxConnections: 999, image: docker.io/library/memcached:1.6, {}}}", pool.field()));
    }
    for name in names {
        space.ready_within(name, 120);
    }
}
