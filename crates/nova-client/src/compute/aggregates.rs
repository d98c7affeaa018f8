//! Host aggregates: named groups of hosts, some of which are availability zones.

use std::collections::BTreeMap;

use serde::Deserialize;
use uuid::Uuid;

use crate::lenient;

/// A host aggregate. Keep its `uuid` or `name` as identity: the number differs from cloud to cloud.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Aggregate {
    /// Number.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub id: Option<i64>,
    /// UUID.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub uuid: Option<Uuid>,
    /// Name, unique in the cloud.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub name: Option<String>,
    /// The availability zone that it makes of its hosts.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub availability_zone: Option<String>,
    /// Members, by service host; absent where Nova does not tell.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub hosts: Option<Vec<String>>,
    /// Metadata; the availability zone is in it too.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub metadata: BTreeMap<String, String>,
}

impl Aggregate {
    /// Whether the host of this service is a member.
    pub fn has_host(&self, service_host: &str) -> bool {
        self.hosts.iter().flatten().any(|host| host == service_host)
    }
}
