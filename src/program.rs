//! What the program is made of, and in which order its parts end.

mod stage;

use crate::admission::{Find, Missing, Survey, Told, Webhooks, health, plain, tls};
use crate::config::Config;
use crate::controller::Controller;
use crate::controller::alone::alone;
use crate::controller::certificates::Certificates;
use crate::controller::clients::{Clients, Fault, clients};
use crate::controller::definitions;
use crate::controller::lease::{Candidate, Leadership, Term, lead_alone};
use crate::kinds::{Served, Visitor, visit};
use crate::telemetry::scrape;
use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use stage::Stage;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};

/// How long looks that run may take to end before another replica's turn comes. Those of a process whose turn is over are not
/// awaited: nothing that they write would leave it, and what they read may not come for long.
const LOOKS: Duration = Duration::from_secs(10);
/// The same, and the Lease given back.
const REST: Duration = Duration::from_secs(15);
/// How long reviews that run may take to end. With the above it is less than the pod is given.
const CLOSE: Duration = Duration::from_secs(12);

/// What is said until the API server has told whether another installation runs.
const UNKNOWN: &str = "the API server has not told yet whether another installation runs in this cluster";

/// Runs until `stop`, or until a part ends by itself. It is boxed, so that it is compiled once, with this crate.
///
/// # Errors
/// What kept it from starting, or what ended by itself.
pub fn run<'a>(config: &'a Config, mut stop: BoxFuture<'a, ()>) -> BoxFuture<'a, Result<(), Fault>> {
    async move {
        let term = watch::Sender::new(Term::Outside);
        let leadership = Leadership::of(&term);
        let mut parts = Parts::new(config, clients(config, leadership.clone()).await?, leadership);
        visit(&mut parts);
        parts.serve()?;
        // It listens already: who has to wait long for the API server would else be taken for dead.
        tokio::select! {
            alone = alone(&parts.clients.looks, &parts.clients.access, &config.namespace) => alone?,
            () = &mut stop => return Ok(()),
        }
        parts.stage.send_replace(Stage::Running);
        parts.compete(term);
        tracing::info!(version = env!("CARGO_PKG_VERSION"), namespace = config.namespace, "pointsman runs");
        parts.until(stop).await
    }
    .boxed()
}

/// What is started, one kind after another.
struct Parts<'a> {
    clients: Clients,
    config: &'a Config,
    leadership: Leadership,
    stage: watch::Sender<Stage>,
    /// The part in the election.
    turn: JoinSet<Result<(), Fault>>,
    /// What has to have ended before another replica may have its turn.
    looks: JoinSet<Result<(), Fault>>,
    /// What goes on until the very end.
    servers: JoinSet<Result<(), Fault>>,
    webhooks: Webhooks,
    /// What the definitions lack.
    lacking: watch::Sender<Vec<String>>,
    /// What is told of objects at a scrape.
    censuses: Vec<Arc<dyn scrape::Census>>,
    listed: Vec<BoxFuture<'static, ()>>,
}

impl Visitor for Parts<'_> {
    fn kind<K: Served>(&mut self) {
        let (controller, watches) = Controller::<K>::new(self.clients.looks.clone(), self.config, self.leadership.clone());
        let objects = controller.objects();
        self.censuses.push(controller.census(self.leadership.clone()));
        let find: Find<K> = {
            let objects = objects.clone();
            Arc::new(move |namespace, name| {
                let objects = objects.clone();
                async move { objects.find(&namespace, &name).await }.boxed()
            })
        };
        let survey: Survey<K> = {
            let objects = objects.clone();
            Arc::new(move |object| objects.ground(object))
        };
        self.listed.push(async move { objects.listed().await }.boxed());
        let (leadership, stopping, closing) = (self.leadership.clone(), self.reached(Stage::Stopping), self.reached(Stage::Closing));
        self.looks.spawn(controller.run(leadership, stopping).map(Ok));
        self.servers.spawn(async move {
            tokio::select! {
                never = watches.run() => match never {},
                () = closing => Ok(()),
            }
        });
        let settings = self.config.kinds[K::PATH].clone();
        self.webhooks.kind::<K>(settings, find, survey);
    }
}

