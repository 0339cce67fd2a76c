//! A pretend cluster: objects as JSON, what their controllers make of them, and what the scripts of a Job would say.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;
use pointsman::controller::kept;
use pointsman::kinds::children::{Lookup, Slot, belongs, controller, is_left_by, is_shared, labelled_owner};
use pointsman::kinds::database::object::v1::Database;
use pointsman::kinds::digest;
use pointsman::kinds::order::{Child, ChildKind, ChildRef, Order};
use pointsman::kinds::pod_template::Strings;
use pointsman::kinds::reading::{ReadKind, Readable, Reading};
use pointsman::kinds::rendered::MANAGED_BY;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The system identifier of the data.
const SYSTEM: &str = "7300000000000000001";

/// What can go wrong with the cluster as a whole.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// A primary that ends does so by a crash; over once it has run again.
    Crash,
    /// The class lets no volume grow.
    RigidClass,
    /// Volumes that may grow stay as they are.
    StuckGrowth,
    /// File systems of volumes grow only at the start of their pods, and the claims say so.
    OfflineGrowth,
    /// No pod can be made, as where a quota is used up.
    Quota,
    /// Pods that are told to go stay, as on a node that answers nobody.
    SilentNode,
    /// There is so much data that dumps, and bringing one back, take very long.
    MuchData,
    /// A service mesh puts a container into the pods of Jobs, in front of ours, that runs for ever.
    Mesh,
}

/// What a volume says of itself: the epoch in which its server ran last, whether as the primary, and who was that.
type Marker = (u32, bool, String);

/// The cluster at one moment.
#[derive(Clone)]
pub struct Cluster {
    /// The time, as those have it who write it down here.
    pub now: Timestamp,
    /// How far the operator's clock is ahead of the API server's: as much as its answers do not tell.
    pub ahead: SignedDuration,
    /// How far the clocks of controllers and kubelets are ahead of it.
    pub others_ahead: SignedDuration,
    /// The object, until it is gone.
    pub object: Option<Database>,
    /// Everything else.
    pub things: BTreeMap<(ChildKind, String), Value>,
    /// What each Job is to say instead of what it says where all goes well: by the first word after the object's name.
    pub says: BTreeMap<String, (bool, String)>,
    /// Ordinals whose server does not become ready.
    pub away: BTreeSet<u32>,
    /// Ordinals whose server ends at each start with these last words, while its pod is of this revision; where it is the
    /// primary, the replicas wait for it.
    pub crashing: BTreeMap<u32, (Value, String)>,
    /// Ordinals whose server lacks what the primary wrote last.
    pub behind: BTreeSet<u32>,
    /// The marker of each volume, by the uid of its claim.
    pub markers: BTreeMap<String, Marker>,
    /// What no watch shows just now, as where it was between two of them.
    pub unseen: BTreeSet<(ChildKind, String)>,
    /// What goes wrong until it is taken out again.
    pub troubles: BTreeSet<Trouble>,
    /// What a policy lets nobody create: a kind, and how its names begin.
    pub refused: BTreeSet<(ChildKind, String)>,
    /// Every order that was carried out, in short.
    pub done: Vec<String>,
    serial: i64,
}

impl Cluster {
    /// A cluster that holds one object.
    pub fn of(object: Database) -> Self {
        let mut cluster = Cluster {
            now: Timestamp::from_second(1_800_000_000).expect("a time"),
            ahead: SignedDuration::ZERO,
            others_ahead: SignedDuration::ZERO,
            object: None,
            things: BTreeMap::new(),
            says: BTreeMap::new(),
            away: BTreeSet::new(),
            crashing: BTreeMap::new(),
            behind: BTreeSet::new(),
            markers: BTreeMap::new(),
            unseen: BTreeSet::new(),
            troubles: BTreeSet::new(),
            refused: BTreeSet::new(),
            done: Vec::new(),
            serial: 0,
        };
        let mut object = object;
        object.metadata.uid = Some(cluster.uid());
        object.metadata.creation_timestamp = Some(Time(cluster.now));
        object.metadata.generation = Some(1);
        object.metadata.resource_version = Some("1".to_owned());
        cluster.object = Some(object);
        cluster
    }

    /// Does this go wrong now?
    pub fn has(&self, trouble: Trouble) -> bool {
        self.troubles.contains(&trouble)
    }

