//! Real PostgreSQL: what is acknowledged is kept, whatever happens to pods, settings and the object.

pub mod kills;
mod lives;
mod load;
mod long_endings;
mod long_losses;
mod long_secrets;
mod long_settings;
mod losses;
mod meshes;
pub mod moves;
pub mod releases;
mod small;
mod volumes;

use crate::harness::certificates::text;
use crate::harness::{Answer, Space, Thing, eventually_or, passwords};
use serde_json::{Value, json};

/// Changes into the folder of PostgreSQL's own programs: those on PATH are slow wrappers in Debian's images.
const PROGRAMS: &str = r#"cd "$(dirname "$(readlink -f "$(command -v postgres)")")""#;
/// How long a server may take on a busy machine.
const SOON: u64 = 240;

/// Who serves: of each server's pod the uid and how often its container was restarted; the primary, and its epoch.
type Standing = (Vec<(String, u64)>, Value, Value);

/// A database of the test's own.
#[derive(Clone, Debug)]
pub struct Base<'a> {
    space: &'a Space,
    thing: Thing<'a>,
}

impl<'a> Base<'a> {
    /// The one of this name, there or not.
    fn of(space: &'a Space, name: &str) -> Self {
        Base { space, thing: space.db(name) }
    }

    /// Creates one with these fields beside the required ones, and waits for it.
    #[track_caller]
    fn ready(space: &'a Space, name: &str, fields: &Value) -> Self {
        // Beside Jobs, which are sure of some, a server that is sure of no CPU may stand still for seconds.
        let resources = json!({ "requests": { "cpu": "50m" } });
        let mut spec = json!({ "databaseName": "shop", "storage": { "size": "512Mi" }, "resources": resources });
        for (field, value) in fields.as_object().expect("fields") {
            spec[field] = value.clone();
        }
        let manifest = json!({ "apiVersion": "stable.imaginedata.com/v1", "kind": "Database", "metadata": { "name": name }, "spec": spec });
        space.apply(&manifest.to_string()).ok();
        let base = Base::of(space, name);
        base.comes();
        base
    }

    /// Waits for it, whoever applied it, and writes its passwords down.
    #[track_caller]
    fn comes(&self) {
        self.thing.ready_within(SOON);
        passwords::remember(&passwords::of(self.space, self.name()));
    }

    fn name(&self) -> &str {
        &self.thing.name
    }

    /// Runs SQL as an application does, with what its Secret says, against one of the Services.
    fn sql(&self, service: &str, sql: &str) -> Answer {
        self.sql_from(0, service, sql)
    }

    /// The same, out of the pod of this ordinal.
    fn sql_from(&self, ordinal: u64, service: &str, sql: &str) -> Answer {
        let secret = self.space.object(&format!("secret/{}-app", self.name()));
        let uri = text(secret["data"]["uri"].as_str().unwrap_or_default());
        let here = format!("@{}.{}.svc", self.name(), self.space.name);
        assert!(uri.contains(&here), "the URI leads elsewhere");
        let uri = uri.replacen(&here, &format!("@{service}.{}.svc", self.space.name), 1);
        // The password goes by standard input and the environment, so that it stands on no command line.
        let script = "read -r uri; PGPASSWORD=${uri#*://*:}; export PGPASSWORD=${PGPASSWORD%%@*} PGCONNECT_TIMEOUT=5; \
            psql \"${uri/:$PGPASSWORD@/@}\" -XAtq -v ON_ERROR_STOP=1 -f -";
        let pod = format!("{}-{ordinal}", self.name());
        let command = ["exec", "--stdin", &pod, "--container=postgresql", "--", "bash", "-c", script];
        self.space.kubectl_with(&command, &format!("{uri}\n{sql}\n"))
    }

    /// Runs PostgreSQL's own programs as the superuser, on the server of this ordinal.
    fn as_superuser(&self, ordinal: u64, script: &str, input: &str) -> Answer {
        let pod = format!("{}-{ordinal}", self.name());
        let script = format!("set -eo pipefail; {PROGRAMS}; export PGHOST=/pointsman/run PGUSER=postgres; {script}");
        self.space.kubectl_with(&["exec", "--stdin", &pod, "--container=postgresql", "--", "bash", "-c", &script], input)
    }

    /// Who serves just now.
    #[track_caller]
    fn standing(&self) -> Standing {
        let pods = (0..self.servers()).map(|ordinal| self.space.object(&format!("pod/{}-{ordinal}", self.name())));
        let topology = self.space.object(&format!("configmap/{}-topology", self.name()))["data"].clone();
        (pods.map(|pod| lived(&pod)).collect(), topology["primary"].clone(), topology["epoch"].clone())
    }

    /// Waits until a query answers so.
    #[track_caller]
    fn answers(&self, service: &str, sql: &str, expected: &str) {
        let said = || self.sql(service, sql);
        eventually_or(60, || said().out.trim() == expected, || format!("{service}: {sql} is not {expected}: {}", said().text()));
    }

    /// How many servers the spec asks for.
    #[track_caller]
    fn servers(&self) -> u64 {
        self.thing.seen()["spec"]["replicas"].as_u64().unwrap()
    }

    /// The name of one server.
    fn server(&self, ordinal: u64) -> String {
        format!("{0}-{ordinal}.{0}-pods", self.name())
    }

    /// Changes fields of the spec, and waits until it is ready as they say.
    #[track_caller]
    fn becomes(&self, spec: &str) {
        self.thing.patch(spec).ok();
        eventually_or(SOON, || self.thing.is_ready_as_asked(), || format!("{spec}: {:?}\n{:#}", self.thing.history(), self.thing.status()));
    }

    /// Its passwords are gone, and it asks what to do.
    #[track_caller]
    fn loses_passwords(&self) {
        self.space.kubectl(&["delete", &format!("secret/{}-internal", self.name())]).ok();
        // Nobody watches Secrets: they are read when a person says something.
        self.thing.annotate("example.com/looked=once");
        self.thing.reaches("HumanIntervention", SOON);
        assert_eq!(self.thing.status()["reason"], "CredentialsLost");
    }

    /// A user deletes it, and waits until it is gone.
    #[track_caller]
    fn goes(&self) {
        self.thing.kubectl("delete", &["--timeout=240s"]).ok();
    }
}

/// Does a pod say of itself that it is ready?
fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|one| one["type"] == "Ready" && one["status"] == "True")
}

/// A pod's uid, and how often its container was restarted.
fn lived(pod: &Value) -> (String, u64) {
    let restarts = pod["status"]["containerStatuses"][0]["restartCount"].as_u64().unwrap_or_default();
    (pod["metadata"]["uid"].as_str().unwrap_or_default().to_owned(), restarts)
}
