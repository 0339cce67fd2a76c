//! Strangers who hinder the operator by all that they are let do: meanwhile people are answered, and what others have goes on.

use super::used;
use crate::harness::certificates::{address, connected_from};
use crate::harness::outage::process;
use crate::harness::{Space, alone, api, bash, operator};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

/// What strangers do until it is over: in a namespace of theirs, and at the operator's ports from addresses that are not the API
/// server's.
type Attack = fn(&Space, &AtomicBool);

const ATTACKS: [(&str, Attack); 6] = [
    ("eleven addresses hold a hundred connections each", hold_connections),
    ("ninety bodies that arrive slowly", send_slow_bodies),
    ("two hundred forged reviews at a time", send_forged_reviews),
    ("slow readers of the metrics", read_metrics_slowly),
    ("600 ConfigMaps of 1 MiB with our label", make_labelled_maps),
    ("a hundred objects edited for ever", edit_for_ever),
];

/// The limit of the operator's container, in MiB.
const LIMIT: f64 = 512.0;

/// Played pods are ready at once, and an object with them: what is below this is no wait, whatever it is twice of.
const MOMENT: Duration = Duration::from_secs(1);

#[test]
fn whatever_strangers_do_people_are_answered_and_what_others_have_goes_on() {
    let _turn = alone();
    let others = Space::new("others");
    others.memcached("scaled", "{replicas: 0}");
    others.ready("scaled");
    let undisturbed = Times::of(&others);
    println!("{:50} {undisturbed}", "nobody attacks");
    let pid = process("operator");
    for (name, attack) in ATTACKS {
        let strangers = Space::new("strangers");
        let times = beside(|over| attack(&strangers, over), || Times::of(&others));
        let held = used();
        println!("{name:50} {times}; {:.0} MiB", held.peak);
        assert!(times.scale < Duration::from_secs(2), "{name}: kubectl scale took {:?}", times.scale);
        let bar = (2 * undisturbed.ready).max(MOMENT);
        assert!(times.ready <= bar, "{name}: {:?} until Ready, {:?} without", times.ready, undisturbed.ready);
        assert_eq!(process("operator"), pid, "{name}: the operator was started again");
        assert!(held.peak < LIMIT, "{name}: {:.0} MiB", held.peak);
        leave(&strangers);
    }
}

#[test]
fn a_start_beside_600_large_maps_with_our_label_takes_little_memory() {
    let _turn = alone();
    let strangers = Space::new("strangers");
    let none = AtomicBool::new(true);
    make_labelled_maps(&strangers, &none);
    operator(&["restart"]);
    let space = Space::new("others");
    space.memcached("cache", "{replicas: 1}");
    space.ready("cache");
    let held = used();
    println!("started beside them: {:.0} MiB, {:.0} at most", held.now, held.peak);
    assert!(held.peak < LIMIT, "{:.0} MiB", held.peak);
    leave(&strangers);
}

/// The medians of what somebody in another namespace waits for.
struct Times {
    /// `kubectl scale`, of fifty.
    scale: Duration,
    /// From the creation of an object until it is Ready, of five.
    ready: Duration,
}

impl Times {
    fn of(space: &Space) -> Self {
        let scale = median((0..50).map(|turn| {
            let replicas = format!("--replicas={}", turn % 2);
            timed(|| drop(space.kubectl(&["scale", "mc/scaled", &replicas]).ok()))
        }));
        let ready = median((0..5).map(|turn| {
            let name = format!("new-{turn}");
            let time = timed(|| {
                space.memcached(&name, "{replicas: 1}");
                space.ready(&name);
            });
            space.kubectl(&["delete", &format!("mc/{name}")]).ok();
            time
        }));
        Times { scale, ready }
    }
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "scaled in {:.2} s, Ready in {:.2} s", self.scale.as_secs_f64(), self.ready.as_secs_f64())
    }
}

fn timed(done: impl FnOnce()) -> Duration {
    let began = Instant::now();
    done();
    began.elapsed()
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort();
    times[times.len() / 2]
}

/// Does one thing while another goes on, which is told when it is over; however the one ends.
fn beside<T>(goes_on: impl Fn(&AtomicBool) + Sync, does: impl FnOnce() -> T) -> T {
    struct Over<'a>(&'a AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| goes_on(&over));
        let _over = Over(&over);
        // It has begun.
        thread::sleep(Duration::from_secs(3));
        does()
    })
}

