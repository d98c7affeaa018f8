//! What a source task sends to the inventory, and what the inventory may ask of it.

use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};

use super::observation::Observation;
use super::picture::{
    ComputePicture, DaemonPicture, FlowPicture, LibvirtPicture, MembershipPicture, NodePicture,
    ServersPicture, SwitchPicture,
};

/// One observation, addressed.
#[derive(Debug)]
pub enum Report {
    /// About one host.
    Host {
        /// Host name, which is its Node's name.
        host: String,
        /// What was observed.
        observed: HostObserved,
    },
    /// About compute services and hypervisors of the cloud.
    Compute(Observation<ComputePicture>),
    /// About aggregates and traits of the cloud.
    Membership(Observation<MembershipPicture>),
    /// Somebody waits until all that was reported of a host before this can be seen, its age included.
    Asked {
        /// The host.
        host: String,
        /// Who waits.
        waiting: Vec<oneshot::Sender<()>>,
    },
}

/// An observation of one host by one source.
#[derive(Debug)]
pub enum HostObserved {
    /// By libvirtd.
    Libvirt(Observation<LibvirtPicture>),
    /// By ovsdb-server.
    Switch(Observation<SwitchPicture>),
    /// By the bridges' OpenFlow management sockets.
    Flows(Observation<FlowPicture>),
    /// By the daemons' unixctl sockets.
    Daemons(Observation<DaemonPicture>),
    /// By the Kubernetes Node.
    Node(Observation<NodePicture>),
    /// By Nova, of its servers on the host.
    Servers(Observation<ServersPicture>),
}

impl HostObserved {
    /// When what this says was read, if the source answers.
    pub fn read_at(&self) -> Option<Timestamp> {
        fn of<T>(observation: &Observation<T>) -> Option<Timestamp> {
            observation.observed_at.filter(|_| observation.is_connected())
        }
        match self {
            Self::Libvirt(observation) => of(observation),
            Self::Switch(observation) => of(observation),
            Self::Flows(observation) => of(observation),
            Self::Daemons(observation) => of(observation),
            Self::Node(observation) => of(observation),
            Self::Servers(observation) => of(observation),
        }
    }
}

/// Where source tasks send their reports.
pub type Reports = mpsc::Sender<Report>;

/// Asks a source task to read again at once; answered when what was read is published.
#[derive(Debug, Clone)]
pub struct RefreshHandle(mpsc::Sender<oneshot::Sender<()>>);

/// The task's end of a [`RefreshHandle`].
pub type RefreshRequests = mpsc::Receiver<oneshot::Sender<()>>;

/// A request to read again, and all others that wait by now: one reading answers them all.
pub fn with_waiting(first: oneshot::Sender<()>, requests: &mut RefreshRequests) -> Vec<oneshot::Sender<()>> {
    let mut asked = vec![first];
    while let Ok(request) = requests.try_recv() {
        asked.push(request);
    }
    asked
}

impl RefreshHandle {
    /// A handle and the task's end of it.
    pub fn channel() -> (Self, RefreshRequests) {
        let (sender, receiver) = mpsc::channel(16);
        (Self(sender), receiver)
    }

    /// Has the source read again soon, and does not wait for it. One that is busy with requests does so anyway.
    pub fn hint(&self) {
        let (done, _) = oneshot::channel();
        let _ = self.0.try_send(done);
    }

    /// Waits until the source has read again and the reading is published, or returns at once if it is busy with more requests than it can take.
    pub async fn refresh(&self) {
        let (done, waiting) = oneshot::channel();
        if self.0.try_send(done).is_ok() {
            // An error means that the task ended or dropped the request: there is nothing newer to wait for.
            let _ = waiting.await;
        }
    }
}
