//! One of the replicas under test: the real program, kept at its port over restarts. All keep intent in the cluster, where each takes a slot.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use c5c3_e2e::rig::Rig;
use c5c3_e2e::server::Server;

use crate::fleet::{NODE_LABEL, SimulatedFleet};

/// How long a replica serves on after SIGTERM, so that everybody has heard of it.
pub const DELAY: std::time::Duration = std::time::Duration::from_secs(3);

/// Starts a replica for this fleet, with a serving certificate in a folder that a test may rotate.
///
/// # Errors
/// When it does not become ready.
pub fn start(rig: &Rig, fleet: &SimulatedFleet, serving: &Path) -> Result<Server> {
    let rest = fleet.configuration()?;
    Server::start_as(rig, |port| {
        let mut text = format!(
            "listen: 127.0.0.1:{port}
serving: {{certificate: {serving}/tls.crt, key: {serving}/tls.key}}
kubernetes: {{kubeconfig: {state}/kube/c5c3-apiserver.kubeconfig, nodeLabel: {NODE_LABEL}}}
refresh: {{counters: 2s, services: 2s, memberships: 5s, slowTick: 10s}}
intent: {{kubernetes: {{}}}}
shutdown: {{delay: {delay}s, grace: 5s}}
",
            serving = serving.display(),
            state = rig.state.display(),
            delay = DELAY.as_secs(),
        );
        // Writing to a String does not fail.
        let _ = text.write_str(&rest);
        text
    })
}