    fn uid(&mut self) -> String {
        self.serial += 1;
        format!("00000000-0000-0000-0000-{:012}", self.serial)
    }

    /// One thing, as it stands.
    pub fn get(&self, kind: ChildKind, name: &str) -> Option<&Value> {
        self.things.get(&(kind, name.to_owned()))
    }

    /// The names of all things of a kind.
    pub fn names(&self, kind: ChildKind) -> Vec<String> {
        self.things.keys().filter(|(one, _)| *one == kind).map(|(_, name)| name.clone()).collect()
    }

    /// Changes one thing by hand.
    pub fn edit(&mut self, kind: ChildKind, name: &str, path: &str, value: Value) {
        let thing = self.things.get_mut(&(kind, name.to_owned())).expect("a thing to edit");
        *thing.pointer_mut(path).expect("a field to edit") = value;
        self.touched(kind, name);
    }

    /// A user deletes the object; without a finalizer it is gone at once.
    pub fn delete(&mut self) {
        let object = self.object.as_mut().expect("an object");
        object.metadata.deletion_timestamp = Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(self.now));
        if object.finalizers().is_empty() {
            self.object = None;
        }
    }

    /// The nodes answer again: what was told to go goes.
    pub fn lets_go(&mut self) {
        self.troubles.remove(&Trouble::SilentNode);
        self.things.retain(|_, thing| thing["metadata"]["deletionTimestamp"].is_null());
    }

    /// Removes one thing by hand; what it owns goes after it.
    pub fn remove(&mut self, kind: ChildKind, name: &str) {
        self.counts_a_failure(kind, name);
        self.things.remove(&(kind, name.to_owned())).expect("a thing to remove");
        let owner = if kind == ChildKind::StatefulSet { ("test/set", json!("yes")) } else { ("batch.kubernetes.io/job-name", json!(name)) };
        if [ChildKind::StatefulSet, ChildKind::Job].contains(&kind) {
            let hangs = self.has(Trouble::SilentNode);
            self.things.retain(|_, thing| hangs || thing["metadata"]["labels"][owner.0] != owner.1);
        }
        if self.has(Trouble::SilentNode) {
            let now = json!(self.now.to_string());
            let left = self.things.values_mut().filter(|thing| thing["metadata"]["labels"][owner.0] == owner.1);
            left.for_each(|thing| thing["metadata"]["deletionTimestamp"] = now.clone());
        }
    }

    /// A hand takes off the label by which the operator watches what is its own.
    pub fn loses_its_label(&mut self, kind: ChildKind, name: &str) {
        let thing = self.things.get_mut(&(kind, name.to_owned())).expect("a thing with labels");
        if let Some(labels) = thing["metadata"]["labels"].as_object_mut() {
            labels.remove(MANAGED_BY.0);
        }
        self.touched(kind, name);
    }

    fn touched(&mut self, kind: ChildKind, name: &str) {
        self.serial += 1;
        let version = json!(self.serial.to_string());
        let now = json!(self.now.to_string());
        let key = (kind, name.to_owned());
        let Some(thing) = self.things.get_mut(&key) else { return };
        thing["metadata"]["resourceVersion"] = version;
        if thing["metadata"]["creationTimestamp"].is_null() {
            thing["metadata"]["creationTimestamp"] = now;
        }
        let spec = digest::of(&thing["spec"]);
        if thing["metadata"]["annotations"]["test/spec"] != json!(spec) && kind == ChildKind::StatefulSet {
            thing["metadata"]["annotations"]["test/spec"] = json!(spec);
            let generation = thing["metadata"]["generation"].as_i64().unwrap_or_default() + 1;
            thing["metadata"]["generation"] = json!(generation);
        }
    }

    /// Makes one thing.
    pub fn insert(&mut self, child: &ChildRef, object: &Value) {
        let mut object = object.clone();
        object["metadata"]["uid"] = json!(self.uid());
        self.things.insert((child.kind, child.name.clone()), object);
        self.touched(child.kind, &child.name);
    }

    /// Carries out an order, as the API server would.
    pub fn perform(&mut self, order: &Order) {
        let short = |verb: &str, child: &ChildRef| format!("{verb} {:?} {}", child.kind, child.name);
        match order {
            Order::Create { child, .. } if self.refused.iter().any(|(kind, name)| *kind == child.kind && child.name.starts_with(name)) => {
                self.done.push(short("refused", child));
            }
            Order::Apply { child, object, uid, .. } => {
                self.done.push(short("apply", child));
                let key = (child.kind, child.name.clone());
                match self.things.get_mut(&key) {
                    None => self.insert(child, object),
                    Some(live) => {
                        assert!(uid.is_some() && uid.as_deref() == live["metadata"]["uid"].as_str(), "{order:?}");
                        let fixed = live["spec"]["volumeClaimTemplates"].clone();
                        json_patch::merge(live, object);
                        for map in ["data", "selector"] {
                            // What is not wanted any more is given up.
                            if let Some(wanted) = object.get(map) {
                                live[map] = wanted.clone();
                            }
                        }
                        if !object["spec"]["selector"].is_null() {
                            live["spec"]["selector"] = object["spec"]["selector"].clone();
                        }
                        assert_eq!(live["spec"]["volumeClaimTemplates"], fixed, "the templates of claims cannot be changed");
                        self.touched(child.kind, &child.name);
                    }
                }
            }
            Order::Create { child, object } => {
                self.done.push(short("create", child));
                assert!(!self.things.contains_key(&(child.kind, child.name.clone())), "{order:?} is there");
                self.insert(child, object);
            }
            Order::Own { patch } => {
                self.done.push("patch the object".to_owned());
                let mut object = serde_json::to_value(self.object.as_ref().expect("an object")).expect("JSON");
                if object["metadata"]["finalizers"].is_null() {
                    object["metadata"].as_object_mut().expect("metadata").remove("finalizers");
                }
                json_patch::patch(&mut object, patch).expect("a patch that fits");
                let object: Database = serde_json::from_value(object).expect("a Database");
                let gone = object.metadata.deletion_timestamp.is_some() && object.finalizers().is_empty();
                self.object = Some(object).filter(|_| !gone);
            }
            Order::Patch { child, patch } => {
                self.done.push(short("patch", child));
                let live = self.things.get_mut(&(child.kind, child.name.clone())).expect("a thing to patch");
                json_patch::patch(live, patch).unwrap_or_else(|error| panic!("{error}: {order:?}"));
                self.touched(child.kind, &child.name);
            }
            Order::Delete { child, uid, .. } => {
                self.done.push(short("delete", child));
                let key = (child.kind, child.name.clone());
                assert_eq!(self.things[&key]["metadata"]["uid"], json!(uid));
                self.remove(child.kind, &child.name);
            }
        }
    }

    /// What the controllers and the kubelets make of what stands.
    pub fn settles(&mut self) {
        self.now += jiff::SignedDuration::from_secs(1);
        self.claims_go();
        for name in self.names(ChildKind::PersistentVolumeClaim) {
            let grows = !self.has(Trouble::RigidClass) && !self.has(Trouble::StuckGrowth) && self.is_mounted_anew(&name);
            let now = json!(self.now.to_string());
            let claim = self.things.get_mut(&(ChildKind::PersistentVolumeClaim, name)).expect("a claim");
            let class = claim["spec"]["storageClassName"].take();
            claim["spec"]["storageClassName"] = if class.is_null() { json!("standard") } else { class };
            if claim["spec"]["storageClassName"] == json!("no-such") {
                claim["status"] = json!({ "phase": "Pending" });
            } else if claim["status"].is_null() || grows {
                let size = claim["spec"]["resources"]["requests"]["storage"].clone();
                claim["status"] = json!({ "phase": "Bound", "capacity": { "storage": size } });
            } else if self.troubles.contains(&Trouble::OfflineGrowth) && claim["status"]["conditions"].is_null() {
                let pending = json!({ "type": "FileSystemResizePending", "status": "True", "lastTransitionTime": now,
                    "message": "Waiting for user to (re-)start a pod to finish file system resize of volume on node." });
                claim["status"]["conditions"] = json!([pending]);
            }
        }
        self.sets_make_pods();
        self.jobs_run();
    }

    /// A server's claim that was told to go goes once no pod mounts it; that of the dumps stays for as long as a test wants it.
    fn claims_go(&mut self) {
        for name in self.names(ChildKind::PersistentVolumeClaim) {
            let key = (ChildKind::PersistentVolumeClaim, name.clone());
            let mounted = name.strip_prefix("data-").is_none_or(|pod| self.get(ChildKind::Pod, pod).is_some());
            if !self.things[&key]["metadata"]["deletionTimestamp"].is_null() && !mounted {
                self.things.remove(&key);
            }
        }
    }

    /// Did the pod of a claim start after the claim began to wait for that, where it has to?
    fn is_mounted_anew(&self, claim: &str) -> bool {
        let pod = claim.strip_prefix("data-").and_then(|pod| self.get(ChildKind::Pod, pod));
        let Some(pod) = pod.filter(|_| self.has(Trouble::OfflineGrowth)) else { return true };
        let claim = self.get(ChildKind::PersistentVolumeClaim, claim).expect("a claim");
        if claim["spec"]["resources"]["requests"]["storage"] == claim["status"]["capacity"]["storage"] {
            return true;
        }
        let since = claim["status"]["conditions"][0]["lastTransitionTime"].as_str();
        since.zip(pod["metadata"]["creationTimestamp"].as_str()).is_some_and(|(since, made)| made > since)
    }

    fn sets_make_pods(&mut self) {
        for name in self.names(ChildKind::StatefulSet) {
            let set = self.get(ChildKind::StatefulSet, &name).expect("a set").clone();
            let revision = digest::of(&set["spec"]["template"]);
            let wanted = set["spec"]["replicas"].as_u64().unwrap_or(1);
            let mine: Vec<String> = self.names(ChildKind::Pod);
            for pod in mine {
                let ordinal = pod.strip_prefix(&format!("{name}-")).and_then(|ordinal| ordinal.parse::<u64>().ok());
                if ordinal.is_some_and(|ordinal| ordinal >= wanted) {
                    self.things.remove(&(ChildKind::Pod, pod));
                }
            }
            for ordinal in 0..wanted {
                let pod = format!("{name}-{ordinal}");
                let claim = format!("data-{pod}");
                if self.get(ChildKind::PersistentVolumeClaim, &claim).is_none() {
                    let mut made = set["spec"]["volumeClaimTemplates"][0].clone();
                    made["metadata"]["name"] = json!(claim);
                    self.insert(&ChildRef { kind: ChildKind::PersistentVolumeClaim, name: claim }, &made);
                }
                if self.get(ChildKind::Pod, &pod).is_none() {
                    if self.has(Trouble::Quota) {
                        continue;
                    }
                    let mut labels = set["spec"]["template"]["metadata"]["labels"].clone();
                    labels["controller-revision-hash"] = json!(revision);
                    labels["test/set"] = json!("yes");
                    let made = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": pod, "labels": labels, "annotations": { "test/told": self.told_primary() } } });
                    self.insert(&ChildRef { kind: ChildKind::Pod, name: pod.clone() }, &made);
                }
                self.server_runs(&pod, u32::try_from(ordinal).expect("a small number"));
            }
            let set = self.things.get_mut(&(ChildKind::StatefulSet, name)).expect("a set");
            set["status"] = json!({ "replicas": wanted, "observedGeneration": set["metadata"]["generation"], "updateRevision": revision });
        }
    }

    fn told_primary(&self) -> String {
        let told = self.things.iter().find(|((kind, name), _)| *kind == ChildKind::ConfigMap && name.ends_with("-topology"));
        told.and_then(|(_, map)| map["data"]["primary"].as_str()).unwrap_or_default().to_owned()
    }

    fn fenced(&self) -> String {
        let told = self.things.iter().find(|((kind, name), _)| *kind == ChildKind::ConfigMap && name.ends_with("-topology"));
        told.and_then(|(_, map)| map["data"]["fenced"].as_str()).unwrap_or_default().to_owned()
    }

    /// From now on, and as long as its pod is not made of another template, the server of this ordinal ends so at each start.
    pub fn crashes(&mut self, ordinal: u32, last_words: &str) {
        let pod = self.get(ChildKind::Pod, &format!("db-{ordinal}")).expect("a pod");
        let revision = pod["metadata"]["labels"]["controller-revision-hash"].clone();
        self.crashing.insert(ordinal, (revision, last_words.to_owned()));
    }

    /// The API server's data is what it was then; volumes and clocks are not, and every pod begins anew.
    pub fn put_back(&mut self, then: &Cluster) {
        self.object.clone_from(&then.object);
        self.things.clone_from(&then.things);
        self.things.retain(|(kind, _), _| *kind != ChildKind::Pod);
    }

    fn told_epoch(&self) -> u32 {
        let told = self.things.iter().find(|((kind, name), _)| *kind == ChildKind::ConfigMap && name.ends_with("-topology"));
        told.and_then(|(_, map)| map["data"]["epoch"].as_str()?.parse().ok()).unwrap_or_default()
    }

    /// The uid of the claim of a server's volume.
    fn volume(&self, ordinal: u32) -> Option<String> {
        let claim = self.get(ChildKind::PersistentVolumeClaim, &format!("data-db-{ordinal}"))?;
        claim["metadata"]["uid"].as_str().map(ToOwned::to_owned)
    }

    /// What a server says whose volume has seen more than it is told; one that runs does not look.
    fn is_told_less(&self, ordinal: u32) -> Option<String> {
        let pod = self.get(ChildKind::Pod, &format!("db-{ordinal}"))?;
        let (epoch, is_primary, primary) = self.markers.get(&self.volume(ordinal)?)?;
        let (told, role) = (self.told_epoch(), if *is_primary { "primary" } else { "replica" });
        let starts = pod["status"]["conditions"][0]["status"] != "True";
        let marker = format!("epoch={epoch} role={role} primary={primary} systemid={SYSTEM}");
        let words = format!("the volume has seen epoch {epoch} and the topology says {told}; {marker}");
        (starts && *epoch > told).then(|| format!("STALE_CONFIG: {words}"))
    }

    fn last_words(&self, ordinal: u32) -> Option<String> {
        if let Some(words) = self.is_told_less(ordinal) {
            return Some(words);
        }
        let (revision, words) = self.crashing.get(&ordinal)?;
        let pod = self.get(ChildKind::Pod, &format!("db-{ordinal}"))?;
        (pod["metadata"]["labels"]["controller-revision-hash"] == *revision).then(|| words.clone())
    }

    /// A server is ready where what it was at its start is what it is to be.
    fn server_runs(&mut self, name: &str, ordinal: u32) {
        let (now, told) = (self.others_now(), self.told_primary());
        let (epoch, volume) = (self.told_epoch(), self.volume(ordinal));
        let last_words = self.last_words(ordinal);
        let waits = told.parse().is_ok_and(|primary| self.last_words(primary).is_some() || self.waits_for(primary, ordinal));
        let away = waits || self.away.contains(&ordinal) || last_words.is_some();
        let fenced = told.is_empty() && self.fenced() == ordinal.to_string();
        let complete: Vec<String> =
            (0..3).filter(|other| *other != ordinal && !self.behind.contains(other)).map(|other| other.to_string()).collect();
        let pod = self.things.get_mut(&(ChildKind::Pod, name.to_owned())).expect("a pod");
        if pod["metadata"]["annotations"]["test/told"] == json!("") && !told.is_empty() {
            // Its container starts again and again until somebody is named.
            pod["metadata"]["annotations"]["test/told"] = json!(told);
            pod["status"]["containerStatuses"] = json!([]);
        }
        let me = ordinal.to_string();
        if !told.is_empty() && (told == me) != (pod["metadata"]["annotations"]["test/told"] == json!(me)) {
            // Only a start makes another of it: after a few of its probes it ends itself.
            let probes = format!("{}.", pod["metadata"]["annotations"]["test/probes"].as_str().unwrap_or_default());
            pod["metadata"]["annotations"]["test/probes"] = json!(probes);
            if probes.len() > 4 {
                pod["metadata"]["annotations"]["test/told"] = json!(told);
            }
        }
        let at_start = pod["metadata"]["annotations"]["test/told"].as_str().unwrap_or_default().to_owned();
        let refuses = fenced && at_start.is_empty();
        let runs = !self.away.contains(&ordinal) && !refuses && last_words.is_none();
        if refuses {
            let how = if self.troubles.contains(&Trouble::Crash) {
                "UNCLEAN: this server was it, and did not end cleanly".to_owned()
            } else {
                format!("FENCED: this server was it, and waits; complete={}", complete.join(","))
            };
            pod["metadata"]["annotations"]["test/said"] = json!(how);
            let end = json!({ "terminated": { "exitCode": 3, "message": how } });
            pod["status"]["containerStatuses"] = container("postgresql", 1, &end);
        }
        if let Some(message) = last_words {
            let (again, before) =
                (json!({ "waiting": { "reason": "CrashLoopBackOff" } }), json!({ "terminated": { "exitCode": 3, "message": message } }));
            let server = json!({ "name": "postgresql", "ready": false, "restartCount": 9, "image": "", "imageID": "", "state": again, "lastState": before });
            pod["status"]["containerStatuses"] = json!([server]);
        } else if pod["status"]["containerStatuses"][0]["restartCount"] == 9 {
            pod["status"]["containerStatuses"] = json!([]);
        }
        let fits = (at_start == me) == (told == me) && !away && !refuses;
        if fits && told == me && pod["metadata"]["annotations"]["test/said"].is_string() {
            self.troubles.remove(&Trouble::Crash);
        }
        if runs && pod["status"]["containerStatuses"][0].is_null() {
            let state = json!({ "running": { "startedAt": now } });
            pod["status"]["containerStatuses"] = container("postgresql", 0, &state);
        }
        if !pod["status"]["containerStatuses"][0]["state"]["running"].is_null() {
            pod["status"]["containerStatuses"][0]["ready"] = json!(fits);
        }
        if let Some(volume) = volume.filter(|_| fits) {
            self.markers.insert(volume, (epoch, told == me, told));
        }
        let ready = if fits { "True" } else { "False" };
        if pod["status"]["conditions"][0]["status"] != json!(ready) {
            pod["status"]["conditions"] = json!([{ "type": "Ready", "status": ready, "lastTransitionTime": now }]);
        }
    }

    /// One that was a primary follows another only once that one says what it became: until then it waits.
    fn waits_for(&self, primary: u32, ordinal: u32) -> bool {
        let marker = |ordinal| self.markers.get(&self.volume(ordinal)?);
        let is_of = |marker: Option<&(u32, bool, String)>, now: bool| {
            marker.is_some_and(|(epoch, is_primary, _)| *is_primary && (*epoch >= self.told_epoch()) == now)
        };
        primary != ordinal && is_of(marker(ordinal), false) && !is_of(marker(primary), true)
    }

    /// The time as controllers and kubelets write it.
    fn others_now(&self) -> String {
        (self.now + self.others_ahead).to_string()
    }

    fn jobs_run(&mut self) {
        for name in self.names(ChildKind::Job) {
            let now = self.others_now();
            let job = self.things.get_mut(&(ChildKind::Job, name.clone())).expect("a job");
            if job["status"]["startTime"].is_null() {
                job["status"]["startTime"] = json!(now);
            }
            let job = self.get(ChildKind::Job, &name).expect("a job").clone();
            if !job["status"]["conditions"].is_null() || self.waits(&job) || self.has(Trouble::Quota) {
                continue;
            }
            let script = job["spec"]["template"]["spec"]["containers"][0]["command"][1].as_str().unwrap_or_default();
            let runs = self.has(Trouble::MuchData) && ["dump.sh", "restore.sh"].iter().any(|long| script.ends_with(long));
            let (well, line) = self.said(&job);
            if self.has(Trouble::Mesh) {
                self.runs_in_a_mesh(&name, &job, (!runs).then_some((well, &line)));
                continue;
            }
            let ended = if well { "Succeeded" } else { "Failed" };
            let pod = self.pod_of(&job);
            let key = (ChildKind::Pod, pod.clone());
            // Its controller tells of its end a moment after the pod.
            if runs || self.things.get(&key).is_none_or(|pod| pod["status"]["phase"] != ended) {
                let mut labels = job["spec"]["template"]["metadata"]["labels"].clone();
                labels["batch.kubernetes.io/job-name"] = json!(name);
                let state = json!({ "terminated": { "exitCode": if well { 0 } else { 3 }, "message": line } });
                let container = container("job", 0, &state);
                let status = if runs { json!({ "phase": "Running" }) } else { json!({ "phase": ended, "containerStatuses": container }) };
                let metadata = json!({ "name": pod, "labels": labels, "ownerReferences": [controls(&job)] });
                let made = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": status });
                self.insert(&ChildRef { kind: ChildKind::Pod, name: pod }, &made);
                continue;
            }
            let kind = if well { "Complete" } else { "Failed" };
            let job = self.things.get_mut(&(ChildKind::Job, name)).expect("a job");
            let start = job["status"]["startTime"].clone();
            job["status"] = json!({ "startTime": start, "completionTime": if well { json!(now) } else { Value::Null }, "conditions": [{ "type": kind, "status": "True", "lastTransitionTime": now }] });
        }
    }

    /// The name of a Job's pod: another one where that of an earlier Job of its name is still on its way out.
    pub fn pod_of(&self, job: &Value) -> String {
        let name = format!("{}-x", job["metadata"]["name"].as_str().expect("a name"));
        let of = |pod: &Value| pod["metadata"]["ownerReferences"][0]["uid"].clone();
        let is_anothers = self.get(ChildKind::Pod, &name).is_some_and(|pod| of(pod) != job["metadata"]["uid"]);
        if is_anothers { format!("{name}{}", job["metadata"]["uid"].as_str().expect("a uid").trim_start_matches(['0', '-'])) } else { name }
    }

    /// Does a server have to read settings that nobody has told its kubelet of?
    fn waits(&self, job: &Value) -> bool {
        let mark = variable(job, "POINTSMAN_GENERATION");
        let told = |pod: &Value| mark.strip_prefix('g') == pod["metadata"]["annotations"]["pointsman.dev/settings"].as_str();
        let peers = variable(job, "POINTSMAN_PEERS");
        let ordinals = peers.split_whitespace().filter_map(|peer| peer.split('=').next());
        let mut pods = ordinals.filter_map(|ordinal| self.get(ChildKind::Pod, &format!("db-{ordinal}")));
        !mark.is_empty() && !pods.all(told)
    }

    /// What the script of a Job says.
    fn said(&self, job: &Value) -> (bool, String) {
        let container = &job["spec"]["template"]["spec"]["containers"][0];
        let script = container["command"][1].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
        if let Some(said) = self.says.get(&script) {
            return said.clone();
        }
        let image = container["image"].as_str().unwrap_or_default();
        let major: u32 = image.rsplit(':').next().and_then(|tag| tag.split('.').next()?.parse().ok()).unwrap_or(17);
        let version = major * 10_000 + 11;
        let dump = format!("OK folder=snapshot-20260102T030405Z bytes=4096 sha256={} version={version} systemid={SYSTEM}", "0a".repeat(32));
        let line = match script.as_str() {
            "probe.sh" => {
                let setting = |name: &str| if name == "max_connections" { "poi,,1,262143" } else { "usi,kB,64,2147483647" };
                let asked = variable(job, "POINTSMAN_SETTINGS");
                let settings: Vec<&str> = asked.split_whitespace().map(setting).collect();
                let extensions = "a".repeat(variable(job, "POINTSMAN_EXTENSIONS").split_whitespace().count());
                format!("OK version={version} settings={} extensions={extensions}", settings.join(";"))
            }
            "init.sh" => format!("OK systemid={SYSTEM} version={version}"),
            "generation.sh" => {
                let peers = variable(job, "POINTSMAN_PEERS");
                let peers = peers.split_whitespace().filter_map(|peer| peer.split('=').next());
                let mark = variable(job, "POINTSMAN_GENERATION");
                let said: Vec<String> = peers.map(|peer| format!("{peer}={mark},replica,{version},0/3000060,0,{SYSTEM}")).collect();
                format!("OK {}", said.join(" "))
            }
            _ => dump,
        };
        (true, line)
    }
}

