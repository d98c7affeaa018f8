//! Records of servers that move or moved: live and cold migrations, resizes, evacuations.

use jiff::Timestamp;
use serde::Deserialize;
use uuid::Uuid;

use crate::lenient;

/// A migration record. The records of a deleted server vanish with it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ServerMigration {
    /// Number, by which a live migration is aborted or forced.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub id: Option<i64>,
    /// UUID; also the consumer that holds the source's allocation of a cold migration.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub uuid: Option<Uuid>,
    /// The server.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub instance_uuid: Option<Uuid>,
    /// `accepted`, `queued`, `preparing`, `running`, `completed`, `error` … New words come; treat them as in progress.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub status: Option<String>,
    /// `live-migration`, `migration`, `resize` or `evacuation`.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub migration_type: Option<String>,
    /// Service host that the server leaves.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub source_compute: Option<String>,
    /// Hypervisor host name that the server leaves.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub source_node: Option<String>,
    /// Service host that the server goes to; absent until it is scheduled.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub dest_compute: Option<String>,
    /// Hypervisor host name that the server goes to.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub dest_node: Option<String>,
    /// Address that the server goes to.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub dest_host: Option<String>,
    /// When it was asked for.
    #[serde(default, deserialize_with = "lenient::time")]
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    #[serde(default, deserialize_with = "lenient::time")]
    pub updated_at: Option<Timestamp>,
    /// Who asked.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub user_id: Option<String>,
    /// For which project.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub project_id: Option<String>,
}
