//! People who write all the time, while replicas of the operator come and go: what was accepted, and what failed.

use super::{Space, memcached};
use jiff::Timestamp;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// How many objects are edited, each by a person of its own.
const OBJECTS: usize = 3;
/// How many only try, and how many only read: as many connections of the API server's.
const TRIES: usize = 8;
/// Between two edits of one object.
const PAUSE: Duration = Duration::from_millis(400);
/// From one trial, or reading, to the next of the same person: all together 213 a second. Who is late makes up for it.
const PACE: Duration = Duration::from_millis(75);
/// A call that takes longer has failed.
const LIMIT: Duration = Duration::from_secs(15);

/// A call that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// When it was sent.
    pub began: Timestamp,
    /// When it failed.
    pub ended: Timestamp,
    /// What was answered.
    pub words: String,
}

#[derive(Debug, Default)]
struct Seen {
    reviews: Mutex<u64>,
    failures: Mutex<Vec<Failure>>,
    /// What was accepted last for each object.
    accepted: Mutex<BTreeMap<String, u64>>,
    stop: AtomicBool,
}

/// The load; it stops when it is dropped.
pub struct Load {
    seen: Arc<Seen>,
    thread: Option<JoinHandle<()>>,
}

impl Load {
    /// Makes the objects, without pods, so that an edit is a move and costs the machine nothing; then begins.
    #[track_caller]
    pub fn on(space: &Space) -> Self {
        let seen = Arc::new(Seen::default());
        for number in 0..OBJECTS {
            space.memcached(&name(number), "{replicas: 0}");
        }
        let (namespace, shared) = (space.name.clone(), seen.clone());
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(write(&namespace, &shared));
        });
        Load { seen, thread: Some(thread) }
    }

    /// How many calls were reviewed, or converted, so far.
    pub fn reviews(&self) -> u64 {
        *self.seen.reviews.lock().unwrap()
    }

    /// The calls that failed so far.
    pub fn failures(&self) -> Vec<Failure> {
        self.seen.failures.lock().unwrap().clone()
    }

    /// Stops, and says what was accepted last for each object.
    pub fn end(mut self) -> BTreeMap<String, u64> {
        self.stop();
        self.seen.accepted.lock().unwrap().clone()
    }

    fn stop(&mut self) {
        self.seen.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            // Its own panic was printed where it happened.
            let _ = thread.join();
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop();
    }
}

fn name(number: usize) -> String {
    format!("edited-{number}")
}

fn api(client: &Client, namespace: &str, version: &str) -> Api<DynamicObject> {
    let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("cache.example.com", version, "Memcached"), "memcacheds");
    Api::namespaced_with(client.clone(), namespace, &resource)
}

async fn write(namespace: &str, seen: &Seen) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let file = Kubeconfig::read_from(std::env::var("KUBECONFIG").unwrap()).unwrap();
    let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.unwrap();
    config.default_retry = false;
    let client = Client::try_from(config).unwrap();
    let edits = futures::future::join_all((0..OBJECTS).map(|number| edit(api(&client, namespace, "v1"), name(number), seen)));
    let trials = futures::future::join_all((0..TRIES).map(|_| try_out(api(&client, namespace, "v1"), seen)));
    let reads = futures::future::join_all((0..TRIES).map(|_| convert(api(&client, namespace, "v1alpha1"), seen)));
    tokio::join!(edits, trials, reads);
}

/// Edits one object again and again; what failed is tried again.
async fn edit(objects: Api<DynamicObject>, name: String, seen: &Seen) {
    let mut connections = 1024;
    while !seen.stop.load(Ordering::SeqCst) {
        let patch = Patch::Merge(json!({ "spec": { "maxConnections": connections } }));
        if counted(seen, objects.patch(&name, &PatchParams::default(), &patch)).await {
            seen.accepted.lock().unwrap().insert(name.clone(), connections);
            connections = 1024 + (connections - 1008) % 8192;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Creates objects that are not stored.
async fn try_out(objects: Api<DynamicObject>, seen: &Seen) {
    let object: DynamicObject = serde_saphyr::from_str(&memcached("trial", "{replicas: 2}")).unwrap();
    let mut turn = tokio::time::interval(PACE);
    while !seen.stop.load(Ordering::SeqCst) {
        turn.tick().await;
        let params = PostParams { dry_run: true, ..PostParams::default() };
        counted(seen, objects.create(&params, &object)).await;
    }
}

/// Reads an object in the older version.
async fn convert(objects: Api<DynamicObject>, seen: &Seen) {
    let mut turn = tokio::time::interval(PACE);
    while !seen.stop.load(Ordering::SeqCst) {
        turn.tick().await;
        counted(seen, objects.get(&name(0))).await;
    }
}

async fn counted(seen: &Seen, call: impl Future<Output = kube::Result<DynamicObject>>) -> bool {
    let began = Timestamp::now();
    let words = match tokio::time::timeout(LIMIT, call).await {
        Ok(Ok(_)) => None,
        Ok(Err(fault)) => Some(fault.to_string()),
        Err(_) => Some(format!("no answer within {LIMIT:?}")),
    };
    *seen.reviews.lock().unwrap() += 1;
    let answered = words.is_none();
    seen.failures.lock().unwrap().extend(words.map(|words| Failure { began, ended: Timestamp::now(), words }));
    answered
}
