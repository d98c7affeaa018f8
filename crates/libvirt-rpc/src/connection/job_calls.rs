//! Calls about the job of a domain: how far it is, and what may be changed while it runs.

use std::time::Duration;

use super::Connection;
use crate::wire::{DecodeError, Decoder, Encoder, Procedure, Xdr};
use crate::{CallError, DomainRef, JobStats, TypedValue};

/// `VIR_DOMAIN_ABORT_JOB_POSTCOPY`.
const ABORT_POST_COPY: u32 = 1;
/// `VIR_DOMAIN_MIGRATE_MAX_SPEED_POSTCOPY`.
const SPEED_OF_POST_COPY: u32 = 1;

impl Connection {
    /// The job in progress; kind [`JobKind::None`](crate::JobKind::None) when there is none. Where the daemon has only the older
    /// call, without an operation and with fewer numbers.
    ///
    /// # Errors
    /// See [`CallError`]; [`CallError::is_operation_invalid`] when the domain is not running;
    /// [`ErrorCode::OperationUnsupported`](crate::ErrorCode::OperationUnsupported) on the target of a migration: QEMU counts
    /// on the source only.
    pub async fn job_stats(&self, domain: &DomainRef) -> Result<JobStats, CallError> {
        match self.call(Procedure::DomainGetJobStats, &(domain.clone(), 0_u32)).await {
            Err(error) if error.is_unsupported() => self.job_info(domain).await,
            told => told,
        }
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

    /// Asks for the end of a migration in its post-copy phase: the domain stays paused on both ends, to be recovered.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn abort_post_copy(&self, domain: &DomainRef) -> Result<(), CallError> {
        self.call(Procedure::DomainAbortJobFlags, &(domain.clone(), ABORT_POST_COPY)).await
    }

    /// Longest pause of the guest at the end of a migration.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn max_downtime(&self, domain: &DomainRef) -> Result<Duration, CallError> {
        let milliseconds =
            self.call(Procedure::DomainMigrateGetMaxDowntime, &(domain.clone(), 0_u32)).await?;
        Ok(Duration::from_millis(milliseconds))
    }

    /// Sets the longest pause of the guest at the end of a migration; libvirt 9.0 takes it while one runs only.
    ///
    /// # Errors
    /// See [`CallError`]; [`CallError::is_operation_invalid`] when there is no migration.
    pub async fn set_max_downtime(&self, domain: &DomainRef, downtime: Duration) -> Result<(), CallError> {
        let milliseconds = u64::try_from(downtime.as_millis()).unwrap_or(u64::MAX);
        self.call(Procedure::DomainMigrateSetMaxDowntime, &(domain.clone(), milliseconds, 0_u32)).await
    }

    /// Most that a migration may send, in MiB per second.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn max_speed(&self, domain: &DomainRef) -> Result<u64, CallError> {
        self.call(Procedure::DomainMigrateGetMaxSpeed, &(domain.clone(), 0_u32)).await
    }

    /// Sets how much a migration may send, in MiB per second; now or for the next one.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn set_max_speed(&self, domain: &DomainRef, mib_per_second: u64) -> Result<(), CallError> {
        self.call(Procedure::DomainMigrateSetMaxSpeed, &(domain.clone(), mib_per_second, 0_u32)).await
    }

    /// Sets how much the post-copy phase of a migration may send, in MiB per second.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn set_max_post_copy_speed(
        &self,
        domain: &DomainRef,
        mib_per_second: u64,
    ) -> Result<(), CallError> {
        let arguments = (domain.clone(), mib_per_second, SPEED_OF_POST_COPY);
        self.call(Procedure::DomainMigrateSetMaxSpeed, &arguments).await
    }

    /// Switches a migration that was started with [`MigrateFlags::POST_COPY`](crate::MigrateFlags::POST_COPY): the guest goes on at
    /// the destination now, and fetches what is missing.
    ///
    /// # Errors
    /// See [`CallError`]; [`CallError::is_operation_invalid`] when there is no such migration.
    pub async fn start_post_copy(&self, domain: &DomainRef) -> Result<(), CallError> {
        self.call(Procedure::DomainMigrateStartPostCopy, &(domain.clone(), 0_u32)).await
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
