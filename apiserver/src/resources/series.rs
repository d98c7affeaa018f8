//! The series that dashboards and alerts of the polling operators read, which kube-state-metrics made of the stored objects.
//!
//! There are no stored objects here, so the server tells them itself: names and labels are those of the operators' own
//! configuration of kube-state-metrics. What they need of an object is kept when it is shown; a scrape parses nothing.

use std::collections::BTreeMap;
use std::fmt::Error;
use std::sync::{Arc, PoisonError, RwLock};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use serde_json::Value;

/// What is said of one object.
type Labels = Vec<(&'static str, Arc<str>)>;

/// The series of all objects that are shown.
#[derive(Debug, Default)]
pub struct Series {
    hypervisors: RwLock<BTreeMap<String, HypervisorRow>>,
    evictions: RwLock<BTreeMap<String, EvictionRow>>,
}

#[derive(Debug, Clone, PartialEq)]
struct HypervisorRow {
    common: Labels,
    info: Labels,
    instances: Option<i64>,
    evicted: Option<bool>,
    cpus: Option<i64>,
    lifecycle_enabled: Option<bool>,
    high_availability: Option<bool>,
    conditions: Vec<ConditionRow>,
}

#[derive(Debug, Clone, PartialEq)]
struct EvictionRow {
    common: Labels,
    info: Labels,
    outstanding_ram_mb: Option<i64>,
    conditions: Vec<ConditionRow>,
}

#[derive(Debug, Clone, PartialEq)]
struct ConditionRow {
    labels: Labels,
    is_true: bool,
}

impl Series {
    /// Makes them known to a registry.
    pub fn register(self: &Arc<Self>, registry: &mut Registry) {
        registry.register_collector(Box::new(Scrape(Arc::clone(self))));
    }

    /// A Hypervisor is shown.
    pub(super) fn hypervisor(&self, object: &Value) {
        let row = HypervisorRow::of(object);
        replace(&self.hypervisors, text(object, "/metadata/name"), row);
    }

    /// An Eviction is shown.
    pub(super) fn eviction(&self, object: &Value) {
        let row = EvictionRow::of(object);
        replace(&self.evictions, text(object, "/metadata/name"), row);
    }

    /// A Hypervisor is not shown any more.
    pub(super) fn hypervisor_gone(&self, name: &str) {
        self.hypervisors.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    /// An Eviction is not shown any more.
    pub(super) fn eviction_gone(&self, name: &str) {
        self.evictions.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}

fn replace<R: PartialEq>(rows: &RwLock<BTreeMap<String, R>>, name: &str, row: R) {
    let mut rows = rows.write().unwrap_or_else(PoisonError::into_inner);
    if rows.get(name) != Some(&row) {
        rows.insert(name.to_owned(), row);
    }
}

fn text<'a>(object: &'a Value, place: &str) -> &'a str {
    object.pointer(place).and_then(Value::as_str).unwrap_or_default()
}

fn label(object: &Value, key: &str) -> Arc<str> {
    let labels = object.pointer("/metadata/labels");
    labels.and_then(|labels| labels.get(key)).and_then(Value::as_str).unwrap_or_default().into()
}

fn conditions(object: &Value) -> Vec<ConditionRow> {
    let list = object.pointer("/status/conditions").and_then(Value::as_array);
    let row = |condition: &Value| ConditionRow {
        labels: vec![
            ("condition", text(condition, "/type").into()),
            ("reason", text(condition, "/reason").into()),
        ],
        is_true: text(condition, "/status") == "True",
    };
    list.into_iter().flatten().map(row).collect()
}

impl HypervisorRow {
    fn of(object: &Value) -> Self {
        let truth = |place: &str| object.pointer(place).and_then(Value::as_bool);
        let cpus = object.pointer("/status/capabilities/cpus");
        Self {
            common: vec![
                ("name", text(object, "/metadata/name").into()),
                ("zone", label(object, c5c3_api::labels::ZONE)),
                ("building_block", label(object, c5c3_api::labels::BUILDING_BLOCK)),
                ("worker_group", label(object, c5c3_api::labels::WORKER_GROUP)),
                ("maintenance", text(object, "/spec/maintenance").into()),
            ],
            info: vec![
                ("hypervisor_version", text(object, "/status/hypervisorVersion").into()),
                ("libvirt_version", text(object, "/status/libVirtVersion").into()),
                ("hardware_model", text(object, "/status/operatingSystem/hardwareModel").into()),
                ("os_version", text(object, "/status/operatingSystem/prettyVersion").into()),
            ],
            instances: object.pointer("/status/numInstances").and_then(Value::as_i64),
            evicted: truth("/status/evicted"),
            cpus: cpus.and_then(|cpus| cpus.as_i64().or_else(|| cpus.as_str()?.parse().ok())),
            lifecycle_enabled: truth("/spec/lifecycleEnabled"),
            high_availability: truth("/spec/highAvailability"),
            conditions: conditions(object),
        }
    }
}

impl EvictionRow {
    fn of(object: &Value) -> Self {
        Self {
            common: vec![("name", text(object, "/metadata/name").into())],
            info: vec![
                ("hypervisor", text(object, "/spec/hypervisor").into()),
                ("reason", text(object, "/spec/reason").into()),
            ],
            outstanding_ram_mb: object.pointer("/status/outstandingRamMb").and_then(Value::as_i64),
            conditions: conditions(object),
        }
    }
}

/// Writes what is kept when it is asked for.
#[derive(Debug)]
struct Scrape(Arc<Series>);

impl Collector for Scrape {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let rows = self.0.hypervisors.read().unwrap_or_else(PoisonError::into_inner);
        let rows: Vec<&HypervisorRow> = rows.values().collect();
        let mut family = |name: &str, help: &str, value: &dyn Fn(&HypervisorRow) -> Option<i64>| {
            let values = rows.iter().filter_map(|row| Some((row.common.as_slice(), &[][..], value(row)?)));
            write(&mut encoder, &format!("kube_customresource_hypervisor_{name}"), help, values)
        };
        let flag = |value: Option<bool>| value.map(i64::from);
        family("num_instances", "Domains on the host", &|row| row.instances)?;
        family("evicted", "Whether the host is emptied for maintenance", &|row| flag(row.evicted))?;
        family("capability_cpus", "Logical CPUs of the host", &|row| row.cpus)?;
        family("lifecycle_enabled", "Whether the host's life cycle is managed", &|row| {
            flag(row.lifecycle_enabled)
        })?;
        family("high_availability", "Whether high availability is wanted", &|row| {
            flag(row.high_availability)
        })?;
        let info = rows.iter().map(|row| (row.common.as_slice(), row.info.as_slice(), 1));
        write(&mut encoder, "kube_customresource_hypervisor_info", "Versions of the host", info)?;
        let conditions = rows.iter().flat_map(|row| with_conditions(&row.common, &row.conditions));
        let help = "Conditions of the host, 1 when true";
        write(&mut encoder, "kube_customresource_hypervisor_condition", help, conditions)?;

        let rows = self.0.evictions.read().unwrap_or_else(PoisonError::into_inner);
        let info = rows.values().map(|row| (row.common.as_slice(), row.info.as_slice(), 1));
        write(&mut encoder, "kube_customresource_eviction_info", "What is evicted and why", info)?;
        let ram =
            rows.values().filter_map(|row| Some((row.common.as_slice(), &[][..], row.outstanding_ram_mb?)));
        let help = "Memory of the servers that are left on the host";
        write(&mut encoder, "kube_customresource_eviction_outstanding_ram_mb", help, ram)?;
        let conditions = rows.values().flat_map(|row| with_conditions(&row.common, &row.conditions));
        let help = "Conditions of the eviction, 1 when true";
        write(&mut encoder, "kube_customresource_eviction_condition", help, conditions)
    }
}

