//! The program: reads its settings, then starts the webhook server, the certificates and one
//! controller per kind, and ends when it is told to.

use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, ListParams};
use kube::client::ClientBuilder;
use kube::client::retry::RetryPolicy;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::PartialObjectMeta;
use kube::{Client, ResourceExt};
use pointsman::admission::{Missing, Webhooks, tls};
use pointsman::config::Config;
use pointsman::controller::Controller;
use pointsman::controller::certificates::Certificates;
use pointsman::kinds::{Served, Visitor, visit};
use pointsman::telemetry;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tower::buffer::BufferLayer;
use tower::limit::RateLimitLayer;
use tower::retry::RetryLayer;

/// How long running reviews and reconciles may take to end.
const GRACE: Duration = Duration::from_secs(25);

type Fault = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    let config = Config::from_process();
    telemetry::log(&config.log_level, config.log_format);
    match run(&config).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            tracing::error!(%fault, "pointsman ends");
            ExitCode::FAILURE
        }
    }
}

async fn run(config: &Config) -> Result<(), Fault> {
    // It is the first and only one: this process has just begun.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = client(config).await?;
    alone(&client, &config.namespace).await?;
    let stop = watch::Sender::new(false);
    let mut parts = Parts {
        client,
        config,
        stop: &stop,
        tasks: JoinSet::new(),
        webhooks: Some(Webhooks::new(&config.watch_namespaces)),
        missing: Vec::new(),
    };
    visit(&mut parts);
    let mut tasks = parts.serve()?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), namespace = config.namespace, "pointsman runs");
    let ended = tokio::select! {
        () = told_to_stop() => Ok(()),
        // Nothing may end by itself.
        Some(ended) = tasks.join_next() => Err(ended.map_err(Fault::from).and_then(|ended| ended).err().unwrap_or_else(|| "a part of the program ended".into())),
    };
    stop.send_replace(true);
    let all = async { while tasks.join_next().await.is_some() {} };
    timeout(GRACE, all).await.map_err(|_| format!("not everything ended within {} s", GRACE.as_secs()))?;
    ended
}

/// What is started, one kind after another.
struct Parts<'a> {
    client: Client,
    config: &'a Config,
    stop: &'a watch::Sender<bool>,
    tasks: JoinSet<Result<(), Fault>>,
    webhooks: Option<Webhooks>,
    missing: Vec<Box<dyn Fn() -> Vec<String> + Send + Sync>>,
}

impl Visitor for Parts<'_> {
    fn kind<K: Served>(&mut self) {
        let controller = Controller::<K>::new(self.client.clone(), self.config);
        let objects = controller.objects();
        let find = {
            let objects = objects.clone();
            move |namespace: &str, name: &str| objects.get(namespace, name)
        };
        self.missing.push(Box::new(move || {
            if objects.is_synced() { Vec::new() } else { vec![format!("the objects of {} are not listed yet", K::PATH)] }
        }));
        let stopped = stopped(self.stop.subscribe());
        self.tasks.spawn(async move {
            controller.run(stopped).await;
            Ok(())
        });
        let settings = self.config.kinds[K::PATH].clone();
        self.webhooks = self.webhooks.take().map(|webhooks| webhooks.kind::<K>(settings, Arc::new(find)));
    }
}

impl Parts<'_> {
    fn serve(mut self) -> Result<JoinSet<Result<(), Fault>>, Fault> {
        let certificates = Certificates::new(self.client.clone(), &self.config.namespace)?;
        self.missing.push(Box::new(certificates.missing()));
        let listener =
            tls::bind(self.config.webhook_bind).map_err(|fault| format!("cannot listen on {}: {fault}", self.config.webhook_bind))?;
        let metrics =
            tls::bind(self.config.metrics_bind).map_err(|fault| format!("cannot listen on {}: {fault}", self.config.metrics_bind))?;
        let metrics = tokio::net::TcpListener::from_std(metrics)?;
        let missing = std::mem::take(&mut self.missing);
        let missing: Missing = Arc::new(move || missing.iter().flat_map(|missing| missing()).collect());
        let router = self.webhooks.take().unwrap_or_else(|| Webhooks::new(&[])).router(missing);
        let (serving, stopped) = (certificates.serving(), || stopped(self.stop.subscribe()));
        self.tasks.spawn({
            let stopped = stopped();
            async { Ok(tls::serve(listener, router, serving, stopped).await?) }
        });
        self.tasks.spawn({
            let stopped = stopped();
            async { Ok(axum::serve(metrics, telemetry::metrics()).with_graceful_shutdown(stopped).await?) }
        });
        self.tasks.spawn({
            let stopped = stopped();
            async {
                certificates.run(stopped).await;
                Ok(())
            }
        });
        Ok(self.tasks)
    }
}

async fn stopped(mut stop: watch::Receiver<bool>) {
    // A sender that is gone is a stop as well.
    let _ = stop.wait_for(|stop| *stop).await;
}

async fn told_to_stop() {
    let wait = |kind| async move {
        match signal(kind) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(fault) => tracing::error!(%fault, "signals are not heard"),
        }
    };
    tokio::select! {
        () = wait(SignalKind::terminate()) => {}
        () = wait(SignalKind::interrupt()) => {}
    }
    tracing::info!("told to stop");
}

/// A client that keeps to the configured rate and retries what the server was too busy for.
async fn client(config: &Config) -> Result<Client, Fault> {
    let mut reach = match &config.kubeconfig {
        Some(file) => kube::Config::from_custom_kubeconfig(Kubeconfig::read_from(file)?, &KubeConfigOptions::default()).await?,
        None => kube::Config::infer().await?,
    };
    // The default would retry for minutes inside one call; the controller looks again anyway.
    reach.default_retry = false;
    let retry = RetryPolicy::new(Duration::from_millis(200), Duration::from_secs(5), 5, true)?;
    let window = Duration::from_secs_f64(f64::from(config.api_burst) / f64::from(config.api_qps));
    let client = ClientBuilder::try_from(reach)?
        .with_layer(&BufferLayer::new(1024))
        .with_layer(&RetryLayer::new(retry))
        .with_layer(&RateLimitLayer::new(u64::from(config.api_burst), window));
    Ok(client.build())
}

/// One installation per cluster: a second would fight over every object. The older one runs.
async fn alone(client: &Client, namespace: &str) -> Result<(), Fault> {
    let deployments: Api<Deployment> = Api::all(client.clone());
    let named = ListParams::default().labels("app.kubernetes.io/name=pointsman");
    let found = deployments.list_metadata(&named).await.map_err(|fault| format!("cannot look for another installation: {fault}"))?;
    let (ours, others): (Vec<_>, Vec<_>) = found.items.iter().partition(|one| one.namespace().as_deref() == Some(namespace));
    let rank = |one: &PartialObjectMeta<Deployment>| (one.creation_timestamp(), one.namespace());
    // Outside the cluster there is none of ours, and anybody else was first.
    let first = ours.iter().map(|ours| rank(ours)).min();
    match others.iter().find(|other| first.as_ref().is_none_or(|first| rank(other) < *first)) {
        Some(other) => Err(format!(
            "another installation runs in this cluster: the Deployment {} in namespace {}; this one, of namespace {namespace}, does not start beside it",
            other.name_any(), other.namespace().unwrap_or_default(),
        ).into()),
        None => Ok(()),
    }
}
