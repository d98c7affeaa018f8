//! All steps in one call, for programs that want the result and not the way.

use std::path::Path;

use crate::finding::Findings;
use crate::git::{CommitOptions, Credentials, GitError, Location, Outcome, Provenance, commit};
use crate::load::{Loaded, Source, load};
use crate::plan::plan;
use crate::render::{RenderError, Rendered, Templates, render};
use crate::rules::validate;
use crate::schema::ResourceSchemas;
use crate::verify::verify;

/// The sample of the repository: one control plane, one compute cluster, one network cluster.
pub const FIRST_LIGHT: &str = include_str!("../samples/first-light/topology.yaml");

/// Why a topology did not get into Git.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The topology is wrong.
    #[error("the topology is not valid")]
    Topology(#[source] Findings),
    /// A template is wrong.
    #[error("the templates failed")]
    Render(#[source] RenderError),
    /// What was rendered is not what was planned.
    #[error("what was rendered cannot be committed")]
    Verify(#[source] Findings),
    /// Git.
    #[error("the commit failed")]
    Git(#[source] GitError),
}

/// Loads, validates, plans, renders and verifies.
///
/// # Errors
/// The first step that fails, with everything that it found.
pub fn render_topology(
    sources: &[Source],
    templates: &Templates,
    schemas: Option<&ResourceSchemas>,
) -> Result<(Loaded, Rendered), PublishError> {
    let loaded = load(sources).map_err(PublishError::Topology)?;
    let resolved = validate(&loaded).map_err(PublishError::Topology)?;
    let plan = plan(&resolved);
    let rendered = render(&plan, templates).map_err(PublishError::Render)?;
    verify(&plan, &rendered, templates, schemas).map_err(PublishError::Verify)?;
    Ok((loaded, rendered))
}

/// Renders a topology and commits it to a repository, with built-in templates.
///
/// # Errors
/// The first step that fails, with everything that it found.
pub fn publish(
    sources: &[Source],
    location: &Location,
    credentials: &Credentials,
    options: &CommitOptions,
) -> Result<Outcome, PublishError> {
    let templates = Templates::built_in().map_err(PublishError::Render)?;
    let (loaded, rendered) = render_topology(sources, &templates, None)?;
    commit(&rendered, &Provenance::of(&loaded.topology), location, credentials, options)
        .map_err(PublishError::Git)
}

/// Renders the sample into a bare repository on this machine, which is made when it does not exist.
///
/// # Errors
/// As [`publish`].
///
/// # Examples
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// let repository = folder.path().join("topology.git");
/// let first = c5c3_renderer::publish_sample(&repository).unwrap();
/// assert!(matches!(first, c5c3_renderer::Outcome::Committed { .. }));
/// let again = c5c3_renderer::publish_sample(&repository).unwrap();
/// assert!(matches!(again, c5c3_renderer::Outcome::Unchanged { .. }));
/// ```
pub fn publish_sample(repository: &Path) -> Result<Outcome, PublishError> {
    let source = Source::new("renderer/samples/first-light/topology.yaml", FIRST_LIGHT);
    let location = Location::Directory(repository.to_owned());
    publish(&[source], &location, &Credentials::default(), &CommitOptions::default())
}
