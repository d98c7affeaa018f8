//! `os-aggregates`.

use serde_json::{Value, json};

use super::super::answer::Refusal;
use super::{Call, time};

/// `GET /os-aggregates`. The query is ignored, as Nova ignores it.
#[expect(clippy::unnecessary_wraps, reason = "one signature for all lists")]
pub(super) fn list(call: &Call<'_>) -> Result<Value, Refusal> {
    let rows: Vec<Value> = call.openstack.fleet.cloud.read(|cloud| {
        let rows = cloud.aggregates.iter().map(|aggregate| {
            json!({
                "id": aggregate.id, "uuid": aggregate.uuid, "name": aggregate.name,
                "availability_zone": aggregate.availability_zone,
                "hosts": aggregate.hosts, "metadata": aggregate.metadata,
                "created_at": time(call.openstack.began), "updated_at": null, "deleted_at": null, "deleted": false,
            })
        });
        rows.collect()
    });
    Ok(json!({"aggregates": rows}))
}
