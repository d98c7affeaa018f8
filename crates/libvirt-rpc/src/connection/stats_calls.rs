//! Statistics of domains: in bulk where the daemon can, else one by one from what it has.

use super::domain_calls::DOMAINS_MAX;
use super::{Connection, DomainFilter, StatsFlags, StatsGroups};
use crate::wire::{DecodeError, Decoder, Encoder, List, Procedure, Xdr};
use crate::{
    BlockInfo, BlockStats, BulkStats, CallError, DiskError, DomainInfo, DomainRef, DomainStats,
    InterfaceStats, TypedParams, TypedValue,
};

/// Most parameters of one domain's statistics.
const STATS_PARAMS_MAX: usize = 262_144;
/// Most disk errors of one domain.
const DISK_ERRORS_MAX: usize = 256;
/// Domains in one question, where the answer about all does not fit into a frame.
const PART: usize = 512;

impl Connection {
    /// Statistics of many domains; of all for an empty `domains`.
    ///
    /// Where the daemon or the driver has no such call, each domain is asked by itself, and its record holds what the older calls
    /// know: state, CPU time, memory, number of virtual CPUs. An answer too large for a frame is fetched in parts.
    ///
    /// # Errors
    /// See [`CallError`]; [`CallError::is_no_domain`] when a named domain is not there.
    pub async fn all_domain_stats(
        &self,
        domains: &[DomainRef],
        groups: StatsGroups,
        flags: StatsFlags,
    ) -> Result<Vec<DomainStats>, CallError> {
        match self.bulk_stats(domains, groups, flags).await {
            Err(error) if error.is_unsupported() => self.stats_one_by_one(domains, groups, flags).await,
            Err(error) if domains.is_empty() && error.is_answer_too_large() => {
                self.stats_in_parts(groups, flags).await
            }
            told => told,
        }
    }

    /// The same, to be read in place: for followers of many hosts.
    ///
    /// # Errors
    /// See [`CallError`]; [`CallError::is_unsupported`] on drivers without it.
    pub async fn domain_stats(
        &self,
        domains: &[DomainRef],
        groups: StatsGroups,
        flags: StatsFlags,
    ) -> Result<BulkStats, CallError> {
        let arguments = (List::<_, DOMAINS_MAX>(domains.to_vec()), groups.0, flags.0);
        self.call(Procedure::ConnectGetAllDomainStats, &arguments).await
    }

    async fn bulk_stats(
        &self,
        domains: &[DomainRef],
        groups: StatsGroups,
        flags: StatsFlags,
    ) -> Result<Vec<DomainStats>, CallError> {
        let arguments = (List::<_, DOMAINS_MAX>(domains.to_vec()), groups.0, flags.0);
        let List(records): List<StatsRecord, DOMAINS_MAX> =
            self.call(Procedure::ConnectGetAllDomainStats, &arguments).await?;
        Ok(records.into_iter().map(|StatsRecord(stats)| stats).collect())
    }

    async fn stats_in_parts(
        &self,
        groups: StatsGroups,
        flags: StatsFlags,
    ) -> Result<Vec<DomainStats>, CallError> {
        let listed = self.list_all_domains(filter_of(flags)).await?;
        let mut records = Vec::new();
        for part in listed.chunks(PART) {
            match self.bulk_stats(part, groups, flags).await {
                // One of them went meanwhile, and with it the answer about the others.
                Err(error) if error.is_no_domain() => {
                    for domain in part {
                        match self.bulk_stats(std::slice::from_ref(domain), groups, flags).await {
                            Err(error) if error.is_no_domain() => {}
                            told => records.extend(told?),
                        }
                    }
                }
                told => records.extend(told?),
            }
        }
        Ok(records)
    }

