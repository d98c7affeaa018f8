//! `os-migrations`: the jobs of domains that leave or left.

use serde_json::{Value, json};

use super::super::answer::Refusal;
use super::super::keystone::{project_id_of, user_id_of};
use super::super::pages;
use super::super::query::Query;
use super::{Call, time};
use crate::model::{Domain, Host, Job, JobKind, uuid};

const KNOWN: [&str; 13] = [
    "host",
    "status",
    "migration_type",
    "source_compute",
    "instance_uuid",
    "hidden",
    "changes-since",
    "changes-before",
    "user_id",
    "project_id",
    "limit",
    "marker",
    "node",
];

/// `GET /os-migrations`, newest first.
pub(super) fn list(call: &Call<'_>) -> Result<Value, Refusal> {
    let query = Query::of(&call.request.uri, &KNOWN)?;
    let since = match query.get("changes-since") {
        Some(text) => Some(text.parse::<jiff::Timestamp>().map_err(|_| {
            Refusal::bad_request(&format!("Invalid input for query parameters changes-since. Value: {text}. '{text}' is not a 'date-time'"))
        })?),
        None => None,
    };
    let mut found: Vec<(jiff::Timestamp, String, Value)> = Vec::new();
    for host in &call.openstack.fleet.hosts {
        let domains: Vec<Domain> = host
            .read(|state| state.domains.values().filter(|domain| domain.job.is_some()).cloned().collect());
        found.extend(domains.iter().filter_map(|domain| row(call, host, domain)));
    }
    found.retain(|(updated, _, row)| {
        let is = |key: &str, field: &str| {
            query.get(key).is_none_or(|wanted| row.get(field).and_then(Value::as_str) == Some(wanted))
        };
        let at_host =
            query.get("host").is_none_or(|_| is("host", "source_compute") || is("host", "dest_compute"));
        at_host
            && is("status", "status")
            && is("migration_type", "migration_type")
            && is("source_compute", "source_compute")
            && is("instance_uuid", "instance_uuid")
            && since.is_none_or(|since| *updated >= since)
    });
    found.sort_by(|(one, one_id, _), (other, other_id, _)| other.cmp(one).then_with(|| one_id.cmp(other_id)));
    let rows = found.into_iter().map(|(_, id, row)| (id, row)).collect();
    pages::page("migrations", &call.url(), &query, call.page_limit(), rows)
}

/// The record of a domain's job, with its time and UUID. A job has two ends; the one that has the server tells.
fn row(call: &Call<'_>, host: &Host, domain: &Domain) -> Option<(jiff::Timestamp, String, Value)> {
    let job = domain.job.as_ref().filter(|_| domain.server_name.is_some())?;
    let (source, target) = match (job.operation, job.kind) {
        (5, _) => (host.name.as_str(), job.peer.as_str()),
        (4, JobKind::Completed) => (job.peer.as_str(), host.name.as_str()),
        _ => return None,
    };
    let (created, updated) = times(call, job);
    let id = uuid(&format!("migration/{}/{source}/{target}/{created}", domain.uuid));
    let [a, b, c, ..] = *id.as_bytes();
    let credentials = call.openstack.fleet.cloud.read(|cloud| cloud.credentials.clone());
    let record = json!({
        "id": u32::from_be_bytes([0, a, b, c]), "uuid": id, "instance_uuid": domain.uuid,
        "status": match job.kind {
            JobKind::Unbounded => "running",
            JobKind::Completed => "completed",
            JobKind::Failed => "error",
            JobKind::Cancelled => "cancelled",
        },
        "migration_type": "live-migration",
        "source_compute": source, "source_node": source,
        "dest_compute": target, "dest_node": target, "dest_host": null,
        "old_instance_type_id": 1, "new_instance_type_id": 1,
        "user_id": user_id_of(&credentials), "project_id": project_id_of(&credentials),
        "created_at": time(created), "updated_at": time(updated),
    });
    Some((updated, id.to_string(), record))
}

/// When a job began and when it last changed, on the wall clock and to the second, as Nova keeps it.
fn times(call: &Call<'_>, job: &Job) -> (jiff::Timestamp, jiff::Timestamp) {
    let now = jiff::Timestamp::now();
    let (began, moment) = (call.openstack.began, call.openstack.began_at);
    let created = match job.started.checked_duration_since(moment) {
        Some(after) => began.checked_add(after),
        None => began.checked_sub(moment.saturating_duration_since(job.started)),
    };
    let created = created.unwrap_or(began);
    let updated = match job.elapsed_ms {
        Some(elapsed) => created.checked_add(std::time::Duration::from_millis(elapsed)).unwrap_or(now),
        None => now,
    };
    let whole = |at: jiff::Timestamp| jiff::Timestamp::from_second(at.as_second()).unwrap_or(at);
    (whole(created), whole(updated))
}
