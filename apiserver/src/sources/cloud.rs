//! Nova and Placement of the cloud: services and hypervisors often, aggregates and traits less so.
//!
//! One login serves all. A cloud that is away is tried again with growing pauses; the last values stay.

use std::collections::BTreeMap;
use std::time::Duration;

use c5c3_api::SourceState;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use jiff::Timestamp;
use nova_client::{
    Aggregate, Cloud, CloudOptions, ComputeService, Error, Failure, Hypervisor, Limits, ServiceState,
    ServiceStatus,
};
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::observation::Observation;
use super::picture::{ComputePicture, MembershipPicture, NovaAggregate, NovaHypervisor, NovaService};
use super::report::{Report, Reports};
use super::servers::{self, Comparison};
use super::task::Trouble;
use super::{Measures, Settings};
use crate::configuration::{Interval, OpenStack};

/// How many providers' traits are asked for at the same time.
const TRAITS_AT_A_TIME: usize = 8;

/// Pause after a login that was refused.
const REFUSED_PAUSE: Duration = Duration::from_secs(30);

/// The cloud source.
#[derive(Debug)]
pub struct Source {
    openstack: OpenStack,
    settings: Settings,
    reports: Reports,
    comparisons: mpsc::Receiver<Comparison>,
}

impl Source {
    /// A source that is not running yet.
    pub fn new(
        openstack: OpenStack,
        settings: Settings,
        reports: Reports,
        comparisons: mpsc::Receiver<Comparison>,
    ) -> Self {
        Self { openstack, settings, reports, comparisons }
    }

    /// Reads again and again, until told to end.
    pub async fn run(self, end: CancellationToken) {
        tokio::select! {
            () = self.read_on() => {}
            () = end.cancelled() => {}
        }
    }

    async fn read_on(mut self) {
        let cloud = self.log_in().await;
        // Apart from each other: aggregates that take their time must not hold up what is said of the services.
        let (tell, known) = watch::channel(Observation::default());
        let mut comparisons = std::mem::replace(&mut self.comparisons, mpsc::channel(1).1);
        let Settings { refresh, measures, .. } = &self.settings;
        let comparing = servers::answer(&cloud, &mut comparisons, &self.reports, refresh, measures);
        tokio::join!(self.follow_compute(&cloud, tell), self.follow_memberships(&cloud, known), comparing);
    }

    async fn log_in(&mut self) -> Cloud {
        let mut compute = Observation::default();
        let mut memberships = Observation::default();
        loop {
            let error = match self.connect().await {
                Ok(cloud) => return cloud,
                Err(error) => error,
            };
            let trouble = trouble(&error);
            compute = settle(&compute, Err(trouble.clone()), "nova");
            memberships = settle(&memberships, Err(trouble), "placement");
            self.send(Report::Compute(compute.clone())).await;
            self.send(Report::Membership(memberships.clone())).await;
            // Who asks meanwhile is not kept waiting.
            while self.comparisons.try_recv().is_ok() {}
            tokio::time::sleep(self.pause(&error)).await;
        }
    }

    async fn connect(&self) -> Result<Cloud, Error> {
        let options = CloudOptions::from_clouds_yaml(&self.openstack.clouds, &self.openstack.cloud)?;
        let attempt = self.settings.refresh.deadline.duration();
        Cloud::connect(options.with_limits(Limits { attempt, ..Limits::default() })).await
    }

    async fn follow_compute(&self, cloud: &Cloud, tell: watch::Sender<Observation<ComputePicture>>) {
        let mut compute = Observation::default();
        let mut ticks = ticks(self.settings.refresh.services);
        loop {
            ticks.tick().await;
            compute = settle(&compute, Box::pin(read_compute(cloud, &self.settings.measures)).await, "nova");
            tell.send_replace(compute.clone());
            self.send(Report::Compute(compute.clone())).await;
        }
    }

    async fn follow_memberships(&self, cloud: &Cloud, compute: watch::Receiver<Observation<ComputePicture>>) {
        let mut memberships = Observation::default();
        let mut ticks = ticks(self.settings.refresh.memberships);
        let mut traits = Traits::default();
        loop {
            ticks.tick().await;
            let hypervisors = compute.borrow().clone();
            let read = read_memberships(cloud, &hypervisors, &mut traits, &self.settings.measures);
            let read = Box::pin(read).await;
            memberships = settle(&memberships, read, "placement");
            self.send(Report::Membership(memberships.clone())).await;
        }
    }

    fn pause(&self, error: &Error) -> Duration {
        let usual = self.settings.refresh.services.duration();
        let pause = error.retry_after().unwrap_or(usual);
        if error.is_unauthorized() { pause.max(REFUSED_PAUSE) } else { pause }
    }

    async fn send(&self, report: Report) {
        // An error means that the inventory is gone: the server is stopping.
        let _ = self.reports.send(report).await;
    }
}

