//! Flags and environment, parsed once.

mod flags;
mod reach;
mod values;

use crate::kinds::{Settings, of_each};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command};
pub use flags::{Described, described, settings_table};
pub use reach::reach;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
pub use values::{COUNT, LEVELS, LONGEST_DELAY, LogFormat, RATE, Source};

/// Everything that can be set from outside.
#[derive(Clone, Debug)]
pub struct Config {
    /// Namespaces whose objects are looked after; empty: all.
    pub watch_namespaces: Vec<String>,
    /// Settings of each kind, by its path.
    pub kinds: BTreeMap<&'static str, Settings>,
    /// How many objects are reconciled at once.
    pub concurrency: u16,
    /// Requests to the API server per second, on average.
    pub api_qps: f32,
    /// Requests to the API server that may go out at once.
    pub api_burst: u32,
    /// Where the webhooks listen.
    pub webhook_bind: SocketAddr,
    /// Where metrics are served.
    pub metrics_bind: SocketAddr,
    /// Where the kubelet asks.
    pub health_bind: SocketAddr,
    /// Does only one of several replicas act at a time?
    pub leader_election: bool,
    /// How long the lease of a leader that is gone lasts.
    pub lease_duration: Duration,
    /// How long a leader acts after its last renewal.
    pub lease_renew_deadline: Duration,
    /// Between two renewals.
    pub lease_retry: Duration,
    /// How long reviews are still answered, on new connections too, after it was told to stop. Without it 2 calls of 1,089
    /// failed on a node of its own; with 1 s none of 4,994. A larger cluster tells its nodes later.
    pub shutdown_delay: Duration,
    /// Who makes the certificates.
    pub certificates: Source,
    /// The operator's own namespace.
    pub namespace: String,
    /// The file that says how to reach the API server; absent: as every client finds it.
    pub kubeconfig: Option<PathBuf>,
    /// What is logged, as the directives of tracing's filter.
    pub log_level: String,
    /// How it is logged.
    pub log_format: LogFormat,
}

/// What the process is asked to do.
#[derive(Clone, Debug)]
pub enum Verb {
    /// Run the operator.
    Run(Box<Config>),
    /// Take the installation out of the cluster.
    Uninstall(Uninstall),
    /// Write every object anew in the stored version.
    MigrateStorage(MigrateStorage),
}

/// How the storage is migrated.
#[derive(Clone, Debug)]
pub struct MigrateStorage {
    /// Have the cluster migrate nothing by itself.
    pub rewrite_only: bool,
    /// The file that says how to reach the API server; absent: as every client finds it.
    pub kubeconfig: Option<PathBuf>,
}

/// How far an uninstallation goes.
#[derive(Clone, Debug)]
pub struct Uninstall {
    /// Remove, and do not only tell.
    pub yes: bool,
    /// Remove the objects of users too.
    pub objects: bool,
    /// The file that says how to reach the API server; absent: as every client finds it.
    pub kubeconfig: Option<PathBuf>,
}

impl Verb {
    /// Reads the process's arguments and environment; prints help, version or errors and ends the process.
    pub fn from_process() -> Self {
        let matches = command().get_matches();
        match matches.subcommand() {
            Some(("uninstall", set)) => Verb::Uninstall(Uninstall {
                yes: set.get_flag("yes"),
                objects: set.get_flag("remove-objects"),
                kubeconfig: set.get_one("kubeconfig").cloned(),
            }),
            Some(("migrate-storage", set)) => Verb::MigrateStorage(MigrateStorage {
                rewrite_only: set.get_flag("rewrite-only"),
                kubeconfig: set.get_one("kubeconfig").cloned(),
            }),
            _ => Verb::Run(Box::new(Config::from_process())),
        }
    }
}

impl Config {
    /// Reads the process's arguments and environment; prints help, version or errors and ends the process.
    pub fn from_process() -> Self {
        Self::parse(std::env::args_os()).unwrap_or_else(|fault| fault.exit())
    }