impl<'a> Parts<'a> {
    fn new(config: &'a Config, clients: Clients, leadership: Leadership) -> Self {
        Parts {
            webhooks: Webhooks::new(&config.watch_namespaces),
            lacking: watch::Sender::default(),
            censuses: Vec::new(),
            clients,
            config,
            leadership,
            stage: watch::Sender::new(Stage::Starting),
            turn: JoinSet::new(),
            looks: JoinSet::new(),
            servers: JoinSet::new(),
            listed: Vec::new(),
        }
    }

    fn serve(&mut self) -> Result<(), Fault> {
        let certificates =
            Certificates::new(self.clients.looks.clone(), &self.config.namespace, self.config.certificates, self.leadership.clone())?;
        let bound = |at| tls::bind(at).map_err(|fault| format!("cannot listen on {at}: {fault}"));
        let listener = bound(self.config.webhook_bind)?;
        let (metrics, probed) = (bound(self.config.metrics_bind)?, bound(self.config.health_bind)?);
        let (stage, lacking, unsettled) = (self.stage.subscribe(), self.lacking.subscribe(), certificates.missing());
        let missing: Missing = {
            let stage = stage.clone();
            Arc::new(move || match *stage.borrow() {
                Stage::Starting => vec![UNKNOWN.to_owned()],
                Stage::Running => lacking.borrow().iter().cloned().chain(unsettled()).collect(),
                Stage::Stopping | Stage::Resting | Stage::Closing => vec!["told to stop".to_owned()],
            })
        };
        let parting = move || *stage.borrow() > Stage::Running;
        let told: Told = Arc::new(certificates.told());
        let router = tls::parting(self.webhooks.router(told), parting);
        let serving = certificates.serving();
        let [webhooks_close, metrics_close, health_close, certificates_close] = [(); 4].map(|()| self.reached(Stage::Closing));
        self.servers.spawn(async { Ok(tls::serve(listener, router, serving, webhooks_close).await?) });
        let scraped = scrape::router(std::mem::take(&mut self.censuses));
        self.servers.spawn(async { Ok(plain::serve(metrics, scraped, metrics_close).await?) });
        self.servers.spawn(async { Ok(plain::serve(probed, health(missing), health_close).await?) });
        self.servers.spawn(async {
            certificates.run(certificates_close).await;
            Ok(())
        });
        Ok(())
    }

    fn compete(&mut self, term: watch::Sender<Term>) {
        let resting = self.reached(Stage::Resting).boxed().shared();
        let turn = if self.config.leader_election {
            let candidate = Candidate::new(self.clients.lease.clone(), self.config, term, self.leadership.clone());
            candidate.run(join_all(std::mem::take(&mut self.listed)).map(drop), resting.clone()).boxed()
        } else {
            lead_alone(term, resting.clone()).boxed()
        };
        let suffice = definitions::suffice(self.clients.looks.clone(), self.lacking.clone());
        self.turn.spawn(async {
            tokio::select! {
                () = suffice => turn.await,
                () = resting => {}
            }
            Ok(())
        });
    }

    /// Runs until `stop`, or until a part ends by itself; then ends everything in its order.
    async fn until(mut self, stop: impl Future<Output = ()>) -> Result<(), Fault> {
        let ended = tokio::select! {
            () = stop => Ok(()),
            Some(ended) = self.turn.join_next() => Err(reason(ended)),
            Some(ended) = self.looks.join_next() => Err(reason(ended)),
            Some(ended) = self.servers.join_next() => Err(reason(ended)),
        };
        match &ended {
            Ok(()) => tracing::info!("told to stop"),
            Err(fault) => tracing::error!(%fault, "a part ended, so the whole ends"),
        }
        self.stage.send_replace(Stage::Stopping);
        let rest = async {
            tokio::select! {
                biased;
                () = all(&mut self.looks) => {}
                () = self.leadership.ended() => {}
                () = sleep(LOOKS) => tracing::warn!("looks that did not end within {LOOKS:?} are given up"),
            }
            self.stage.send_replace(Stage::Resting);
            all(&mut self.turn).await;
        };
        // The API server and the nodes learn late that this pod is not to be called any more.
        let (rested, ()) = tokio::join!(timeout(REST, rest), sleep(self.config.shutdown_delay));
        self.stage.send_replace(Stage::Closing);
        let closed = timeout(CLOSE, all(&mut self.servers)).await;
        rested.and(closed).map_err(|_| "not everything ended in time")?;
        ended
    }

