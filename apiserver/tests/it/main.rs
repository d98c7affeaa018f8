//! The wired server, read by clients that nobody here wrote, in front of a simulated fleet that speaks the real protocols.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on ends"
)]

mod commands;
mod demo;
mod domains;
mod events;
mod faults;
mod fixture;
mod heartbeats;
mod intent;
mod libvirt_access;
mod metrics;
mod outage;
mod reads;
mod standalone;
mod starts;
mod writes;
