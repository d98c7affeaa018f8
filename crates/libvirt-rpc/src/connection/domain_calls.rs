//! Calls about domains.

use super::Connection;
use crate::wire::{DecodeError, Decoder, Encoder, List, Procedure, Xdr};
use crate::{
    BulkStats, CallError, DomainInfo, DomainRef, DomainState, DomainStats, JobStats, TypedParams, TypedValue,
};

/// Most domains in one list.
const DOMAINS_MAX: usize = 16_384;
/// Most parameters of one domain's statistics.
const STATS_PARAMS_MAX: usize = 262_144;

macro_rules! flags {
    ($(#[$meta:meta])* $name:ident { $($(#[$flag_meta:meta])* $flag:ident = $bits:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name(pub u32);

        impl $name {
            /// No flag.
            pub const NONE: Self = Self(0);
            $($(#[$flag_meta])* pub const $flag: Self = Self($bits);)*
        }

        impl std::ops::BitOr for $name {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }
    };
}

flags! {
    /// Which domains to list. Flags of one pair narrow the list; none or both of a pair do not.
    DomainFilter {
        /// Active ones, or [`DomainFilter::INACTIVE`].
        ACTIVE = 1,
        /// Inactive ones.
        INACTIVE = 2,
        /// With a definition, or [`DomainFilter::TRANSIENT`].
        PERSISTENT = 4,
        /// Without one.
        TRANSIENT = 8,
        /// In state running …
        RUNNING = 16,
        /// … or paused …
        PAUSED = 32,
        /// … or shut off …
        SHUT_OFF = 64,
        /// … or any other state.
        OTHER = 128,
    }
}

flags! {
    /// Which form of a domain's XML.
    XmlFlags {
        /// With secrets; not on a read-only connection.
        SECURE = 1,
        /// What the next start will use.
        INACTIVE = 2,
    }
}

flags! {
    /// Groups of bulk statistics; none means all the driver has.
    StatsGroups {
        /// `state.*`
        STATE = 1,
        /// `cpu.*`
        CPU_TOTAL = 2,
        /// `balloon.*`
        BALLOON = 4,
        /// `vcpu.*`
        VCPU = 8,
        /// `net.*`
        INTERFACE = 16,
        /// `block.*`
        BLOCK = 32,
    }
}

flags! {
    /// How bulk statistics are taken.
    StatsFlags {
        /// Active domains only.
        ACTIVE = 1,
        /// Inactive domains only.
        INACTIVE = 2,
        /// Do not wait for a domain that is busy: say what is known without asking it.
        NOWAIT = 0x2000_0000,
    }
}

impl Connection {
    /// All domains that pass the filter, active and inactive for [`DomainFilter::NONE`].
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn list_all_domains(&self, filter: DomainFilter) -> Result<Vec<DomainRef>, CallError> {
        let (List(domains), _count): (List<DomainRef, DOMAINS_MAX>, u32) =
            self.call(Procedure::ConnectListAllDomains, &(1, filter.0)).await?;
        Ok(domains)
    }

    /// The domain of that UUID.
    ///
    /// # Errors
    /// See [`CallError`]; [`CallError::is_no_domain`] when there is none.
    pub async fn lookup_by_uuid(&self, uuid: uuid::Uuid) -> Result<DomainRef, CallError> {
        self.call(Procedure::DomainLookupByUuid, &uuid).await
    }

    /// The domain of that name.
    ///
    /// # Errors
    /// See [`CallError`]; [`CallError::is_no_domain`] when there is none.
    pub async fn lookup_by_name(&self, name: &str) -> Result<DomainRef, CallError> {
        self.call(Procedure::DomainLookupByName, &name.to_owned()).await
    }

    /// State and reason. Never waits for a busy domain.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn domain_state(&self, domain: &DomainRef) -> Result<DomainState, CallError> {
        let (state, reason) = self.call(Procedure::DomainGetState, &(domain.clone(), 0_u32)).await?;
        Ok(DomainState::from_raw(state, reason))
    }

    /// Size and CPU time. Waits for a busy domain, up to the daemon's 30 s.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn domain_info(&self, domain: &DomainRef) -> Result<DomainInfo, CallError> {
        self.call(Procedure::DomainGetInfo, domain).await
    }

    /// The domain's XML; [`xml::DomainXml`](crate::xml::DomainXml) reads it.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn domain_xml(&self, domain: &DomainRef, flags: XmlFlags) -> Result<String, CallError> {
        self.call(Procedure::DomainGetXmlDesc, &(domain.clone(), flags.0)).await
    }

    /// The job in progress; kind [`JobKind::None`](crate::JobKind::None) when there is none.
    ///
    /// # Errors
    /// See [`CallError`]; [`CallError::is_operation_invalid`] when the domain is not running;
    /// [`ErrorCode::OperationUnsupported`](crate::ErrorCode::OperationUnsupported) on the target of a migration: QEMU counts
    /// on the source only.
    pub async fn job_stats(&self, domain: &DomainRef) -> Result<JobStats, CallError> {
        self.call(Procedure::DomainGetJobStats, &(domain.clone(), 0_u32)).await
    }

    /// The last job that ended, if the daemon still knows it. It is kept for the next who asks.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn completed_job_stats(&self, domain: &DomainRef) -> Result<JobStats, CallError> {
        const COMPLETED_AND_KEEP: u32 = 1 | 2;
        self.call(Procedure::DomainGetJobStats, &(domain.clone(), COMPLETED_AND_KEEP)).await
    }

    /// The job in progress, by the older call that every driver with jobs has.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn job_info(&self, domain: &DomainRef) -> Result<JobStats, CallError> {
        self.call::<_, JobInfo>(Procedure::DomainGetJobInfo, domain).await.map(JobStats::from)
    }

    /// Asks for the end of the job in progress. It has ended when [`Connection::job_stats`] says so.
    ///
    /// # Errors
    /// See [`CallError`]; [`CallError::is_operation_invalid`] when there is no job.
    pub async fn abort_job(&self, domain: &DomainRef) -> Result<(), CallError> {
        self.call(Procedure::DomainAbortJob, domain).await
    }

    /// Statistics of many domains at once; of all for an empty `domains`.
    ///
    /// # Errors
    /// See [`CallError`]; [`CallError::is_unsupported`] on drivers without it.
    pub async fn all_domain_stats(
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

    /// Starts a domain that exists only while it runs.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn create_transient(&self, xml: &str) -> Result<DomainRef, CallError> {
        self.call(Procedure::DomainCreateXml, &(xml.to_owned(), 0_u32)).await
    }

    /// Stops a domain at once.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn destroy(&self, domain: &DomainRef) -> Result<(), CallError> {
        self.call(Procedure::DomainDestroy, domain).await
    }

    /// Pauses a domain.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn suspend(&self, domain: &DomainRef) -> Result<(), CallError> {
        self.call(Procedure::DomainSuspend, domain).await
    }

    /// Resumes a domain.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn resume(&self, domain: &DomainRef) -> Result<(), CallError> {
        self.call(Procedure::DomainResume, domain).await
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

/// The fixed structure of `virDomainGetJobInfo`, in its order on the wire.
struct JobInfo {
    kind: i32,
    numbers: [u64; Self::FIELDS.len()],
}

impl JobInfo {
    const FIELDS: [&'static str; 11] = [
        "time_elapsed",
        "time_remaining",
        "data_total",
        "data_processed",
        "data_remaining",
        "memory_total",
        "memory_processed",
        "memory_remaining",
        "disk_total",
        "disk_processed",
        "disk_remaining",
    ];
}

impl Xdr for JobInfo {
    const MIN_BYTES: usize = 4 + 11 * 8;
    fn encode(&self, to: &mut Encoder) {
        self.kind.encode(to);
        for number in self.numbers {
            number.encode(to);
        }
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let kind = Xdr::decode(from)?;
        let mut numbers = [0; Self::FIELDS.len()];
        for number in &mut numbers {
            *number = Xdr::decode(from)?;
        }
        Ok(Self { kind, numbers })
    }
}

impl From<JobInfo> for JobStats {
    fn from(info: JobInfo) -> Self {
        let params = JobInfo::FIELDS.into_iter().zip(info.numbers.map(TypedValue::Ulong)).collect();
        Self::new(info.kind.into(), params)
    }
}
