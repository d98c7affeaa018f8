//! What the inventory can be measured by: hosts by source and state, reports, publications.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// Which source, and in which state.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct SourceLabels {
    /// The source, as in `status.sources[].name`.
    pub(super) source: String,
    /// The state, as in `status.sources[].state`.
    pub(super) state: String,
}

/// Whether watchers were told.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct UrgencyLabels {
    /// `change` or `quiet`.
    pub(super) urgency: String,
}

/// The metrics of the inventory.
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    pub(super) sources: Family<SourceLabels, Gauge>,
    pub(super) reports: Counter,
    pub(super) publications: Family<UrgencyLabels, Counter>,
}

impl Metrics {
    /// Makes them known to a registry.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let registry = registry.sub_registry_with_prefix("c5c3");
        registry.register("sources", "Hosts by source and its state", metrics.sources.clone());
        registry.register("reports", "Observations taken from sources", metrics.reports.clone());
        let help = "Objects shown, by whether watchers were told";
        registry.register("publications", help, metrics.publications.clone());
        metrics
    }
}
