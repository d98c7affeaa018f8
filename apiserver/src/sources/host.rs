//! All source tasks of one host: started together, ended together.

use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use super::observation::Observation;
use super::report::{HostObserved, RefreshHandle, Report, Reports};
use super::{Settings, libvirt, openvswitch};
use crate::configuration::Reach;

/// The running source tasks of one host; they end when this is dropped.
#[derive(Debug)]
pub struct HostTasks {
    reach: Reach,
    handles: Vec<RefreshHandle>,
    _end: DropGuard,
}

impl HostTasks {
    /// Starts a task for each source that can be reached, and reports the others as not configured.
    pub async fn start(
        host: &str,
        reach: Reach,
        settings: &Settings,
        reports: &Reports,
        tasks: &TaskTracker,
        end: &CancellationToken,
    ) -> Self {
        let end = end.child_token();
        let mut handles = Vec::new();
        let span = |source: &'static str| tracing::info_span!("source", host, source);
        match &reach.libvirt {
            Some(endpoint) => {
                let (handle, requests) = RefreshHandle::channel();
                handles.push(handle);
                let uri = reach.libvirt_uri.clone().unwrap_or_else(|| "qemu:///system".to_owned());
                let source = libvirt::Source::new(host, endpoint, uri, settings.clone(), reports.clone());
                tasks.spawn(source.run(requests, end.clone()).instrument(span("libvirt")));
            }
            None => disabled(host, HostObserved::Libvirt(Observation::disabled()), reports).await,
        }
        match &reach.ovsdb {
            Some(endpoint) => {
                let (handle, requests) = RefreshHandle::channel();
                handles.push(handle);
                let source =
                    openvswitch::database::Source::new(host, endpoint, settings.clone(), reports.clone());
                tasks.spawn(source.run(requests, end.clone()).instrument(span("ovsdb")));
            }
            None => disabled(host, HostObserved::Switch(Observation::disabled()), reports).await,
        }
        match &reach.openvswitch_run {
            Some(folder) => {
                let (handle, requests) = RefreshHandle::channel();
                handles.push(handle);
                let source = openvswitch::flows::Source::new(host, folder, settings.clone(), reports.clone());
                tasks.spawn(source.run(requests, end.clone()).instrument(span("openflow")));
                let (handle, requests) = RefreshHandle::channel();
                handles.push(handle);
                let ovn = reach.ovn_run.as_deref();
                let source =
                    openvswitch::daemons::Source::new(host, folder, ovn, settings.clone(), reports.clone());
                tasks.spawn(source.run(requests, end.clone()).instrument(span("unixctl")));
            }
            None => {
                disabled(host, HostObserved::Flows(Observation::disabled()), reports).await;
                disabled(host, HostObserved::Daemons(Observation::disabled()), reports).await;
            }
        }
        Self { reach, handles, _end: end.drop_guard() }
    }

    /// How the host is reached.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Handles to have the sources read again.
    pub fn handles(&self) -> Vec<RefreshHandle> {
        self.handles.clone()
    }
}

async fn disabled(host: &str, observed: HostObserved, reports: &Reports) {
    // An error means that the inventory is gone: the server is stopping.
    let _ = reports.send(Report::Host { host: host.to_owned(), observed }).await;
}
