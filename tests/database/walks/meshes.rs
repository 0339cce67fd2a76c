//! Jobs into whose pods a service mesh has put a container that runs for ever: what counts is what their own container says.

use super::cluster::{Cluster, Trouble, controls};
use super::life::{Life, path};
use pointsman::kinds::database::Phase;
use pointsman::kinds::order::{ChildKind, ChildRef};
use pointsman::machine::Word as _;
use serde_json::{Value, json};

const JOB_NAME: &str = "batch.kubernetes.io/job-name";

impl Cluster {
    /// The Job's own container ends so, or runs on; the other one runs on, and with it the pod. Its controller makes pods until
    /// more have failed than may.
    pub fn runs_in_a_mesh(&mut self, name: &str, job: &Value, ended: Option<(bool, &String)>) {
        let failed = job["status"]["failed"].as_i64().unwrap_or_default();
        let key = (ChildKind::Job, name.to_owned());
        if failed > job["spec"]["backoffLimit"].as_i64().expect("a limit") {
            let end =
                json!({ "type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "lastTransitionTime": self.now.to_string() });
            self.things.get_mut(&key).expect("a Job")["status"]["conditions"] = json!([end]);
            return;
        }
        let pod = ChildRef { kind: ChildKind::Pod, name: self.pod_of(job) };
        if self.get(pod.kind, &pod.name).is_some() {
            return;
        }
        let now = self.now.to_string();
        let running = json!({ "running": { "startedAt": now } });
        let state = ended.map_or(running.clone(), |(well, line)| {
            json!({ "terminated": { "exitCode": if well { 0 } else { 3 }, "message": line, "startedAt": now, "finishedAt": now } })
        });
        let container = |name: &str, state: &Value| json!({ "name": name, "ready": state["terminated"].is_null(), "restartCount": 0, "image": "", "imageID": "", "state": state });
        let mut labels = job["spec"]["template"]["metadata"]["labels"].clone();
        labels[JOB_NAME] = json!(name);
        let statuses = [container("mesh-proxy", &running), container("job", &state)];
        let made = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": pod.name, "labels": labels, "ownerReferences": [controls(job)] }, "spec": { "containers": [], "restartPolicy": "Never" }, "status": { "phase": "Running", "containerStatuses": statuses },
        });
        self.insert(&pod, &made);
    }

    /// A Job's pod that is removed while a container of it runs has failed, where its Job is there still.
    pub fn counts_a_failure(&mut self, kind: ChildKind, name: &str) {
        let pod = self.get(kind, name).filter(|thing| kind == ChildKind::Pod && thing["status"]["phase"] == "Running");
        let Some(job) = pod.and_then(|pod| pod["metadata"]["labels"][JOB_NAME].as_str()).map(str::to_owned) else { return };
        if let Some(job) = self.things.get_mut(&(ChildKind::Job, job)) {
            job["status"]["failed"] = json!(job["status"]["failed"].as_i64().unwrap_or_default() + 1);
        }
    }

    /// Makes a backup now, as its schedule would.
    fn backs_up(&mut self, name: &str) {
        let schedule = self.get(ChildKind::CronJob, "db").expect("a schedule").clone();
        let mut job = schedule["spec"]["jobTemplate"].clone();
        let owner =
            json!({ "apiVersion": "batch/v1", "kind": "CronJob", "name": "db", "uid": schedule["metadata"]["uid"], "controller": true });
        job["metadata"]["name"] = json!(name);
        job["metadata"]["ownerReferences"] = json!([owner]);
        self.insert(&ChildRef { kind: ChildKind::Job, name: name.to_owned() }, &job);
    }
}

/// One in a mesh that nobody has looked at yet.
fn unborn(fields: &Value) -> Life {
    let mut life = Life::unborn(fields);
    life.cluster.troubles.insert(Trouble::Mesh);
    life
}

/// What was done to a Job and its pod.
fn done_to(life: &Life, job: &str) -> Vec<String> {
    let names = [format!("Job {job}"), format!("Pod {job}-x")];
    life.cluster.done.iter().filter(|done| names.iter().any(|name| done.ends_with(name))).cloned().collect()
}