    /// Reads arguments, the program's name first, and the environment.
    ///
    /// # Errors
    /// What is wrong with them, or the help that they ask for.
    pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let matches = command().try_get_matches_from(args)?;
        // Plain `pointsman` runs the operator: that is what an image without arguments does.
        let set = matches.subcommand_matches("run").unwrap_or(&matches);
        let config = Self::of(set);
        values::each_deadline_once(&many(set, "deadline"))
            .and_then(|()| values::lease_times(config.lease_duration, config.lease_renew_deadline, config.lease_retry))
            .map_err(|fault| clap::Error::raw(ErrorKind::ValueValidation, format!("{fault}\n")).with_cmd(&command()))?;
        Ok(config)
    }

    fn of(set: &ArgMatches) -> Self {
        Config {
            watch_namespaces: many(set, "watch-namespaces"),
            kinds: kinds(set),
            concurrency: one(set, "concurrency"),
            api_qps: one(set, "api-qps"),
            api_burst: one(set, "api-burst"),
            webhook_bind: one(set, "webhook-bind"),
            metrics_bind: one(set, "metrics-bind"),
            health_bind: one(set, "health-bind"),
            leader_election: one(set, "leader-election"),
            lease_duration: one(set, "lease-duration"),
            lease_renew_deadline: one(set, "lease-renew-deadline"),
            lease_retry: one(set, "lease-retry"),
            shutdown_delay: one(set, "shutdown-delay"),
            certificates: one(set, "certificates"),
            namespace: set.get_one("namespace").cloned().unwrap_or_else(values::own_namespace),
            kubeconfig: set.get_one("kubeconfig").cloned(),
            log_level: one(set, "log-level"),
            log_format: one(set, "log-format"),
        }
    }
}

/// The program's command line.
pub fn command() -> Command {
    Command::new("pointsman")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A Kubernetes operator that is an explicit finite-state machine.")
        .after_help("Without a verb it runs the operator. Every setting has a flag and an environment variable; the flag wins.")
        .args_conflicts_with_subcommands(true)
        .args(flags::args())
        .subcommand(Command::new("run").about("Run the operator; the same as no verb").args(flags::args()))
        .subcommand(uninstall())
        .subcommand(migrate_storage())
}

fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn uninstall() -> Command {
    Command::new("uninstall")
        .about("Take the operator out of the cluster; objects of users stay unless their removal is asked for")
        .after_help("Without --yes it only tells what would go and what would stay.")
        .args([
            switch("yes", "remove, and do not only tell"),
            switch("remove-objects", "remove every object of the operator's kinds too, and with them their pods"),
        ])
        .args(only_kubeconfig())
}

fn migrate_storage() -> Command {
    Command::new("migrate-storage")
        .about("Write every object anew in the stored version, so that an older one can leave the definition")
        .after_help("It removes nothing and restarts nothing. It can be ended at any time; the same typed again goes on.")
        .arg(switch("rewrite-only", "do not have the cluster migrate by a StorageVersionMigration first, where it serves that"))
        .args(only_kubeconfig())
}

fn only_kubeconfig() -> impl Iterator<Item = Arg> {
    flags::args().into_iter().filter(|arg| arg.get_id() == "kubeconfig")
}

/// The settings of every kind as they are when nothing is set.
pub fn default_settings() -> BTreeMap<&'static str, Settings> {
    of_each!(K: (&'static str, Settings) => (K::PATH, Settings::of::<K>())).into_iter().collect()
}

/// Defaults, then what is set. An image that is named is taken as it is named: the registry's
/// prefix is for those that are not.
fn kinds(set: &ArgMatches) -> BTreeMap<&'static str, Settings> {
    let mut kinds = default_settings();
    let registry = set.get_one::<String>("image-registry");
    for (path, settings) in &mut kinds {
        if let Some(image) = set.get_one::<String>(&flags::image_flag(path)) {
            settings.default_image.clone_from(image);
        } else if let Some(registry) = registry {
            settings.default_image = values::at_registry(&settings.default_image, registry);
        }
        settings.yielded = many(set, "yield");
    }
    for values::Deadline { kind, state, limit } in many::<values::Deadline>(set, "deadline") {
        if let Some(settings) = kinds.get_mut(kind) {
            settings.deadlines.insert(state, limit);
        }
    }
    kinds
}