/// Until it is over, and for ten minutes at most.
fn again_and_again(over: &AtomicBool, mut round: impl FnMut()) {
    let end = Instant::now() + Duration::from_mins(10);
    while !over.load(Ordering::SeqCst) && Instant::now() < end {
        round();
    }
}

/// Who is closed out comes again.
fn hold_connections(_: &Space, over: &AtomicBool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut held: Vec<(u8, Option<TcpStream>)> = (0..1100).map(|number| (2 + u8::try_from(number % 11).unwrap(), None)).collect();
    again_and_again(over, || {
        runtime.block_on(async {
            for (host, stream) in &mut held {
                let is_open =
                    |stream: &TcpStream| stream.try_read(&mut [0]).is_err_and(|fault| fault.kind() == std::io::ErrorKind::WouldBlock);
                if !stream.as_ref().is_some_and(is_open) {
                    *stream = connected_from(*host).await.ok();
                }
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        });
    });
}

fn send_slow_bodies(_: &Space, over: &AtomicBool) {
    let line = format!(
        "head --bytes=262144 /dev/zero | tr '\\0' ' ' | curl --silent --insecure --interface 127.0.0.2 --max-time 5 --limit-rate 100 --parallel \
         --parallel-immediate --parallel-max 90 --header 'Expect:' --header 'Content-Type: application/json' --data-binary @- \
         --output /dev/null 'https://{}/validate/memcached?[1-90]'",
        address()
    );
    again_and_again(over, || drop(bash(&line)));
}

fn send_forged_reviews(_: &Space, over: &AtomicBool) {
    let review =
        json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": { "uid": "1", "operation": "CREATE" } });
    let line = format!(
        "curl --silent --insecure --interface 127.0.0.2 --max-time 5 --parallel --parallel-immediate --parallel-max 200 \
         --header 'Content-Type: application/json' --data '{review}' --output /dev/null 'https://{}/validate/memcached?[1-400]'",
        address()
    );
    again_and_again(over, || {
        bash(&line);
        // The two processors of a small machine are the attackers' too.
        thread::sleep(Duration::from_millis(300));
    });
}

fn read_metrics_slowly(_: &Space, over: &AtomicBool) {
    const LINE: &str = "curl --silent --interface 127.0.0.2 --max-time 10 --limit-rate 10 --parallel --parallel-immediate --parallel-max 128 \
                        --output /dev/null \"$POINTSMAN_METRICS?[1-128]\"";
    again_and_again(over, || {
        bash(LINE);
        thread::sleep(Duration::from_millis(300));
    });
}

/// Only an administrator can: to others the label is reserved.
fn make_labelled_maps(strangers: &Space, _: &AtomicBool) {
    const MAPS: usize = 600;
    let maps = api::place(&strangers.name, "configmaps").unwrap();
    let words = "x".repeat(1_048_000);
    for number in 0..MAPS {
        let meta = json!({ "name": format!("large-{number}"), "labels": { "app.kubernetes.io/managed-by": "pointsman" } });
        let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": { "words": words } });
        api::ask("POST", &maps, &map).unwrap();
    }
    let made = api::ask("GET", &format!("{maps}?limit=1"), &Value::Null).unwrap();
    println!("{} ConfigMaps are there", 1 + made["metadata"]["remainingItemCount"].as_u64().unwrap_or_default());
}

fn edit_for_ever(strangers: &Space, over: &AtomicBool) {
    const OBJECTS: usize = 100;
    const HANDS: usize = 2;
    let name = |number: usize| format!("edited-{number}");
    for number in 0..OBJECTS {
        strangers.memcached(&name(number), "{replicas: 0}");
    }
    let objects = api::place(&strangers.name, "mc").unwrap();
    let edits = AtomicUsize::new(0);
    let edit = || {
        let number = edits.fetch_add(1, Ordering::SeqCst);
        let spec = json!({ "spec": { "maxConnections": 1024 + number / OBJECTS % 8192 } });
        let _ = api::ask("PATCH", &format!("{objects}/{}", name(number % OBJECTS)), &spec);
    };
    thread::scope(|scope| (0..HANDS).for_each(|_| drop(scope.spawn(|| again_and_again(over, edit)))));
    println!("{} edits", edits.into_inner());
}

/// What they have made goes at once, and is not beside the next ones.
fn leave(strangers: &Space) {
    for kind in ["configmaps", "mc"] {
        api::ask("DELETE", &api::place(&strangers.name, kind).unwrap(), &Value::Null).unwrap();
    }
}
