//! A README per cluster: what is on it, in what order it comes, which ports must be open, which Secrets must be filled. Names and keys only,
//! never a value.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use crate::plan::{Layer, Plan, Planned};

/// Path, cluster and text of each.
pub(super) fn all(plan: &Plan) -> Vec<(String, String, String)> {
    let mut by_cluster: BTreeMap<&str, Vec<(usize, &Layer)>> = BTreeMap::new();
    for (wave, layers) in plan.waves().into_iter().enumerate() {
        for layer in layers {
            by_cluster.entry(&layer.cluster).or_default().push((wave + 1, layer));
        }
    }
    let path = |cluster: &str| format!("clusters/{cluster}/README.md");
    by_cluster
        .into_iter()
        .map(|(cluster, layers)| (path(cluster), cluster.to_owned(), page(plan, cluster, &layers)))
        .collect()
}

fn page(plan: &Plan, cluster: &str, layers: &[(usize, &Layer)]) -> String {
    let mut page = format!("# Cluster {cluster}\n\n");
    let _infallible = writeln!(
        page,
        "Rendered by c5c3-renderer from the topology {}. Change the topology, not this folder.\n",
        plan.topology
    );
    order(&mut page, layers);
    ports(&mut page, plan, cluster);
    secrets(&mut page, layers);
    objects(&mut page, layers);
    page
}

fn order(page: &mut String, layers: &[(usize, &Layer)]) {
    page.push_str(
        "## Order\n\nSteps of one wave come at the same time, each as soon as all it waits for is ready.\n\n",
    );
    page.push_str("| Wave | Step | Waits for | When it leaves Git, its objects |\n|---|---|---|---|\n");
    for (wave, layer) in layers {
        let after: BTreeSet<&str> = layer.depends_on.iter().map(String::as_str).collect();
        let after = after.into_iter().collect::<Vec<_>>().join(", ");
        let leaving = match layer.deletion {
            crate::plan::Deletion::Delete => "are deleted",
            crate::plan::Deletion::Wait => "are deleted, and waited for",
            crate::plan::Deletion::Orphan => "stay",
        };
        let _infallible = writeln!(page, "| {wave} | {} | {after} | {leaving} |", layer.name);
    }
    page.push('\n');
}

fn ports(page: &mut String, plan: &Plan, cluster: &str) {
    let ports: Vec<_> = plan.ports.iter().filter(|port| port.cluster == cluster).collect();
    if ports.is_empty() {
        return;
    }
    page.push_str("## Ports\n\nThat nodes of this cluster answer on, to be opened for others.\n\n| Port | For | What it is |\n|---|---|---|\n");
    for port in ports {
        let _infallible = writeln!(page, "| {} | {} | {} |", port.ports, port.from, port.purpose);
    }
    page.push('\n');
}

/// Secrets made here from the store, and pushed into it.
fn secrets(page: &mut String, layers: &[(usize, &Layer)]) {
    let mut lines = Vec::new();
    for planned in layers.iter().flat_map(|(_, layer)| &layer.objects) {
        match text(planned, "/kind") {
            "ExternalSecret" => lines.extend(fetched(planned)),
            "PushSecret" => lines.extend(pushed(planned)),
            _ => {}
        }
    }
    if lines.is_empty() {
        return;
    }
    page.push_str("## Secrets\n\n| Secret | Key | | In the store |\n|---|---|---|---|\n");
    for line in lines {
        page.push_str(&line);
    }
    page.push('\n');
}

fn fetched(planned: &Planned) -> Vec<String> {
    let secret = format!("{}/{}", text(planned, "/metadata/namespace"), text(planned, "/spec/target/name"));
    entries(planned)
        .map(|entry| {
            let part = |pointer: &str| entry.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            let (key, property) = (part("/remoteRef/key"), part("/remoteRef/property"));
            format!("| `{secret}` | `{}` | from | `{key}`, `{property}` |\n", part("/secretKey"))
        })
        .collect()
}

fn pushed(planned: &Planned) -> Vec<String> {
    let secret =
        format!("{}/{}", text(planned, "/metadata/namespace"), text(planned, "/spec/selector/secret/name"));
    entries(planned)
        .map(|entry| {
            let part = |pointer: &str| entry.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            let (key, property) = (part("/match/remoteRef/remoteKey"), part("/match/remoteRef/property"));
            format!("| `{secret}` | `{}` | to | `{key}`, `{property}` |\n", part("/match/secretKey"))
        })
        .collect()
}

fn entries(planned: &Planned) -> impl Iterator<Item = &Value> {
    planned.object.pointer("/spec/data").and_then(Value::as_array).into_iter().flatten()
}

fn objects(page: &mut String, layers: &[(usize, &Layer)]) {
    page.push_str("## Objects\n\n| Kind | Name | Step |\n|---|---|---|\n");
    for (_, layer) in layers {
        // Thousands of nodes are a number, not a list.
        let nodes = layer.objects.iter().filter(|planned| text(planned, "/kind") == "Node").count();
        if nodes > 0 {
            let _infallible = writeln!(page, "| Node | {nodes} of them | {} |", layer.name);
        }
        for planned in layer.objects.iter().filter(|planned| text(planned, "/kind") != "Node") {
            let (namespace, name) = (text(planned, "/metadata/namespace"), text(planned, "/metadata/name"));
            let separator = if namespace.is_empty() { "" } else { "/" };
            let _infallible = writeln!(
                page,
                "| {} | {namespace}{separator}{name} | {} |",
                text(planned, "/kind"),
                layer.name
            );
        }
    }
}

fn text<'planned>(planned: &'planned Planned, pointer: &str) -> &'planned str {
    planned.object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
