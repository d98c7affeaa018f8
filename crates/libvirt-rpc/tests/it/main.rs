//! Drives the public API against daemons: one suite for simulated and real ones, faults on simulated and scripted ones.
//!
//! Real daemons are those of the rig: `tests/rig/up`, then the variables it writes. Without them those tests say that
//! they are skipped.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]

mod certificates;
mod documents;
mod fallback;
mod faults;
mod follow;
mod idle;
mod migration;
mod recorded;
mod recording;
mod sasl;
mod scripted;
mod suite;
mod target;
mod tls;