    fn reached(&self, wanted: Stage) -> impl Future<Output = ()> + Send + use<> {
        let mut stage = self.stage.subscribe();
        async move {
            // A sender that is gone is the end as well.
            let _ = stage.wait_for(|stage| *stage >= wanted).await;
        }
    }
}

async fn all(tasks: &mut JoinSet<Result<(), Fault>>) {
    while tasks.join_next().await.is_some() {}
}

/// Nothing may end by itself.
fn reason(ended: Result<Result<(), Fault>, JoinError>) -> Fault {
    ended.map_err(Fault::from).and_then(|ended| ended).err().unwrap_or_else(|| "a part of the program ended".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use std::net::{SocketAddr, TcpListener, TcpStream};

    const NOWHERE: &str = r#"{ "apiVersion": "v1", "kind": "Config", "current-context": "a",
        "clusters": [{ "name": "a", "cluster": { "server": "http://127.0.0.1:1" } }],
        "contexts": [{ "name": "a", "context": { "cluster": "a", "user": "a" } }], "users": [{ "name": "a", "user": {} }] }"#;

    fn free() -> SocketAddr {
        TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port")
    }

    /// Settings under which nobody is reached, and nothing is in the way of who else runs tests.
    fn config(kubeconfig: &std::path::Path, webhooks: SocketAddr) -> Config {
        let _ = rustls::crypto::ring::default_provider().install_default();
        std::fs::write(kubeconfig, NOWHERE).expect("a file");
        let reach = format!("--kubeconfig={}", kubeconfig.display());
        let [webhook_bind, metrics_bind, health_bind] =
            [("webhook", webhooks), ("metrics", free()), ("health", free())].map(|(of, at)| format!("--{of}-bind={at}"));
        let args = ["pointsman", &reach, &webhook_bind, &metrics_bind, &health_bind, "--namespace=pointsman-system", "--shutdown-delay=0s"];
        Config::parse(args.map(Into::into)).expect("settings")
    }

    /// Ends a program whose one look hangs on what it reads, and whose turn ends with `turn`; tells after how long.
    async fn ended_after(term: Term, turn: Result<(), Fault>) -> Duration {
        let kubeconfig = std::env::temp_dir().join(format!("pointsman-ends-{}-{}", std::process::id(), turn.is_ok()));
        let config = config(&kubeconfig, free());
        let term = watch::Sender::new(term);
        let leadership = Leadership::of(&term);
        let clients = clients(&config, leadership.clone()).await.expect("clients");
        let mut parts = Parts::new(&config, clients, leadership);
        parts.looks.spawn(pending());
        parts.turn.spawn(async { turn });
        let begun = tokio::time::Instant::now();
        assert!(parts.until(pending()).await.is_err());
        std::fs::remove_file(kubeconfig).expect("it is there");
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_is_awaited_only_while_it_may_still_write() {
        assert_eq!(ended_after(Term::Outside, Err("the Lease is lost".into())).await, Duration::ZERO);
        let awaited = ended_after(Term::Unlimited, Ok(())).await;
        assert!((LOOKS..LOOKS * 2).contains(&awaited), "{awaited:?}");
    }

    #[tokio::test]
    async fn it_listens_while_the_api_server_does_not_answer() {
        let kubeconfig = std::env::temp_dir().join(format!("pointsman-nowhere-{}", std::process::id()));
        let webhooks = free();
        let config = config(&kubeconfig, webhooks);
        let listens = async {
            while TcpStream::connect(webhooks).is_err() {
                sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::select! {
            ended = run(&config, pending().boxed()) => panic!("it ended: {:?}", ended.err()),
            heard = timeout(Duration::from_secs(20), listens) => heard.expect("nothing listens"),
        }
        std::fs::remove_file(kubeconfig).expect("it is there");
    }
}