/// What a Job is to its pods.
pub fn controls(job: &Value) -> Value {
    json!({ "apiVersion": "batch/v1", "kind": "Job", "name": job["metadata"]["name"], "uid": job["metadata"]["uid"], "controller": true })
}

/// A variable in the environment of a Job.
fn variable(job: &Value, name: &str) -> String {
    let all = job["spec"]["template"]["spec"]["containers"][0]["env"].as_array().into_iter().flatten();
    all.filter(|one| one["name"] == name).find_map(|one| one["value"].as_str()).unwrap_or_default().to_owned()
}

/// Where an observation finds things: in what stands.
pub struct Things<'a>(pub &'a Cluster, pub View);

/// How much is seen of the cluster.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// What the watches have told, and kept of it.
    Cached,
    /// All that the API server has.
    Live,
}

impl Things<'_> {
    fn owner(&self) -> String {
        self.0.object.as_ref().and_then(ResourceExt::uid).unwrap_or_default()
    }

    fn every<T: Child>(&self) -> Vec<Arc<T>> {
        let these = self.0.things.iter().filter(|((kind, name), _)| *kind == T::KIND && self.sees(T::KIND, name));
        these.map(|(_, thing)| Arc::new(self.typed(thing))).collect()
    }

    fn typed<T: Child>(&self, thing: &Value) -> T {
        let mut one = typed(thing);
        if self.1 == View::Cached {
            kept::child(&mut one);
        }
        one
    }

    fn sees(&self, kind: ChildKind, name: &str) -> bool {
        self.1 == View::Live || !self.0.unseen.contains(&(kind, name.to_owned()))
    }
}

