//! What sources are measured by: connections made and lost, and calls to the cloud.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Which source.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SourceLabels {
    source: &'static str,
}

/// Which call to which service, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    call: &'static str,
    outcome: &'static str,
}

/// The measures. Clones count together.
#[derive(Debug, Clone, Default)]
pub struct Measures {
    answered: Family<SourceLabels, Counter>,
    lost: Family<SourceLabels, Counter>,
    calls: Family<CallLabels, Counter>,
}

impl Measures {
    /// Makes them known to a registry.
    pub fn register(registry: &mut Registry) -> Self {
        let measures = Self::default();
        let registry = registry.sub_registry_with_prefix("c5c3");
        let help = "Times that a source of a host began to answer, again or for the first time";
        registry.register("source_connects", help, measures.answered.clone());
        let help = "Times that a source of a host that had answered fell silent";
        registry.register("source_losses", help, measures.lost.clone());
        registry.register(
            "openstack_calls",
            "Calls to Nova and Placement by outcome",
            measures.calls.clone(),
        );
        measures
    }

    pub(super) fn answers(&self, source: &'static str) {
        self.answered.get_or_create(&SourceLabels { source }).inc();
    }

    pub(super) fn fell_silent(&self, source: &'static str) {
        self.lost.get_or_create(&SourceLabels { source }).inc();
    }

    /// Counts a call by how it ends.
    pub(super) async fn counted<T, E>(
        &self,
        call: &'static str,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let ended = work.await;
        let outcome = if ended.is_ok() { "ok" } else { "error" };
        self.calls.get_or_create(&CallLabels { call, outcome }).inc();
        ended
    }
}
