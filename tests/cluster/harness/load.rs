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
/// A call that takes longer has failed.
const LIMIT: Duration = Duration::from_secs(15);
/// Whose call has failed makes it once more after a while: by then it is known who does not answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// From one trial, or reading, to the next of the same person: all together 213 a second of the released operator, which can
/// answer so many beside all else on two cores, and 64 a second of the one that tests compile. Who is late makes up for it.
fn pace() -> Duration {
    let released = std::env::var_os("POINTSMAN_PROFILE").is_some_and(|profile| profile == "release");
    Duration::from_millis(if released { 75 } else { 250 })
}

/// A call that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// When it was sent.
    pub began: Timestamp,
    /// When it failed.
    pub ended: Timestamp,
    /// What was answered.
    pub words: String,
    /// What the same call was answered when it was made once more; nothing where it was taken.
    pub again: Option<String>,
}

/// What came of a load.
#[derive(Debug)]
pub struct Ended {
    /// How many calls were reviewed, or converted.
    pub reviews: u64,
    /// The calls that failed.
    pub failures: Vec<Failure>,
    /// What was accepted last for each object.
    pub accepted: BTreeMap<String, u64>,
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

    /// Stops, and says what came of it.
    pub fn end(mut self) -> Ended {
        self.stop();
        let (failures, accepted) = (self.seen.failures.lock().unwrap().clone(), self.seen.accepted.lock().unwrap().clone());
        Ended { reviews: self.reviews(), failures, accepted }
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

/// Edits one object again and again.
async fn edit(objects: Api<DynamicObject>, name: String, seen: &Seen) {
    let mut connections = 1024;
    while !seen.stop.load(Ordering::SeqCst) {
        let patch = Patch::Merge(json!({ "spec": { "maxConnections": connections } }));
        let params = PatchParams::default();
        if counted(seen, || objects.patch(&name, &params, &patch)).await {
            seen.accepted.lock().unwrap().insert(name.clone(), connections);
            connections = 1024 + (connections - 1008) % 8192;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Creates objects that are not stored.
async fn try_out(objects: Api<DynamicObject>, seen: &Seen) {
    let object: DynamicObject = serde_saphyr::from_str(&memcached("trial", "{replicas: 2}")).unwrap();
    let mut turn = tokio::time::interval(pace());
    while !seen.stop.load(Ordering::SeqCst) {
        turn.tick().await;
        let params = PostParams { dry_run: true, ..PostParams::default() };
        counted(seen, || objects.create(&params, &object)).await;
    }
}

/// Reads an object in the older version.
async fn convert(objects: Api<DynamicObject>, seen: &Seen) {
    let mut turn = tokio::time::interval(pace());
    while !seen.stop.load(Ordering::SeqCst) {
        turn.tick().await;
        let name = name(0);
        counted(seen, || objects.get(&name)).await;
    }
}

/// Makes a call, and once more where it fails; was it taken?
async fn counted<F: Future<Output = kube::Result<DynamicObject>>>(seen: &Seen, call: impl Fn() -> F) -> bool {
    let began = Timestamp::now();
    let Some(words) = failed(call()).await else {
        *seen.reviews.lock().unwrap() += 1;
        return true;
    };
    let ended = Timestamp::now();
    tokio::time::sleep(PATIENCE).await;
    let again = failed(call()).await;
    *seen.reviews.lock().unwrap() += 2;
    let taken = again.is_none();
    seen.failures.lock().unwrap().push(Failure { began, ended, words, again });
    taken
}

/// Why a call was not taken.
async fn failed(call: impl Future<Output = kube::Result<DynamicObject>>) -> Option<String> {
    match tokio::time::timeout(LIMIT, call).await {
        Ok(Ok(_)) => None,
        Ok(Err(fault)) => Some(fault.to_string()),
        Err(_) => Some(format!("no answer within {LIMIT:?}")),
    }
}