fn one<T: Clone + Send + Sync + 'static>(set: &ArgMatches, name: &str) -> T {
    // Each setting that is read this way has a default in `flags`, which a test reads.
    set.get_one::<T>(name).cloned().expect("the setting has a default")
}

fn many<T: Clone + Send + Sync + 'static>(set: &ArgMatches, name: &str) -> Vec<T> {
    set.get_many::<T>(name).into_iter().flatten().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::SignedDuration;

    fn parse(args: &[&str]) -> Result<Config, String> {
        let args = ["pointsman"].iter().chain(args).map(OsString::from);
        Config::parse(args).map_err(|fault| fault.to_string())
    }

    fn first(config: &Config) -> (&'static str, &Settings) {
        config.kinds.iter().next().map(|(path, settings)| (*path, settings)).expect("there is a kind")
    }

    #[test]
    fn nothing_needs_to_be_set() {
        for args in [&[][..], &["run"]] {
            let config = parse(args).expect("defaults");
            assert_eq!((config.concurrency, config.webhook_bind.to_string()), (64, "[::]:9443".to_owned()));
            assert_eq!(config.watch_namespaces, Vec::<String>::new());
        }
    }

    #[test]
    fn deadlines_are_set_by_kind_and_state() {
        let defaults = parse(&[]).expect("defaults");
        let (kind, settings) = first(&defaults);
        let [one, other] = [0, 1].map(|at| settings.deadlines.keys().nth(at).expect("two states with a deadline"));
        let spelled = |text: &str| text.replace("MINE", kind).replace("ONE", one).replace("OTHER", other);
        let set = |text: &str| parse(&["run", "--deadline", &spelled(text)]);
        let config = set("MINE.ONE=90s,MINE.OTHER=1h30m").expect("both are known");
        let deadlines = &first(&config).1.deadlines;
        assert_eq!(deadlines[one], SignedDuration::from_secs(90));
        assert_eq!(deadlines[other], SignedDuration::from_mins(90));
        for (text, says) in [
            ("nothing.ONE=5m", "the kinds are"),
            ("MINE.Sleeping=5m", "the states with a deadline are"),
            ("MINE.ONE=soon", "write a duration like 5m or 90s"),
            ("MINE.ONE=0s", "from 1s to 30 days"),
            ("MINE.ONE", "write KIND.STATE=DURATION"),
            ("MINE.ONE=1m,MINE.OTHER=3m,MINE.ONE=2m", "ONE is named twice, as 1m and as 2m"),
        ] {
            let fault = set(text).expect_err(text);
            assert!(fault.contains(&spelled(says)), "{fault}");
        }
    }

    #[test]
    fn a_field_is_yielded_on_every_object_of_every_kind() {
        let config = parse(&["--yield", "Deployment:/spec/replicas,CronJob:/spec/suspend"]).expect("two fields");
        let fields = |settings: &Settings| settings.yielded.iter().filter_map(|one| one.field.clone()).collect::<Vec<_>>();
        assert!(config.kinds.values().all(|settings| fields(settings) == ["/spec/replicas", "/spec/suspend"]));
        for (text, says) in [
            ("Deployment", "write KIND:POINTER"),
            ("Secret:/data", "these are: Service, "),
            ("Deployment:spec.replicas", "is no JSON pointer"),
            ("Service:/spec/selector/app", "never left to anybody"),
            ("Deployment:/metadata", "never left to anybody"),
            ("Service:/spec", "never left to anybody"),
            ("StatefulSet:/spec/template/metadata", "never left to anybody"),
        ] {
            let fault = parse(&["--yield", text]).expect_err(text);
            assert!(fault.contains(says), "{fault}");
        }
    }

    #[test]
    fn the_times_of_the_lease_fit_each_other() {
        let config = parse(&["--lease-duration", "3s", "--lease-renew-deadline=2s", "--lease-retry=500ms", "--leader-election=false"]);
        let config = config.expect("they fit");
        assert_eq!((config.lease_duration, config.leader_election), (Duration::from_secs(3), false));
        for (args, says) in [
            (
                ["--lease-duration=10s", "--lease-retry=2s"],
                "--lease-renew-deadline 10s and --lease-retry 2s are together longer than --lease-duration 10s",
            ),
            (["--lease-renew-deadline=3s", "--lease-retry=2s"], "--lease-retry 2s is more than half of --lease-renew-deadline 3s"),
            (["--lease-duration=15500ms", "--lease-retry=2s"], "--lease-duration is stored in whole seconds, not 15.5s"),
            (["--lease-duration=1h", "--lease-retry=2s"], "up to 10m, not 1h"),
            (["--lease-duration=0s", "--lease-retry=2s"], "from 100ms to 10m"),
            (["--lease-duration=soon", "--lease-retry=2s"], "write a duration like"),
            (["--lease-duration=15s", "--leader-election=maybe"], "true, false"),
        ] {
            let fault = parse(&args).expect_err(says);
            assert!(fault.contains(says), "{fault}");
        }
    }

    #[test]
    fn reviews_are_answered_no_longer_than_a_pod_has_to_end() {
        let delay = |text: &str| parse(&["--shutdown-delay", text]).map(|config| config.shutdown_delay);
        assert_eq!([delay("0s"), delay("15s")], [Ok(Duration::ZERO), Ok(Duration::from_secs(15))]);
        for wrong in ["15100ms", "60s", "soon"] {
            let fault = delay(wrong).expect_err(wrong);
            assert!(fault.contains("up to 15s since a pod has 30s to end, not "), "{fault}");
        }
    }

    #[test]
    fn every_level_of_the_table_is_one() {
        for level in LEVELS {
            let directives = format!("{level},kube={level}");
            assert_eq!(parse(&["--log-level", &directives]).expect("levels").log_level, directives);
        }
        for wrong in ["verbose", "info,verbose", "kube=verbose"] {
            assert!(parse(&["--log-level", wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_registry_is_for_images_that_are_not_named() {
        let (kind, image) = (first(&parse(&[]).expect("defaults")).0, first(&parse(&[]).expect("defaults")).1.default_image.clone());
        let path = image.split_once('/').expect("the default names its registry").1;
        let mirrored = parse(&["--image-registry", "mirror.example.com/hub/"]).expect("a registry");
        assert_eq!(first(&mirrored).1.default_image, format!("mirror.example.com/hub/{path}"));
        let flag = format!("--{}", flags::image_flag(kind));
        let named = parse(&["--image-registry", "mirror.example.com", &flag, "own/image:2"]).expect("an image");
        assert_eq!(first(&named).1.default_image, "own/image:2");
        for (setting, wrong) in
            [(flag.as_str(), "own/Image:2"), (flag.as_str(), ""), ("--image-registry", "a b"), ("--image-registry", "-x")]
        {
            assert!(parse(&[setting, wrong]).is_err(), "{setting} {wrong}");
        }
    }

    #[test]
    fn every_setting_explains_itself() {
        let help = parse(&["run", "--help"]).expect_err("help");
        for arg in flags::args() {
            let flag = format!("--{}", arg.get_long().expect("a flag"));
            let environment = arg.get_env().expect("an environment variable").to_string_lossy().into_owned();
            assert!(help.contains(&flag) && help.contains(&environment), "{flag} {environment}");
            assert!(settings_table().contains(&format!("`{flag}`")), "{flag}");
        }
        assert!(!settings_table().contains("||"), "{}", settings_table());
    }
}