/// The statuses of a pod whose one container is not ready.
pub fn container(name: &str, restarts: u32, state: &Value) -> Value {
    json!([{ "name": name, "ready": false, "restartCount": restarts, "image": "", "imageID": "", "state": state }])
}

/// Has it the label of what is watched?
fn is_watched(one: &impl ResourceExt) -> bool {
    one.labels().contains_key(MANAGED_BY.0)
}

fn typed<T: DeserializeOwned>(thing: &Value) -> T {
    serde_json::from_value(thing.clone()).unwrap_or_else(|error| panic!("{error}: {thing}"))
}

impl Lookup for Things<'_> {
    fn slot<T: Child>(&self, name: &str) -> Slot<T> {
        match self.0.get(T::KIND, name).filter(|_| self.sees(T::KIND, name)) {
            None => Slot::Free,
            Some(thing) => {
                let one: T = self.typed(thing);
                if belongs(&one, &self.owner()) {
                    let unlabelled = Slot::Unlabelled { uid: one.uid().unwrap_or_default(), bare: one.labels().is_empty() };
                    return if is_watched(&one) { Slot::Ours(Arc::new(one)) } else { unlabelled };
                }
                let left = is_left_by(&one, "db", "Database");
                Slot::Foreign { uid: one.uid().unwrap_or_default(), owner: None, left }
            }
        }
    }

    fn shared<T: Child>(&self, name: &str) -> Slot<T> {
        let shared = self.0.get(T::KIND, name).filter(|_| self.sees(T::KIND, name)).map(|thing| self.typed::<T>(thing));
        shared.filter(is_shared).map_or_else(|| self.slot(name), |one| Slot::Ours(Arc::new(one)))
    }

    fn read<T: Readable>(&self, name: &str) -> Reading<T> {
        let thing = match T::KIND {
            ReadKind::Namespace => json!({ "metadata": { "name": name } }),
            ReadKind::Secret | ReadKind::StorageClass => return Reading::Absent,
        };
        Reading::Found(Arc::new(typed(&thing)))
    }

    fn read_all<T: Readable>(&self) -> Reading<Vec<Arc<T>>> {
        let class =
            json!({ "metadata": { "name": "standard" }, "provisioner": "p", "allowVolumeExpansion": !self.0.has(Trouble::RigidClass) });
        Reading::Found(Arc::new(vec![Arc::new(typed(&class))]))
    }

    fn all<T: Child>(&self) -> Vec<Arc<T>> {
        self.every::<T>().into_iter().filter(|one| is_watched(one.as_ref()) && belongs(one.as_ref(), &self.owner())).collect()
    }

    fn unlabelled<T: Child>(&self) -> Vec<(String, Slot<T>)> {
        let lost = self.every::<T>().into_iter().filter(|one| !is_watched(one.as_ref()) && belongs(one.as_ref(), &self.owner()));
        lost.map(|one| (one.name_any(), Slot::Unlabelled { uid: one.uid().unwrap_or_default(), bare: one.labels().is_empty() })).collect()
    }

    fn below<T: Child>(&self, parent: &str) -> Vec<Arc<T>> {
        let controlled = |one: &Arc<T>| controller(one.as_ref()).is_some_and(|controller| controller.uid == parent);
        let labelled = |one: &Arc<T>| labelled_owner(one.as_ref()) == Some(&self.owner());
        self.every::<T>().into_iter().filter(|one| is_watched(one.as_ref()) && controlled(one) && labelled(one)).collect()
    }

    fn pods(&self) -> Vec<Arc<Pod>> {
        let object = self.0.object.as_ref().expect("an object");
        self.labelled_pods(&pointsman::kinds::database::children::selector(object))
    }

    fn labelled_pods(&self, labels: &Strings) -> Vec<Arc<Pod>> {
        let fits = |pod: &Arc<Pod>| labels.iter().all(|(key, value)| pod.labels().get(key) == Some(value));
        let mut pods: Vec<Arc<Pod>> = self.every::<Pod>().into_iter().filter(fits).collect();
        if self.1 == View::Cached {
            for pod in &mut pods {
                kept::pod(Arc::make_mut(pod));
            }
        }
        pods
    }
}
