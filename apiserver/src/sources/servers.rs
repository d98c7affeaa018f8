//! Nova's servers of one host compared with its domains, when somebody looks at that host.
//!
//! Servers are never listed for the whole cloud, and not again and again for every host: that would cost Nova more than all
//! users together. So who reads one Hypervisor has its host compared, at most once in a while, and what was found is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use jiff::Timestamp;
use nova_client::{Cloud, Error, Server};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::observation::Observation;
use super::picture::ServersPicture;
use super::report::{HostObserved, Report, Reports};
use super::{Measures, task};
use crate::configuration::Refresh;

/// Comparisons at the same time.
const AT_A_TIME: usize = 4;
/// Comparisons that may wait.
const WAITING: usize = 256;
/// Domains that are looked up one by one because the host's list does not have them.
const LOOKUPS: usize = 20;

/// A host to compare.
#[derive(Debug)]
pub struct Comparison {
    /// The host.
    pub host: String,
    /// Host name of its nova-compute service.
    pub nova_host: String,
    /// Its domains.
    pub domains: BTreeSet<Uuid>,
    /// Told when what was found can be seen; dropped when nothing was.
    pub done: oneshot::Sender<()>,
}

/// Where comparisons are asked for.
pub type Comparisons = mpsc::Sender<Comparison>;

/// A queue for comparisons.
pub fn comparisons() -> (Comparisons, mpsc::Receiver<Comparison>) {
    mpsc::channel(WAITING)
}

/// Answers as long as somebody may ask.
pub(super) async fn answer(
    cloud: &Cloud,
    asked: &mut mpsc::Receiver<Comparison>,
    reports: &Reports,
    refresh: &Refresh,
    measures: &Measures,
) {
    let within = refresh.deadline.duration();
    let mut streaming = stream::poll_fn(|context| asked.poll_recv(context))
        .map(|comparison| compare(cloud, comparison, reports, within, measures))
        .buffer_unordered(AT_A_TIME);
    while streaming.next().await.is_some() {}
}

async fn compare(
    cloud: &Cloud,
    comparison: Comparison,
    reports: &Reports,
    within: Duration,
    measures: &Measures,
) {
    let Comparison { host, nova_host, domains, done } = comparison;
    let read = measures.counted("servers", read(cloud, &nova_host, &domains));
    let picture = match tokio::time::timeout(within, read).await {
        Ok(Ok(picture)) => picture,
        Ok(Err(error)) => {
            tracing::info!(%host, error = %error.report(), "servers could not be compared");
            return;
        }
        Err(_) => {
            tracing::info!(%host, "servers could not be compared in time");
            return;
        }
    };
    let observed = HostObserved::Servers(Observation::fresh(picture, Timestamp::now()));
    task::tell(reports, Report::Host { host: host.clone(), observed }).await;
    task::tell(reports, Report::Asked { host, waiting: vec![done] }).await;
}

async fn read(cloud: &Cloud, nova_host: &str, domains: &BTreeSet<Uuid>) -> Result<ServersPicture, Error> {
    let servers = cloud.servers_of_host(nova_host).await?;
    let listed: BTreeSet<Uuid> = servers.iter().map(|server| server.id).collect();
    let mut found = BTreeMap::new();
    for domain in domains.difference(&listed).take(LOOKUPS) {
        found.insert(*domain, cloud.server(*domain).await?);
    }
    Ok(difference(&servers, domains, &found))
}

/// What does not fit. Servers that Nova is busy with come and go, and so do their domains: they are left out.
fn difference(
    servers: &[Server],
    domains: &BTreeSet<Uuid>,
    looked_up: &BTreeMap<Uuid, Option<Server>>,
) -> ServersPicture {
    let settled = |server: &&Server| {
        let status = server.status.as_deref().unwrap_or_default();
        server.task_state.is_none()
            && matches!(status, "ACTIVE" | "SHUTOFF" | "PAUSED" | "SUSPENDED" | "ERROR")
    };
    let without_domain = servers.iter().filter(settled).filter(|server| !domains.contains(&server.id));
    let mut picture = ServersPicture {
        without_domain: without_domain
            .map(|server| (server.id, server.status.clone().unwrap_or_default()))
            .collect(),
        ..ServersPicture::default()
    };
    for (domain, server) in looked_up {
        match server {
            None => drop(picture.without_server.insert(*domain)),
            Some(server) if settled(&server) => {
                if let Some(host) = server.host.clone() {
                    picture.elsewhere.insert(*domain, host);
                }
            }
            Some(_) => {}
        }
    }
    picture
}