/// The pods of Jobs that are there.
fn pods_of_jobs(life: &Life) -> Vec<String> {
    let pods = life.cluster.names(ChildKind::Pod).into_iter();
    pods.filter(|name| life.cluster.get(ChildKind::Pod, name).is_some_and(|pod| !pod["metadata"]["labels"][JOB_NAME].is_null())).collect()
}

#[test]
fn each_job_is_done_once_and_leaves_no_pod() {
    let mut life = unborn(&json!({ "replicas": 2 }));
    life.settle();
    assert_eq!(life.path, path(&[Phase::Probing, Phase::Provisioning, Phase::Initializing, Phase::Provisioning, Phase::Ready]));
    for job in ["db-probe", "db-init"] {
        assert_eq!(done_to(&life, job), [format!("create Job {job}"), format!("delete Job {job}")]);
    }
    let way = life.edit(&json!({ "replicas": 2, "parameters": { "work_mem": "8MB" } }));
    assert_eq!(way, path(&[Phase::Probing, Phase::Restarting, Phase::Ready]));
    assert_eq!(done_to(&life, "db-generation"), ["create Job db-generation", "delete Job db-generation"]);
    assert_eq!(pods_of_jobs(&life), Vec::<String>::new());
    let way = life.delete();
    assert_eq!(way, path(&[Phase::SnapshottingBeforeDelete, Phase::Removing, Phase::Releasing]), "{:?}", life.cluster.done);
    assert_eq!(life.cluster.names(ChildKind::PersistentVolumeClaim), ["db-backups"]);
}

#[test]
fn a_backup_comes_back_once_and_nothing_is_made_beside_it() {
    let mut life = unborn(&json!({ "restoreFrom": { "claimName": "older" } }));
    life.settle();
    let way = [Phase::Probing, Phase::Provisioning, Phase::Restoring, Phase::Initializing, Phase::Provisioning, Phase::Ready];
    assert_eq!(life.path, path(&way), "{:?}", life.cluster.done);
    assert_eq!(done_to(&life, "db-restore"), ["create Job db-restore", "delete Job db-restore"]);
    let order = |what: &str| life.cluster.done.iter().position(|done| done == what).expect("it was done");
    assert!(order("delete Job db-restore") < order("create Job db-init"), "{:?}", life.cluster.done);
}

#[test]
fn an_attempt_that_fails_is_tried_again_as_often_as_without_a_mesh_and_then_asked_about() {
    let mut life = unborn(&json!({}));
    life.cluster.says.insert("init.sh".to_owned(), (false, "FAILED: psql: error: no".to_owned()));
    life.settle();
    let status = life.status();
    assert_eq!((life.state().as_str(), &status["reason"]), ("HumanIntervention", &json!("InitJobFailed")));
    assert!(status["intervention"]["message"].as_str().is_some_and(|said| said.contains("psql: error: no")), "{status}");
    // Three attempts, and none more once the question is asked.
    let pod = "delete Pod db-init-x";
    assert_eq!(done_to(&life, "db-init"), ["create Job db-init", pod, pod, pod]);
    assert_eq!(pods_of_jobs(&life), Vec::<String>::new());
    life.cluster.says.clear();
    assert_eq!(life.answer("retry"), path(&[Phase::Initializing, Phase::Provisioning, Phase::Ready]));
}

/// The pod is gone by then, and its words with it.
#[test]
fn a_time_that_is_over_between_two_attempts_is_told_with_the_words_of_the_last_one() {
    let mut life = unborn(&json!({}));
    life.cluster.says.insert("init.sh".to_owned(), (false, "FAILED: psql: error: no".to_owned()));
    life.until(|life| life.cluster.done.contains(&"delete Pod db-init-x".to_owned()));
    life.cluster.troubles.insert(Trouble::Quota);
    life.cluster.now += jiff::SignedDuration::from_mins(11);
    life.settle();
    let status = life.status();
    assert_eq!(status["reason"], "InitJobFailed", "{status}");
    assert!(status["intervention"]["message"].as_str().is_some_and(|said| said.contains("psql: error: no")), "{status}");
}

