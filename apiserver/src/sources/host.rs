//! All source tasks of one host: started together, ended together.

use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use super::report::{RefreshHandle, Reports};
use super::{Settings, libvirt, openvswitch};
use crate::configuration::Reach;

/// The running source tasks of one host; they end when this is dropped.
#[derive(Debug)]
pub struct HostTasks {
    reach: Reach,
    handles: Vec<RefreshHandle>,
    inspector: Option<libvirt::Inspector>,
    _end: DropGuard,
}

impl HostTasks {
    /// Starts a task for each source that can be reached.
    pub fn start(
        host: &str,
        reach: Reach,
        settings: &Settings,
        reports: &Reports,
        tasks: &TaskTracker,
        end: &CancellationToken,
    ) -> Self {
        let end = end.child_token();
        let mut handles = Vec::new();
        let mut inspector = None;
        let span = |source: &'static str| tracing::info_span!("source", host, source);
        if let Some(access) = libvirt::Access::new(&reach, settings) {
            let (handle, requests) = RefreshHandle::channel();
            handles.push(handle);
            let (source, asked) = libvirt::Source::new(host, access, settings.clone(), reports.clone());
            inspector = Some(asked);
            tasks.spawn(source.run(requests, end.clone()).instrument(span("libvirt")));
        }
        let mut daemons = None;
        if let Some(folder) = &reach.openvswitch_run {
            let (handle, requests) = RefreshHandle::channel();
            handles.push(handle);
            let source = openvswitch::flows::Source::new(host, folder, settings.clone(), reports.clone());
            tasks.spawn(source.run(requests, end.clone()).instrument(span("openflow")));
            let (handle, requests) = RefreshHandle::channel();
            handles.push(handle.clone());
            daemons = Some(handle);
            let ovn = reach.ovn_run.as_deref();
            let source =
                openvswitch::daemons::Source::new(host, folder, ovn, settings.clone(), reports.clone());
            tasks.spawn(source.run(requests, end.clone()).instrument(span("unixctl")));
        }
        if let Some(endpoint) = &reach.ovsdb {
            let (handle, requests) = RefreshHandle::channel();
            handles.push(handle);
            let source = openvswitch::database::Source::new(
                host,
                endpoint,
                settings.clone(),
                reports.clone(),
                daemons,
            );
            tasks.spawn(source.run(requests, end.clone()).instrument(span("ovsdb")));
        }
        Self { reach, handles, inspector, _end: end.drop_guard() }
    }

    /// How the host is reached.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    /// The way to ask its libvirt about its domains, if that is read.
    pub fn inspector(&self) -> Option<libvirt::Inspector> {
        self.inspector.clone()
    }

    /// Handles to have the sources read again.
    pub fn handles(&self) -> Vec<RefreshHandle> {
        self.handles.clone()
    }
}
