//! The templates: those that are built in, and a user's folder that may replace any of them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{
    AutoEscape, Environment, ErrorKind, Output, State, UndefinedBehavior, Value as TemplateValue, context,
};
use serde_json::Value;

use super::block::block;
use super::scalar::{key, quote, scalar};
use crate::finding::Position;
use crate::plan::Planned;

/// Instructions that one template may take; a loop that never ends becomes an error.
const FUEL: u64 = 200_000;

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        const BUILT_IN: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../templates/", $name, ".j2")))),*];
    };
}

built_in![
    "ceph-cluster.yaml",
    "certificate.yaml",
    "cinder-backend.yaml",
    "control-plane.yaml",
    "external-secret.yaml",
    "flux-kustomization.yaml",
    "helm-release.yaml",
    "issuer.yaml",
    "namespace.yaml",
    "neutron-metadata-agent.yaml",
    "node.yaml",
    "nova-compute.yaml",
    "object.yaml",
    "oci-repository.yaml",
    "ovn-central.yaml",
    "ovn-chassis.yaml",
    "push-secret.yaml",
];

/// Why nothing was rendered.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A folder of templates or a file in it cannot be read.
    #[error("cannot read templates from {}", path.display())]
    Read {
        /// What was read.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A file in the folder replaces no template that exists.
    #[error("{} replaces no template; there are {known}, and _NAME.j2 to include", path.display())]
    UnknownTemplate {
        /// The file.
        path: PathBuf,
        /// Names of the templates that can be replaced.
        known: String,
    },
    /// A template cannot be parsed.
    #[error("{origin}:{line}: the template cannot be parsed")]
    Parse {
        /// File, or `built-in` and the name.
        origin: String,
        /// Line in the template.
        line: usize,
        /// Why.
        source: minijinja::Error,
    },
    /// A template failed on an object.
    #[error("{}{origin}:{line}: the template failed on {object}", prefix(position.as_ref()))]
    Evaluate {
        /// Where the topology says what the object exists for.
        position: Option<Position>,
        /// File, or `built-in` and the name.
        origin: String,
        /// Line in the template.
        line: usize,
        /// Kind and name of the object.
        object: String,
        /// Why.
        source: minijinja::Error,
    },
    /// Two objects want the same file.
    #[error("two objects would be written to {path}")]
    SamePath {
        /// The file.
        path: String,
    },
}

fn prefix(position: Option<&Position>) -> String {
    position.map_or_else(String::new, |position| format!("{position}: "))
}

impl RenderError {
    /// Adds the line of the topology.
    pub(super) fn at(self, place: Option<Position>) -> Self {
        match self {
            Self::Evaluate { origin, line, object, source, .. } => {
                Self::Evaluate { position: place, origin, line, object, source }
            }
            other => other,
        }
    }
}

/// Templates, ready to render.
#[derive(Debug)]
pub struct Templates {
    environment: Environment<'static>,
    replaced: BTreeSet<String>,
    folder: Option<PathBuf>,
}

impl Templates {
    /// The built-in templates.
    ///
    /// # Errors
    /// Never in a released build; a built-in template that cannot be parsed is reported like any other.
    pub fn built_in() -> Result<Self, RenderError> {
        let mut templates = Self { environment: environment(), replaced: BTreeSet::new(), folder: None };
        for (name, text) in BUILT_IN {
            templates.add(name, (*text).to_owned(), format!("built-in {name}"))?;
        }
        Ok(templates)
    }

    /// The built-in templates, with those of a folder: `<name>.j2` replaces the built-in one of that name, `<kind>.yaml.j2` (for example
    /// `service-account.yaml.j2`) is used for objects of a kind that has no template of its own, and `_<name>.j2` is there to be included.
    ///
    /// # Errors
    /// When the folder cannot be read, holds a file of another name, or a template that cannot be parsed.
    pub fn with_folder(folder: &Path) -> Result<Self, RenderError> {
        let mut templates = Self::built_in()?;
        templates.folder = Some(folder.to_owned());
        let fault = |path: &Path| {
            let path = path.to_owned();
            move |source| RenderError::Read { path, source }
        };
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(fault(folder))? {
            paths.push(entry.map_err(fault(folder))?.path());
        }
        paths.sort();
        for path in paths {
            let name =
                path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".j2"));
            let known = |name: &&str| name.starts_with('_') || is_template(name);
            let Some(name) = name.filter(known) else {
                return Err(RenderError::UnknownTemplate { path, known: template_names() });
            };
            let text = std::fs::read_to_string(&path).map_err(fault(&path))?;
            templates.add(name, text, path.display().to_string())?;
            templates.replaced.insert(name.to_owned());
        }
        Ok(templates)
    }

    /// The template of an object: a user's for its kind, else the one that the plan names.
    pub(super) fn choose(&self, planned: &Planned) -> Cow<'static, str> {
        if !self.replaced.is_empty() {
            let kind = planned.object.get("kind").and_then(Value::as_str).unwrap_or_default();
            let own = kind_template(kind);
            if self.is_replaced(&own) && planned.template == "object.yaml" {
                return Cow::Owned(own);
            }
        }
        Cow::Borrowed(planned.template)
    }

    /// Whether a template is a user's own. Those may add fields; the built-in ones must give exactly what was planned.
    #[must_use]
    pub fn is_replaced(&self, name: &str) -> bool {
        self.replaced.contains(name)
    }

    fn add(&mut self, name: &str, text: String, origin: String) -> Result<(), RenderError> {
        self.environment.add_template_owned(name.to_owned(), text).map_err(|source| RenderError::Parse {
            origin,
            line: source.line().unwrap_or(1),
            source,
        })
    }

    /// Renders one object.
    pub(crate) fn render(&self, name: &str, object: &Value, banner: &str) -> Result<String, RenderError> {
        let fault = |source: minijinja::Error| RenderError::Evaluate {
            position: None,
            origin: self.origin(name),
            line: source.line().unwrap_or(1),
            object: describe(object),
            source,
        };
        let template = self.environment.get_template(name).map_err(fault)?;
        // The banner is ours and holds valid names only, yet it passes through the same quoting rules: no line break gets out.
        let banner: String = banner.chars().filter(|character| !character.is_control()).collect();
        let context = context! {
            banner => TemplateValue::from_safe_string(banner),
            object => TemplateValue::from(Serde(object)),
        };
        let text = template.render(context).map_err(fault)?;
        Ok(format!("{}\n", text.trim_end()))
    }

    fn origin(&self, name: &str) -> String {
        match &self.folder {
            Some(folder) if self.is_replaced(name) => folder.join(format!("{name}.j2")).display().to_string(),
            _ => format!("built-in {name}"),
        }
    }
}

