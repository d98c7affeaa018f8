//! What is served, in the two forms that clients ask for: `/apis` one by one, and all at once.
//!
//! Computed when the server is built: it depends on nothing else, and nothing can make it fail.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::definition::ResourceDefinition;
use crate::serve::SubresourceDefinition;
use crate::server::ServedResource;

/// A JSON document and its ETag.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) body: bytes::Bytes,
    pub(crate) etag: String,
}

impl Document {
    pub(crate) fn of(value: &Value) -> Self {
        use sha2::{Digest as _, Sha256};
        let body = value.to_string().into_bytes();
        let digest = Sha256::digest(&body);
        let etag = digest.iter().map(|byte| format!("{byte:02X}")).collect();
        Self { body: body.into(), etag }
    }
}

/// All discovery documents.
#[derive(Debug)]
pub(crate) struct Discovery {
    pub(crate) groups: Document,
    pub(crate) by_path: BTreeMap<String, Document>,
    pub(crate) aggregated_v2: Document,
    pub(crate) aggregated_v2beta1: Document,
}

impl Discovery {
    pub(crate) fn of(resources: &[ServedResource]) -> Self {
        let groups = Group::all(resources);
        let mut by_path = BTreeMap::new();
        for group in &groups {
            by_path.insert(format!("/apis/{}", group.name), Document::of(&group.legacy(true)));
            for (version, resources) in &group.versions {
                let list = json!({
                    "kind": "APIResourceList",
                    "apiVersion": "v1",
                    "groupVersion": format!("{}/{version}", group.name),
                    "resources": resources.iter().flat_map(|r| legacy_resources(r)).collect::<Vec<_>>(),
                });
                by_path.insert(format!("/apis/{}/{version}", group.name), Document::of(&list));
            }
        }
        let aggregated = |version: &str| {
            Document::of(&json!({
                "kind": "APIGroupDiscoveryList",
                "apiVersion": format!("apidiscovery.k8s.io/{version}"),
                "metadata": {},
                "items": groups.iter().map(Group::aggregated).collect::<Vec<_>>(),
            }))
        };
        Self {
            groups: Document::of(&json!({
                "kind": "APIGroupList",
                "apiVersion": "v1",
                "groups": groups.iter().map(|group| group.legacy(false)).collect::<Vec<_>>(),
            })),
            by_path,
            aggregated_v2: aggregated("v2"),
            aggregated_v2beta1: aggregated("v2beta1"),
        }
    }
}

struct Group<'a> {
    name: &'a str,
    versions: Vec<(&'a str, Vec<&'a ServedResource>)>,
}

impl<'a> Group<'a> {
    fn all(resources: &'a [ServedResource]) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for resource in resources {
            let d = resource.collection.definition();
            let at = groups.iter().position(|group| group.name == d.group).unwrap_or_else(|| {
                groups.push(Group { name: &d.group, versions: Vec::new() });
                groups.len() - 1
            });
            let Some(group) = groups.get_mut(at) else { continue };
            match group.versions.iter_mut().find(|(version, _)| *version == d.version) {
                Some((_, resources)) => resources.push(resource),
                None => group.versions.push((&d.version, vec![resource])),
            }
        }
        for group in &mut groups {
            group.versions.sort_by(|(one, _), (other, _)| preference(one, other));
        }
        groups
    }

    fn legacy(&self, typed: bool) -> Value {
        let versions: Vec<_> = self
            .versions
            .iter()
            .map(|(version, _)| json!({"groupVersion": format!("{}/{version}", self.name), "version": version}))
            .collect();
        let mut group =
            json!({"name": self.name, "preferredVersion": versions.first(), "versions": versions});
        if let (true, Some(map)) = (typed, group.as_object_mut()) {
            map.insert("kind".to_owned(), Value::from("APIGroup"));
            map.insert("apiVersion".to_owned(), Value::from("v1"));
        }
        group
    }

    fn aggregated(&self) -> Value {
        let versions: Vec<_> = self
            .versions
            .iter()
            .map(|(version, resources)| {
                json!({
                    "version": version,
                    "freshness": "Current",
                    "resources": resources.iter().map(|r| aggregated_resource(r)).collect::<Vec<_>>(),
                })
            })
            .collect();
        json!({"metadata": {"name": self.name, "creationTimestamp": null}, "versions": versions})
    }
}

/// A resource and its subresources.
fn legacy_resources(resource: &ServedResource) -> Vec<Value> {
    let d = resource.collection.definition();
    let subresource = |sub: &SubresourceDefinition| {
        json!({
            "name": format!("{}/{}", d.plural, sub.name), "singularName": "", "namespaced": d.namespaced(),
            "kind": sub.list_kind, "verbs": ["get"],
        })
    };
    let own = std::iter::once(legacy_resource(resource));
    own.chain(resource.subresources.definitions().map(subresource)).collect()
}

fn legacy_resource(resource: &ServedResource) -> Value {
    let d = resource.collection.definition();
    let mut value = json!({
        "name": d.plural,
        "singularName": d.singular,
        "namespaced": d.namespaced(),
        "kind": d.kind,
        "verbs": resource.verbs(),
    });
    add_names(&mut value, d);
    value
}

fn aggregated_resource(resource: &ServedResource) -> Value {
    let d = resource.collection.definition();
    let mut value = json!({
        "resource": d.plural,
        "responseKind": {"group": d.group, "version": d.version, "kind": d.kind},
        "scope": if d.namespaced() { "Namespaced" } else { "Cluster" },
        "singularResource": d.singular,
        "verbs": resource.verbs(),
    });
    add_names(&mut value, d);
    let subresource = |sub: &SubresourceDefinition| {
        json!({
            "subresource": sub.name, "verbs": ["get"],
            "responseKind": {"group": d.group, "version": d.version, "kind": sub.list_kind},
        })
    };
    let subresources: Vec<Value> = resource.subresources.definitions().map(subresource).collect();
    if let (false, Some(map)) = (subresources.is_empty(), value.as_object_mut()) {
        map.insert("subresources".to_owned(), Value::Array(subresources));
    }
    value
}

fn add_names(value: &mut Value, definition: &ResourceDefinition) {
    let Some(map) = value.as_object_mut() else { return };
    for (name, values) in [("shortNames", &definition.short_names), ("categories", &definition.categories)] {
        if !values.is_empty() {
            map.insert(name.to_owned(), Value::from(values.clone()));
        }
    }
}

/// Versions in the order in which clients prefer them: v2, v1, v1beta2, v1alpha1, anything else.
fn preference(one: &str, other: &str) -> Ordering {
    match (rank(one), rank(other)) {
        (Some(one), Some(other)) => other.cmp(&one),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => one.cmp(other),
    }
}

/// Maturity, major and minor number, each higher when preferred.
fn rank(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (major, stage) = rest.split_at_checked(end)?;
    let major = major.parse().ok()?;
    for (name, maturity) in [("beta", 1), ("alpha", 0)] {
        if let Some(minor) = stage.strip_prefix(name) {
            return Some((maturity, major, minor.parse().ok()?));
        }
    }
    stage.is_empty().then_some((2, major, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_in_the_order_that_kubernetes_prefers() {
        let mut versions = ["foo", "v1alpha1", "v2", "v1beta1", "v11", "v1beta10", "bar", "v1", "v10beta3"];
        versions.sort_by(|one, other| preference(one, other));
        assert_eq!(
            versions,
            ["v11", "v2", "v1", "v10beta3", "v1beta10", "v1beta1", "v1alpha1", "bar", "foo"]
        );
    }
}