#[test]
fn a_last_dump_that_fails_is_asked_about_in_its_own_words() {
    let mut life = unborn(&json!({}));
    life.settle();
    life.cluster.says.insert("dump.sh".to_owned(), (false, "NO_SPACE: the volume is full".to_owned()));
    assert_eq!(life.delete(), path(&[Phase::SnapshottingBeforeDelete, Phase::RemovalBlocked]));
    assert!(life.status()["intervention"]["message"].as_str().is_some_and(|said| said.contains("the volume is full")));
    assert!(life.cluster.done.iter().all(|done| !done.starts_with("delete") || done.contains("db-snapshot-x")), "{:?}", life.cluster.done);
    assert_eq!(pods_of_jobs(&life), Vec::<String>::new());
    life.cluster.says.clear();
    assert_eq!(life.answer("retry"), path(&[Phase::SnapshottingBeforeDelete, Phase::Removing, Phase::Releasing]));
}

/// Whatever else its pod says: no volume goes for a dump that is still written, or that did not say what it wrote.
#[test]
fn a_dump_that_runs_or_says_nothing_is_no_dump() {
    for runs in [true, false] {
        let mut life = unborn(&json!({}));
        life.settle();
        if runs {
            life.cluster.troubles.insert(Trouble::MuchData);
        } else {
            life.cluster.says.insert("dump.sh".to_owned(), (true, "a line of the mesh".to_owned()));
        }
        let way = life.delete();
        assert_eq!(way[0], Phase::SnapshottingBeforeDelete.text());
        assert_eq!(way.get(1), (!runs).then(|| Phase::RemovalBlocked.text()).as_ref(), "runs: {runs}");
        assert!(life.status()["snapshot"].is_null(), "{}", life.status());
        assert!(life.cluster.done.iter().all(|done| !done.starts_with("delete")), "{:?}", life.cluster.done);
    }
}

/// As where the mesh's container ends badly once the Job's own is done.
#[test]
fn what_was_done_counts_although_the_pod_has_failed() {
    let mut life = unborn(&json!({}));
    life.until(|life| life.cluster.get(ChildKind::Pod, "db-init-x").is_some());
    let badly = json!({ "terminated": { "exitCode": 1 } });
    life.cluster.edit(ChildKind::Pod, "db-init-x", "/status/containerStatuses/0/state", badly);
    life.cluster.edit(ChildKind::Pod, "db-init-x", "/status/phase", json!("Failed"));
    life.settle();
    assert_eq!(life.state(), Phase::Ready.text(), "{:?}", life.path);
    assert_eq!(done_to(&life, "db-init"), ["create Job db-init", "delete Job db-init"]);
}

#[test]
fn a_backup_that_is_made_or_fails_keeps_no_other_from_being_made() {
    let mut life = unborn(&json!({ "backup": { "schedule": "0 2 * * *" } }));
    life.settle();
    life.cluster.backs_up("first");
    life.after();
    assert!(life.status()["backup"]["lastSuccess"].is_string(), "{}", life.status());
    assert_eq!(done_to(&life, "first"), ["delete Job first"]);
    life.cluster.says.insert("dump.sh".to_owned(), (false, "NO_SPACE: the volume is full".to_owned()));
    life.cluster.backs_up("second");
    life.after();
    assert!(life.status()["backup"]["lastFailure"].is_string(), "{}", life.status());
    assert_eq!(done_to(&life, "second"), ["delete Pod second-x", "delete Pod second-x"]);
    // While a question is open, backups go on.
    life.cluster.says.clear();
    life.cluster.remove(ChildKind::Secret, "db-app");
    life.settle();
    assert_eq!(life.state(), Phase::HumanIntervention.text());
    life.cluster.backs_up("third");
    life.after();
    assert_eq!(done_to(&life, "third"), ["delete Job third"]);
    assert_eq!(pods_of_jobs(&life), Vec::<String>::new());
}
