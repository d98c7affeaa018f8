//! Calls about migrations: to begin one, and to steer it while it runs.

use std::sync::Arc;
use std::time::Duration;

use libvirt_rpc::wire::{List, Opaque, encode};
use libvirt_rpc::{DomainRef, TypedParams, TypedValue};
use uuid::Uuid;

use super::daemon::Daemon;
use super::failure::Failure;
use super::host_calls::read;
use crate::model::{self, Domain};

/// `VIR_MIGRATE_PEER2PEER`.
const PEER_TO_PEER: u32 = 2;
/// Without a limit a migration takes this long.
const QUICK: Duration = Duration::from_secs(2);

type Arguments = (DomainRef, Option<String>, List<(String, TypedValue), 64>, Opaque<4_194_304>, u32);

/// Answers `domain_migrate_perform3_params`, when the migration is over.
pub(super) async fn perform(daemon: Arc<Daemon>, arguments: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let (domain, destination, List(params), _cookie, flags): Arguments = read(&arguments)?;
    let uri = destination.unwrap_or_default();
    if flags & PEER_TO_PEER == 0 {
        return Err(Failure::InvalidArgument(
            "only migrations from daemon to daemon are simulated".to_owned(),
        ));
    }
    let memory_kib = running(&daemon, domain.uuid, |domain| domain.memory_kib)?;
    let to = daemon.destinations.get(&uri).cloned().ok_or(Failure::NoDestination(uri))?;
    let params = TypedParams(params);
    let speed = params.get_u64("bandwidth").unwrap_or(daemon.limits(domain.uuid).mib_per_second);
    let duration = match u32::try_from(speed) {
        // Each pass sends half of what the one before did, so twice the memory in all.
        Ok(speed) if speed > 0 => Duration::from_millis(memory_kib * 2 / 1024 * 1000 / u64::from(speed)),
        _ => QUICK,
    };
    if model::migrate(&daemon.host, &to, domain.uuid, duration.min(QUICK * 2)).await {
        Ok(encode(&Opaque::<4_194_304>::default()))
    } else {
        Err(Failure::Aborted("migration out job: canceled by client"))
    }
}

/// Answers `domain_migrate_get_max_downtime`.
pub(super) fn downtime(daemon: &Daemon, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (domain, _flags): (DomainRef, u32) = read(arguments)?;
    running(daemon, domain.uuid, |_| encode(&daemon.limits(domain.uuid).downtime_ms))
}

/// Answers `domain_migrate_set_max_downtime`.
pub(super) fn set_downtime(daemon: &Daemon, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (domain, milliseconds, _flags): (DomainRef, u64, u32) = read(arguments)?;
    running(daemon, domain.uuid, |_| ())?;
    daemon.set_limits(domain.uuid, |limits| limits.downtime_ms = milliseconds);
    Ok(Vec::new())
}

/// Answers `domain_migrate_get_max_speed`.
pub(super) fn speed(daemon: &Daemon, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (domain, _flags): (DomainRef, u32) = read(arguments)?;
    known(daemon, domain.uuid, |_| encode(&daemon.limits(domain.uuid).mib_per_second))
}

/// Answers `domain_migrate_set_max_speed`.
pub(super) fn set_speed(daemon: &Daemon, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (domain, mib_per_second, _flags): (DomainRef, u64, u32) = read(arguments)?;
    known(daemon, domain.uuid, |_| ())?;
    daemon.set_limits(domain.uuid, |limits| limits.mib_per_second = mib_per_second);
    Ok(Vec::new())
}

/// Answers `domain_migrate_start_post_copy`: no simulated migration was started with it.
pub(super) fn start_post_copy(daemon: &Daemon, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (domain, _flags): (DomainRef, u32) = read(arguments)?;
    running(daemon, domain.uuid, |_| ())?;
    Err(Failure::Invalid("post-copy can only be started while outgoing migration is in progress"))
}

fn known<R>(daemon: &Daemon, uuid: Uuid, look: impl FnOnce(&Domain) -> R) -> Result<R, Failure> {
    daemon.host.read(|state| state.domains.get(&uuid).map(look)).ok_or(Failure::NoDomain(uuid))
}

fn running<R>(daemon: &Daemon, uuid: Uuid, look: impl FnOnce(&Domain) -> R) -> Result<R, Failure> {
    known(daemon, uuid, |domain| domain.state.is_active().then(|| look(domain)))?
        .ok_or(Failure::Invalid("domain is not running"))
}