type Sample<'a> = (&'a [(&'static str, Arc<str>)], &'a [(&'static str, Arc<str>)], i64);

fn with_conditions<'a>(
    common: &'a [(&'static str, Arc<str>)],
    conditions: &'a [ConditionRow],
) -> impl Iterator<Item = Sample<'a>> {
    conditions.iter().map(move |row| (common, row.labels.as_slice(), i64::from(row.is_true)))
}

fn write<'a>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    samples: impl Iterator<Item = Sample<'a>>,
) -> Result<(), Error> {
    let mut samples = samples.peekable();
    if samples.peek().is_none() {
        return Ok(());
    }
    let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    for (common, own, value) in samples {
        let labels: Vec<(&str, &str)> =
            common.iter().chain(own).map(|(name, value)| (*name, value.as_ref())).collect();
        ConstGauge::new(value).encode(family.encode_family(&labels.as_slice())?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;
    use serde_json::json;

    use super::*;

    fn scraped(series: &Arc<Series>) -> String {
        let mut registry = Registry::default();
        series.register(&mut registry);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        text
    }

    #[test]
    fn names_and_labels_are_those_that_dashboards_and_alerts_read() {
        let series = Arc::new(Series::default());
        series.hypervisor(&json!({
            "metadata": {"name": "host-1", "labels": {"topology.kubernetes.io/zone": "a", "kubernetes.metal.cloud.sap/bb": "b1"}},
            "spec": {"maintenance": "manual", "lifecycleEnabled": true},
            "status": {
                "numInstances": 3, "capabilities": {"cpus": "64"}, "libVirtVersion": "10.0.0",
                "conditions": [{"type": "Ready", "status": "False", "reason": "Maintenance"}],
            },
        }));
        series.eviction(&json!({
            "metadata": {"name": "host-1"}, "spec": {"hypervisor": "host-1", "reason": "disk"},
            "status": {"outstandingRamMb": 2048},
        }));
        let text = scraped(&series);
        let common = r#"name="host-1",zone="a",building_block="b1",worker_group="",maintenance="manual""#;
        for line in [
            format!("kube_customresource_hypervisor_num_instances{{{common}}} 3"),
            format!("kube_customresource_hypervisor_capability_cpus{{{common}}} 64"),
            format!("kube_customresource_hypervisor_lifecycle_enabled{{{common}}} 1"),
            format!(
                r#"kube_customresource_hypervisor_condition{{{common},condition="Ready",reason="Maintenance"}} 0"#
            ),
            r#"kube_customresource_eviction_info{name="host-1",hypervisor="host-1",reason="disk"} 1"#
                .to_owned(),
            r#"kube_customresource_eviction_outstanding_ram_mb{name="host-1"} 2048"#.to_owned(),
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
        assert!(!text.contains("hypervisor_evicted"), "what is not known is not told");
        series.hypervisor_gone("host-1");
        series.eviction_gone("host-1");
        assert!(!scraped(&series).contains("host-1"));
    }
}
