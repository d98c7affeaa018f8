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
        let nodes: Vec<&Document> = documents.iter().filter(|document| document.kind() == kind).collect();
        let mut edges: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for node in &nodes {
            names(node, findings);
            edges.insert(node.name(), dependencies(node));
        }
        for node in &nodes {
            for dependency in dependencies(node) {
                if !edges.contains_key(dependency) {
                    let message = format!("waits for {dependency}, which is no {} here", kind.1);
                    report(findings, "depends-on", node, message);
                }
            }
            if let Some(circle) = circle_from(node.name(), &edges) {
                report(findings, "depends-on", node, format!("waits for itself: {}", circle.join(" -> ")));
            }
        }
    }
    health_checks(documents, findings);
}

fn dependencies(document: &Document) -> Vec<&str> {
    let entries = document.object.pointer("/spec/dependsOn").and_then(Value::as_array);
    entries.into_iter().flatten().filter_map(|entry| entry.get("name").and_then(Value::as_str)).collect()
}

/// Flux puts the name of a Kustomization or HelmRelease into a label.
fn names(document: &Document, findings: &mut Findings) {
    if document.name().len() > 63 {
        let message = format!("the name {} has more than 63 characters", document.name());
        report(findings, "name-length", document, message);
    }
    let release = document.text("/spec/releaseName");
    if release.len() > 53 {
        report(
            findings,
            "name-length",
            document,
            format!("the release name {release} has more than 53 characters"),
        );
    }
}

/// The way from a node back to itself, when there is one that begins with it as its smallest name.
fn circle_from<'name>(
    start: &'name str,
    edges: &BTreeMap<&'name str, Vec<&'name str>>,
) -> Option<Vec<&'name str>> {
    let mut visited = BTreeSet::new();
    let mut stack = vec![vec![start]];
    while let Some(path) = stack.pop() {
        let last = path.last().copied()?;
        for next in edges.get(last).into_iter().flatten() {
            if *next == start {
                let smallest = path.iter().all(|name| *name >= start);
                let mut circle = path.clone();
                circle.push(start);
                return smallest.then_some(circle);
            }
            if visited.insert(*next) {
                let mut longer = path.clone();
                longer.push(next);
                stack.push(longer);
            }
        }
    }
    None
}

/// A health check names an object of the layer's own folder; another would never be found, or be found too late.
fn health_checks(documents: &[Document], findings: &mut Findings) {
    for kustomization in documents.iter().filter(|document| document.kind() == KUSTOMIZATION) {
        let folder = format!("{}/", kustomization.text("/spec/path").trim_start_matches("./"));
        let checks = kustomization.object.pointer("/spec/healthChecks").and_then(Value::as_array);
        for check in checks.into_iter().flatten() {
            let text = |name: &str| check.get(name).and_then(Value::as_str).unwrap_or_default();
            let found = documents.iter().any(|document| {
                document.path.starts_with(&folder)
                    && document.text("/apiVersion") == text("apiVersion")
                    && document.text("/kind") == text("kind")
                    && document.name() == text("name")
                    && document.namespace() == text("namespace")
            });
            if !found {
                let message = format!("checks {} {}, which is not in its folder", text("kind"), text("name"));
                report(findings, "health-check", kustomization, message);
            }
        }
    }
}
