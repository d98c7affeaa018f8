//! `os-services`: the nova-compute of each host, and how an operator changes it.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::super::answer::Refusal;
use super::super::microversion::Microversion;
use super::super::query::Query;
use super::{Call, time};
use crate::model::{CloudState, ComputeService};

/// The trait that a running nova-compute keeps in step with its service's status.
const STATUS_DISABLED: &str = "COMPUTE_STATUS_DISABLED";

/// The longest reason.
const REASON_CHARACTERS: usize = 255;

/// `GET /os-services`.
pub(super) fn list(call: &Call<'_>) -> Result<Value, Refusal> {
    let query = Query::of(&call.request.uri, &["host", "binary"])?;
    let fits = |name: &str| {
        query.get("host").is_none_or(|host| host == name)
            && query.get("binary").is_none_or(|binary| binary == "nova-compute")
    };
    let rows: Vec<Value> = call.openstack.fleet.cloud.read(|cloud| {
        let services = cloud.services.iter().enumerate().filter(|(_, (host, _))| fits(host));
        services.map(|(index, (host, service))| row(call, cloud, index, host, service)).collect()
    });
    Ok(json!({"services": rows}))
}

/// `PUT /os-services/{uuid}`.
pub(super) fn update(call: &Call<'_>, text: &str) -> Result<Value, Refusal> {
    if call.version < Microversion(2, 53) {
        return Err(Refusal::no_such_resource());
    }
    let id: Uuid = text.parse().map_err(|_| Refusal::bad_request(&format!("Invalid uuid {text}")))?;
    let change: Map<String, Value> = serde_json::from_slice(call.body).unwrap_or_default();
    let change = Change::of(&change)?;
    let provider = |host: &str| call.openstack.fleet.host(host).map(|host| host.uuid);
    let changed = call.openstack.fleet.cloud.change(|cloud| {
        let (index, host) = cloud
            .services
            .iter()
            .enumerate()
            .find(|(_, (_, service))| service.uuid == id)
            .map(|(index, (host, _))| (index, host.clone()))?;
        let service = cloud.services.get_mut(&host)?;
        change.apply(service);
        let (up, enabled) = (service.up, service.enabled);
        // A nova-compute that is down learns of it only when it starts again.
        if let Some(provider) = provider(&host).filter(|_| up && change.status.is_some()) {
            cloud.set_trait(provider, STATUS_DISABLED, !enabled);
        }
        let service = cloud.services.get(&host)?;
        Some(row(call, cloud, index, &host, service))
    });
    match changed {
        Some(row) => Ok(json!({"service": row})),
        None => Err(Refusal::not_found(&format!("Service {text} could not be found."))),
    }
}

/// What a PUT asks for.
struct Change {
    status: Option<Status>,
    forced_down: Option<bool>,
}

enum Status {
    Enabled,
    Disabled { reason: Option<String> },
}

impl Change {
    fn of(body: &Map<String, Value>) -> Result<Self, Refusal> {
        let known = ["status", "disabled_reason", "forced_down"];
        if let Some(key) = body.keys().find(|key| !known.contains(&key.as_str())) {
            let message = format!("Additional properties are not allowed ('{key}' was unexpected)");
            return Err(Refusal::bad_request(&message));
        }
        let reason = body.get("disabled_reason").and_then(Value::as_str);
        if let Some(reason) = reason
            && (reason.is_empty() || reason.chars().count() > REASON_CHARACTERS)
        {
            return Err(Refusal::bad_request(&format!(
                "Invalid input for field/attribute disabled_reason. Value: {reason}."
            )));
        }
        let status = match body.get("status").and_then(Value::as_str) {
            Some("enabled") if reason.is_some() => {
                return Err(Refusal::bad_request(
                    "Specifying 'disabled_reason' with status 'enabled' is invalid.",
                ));
            }
            Some("enabled") => Some(Status::Enabled),
            Some("disabled") => Some(Status::Disabled { reason: reason.map(str::to_owned) }),
            Some(other) => {
                return Err(Refusal::bad_request(&format!(
                    "Invalid input for field/attribute status. Value: {other}."
                )));
            }
            None => None,
        };
        let forced_down = body.get("forced_down").and_then(Value::as_bool);
        if status.is_none() && forced_down.is_none() {
            let message = "No updates were requested. Fields 'status' or 'forced_down' should be specified.";
            return Err(Refusal::bad_request(message));
        }
        Ok(Self { status, forced_down })
    }

    fn apply(&self, service: &mut ComputeService) {
        match &self.status {
            Some(Status::Enabled) => {
                service.enabled = true;
                service.disabled_reason = None;
            }
            // Disabling without a reason takes the old reason away.
            Some(Status::Disabled { reason }) => {
                service.enabled = false;
                service.disabled_reason.clone_from(reason);
            }
            None => {}
        }
        service.forced_down = self.forced_down.unwrap_or(service.forced_down);
    }
}

fn row(call: &Call<'_>, cloud: &CloudState, index: usize, host: &str, service: &ComputeService) -> Value {
    if cloud.api.unreachable.contains(host) && call.version >= Microversion(2, 69) {
        return json!({"binary": "nova-compute", "host": host, "status": "UNKNOWN"});
    }
    let id = if call.version >= Microversion(2, 53) { json!(service.uuid) } else { json!(index + 1) };
    let up = service.up && !service.forced_down;
    let heartbeat = if service.up { jiff::Timestamp::now() } else { call.openstack.began };
    let mut row = json!({
        "binary": "nova-compute", "host": host, "id": id,
        "zone": zone(cloud, host).unwrap_or(&service.zone),
        "status": if service.enabled { "enabled" } else { "disabled" },
        "state": if up { "up" } else { "down" },
        "updated_at": time(heartbeat),
        "disabled_reason": service.disabled_reason,
    });
    if call.version >= Microversion(2, 11)
        && let Some(keys) = row.as_object_mut()
    {
        keys.insert("forced_down".to_owned(), json!(service.forced_down));
    }
    row
}

/// The availability zone that an aggregate makes of a host.
pub(super) fn zone<'a>(cloud: &'a CloudState, host: &str) -> Option<&'a str> {
    let mut members =
        cloud.aggregates.iter().filter(|aggregate| aggregate.hosts.iter().any(|member| member == host));
    members.find_map(|aggregate| aggregate.availability_zone.as_deref())
}
