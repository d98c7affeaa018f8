//! What the end-to-end tests are made of: the rig, the server under test, and the programs that people use.
//!
//! ```text
//!  tests/rig/up ─► rig ──► server (child process) ─registered─► kube-apiserver ◄── kubectl ── watch
//!                   │
//!                   └────► virsh, ovs-vsctl, openstack: what the real peers say, to compare with
//! ```
//!
//! Nothing here knows how the product works inside: it is started as a program and asked as a user would.

#![expect(clippy::indexing_slicing, reason = "of JSON values, where a field that is absent reads as null")]

pub mod cloud;
pub mod kubectl;
pub mod libvirt;
pub mod patience;
pub mod program;
pub mod renderer;
pub mod rig;
pub mod room;
pub mod server;
pub mod stand_in;
pub mod switch;
pub mod topology;
pub mod watch;
