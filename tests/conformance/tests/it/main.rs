//! Clients that nobody here wrote, against two replicas of the product behind a real kube-apiserver.
//!
//! Without a rig (`tests/rig/up kube`, then the variables it writes) these tests say that they are skipped. A line `covers: …` above a test names the
//! rules of `rules.yaml` that it proves; `docs/reference/conformance.md` is made from them.

#![expect(clippy::indexing_slicing, reason = "of JSON values, where a field that is absent reads as null")]

mod clients;
mod controllers;
mod faults;
mod flux;
mod helm;
mod kube_rs;
mod kubectl;
mod turns;
mod wire;
mod writers;
