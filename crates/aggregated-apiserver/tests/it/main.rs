//! The server as its clients meet it: over TLS on loopback, by raw HTTP and by kube-rs.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail"
)]

mod bounds;
mod certificates;
mod cluster;
mod discovery;
mod ending;
mod example;
mod faults;
mod fixture;
mod frames;
mod http;
mod identity;
mod kube_clients;
mod reads;
mod recorded;
mod relay;
mod rollout;
mod stored;
mod watches;
mod write_bodies;
mod write_deletes;
mod write_locking;
mod write_patches;
mod write_updates;
