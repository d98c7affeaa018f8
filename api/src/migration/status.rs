//! How far a migration has come: libvirt's job statistics, in the texts that the polling agent writes.
//!
//! Amounts are text because that is the contract: durations as Go prints them, sizes and rates in binary units. The
//! functions of [`crate::format`] write them. A number that libvirt has not said is absent.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Finding, SourceStatus};

/// How far a migration has come, as libvirt on both hosts says it now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MigrationStatus {
    /// Host that the instance leaves.
    ///
    /// Source: the host whose libvirt reports the outgoing job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Host that the instance goes to.
    ///
    /// Source: the host whose libvirt reports the incoming job; Nova server migrations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<String>,
    /// Whether it runs, and how it ended.
    ///
    /// Source: libvirt job type.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<JobType>,
    /// When it began.
    ///
    /// Source: first libvirt job event or statistic that shows it.
    pub started: Time,
    /// What libvirt does.
    ///
    /// Source: libvirt job statistics, `operation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<JobOperation>,
    /// Why it failed.
    ///
    /// Source: libvirt job statistics, `errmsg`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub err_msg: Option<String>,
    /// How long it has taken, such as `1m2.5s`.
    ///
    /// Source: libvirt job statistics, `time_elapsed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_elapsed: Option<String>,
    /// How long it will still take, as libvirt expects.
    ///
    /// Source: libvirt job statistics, `time_remaining`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_remaining: Option<String>,
    /// How long the instance stood still.
    ///
    /// Source: libvirt job statistics, `downtime`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub downtime: Option<String>,
    /// How long it took to set up.
    ///
    /// Source: libvirt job statistics, `setup_time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup_time: Option<String>,
    /// What has to be moved of memory and disks, such as `1.5 GiB`.
    ///
    /// Source: libvirt job statistics, `data_total`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_total: Option<String>,
    /// What has been moved of memory and disks.
    ///
    /// Source: libvirt job statistics, `data_processed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_processed: Option<String>,
    /// What is left of memory and disks.
    ///
    /// Source: libvirt job statistics, `data_remaining`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_remaining: Option<String>,
    /// What has to be moved of memory, such as `1.5 GiB`.
    ///
    /// Source: libvirt job statistics, `memory_total`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mem_total: Option<String>,
    /// What has been moved of memory.
    ///
    /// Source: libvirt job statistics, `memory_processed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mem_processed: Option<String>,
    /// What is left of memory.
    ///
    /// Source: libvirt job statistics, `memory_remaining`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mem_remaining: Option<String>,
    /// What was moved as whole pages.
    ///
    /// Source: libvirt job statistics, `memory_normal_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mem_normal_bytes: Option<String>,
    /// Size of a page.
    ///
    /// Source: libvirt job statistics, `memory_page_size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mem_page_size: Option<String>,
    /// How fast memory is moved, such as `117.7 MiB/s`.
    ///
    /// Source: libvirt job statistics, `memory_bps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mem_bps: Option<String>,
    /// How fast the instance changes its memory, as `<pages>/s`.
    ///
    /// Source: libvirt job statistics, `memory_dirty_rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mem_dirty_rate: Option<String>,
    /// How often memory has been gone through.
    ///
    /// Source: libvirt job statistics, `memory_iteration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mem_iteration: Option<u64>,
    /// Pages that hold one value and were not sent in full.
    ///
    /// Source: libvirt job statistics, `memory_constant`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mem_constant: Option<u64>,
    /// Pages that were sent in full.
    ///
    /// Source: libvirt job statistics, `memory_normal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mem_normal: Option<u64>,
    /// Pages that the destination asked for after the switch.
    ///
    /// Source: libvirt job statistics, `memory_postcopy_requests`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mem_postcopy_requests: Option<u64>,
    /// What has to be moved of disks, such as `1.5 GiB`.
    ///
    /// Source: libvirt job statistics, `disk_total`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_total: Option<String>,
    /// What has been moved of disks.
    ///
    /// Source: libvirt job statistics, `disk_processed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_processed: Option<String>,
    /// What is left of disks.
    ///
    /// Source: libvirt job statistics, `disk_remaining`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_remaining: Option<String>,
    /// How fast disks are moved.
    ///
    /// Source: libvirt job statistics, `disk_bps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bps: Option<String>,
    /// How much the instance is slowed down so that the move can end, such as `20%`.
    ///
    /// Source: libvirt job statistics, `auto_converge_throttle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_converge_throttle: Option<String>,
    /// The sources that this status was computed from, and whether they answer.
    ///
    /// Source: this server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub sources: Vec<SourceStatus>,
    /// Where the sources contradict each other.
    ///
    /// Source: this server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type", "subject"]))]
    pub findings: Vec<Finding>,
}

/// Whether a migration runs, and how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobType {
    /// It runs and says how much is left.
    Bounded,
    /// It runs; how much is left is not known.
    Unbounded,
    /// libvirt says it has ended.
    Completed,
    /// It failed; the instance still runs at its origin.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
    /// The instance runs at its destination.
    Success,
}

/// What libvirt does with the domain: the operation of its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobOperation {
    /// libvirt does not say.
    Unknown,
    /// The domain is started.
    Start,
    /// The domain is saved.
    Save,
    /// The domain is restored.
    Restore,
    /// The domain comes in.
    MigrationIn,
    /// The domain goes out.
    MigrationOut,
    /// A snapshot is taken.
    Snapshot,
    /// A snapshot is gone back to.
    SnapshotRevert,
    /// The memory is dumped.
    Dump,
    /// A backup is taken.
    Backup,
    /// A snapshot is deleted.
    SnapshotDelete,
}

impl MigrationStatus {
    /// A migration that began at this time and of which nothing else is known yet.
    #[must_use]
    pub const fn began(started: Time) -> Self {
        Self {
            origin: None,
            destination: None,
            type_: None,
            started,
            operation: None,
            err_msg: None,
            time_elapsed: None,
            time_remaining: None,
            downtime: None,
            setup_time: None,
            data_total: None,
            data_processed: None,
            data_remaining: None,
            mem_total: None,
            mem_processed: None,
            mem_remaining: None,
            mem_normal_bytes: None,
            mem_page_size: None,
            mem_bps: None,
            mem_dirty_rate: None,
            mem_iteration: None,
            mem_constant: None,
            mem_normal: None,
            mem_postcopy_requests: None,
            disk_total: None,
            disk_processed: None,
            disk_remaining: None,
            disk_bps: None,
            auto_converge_throttle: None,
            sources: Vec::new(),
            findings: Vec::new(),
        }
    }
}

impl JobOperation {
    /// The operation of this number in libvirt's `virDomainJobOperation`. A number that we do not know is `unknown`.
    #[must_use]
    pub const fn from_libvirt(operation: i32) -> Self {
        match operation {
            1 => Self::Start,
            2 => Self::Save,
            3 => Self::Restore,
            4 => Self::MigrationIn,
            5 => Self::MigrationOut,
            6 => Self::Snapshot,
            7 => Self::SnapshotRevert,
            8 => Self::Dump,
            9 => Self::Backup,
            10 => Self::SnapshotDelete,
            _ => Self::Unknown,
        }
    }
}
