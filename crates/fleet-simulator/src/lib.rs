//! Simulated hypervisor hosts and one OpenStack that speak the real protocols on loopback.
//!
//! For demo, tests at scale and scripted faults. The simulator is held to the same client suites as the real
//! daemons, so what works here works there.
//!
//! ```text
//!            ┌► libvirt    each Host as libvirtd (RPC over TCP or a unix socket)
//!  model ────┼► ovs        each Host as ovsdb-server, ovs-vswitchd and ovn-controller
//!  (truth)   └► openstack  the whole Fleet as Keystone, Nova and Placement
//!    ▲                     all hosts on one listener each, an address per host (shared), or a listener per host
//!  story: what happens by itself (a domain starts, migrates, stops; a bond member flaps)
//! ```
//!
//! The servers compute every answer from [`model`]; nothing is canned. A change of the model becomes an event on the
//! wire.

pub mod control;
pub mod libvirt;
pub mod model;
pub mod openstack;
pub mod ovs;
pub mod shared;
