//! Files and folders: paths that are safe on every machine, and every file listed where kustomize looks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::documents::Document;
use super::{report, report_path};
use crate::finding::Findings;
use crate::plan::Plan;
use crate::render::Rendered;

/// Paths are plain: no way up or out, nothing that Git or some file system reads as something else.
pub(super) fn paths(rendered: &Rendered, findings: &mut Findings) {
    let mut folded: BTreeMap<String, &str> = BTreeMap::new();
    for path in rendered.files.keys() {
        if !path.split('/').all(is_plain) {
            report_path(findings, "file-path", path, "is not a safe path");
        }
        if let Some(other) = folded.insert(path.to_lowercase(), path) {
            report_path(findings, "file-path", path, format!("differs from {other} in case only"));
        }
    }
}

fn is_plain(part: &str) -> bool {
    const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];
    let stem = part.split('.').next().unwrap_or_default().to_ascii_lowercase();
    !part.is_empty()
        && part.len() <= 255
        && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && !part.starts_with('.')
        && !part.ends_with('.')
        && !part.eq_ignore_ascii_case(".git")
        && !RESERVED.contains(&stem.as_str())
}

/// Every folder's `kustomization.yaml` lists all its files, and no file that is not there.
pub(super) fn indexes(documents: &[Document], findings: &mut Findings) {
    let mut unlisted: BTreeSet<&str> = documents
        .iter()
        .filter(|document| !document.is_index())
        .map(|document| document.path.as_str())
        .collect();
    let all = unlisted.clone();
    for index in documents.iter().filter(|document| document.is_index()) {
        let folder = index.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let resources = index.object.get("resources").and_then(Value::as_array);
        for resource in resources.into_iter().flatten().filter_map(Value::as_str) {
            let path = format!("{folder}/{resource}");
            unlisted.remove(path.as_str());
            if !all.contains(path.as_str()) {
                report(findings, "file-listed", index, format!("lists {resource}, which does not exist"));
            }
        }
    }
    for path in unlisted {
        report_path(
            findings,
            "file-listed",
            path,
            "is listed in no kustomization.yaml, so nothing applies it",
        );
    }
}

/// A Flux Kustomization's folder exists, belongs to one Kustomization only, and is applied to the cluster it was rendered for.
pub(super) fn kustomization_paths(plan: &Plan, documents: &[Document], findings: &mut Findings) {
    let mut clusters: BTreeMap<String, &str> = BTreeMap::new();
    for index in documents.iter().filter(|document| document.is_index()) {
        let folder = index.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        clusters.insert(format!("./{folder}"), &index.cluster);
    }
    let source = plan.source.as_str();
    let mut taken: BTreeMap<&str, &str> = BTreeMap::new();
    for kustomization in documents.iter().filter(|document| document.kind() == super::graph::KUSTOMIZATION) {
        // One that reads another repository has no folder here.
        if kustomization.text("/spec/sourceRef/name") != source {
            continue;
        }
        let path = kustomization.text("/spec/path");
        if let Some(other) = taken.insert(path, kustomization.name()) {
            report(findings, "flux-path", kustomization, format!("{path} is already applied by {other}"));
        }
        let remote = kustomization.object.pointer("/spec/kubeConfig").is_some();
        match clusters.get(path) {
            None => report(findings, "flux-path", kustomization, format!("there is no {path}")),
            Some(cluster) if (*cluster != kustomization.cluster) != remote => {
                let message = format!("{path} is for {cluster}, and kubeConfig says otherwise");
                report(findings, "flux-path", kustomization, message);
            }
            Some(_) => {}
        }
    }
}
