//! The virtual switch of a host as a typed picture, kept live by an OVSDB monitor.
//!
//! ```text
//! ovsdb-server ─monitor─► Replica (rows) ─decode, PURE─► Switch ─► bridges ─► ports ─► interfaces
//!              ─select──► counters, when somebody asks ──┘
//! ```
//!
//! Counters are not monitored: ovs-vswitchd rewrites them for every interface every few seconds, which would be most
//! of the traffic and wake everybody for nothing. [`SwitchView::read_counters`] asks for them when they are wanted.

mod columns;
mod decode;
mod picture;
mod view;

pub use decode::decode;
pub use picture::{Bond, Bridge, Controller, Interface, LinkState, Manager, OpenVSwitch, Port, Switch};
pub use view::SwitchView;

pub use columns::DATABASE;
