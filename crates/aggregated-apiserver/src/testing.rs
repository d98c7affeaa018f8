//! What unit tests share: a small resource, and certificates.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::collection::{Collection, CollectionOptions};
use crate::definition::{Column, ResourceDefinition, Scope};
use crate::version::VersionClock;

/// Weather stations, cluster-scoped.
pub(crate) fn stations() -> ResourceDefinition {
    ResourceDefinition {
        group: "weather.example.com".into(),
        version: "v1".into(),
        kind: "Station".into(),
        list_kind: "StationList".into(),
        plural: "stations".into(),
        singular: "station".into(),
        short_names: vec!["wst".into()],
        categories: vec![],
        scope: Scope::Cluster,
        columns: vec![Column::string("Region", ".spec.region")],
        selectable_fields: vec![".spec.region".into()],
        schema: json!({"type": "object", "properties": {"spec": {"type": "object"}}}),
        description: "A weather station.".into(),
    }
}

/// An empty collection of stations.
pub(crate) fn collection() -> Arc<Collection> {
    Collection::new(stations(), Arc::new(VersionClock::new(1)), CollectionOptions::default()).unwrap()
}

/// A station with a few more members.
pub(crate) fn station(name: &str, more: &Value) -> Value {
    let mut object = json!({"metadata": {"name": name, "uid": format!("uid-{name}")}});
    for (key, value) in more.as_object().unwrap() {
        object[key] = value.clone();
    }
    object
}

/// A certificate authority.
pub(crate) fn authority(name: &str) -> rcgen::Certificate {
    let mut parameters = rcgen::CertificateParams::new(vec![]).unwrap();
    parameters.distinguished_name.push(rcgen::DnType::CommonName, name);
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    parameters.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap()
}
