//! The client against the simulated cloud, against recordings of a real one, and against a real one where there is one.
//!
//! [`suite`] is what holds for every cloud; it runs twice. What needs a cloud that misbehaves runs on the simulator.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may panic"
)]

mod away;
mod peer;
mod recorded;
mod secrets;
mod suite;
mod tls;
mod tokens;
mod versions;
