//! Starts everything in the order of its dependencies, and ends it in the reverse one.

use std::net::SocketAddr;
use std::sync::Arc;

use aggregated_apiserver::{
    ApiServer, Drain, Readiness, Replicas, ServedResource, ServerBuilder, TlsConfig, VersionInfo, Writing,
};
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use super::intent::{self, Kept};
use super::{WiringError, access, audit};
use crate::configuration::{Configuration, Kubernetes};
use crate::intent::{IntentError, IntentStore};
use crate::inventory::{Comparing, Follower, FollowerParts, Freshness, Inventory, Rules};
use crate::resources::{Bases, Domains, EvictionRules, HypervisorRules, IntentStorage, Shelves};
use crate::sources::libvirt::Inspectors;
use crate::sources::report::Reports;
use crate::sources::{Measures, Settings, cloud, node, servers};

/// Reports that may wait for the inventory; source tasks wait when it is full.
const REPORTS: usize = 4096;

/// Changes of Nodes that may wait for the inventory.
const NODE_CHANGES: usize = 256;

/// A server that runs.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    intents: Arc<dyn IntentStore>,
    readiness: Readiness,
    serving: JoinHandle<Result<(), WiringError>>,
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its intent store.
    pub fn intents(&self) -> &Arc<dyn IntentStore> {
        &self.intents
    }

    /// Whether every host that exists can be seen.
    pub fn is_ready(&self) -> bool {
        self.readiness.is_ready()
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// When it ended otherwise than by being told to.
    pub async fn ended(self) -> Result<(), WiringError> {
        self.serving.await.map_err(|_| WiringError::Lost("serving"))?
    }
}

/// Starts a server that ends when `end` is cancelled.
///
/// # Errors
/// When something that the server cannot do without is missing: its address, certificate, cluster or intent store. A
/// source that is away is none of these.
pub async fn start(configuration: Configuration, end: CancellationToken) -> Result<Running, WiringError> {
    let tls = TlsConfig::from_files(&configuration.serving.certificate, &configuration.serving.key)
        .map_err(WiringError::Serving)?;
    let listener = TcpListener::bind(configuration.listen)
        .await
        .map_err(|source| WiringError::Listen { address: configuration.listen, source })?;
    let address = listener.local_addr().unwrap_or(configuration.listen);
    let tasks = TaskTracker::new();
    // Sources end after serving has: what is served to the last is fresh to the last.
    let sources_end = CancellationToken::new();
    // Whatever goes wrong from here on, no task stays behind.
    let abandoned = sources_end.clone().drop_guard();
    let mut registry = Registry::default();
    let Kept { store: intents, clock, ledger, replicas, seat } =
        intent::open(&configuration, &mut registry, &tasks, &sources_end, &end).await?;
    let (access, nodes) = access_and_nodes(&configuration, &tasks, &sources_end).await?;

    let shelves = Shelves::new(&clock).map_err(WiringError::Shelves)?;
    let inspectors = Arc::new(Inspectors::default());
    let (comparisons, compared) = servers::comparisons();
    let freshness = Arc::new(Freshness::comparing(Comparing {
        comparisons,
        inspectors: Arc::clone(&inspectors),
        rules: configuration.hosts.clone(),
        fresh: configuration.refresh.servers.duration(),
    }));
    let configured = configuration.hosts.known.keys().cloned();
    let bases = Arc::new(Bases::new(configured));
    let readiness = Readiness::new();
    let measures = Measures::register(&mut registry);
    let (sender, receiver) = mpsc::channel(REPORTS);
    let parts = FollowerParts {
        shelves: shelves.clone(),
        freshness: Arc::clone(&freshness),
        bases: Arc::clone(&bases),
        inspectors: Arc::clone(&inspectors),
        intents: Arc::clone(&intents),
        ledger,
        settings: Settings::measured(configuration.refresh.clone(), measures.clone()),
        nodes,
        tasks: tasks.clone(),
        end: sources_end.clone(),
        hosts_known: readiness.latch("hosts"),
        metrics: crate::inventory::Metrics::register(&mut registry),
    };
    shelves.series.register(&mut registry);
    let log = configuration.audit.as_ref().map(audit::open).transpose()?;
    let writings = writings(&configuration, &shelves, &intents, &bases, &replicas);
    let domains = Domains::new(inspectors);
    let mut server = api_server(&configuration, &shelves, &freshness, domains, writings, access)
        .readiness(readiness.clone());
    server = server.metrics(registry);
    if let Some(log) = &log {
        server = server.audit(log.clone());
    }
    let server = server.build().map_err(WiringError::Build)?;
    spawn_cloud(&configuration, measures, compared, &sender, &tasks, &sources_end);
    let follower = Follower::new(inventory(&configuration), parts, sender);
    let following = tasks.spawn(follower.run(receiver).instrument(tracing::info_span!("inventory")));
    let sources_end = abandoned.disarm();
    let serving = serve(server, listener, tls, end, following, tasks, sources_end);
    let serving = tokio::spawn(async move {
        let mut outcome = serving.await;
        // Why the server was told to end, if it was the slot.
        if let (Ok(()), Some(seat)) = (&outcome, seat) {
            outcome = seat.await.map_err(|_| WiringError::Lost("slot"))?.map_err(WiringError::Slot);
        }
        if let Some(log) = log {
            audit::close(log).await;
        }
        outcome
    });
    tracing::info!(%address, "serving");
    Ok(Running { address, intents, readiness, serving })
}

