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
    /// When its controller says so in `status.phase`.
    Phase(&'static str),
    /// When Flux's own reading of its status says so.
    Status,
    /// At once: nobody reports on it.
    Unchecked,
}

/// What becomes of a layer's objects when the layer leaves Git.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Deletion {
    /// Flux deletes them.
    Delete,
    /// Flux deletes them and the layer goes when they are gone: their controllers tidy up first.
    Wait,
    /// They stay: they hold state, or others cannot be removed without them.
    Orphan,
}

/// A layer whose objects are not rendered here but in somebody else's repository.
#[derive(Clone, Debug, PartialEq)]
pub struct External {
    /// Name of the GitRepository.
    pub source: String,
    /// Folder in it.
    pub path: String,
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
    /// What becomes of its objects when it leaves.
    pub deletion: Deletion,
    /// Where its objects are, when somebody else renders them.
    pub external: Option<External>,
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
            deletion: Deletion::Delete,
            external: None,
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
        self.deletion = Deletion::Orphan;
        self
    }

    /// Keeps its objects while they are in use. What is being emptied is deleted with the layer, each step waiting for the one before.
    pub(crate) const fn keeps_objects_unless(mut self, draining: bool) -> Self {
        self.deletion = if draining { Deletion::Wait } else { Deletion::Orphan };
        self
    }

    /// Objects from another repository.
    pub(crate) fn elsewhere(mut self, source: &str, path: &str) -> Self {
        self.external = Some(External { source: source.to_owned(), path: path.to_owned() });
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

    pub(crate) fn with(self, template: &'static str, file: &str, health: Health, object: Value) -> Self {
        let owner = self.owner.clone();
        self.with_owner(template, file, health, &owner, object)
    }

    /// Adds an object that exists for a narrower field than the layer.
    pub(crate) fn with_owner(
        mut self,
        template: &'static str,
        file: &str,
        health: Health,
        owner: &str,
        mut object: Value,
    ) -> Self {
        protect_from_substitution(&mut object);
        self.objects.push(Planned {
            template,
            path: format!("{}/{file}.yaml", self.path),
            cluster: self.cluster.clone(),
            owner: owner.to_owned(),
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

/// Annotation on what may be removed, because it was declared to be emptied.
pub(crate) const LIFECYCLE_ANNOTATION: &str = "topology.c5c3.io/lifecycle";

/// Marks an object as being emptied.
pub(crate) fn drained(mut metadata: Value, draining: bool) -> Value {
    if let (true, Some(fields)) = (draining, metadata.as_object_mut()) {
        let annotations = fields.entry("annotations").or_insert_with(|| json!({}));
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.insert(LIFECYCLE_ANNOTATION.to_owned(), json!("Draining"));
        }
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
