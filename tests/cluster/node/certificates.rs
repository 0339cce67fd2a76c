//! Keys are exchanged while people write, and nobody notices.

use super::turns::two_ready;
use crate::harness::certificates::{believed, presented, secret, stored, text};
use crate::harness::load::{Ended, Load};
use crate::harness::{Space, alone, eventually, kubectl};
use std::time::Instant;

#[test]
fn leaves_and_an_authority_are_exchanged_and_no_call_fails() {
    rotated(6, 1);
}

/// So many new leaves, and so many new authorities among them, while everybody writes: how many calls a second were answered.
pub fn rotated(leaves: usize, authorities: usize) -> f64 {
    let _turn = alone();
    two_ready();
    let space = Space::new("rotated");
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

/// Each replica presents the leaf that is stored.
fn presented_everywhere() {
    let leaf = text(&stored("tls.crt"));
    let columns = "jsonpath={range .items[*]}{.status.podIP} {end}";
    let selector = ["--selector", "app.kubernetes.io/component=operator"];
    let pods = kubectl(&[&["--namespace", "pointsman-system", "get", "pods", "--output", columns], &selector[..]].concat()).ok();
    let addresses: Vec<&str> = pods.split_whitespace().collect();
    assert_eq!(addresses.len(), 2, "{pods}");
    for address in addresses {
        let same = || presented(&format!("{address}:9443")).trim() == leaf.trim();
        eventually(30, &format!("{address} presents the stored leaf"), same);
    }
}
