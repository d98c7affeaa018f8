//! Reading domains: in bulk, and without waiting for one that is busy.
//!
//! A plain question about a domain waits up to 30 s for its job lock, which a migrating domain holds all the time; that would
//! silence the whole host just when people look at it. Drivers without bulk statistics are asked domain by domain.
//!
//! Nearly every reading finds what the one before found. So the answer is compared with that where it lies, and only
//! what differs is made anew: thousands of hosts are read every few seconds.

use std::collections::BTreeMap;
use std::sync::Arc;

use libvirt_rpc::wire::Procedure;
use libvirt_rpc::{
    BulkRecord, BulkStats, CallError, Connection, DomainFilter, DomainRef, StatsFlags, StatsGroups,
};
use uuid::Uuid;

use crate::configuration::Refresh;
use crate::sources::picture::DomainPicture;

type Domains = BTreeMap<Uuid, DomainPicture>;

/// How much is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Everything the picture shows.
    Whole,
    /// Without the number of virtual CPUs, which seldom changes and costs the daemon and us most to tell.
    Usual,
}

/// When everything is asked again: with every slow tick, once.
#[derive(Debug)]
pub(super) struct Depths {
    usual: u32,
    left: u32,
}

impl Depths {
    /// After a first reading of everything.
    pub(super) fn of(refresh: &Refresh) -> Self {
        let times = refresh.slow_tick.duration().as_secs_f64() / refresh.counters.duration().as_secs_f64();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
        let usual = times.clamp(1.0, 1_000.0) as u32 - 1;
        Self { usual, left: usual }
    }

    /// How much is asked the next time.
    pub(super) fn next(&mut self) -> Depth {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Depth::Usual
            }
            None => {
                self.left = self.usual;
                Depth::Whole
            }
        }
    }
}

/// All domains; those of before when nothing is different. One that goes between the list and its details is left out;
/// what cannot be told now is as it was.
pub(super) async fn read_all(
    connection: &Connection,
    depth: Depth,
    earlier: &Arc<Domains>,
) -> Result<Arc<Domains>, CallError> {
    let groups = match depth {
        Depth::Whole => StatsGroups::STATE | StatsGroups::BALLOON | StatsGroups::VCPU,
        Depth::Usual => StatsGroups::STATE | StatsGroups::BALLOON,
    };
    let told = match connection.domain_stats(&[], groups, StatsFlags::NOWAIT).await {
        Ok(reply) => heard(&reply)?,
        // Neither driver nor daemon have bulk statistics.
        Err(error) if error.is_unsupported() => {
            let listed = connection.list_all_domains(DomainFilter::NONE).await?;
            listed.into_iter().map(Heard::of_list).collect()
        }
        Err(error) => return Err(error),
    };
    let same = |heard: &Heard| earlier.get(&heard.uuid).is_some_and(|domain| heard.is(domain));
    if told.len() == earlier.len() && told.iter().all(same) {
        return Ok(Arc::clone(earlier));
    }
    let mut domains = Domains::new();
    for heard in told {
        let before = earlier.get(&heard.uuid);
        let uuid = heard.uuid;
        if let Some(picture) = complete(connection, heard, before).await? {
            domains.insert(uuid, picture);
        }
    }
    Ok(Arc::new(domains))
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
    let groups = StatsGroups::STATE | StatsGroups::BALLOON | StatsGroups::VCPU;
    let asked = std::slice::from_ref(&domain);
    let told = match connection.domain_stats(asked, groups, StatsFlags::NOWAIT).await {
        Ok(reply) => heard(&reply)?.into_iter().find(|heard| heard.uuid == uuid),
        Err(error) if error.is_unsupported() => None,
        Err(error) if error.is_no_domain() => return Ok(None),
        Err(error) => return Err(error),
    };
    complete(connection, told.unwrap_or_else(|| Heard::of_list(domain)), earlier).await
}

/// What bulk statistics say of one domain. What the daemon could not learn without waiting is absent.
#[derive(Debug)]
struct Heard {
    uuid: Uuid,
    name: String,
    active: bool,
    state: Option<(i32, i32)>,
    vcpus: Option<u64>,
    memory_kib: Option<u64>,
}

fn heard(reply: &BulkStats) -> Result<Vec<Heard>, CallError> {
    let records = reply.records().and_then(|records| records.map(|record| Ok(Heard::of(&record?))).collect());
    records.map_err(|source| CallError::Malformed { procedure: Procedure::ConnectGetAllDomainStats, source })
}

impl Heard {
    fn of(record: &BulkRecord<'_>) -> Self {
        let (mut state, mut reason) = (None, None);
        let (mut current, mut maximum, mut vcpus) = (None, None, None);
        for (name, value) in record.params() {
            let place = match name.as_ref() {
                "state.state" => &mut state,
                "state.reason" => &mut reason,
                "balloon.current" => &mut current,
                "balloon.maximum" => &mut maximum,
                "vcpu.current" => &mut vcpus,
                _ => continue,
            };
            *place = value.as_u64();
        }
        let small = |number: u64| i32::try_from(number).ok();
        Self {
            uuid: record.uuid,
            name: record.name.clone().into_owned(),
            active: record.id.is_some(),
            state: state.and_then(small).zip(reason.and_then(small)),
            vcpus,
            memory_kib: current.or(maximum),
        }
    }

    fn of_list(domain: DomainRef) -> Self {
        let DomainRef { name, uuid, id } = domain;
        Self { uuid, name, active: id.is_some(), state: None, vcpus: None, memory_kib: None }
    }

    /// Whether it says nothing that the picture does not show, and the picture lacks nothing.
    fn is(&self, picture: &DomainPicture) -> bool {
        let known =
            |told: Option<u64>, shown: Option<u64>| shown.is_some() && (told.is_none() || told == shown);
        self.state == Some((picture.state, picture.reason))
            && self.active == picture.active
            && known(self.vcpus, picture.vcpus)
            && known(self.memory_kib, picture.memory_kib)
            && self.name == picture.name
    }
}

/// The picture of a domain: what was heard, what was known before, and for the rest the domain is asked itself.
async fn complete(
    connection: &Connection,
    heard: Heard,
    earlier: Option<&DomainPicture>,
) -> Result<Option<DomainPicture>, CallError> {
    let Heard { uuid, name, active, state, vcpus, memory_kib } = heard;
    let domain = DomainRef::from(uuid);
    let (state, reason) = match state {
        Some(state) => state,
        None => match connection.domain_state(&domain).await {
            Ok(state) => state.raw(),
            Err(error) if error.is_no_domain() => return Ok(None),
            Err(error) => return Err(error),
        },
    };
    let mut vcpus = vcpus.or(earlier.and_then(|earlier| earlier.vcpus));
    let mut memory_kib = memory_kib.or(earlier.and_then(|earlier| earlier.memory_kib));
    if vcpus.is_none() || memory_kib.is_none() {
        match connection.domain_info(&domain).await {
            Ok(info) => {
                vcpus = Some(u64::from(info.vcpus));
                memory_kib = Some(info.memory_kib);
            }
            // Refused, or too busy to tell: its size is not known yet.
            Err(error) if error.remote().is_some() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(DomainPicture { name, active, state, reason, vcpus, memory_kib }))
}
