//! The whole fleet as Keystone, Nova and Placement, on one listener.
//!
//! ```text
//!             ┌ /identity   Keystone v3: password, application credential, tokens that expire
//!  server ────┼ /compute    Nova 2.1 … : hypervisors, services, aggregates, servers, migrations
//!  (faults)   └ /placement  Placement 1.0 … : resource providers, traits, inventories, usages
//! ```
//!
//! Answers are computed from the model when they are asked for. Status codes, headers, error bodies and the odd corners
//! (300 for Keystone's root, 404 for a pattern without match, a next page by link) are those of Keystone 30, Nova 34 and
//! Placement 16, as recorded from them. What is not simulated answers 404 in the service's own form.

mod answer;
mod keystone;
mod microversion;
mod nova;
mod pages;
mod placement;
mod query;
mod server;
#[cfg(test)]
mod tests;
mod tokens;

pub use server::serve;
