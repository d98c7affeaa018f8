//! What waits for what: no circle, nothing that will never exist, and only objects that are in the layer it is about.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::documents::Document;
use super::report;
use crate::finding::Findings;

/// Group and kind of a Flux Kustomization.
pub(super) const KUSTOMIZATION: (&str, &str) = ("kustomize.toolkit.fluxcd.io", "Kustomization");
const HELM_RELEASE: (&str, &str) = ("helm.toolkit.fluxcd.io", "HelmRelease");

pub(super) fn check(documents: &[Document], findings: &mut Findings) {
    for kind in [KUSTOMIZATION, HELM_RELEASE] {
        // A release for an attached cluster lives on the management cluster beside all others; one by its own Flux does not.
        let mut clusters: BTreeMap<&str, Vec<&Document>> = BTreeMap::new();
        for document in documents.iter().filter(|document| document.kind() == kind) {
            clusters.entry(&document.cluster).or_default().push(document);
        }
        for nodes in clusters.values() {
            check_cluster(kind.1, nodes, findings);
        }
    }
    health_checks(documents, findings);
}

fn check_cluster(kind: &str, nodes: &[&Document], findings: &mut Findings) {
    let mut edges: BTreeMap<Name<'_>, Vec<Name<'_>>> = BTreeMap::new();
    for node in nodes {
        names(node, findings);
        edges.insert((node.namespace(), node.name()), dependencies(node));
    }
    for node in nodes {
        for dependency in dependencies(node) {
            if !edges.contains_key(&dependency) {
                let message = format!("waits for {}, which is no {kind} here", dependency.1);
                report(findings, "depends-on", node, message);
            }
        }
    }
    let mut done: BTreeSet<Name<'_>> = BTreeSet::new();
    for node in nodes {
        if let Some(circle) = circle_from((node.namespace(), node.name()), &edges, &mut done) {
            let names: Vec<&str> = circle.iter().map(|(_, name)| *name).collect();
            report(findings, "depends-on", node, format!("waits for itself: {}", names.join(" -> ")));
        }
    }
}

/// Namespace and name.
type Name<'document> = (&'document str, &'document str);

/// What a document waits for; without a namespace it is in the same one.
fn dependencies(document: &Document) -> Vec<Name<'_>> {
    let entries = document.object.pointer("/spec/dependsOn").and_then(Value::as_array);
    entries
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let name = entry.get("name").and_then(Value::as_str)?;
            let namespace = entry.get("namespace").and_then(Value::as_str);
            Some((namespace.unwrap_or_else(|| document.namespace()), name))
        })
        .collect()
}

/// Flux puts the name of a Kustomization or HelmRelease into a label.
fn names(document: &Document, findings: &mut Findings) {
    if document.name().len() > 63 {
        let message = format!("the name {} has more than 63 characters", document.name());
        report(findings, "flux-name-length", document, message);
    }
    let release = document.text("/spec/releaseName");
    if release.len() > 53 {
        report(
            findings,
            "flux-name-length",
            document,
            format!("the release name {release} has more than 53 characters"),
        );
    }
}

/// The way from a node back to itself, named once per circle: at its smallest name. `done` holds nodes from which no circle is left to find.
fn circle_from<'name>(
    start: Name<'name>,
    edges: &BTreeMap<Name<'name>, Vec<Name<'name>>>,
    done: &mut BTreeSet<Name<'name>>,
) -> Option<Vec<Name<'name>>> {
    let mut visited = BTreeSet::new();
    let mut came_from: BTreeMap<Name<'name>, Name<'name>> = BTreeMap::new();
    let mut stack = vec![start];
    let mut found = None;
    while let (None, Some(node)) = (found, stack.pop()) {
        for next in edges.get(&node).into_iter().flatten() {
            if *next == start {
                found = Some(node);
            } else if !done.contains(next) && visited.insert(*next) {
                came_from.insert(*next, node);
                stack.push(*next);
            }
        }
    }
    let Some(mut node) = found else {
        // Nothing that can be reached from here leads back here, so it leads back nowhere that has not been looked at.
        done.insert(start);
        return None;
    };
    let mut circle = vec![start];
    while node != start {
        circle.push(node);
        node = *came_from.get(&node)?;
    }
    circle.push(start);
    circle.reverse();
    circle.iter().all(|name| *name >= start).then_some(circle)
}

/// A health check names an object of the layer's own folder; another would never be found, or be found too late.
fn health_checks(documents: &[Document], findings: &mut Findings) {
    let mut by_folder: BTreeMap<&str, Vec<&Document>> = BTreeMap::new();
    for document in documents {
        by_folder.entry(super::folder(&document.path)).or_default().push(document);
    }
    for kustomization in documents.iter().filter(|document| document.kind() == KUSTOMIZATION) {
        let folder = kustomization.text("/spec/path").trim_start_matches("./");
        let members = by_folder.get(folder).map(Vec::as_slice).unwrap_or_default();
        let checks = kustomization.object.pointer("/spec/healthChecks").and_then(Value::as_array);
        for check in checks.into_iter().flatten() {
            let text = |name: &str| check.get(name).and_then(Value::as_str).unwrap_or_default();
            let found = members.iter().any(|document| {
                document.name() == text("name")
                    && document.text("/kind") == text("kind")
                    && document.text("/apiVersion") == text("apiVersion")
                    && document.namespace() == text("namespace")
            });
            if !found {
                let message = format!("checks {} {}, which is not in its folder", text("kind"), text("name"));
                report(findings, "health-check", kustomization, message);
            }
        }
    }
}
