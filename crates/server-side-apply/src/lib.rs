//! Kubernetes server-side apply as pure functions.
//!
//! ```text
//!  structural schema ──► Schema: which containers are one field, which lists are sets or maps
//!                           │
//!  live ──┐                 ▼
//!  config ┼──► apply ──► merge ─► prune ─► who must yield? ──► object + managedFields, or conflicts
//!  manager┘                                   ▲
//!  live, new ──► update ──► compare ──────────┘  ──► object + managedFields
//! ```
//!
//! The rules are those of kube-apiserver, down to the wording of conflicts, and the tests replay what a real one did, request by request. Nothing is known
//! here of HTTP, of stores, or of any kind: a schema, two objects, a manager and a clock value give the next object. What belongs to the server around it (defaults, validation,
//! names, versions, whether a body is YAML) stays there; the README says in which order.
//!
//! [`apply`] and [`update`] are the two doors. [`FieldSet`] is the algebra beneath, [`Schema::extract`] the part of an object that a set names.

mod apply;
mod change;
mod conflict;
mod field_set;
mod json;
mod keep_times;
mod last_applied;
mod managed_fields;
mod managers;
mod prune;
mod schema;
mod typed;
mod update;

pub use apply::{Applied, ApplyError, apply};
pub use conflict::{Cause, Conflict, Conflicts};
pub use field_set::{FieldSet, FieldSetError, PathElement, path_text};
pub use keep_times::keep_times;
pub use managers::{
    ManagedFieldsError, Manager, ManagerNameError, check_manager_name, manager_name_of_agent,
};
pub use schema::{Schema, SchemaError};
pub use typed::check::{TypeError, TypeErrors};
pub use typed::compare::Comparison;
pub use update::update;

/// How deep objects, schemas and field sets may be nested. Deeper ones are refused, so that no walk can run out of stack, and what is
/// written can be read by parsers that allow 128 levels for the whole object.
pub const MAX_DEPTH: usize = 100;

/// `managedFields` knows no fractions of seconds.
fn whole_seconds(time: jiff::Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
