//! `hypervisors/NAME/domains`: the domains of a host with what they use now, asked of its libvirt when somebody asks here.

use std::sync::Arc;
use std::time::Duration;

use aggregated_apiserver::{
    ApiStatus, Column, ObjectKey, ReadSubresource, SubresourceDefinition, SubresourceItem, SubresourceList,
};
use c5c3_api::{SourceState, SourceStatus, format};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::merge::source_status;
use crate::sources::libvirt::{Inspectors, Usage};
use crate::sources::observation::Observation;
use crate::sources::picture::{DomainPicture, JobKind, JobPicture, LibvirtPicture};

/// How long a reader waits: two readings a second apart, and some patience.
const WITHIN: Duration = Duration::from_secs(3);

/// The subresource.
#[derive(Debug)]
pub struct Domains {
    inspectors: Arc<Inspectors>,
    definition: SubresourceDefinition,
}

impl Domains {
    /// Answers by asking these.
    pub fn new(inspectors: Arc<Inspectors>) -> Self {
        let column = |name: &str, type_: &str, priority: i32, description: &str| Column {
            name: name.to_owned(),
            type_: type_.to_owned(),
            format: String::new(),
            description: description.to_owned(),
            priority,
            json_path: String::new(),
        };
        let columns = vec![
            column("State", "string", 0, "State of the domain."),
            column("Reason", "string", 0, "Why it is in that state."),
            column("VCPUs", "integer", 0, "Virtual CPUs."),
            column("CPU", "string", 0, "Processors of the host that it keeps busy."),
            column("Memory", "string", 0, "Memory it has."),
            column("Disk Read", "string", 0, "What its disks read."),
            column("Disk Write", "string", 0, "What its disks write."),
            column("Net RX", "string", 0, "What its interfaces receive."),
            column("Net TX", "string", 0, "What its interfaces send."),
            column("Job", "string", 0, "Migration under way, or the last one."),
            column("ID", "string", 1, "UUID of the domain and of its server."),
        ];
        let (name, list_kind) = ("domains".to_owned(), "DomainList".to_owned());
        Self { inspectors, definition: SubresourceDefinition { name, list_kind, columns } }
    }
}

impl ReadSubresource for Domains {
    fn definition(&self) -> &SubresourceDefinition {
        &self.definition
    }

    fn read<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, Result<SubresourceList, ApiStatus>> {
        async move {
            let Some(inspector) = self.inspectors.of(&key.name) else {
                let message = format!("libvirt of {} is not configured", key.name);
                return Err(ApiStatus::unavailable(message, 60));
            };
            let usages = match inspector.last().is_connected() {
                true => inspector.usages(WITHIN).await,
                false => None,
            };
            let said = inspector.last();
            let source = source_of(&said, usages.is_some());
            let Some(picture) = said.value() else {
                let why = source.message.unwrap_or_else(|| "the first connection is being made".to_owned());
                return Err(ApiStatus::unavailable(format!("libvirt of {}: {why}", key.name), 5));
            };
            let usages = usages.unwrap_or_default();
            let usage = |uuid: &Uuid| usages.get(uuid).copied().unwrap_or_default();
            let items = picture.domains.iter();
            let items = items.map(|(uuid, domain)| item(*uuid, domain, &usage(uuid), picture));
            let fields = Map::from_iter([("sources".to_owned(), json!([source]))]);
            Ok(SubresourceList { fields, items: items.collect() })
        }
        .boxed()
    }
}

/// How well libvirt can be heard. One that is connected and did not tell usages in time is stale.
fn source_of(said: &Observation<LibvirtPicture>, told: bool) -> SourceStatus {
    let mut source = source_status::source(c5c3_api::source::name::LIBVIRT, said);
    if source.state == SourceState::Connected && !told {
        source.state = SourceState::Stale;
        source.message = Some(format!("no statistics within {WITHIN:?}"));
    }
    source
}

fn item(uuid: Uuid, domain: &DomainPicture, usage: &Usage, picture: &LibvirtPicture) -> SubresourceItem {
    let (state, reason) = words(domain);
    let job = picture.jobs.get(&uuid);
    let rate = |value: Option<f64>| value.map(whole);
    let mut item = json!({
        "metadata": {"name": domain.name},
        "id": uuid.to_string(),
        "active": domain.active,
        "state": state,
        "stateReason": reason,
    });
    let mut add = |name: &str, value: Option<Value>| {
        if let (Some(map), Some(value)) = (item.as_object_mut(), value) {
            map.insert(name.to_owned(), value);
        }
    };
    add("vcpus", domain.vcpus.map(|vcpus| json!(vcpus)));
    add("memoryKiB", domain.memory_kib.map(|memory| json!(memory)));
    add("cpus", usage.cpus.map(|cpus| json!((cpus * 1000.0).round() / 1000.0)));
    add("diskReadBytesPerSecond", rate(usage.disk_read).map(|rate| json!(rate)));
    add("diskWrittenBytesPerSecond", rate(usage.disk_written).map(|rate| json!(rate)));
    add("receivedBytesPerSecond", rate(usage.received).map(|rate| json!(rate)));
    add("sentBytesPerSecond", rate(usage.sent).map(|rate| json!(rate)));
    add("job", job.map(told));
    let shown = |value: Option<f64>| value.map_or(Value::Null, |value| json!(format::iec_rate(whole(value))));
    let cells = vec![
        json!(state),
        json!(reason),
        domain.vcpus.map_or(Value::Null, |vcpus| json!(vcpus)),
        usage.cpus.map_or(Value::Null, |cpus| json!(format!("{cpus:.2}"))),
        domain.memory_kib.map_or(Value::Null, |memory| json!(format::iec_bytes(memory.saturating_mul(1024)))),
        shown(usage.disk_read),
        shown(usage.disk_written),
        shown(usage.received),
        shown(usage.sent),
        job.map_or(Value::Null, |job| json!(brief(job))),
        json!(uuid.to_string()),
    ];
    SubresourceItem { name: domain.name.clone(), item, cells }
}

fn words(domain: &DomainPicture) -> (String, String) {
    let text = libvirt_rpc::DomainState::from_raw(domain.state, domain.reason).to_string();
    let (state, reason) = text.split_once(" (").unwrap_or((&text, ""));
    (state.to_owned(), reason.trim_end_matches(')').to_owned())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is not negative")]
fn whole(rate: f64) -> u64 {
    rate.round() as u64
}

fn told(job: &JobPicture) -> Value {
    let mut told =
        json!({"type": kind(job.kind), "started": job.started.to_string(), "numbers": job.numbers});
    let mut add = |name: &str, value: Option<Value>| {
        if let (Some(map), Some(value)) = (told.as_object_mut(), value) {
            map.insert(name.to_owned(), value);
        }
    };
    add("operation", job.operation.map(|operation| json!(way(operation))));
    add("ended", job.ended.map(|ended| json!(ended.to_string())));
    add("error", job.error.as_ref().map(|error| json!(error)));
    told
}

fn brief(job: &JobPicture) -> String {
    let operation = job.operation.map(way).unwrap_or("job");
    format!("{operation} {}", kind(job.kind))
}

fn way(operation: i32) -> &'static str {
    match operation {
        4 => "migration_in",
        5 => "migration_out",
        _ => "job",
    }
}

fn kind(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Bounded => "bounded",
        JobKind::Unbounded => "unbounded",
        JobKind::Completed => "completed",
        JobKind::Failed => "failed",
        JobKind::Cancelled => "cancelled",
    }
}