/// Kinds that are printed by the template for any object unless a user has one for them.
const PLAIN_KINDS: &[&str] = &[
    "Alert",
    "CephBlockPool",
    "CephClient",
    "CephObjectStore",
    "CephObjectStoreUser",
    "ClusterIssuer",
    "ClusterSecretStore",
    "ConfigMap",
    "DaemonSet",
    "FluxInstance",
    "Gateway",
    "GitRepository",
    "HelmRepository",
    "PodMonitor",
    "PrometheusRule",
    "Provider",
    "SecretStore",
    "ServiceAccount",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
];

fn is_template(name: &str) -> bool {
    BUILT_IN.iter().any(|(known, _)| *known == name)
        || PLAIN_KINDS.iter().any(|kind| kind_template(kind) == name)
}

fn template_names() -> String {
    let built_in = BUILT_IN.iter().map(|(name, _)| format!("{name}.j2"));
    let kinds = PLAIN_KINDS.iter().map(|kind| format!("{}.j2", kind_template(kind)));
    built_in.chain(kinds).collect::<Vec<_>>().join(", ")
}

/// `ServiceAccount` as `service-account.yaml`.
fn kind_template(kind: &str) -> String {
    let mut name = String::new();
    for character in kind.chars() {
        if character.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(character.to_ascii_lowercase());
    }
    name.push_str(".yaml");
    name
}

fn describe(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or("?");
    format!("{} {}", text("/kind"), text("/metadata/name"))
}

/// An environment in which a value can only ever be printed as a scalar that reads back as itself.
fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // Pinned, since the default depends on the template's name and on Cargo features.
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let syntax =
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    if let Ok(syntax) = syntax {
        environment.set_syntax(syntax);
    }
    environment.set_fuel(Some(FUEL));
    environment.set_formatter(print);
    environment.remove_filter("safe");
    environment.remove_filter("tojson");
    environment.add_filter("bare", |name: &str| TemplateValue::from_safe_string(key(name)));
    environment.add_filter("block", |value: &TemplateValue, indent: usize| {
        block(&to_json(value)?, indent).map(TemplateValue::from_safe_string).ok_or_else(empty)
    });
    environment
}

fn to_json(value: &TemplateValue) -> Result<Value, minijinja::Error> {
    if value.is_undefined() {
        return Err(minijinja::Error::new(ErrorKind::UndefinedError, "there is no value to print here"));
    }
    serde_json::to_value(value)
        .map_err(|error| minijinja::Error::new(ErrorKind::BadSerialization, error.to_string()))
}

fn empty() -> minijinja::Error {
    minijinja::Error::new(ErrorKind::InvalidOperation, "there is no value to print here")
}

fn print(
    output: &mut Output<'_>,
    _: &mut State<'_, '_>,
    value: &TemplateValue,
) -> Result<(), minijinja::Error> {
    if value.is_undefined() || value.is_none() {
        return Err(minijinja::Error::new(ErrorKind::UndefinedError, "there is no value to print here"));
    }
    if value.is_safe() {
        return output.write_str(value.as_str().unwrap_or_default()).map_err(minijinja::Error::from);
    }
    if let Some(text) = value.as_str() {
        return output.write_str(&quote(text)).map_err(minijinja::Error::from);
    }
    let text = scalar(&to_json(value)?).ok_or_else(|| {
        minijinja::Error::new(
            ErrorKind::InvalidOperation,
            "lists and mappings are printed with `| block(indent)`",
        )
    })?;
    output.write_str(&text).map_err(minijinja::Error::from)
}