    async fn stats_one_by_one(
        &self,
        domains: &[DomainRef],
        groups: StatsGroups,
        flags: StatsFlags,
    ) -> Result<Vec<DomainStats>, CallError> {
        let all = domains.is_empty();
        let listed = if all { self.list_all_domains(filter_of(flags)).await? } else { domains.to_vec() };
        let mut records = Vec::new();
        // A daemon that is too busy to say more about one domain would be so about each.
        let mut patient = true;
        for domain in listed {
            match self.stats_of(&domain, groups, &mut patient).await {
                Ok(params) => records.push(DomainStats::new(domain, params)),
                // Gone since it was listed.
                Err(error) if all && error.is_no_domain() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(records)
    }

    async fn stats_of(
        &self,
        domain: &DomainRef,
        groups: StatsGroups,
        patient: &mut bool,
    ) -> Result<TypedParams, CallError> {
        let mut params = Vec::new();
        let state = self.domain_state(domain).await?;
        if wants(groups, StatsGroups::STATE) {
            let (number, reason) = state.raw();
            params.push(("state.state", TypedValue::Int(number)));
            params.push(("state.reason", TypedValue::Int(reason)));
        }
        let sizes = [StatsGroups::CPU_TOTAL, StatsGroups::BALLOON, StatsGroups::VCPU];
        if *patient && sizes.into_iter().any(|group| wants(groups, group)) {
            match self.domain_info(domain).await {
                Ok(info) => add_info(&mut params, &info, groups, state.is_active()),
                Err(error) if error.is_no_domain() => return Err(error),
                Err(CallError::Timeout { .. }) => *patient = false,
                // Refused or busy: what it is in is known, how large it is is not.
                Err(error) if error.remote().is_some() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(TypedParams::from_iter(params))
    }

    /// Size of a disk, by its path or its name in the guest (`vda`).
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn block_info(&self, domain: &DomainRef, disk: &str) -> Result<BlockInfo, CallError> {
        self.call(Procedure::DomainGetBlockInfo, &(domain.clone(), disk.to_owned(), 0_u32)).await
    }

    /// What went through a disk, by its path or its name in the guest. [`Connection::all_domain_stats`] tells it of all at once.
    ///
    /// # Errors
    /// See [`CallError`]; [`CallError::is_operation_invalid`] when the domain is not running.
    pub async fn block_stats(&self, domain: &DomainRef, disk: &str) -> Result<BlockStats, CallError> {
        self.call(Procedure::DomainBlockStats, &(domain.clone(), disk.to_owned())).await
    }

    /// What went through an interface, by its name on the host or its MAC address, as the guest sees it.
    ///
    /// # Errors
    /// See [`CallError`]; [`CallError::is_operation_invalid`] when the domain is not running.
    pub async fn interface_stats(
        &self,
        domain: &DomainRef,
        interface: &str,
    ) -> Result<InterfaceStats, CallError> {
        self.call(Procedure::DomainInterfaceStats, &(domain.clone(), interface.to_owned())).await
    }

    /// Disks whose errors stopped the domain.
    ///
    /// # Errors
    /// See [`CallError`]; [`CallError::is_operation_invalid`] when the domain is not running.
    pub async fn disk_errors(&self, domain: &DomainRef) -> Result<Vec<DiskError>, CallError> {
        let most = u32::try_from(DISK_ERRORS_MAX).unwrap_or(u32::MAX);
        let (List(errors), _count): (List<DiskError, DISK_ERRORS_MAX>, i32) =
            self.call(Procedure::DomainGetDiskErrors, &(domain.clone(), most, 0_u32)).await?;
        Ok(errors)
    }
}

fn wants(groups: StatsGroups, group: StatsGroups) -> bool {
    groups == StatsGroups::NONE || groups.0 & group.0 != 0
}

fn filter_of(flags: StatsFlags) -> DomainFilter {
    DomainFilter(flags.0 & (StatsFlags::ACTIVE.0 | StatsFlags::INACTIVE.0))
}

fn add_info(
    params: &mut Vec<(&'static str, TypedValue)>,
    info: &DomainInfo,
    groups: StatsGroups,
    active: bool,
) {
    if wants(groups, StatsGroups::CPU_TOTAL) && active {
        params.push(("cpu.time", TypedValue::Ulong(info.cpu_time_ns)));
    }
    if wants(groups, StatsGroups::BALLOON) {
        if active {
            params.push(("balloon.current", TypedValue::Ulong(info.memory_kib)));
        }
        params.push(("balloon.maximum", TypedValue::Ulong(info.max_memory_kib)));
    }
    if wants(groups, StatsGroups::VCPU) {
        params.push(("vcpu.current", TypedValue::Uint(info.vcpus.into())));
    }
}

struct StatsRecord(DomainStats);

impl Xdr for StatsRecord {
    const MIN_BYTES: usize = DomainRef::MIN_BYTES + 4;
    fn encode(&self, to: &mut Encoder) {
        self.0.domain.encode(to);
        self.0.params.encode_as::<STATS_PARAMS_MAX>(to);
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let domain = Xdr::decode(from)?;
        Ok(Self(DomainStats::new(domain, TypedParams::decode_as::<STATS_PARAMS_MAX>(from)?)))
    }
}
