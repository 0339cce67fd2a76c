//! The Jobs, and the CronJob of the backups: each runs one script, and says in its last line what came of it.
//!
//! A Job cannot be changed. It is made under the name of its work, and under another where a person has answered `retry`,
//! so that the one that failed stays for them to look at. [`ASKED`] tells whether a Job that is there was asked the same:
//! one that was asked something else has to go before this one can be made.

use super::configuration;
use super::meshes;
use super::names::{self, Work};
use super::network;
use super::pod::{self, Mount, variable};
use super::topology::peers;
use super::{RENDERER, job_labels, namespace};
use crate::kinds::database::object::parts::RestoreFrom;
use crate::kinds::database::object::v1::Database as Object;
use crate::kinds::database::plan::Plan;
use crate::kinds::digest;
use crate::kinds::pod_template::Strings;
use crate::kinds::rendered::{OWNER_UID, Rendered};
use k8s_openapi::api::batch::v1::{CronJob, Job};
use kube::ResourceExt;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// On each Job: a digest of image, script, environment, volumes and claim; and of its place, where it is harmless to begin anew.
pub const ASKED: &str = "pointsman.dev/asked";
/// Where a Job finds the primary.
const HOST: &str = "PGHOST";
/// The name of the container.
pub const CONTAINER: &str = "job";

/// Seconds that a dump may take, or what brings one back.
pub const DUMP_SECONDS: i64 = 6 * 60 * 60;
/// Seconds that a backup may begin late.
const LATE_SECONDS: i64 = 60 * 60;
/// Seconds that a Job stays to be looked at once it has ended.
const SHOWN_SECONDS: i64 = 24 * 60 * 60;
/// Finished backups that stay to be looked at, of each kind.
const HISTORY: i32 = 3;
/// What an image may write when it is probed: a fresh cluster, and its log of writes.
const SCRATCH: &str = "256Mi";
/// What a Job is sure to have; it waits for the server most of the time.
const REQUESTS: (&str, &str) = ("50m", "128Mi");

/// One attempt at a piece of work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// The id of the question that was answered with another attempt.
    pub question: Option<String>,
    /// Seconds that it may take.
    pub seconds: i64,
    /// Has the claim of the dumps to get its volume by it, since a StorageClass gives none before somebody uses it? So what is
    /// wrong with that shows on the first day, and not on the last.
    pub binds: bool,
    /// The uid of the claim that a last dump is to be written to: into another one of its name another dump is written.
    pub claim: Option<String>,
}

/// What a Job does.
struct Task {
    component: &'static str,
    script: &'static str,
    environment: Vec<Value>,
    mounts: Vec<Mount>,
    /// How often it is tried anew, where a pod fails.
    retries: i32,
    /// May it be stopped at any time, and begun anew: where its pods are to be placed otherwise, say?
    harmless: bool,
}

/// The Job that makes role, database and extensions.
pub fn init(object: &Object, plan: &Plan, attempt: &Attempt) -> Rendered {
    let extensions: Vec<&str> = plan.extensions.iter().map(String::as_str).collect();
    let mut environment = asking(object, plan);
    environment.push(variable("POINTSMAN_EXTENSIONS", &extensions.join("\n")));
    let mounts = vec![Mount::internal(object, &["superuser-password", "app-verifier"])];
    let mut task = Task { component: "init", script: "init.sh", environment, mounts, retries: 2, harmless: false };
    let asked = asked(plan, &task, attempt);
    if attempt.binds {
        task.mounts.push(Mount::backups(&names::backups(&object.name_any()), false));
    }
    // It is the same Job once the claim is bound.
    owned(object, plan, Work::Init, &task, attempt).annotated(&asked)
}

