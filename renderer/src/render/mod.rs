//! Render: planned objects to files, through templates that can only arrange and comment.
//!
//! A template receives one planned object. It prints scalars as JSON-quoted text and blocks through one filter, so that no value can end a
//! line early or change its type; it cannot look anything up, compute the time, or include files.

mod block;
mod scalar;
mod templates;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::plan::{Plan, Planned};

pub use templates::{RenderError, Templates};

/// A rendered file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct File {
    /// Its text; ends in one newline.
    pub text: String,
    /// Cluster whose tree it belongs to.
    pub cluster: String,
    /// Template that it came from.
    pub template: &'static str,
}

/// All rendered files by path.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Rendered {
    /// Name of the topology.
    pub topology: String,
    /// The files.
    pub files: BTreeMap<String, File>,
}

/// Renders a plan. The same plan and templates give the same bytes.
///
/// # Errors
/// When a template is wrong or asks for something that the plan does not hold, or when two objects want the same file.
pub fn render(plan: &Plan, templates: &Templates) -> Result<Rendered, RenderError> {
    let mut rendered = Rendered { topology: plan.topology.clone(), files: BTreeMap::new() };
    for planned in plan.kustomizations.iter().chain(&indexes(plan)) {
        add(&mut rendered, templates, planned, &format!("the Flux Kustomizations of {}", plan.management))?;
    }
    for layer in &plan.layers {
        for planned in &layer.objects {
            add(&mut rendered, templates, planned, &format!("the layer {}", layer.name))?;
        }
    }
    Ok(rendered)
}

fn add(
    rendered: &mut Rendered,
    templates: &Templates,
    planned: &Planned,
    part: &str,
) -> Result<(), RenderError> {
    let banner = format!(
        "Rendered by c5c3-renderer: {part}, topology {}. Change the topology, not this file.",
        rendered.topology
    );
    let text = templates.render(planned.template, &planned.object, &banner)?;
    let file = File { text, cluster: planned.cluster.clone(), template: planned.template };
    match rendered.files.insert(planned.path.clone(), file) {
        None => Ok(()),
        Some(_) => Err(RenderError::SamePath { path: planned.path.clone() }),
    }
}

/// The `kustomization.yaml` of every folder: the only files that kustomize applies are those it lists.
pub(crate) fn indexes(plan: &Plan) -> Vec<Planned> {
    let mut indexes = vec![index(
        &plan.root,
        &plan.management,
        plan.kustomizations
            .iter()
            .filter_map(|planned| planned.path.strip_prefix(&format!("{}/", plan.root))),
    )];
    for layer in &plan.layers {
        let prefix = format!("{}/", layer.path);
        let names = layer.objects.iter().filter_map(|planned| planned.path.strip_prefix(&prefix));
        indexes.push(index(&layer.path, &layer.cluster, names));
    }
    indexes
}

fn index<'path>(folder: &str, cluster: &str, names: impl Iterator<Item = &'path str>) -> Planned {
    let resources: Vec<Value> = names.map(Value::from).collect();
    Planned {
        template: "kustomization.yaml",
        path: format!("{folder}/kustomization.yaml"),
        cluster: cluster.to_owned(),
        owner: String::new(),
        object: json!({
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": resources,
        }),
    }
}
