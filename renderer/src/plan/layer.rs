//! Layers and the objects in them.

use serde_json::{Value, json};

/// One object and where it goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// Template that gives it its looks.
    pub template: &'static str,
    /// File, relative to the root of the repository.
    pub path: String,
    /// Cluster that it is applied to.
    pub cluster: String,
    /// Field of the topology that it exists for.
    pub owner: String,
    /// The object itself.
    pub object: Value,
}

/// When an object of a layer counts as ready.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Health {
    /// When its controller says so in the condition of this name.
    Condition(&'static str),
    /// When Flux's own reading of its status says so.
    Status,
}

/// What Flux applies in one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Name of the Flux Kustomization.
    pub name: String,
    /// Cluster that the objects are applied to.
    pub cluster: String,
    /// Secret with the kubeconfig of that cluster; none for the management cluster.
    pub kubeconfig_secret: Option<String>,
    /// Folder, relative to the root of the repository.
    pub path: String,
    /// Names of the layers that must be ready before.
    pub depends_on: Vec<String>,
    /// Whether its objects outlive the layer: they hold state, or other objects cannot be removed without them.
    pub keeps_objects: bool,
    /// Whether it takes long to become ready.
    pub slow: bool,
    /// Field of the topology that it exists for.
    pub owner: String,
    /// Its objects, in file order.
    pub objects: Vec<Planned>,
    /// When each object is ready, in the same order.
    pub health: Vec<Health>,
}

impl Layer {
    /// A layer without objects yet. `path` is the folder.
    pub(crate) fn new(name: String, cluster: &str, path: String, owner: &str) -> Self {
        Self {
            name,
            cluster: cluster.to_owned(),
            kubeconfig_secret: None,
            path,
            depends_on: Vec::new(),
            keeps_objects: false,
            slow: false,
            owner: owner.to_owned(),
            objects: Vec::new(),
            health: Vec::new(),
        }
    }

    pub(crate) fn after(mut self, layers: impl IntoIterator<Item = String>) -> Self {
        self.depends_on.extend(layers);
        self
    }

    pub(crate) const fn keeps_objects(mut self) -> Self {
        self.keeps_objects = true;
        self
    }

    pub(crate) const fn slow(mut self) -> Self {
        self.slow = true;
        self
    }

    /// Applied to an attached cluster, through Flux's own way into it.
    pub(crate) fn through(mut self, kubeconfig_secret: String) -> Self {
        self.kubeconfig_secret = Some(kubeconfig_secret);
        self
    }

    pub(crate) fn with(
        mut self,
        template: &'static str,
        file: &str,
        health: Health,
        mut object: Value,
    ) -> Self {
        protect_from_substitution(&mut object);
        self.objects.push(Planned {
            template,
            path: format!("{}/{file}.yaml", self.path),
            cluster: self.cluster.clone(),
            owner: self.owner.clone(),
            object,
        });
        self.health.push(health);
        self
    }
}

/// Annotation that keeps Flux from deleting an object that left Git.
pub(crate) const PRUNE_ANNOTATION: &str = "kustomize.toolkit.fluxcd.io/prune";
/// Annotation that keeps Flux from replacing `${…}` in an object.
pub(crate) const SUBSTITUTE_ANNOTATION: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// Metadata of an object that Flux must never delete, because what it stands for cannot be made again.
pub(crate) fn kept(name: &str, namespace: Option<&str>) -> Value {
    let mut metadata = metadata(name, namespace);
    if let Some(fields) = metadata.as_object_mut() {
        fields.insert("annotations".to_owned(), json!({ PRUNE_ANNOTATION: "disabled" }));
    }
    metadata
}

/// Metadata with a name and, for namespaced objects, a namespace.
pub(crate) fn metadata(name: &str, namespace: Option<&str>) -> Value {
    namespace
        .map_or_else(|| json!({ "name": name }), |namespace| json!({ "name": name, "namespace": namespace }))
}

/// Somebody's root Kustomization may substitute variables; text that looks like one is meant as text.
fn protect_from_substitution(object: &mut Value) {
    if !mentions_variable(object) {
        return;
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.insert(SUBSTITUTE_ANNOTATION.to_owned(), json!("disabled"));
        }
    }
}

/// Whether Flux could take some text of the value for a variable.
pub(crate) fn mentions_variable(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("${"),
        Value::Array(items) => items.iter().any(mentions_variable),
        Value::Object(fields) => {
            fields.iter().any(|(key, value)| key.contains("${") || mentions_variable(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
