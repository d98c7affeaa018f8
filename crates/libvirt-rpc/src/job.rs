//! A domain's job: a migration, a save, a dump; running or ended.
//!
//! Nearly every number can be missing, depending on daemon, driver and phase. A missing number is `None`, never 0.

use crate::TypedParams;
use crate::raw_enum::raw_enum;
use crate::wire::{DecodeError, Decoder, Encoder, List, Xdr};

/// Most parameters a job has.
pub(crate) const JOB_PARAMS_MAX: usize = 64;

raw_enum! {
    /// `virDomainJobType`: whether there is a job and how it ended.
    JobKind {
        /// No job.
        None = 0 "none",
        /// Running, with a known end.
        Bounded = 1 "bounded",
        /// Running, with no known end: a migration.
        Unbounded = 2 "unbounded",
        /// Done.
        Completed = 3 "completed",
        /// Failed.
        Failed = 4 "failed",
        /// Cancelled.
        Cancelled = 5 "cancelled",
    }
}

impl JobKind {
    /// Whether it is still going on.
    pub fn is_running(self) -> bool {
        matches!(self, Self::Bounded | Self::Unbounded)
    }
}

raw_enum! {
    /// `virDomainJobOperation`: what the job does.
    JobOperation {
        /// Not known.
        Unknown = 0 "unknown",
        /// Start.
        Start = 1 "start",
        /// Save.
        Save = 2 "save",
        /// Restore.
        Restore = 3 "restore",
        /// The domain arrives here.
        MigrationIn = 4 "migration-in",
        /// The domain leaves.
        MigrationOut = 5 "migration-out",
        /// Snapshot.
        Snapshot = 6 "snapshot",
        /// Revert to a snapshot.
        SnapshotRevert = 7 "snapshot-revert",
        /// Core dump.
        Dump = 8 "dump",
        /// Backup.
        Backup = 9 "backup",
        /// Delete a snapshot.
        SnapshotDelete = 10 "snapshot-delete",
    }
}

/// `virDomainGetJobStats`, or the parameters of a job that ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JobStats {
    /// Whether there is a job and how it ended. `None` for the event of an ended job from a daemon that leaves it out.
    pub kind: JobKind,
    /// What it does; absent on some drivers.
    pub operation: Option<JobOperation>,
    /// Everything the daemon said, by name.
    pub params: TypedParams,
}

macro_rules! numbers {
    ($($(#[$meta:meta])* $name:ident = $field:literal,)*) => {
        impl JobStats {
            $($(#[$meta])* pub fn $name(&self) -> Option<u64> { self.params.get_u64($field) })*
        }
    };
}

numbers! {
    /// Milliseconds since it began.
    time_elapsed_ms = "time_elapsed",
    /// Milliseconds that are left, where known.
    time_remaining_ms = "time_remaining",
    /// Milliseconds of down time, expected or measured.
    downtime_ms = "downtime",
    /// Milliseconds of preparation.
    setup_time_ms = "setup_time",
    /// Bytes to move, memory and disks. Grows as pages are dirtied.
    data_total = "data_total",
    /// Bytes moved; can exceed the total.
    data_processed = "data_processed",
    /// Bytes left.
    data_remaining = "data_remaining",
    /// Bytes of memory to move.
    memory_total = "memory_total",
    /// Bytes of memory moved; can exceed the total.
    memory_processed = "memory_processed",
    /// Bytes of memory left; a saw-tooth over the passes.
    memory_remaining = "memory_remaining",
    /// Bytes per second.
    memory_bps = "memory_bps",
    /// Pages of zeros that were not sent.
    memory_constant = "memory_constant",
    /// Pages sent whole.
    memory_normal = "memory_normal",
    /// Pages dirtied per second.
    memory_dirty_rate = "memory_dirty_rate",
    /// Bytes of a page.
    memory_page_size = "memory_page_size",
    /// Pass over memory.
    memory_iteration = "memory_iteration",
    /// Pages the target asked for in post-copy.
    memory_postcopy_requests = "memory_postcopy_requests",
    /// Bytes of disks to move.
    disk_total = "disk_total",
    /// Bytes of disks moved.
    disk_processed = "disk_processed",
    /// Bytes of disks left.
    disk_remaining = "disk_remaining",
    /// Bytes per second of disks.
    disk_bps = "disk_bps",
    /// Percent by which the guest's CPUs are slowed so that the migration converges.
    auto_converge_throttle = "auto_converge_throttle",
}

impl JobStats {
    /// From the kind and the parameters.
    pub fn new(kind: JobKind, params: TypedParams) -> Self {
        let operation = params.get("operation").and_then(|value| value.as_i64()?.try_into().ok());
        Self { kind, operation: operation.map(JobOperation::from_raw), params }
    }

    /// Whether it ended well, where the daemon says so.
    pub fn success(&self) -> Option<bool> {
        self.params.get_bool("success")
    }

    /// Why it failed, where the daemon says so.
    pub fn error_message(&self) -> Option<&str> {
        self.params.get_str("errmsg")
    }
}

/// As a reply carries it: kind, then parameters.
impl Xdr for JobStats {
    const MIN_BYTES: usize = 8;
    fn encode(&self, to: &mut Encoder) {
        self.kind.raw().encode(to);
        self.params.encode_as::<JOB_PARAMS_MAX>(to);
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let kind = i32::decode(from)?;
        Ok(Self::new(kind.into(), TypedParams::decode_as::<JOB_PARAMS_MAX>(from)?))
    }
}

impl TypedParams {
    pub(crate) fn encode_as<const MAX: usize>(&self, to: &mut Encoder) {
        to.count(self.0.len());
        for (name, value) in &self.0 {
            name.encode(to);
            value.encode(to);
        }
    }

    pub(crate) fn decode_as<const MAX: usize>(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        List::<(String, crate::TypedValue), MAX>::decode(from).map(|list| Self(list.0))
    }
}