/// The Job that looks into the plan's image.
pub fn probe(object: &Object, plan: &Plan, attempt: &Attempt) -> Rendered {
    let extensions: Vec<&str> = plan.extensions.iter().map(String::as_str).collect();
    let environment = vec![
        variable("POINTSMAN_SETTINGS", &configuration::asked(&plan.parameters)),
        // Kubernetes reads $(NAME) in a value as a variable.
        variable("POINTSMAN_CONFIGURATION", &configuration::tried(&plan.parameters).replace('$', "$$")),
        variable("POINTSMAN_EXTENSIONS", &extensions.join(" ")),
    ];
    let task =
        Task { component: "probe", script: "probe.sh", environment, mounts: vec![Mount::scratch(SCRATCH)], retries: 2, harmless: true };
    owned(object, plan, Work::Probe, &task, attempt)
}

/// The Job that brings a backup back.
pub fn restore(object: &Object, plan: &Plan, from: &RestoreFrom, attempt: &Attempt) -> Rendered {
    let mut environment = asking(object, plan);
    environment.extend(from.file.iter().map(|folder| variable("POINTSMAN_FOLDER", folder)));
    let mounts = vec![superuser(object), Mount::backups(&from.claim_name, true)];
    let task = Task { component: "restore", script: "restore.sh", environment, mounts, retries: 1, harmless: false };
    owned(object, plan, Work::Restore, &task, attempt)
}

/// The Job that waits until each server has read the settings of this mark, and tells how far it is.
pub fn generation(object: &Object, plan: &Plan, of: &BTreeMap<u32, String>, mark: i64, attempt: &Attempt) -> Rendered {
    let mut environment = asking(object, plan);
    environment.push(variable("POINTSMAN_PEERS", &peers(of)));
    environment.push(variable("POINTSMAN_GENERATION", &format!("g{mark}")));
    let task =
        Task { component: "generation", script: "generation.sh", environment, mounts: vec![superuser(object)], retries: 2, harmless: true };
    owned(object, plan, Work::Generation, &task, attempt)
}

/// The Job of the last dump. Nothing but the operator removes it: the object's end waits for it.
/// It asks the primary by its own name, since the Services lead nobody there meanwhile.
pub fn snapshot(object: &Object, plan: &Plan, primary: Option<u32>, attempt: &Attempt) -> Rendered {
    let mut task = dump(object, plan, "snapshot");
    if let Some(primary) = primary {
        task.environment.retain(|one| one["name"] != HOST);
        task.environment.push(variable(HOST, &network::host(object, primary)));
    }
    // A backup that is being made is waited for.
    task.environment.push(variable("POINTSMAN_WAIT", &DUMP_SECONDS.to_string()));
    let (name, labels) = (name(object, Work::Snapshot, attempt), job_labels(object, task.component));
    Rendered::kept::<Job>(object, &name, &labels, json!({ "spec": spec(object, plan, &task, attempt.seconds) }))
        .annotated(&asked(plan, &task, attempt))
}

/// The CronJob of the backups, where there is a schedule; `held` where none may start now, whatever the plan says.
pub fn backups(object: &Object, plan: &Plan, held: bool) -> Option<Rendered> {
    let schedule = plan.backup.schedule.as_ref()?;
    let mut task = dump(object, plan, "backup");
    task.environment.push(variable("POINTSMAN_RETAIN", &plan.backup.retain.to_string()));
    let mut labels = job_labels(object, task.component);
    labels.insert(OWNER_UID.to_owned(), object.uid().unwrap_or_default());
    let body = json!({
        "spec": {
            "schedule": schedule.line(),
            "timeZone": schedule.zone(),
            "suspend": plan.backup.suspend || held,
            "concurrencyPolicy": "Forbid",
            "startingDeadlineSeconds": LATE_SECONDS,
            "successfulJobsHistoryLimit": HISTORY,
            "failedJobsHistoryLimit": HISTORY,
            "jobTemplate": { "metadata": { "labels": labels }, "spec": spec(object, plan, &task, DUMP_SECONDS) },
        },
    });
    let name = names::own(&object.name_any());
    Some(Rendered::owned::<CronJob>(object, &name, &job_labels(object, task.component), body))
}

/// Was a Job that is there asked the same?
pub fn is_asked_so(live: &Job, rendered: &Rendered) -> bool {
    live.annotations().get(ASKED).map(String::as_str) == rendered.object["metadata"]["annotations"][ASKED].as_str()
}