fn ticks(every: Interval) -> tokio::time::Interval {
    let mut ticks = interval(every.duration());
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

fn settle<T>(last: &Observation<T>, outcome: Result<T, Trouble>, source: &'static str) -> Observation<T> {
    let next = match outcome {
        Ok(value) => Observation::fresh(value, Timestamp::now()),
        Err(trouble) => last.failed(trouble.state, trouble.message, Timestamp::now()),
    };
    if next.state() != last.state() {
        tracing::info!(source, state = next.state().as_str(), error = next.message(), "source changed");
    }
    next
}

async fn read_compute(cloud: &Cloud, measures: &Measures) -> Result<ComputePicture, Trouble> {
    let hypervisors = measures.counted("hypervisors", cloud.hypervisors());
    let services = measures.counted("services", cloud.compute_services());
    let (hypervisors, services) = tokio::try_join!(hypervisors, services).map_err(|error| trouble(&error))?;
    Ok(ComputePicture {
        // Bare-metal nodes share the host of their one service with each other: they are no hosts of ours.
        hypervisors: hypervisors
            .into_iter()
            .filter(|found| !found.is_ironic())
            .filter_map(hypervisor)
            .collect(),
        services: services.into_iter().filter_map(service).collect(),
    })
}

/// Joined by the host of its compute service, never by its own name.
fn hypervisor(found: Hypervisor) -> Option<(String, NovaHypervisor)> {
    let host = found.service_host()?.to_owned();
    let hostname = found.hypervisor_hostname.unwrap_or_default();
    Some((host, NovaHypervisor { id: found.id?.to_string(), hostname }))
}

fn service(found: ComputeService) -> Option<(String, NovaService)> {
    let service = NovaService {
        id: found.id.map(|id| id.to_string()).unwrap_or_default(),
        status: match found.status {
            ServiceStatus::Enabled => Some("enabled".to_owned()),
            ServiceStatus::Disabled => Some("disabled".to_owned()),
            _ => None,
        },
        state: match found.state {
            ServiceState::Up => Some("up".to_owned()),
            ServiceState::Down => Some("down".to_owned()),
            _ => None,
        },
        disabled_reason: found.disabled_reason,
        forced_down: found.forced_down,
        zone: found.zone,
    };
    Some((found.host?, service))
}

/// Aggregates of the cloud, and the traits of each hypervisor that is known by now.
async fn read_memberships(
    cloud: &Cloud,
    compute: &Observation<ComputePicture>,
    traits: &mut Traits,
    measures: &Measures,
) -> Result<MembershipPicture, Trouble> {
    let mut aggregates: BTreeMap<String, Vec<NovaAggregate>> = BTreeMap::new();
    let listed = measures.counted("aggregates", cloud.aggregates()).await;
    for found in listed.map_err(|error| trouble(&error))? {
        for (host, aggregate) in memberships(&found) {
            aggregates.entry(host).or_default().push(aggregate);
        }
    }
    let known;
    let hypervisors = match compute.value() {
        Some(picture) => &picture.hypervisors,
        None => {
            known = Box::pin(read_compute(cloud, measures)).await?.hypervisors;
            &known
        }
    };
    Ok(MembershipPicture { aggregates, traits: traits.read(cloud, hypervisors.values(), measures).await? })
}

/// The traits of each provider, with the generation that they were read at. Placement has no list of all traits, but one
/// of all generations, and a provider's generation moves when its traits do: only those that moved are asked for.
#[derive(Debug, Default)]
struct Traits(BTreeMap<Uuid, (i64, Vec<String>)>);

impl Traits {
    /// Those of each hypervisor, some at a time. One that Placement has no provider for yet is left out: that is not the
    /// same as no traits.
    async fn read(
        &mut self,
        cloud: &Cloud,
        hypervisors: impl Iterator<Item = &NovaHypervisor>,
        measures: &Measures,
    ) -> Result<BTreeMap<String, Vec<String>>, Trouble> {
        let listed = measures.counted("providers", cloud.resource_providers()).await;
        let providers = listed.map_err(|error| trouble(&error))?;
        let generations: BTreeMap<Uuid, Option<i64>> =
            providers.into_iter().map(|provider| (provider.uuid, provider.generation)).collect();
        self.0.retain(|provider, _| generations.contains_key(provider));
        let wanted: Vec<(String, Uuid)> = hypervisors
            .filter_map(|found| Some((found.id.clone(), found.id.parse().ok()?)))
            .filter(|(_, provider)| generations.contains_key(provider))
            .collect();
        let moved = wanted.iter().map(|(_, provider)| *provider).filter(|provider| {
            let known = self.0.get(provider).map(|(generation, _)| *generation);
            known.is_none() || generations.get(provider).copied().flatten() != known
        });
        let moved: Vec<Uuid> = moved.collect();
        let mut read = stream::iter(moved)
            .map(|provider| async move {
                let found = measures.counted("traits", cloud.provider_traits(provider)).await;
                let found = found.map_err(|error| trouble(&error))?;
                Ok((provider, found))
            })
            .buffer_unordered(TRAITS_AT_A_TIME);
        while let Some((provider, found)) = read.try_next().await? {
            match found {
                Some(found) => {
                    self.0.insert(provider, (found.generation, found.traits.into_iter().collect()))
                }
                None => self.0.remove(&provider),
            };
        }
        drop(read);
        let known = |(id, provider): (String, Uuid)| Some((id, self.0.get(&provider)?.1.clone()));
        Ok(wanted.into_iter().filter_map(known).collect())
    }
}

fn memberships(found: &Aggregate) -> Vec<(String, NovaAggregate)> {
    let aggregate = NovaAggregate {
        name: found.name.clone().unwrap_or_default(),
        uuid: found.uuid.map(|uuid| uuid.to_string()).unwrap_or_default(),
        metadata: found.metadata.clone(),
    };
    found.hosts.iter().flatten().map(|host| (host.clone(), aggregate.clone())).collect()
}

fn trouble(error: &Error) -> Trouble {
    let state = match error.failure() {
        _ if error.is_unauthorized() => SourceState::Denied,
        Some(Failure::Deadline { .. }) => SourceState::Stale,
        _ => SourceState::Unreachable,
    };
    Trouble { state, message: error.report() }
}
