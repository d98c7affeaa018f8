//! Render: planned objects to files, through templates that can only arrange and comment.
//!
//! A template receives one planned object. It prints scalars as JSON-quoted text and blocks through one filter, so that no value can end a
//! line early or change its type; it cannot look anything up, compute the time, or read files. What a program must be able to write again
//! by itself, the list of files in a folder, and what only people read, a README per cluster, have no templates.

mod block;
mod readme;
mod scalar;
mod templates;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::finding::Position;
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
    pub template: Cow<'static, str>,
    /// Where the topology says what it exists for.
    pub position: Option<Position>,
}

/// All rendered files by path.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Rendered {
    /// Name of the topology.
    pub topology: String,
    /// Folder that the management cluster's Flux reads.
    pub root: String,
    /// The files.
    pub files: BTreeMap<String, File>,
}

impl Rendered {
    /// Path of the list of all Flux Kustomizations.
    pub(crate) fn root_index(&self) -> String {
        format!("{}/kustomization.yaml", self.root)
    }
}

/// Renders a plan. The same plan and templates give the same bytes.
///
/// # Errors
/// When a template is wrong or asks for something that the plan does not hold, or when two objects want the same file.
pub fn render(plan: &Plan, templates: &Templates) -> Result<Rendered, RenderError> {
    let topology = plan.topology.clone();
    let mut rendered = Rendered { topology, root: plan.root.clone(), files: BTreeMap::new() };
    let flux = format!("the Flux Kustomizations of {}", plan.management);
    for planned in &plan.kustomizations {
        add(&mut rendered, plan, templates, planned, &flux)?;
    }
    for layer in &plan.layers {
        let part = format!("the layer {}", layer.name);
        for planned in &layer.objects {
            add(&mut rendered, plan, templates, planned, &part)?;
        }
    }
    for planned in indexes(plan) {
        let names = planned.object.get("resources").and_then(Value::as_array);
        let names = names.into_iter().flatten().filter_map(Value::as_str);
        let text = index_text(&rendered.topology, names);
        insert(&mut rendered, plan, &planned, text, Cow::Borrowed(planned.template))?;
    }
    for (path, cluster, text) in readme::all(plan) {
        let file = File { text, cluster, template: Cow::Borrowed("README.md"), position: None };
        rendered.files.insert(path, file);
    }
    Ok(rendered)
}

fn add(
    rendered: &mut Rendered,
    plan: &Plan,
    templates: &Templates,
    planned: &Planned,
    part: &str,
) -> Result<(), RenderError> {
    let banner = format!(
        "Rendered by c5c3-renderer: {part}, topology {}. Change the topology, not this file.",
        rendered.topology
    );
    let template = templates.choose(planned);
    let text = templates
        .render(&template, &planned.object, &banner)
        .map_err(|error| error.at(plan.position(planned)))?;
    insert(rendered, plan, planned, text, template)
}

fn insert(
    rendered: &mut Rendered,
    plan: &Plan,
    planned: &Planned,
    text: String,
    template: Cow<'static, str>,
) -> Result<(), RenderError> {
    let file = File { text, cluster: planned.cluster.clone(), template, position: plan.position(planned) };
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
    for layer in plan.layers.iter().filter(|layer| layer.external.is_none()) {
        let prefix = format!("{}/", layer.path);
        let names = layer.objects.iter().filter_map(|planned| planned.path.strip_prefix(&prefix));
        indexes.push(index(&layer.path, &layer.cluster, names));
    }
    indexes
}

fn index<'path>(folder: &str, cluster: &str, names: impl Iterator<Item = &'path str>) -> Planned {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let resources: Vec<Value> = names.into_iter().map(Value::from).collect();
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

/// The text of a list of files.
pub(crate) fn index_text<'name>(topology: &str, names: impl Iterator<Item = &'name str>) -> String {
    let mut text = format!(
        "# Rendered by c5c3-renderer: a list of files, topology {topology}. Change the topology, not this file.\n\
         # Files that are not listed here are not applied.\n\
         apiVersion: \"kustomize.config.k8s.io/v1beta1\"\nkind: \"Kustomization\"\nresources:"
    );
    let mut empty = true;
    for name in names {
        let _infallible = write!(text, "\n  - {}", scalar::quote(name));
        empty = false;
    }
    text.push_str(if empty { " []\n" } else { "\n" });
    text
}
