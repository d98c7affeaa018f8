//! Reading domains: in bulk, and without waiting for one that is busy.
//!
//! A plain question about a domain waits up to 30 s for its job lock, which a migrating domain holds all the time; that would
//! silence the whole host just when people look at it. Drivers without bulk statistics are asked domain by domain.

use std::collections::BTreeMap;

use libvirt_rpc::{CallError, Connection, DomainFilter, DomainRef, DomainStats, StatsFlags, StatsGroups};
use uuid::Uuid;

use crate::sources::picture::DomainPicture;

type Domains = BTreeMap<Uuid, DomainPicture>;

/// All domains. One that goes between the list and its details is left out; what cannot be told now is as it was.
pub(super) async fn read_all(connection: &Connection, earlier: &Domains) -> Result<Domains, CallError> {
    let listed = connection.list_all_domains(DomainFilter::NONE).await?;
    let told = statistics(connection, &[]).await?;
    let mut domains = Domains::new();
    for domain in &listed {
        let stats = told.as_ref().and_then(|told| told.get(&domain.uuid));
        if let Some(picture) = read(connection, domain, stats, earlier.get(&domain.uuid)).await? {
            domains.insert(domain.uuid, picture);
        }
    }
    Ok(domains)
}

/// One domain; `None` when there is none.
pub(super) async fn read_one(
    connection: &Connection,
    uuid: Uuid,
    earlier: Option<&DomainPicture>,
) -> Result<Option<DomainPicture>, CallError> {
    let domain = match connection.lookup_by_uuid(uuid).await {
        Ok(domain) => domain,
        Err(error) if error.is_no_domain() => return Ok(None),
        Err(error) => return Err(error),
    };
    let told = match statistics(connection, std::slice::from_ref(&domain)).await {
        Err(error) if error.is_no_domain() => return Ok(None),
        told => told?,
    };
    let stats = told.as_ref().and_then(|told| told.get(&uuid));
    read(connection, &domain, stats, earlier).await
}

/// Bulk statistics by domain; `None` where driver or daemon have none.
async fn statistics(
    connection: &Connection,
    domains: &[DomainRef],
) -> Result<Option<BTreeMap<Uuid, DomainStats>>, CallError> {
    let groups = StatsGroups::STATE | StatsGroups::BALLOON | StatsGroups::VCPU;
    match connection.all_domain_stats(domains, groups, StatsFlags::NOWAIT).await {
        Ok(stats) => Ok(Some(stats.into_iter().map(|stats| (stats.domain.uuid, stats)).collect())),
        Err(error) if error.is_unsupported() => Ok(None),
        Err(error) => Err(error),
    }
}

async fn read(
    connection: &Connection,
    domain: &DomainRef,
    stats: Option<&DomainStats>,
    earlier: Option<&DomainPicture>,
) -> Result<Option<DomainPicture>, CallError> {
    let state = match stats.and_then(DomainStats::state) {
        Some(state) => state,
        None => match connection.domain_state(domain).await {
            Ok(state) => state,
            Err(error) if error.is_no_domain() => return Ok(None),
            Err(error) => return Err(error),
        },
    };
    let mut vcpus = stats.and_then(DomainStats::vcpus).or(earlier.and_then(|earlier| earlier.vcpus));
    let memory = stats.and_then(|stats| stats.memory_kib().or(stats.max_memory_kib()));
    let mut memory_kib = memory.or(earlier.and_then(|earlier| earlier.memory_kib));
    if vcpus.is_none() || memory_kib.is_none() {
        match connection.domain_info(domain).await {
            Ok(info) => {
                vcpus = Some(u64::from(info.vcpus));
                memory_kib = Some(info.memory_kib);
            }
            // Refused, or too busy to tell: its size is not known yet.
            Err(error) if error.remote().is_some() => {}
            Err(error) => return Err(error),
        }
    }
    let (state, reason) = state.raw();
    let name = domain.name.clone();
    Ok(Some(DomainPicture { name, active: domain.id.is_some(), state, reason, vcpus, memory_kib }))
}
