//! A virtual machine as libvirt knows it: identity, state, size, and the job that moves it.

use std::time::Instant;

use uuid::Uuid;

/// A libvirt domain. `uuid` is also the id of the Nova server it belongs to, if it belongs to one.
#[derive(Debug, Clone)]
pub struct Domain {
    /// libvirt UUID, equal to the Nova server id.
    pub uuid: Uuid,
    /// libvirt name, e.g. `instance-00000001`.
    pub name: String,
    /// Run-time id; `None` while the domain is not running.
    pub id: Option<i32>,
    /// State and why it is in it.
    pub state: DomainState,
    /// Number of virtual CPUs.
    pub vcpus: u16,
    /// Current memory in KiB.
    pub memory_kib: u64,
    /// Maximum memory in KiB.
    pub max_memory_kib: u64,
    /// When it started to run, the base of its CPU time.
    pub running_since: Option<Instant>,
    /// Whether it has a persistent definition.
    pub persistent: bool,
    /// Name of the Nova server, or `None` for a domain that Nova does not know.
    pub server_name: Option<String>,
    /// The job in progress, or the last completed one.
    pub job: Option<Job>,
}

/// `virDomainState` with its reason; the numbers are libvirt's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DomainState {
    /// `virDomainState`: 1 running, 3 paused, 5 shutoff …
    pub state: i32,
    /// Reason within that state.
    pub reason: i32,
}

impl DomainState {
    /// Running because it was booted.
    pub const BOOTED: Self = Self { state: 1, reason: 1 };
    /// Running because it arrived by migration.
    pub const MIGRATED_IN: Self = Self { state: 1, reason: 2 };
    /// Running because it was unpaused (also after a failed migration).
    pub const UNPAUSED: Self = Self { state: 1, reason: 5 };
    /// Paused for the last phase of a migration.
    pub const PAUSED_MIGRATION: Self = Self { state: 3, reason: 2 };
    /// Paused after an I/O error.
    pub const PAUSED_IOERROR: Self = Self { state: 3, reason: 5 };
    /// Shut off by its guest or operator.
    pub const SHUTOFF: Self = Self { state: 5, reason: 1 };
    /// Shut off here because it migrated away.
    pub const SHUTOFF_MIGRATED: Self = Self { state: 5, reason: 4 };

    /// Whether the domain runs (or is paused) and therefore has a run-time id.
    pub fn is_active(self) -> bool {
        !matches!(self.state, 0 | 5 | 6)
    }
}

/// A life-cycle event; the numbers are libvirt's `virDomainEventType` and its detail.
#[derive(Debug, Clone)]
pub struct DomainEvent {
    /// The domain at the moment of the event.
    pub domain: Domain,
    /// 0 defined, 1 undefined, 2 started, 3 suspended, 4 resumed, 5 stopped, 6 shutdown, 7 pmsuspended, 8 crashed.
    pub event: i32,
    /// Detail within the event type.
    pub detail: i32,
}

/// A job of a domain, as `virDomainGetJobStats` reports it.
#[derive(Debug, Clone)]
pub struct Job {
    /// Whether it runs, completed, failed or was cancelled.
    pub kind: JobKind,
    /// `virDomainJobOperation`: 4 migration in, 5 migration out.
    pub operation: i32,
    /// When it began.
    pub started: Instant,
    /// Elapsed milliseconds once it ended; while it runs they follow from `started`.
    pub elapsed_ms: Option<u64>,
    /// Guest memory to move, in bytes.
    pub memory_total: u64,
    /// Bytes moved so far.
    pub memory_processed: u64,
    /// Bytes left.
    pub memory_remaining: u64,
    /// Bytes per second.
    pub memory_bps: u64,
    /// Pages dirtied per second.
    pub memory_dirty_rate: u64,
    /// Pass over guest memory, from 1.
    pub memory_iteration: u64,
    /// Down time in milliseconds, once known.
    pub downtime_ms: Option<u64>,
    /// Why it failed.
    pub error: Option<String>,
    /// Host name of the other end.
    pub peer: String,
}

/// `virDomainJobType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    /// A running migration (2).
    Unbounded,
    /// Done (3).
    Completed,
    /// Failed (4).
    Failed,
    /// Cancelled (5).
    Cancelled,
}
