//! Keys are exchanged while people write, and nobody notices.

use super::turns::two_ready;
use crate::harness::certificates::{believed, mistrusted, presented, secret, stored, text};
use crate::harness::load::{Ended, Load};
use crate::harness::{Space, WEBHOOK, alone, bash, eventually, kubectl, operator, repository};
use std::time::Instant;

#[test]
fn leaves_and_an_authority_are_exchanged_and_no_call_fails() {
    rotated(2, 1);
}

/// As on a fresh cluster: no keys, no Lease, no bundle, and two replicas begin at once.
#[test]
fn two_that_begin_at_once_agree_on_one_authority() {
    let _turn = alone();
    two_ready();
    let old = stored("ca.crt");
    operator(&["stop"]);
    secret("delete", &[]);
    kubectl(&["--namespace", "pointsman-system", "delete", "lease", "pointsman"]).ok();
    let removed = |path: &str| format!(r#"[{{"op":"remove","path":"{path}/clientConfig/caBundle"}}]"#);
    for name in kubectl(&["get", "--filename", repository().join("crds").to_str().unwrap(), "--output", "name"]).ok().lines() {
        kubectl(&["patch", name, "--type=json", "--patch", &removed("/spec/conversion/webhook")]).ok();
    }
    for number in 0..2 {
        kubectl(&["patch", WEBHOOK, "--type=json", "--patch", &removed(&format!("/webhooks/{number}"))]).ok();
    }
    assert!(believed().iter().all(String::is_empty));
    operator(&["start"]);
    two_ready();
    presented_everywhere();
    let authority = text(&stored("ca.crt"));
    assert_ne!(authority, text(&old), "the old authority is stored again");
    assert!(believed().iter().all(|bundle| bundle.trim() == authority.trim()), "somebody believes another authority");
}

/// So many new leaves, and so many new authorities among them, while everybody writes: how many calls a second were answered.
pub fn rotated(leaves: usize, authorities: usize) -> f64 {
    let _turn = alone();
    two_ready();
    let space = Space::new("rotated");
    let before = answered();
    let (load, began) = (Load::on(&space), Instant::now());
    for round in 0..leaves {
        let old = stored("tls.crt");
        ask("leaf");
        eventually(20, "another leaf is stored", || stored("tls.crt") != old);
        presented_everywhere();
        if (round + 1) % (leaves / authorities) == 0 {
            exchange_the_authority();
        }
    }
    let took = began.elapsed();
    let Ended { reviews, failures, .. } = load.end();
    let pace = f64::from(u32::try_from(reviews).unwrap()) / took.as_secs_f64();
    println!(
        "{leaves} leaves and {authorities} authorities exchanged in {took:.0?}: {reviews} reviews and conversions, {pace:.0} a second, {} failed",
        failures.len()
    );
    let each: Vec<u64> = answered().iter().zip(before).map(|(after, before)| after - before).collect();
    println!("the replicas answered {each:?} of them");
    assert!(each.iter().all(|count| *count > 0), "a replica was never called");
    assert_eq!(failures.iter().map(|failure| &failure.words).collect::<Vec<_>>(), Vec::<&String>::new());
    eventually(120, "the bundles hold the last authority alone", || believed().iter().all(|bundle| bundle.matches("BEGIN").count() == 1));
    two_ready();
    pace
}

fn exchange_the_authority() {
    let old = stored("ca.crt");
    ask("authority");
    eventually(20, "another authority is stored", || stored("ca.crt") != old);
    let (old, new) = (text(&old), text(&stored("ca.crt")));
    // Both are believed before and after the leaves change hands.
    let both = |bundle: &String| bundle.contains(old.trim()) && bundle.contains(new.trim());
    eventually(10, "every caller believes both authorities", || believed().iter().all(both));
    presented_everywhere();
    assert!(believed().iter().all(both), "the old authority left too soon");
}

fn ask(what: &str) {
    secret("annotate", &[&format!("pointsman.dev/renew={what}")]);
}

/// Each replica presents the leaf that is stored, and whoever believes what any caller is told to believe, trusts it.
fn presented_everywhere() {
    let leaf = text(&stored("tls.crt"));
    for address in addresses() {
        let same = || presented(&format!("{address}:9443")).trim() == leaf.trim();
        eventually(30, &format!("{address} presents the stored leaf"), same);
        for bundle in believed() {
            assert_eq!(mistrusted(&address, &bundle), None, "{address}");
        }
    }
}

/// Where both replicas listen.
fn addresses() -> Vec<String> {
    let columns = "jsonpath={range .items[*]}{.status.podIP} {end}";
    let selector = ["--selector", "app.kubernetes.io/component=operator"];
    let pods = kubectl(&[&["--namespace", "pointsman-system", "get", "pods", "--output", columns], &selector[..]].concat()).ok();
    let addresses: Vec<String> = pods.split_whitespace().map(str::to_owned).collect();
    assert_eq!(addresses.len(), 2, "{pods}");
    addresses
}

/// How many calls of the API server's each replica has answered.
fn answered() -> Vec<u64> {
    let sum = r"awk '/^controller_runtime_webhook_requests_total/ { sum += $2 } END { print sum + 0 }'";
    let of = |address: &String| bash(&format!("curl --silent --fail --max-time 10 http://{address}:8080/metrics | {sum}")).ok();
    addresses().iter().map(|address| of(address).trim().parse().unwrap()).collect()
}
