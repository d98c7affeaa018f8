//! What the server counts.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::audit::AuditLog;
use crate::collection::{Collection, EventKind};

/// Labels of a request. Unknown paths have empty ones, so that clients cannot invent series.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct RequestLabels {
    pub(crate) verb: String,
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) resource: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AnswerLabels {
    verb: String,
    group: String,
    version: String,
    resource: String,
    code: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResourceLabels {
    group: String,
    version: String,
    resource: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Metrics {
    requests: Family<AnswerLabels, Counter>,
    durations: Family<RequestLabels, Histogram, fn() -> Histogram>,
    watches: Family<ResourceLabels, Gauge<i64, AtomicI64>>,
    cut_off: Counter,
}

impl Metrics {
    pub(crate) fn register(
        registry: &mut Registry,
        collections: &[Arc<Collection>],
        audit: Option<AuditLog>,
    ) -> Self {
        let metrics = Self {
            requests: Family::default(),
            durations: Family::new_with_constructor(histogram),
            watches: Family::default(),
            cut_off: Counter::default(),
        };
        let registry = registry.sub_registry_with_prefix("aggregated_apiserver");
        registry.register("requests", "Requests by verb, resource and code", metrics.requests.clone());
        registry.register(
            "request_duration_seconds",
            "Time to the answer, watches excepted",
            metrics.durations.clone(),
        );
        registry.register("watches", "Open watches", metrics.watches.clone());
        registry.register(
            "readers_cut_off",
            "Readers that stopped and were cut off",
            metrics.cut_off.clone(),
        );
        registry.register_collector(Box::new(Published { collections: collections.to_vec(), audit }));
        metrics
    }

    pub(crate) fn answered(&self, labels: &RequestLabels, code: u16, seconds: f64) {
        let RequestLabels { verb, group, version, resource } = labels.clone();
        self.requests.get_or_create(&AnswerLabels { verb, group, version, resource, code }).inc();
        if labels.verb != "watch" {
            self.durations.get_or_create(labels).observe(seconds);
        }
    }

    /// Counts readers that are cut off.
    pub(crate) fn cut_off(&self) -> Counter {
        self.cut_off.clone()
    }

    /// Counts a watch until the guard is dropped.
    pub(crate) fn watching(&self, collection: &Collection) -> WatchGuard {
        let gauge = self.watches.get_or_create(&labels_of(collection)).clone();
        gauge.inc();
        WatchGuard(gauge)
    }
}

/// One open watch.
#[derive(Debug)]
pub(crate) struct WatchGuard(Gauge<i64, AtomicI64>);

impl Drop for WatchGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn histogram() -> Histogram {
    Histogram::new([0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0])
}

fn labels_of(collection: &Collection) -> ResourceLabels {
    let d = collection.definition();
    ResourceLabels { group: d.group.clone(), version: d.version.clone(), resource: d.plural.clone() }
}

/// Reads the collections when asked.
#[derive(Debug)]
struct Published {
    collections: Vec<Arc<Collection>>,
    audit: Option<AuditLog>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EventLabels {
    group: String,
    version: String,
    resource: String,
    kind: &'static str,
}

impl Collector for Published {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let mut objects =
            encoder.encode_descriptor("objects", "Published objects", None, MetricType::Gauge)?;
        for collection in &self.collections {
            let count = i64::try_from(collection.len()).unwrap_or(i64::MAX);
            ConstGauge::new(count).encode(objects.encode_family(&labels_of(collection))?)?;
        }
        let mut events =
            encoder.encode_descriptor("events", "Events of objects", None, MetricType::Counter)?;
        for collection in &self.collections {
            let ResourceLabels { group, version, resource } = labels_of(collection);
            for kind in [EventKind::Added, EventKind::Modified, EventKind::Deleted] {
                let labels = EventLabels {
                    group: group.clone(),
                    version: version.clone(),
                    resource: resource.clone(),
                    kind: kind.as_str(),
                };
                ConstCounter::new(collection.events(kind)).encode(events.encode_family(&labels)?)?;
            }
        }
        if let Some(audit) = &self.audit {
            let help = "Audit events that could not be written in time";
            let lost = encoder.encode_descriptor("audit_events_lost", help, None, MetricType::Counter)?;
            ConstCounter::new(audit.lost()).encode(lost)?;
        }
        Ok(())
    }
}
