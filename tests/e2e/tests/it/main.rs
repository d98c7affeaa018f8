//! The whole product on the rig of real peers: the server as a program, registered in the real kube-apiserver, and asked
//! with the clients that people use.
//!
//! Without a rig (`tests/rig/up`, then the variables it writes) these tests say that they are skipped.

#![expect(clippy::indexing_slicing, reason = "of JSON values, where a field that is absent reads as null")]

mod attachments;
mod controllers;
mod domains;
mod exchanges;
mod faults;
mod five_clusters;
mod hosts;
mod libvirt_access;
mod migrations;
mod permissions;
mod product;
mod reading;
mod rust_client;
mod selectors;
mod servers;
mod silent_start;
mod stopping;
mod switches;
mod topology;
mod writing;
