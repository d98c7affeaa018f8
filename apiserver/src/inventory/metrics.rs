//! What the inventory can be measured by: hosts by source and state, reports, publications.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Which source, and in which state.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct SourceLabels {
    /// The source, as in `status.sources[].name`.
    pub(super) source: String,
    /// The state, as in `status.sources[].state`.
    pub(super) state: String,
}

/// Which source, whatever its state.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct AgeLabels {
    /// The source.
    pub(super) source: &'static str,
}

/// Whether watchers were told.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct UrgencyLabels {
    /// `change` or `quiet`.
    pub(super) urgency: String,
}

/// The metrics of the inventory.
#[derive(Debug, Clone)]
pub struct Metrics {
    pub(super) sources: Family<SourceLabels, Gauge>,
    pub(super) reports: Counter,
    pub(super) waiting: Gauge,
    pub(super) latency: Histogram,
    pub(super) ages: Family<AgeLabels, Gauge<f64, AtomicU64>>,
    pub(super) publications: Family<UrgencyLabels, Counter>,
}

impl Metrics {
    /// Makes them known to a registry.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            sources: Family::default(),
            reports: Counter::default(),
            waiting: Gauge::default(),
            latency: Histogram::new([0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0]),
            ages: Family::default(),
            publications: Family::default(),
        };
        let registry = registry.sub_registry_with_prefix("c5c3");
        registry.register("sources", "Hosts by source and its state", metrics.sources.clone());
        registry.register("reports", "Observations taken from sources", metrics.reports.clone());
        registry.register(
            "reports_waiting",
            "Observations that wait for their turn",
            metrics.waiting.clone(),
        );
        let help = "From the reading of something new to its publication";
        registry.register("publication_delay_seconds", help, metrics.latency.clone());
        let help = "Age of the oldest value of a source, over the hosts of which it answers";
        registry.register("source_age_seconds", help, metrics.ages.clone());
        let help = "Objects shown, by whether watchers were told";
        registry.register("publications", help, metrics.publications.clone());
        metrics
    }
}