/// Who may ask, and the changes of Nodes where there are any to follow.
async fn access_and_nodes(
    configuration: &Configuration,
    tasks: &TaskTracker,
    end: &CancellationToken,
) -> Result<(access::Access, Option<mpsc::Receiver<node::NodeChange>>), WiringError> {
    match (&configuration.kubernetes, &configuration.standalone) {
        (Some(kubernetes), _) => {
            let client = access::client(kubernetes).await?;
            let access = access::of_cluster(&client, tasks, end).await?;
            let nodes = kubernetes.follows_nodes().then(|| {
                let (sender, receiver) = mpsc::channel(NODE_CHANGES);
                let label = kubernetes.node_label.clone();
                let following = node::follow(client.clone(), label, sender, end.child_token());
                tasks.spawn(following.instrument(tracing::info_span!("source", source = "node")));
                receiver
            });
            Ok((access, nodes))
        }
        (None, Some(rules)) => Ok((access::standalone(rules, tasks, end)?, None)),
        // The configuration is checked before: without either, nobody may do anything.
        (None, None) => Ok((access::nobody(), None)),
    }
}

fn inventory(configuration: &Configuration) -> Inventory {
    let mut inventory = Inventory::new(Rules {
        hosts: configuration.hosts.clone(),
        namespaces: configuration.namespaces.clone(),
        migrations_kept: configuration.refresh.migrations_kept.duration(),
        follow_nodes: configuration.kubernetes.as_ref().is_some_and(Kubernetes::follows_nodes),
    });
    if configuration.openstack.is_some() {
        inventory.expect_cloud();
    }
    inventory
}

fn spawn_cloud(
    configuration: &Configuration,
    measures: Measures,
    compared: mpsc::Receiver<servers::Comparison>,
    reports: &Reports,
    tasks: &TaskTracker,
    end: &CancellationToken,
) {
    if let Some(openstack) = &configuration.openstack {
        let settings = Settings::measured(configuration.refresh.clone(), measures);
        let source = cloud::Source::new(openstack.clone(), settings, reports.clone(), compared);
        tasks.spawn(source.run(end.child_token()).instrument(tracing::info_span!("source", source = "nova")));
    }
}

/// How Hypervisors and Evictions are written. Where there is no cluster there is no garbage collector either.
fn writings(
    configuration: &Configuration,
    shelves: &Shelves,
    intents: &Arc<dyn IntentStore>,
    bases: &Arc<Bases>,
    replicas: &Arc<dyn Replicas>,
) -> (Writing, Writing) {
    let collected = configuration.kubernetes.is_some();
    let hypervisors = IntentStorage::hypervisors(Arc::clone(intents), Arc::clone(bases));
    let evictions = IntentStorage::evictions(Arc::clone(intents), Arc::clone(&shelves.hypervisors));
    (
        Writing::new(Arc::new(hypervisors))
            .strategy(Arc::new(HypervisorRules::new(Arc::clone(bases))))
            .reserved_manager(crate::merge::NODE_MANAGER)
            .replicas(Arc::clone(replicas))
            .garbage_collected(collected),
        Writing::new(Arc::new(evictions))
            .strategy(Arc::new(EvictionRules))
            .replicas(Arc::clone(replicas))
            .garbage_collected(collected),
    )
}

fn api_server(
    configuration: &Configuration,
    shelves: &Shelves,
    freshness: &Arc<Freshness>,
    domains: Domains,
    (hypervisors, evictions): (Writing, Writing),
    access: access::Access,
) -> ServerBuilder {
    let fresh = |collection: &Arc<aggregated_apiserver::Collection>| {
        let freshener: Arc<dyn aggregated_apiserver::Freshener> = Arc::clone(freshness) as _;
        ServedResource::new(Arc::clone(collection)).freshened_by(freshener)
    };
    let mut builder = ApiServer::builder()
        .resource(fresh(&shelves.hypervisors).with_subresource(Arc::new(domains)).written(hypervisors))
        .resource(fresh(&shelves.ovs_nodes))
        .resource(ServedResource::new(Arc::clone(&shelves.evictions)).written(evictions))
        .collection(Arc::clone(&shelves.migrations))
        .authorizer(access.authorizer)
        .version_info(VersionInfo::of(env!("CARGO_PKG_VERSION")))
        .drain(Drain {
            announce: configuration.shutdown.delay.duration(),
            finish: configuration.shutdown.grace.duration(),
        });
    for authenticator in access.authenticators {
        builder = builder.authenticator(authenticator);
    }
    builder
}

/// Serves until told to end, then ends the sources. The loss of the inventory ends the server: it would go on showing
/// what is no longer true.
async fn serve(
    server: ApiServer,
    listener: TcpListener,
    tls: TlsConfig,
    end: CancellationToken,
    following: JoinHandle<Result<(), IntentError>>,
    tasks: TaskTracker,
    sources_end: CancellationToken,
) -> Result<(), WiringError> {
    let mut following = following;
    let serving = server.serve(listener, tls, end.clone());
    tokio::pin!(serving);
    let outcome = tokio::select! {
        served = &mut serving => served.map_err(WiringError::Serve),
        followed = &mut following => {
            end.cancel();
            // The reason is more telling than how serving ended after it.
            let served = serving.await.map_err(WiringError::Serve);
            match followed {
                Ok(Ok(())) => served.and(Err(WiringError::Lost("inventory"))),
                Ok(Err(error)) => Err(WiringError::Intent(error)),
                Err(_) => Err(WiringError::Lost("inventory")),
            }
        }
    };
    sources_end.cancel();
    tasks.close();
    tasks.wait().await;
    outcome
}
