//! The operators as Helm releases: which, from where, where to, after what. The table is upstream's `deploy/flux-system`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::layer;
use crate::conventions::{ResolvedManagement, ResolvedPlatform};
use crate::plan::{Health, Layer, metadata};

/// When a release comes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Group {
    /// Kinds that everything else needs.
    Foundation,
    /// Databases, caches, secrets, OVN.
    Infrastructure,
    /// The operators of OpenStack services.
    Operators,
}

/// One release.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Release {
    pub(crate) name: &'static str,
    pub(crate) namespace: &'static str,
    pub(crate) repository: &'static str,
    pub(crate) version: &'static str,
    pub(crate) group: Group,
    pub(crate) after: &'static [&'static str],
}

const fn foundation(
    name: &'static str,
    namespace: &'static str,
    repository: &'static str,
    version: &'static str,
) -> Release {
    Release { name, namespace, repository, version, group: Group::Foundation, after: &[] }
}

const fn infrastructure(
    name: &'static str,
    namespace: &'static str,
    repository: &'static str,
    version: &'static str,
    after: &'static [&'static str],
) -> Release {
    Release { name, namespace, repository, version, group: Group::Infrastructure, after }
}

const fn operator(
    name: &'static str,
    namespace: &'static str,
    version: &'static str,
    after: &'static [&'static str],
) -> Release {
    Release { name, namespace, repository: "c5c3-charts", version, group: Group::Operators, after }
}

const ANY: &str = "*";
const OURS: &str = ">=0.1.0 <1.0.0";

/// Every release, each after those it names.
pub(crate) const RELEASES: &[Release] = &[
    foundation("cert-manager", "cert-manager", "cert-manager", ">=1.16.0 <2.0.0"),
    foundation("mariadb-operator-crds", "mariadb-system", "mariadb-operator", ANY),
    foundation("prometheus-operator-crds", "monitoring", "prometheus-community", ANY),
    infrastructure(
        "mariadb-operator",
        "mariadb-system",
        "mariadb-operator",
        ANY,
        &["cert-manager", "mariadb-operator-crds"],
    ),
    infrastructure(
        "memcached-operator",
        "memcached-system",
        "c5c3-charts",
        OURS,
        &["cert-manager", "prometheus-operator-crds"],
    ),
    infrastructure(
        "external-secrets",
        "external-secrets",
        "external-secrets",
        ">=0.10.0 <1.0.0",
        &["cert-manager"],
    ),
    infrastructure("openbao", "shared-services", "openbao", ANY, &["cert-manager"]),
    infrastructure("openbao-operator", "openbao-operator-system", "", "", &["cert-manager"]),
    infrastructure("ovn-operator", "ovn-system", "c5c3-charts", OURS, &["cert-manager"]),
    operator(
        "keystone-operator",
        "keystone-system",
        ">=0.8.0 <1.0.0",
        &["cert-manager", "mariadb-operator", "memcached-operator", "external-secrets"],
    ),
    operator(
        "horizon-operator",
        "horizon-system",
        ">=0.2.0 <1.0.0",
        &["cert-manager", "memcached-operator", "external-secrets", "keystone-operator"],
    ),
    operator(
        "glance-operator",
        "glance-system",
        OURS,
        &["cert-manager", "mariadb-operator", "memcached-operator", "external-secrets", "keystone-operator"],
    ),
    operator(
        "placement-operator",
        "placement-system",
        OURS,
        &["cert-manager", "mariadb-operator", "memcached-operator", "external-secrets", "keystone-operator"],
    ),
    operator(
        "cinder-operator",
        "cinder-system",
        OURS,
        &["cert-manager", "mariadb-operator", "memcached-operator", "external-secrets", "keystone-operator"],
    ),
    operator(
        "nova-operator",
        "nova-system",
        OURS,
        &["cert-manager", "mariadb-operator", "memcached-operator", "external-secrets", "keystone-operator"],
    ),
    operator(
        "neutron-operator",
        "neutron-system",
        OURS,
        &[
            "cert-manager",
            "mariadb-operator",
            "memcached-operator",
            "external-secrets",
            "keystone-operator",
            "ovn-operator",
        ],
    ),
    operator(
        "c5c3-operator",
        "c5c3-system",
        ">=0.7.0 <1.0.0",
        &["keystone-operator", "external-secrets", "mariadb-operator", "memcached-operator"],
    ),
];

/// Repositories of charts by name.
const REPOSITORIES: &[(&str, &str)] = &[
    ("c5c3-charts", "oci://ghcr.io/c5c3/charts"),
    ("cert-manager", "https://charts.jetstack.io"),
    ("external-secrets", "https://charts.external-secrets.io"),
    ("mariadb-operator", "https://helm.mariadb.com/mariadb-operator"),
    ("openbao", "https://openbao.github.io/openbao-helm"),
    ("prometheus-community", "oci://ghcr.io/prometheus-community/charts"),
];

/// Whether a release is installed by us.
pub(super) fn is_wanted(platform: &ResolvedPlatform, release: &Release) -> bool {
    !platform.declared.without.iter().any(|name| name == release.name)
        && (release.name != "openbao-operator" || platform.declared.openbao_operator.is_some())
}

