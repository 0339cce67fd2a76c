//! What Prometheus reads of the operator that runs.

use crate::harness::certificates::connected_from;
use crate::harness::outage::is_judged;
use crate::harness::{Space, alone, eventually, scraped, scraped_value, shared};
use pointsman::kinds::annotations::ANSWER;
use std::io::{ErrorKind, Read};
use std::net::TcpStream;

/// What a counter has come to.
#[track_caller]
fn counted(series: &str) -> u64 {
    scraped_value(series).map_or(0, |value| value.parse().unwrap())
}

#[test]
fn an_object_its_question_and_what_is_refused_are_scraped_and_nothing_of_it_once_it_is_gone() {
    const REFUSED: &str = r#"pointsman_admission_refusals_total{kind="Memcached",reason="invalid"}"#;
    const REVIEWED: &str = r#"controller_runtime_webhook_requests_total{webhook="/validate/memcached",code="200"}"#;
    const MOVED: &str = r#"pointsman_transitions_total{kind="Memcached",from="Pending",to="Creating"}"#;
    let _turn = shared();
    let space = Space::new("scraped");
    let before = [REFUSED, REVIEWED, MOVED].map(counted);
    space.memcached("cache", "{image: example.com/no-such:1}");
    let of = format!(r#"kind="Memcached",namespace="{}",name="cache""#, space.name);
    let shows = |line: String| scraped().lines().any(|shown| shown == line);
    eventually(20, "the object is scraped while it is worked on", || shows(format!("pointsman_state{{{of},state=\"Creating\"}} 1")));
    assert!(scraped().contains(&format!("pointsman_deadline_timestamp_seconds{{{of}}} ")), "what is worked on has a deadline");
    space.reaches("cache", "HumanIntervention", 60);
    eventually(20, "the question is scraped by its reason", || {
        shows(format!("pointsman_interventions{{{of},reason=\"ProvisioningStuck\"}} 1"))
    });
    assert!(shows(format!("pointsman_state{{{of},state=\"HumanIntervention\"}} 1")));
    let wrong = space.kubectl(&["annotate", "mc/cache", &format!("{ANSWER}=retry-aaaaa")]);
    assert_eq!(wrong.code, 1, "{}", wrong.text());
    for (series, before) in [REFUSED, REVIEWED, MOVED].into_iter().zip(before) {
        assert!(counted(series) > before, "{series} was {before}, and is {}", counted(series));
    }
    assert!(shows("pointsman_leader 1".to_owned()) && shows(r#"leader_election_master_status{name="pointsman"} 1"#.to_owned()));
    assert!(scraped().contains(r#"rest_client_requests_total{code="200",method="PATCH",host="127.0.0.1:"#), "{}", scraped());
    space.kubectl(&["delete", "mc/cache"]).ok();
    eventually(20, "nothing of the object is scraped", || !scraped().contains(&space.name));
}

fn connections(count: usize) -> Vec<TcpStream> {
    let one = || async { connected_from(2).await?.into_std() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    (0..count).map(|_| runtime.block_on(one()).unwrap()).collect()
}

#[test]
fn a_client_that_sits_on_its_connections_keeps_nobody_out() {
    const REFUSED: &str = "pointsman_webhook_connections_refused_total";
    let _turn = alone();
    let before = counted(REFUSED);
    let mut held = connections(420);
    eventually(5, "what is too much is counted", || counted(REFUSED) - before == 170);
    let open = |one: &mut TcpStream| one.read(&mut [0]).is_err_and(|fault| fault.kind() == ErrorKind::WouldBlock);
    assert_eq!(held.iter_mut().map(open).filter(|open| *open).count(), 250, "what is too much is closed, and nothing else");
    assert!(is_judged(), "the API server is kept out");
}
