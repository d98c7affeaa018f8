//! The graph of steps, as text, for Graphviz, for Markdown, or as a picture of its own.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::arguments::GraphFormat;
use crate::plan::{Layer, Plan};

/// Draws the plan.
pub(super) fn draw(plan: &Plan, format: GraphFormat) -> String {
    match format {
        GraphFormat::Waves => waves(plan),
        GraphFormat::Dot => dot(plan),
        GraphFormat::Mermaid => mermaid(plan),
        GraphFormat::Svg => svg(plan),
    }
}

/// The plan for programs.
pub(super) fn json(plan: &Plan) -> Value {
    let waves: Vec<Value> = plan
        .waves()
        .into_iter()
        .map(|layers| {
            let layers = layers.into_iter().map(|layer| {
                json!({ "name": layer.name, "cluster": layer.cluster, "dependsOn": layer.depends_on, "objects": layer.objects.len() })
            });
            layers.collect()
        })
        .collect();
    json!({ "topology": plan.topology, "waves": waves, "ports": plan.ports })
}

fn waves(plan: &Plan) -> String {
    let mut text = String::new();
    for (index, layers) in plan.waves().into_iter().enumerate() {
        let _infallible = writeln!(text, "wave {}", index + 1);
        for layer in layers {
            let after = if layer.depends_on.is_empty() {
                String::new()
            } else {
                format!("  after {}", layer.depends_on.join(", "))
            };
            let _infallible = writeln!(text, "  {} on {}{after}", layer.name, layer.cluster);
        }
    }
    text
}

fn dot(plan: &Plan) -> String {
    let mut text =
        String::from("digraph topology {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for (index, (cluster, layers)) in by_cluster(plan).into_iter().enumerate() {
        let _infallible = writeln!(text, "  subgraph cluster_{index} {{\n    label=\"{cluster}\";");
        for layer in layers {
            let _infallible = writeln!(text, "    \"{}\";", layer.name);
        }
        text.push_str("  }\n");
    }
    for layer in &plan.layers {
        for dependency in &layer.depends_on {
            let _infallible = writeln!(text, "  \"{dependency}\" -> \"{}\";", layer.name);
        }
    }
    text.push_str("}\n");
    text
}

fn mermaid(plan: &Plan) -> String {
    let mut text = String::from("flowchart LR\n");
    for (cluster, layers) in by_cluster(plan) {
        let _infallible = writeln!(text, "  subgraph {cluster}");
        for layer in layers {
            let _infallible = writeln!(text, "    {0}[\"{0}\"]", layer.name);
        }
        text.push_str("  end\n");
    }
    for layer in &plan.layers {
        for dependency in &layer.depends_on {
            let _infallible = writeln!(text, "  {dependency} --> {}", layer.name);
        }
    }
    text
}

fn by_cluster(plan: &Plan) -> BTreeMap<&str, Vec<&Layer>> {
    let mut clusters: BTreeMap<&str, Vec<&Layer>> = BTreeMap::new();
    for layer in &plan.layers {
        clusters.entry(&layer.cluster).or_default().push(layer);
    }
    clusters
}

const WIDTH: usize = 230;
const HEIGHT: usize = 24;
const GAP_X: usize = 60;
const GAP_Y: usize = 10;
const MARGIN: usize = 20;

/// A column per wave; names are DNS labels, so that nothing in them needs escaping.
fn svg(plan: &Plan) -> String {
    let waves = plan.waves();
    let mut place: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (column, layers) in waves.iter().enumerate() {
        for (row, layer) in layers.iter().enumerate() {
            let (x, y) = (MARGIN + column * (WIDTH + GAP_X), MARGIN + HEIGHT + row * (HEIGHT + GAP_Y));
            place.insert(&layer.name, (x, y));
        }
    }
    let rows = waves.iter().map(Vec::len).max().unwrap_or_default();
    let width = 2 * MARGIN + waves.len() * (WIDTH + GAP_X);
    let height = 2 * MARGIN + HEIGHT + rows * (HEIGHT + GAP_Y);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>Topology {}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        plan.topology
    );
    for layer in &plan.layers {
        let Some((to_x, to_y)) = place.get(layer.name.as_str()) else {
            continue;
        };
        for (from_x, from_y) in layer.depends_on.iter().filter_map(|name| place.get(name.as_str())) {
            let (start, from, to) = (from_x + WIDTH, from_y + HEIGHT / 2, to_y + HEIGHT / 2);
            let bend = start + GAP_X / 2;
            let _infallible = writeln!(
                text,
                "<path d=\"M{start} {from} C{bend} {from} {bend} {to} {to_x} {to}\" fill=\"none\" stroke=\"#999\"/>"
            );
        }
    }
    for (column, layers) in waves.iter().enumerate() {
        let x = MARGIN + column * (WIDTH + GAP_X);
        let _infallible =
            writeln!(text, "<text x=\"{x}\" y=\"{MARGIN}\" fill=\"#555\">wave {}</text>", column + 1);
        for layer in layers {
            let Some((x, y)) = place.get(layer.name.as_str()) else {
                continue;
            };
            let fill = if layer.cluster == plan.management { "#eef4ff" } else { "#fff4e5" };
            let (text_x, text_y) = (x + 6, y + 16);
            let _infallible = writeln!(
                text,
                "<g><title>{} on {}</title><rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"3\" fill=\"{fill}\" \
                 stroke=\"#456\"/><text x=\"{text_x}\" y=\"{text_y}\">{}</text></g>",
                layer.name, layer.cluster, layer.name
            );
        }
    }
    text.push_str("</svg>\n");
    text
}
