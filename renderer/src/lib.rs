//! c5c3-renderer: renders a declared topology into Flux manifests and commits them to Git.
//!
//! ```text
//! files ─load─► Loaded ─validate─► Resolved ─plan─► Plan ─render─► Rendered ─verify─► (checked) ─commit─► Git ─► Flux ─► clusters
//! ```
//! Each step is a function that can be used alone; all but `commit` are pure. Everything that is wrong is a [`Finding`]: file, line, column,
//! rule, hint, and all of them in one run.

mod attachments;
pub mod command;
pub mod conventions;
mod finding;
pub mod git;
mod load;
mod plan;
mod publish;
mod render;
mod rules;
mod schema;
mod verify;

pub use attachments::{AttachmentKind, attachment_kinds};
pub use conventions::{Resolved, resolve};
pub use finding::{Finding, Findings, Position};
pub use git::{
    CommitOptions, Credentials, Diff, GitError, Location, Observed, Outcome, Provenance, commit, diff,
};
pub use load::{Loaded, Source, load, topology_schema};
pub use plan::{Deletion, External, Health, Layer, OpenPort, Plan, Planned, plan};
pub use publish::{FIRST_LIGHT, PublishError, publish, publish_sample, render_topology};
pub use render::{File, RenderError, Rendered, Templates, render};
pub use rules::{Entry, Rule, Stage, catalog, rule_index, rule_page, rules, validate};
pub use schema::{Problem, ResourceSchemas, Schema, SchemaError, Violation};
pub use verify::verify;
