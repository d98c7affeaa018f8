//! An async client for Open vSwitch: OVSDB monitors, OpenFlow statistics and unixctl.
//!
//! Three small protocols tell all there is to know about the virtual switch of a host. This crate speaks them over
//! anything that reads and writes bytes, keeps what it learns typed, and never invents a value: what a switch does
//! not say is `None`, never zero.
//!
//! ```text
//!                    ┌► ovsdb     JSON-RPC: schema, monitor, transact ──► switch::SwitchView ─► switch::Switch
//!  Connector ─bytes──┼► openflow  HELLO, multipart statistics         ──► flows per table     (typed picture)
//!  (unix, TCP, any)  └► unixctl   one call, one text                  ──► bond/show, version, connection-status
//! ```
//!
//! Every call has a deadline and every message a size limit, because a peer may stall, lie or be something else.
//!
//! ```no_run
//! use ovs_client::{Endpoint, switch::SwitchView};
//!
//! # async fn follow() -> Result<(), Box<dyn std::error::Error>> {
//! let endpoint: Endpoint = "unix:/run/openvswitch/db.sock".parse()?;
//! let view = SwitchView::open(&endpoint, &Default::default()).await?;
//! loop {
//!     for bridge in &view.switch().bridges {
//!         println!("{} has {} ports", bridge.name, bridge.ports.len());
//!     }
//!     view.changed().await?;
//! }
//! # }
//! ```

pub mod connect;
pub mod json;
pub mod openflow;
pub mod ovsdb;
pub mod rpc;
pub mod switch;
pub mod unixctl;

mod endpoint;
#[cfg(test)]
mod property;

pub use connect::{BoxedStream, ConnectError, Connecting, Connector, Stream};
pub use endpoint::{Endpoint, EndpointError};