/// The chart repositories that wanted releases come from; that of our own charts always, since attached clusters need it.
pub(super) fn chart_repositories(platform: &ResolvedPlatform) -> Vec<(&'static str, &'static str)> {
    let mut used: BTreeSet<&str> = RELEASES
        .iter()
        .filter(|release| is_wanted(platform, release))
        .map(|release| release.repository)
        .collect();
    used.insert("c5c3-charts");
    REPOSITORIES.iter().copied().filter(|(name, _)| used.contains(name)).collect()
}

/// The three groups as layers.
pub(super) fn layers(management: &ResolvedManagement, platform: &ResolvedPlatform) -> Vec<Layer> {
    let of = |group: Group, step: &str, after: &[&str]| {
        let mut layer = layer(management, step, "spec.management.platform")
            .slow()
            .after(after.iter().map(|name| (*name).to_owned()));
        for release in
            RELEASES.iter().filter(|release| release.group == group && is_wanted(platform, release))
        {
            if release.name == "openbao-operator"
                && let Some(chart) = &platform.declared.openbao_operator
            {
                let source = openbao_operator_chart(management, &chart.tag, chart.digest.as_deref());
                layer = layer.with("oci-repository.yaml", "openbao-operator-chart", Health::Status, source);
            }
            let object = helm_release(management, platform, release);
            layer = layer.with("helm-release.yaml", release.name, Health::Status, object);
        }
        layer
    };
    vec![
        of(Group::Foundation, "foundation", &["platform-sources"]),
        of(Group::Infrastructure, "infrastructure", &["platform-foundation"]),
        of(
            Group::Operators,
            "operators",
            &[
                "platform-infrastructure",
                "platform-pki",
                "k-orc",
                "rabbitmq-cluster-operator",
                "messaging-topology-operator",
            ],
        ),
    ]
}

/// Version range of a release.
pub(super) fn version<'platform>(platform: &'platform ResolvedPlatform, release: &Release) -> &'platform str {
    platform.declared.charts.get(release.name).map_or(release.version, String::as_str)
}

fn helm_release(management: &ResolvedManagement, platform: &ResolvedPlatform, release: &Release) -> Value {
    let mut spec = Map::new();
    spec.insert("interval".to_owned(), json!("30m"));
    if release.repository.is_empty() {
        let reference =
            json!({ "kind": "OCIRepository", "name": release.name, "namespace": management.flux_namespace });
        spec.insert("chartRef".to_owned(), reference);
    } else {
        spec.insert("chart".to_owned(), chart(management, platform, release));
    }
    let after: Vec<Value> = RELEASES
        .iter()
        .filter(|other| release.after.contains(&other.name) && is_wanted(platform, other))
        .map(|other| json!({ "name": other.name, "namespace": other.namespace }))
        .collect();
    if !after.is_empty() {
        spec.insert("dependsOn".to_owned(), Value::Array(after));
    }
    for action in ["install", "upgrade"] {
        spec.insert(action.to_owned(), json!({ "crds": "CreateReplace", "remediation": { "retries": 3 } }));
    }
    if release.group == Group::Operators {
        let digest = format!("{}-image-digest", release.name);
        spec.insert(
            "valuesFrom".to_owned(),
            json!([{ "kind": "ConfigMap", "name": digest, "valuesKey": "values.yaml", "optional": true }]),
        );
    }
    spec.insert("values".to_owned(), values(platform, release));
    json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": metadata(release.name, Some(release.namespace)),
        "spec": spec,
    })
}

pub(super) fn chart(
    management: &ResolvedManagement,
    platform: &ResolvedPlatform,
    release: &Release,
) -> Value {
    json!({ "spec": {
        "chart": release.name,
        "version": version(platform, release),
        "sourceRef": { "kind": "HelmRepository", "name": release.repository, "namespace": management.flux_namespace },
    } })
}

pub(super) fn values(platform: &ResolvedPlatform, release: &Release) -> Value {
    match (release.name, release.group) {
        ("cert-manager", _) => json!({ "crds": { "enabled": true } }),
        (_, Group::Operators) => json!({
            "replicas": platform.operator_replicas,
            "leaderElection": { "enabled": true },
            "image": { "tag": platform.operator_image_tag },
            // A chart that sees one namespace only switches attached clusters off.
            "rbac": { "namespaceScoped": false },
        }),
        _ => json!({}),
    }
}

fn openbao_operator_chart(management: &ResolvedManagement, tag: &str, digest: Option<&str>) -> Value {
    let mut reference = Map::new();
    reference.insert("tag".to_owned(), json!(tag));
    if let Some(digest) = digest {
        reference.insert("digest".to_owned(), json!(digest));
    }
    json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "OCIRepository",
        "metadata": metadata("openbao-operator", Some(&management.flux_namespace)),
        "spec": {
            "interval": "30m",
            "url": "oci://ghcr.io/dc-tec/charts/openbao-operator",
            "ref": reference,
            "layerSelector": {
                "mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
                "operation": "copy",
            },
        },
    })
}