fn dump(object: &Object, plan: &Plan, kind: &'static str) -> Task {
    let mut environment = asking(object, plan);
    environment.push(variable("POINTSMAN_DUMP", kind));
    let mounts = vec![superuser(object), Mount::backups(&names::backups(&object.name_any()), false)];
    Task { component: kind, script: "dump.sh", environment, mounts, retries: 1, harmless: false }
}

/// How a Job reaches the primary, and which database it is about.
fn asking(object: &Object, plan: &Plan) -> Vec<Value> {
    let host = format!("{}.{}.svc", names::own(&object.name_any()), namespace(object));
    vec![variable(HOST, &host), variable("PGPORT", &plan.port.to_string()), variable("POINTSMAN_DATABASE", &plan.database)]
}

fn superuser(object: &Object) -> Mount {
    Mount::internal(object, &["superuser-password"])
}

fn name(object: &Object, work: Work, attempt: &Attempt) -> String {
    names::job(&object.name_any(), work, attempt.question.as_deref())
}

fn owned(object: &Object, plan: &Plan, work: Work, task: &Task, attempt: &Attempt) -> Rendered {
    let (name, mut labels) = (name(object, work, attempt), job_labels(object, task.component));
    // By it those of earlier attempts are found, too.
    labels.insert(OWNER_UID.to_owned(), object.uid().unwrap_or_default());
    let mut job = json!({ "spec": spec(object, plan, task, attempt.seconds) });
    // What one that fills the database has said is not to be had again.
    if !work.is_long() {
        job["spec"]["ttlSecondsAfterFinished"] = json!(SHOWN_SECONDS);
    }
    Rendered::owned::<Job>(object, &name, &labels, job).annotated(&asked(plan, task, attempt))
}

fn asked(plan: &Plan, task: &Task, attempt: &Attempt) -> Strings {
    let mut asked = vec![json!(plan.template.image), json!(task.script), json!(task.environment), json!(pod::volumes(&task.mounts))];
    asked.extend(task.harmless.then(|| json!(pod::placed(&plan.template.pod_template))));
    asked.extend(attempt.claim.as_ref().map(|uid| json!(uid)));
    [(ASKED.to_owned(), digest::of(&asked))].into()
}

/// Failed pods stay, to be looked at; one that had to leave its node has not failed.
fn spec(object: &Object, plan: &Plan, task: &Task, seconds: i64) -> Value {
    json!({
        "backoffLimit": task.retries,
        "activeDeadlineSeconds": seconds,
        "podReplacementPolicy": "Failed",
        "podFailurePolicy": { "rules": [
            { "action": "Ignore", "onPodConditions": [{ "type": "DisruptionTarget", "status": "True" }] },
        ] },
        "template": pod_template(object, plan, task),
    })
}

fn pod_template(object: &Object, plan: &Plan, task: &Task) -> Value {
    let common = [Mount::scripts(), Mount::memory("run", "/pointsman/run")];
    let mut volumes = pod::volumes(&common);
    volumes.extend(pod::volumes(&task.mounts));
    let mut mounts = pod::volume_mounts(&common);
    mounts.extend(pod::volume_mounts(&task.mounts));
    let (cpu, memory) = REQUESTS;
    let container = json!({
        "name": CONTAINER,
        "image": plan.template.image,
        "command": pod::command(task.script),
        "env": task.environment,
        "resources": { "requests": { "cpu": cpu, "memory": memory } },
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "securityContext": pod::container_security(),
        "volumeMounts": mounts,
    });
    let ours = json!({
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "restartPolicy": "Never",
        "securityContext": pod::security(),
        "containers": [container],
        "volumes": volumes,
    });
    let (mut users, mut labels) = (pod::placed(&plan.template.pod_template), job_labels(object, task.component));
    meshes::decline(&mut users.metadata.get_or_insert_default().annotations, &mut labels);
    users.around(RENDERER, labels, ours)
}
