//! What happens by itself: a domain starts, migrates, comes to its end; a bond member flaps; traffic flows.

use std::sync::Arc;
use std::time::Duration;

use fleet_simulator::model::{Domain, DomainState, Fleet, Host, migrate};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Pause between two steps.
const STEP: Duration = Duration::from_secs(5);
/// How long the migration takes.
const MIGRATION: Duration = Duration::from_secs(8);

/// Tells the story over and over until told to end.
pub(super) async fn tell(fleet: Arc<Fleet>, end: CancellationToken) {
    let (Some(from), Some(to)) = (fleet.hosts.first(), fleet.hosts.get(1)) else { return };
    let mut chapter: u32 = 1;
    loop {
        tokio::select! {
            () = tell_once(from, to, chapter) => {}
            () = end.cancelled() => return,
        }
        chapter += 1;
    }
}

async fn tell_once(from: &Host, to: &Host, chapter: u32) {
    let uuid = Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("demo chapter {chapter}").as_bytes());
    pause().await;
    from.define(domain(uuid, chapter));
    from.start(uuid);
    from.plug(uuid);
    tracing::info!(domain = %uuid, host = %from.name, "story: a domain starts");

    pause().await;
    from.set_bond_member("bond0", "eno2", false);
    from.count("eno1", &[("rx_packets", 1_200), ("rx_bytes", 900_000), ("rx_dropped", 3)]);
    tracing::info!(host = %from.name, "story: bond member eno2 loses its link");

    pause().await;
    from.set_bond_member("bond0", "eno2", true);
    tracing::info!(host = %from.name, "story: bond member eno2 is back");

    pause().await;
    tracing::info!(domain = %uuid, from = %from.name, to = %to.name, "story: the domain migrates");
    migrate(from, to, uuid, MIGRATION).await;
    from.unplug(uuid);
    to.plug(uuid);

    pause().await;
    to.stop(uuid);
    to.unplug(uuid);
    tracing::info!(domain = %uuid, host = %to.name, "story: the domain stops");
}

async fn pause() {
    tokio::time::sleep(STEP).await;
}

/// A domain without a definition: when it stops it is gone, so that the story can begin anew.
fn domain(uuid: Uuid, chapter: u32) -> Domain {
    const MEMORY_KIB: u64 = 2 * 1024 * 1024;
    Domain {
        uuid,
        name: format!("instance-d{chapter:07x}"),
        id: None,
        state: DomainState::SHUTOFF,
        vcpus: 2,
        memory_kib: MEMORY_KIB,
        max_memory_kib: MEMORY_KIB,
        running_since: None,
        persistent: false,
        server_name: Some(format!("demo-{chapter}")),
        job: None,
    }
}
